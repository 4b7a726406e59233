"""Ops that look at a tile differently, and ops that write a part of one."""

from __future__ import annotations

from collections.abc import Mapping

from tilesat.ir.deduce.operands import Operands, Rule, RuleFunction, Undeducible, spell, static_size
from tilesat.ir.deduce.tiles import (
    check_same_extent,
    like,
    need_plain,
    need_rank,
    window_valid_shape,
    without_memref,
)
from tilesat.ir.dtypes import bits
from tilesat.ir.nodes import Const, Expr
from tilesat.ir.types import MemorySpace, Shape, TileType, TileView, Type, tile_type


def _slice(operands: Operands) -> Type:
    """``slice(input, shape, offset, valid_shape, drop_dims)``: a window with the input's layout and pad."""
    tile, shape, offsets = operands.tile(0), operands.shape(1), operands.shape(2)
    if not len(shape) == len(offsets) == len(tile.shape):
        raise operands.error(
            1, f"has {len(shape)} extents for {len(offsets)} offsets", f"{len(tile.shape)} of each are needed"
        )
    valid = _slice_valid_shape(operands, tile, shape)
    dropped = dropped_dims(operands, 4, len(shape))
    shape, valid = _without(shape, dropped), _without(valid, dropped)
    pad = operands.member("pad_value") or tile.pad
    if tile.view is None and valid == shape and pad is None and not _is_column(shape, tile):
        return TileType(shape, tile.dtype, tile.space)
    layout = tile.layout
    view = TileView(valid_shape=valid, blayout=layout.blayout, slayout=layout.slayout, fractal=layout.fractal, pad=pad)
    return tile_type(shape, tile.dtype, tile.space, view)


def _slice_valid_shape(operands: Operands, tile: TileType, shape: Shape) -> Shape:
    """The stated valid shape; without one, only a window that is valid all over is determined."""
    if operands.has(3):
        valid = operands.shape(3)
        if len(valid) != len(shape):
            raise operands.error(3, f"has {len(valid)} extents", f"{len(shape)} are needed, as in 'shape'")
        return valid
    if tile.view is None or tile.view.valid_shape is None:
        return shape
    if window_valid_shape(tile, operands.shape(2), shape) != shape or tile.compact is not None:
        raise Undeducible
    return shape


def _is_column(shape: Shape, tile: TileType) -> bool:
    """Whether either is a column, whose implicit layout differs from that of wider tiles."""
    return shape[-1:] == (1,) or tile.shape[-1:] == (1,)


def dropped_dims(operands: Operands, position: int, rank: int) -> tuple[int, ...]:
    """The dimensions that argument ``position`` lists, counted from the front."""
    if not operands.has(position):
        return ()
    dims = operands.shape(position)
    known = tuple([dim + rank if dim < 0 else dim for dim in dims if isinstance(dim, int)])
    if len(known) != len(dims):
        raise Undeducible
    if any(not 0 <= dim < rank for dim in known):
        raise operands.error(position, f"names dimensions {spell(dims)}", f"the window has rank {rank}")
    return known


def _without(shape: Shape, dropped: tuple[int, ...]) -> Shape:
    return tuple([dim for index, dim in enumerate(shape) if index not in dropped]) if dropped else shape


def check_same_size(operands: Operands, position: int, found: Shape, wanted: Shape) -> None:
    """Raise when two shapes have static and different numbers of elements."""
    size, needed = static_size(found), static_size(wanted)
    if size is not None and needed is not None and size != needed:
        raise operands.error(position, f"{spell(found)} has {size} elements", f"the input {spell(wanted)} has {needed}")


def _reshape(operands: Operands) -> Type:
    """``reshape(input, shape)``: plain, with the implicit layout of its own shape, valid all over."""
    tile, shape = operands.tile(0), operands.shape(1)
    check_same_size(operands, 1, shape, tile.shape)
    return TileType(shape, tile.dtype, tile.space)


def _reinterpret_view(operands: Operands) -> Type:
    """``reinterpret_view(data, shape, dtype=...)``: the same bytes, known for flat and whole tiles."""
    tile, shape = operands.tile(0), operands.shape(1)
    need_plain(tile)
    dtype = operands.optional_dtype("dtype") or tile.dtype
    found, needed = static_size(shape), static_size(tile.shape)
    width, old_width = bits(dtype), bits(tile.dtype)
    if found is not None and needed is not None and width is not None and old_width is not None:
        if found * width != needed * old_width:
            raise operands.error(
                1,
                f"{spell(shape)} of {dtype} takes {found * width} bits",
                f"the input takes {needed * old_width}",
            )
    return TileType(shape, dtype, tile.space)


def _transpose(operands: Operands) -> Type:
    """``transpose(input, axis1, axis2)``: two extents change places, known for flat tiles."""
    tile = operands.tile(0)
    first, second = (_axis(operands, position, len(tile.shape)) for position in (1, 2))
    shape = _swapped(tile.shape, first, second)
    if tile.layout.slayout != "none_box" or _is_column(shape, tile) or tile.pad or tile.compact:
        raise Undeducible
    valid = _swapped(tile.valid_shape, first, second)
    return tile_type(shape, tile.dtype, tile.space, TileView(valid_shape=valid))


