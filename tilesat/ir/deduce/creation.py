"""Tiles out of nothing."""

from __future__ import annotations

from collections.abc import Mapping

from tilesat.ir.deduce.operands import Operands, Rule, RuleFunction, Undeducible
from tilesat.ir.types import TileType, TileView, Type, tile_type


def _create(operands: Operands) -> Type:
    """``create(shape, dtype=..., target_memory=...)``: whole, in the implicit layout of its space."""
    shape, dtype = operands.shape(0), operands.dtype("dtype")
    if operands.is_set("flat_layout") or operands.is_set("transpose"):
        raise Undeducible
    return TileType(shape, dtype, operands.space())


def _full(operands: Operands) -> Type:
    """``full(shape, dtype=..., value=...)``: stored by rows, a single column too."""
    shape, dtype = operands.shape(0), operands.dtype("dtype")
    return tile_type(shape, dtype, operands.space(), TileView(blayout="row_major"))


def _generated(shape_at: int, valid_at: int | None = None) -> RuleFunction:
    """A tile of generated values; how a single column is stored is not known."""

    def rule(operands: Operands) -> Type:
        shape, dtype = operands.shape(shape_at), operands.dtype("dtype")
        if len(shape) == 2 and shape[1] == 1 and shape[0] != 1:
            raise Undeducible
        valid = shape
        if valid_at is not None and operands.has(valid_at):
            valid = operands.shape(valid_at)
        return tile_type(shape, dtype, operands.space(), TileView(valid_shape=valid))

    return rule


RULES: Mapping[str, Rule] = {
    "tile.create": Rule(_create, 1),
    "tile.full": Rule(_full, 1),
    "tile.ci": Rule(_generated(1), 2),
    "tile.tri": Rule(_generated(1, 2), 2),
    "tile.random": Rule(_generated(6, 7), 7),
}
