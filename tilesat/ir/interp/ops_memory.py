"""Ops that allocate, load, store, copy, read or write buffers."""

from __future__ import annotations

import numpy as np

from tilesat.errors import InterpretError
from tilesat.ir.interp.call import Call, Handler, clipped_valid
from tilesat.ir.interp.junk import junk
from tilesat.ir.interp.numerics import convert, narrow, pad_value, storage_dtype, widen
from tilesat.ir.interp.scalars import as_index, coerce
from tilesat.ir.interp.values import Array, Extents, Region, Tensor, Tile, Value, box, reshaped_valid
from tilesat.ir.nodes import EnumConst
from tilesat.ir.types import TileType

_SCALE_SPACES = frozenset({"LeftScale", "RightScale"})

# ------------------------------------------------------------------------------- allocation


def _dtype(call: Call, default: str | None = None) -> str:
    dtype = call.member("dtype") or default
    if dtype is None:
        raise InterpretError(f"{call.node.op} names no dtype")
    return dtype


def _annotated_valid(call: Call, shape: Extents) -> Extents:
    """The valid extents that the annotation states: a new buffer has no other source for them."""
    if isinstance(call.result, TileType) and len(call.result.shape) == len(shape):
        return clipped_valid(call.extents(call.result.valid_shape), shape, "valid shape")
    return shape


def _create(call: Call) -> Value:
    shape, dtype = call.indices(0), _dtype(call)
    call.keyword("transpose")  # how an on-chip buffer is laid out
    initial = call.keyword("init_value")
    if initial is None:
        return call.adopt(dtype, junk(dtype, shape).copy(), _annotated_valid(call, shape))
    return call.adopt(dtype, np.full(shape, coerce(initial, dtype), storage_dtype(dtype)))


def _full(call: Call) -> Value:
    shape, dtype = call.indices(0), _dtype(call)
    value = call.arg(1) if call.has(1) else call.keyword("value")
    if value is None:
        raise InterpretError(f"{call.node.op} names no value")
    contents = np.full(shape, coerce(value, dtype), storage_dtype(dtype))
    return call.adopt(dtype, contents, _annotated_valid(call, shape))


def _counting(call: Call) -> Value:
    """``ci``: consecutive integers from ``start``, in row-major order."""
    start, shape, dtype = call.index(0), call.indices(1), _dtype(call, "INT32")
    steps = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    return call.adopt(dtype, narrow(start - steps if call.flag("descending") else start + steps, dtype))


# --------------------------------------------------------------------------- load and store


def _load(call: Call) -> Value:
    tensor, offsets, shape = call.tensor(0), call.indices(1), call.indices(2)
    _same_rank(call, tensor.shape, offsets, shape)
    valid = clipped_valid(call.indices(3), shape, "valid shape") if call.has(3) else shape
    there = tuple([max(0, have - start) for have, start in zip(tensor.array.shape, offsets, strict=True)])
    if call.flag("clamp"):
        valid = tuple([min(v, t) for v, t in zip(valid, there, strict=True)])
    _check_inside(call, tensor, offsets, valid)
    values = tensor.array[box(valid, offsets)] if 0 not in valid else np.empty(valid, tensor.array.dtype)
    loaded = call.new(tensor.dtype, shape, np.array(values, order="C", copy=True), valid)
    return _flattened(call, loaded)


def _flattened(call: Call, loaded: Region) -> Region:
    """``loaded`` in the annotated shape: a load may merge the leading dimensions of its window."""
    shape = call.result_shape()
    if shape is None or len(shape) >= len(loaded.shape) or np.prod(shape) != np.prod(loaded.shape):
        return loaded
    valid = reshaped_valid(loaded.shape, loaded.valid, shape)
    if valid is None:
        raise InterpretError(f"valid shape {list(loaded.valid)} of {list(loaded.shape)} is no box of {list(shape)}")
    return call.adopt(loaded.dtype, np.array(loaded.contents().reshape(shape)), valid)


def _same_rank(call: Call, *extents: Extents) -> None:
    if len({len(e) for e in extents}) != 1:
        shown = ", ".join(str(list(e)) for e in extents)
        raise InterpretError(f"{call.node.op}: {shown} differ in rank")


def _check_inside(call: Call, tensor: Tensor, offsets: Extents, extents: Extents) -> None:
    if 0 in extents:
        return
    for axis, (start, extent, have) in enumerate(zip(offsets, extents, tensor.array.shape, strict=True)):
        if start < 0 or start + extent > have:
            raise InterpretError(
                f"{call.node.op} accesses elements {start} to {start + extent - 1} of dimension {axis}, "
                f"which has {have}"
            )


