"""Ops that carry tiles between memories: load, store, move, extract, and element reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilesat.ir.deduce.operands import Operands, Rule, Undeducible, scalar
from tilesat.ir.deduce.tiles import need_rank, window_valid_shape
from tilesat.ir.types import (
    Layout,
    MemorySpace,
    Shape,
    TensorType,
    TileType,
    TileView,
    Type,
    implicit_layout,
    is_flat,
    tile_type,
)

_FLAT_ROWS = ("row_major", "none_box")
_SCALE_SPACES = frozenset({MemorySpace.LeftScale, MemorySpace.RightScale})
# Tensors stored as MX scales: how they lie in a tile is not known.
_MX_LAYOUTS = frozenset({"MX_A_ZZ", "MX_B_NN"})


def _load(operands: Operands) -> Type:
    """``load(tensor, offsets, shapes, valid_shape)``: a window of the tensor."""
    tensor, offsets, shape = operands.tensor(0), operands.shape(1), operands.shape(2)
    _check_offsets(operands, offsets, tensor)
    if operands.is_set("clamp") or operands.is_set("transpose"):
        raise Undeducible
    space = operands.space()
    valid = operands.shape(3) if operands.has(3) else shape
    if len(valid) != len(shape):
        raise operands.error(3, f"has {len(valid)} extents", f"{len(shape)} are needed, as in 'shapes'")
    blayout, slayout = _loaded_layout(tensor, shape, space)
    if blayout is None and valid == shape:
        return TileType(shape, tensor.dtype, space)
    return tile_type(shape, tensor.dtype, space, TileView(valid_shape=valid, blayout=blayout, slayout=slayout))


def _check_offsets(operands: Operands, offsets: Shape, tensor: TensorType) -> None:
    found, rank = len(offsets), len(tensor.shape)
    if found != rank:
        raise operands.error(1, f"has {found} offsets", f"the tensor has rank {rank}, one each is needed")


def _loaded_layout(tensor: TensorType, shape: Shape, space: MemorySpace | None) -> tuple[str | None, str | None]:
    """Block layouts of a loaded tile; ``None`` for those implicit in its space."""
    if space is not MemorySpace.Mat:
        return None, None
    layout = None if tensor.view is None else tensor.view.layout
    if layout in _MX_LAYOUTS:
        raise Undeducible
    if len(shape) == 2 and shape[0] == 1:
        return _FLAT_ROWS
    if layout == "DN":
        boxed = implicit_layout(shape, space)
        return boxed.slayout, boxed.blayout
    return None, None


def _store(operands: Operands) -> Type:
    """``store(tile, offsets, tensor)``: the tensor, with its view."""
    operands.tile(0)
    tensor, offsets = operands.tensor(2), operands.shape(1)
    _check_offsets(operands, offsets, tensor)
    return tensor if tensor.memref is None else replace(tensor, memref=None)


def _scatter_to_memory(operands: Operands) -> Type:
    """``mscatter(src, idx, tensor)``: the tensor."""
    operands.tile(0)
    tensor = operands.tensor(2)
    return tensor if tensor.memref is None else replace(tensor, memref=None)


def _move(operands: Operands) -> Type:
    """``move(tile, target_memory)``: the same values elsewhere; a copy is never marked compact."""
    tile, space = operands.tile(0), operands.space()
    if space in _SCALE_SPACES:
        return _move_scale(operands, tile, space)
    wanted_block, wanted_inner = operands.member("blayout"), operands.member("slayout")
    view = tile.view
    if view is None and wanted_block is None and wanted_inner is None:
        if not is_flat(space) or is_flat(tile.space):
            return TileType(tile.shape, tile.dtype, space)
    layout = tile.layout if is_flat(space) else implicit_layout(tile.shape, space)
    if space is MemorySpace.Right:
        wanted_block = None
    moved = TileView(
        valid_shape=None if view is None else view.valid_shape,
        blayout=wanted_block or layout.blayout,
        slayout=wanted_inner or layout.slayout,
        pad=None if view is None else view.pad,
    )
    return tile_type(tile.shape, tile.dtype, space, moved)


def _move_scale(operands: Operands, tile: TileType, space: MemorySpace | None) -> Type:
    """Scales of an MX product: only from Mat, already in the layout of the scale memory."""
    wanted, found = implicit_layout(tile.shape, space), tile.layout
    fits = (found.blayout, found.slayout) == (wanted.blayout, wanted.slayout)
    if tile.space not in (None, MemorySpace.Mat) or len(tile.shape) != 2 or not fits:
        raise operands.error(
            0,
            f"cannot become a scale in {space}",
            f"a tile of rank 2 in Mat with blayout={wanted.blayout}, slayout={wanted.slayout} is needed",
        )
    dtype = "FP8E8M0" if tile.dtype == "UINT8" else tile.dtype
    view = None if tile.view is None else TileView(valid_shape=tile.view.valid_shape, pad=tile.view.pad)
    return tile_type(tile.shape, dtype, space, view)


def _extract(operands: Operands) -> Type:
    """``extract(src, row, col, shape)``: a window of a tile, cut out for the cube or in the vector buffer.

    A window of a narrowed tile is marked compact (kernel chain_three); a pad does not carry over.
    """
    tile, shape, space = operands.tile(0), operands.shape(3), operands.space()
    need_rank(tile, 2)
    valid = window_valid_shape(tile, (operands.dim(1), operands.dim(2)), shape)
    layout = _extracted_layout(tile, shape, space)
    view = TileView(
        valid_shape=valid,
        blayout=layout.blayout,
        slayout=layout.slayout,
        compact=None if valid == shape else "normal",
    )
    return tile_type(shape, tile.dtype, space, view)


def _extracted_layout(tile: TileType, shape: Shape, space: MemorySpace | None) -> Layout:
    if space is MemorySpace.Left:
        return Layout("row_major", "row_major", 512)
    if space is MemorySpace.Right:
        return implicit_layout(shape, space)
    if space is MemorySpace.Vec and tile.layout.slayout == "none_box":
        return tile.layout
    raise Undeducible


def _read(operands: Operands) -> Type:
    """``read(tile, indices)``: one element."""
    return scalar(operands.tile(0).dtype)


RULES: Mapping[str, Rule] = {
    "tile.load": Rule(_load, 3),
    "tile.store": Rule(_store, 3),
    "tile.mscatter": Rule(_scatter_to_memory, 3),
    "tile.move": Rule(_move, 1),
    "tile.extract": Rule(_extract, 4),
    "tile.read": Rule(_read, 2),
}
