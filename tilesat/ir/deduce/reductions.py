"""Reductions of a tile to one column or one row."""

from __future__ import annotations

from collections.abc import Mapping

from tilesat.ir.deduce.operands import Operands, Rule
from tilesat.ir.deduce.tiles import need_rank
from tilesat.ir.types import TileType, TileView, Type, tile_type


def _row_reduction(operands: Operands) -> Type:
    """``[M, N]`` to ``[M, 1]``, stored by columns even where M is 1; layout and pad do not carry over."""
    tile = operands.tile(0)
    need_rank(tile, 2)
    view = TileView(valid_shape=(tile.valid_shape[0], 1), blayout="col_major", slayout="none_box")
    return tile_type((tile.shape[0], 1), tile.dtype, operands.space(), view)


def _col_reduction(operands: Operands) -> Type:
    """``[M, N]`` to ``[1, N]``, flat."""
    tile = operands.tile(0)
    need_rank(tile, 2)
    shape, space = (1, tile.shape[1]), operands.space()
    if tile.view is None:
        return TileType(shape, tile.dtype, space)
    return tile_type(shape, tile.dtype, space, TileView(valid_shape=(1, tile.valid_shape[1])))


# The dtype of the positions that argmax and argmin give is not known, so these have no rule.
RULES: Mapping[str, Rule] = {
    **{f"tile.row_{name}": Rule(_row_reduction, 1) for name in ("max", "min", "sum", "prod")},
    **{f"tile.col_{name}": Rule(_col_reduction, 1) for name in ("max", "min", "sum", "prod")},
}
