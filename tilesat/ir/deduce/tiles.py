"""Building blocks of tile results that several families of ops share."""

from __future__ import annotations

from dataclasses import replace

from tilesat.ir.deduce.operands import Operands, Undeducible
from tilesat.ir.types import Dim, MemorySpace, Shape, TileType, TileView, is_flat, tile_type


def like(tile: TileType, dtype: str, space: MemorySpace | None, shape: Shape | None = None) -> TileType:
    """What a vector op makes of ``tile``: its block layouts, valid shape, pad and compact mode.

    The size of a fractal belongs to the space, so a boxed accumulator gives a boxed vector tile with the
    vector buffer's own fractal. With another ``shape``, the result is valid all over.
    """
    if tile.view is None and (tile.space == space or (is_flat(tile.space) and is_flat(space))):
        return TileType(shape or tile.shape, dtype, space)
    layout = tile.layout
    view = TileView(
        valid_shape=tile.valid_shape if shape is None else None,
        blayout=layout.blayout,
        slayout=layout.slayout,
        pad=tile.pad,
        compact=tile.compact,
    )
    return tile_type(shape or tile.shape, dtype, space, view)


def without_memref(tile: TileType) -> TileType:
    """``tile`` as a deduced type: where the buffer was declared does not carry over."""
    return tile if tile.memref is None else replace(tile, memref=None)


def is_narrowed(tile: TileType) -> bool:
    """Whether only a part of ``tile`` is valid."""
    return tile.view is not None and tile.view.valid_shape is not None


def need_whole(*tiles: TileType) -> None:
    """Leave the result open when some of ``tiles`` is valid only in part."""
    if any(map(is_narrowed, tiles)):
        raise Undeducible


def need_plain(*tiles: TileType) -> None:
    """Leave the result open when some of ``tiles`` has any view of its own."""
    if any(tile.view is not None or not is_flat(tile.space) for tile in tiles):
        raise Undeducible


def need_rank(tile: TileType, rank: int) -> None:
    """Leave the result open when ``tile`` has another rank than the op is known for."""
    if len(tile.shape) != rank:
        raise Undeducible


def window_valid_shape(tile: TileType, offsets: Shape, shape: Shape) -> Shape:
    """The part of the window ``shape`` at ``offsets`` that is valid in ``tile``."""
    if not is_narrowed(tile):
        return shape
    if not len(tile.shape) == len(offsets) == len(shape):
        raise Undeducible
    return tuple(map(_window_extent, tile.shape, tile.valid_shape, offsets, shape))


def _window_extent(size: Dim, valid: Dim, offset: Dim, wanted: Dim) -> Dim:
    if valid == size:
        return wanted
    if offset == 0 and wanted == size:
        return valid
    if isinstance(valid, int) and isinstance(offset, int) and isinstance(wanted, int):
        return max(0, min(wanted, valid - offset))
    raise Undeducible


def check_same_extent(operands: Operands, position: int, found: Dim, wanted: Dim, what: str) -> None:
    """Raise when two static extents that must agree differ."""
    if isinstance(found, int) and isinstance(wanted, int) and found != wanted:
        raise operands.error(position, f"has {found} {what}", f"{wanted} are needed")
