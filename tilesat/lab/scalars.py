"""Statements that compute scalars: indices that stay small enough to serve as positions, elements read."""

from __future__ import annotations

from tilesat.ir.dtypes import is_float
from tilesat.ir.nodes import BinOp, Cast, Const, ScalarFn
from tilesat.lab.builder import INDEX_ENTRIES, PARAMETER_HIGH, Builder
from tilesat.lab.pool import ScalarVar
from tilesat.lab.positions import index, offset, position
from tilesat.lab.sources import any_tile

_MOST = 1 << 10


def arithmetic(b: Builder) -> None:
    """A new index from others."""
    first = index(b)
    kind = b.choices.integer(0, 4)
    if kind == 0 and first.high + 1 <= _MOST:
        b.scalar("INDEX", BinOp("+", first.expr, Const(1)), first.high + 1)
    elif kind == 1 and first.high * 16 <= _MOST:
        b.scalar("INDEX", BinOp("*", first.expr, Const(16)), first.high * 16)
    elif kind == 2:
        b.scalar("INDEX", BinOp("%", first.expr, Const(2)), min(first.high, 1))
    elif kind == 3:
        second = index(b)
        chosen = ScalarFn("min", (first.expr, second.expr))
        b.scalar("INDEX", chosen, min(first.high, second.high))
    else:
        b.scalar("INDEX", BinOp("//", first.expr, Const(2)), first.high // 2)


def read_tile(b: Builder) -> None:
    """``tile.read``; an integer may become an index, clamped to where positions may lie."""
    tile = b.find(lambda t: t.is_free and t.is_static, lambda: any_tile(b))
    dtype = tile.type.dtype
    scalar = b.scalar(dtype, b.call("tile.read", tile, position(b, tile)))
    if not is_float(dtype) and b.config.has("scalar_arithmetic"):
        _clamped(b, scalar)


def _clamped(b: Builder, scalar: ScalarVar) -> None:
    lifted = ScalarFn("max", (Cast(scalar.expr, "INDEX"), Const(0)))
    b.scalar("INDEX", ScalarFn("min", (lifted, Const(PARAMETER_HIGH - 1))), PARAMETER_HIGH - 1)


def read_tensor(b: Builder) -> None:
    """``tensor.read`` of an index tensor, and the index that it holds."""
    tensor = b.index_tensor()
    entry = offset(b, INDEX_ENTRIES - 1, step=1)
    scalar = b.scalar("INT32", b.call("tensor.read", b.tensor_name(tensor), [entry]))
    b.scalar("INDEX", Cast(scalar.expr, "INDEX"), PARAMETER_HIGH)