def _axis(operands: Operands, position: int, rank: int) -> int:
    axis = axis_of(operands.call.args[position])
    if not -rank <= axis < rank:
        raise operands.error(position, f"is {axis}", f"an axis of a tile of rank {rank} is needed")
    return axis % rank


def axis_of(expr: Expr) -> int:
    """An axis that is written out, of whatever integer type."""
    if isinstance(expr, Const) and type(expr.value) is int:
        return expr.value
    raise Undeducible


def _swapped(shape: Shape, first: int, second: int) -> Shape:
    dims = list(shape)
    dims[first], dims[second] = dims[second], dims[first]
    return tuple(dims)


def _transpose_view(operands: Operands) -> Type:
    """``transpose_view(input)``: a Mat tile read the other way round, so both block layouts change places."""
    tile = operands.tile(0)
    if tile.space not in (None, MemorySpace.Mat) or len(tile.shape) != 2:
        raise operands.error(
            0, f"has rank {len(tile.shape)} and lives in {tile.space}", "a tile of rank 2 in Mat is needed"
        )
    layout = tile.layout
    if "none_box" in (layout.blayout, layout.slayout):
        raise Undeducible
    view = TileView(
        valid_shape=tuple(reversed(tile.valid_shape)),
        blayout=layout.slayout,
        slayout=layout.blayout,
        fractal=layout.fractal,
        pad=tile.pad,
        compact=tile.compact,
    )
    return tile_type(tuple(reversed(tile.shape)), tile.dtype, tile.space, view)


def _set_validshape(operands: Operands) -> Type:
    """``set_validshape(tile, rows, cols)``: changes the valid shape and nothing else."""
    tile = operands.tile(0)
    need_rank(tile, 2)
    valid = (operands.dim(1), operands.dim(2))
    for position, (extent, size) in enumerate(zip(valid, tile.shape, strict=True), start=1):
        if isinstance(extent, int) and isinstance(size, int) and extent > size:
            raise operands.error(position, f"is {extent}", f"the tile has only {size}")
    view = tile.view or _NO_VIEW
    changed = TileView(
        valid_shape=valid,
        stride=view.stride,
        start_offset=view.start_offset,
        blayout=view.blayout,
        slayout=view.slayout,
        fractal=view.fractal,
        pad=view.pad,
        compact=view.compact,
    )
    return tile_type(tile.shape, tile.dtype, tile.space, changed)


def _fillpad(*, expands: bool = False) -> RuleFunction:
    """The invalid part filled: valid all over, padded with the value; the other view fields stay."""

    def rule(operands: Operands) -> Type:
        tile = operands.tile(0)
        pad = operands.member("pad_value")
        if pad is None:
            raise Undeducible
        shape = operands.shape(1) if expands else tile.shape
        filled = like(tile, tile.dtype, operands.space(), shape)
        view = filled.view or _NO_VIEW
        padded = TileView(blayout=view.blayout, slayout=view.slayout, pad=pad, compact=view.compact)
        return tile_type(shape, tile.dtype, filled.space, padded)

    return rule


def _assemble(operands: Operands) -> Type:
    """``assemble(target, source, offset)``: the target, a part of it overwritten."""
    target, source = operands.tile(0), operands.tile(1)
    if len(source.shape) == len(target.shape):
        for found, size in zip(source.shape, target.shape, strict=True):
            if isinstance(found, int) and isinstance(size, int) and found > size:
                raise operands.error(1, f"has extent {found}", f"the target has only {size}")
    return without_memref(target)


def _concat(operands: Operands) -> Type:
    """``concat(src0, src1)``: columns side by side, known for flat and whole tiles."""
    first, second = operands.tile(0), operands.tile(1)
    need_plain(first, second)
    need_rank(first, 2)
    need_rank(second, 2)
    check_same_extent(operands, 1, second.shape[0], first.shape[0], "rows")
    left, right = first.shape[1], second.shape[1]
    if not isinstance(left, int) or not isinstance(right, int) or 1 in (left, right):
        raise Undeducible
    return TileType((first.shape[0], left + right), first.dtype, operands.space())


def _first(operands: Operands) -> Type:
    """The result is the first argument."""
    return without_memref(operands.tile(0))


_NO_VIEW = TileView()

RULES: Mapping[str, Rule] = {
    "tile.slice": Rule(_slice, 3),
    "tile.reshape": Rule(_reshape, 2),
    "tile.reinterpret_view": Rule(_reinterpret_view, 2),
    "tile.transpose": Rule(_transpose, 3),
    "tile.transpose_view": Rule(_transpose_view, 1),
    "tile.set_validshape": Rule(_set_validshape, 3),
    "tile.fillpad": Rule(_fillpad(), 1),
    "tile.fillpad_inplace": Rule(_fillpad(), 1),
    "tile.fillpad_expand": Rule(_fillpad(expands=True), 2),
    "tile.assemble": Rule(_assemble, 3),
    "tile.concat": Rule(_concat, 2),
    "tile.tget_scale_addr": Rule(_first, 2),
}
