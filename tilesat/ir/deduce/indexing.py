"""Gathers and sorts of vector tiles, as far as programs show what they give."""

from __future__ import annotations

from collections.abc import Mapping

from tilesat.ir.deduce.operands import Operands, Rule, Undeducible
from tilesat.ir.deduce.tiles import like, need_plain, need_rank
from tilesat.ir.dtypes import bits
from tilesat.ir.types import TileType, TupleType, Type

# Every second element, even or odd positions.
_HALVING_MASKS = frozenset({1, 2})


def _gather(operands: Operands) -> Type:
    """``gather(src, indices, tmp)``: an element of the source per index."""
    source, indices = operands.tile(0), operands.tile(1)
    need_plain(indices)
    return TileType(indices.shape, source.dtype, operands.space())


def _gather_mask(operands: Operands) -> Type:
    """``gather_mask(src, mask_pattern=...)``: the elements of each row that a repeating mask picks."""
    source = operands.tile(0)
    need_plain(source)
    need_rank(source, 2)
    columns = source.shape[1]
    if operands.integer("mask_pattern") not in _HALVING_MASKS or not isinstance(columns, int) or columns < 4:
        raise Undeducible
    dtype = operands.optional_dtype("output_dtype") or source.dtype
    return TileType((source.shape[0], columns // 2), dtype, operands.space())


def _gather_compare(operands: Operands) -> Type:
    """``gather_compare(src, value, tmp, out_cols=n)``: positions of matches per row, and their numbers."""
    source, columns = operands.tile(0), operands.integer("out_cols")
    need_rank(source, 2)
    if columns is None or columns == 1:
        raise Undeducible
    rows, space = source.shape[0], operands.space()
    count_dtype = operands.optional_dtype("count_dtype") or "INT32"
    return TupleType((TileType((rows, columns), "INT32", space), TileType((1, rows), count_dtype, space)))


def _sort32(operands: Operands) -> Type:
    """``sort32(src, idx)``: pairs of value and index side by side, known for values as wide as an index."""
    source = operands.tile(0)
    operands.tile(1)
    need_plain(source)
    need_rank(source, 2)
    columns = source.shape[1]
    if bits(source.dtype) != 32 or not isinstance(columns, int):
        raise Undeducible
    return TileType((source.shape[0], 2 * columns), source.dtype, operands.space())


def _merge_runs(operands: Operands) -> Type:
    """``mrgsort_format1(src, block_len)``: sorted runs merged in place."""
    source = operands.tile(0)
    return like(source, source.dtype, operands.space())


RULES: Mapping[str, Rule] = {
    "tile.gather": Rule(_gather, 2),
    "tile.gather_mask": Rule(_gather_mask, 1),
    "tile.gather_compare": Rule(_gather_compare, 2),
    "tile.sort32": Rule(_sort32, 2),
    "tile.mrgsort_format1": Rule(_merge_runs, 2),
}