def _aligned(extents: Extents, rank: int) -> Extents | None:
    """``extents`` with leading ones added or dropped to have ``rank``, ``None`` when impossible."""
    surplus = len(extents) - rank
    if surplus <= 0:
        return (1,) * -surplus + extents
    return extents[surplus:] if all(e == 1 for e in extents[:surplus]) else None


def _window(call: Call, source: Region, rank: int, shapes: Extents | None) -> Array:
    """What of ``source`` is valid, in ``rank`` dimensions; ``shapes`` are the stated window extents."""
    shape, empty = _aligned(source.shape, rank), 0 in source.valid
    if empty:
        return np.empty((0,) * rank, storage_dtype(source.dtype))
    valid = _aligned(source.valid, rank)
    if shape is not None and valid is not None and (shapes is None or _fits(shape, shapes)):
        values = source.valid_contents().reshape(valid)
        return values if shapes is None else values[box(shapes)]
    if shapes is None or np.prod(shapes) != np.prod(source.shape):
        raise InterpretError(f"{call.node.op}: {list(source.shape)} does not fit into {rank} dimensions")
    valid = reshaped_valid(source.shape, source.valid, shapes)
    if valid is None:
        raise InterpretError(f"valid shape {list(source.valid)} of {list(source.shape)} is no box of {list(shapes)}")
    return source.contents().reshape(shapes)[box(valid)]


def _fits(shape: Extents, shapes: Extents) -> bool:
    return all(w <= e for e, w in zip(shape, shapes, strict=True))


def _is_atomic(call: Call) -> bool:
    value = call.keyword("atomic")
    if value is None:
        return False
    if isinstance(value, EnumConst):
        return value.path.endswith(".Add")
    return as_index(value) == 1


def _put(call: Call, tensor: Tensor, offsets: Extents, values: Array, dtype: str) -> None:
    """Write ``values`` of ``dtype`` into the buffer of ``tensor`` at ``offsets``."""
    if values.size == 0:
        return
    _check_inside(call, tensor, offsets, values.shape)
    where = box(values.shape, offsets)
    converted = convert(values, dtype, tensor.dtype)
    if _is_atomic(call):
        total = widen(tensor.array[where], tensor.dtype) + widen(converted, tensor.dtype)
        converted = narrow(total, tensor.dtype)
    tensor.write(where, converted)


def _store(call: Call) -> Value:
    source, offsets, tensor = call.region(0), call.indices(1), call.tensor(2)
    shapes = call.indices(3) if call.has(3) else None
    _same_rank(call, tensor.shape, offsets, *([] if shapes is None else [shapes]))
    call.keyword("atomic")
    _put(call, tensor, offsets, _window(call, source, len(offsets), shapes), source.dtype)
    return tensor


def _assemble(call: Call) -> Value:
    target, source, offsets = call.region(0), call.region(1), call.indices(2)
    _same_rank(call, target.shape, offsets)
    values = _window(call, source, len(offsets), None)
    if isinstance(target, Tensor):
        call.keyword("atomic")
        _put(call, target, offsets, values, source.dtype)
        return target
    if values.size:
        ends = [start + extent for start, extent in zip(offsets, values.shape, strict=True)]
        if min(offsets) < 0 or any(end > have for end, have in zip(ends, target.shape, strict=True)):
            raise InterpretError(f"{list(values.shape)} at {list(offsets)} does not fit into {list(target.shape)}")
        target.write(box(values.shape, offsets), convert(values, source.dtype, target.dtype))
    return target


# -------------------------------------------------------------------------- copies and pads


def _move(call: Call) -> Value:
    """A copy of everything, valid or not. Bytes that become scales are read as such (section 3.3)."""
    source, dtype = call.region(0), call.region(0).dtype
    contents = np.array(source.contents(), order="C", copy=True)
    if dtype == "UINT8" and call.member("target_memory") in _SCALE_SPACES:
        dtype = "FP8E8M0"
        contents = contents.view(storage_dtype(dtype))
    return call.adopt(dtype, contents, source.valid)


def _extract(call: Call) -> Value:
    """A copy of a window; what lies beyond the source is junk and not valid."""
    source, shape = call.region(0), call.indices(3)
    offsets = (call.index(1), call.index(2))
    _same_rank(call, source.shape, offsets, shape)
    if min(offsets) < 0:
        raise InterpretError(f"{call.node.op} at negative offset {list(offsets)}")
    there = _inner(source.shape, offsets, shape)
    contents = junk(source.dtype, shape).copy()
    contents[box(there)] = source.contents()[box(there, offsets)]
    return call.adopt(source.dtype, contents, _inner(source.valid, offsets, shape))


