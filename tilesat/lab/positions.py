"""Scalar expressions: positions that stay inside what they index, values, conditions."""

from __future__ import annotations

from tilesat.ir.dtypes import is_float
from tilesat.ir.nodes import BinOp, Const, Expr
from tilesat.lab.builder import Builder
from tilesat.lab.pool import ScalarVar, TileVar

_CONSTANTS = 4
_SCALARS = 3
_FINE_STEP = 8


def offset(b: Builder, room: int, step: int = 16) -> Expr:
    """A position from 0 to ``room``: a multiple of ``step``, or one that depends on a scalar."""
    options: list[Expr] = [Const(value) for value in range(0, room + 1, step)[:_CONSTANTS]]
    if room > 0:
        for scalar in b.scope.visible_scalars("INDEX", _SCALARS):
            factor = next((f for f in (step, _FINE_STEP, 1) if scalar.high * f <= room), None)
            if factor is not None and scalar.high > 0:
                options.append(scalar.expr if factor == 1 else BinOp("*", scalar.expr, Const(factor)))
    return b.choices.select(options)


def position(b: Builder, tile: TileVar) -> list[int | Expr]:
    """An element of ``tile`` that is valid; its valid extents are static."""
    extents = [extent for extent in tile.type.valid_shape if isinstance(extent, int)]
    return [offset(b, extent - 1, step=5) for extent in extents]


def index(b: Builder) -> ScalarVar:
    """An index variable; a parameter when there is none."""
    picked = b.choices.select_or_none(b.scope.visible_scalars("INDEX", _SCALARS))
    return picked or _index_param(b)


def _index_param(b: Builder) -> ScalarVar:
    """An index parameter: a new one, or the latest where there are enough."""
    made = b.index_param()
    if made is not None:
        return made
    return b.root.visible_scalars("INDEX", 1)[0]


def bounded_index(b: Builder, high: int) -> ScalarVar | None:
    """An index variable that is at most ``high``, ``None`` when there is none."""
    found = [scalar for scalar in b.scope.visible_scalars("INDEX", _SCALARS) if 0 < scalar.high <= high]
    return b.choices.select(found) if found else None


def value(b: Builder, dtype: str) -> Expr:
    """A scalar of ``dtype``: a constant, or a variable."""
    constant = Const(0.5, dtype) if is_float(dtype) else Const(2, dtype)
    options: list[Expr | None] = [constant, *(s.expr for s in b.scope.visible_scalars(dtype, 2)), None]
    picked = b.choices.select(options)
    return b.value_param(dtype).expr if picked is None else picked


def condition(b: Builder) -> Expr:
    """A comparison that a run may decide either way."""
    if b.choices.chance(5):
        found = b.scope.visible_scalars(b.vector_dtype, 2)
        if found and is_float(b.vector_dtype):
            return BinOp("<", b.choices.pick(found).expr, Const(0.25, "FP32"))
    subject = index(b)
    threshold = b.choices.integer(0, 2)
    return BinOp(b.choices.pick(("==", "<", ">=")), subject.expr, Const(threshold))
