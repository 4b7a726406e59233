"""Views: other shapes, windows and types of the same buffer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tilesat.errors import InterpretError
from tilesat.ir.dtypes import bits
from tilesat.ir.interp.call import Call, Handler, clipped_valid
from tilesat.ir.interp.numerics import storage_dtype
from tilesat.ir.interp.values import Array, Extents, Region, Tensor, Tile, Value, box, reshaped_valid
from tilesat.ir.nodes import EnumConst

# ---------------------------------------------------------------------------------- windows


def _slice(call: Call) -> Value:
    """A window of a tile or tensor; a tensor window may reach beyond its parent (see :class:`Tensor`)."""
    source, shape, offsets = call.region(0), call.indices(1), call.indices(2)
    call.keyword("pad_value")  # describes the window; nothing is filled
    if not len(source.shape) == len(shape) == len(offsets):
        raise InterpretError(f"{call.node.op}: {list(source.shape)}, {list(shape)}, {list(offsets)} differ in rank")
    if min(offsets, default=0) < 0:
        raise InterpretError(f"{call.node.op} at negative offset {list(offsets)}")
    valid = tuple([min(w, max(0, v - o)) for v, o, w in zip(source.valid, offsets, shape, strict=True)])
    if call.has(3):
        stated = clipped_valid(call.indices(3), shape, "valid shape")
        valid = tuple([min(v, s) for v, s in zip(valid, stated, strict=True)])
    rank = len(shape)
    dropped = frozenset(axis % rank for axis in call.indices(4)) if call.has(4) else frozenset[int]()
    if any(shape[axis] != 1 for axis in dropped):
        raise InterpretError(f"{call.node.op} drops dimensions {sorted(dropped)} of {list(shape)}")
    where = box(shape, offsets)
    kept = [axis for axis in range(len(shape)) if axis not in dropped]
    if isinstance(source, Tensor):
        call.keyword("clamp")
        return _tensor_window(source, where, shape, valid, kept)
    if any(o + w > have for o, w, have in zip(offsets, shape, source.shape, strict=True)):
        raise InterpretError(f"window {list(shape)} at {list(offsets)} leaves the tile {list(source.shape)}")
    return source.alias(
        lambda array: array[where].reshape([shape[axis] for axis in kept]),
        tuple([valid[axis] for axis in kept]),
    )


def _tensor_window(source: Tensor, where: tuple[slice, ...], shape: Extents, valid: Extents, kept: list[int]) -> Tensor:
    window = source.array[where]
    dropped = tuple(axis for axis in range(len(shape)) if axis not in kept)
    if any(window.shape[axis] == 0 for axis in dropped):
        raise InterpretError("a dropped dimension of the window lies beyond the tensor")
    array = np.squeeze(window, axis=dropped) if dropped else window
    return Tensor(source.dtype, array, tuple([shape[a] for a in kept]), tuple([valid[a] for a in kept]))


# ---------------------------------------------------------------------------- other shapes


def _reshape(call: Call) -> Value:
    """The same elements in row-major order; ``valid_shape`` may narrow a tensor."""
    source, shape = call.region(0), call.indices(1)
    layout = call.keyword("layout")
    if isinstance(layout, EnumConst) and not layout.path.endswith(".ND"):
        raise InterpretError(f"{call.node.op} with layout {layout.path} is not modelled", hint="only ND is")
    if np.prod(shape) != np.prod(source.shape):
        raise InterpretError(f"{list(source.shape)} has not as many elements as {list(shape)}")
    valid = reshaped_valid(source.shape, source.valid, shape)
    if isinstance(source, Tile):
        return source.alias(lambda array: array.reshape(shape), shape if valid is None else valid)
    if call.has(2):
        valid = clipped_valid(call.indices(2), shape, "valid shape")
    return Tensor(source.dtype, _shared(call, source.contents(), shape), shape, shape if valid is None else valid)


def _shared(call: Call, array: Array, shape: Extents) -> Array:
    reshaped = array.reshape(shape)
    if array.size and not np.may_share_memory(reshaped, array):
        raise InterpretError(f"{call.node.op}: a strided tensor cannot be viewed as {list(shape)} without a copy")
    return reshaped


def _swapped(extents: Extents) -> Extents:
    return (*extents[:-2], extents[-1], extents[-2])


def _transpose_view(call: Call) -> Value:
    source = call.tile(0)
    if len(source.shape) < 2:
        raise InterpretError(f"{call.node.op} of a tile of rank {len(source.shape)}")
    return source.alias(lambda array: array.swapaxes(-1, -2), _swapped(source.valid))


def _reinterpret_view(call: Call) -> Value:
    """The same bits as another dtype; the bytes must lie side by side where the width changes."""
    source, dtype = call.region(0), call.member("dtype") or call.region(0).dtype
    shape = call.indices(1) if call.has(1) else source.shape
    target = storage_dtype(dtype)
    width, old_width = target.itemsize, storage_dtype(source.dtype).itemsize
    is_packed = bits(dtype) != 8 * width or bits(source.dtype) != 8 * old_width
    if is_packed and bits(dtype) != bits(source.dtype):
        raise InterpretError(f"{source.dtype} cannot be viewed as {dtype}", hint="their elements are packed")
    if np.prod(shape) * width != np.prod(source.shape) * old_width:
        raise InterpretError(f"{source.dtype} {list(source.shape)} and {dtype} {list(shape)} differ in size")
    if width != old_width:
        return _rewidened(call, source, dtype, shape)
    valid = reshaped_valid(source.shape, source.valid, shape) or shape
    if isinstance(source, Tile):
        viewed = source.reinterpret(dtype, target)
        return viewed if shape == source.shape else viewed.alias(lambda array: array.reshape(shape), valid)
    return Tensor(dtype, _shared(call, source.contents().view(target), shape), shape, valid)


def _rewidened(call: Call, source: Region, dtype: str, shape: Extents) -> Region:
    elements = source.view if isinstance(source, Tile) else source.contents()
    if elements is None or not elements.flags.c_contiguous or source.valid != source.shape:
        raise InterpretError(f"{call.node.op} to another width needs a contiguous and valid operand")
    flat = elements.reshape(-1).view(storage_dtype(dtype))
    if isinstance(source, Tile):
        return Tile(dtype, flat, flat.reshape(shape), None, shape)
    return Tensor(dtype, flat.reshape(shape), shape, shape)


def _set_validshape(call: Call) -> Value:
    source = call.region(0)
    valid = clipped_valid((call.index(1), call.index(2)), source.shape, "valid shape")
    revalidated: Region = replace(source, valid=valid)
    return revalidated


def handlers() -> dict[str, Handler]:
    """Handlers by full op name."""
    table: dict[str, Handler] = {"tensor.view": _reshape, "tile.transpose_view": _transpose_view}
    for kind in ("tile", "tensor"):
        table |= {
            f"{kind}.slice": _slice,
            f"{kind}.reshape": _reshape,
            f"{kind}.reinterpret_view": _reinterpret_view,
            f"{kind}.set_validshape": _set_validshape,
        }
    return table
