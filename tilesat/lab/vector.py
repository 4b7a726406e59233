"""Statements of the vector unit: elementwise ops, reductions, expansions, casts."""

from __future__ import annotations

from tilesat.ir.dtypes import is_float
from tilesat.ir.nodes import EnumConst, StrConst
from tilesat.lab.builder import Builder
from tilesat.lab.pool import TileVar
from tilesat.lab.positions import value
from tilesat.lab.sources import any_tile, new_tile, working_space

_UNARY_FLOAT = ("neg", "abs", "relu", "exp")
_UNARY_INTEGER = ("neg", "abs", "relu")
_BINARY = ("add", "mul", "sub", "maximum", "minimum")
_WITH_SCALAR = ("adds", "muls", "maximums", "minimums")
_REDUCTIONS = ("sum", "max", "min")
_EXPANSIONS = ("mul", "add", "sub", "max")
_CASTS = {
    "FP32": ("FP16", "BF16", "INT32"),
    "FP16": ("FP32",),
    "BF16": ("FP32",),
    "INT32": ("FP32",),
    "INT8": ("FP16",),
}


def operand(b: Builder) -> TileVar:
    """Any tile that the vector unit can read."""
    return b.find(lambda t: t.is_free, lambda: any_tile(b))


def matching(b: Builder, tile: TileVar) -> TileVar:
    """A tile with the dtype, shape and valid extents of ``tile``, perhaps ``tile`` itself."""
    type_ = tile.type
    return b.find(
        lambda t: t.is_free and t.has_values_like(type_),
        lambda: new_tile(b, type_.shape, type_.dtype, type_.valid_shape),
    )


def unary_of(b: Builder, tile: TileVar) -> TileVar:
    names = _UNARY_FLOAT if is_float(tile.type.dtype) else _UNARY_INTEGER
    return b.tile(b.call(f"tile.{b.choices.pick(names)}", tile))


def binary_of(b: Builder, first: TileVar, second: TileVar) -> TileVar:
    return b.tile(b.call(f"tile.{b.choices.pick(_BINARY)}", first, second))


def unary(b: Builder) -> None:
    unary_of(b, operand(b))


def binary(b: Builder) -> None:
    first = operand(b)
    binary_of(b, first, matching(b, first))


def with_scalar(b: Builder) -> None:
    tile = operand(b)
    b.tile(b.call(f"tile.{b.choices.pick(_WITH_SCALAR)}", tile, value(b, tile.type.dtype)))


def cast(b: Builder) -> None:
    tile = operand(b)
    target = EnumConst(b.choices.pick(_CASTS[tile.type.dtype]))
    b.tile(b.call("tile.cast", tile, target_type=target, mode=StrConst("rint")))


def reduce(b: Builder) -> None:
    """To a column, which takes working space, or to a row."""
    tile = operand(b)
    name = b.choices.pick(_REDUCTIONS)
    if b.choices.chance(3):
        b.tile(b.call(f"tile.col_{name}", tile))
    else:
        row_reduction(b, tile, name)


def row_reduction(b: Builder, tile: TileVar, name: str) -> TileVar:
    scratch = working_space(b, tile.type.shape, tile.type.dtype)
    return b.tile(b.call(f"tile.row_{name}", tile, scratch))


def expand(b: Builder) -> None:
    """A column of one value per row, or a row of one per column, combined with a tile."""
    tile = b.find(lambda t: t.is_free and t.rows > 1 and t.columns > 1, lambda: any_tile(b))
    name = b.choices.pick(_EXPANSIONS)
    if b.choices.chance(3):
        b.tile(b.call(f"tile.col_expand_{name}", tile, _row_for(b, tile)))
    else:
        b.tile(b.call(f"tile.row_expand_{name}", tile, _column_for(b, tile)))


def _column_for(b: Builder, tile: TileVar) -> TileVar:
    shape, valid = (tile.rows, 1), (tile.type.valid_shape[0], 1)
    return b.find(lambda t: _is_vector(t, tile, shape, valid), lambda: new_tile(b, shape, tile.type.dtype, valid))


def _row_for(b: Builder, tile: TileVar) -> TileVar:
    shape, valid = (1, tile.columns), (1, tile.type.valid_shape[1])
    return b.find(lambda t: _is_vector(t, tile, shape, valid), lambda: new_tile(b, shape, tile.type.dtype, valid))


def _is_vector(t: TileVar, tile: TileVar, shape: object, valid: object) -> bool:
    type_ = t.type
    return t.is_free and type_.dtype == tile.type.dtype and type_.shape == shape and type_.valid_shape == valid
