"""Vector ops that keep the shape of an operand: arithmetic, selection, casts, expansion of a vector.

The result takes shape, valid shape, block layouts, pad and compact mode of one operand, nearly always the
first (peer behaviour, section 3.3).
"""

from __future__ import annotations

from collections.abc import Mapping

from tilesat.ir.deduce.operands import Operands, Rule, RuleFunction, Undeducible, differ, spell
from tilesat.ir.deduce.tiles import check_same_extent, like, without_memref
from tilesat.ir.types import TileType, Type


def _like_argument(position: int, tiles: tuple[int, ...] = (), scalars: tuple[int, ...] = ()) -> RuleFunction:
    """A result like argument ``position``; ``tiles`` are further arguments of the same shape."""

    def rule(operands: Operands) -> Type:
        tile = operands.tile(position)
        for other in tiles:
            if other < len(operands.types):
                _check_shape(operands, other, tile)
        for other in scalars:
            if other < len(operands.types):
                operands.check_scalar(other)
        return like(tile, tile.dtype, operands.space())

    return rule


def _check_shape(operands: Operands, position: int, tile: TileType) -> None:
    """Raise unless argument ``position`` fits ``tile``; leave open what broadcasting would give."""
    other = operands.tile(position)
    if other.shape == tile.shape:
        return
    if len(other.shape) != len(tile.shape):
        raise Undeducible
    pairs = list(zip(tile.shape, other.shape, strict=True))
    if all(not differ(a, b) or a == 1 or b == 1 for a, b in pairs):
        if any(differ(a, b) for a, b in pairs):
            raise Undeducible
        return
    raise operands.error(position, f"has shape {spell(other.shape)}", f"shape {spell(tile.shape)} is needed")


def _partial(operands: Operands) -> Type:
    """An op on the union of two valid regions, known where both are equal."""
    first, second = operands.tile(0), operands.tile(1)
    _check_shape(operands, 1, first)
    if first.valid_shape != second.valid_shape:
        raise Undeducible
    return like(first, first.dtype, operands.space())


def _cast(operands: Operands) -> Type:
    return like(operands.tile(0), operands.dtype("target_type"), operands.space())


def _row_expand(operands: Operands) -> Type:
    """One value per row, ``[M, 1]``, against ``[M, N]``."""
    tile, vector = operands.tile(0), operands.tile(1)
    if len(tile.shape) == len(vector.shape) == 2:
        check_same_extent(operands, 1, vector.shape[0], tile.shape[0], "rows")
    return like(tile, tile.dtype, operands.space())


def _col_expand(operands: Operands) -> Type:
    """One value per column, ``[1, N]``, against ``[M, N]``."""
    tile, vector = operands.tile(0), operands.tile(1)
    if len(tile.shape) == len(vector.shape) == 2:
        check_same_extent(operands, 1, vector.shape[1], tile.shape[1], "columns")
    return like(tile, tile.dtype, operands.space())


def _updated(operands: Operands) -> Type:
    """An op that writes into its first argument: the result is that tile."""
    return without_memref(operands.tile(0))


_UNARY = ("abs", "cos", "exp", "log", "neg", "not", "recip", "relu", "rsqrt", "sin", "sqrt")
_BINARY = (
    *("add", "sub", "mul", "div", "fmod", "rem", "maximum", "minimum"),
    *("and", "or", "xor", "shl", "shr"),
)
_WITH_SCALAR = (
    *("adds", "subs", "muls", "divs", "fmods", "rems", "maximums", "minimums"),
    *("ands", "ors", "xors", "shls", "shrs", "lrelu", "expands"),
)
_ARITHMETIC = ("add", "div", "expdif", "max", "min", "mul", "sub")

RULES: Mapping[str, Rule] = {
    **{f"tile.{name}": Rule(_like_argument(0), 1) for name in _UNARY},
    **{f"tile.{name}": Rule(_like_argument(0, tiles=(1,)), 2) for name in _BINARY},
    **{f"tile.{name}": Rule(_like_argument(0, scalars=(1,)), 2) for name in _WITH_SCALAR},
    **{f"tile.{name}": Rule(_like_argument(0, tiles=(1, 2)), 3) for name in ("addc", "subc")},
    **{f"tile.{name}": Rule(_like_argument(0, tiles=(2,), scalars=(1,)), 3) for name in ("addsc", "subsc")},
    **{f"tile.part_{name}": Rule(_partial, 2) for name in ("add", "max", "min", "mul")},
    **{f"tile.row_expand_{name}": Rule(_row_expand, 2) for name in _ARITHMETIC},
    **{f"tile.col_expand_{name}": Rule(_col_expand, 2) for name in _ARITHMETIC},
    "tile.row_expand": Rule(_row_expand, 2),
    "tile.col_expand": Rule(_col_expand, 2),
    "tile.prelu": Rule(_like_argument(0, tiles=(1,)), 2),
    "tile.sel": Rule(_like_argument(1, tiles=(2,)), 3),
    "tile.sels": Rule(_like_argument(1), 2),
    "tile.cast": Rule(_cast, 1),
    "tile.scatter": Rule(_updated, 3),
    "tile.scatter_mask": Rule(_updated, 2),
    "tile.scatter_update": Rule(_updated, 3),
    "tile.gather_row": Rule(_updated, 5),
    "tile.write": Rule(_updated, 3),
}