def _inner(have: Extents, offsets: Extents, shape: Extents) -> Extents:
    """How much of a window of ``shape`` at ``offsets`` lies within ``have``."""
    return tuple([min(w, max(0, h - o)) for h, o, w in zip(have, offsets, shape, strict=True)])


def _transpose(call: Call) -> Value:
    source = call.region(0)
    first, second = call.index(1), call.index(2)
    contents = np.array(np.swapaxes(source.contents(), first, second), order="C", copy=True)
    valid = list(source.valid)
    valid[first], valid[second] = valid[second], valid[first]
    return call.adopt(source.dtype, contents, tuple(valid))


def _concat(call: Call) -> Value:
    """Valid columns of the first operand, then those of the second."""
    a, b = call.region(0), call.region(1)
    if a.shape[:-1] != b.shape[:-1] or a.dtype != b.dtype:
        raise InterpretError(f"{call.node.op} of {a.dtype} {list(a.shape)} and {b.dtype} {list(b.shape)}")
    lead = tuple([min(x, y) for x, y in zip(a.valid[:-1], b.valid[:-1], strict=True)])
    parts = [region.part((*lead, region.valid[-1])) for region in (a, b)]
    values = np.concatenate(parts, axis=-1)
    return call.new(a.dtype, (*a.shape[:-1], a.shape[-1] + b.shape[-1]), values, values.shape)


def _pad(call: Call, source: Region, shape: Extents) -> Array:
    name = call.member("pad_value") or "zero"
    contents = np.full(shape, pad_value(name, source.dtype), storage_dtype(source.dtype))
    contents[box(source.valid)] = source.valid_contents()
    return contents


def _fillpad(call: Call) -> Value:
    source = call.region(0)
    return call.adopt(source.dtype, _pad(call, source, source.shape))


def _fillpad_expand(call: Call) -> Value:
    source, shape = call.region(0), call.indices(1)
    _same_rank(call, source.shape, shape)
    if any(v > s for v, s in zip(source.valid, shape, strict=True)):
        raise InterpretError(f"{call.node.op}: valid shape {list(source.valid)} exceeds {list(shape)}")
    return call.adopt(source.dtype, _pad(call, source, shape))


def _fillpad_inplace(call: Call) -> Value:
    tile = call.tile(0)
    tile.write(box(tile.shape), _pad(call, tile, tile.shape))
    return Tile(tile.dtype, tile.storage, tile.view, tile.index, tile.shape)


# -------------------------------------------------------------------------- single elements


def _position(call: Call, region: Region, indices: Extents) -> tuple[slice, ...]:
    have = region.array.shape if isinstance(region, Tensor) else region.shape
    if len(indices) != len(have) or any(not 0 <= i < n for i, n in zip(indices, have, strict=True)):
        raise InterpretError(f"{call.node.op} at {list(indices)} of a value of shape {list(have)}")
    return box((1,) * len(indices), indices)


def _read(call: Call) -> Value:
    region = call.region(0)
    where = _position(call, region, call.indices(1))
    buffer = region.array if isinstance(region, Tensor) else region.contents()
    return coerce(buffer[where].reshape(-1)[0], region.dtype)


def _write(call: Call) -> Value:
    region = call.region(0)
    where = _position(call, region, call.indices(1))
    element = np.array([coerce(call.scalar(2), region.dtype)], storage_dtype(region.dtype))
    region.write(where, element.reshape((1,) * len(region.shape)))
    return region


def _dim(call: Call) -> Value:
    tensor, axis = call.region(0), call.index(1)
    if not -len(tensor.shape) <= axis < len(tensor.shape):
        raise InterpretError(f"dimension {axis} of a value of rank {len(tensor.shape)}")
    return tensor.shape[axis]


def handlers() -> dict[str, Handler]:
    """Handlers by full op name."""
    table: dict[str, Handler] = {"tensor.create_l1": _create, "tensor.dim": _dim}
    for kind in ("tile", "tensor"):
        table |= {
            f"{kind}.create": _create,
            f"{kind}.full": _full,
            f"{kind}.ci": _counting,
            f"{kind}.assemble": _assemble,
            f"{kind}.transpose": _transpose,
            f"{kind}.concat": _concat,
            f"{kind}.fillpad": _fillpad,
            f"{kind}.fillpad_expand": _fillpad_expand,
            f"{kind}.read": _read,
            f"{kind}.write": _write,
        }
    table |= {"tile.load": _load, "tile.store": _store, "tile.move": _move, "tile.extract": _extract}
    return table | {"tile.fillpad_inplace": _fillpad_inplace}
