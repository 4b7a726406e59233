"""Reductions along rows or columns. Only the valid region takes part.

Sums and products are formed in double precision and rounded once, so that the order of terms does not
show. Over no elements a reduction gives its neutral element, and position 0 for ``argmax``/``argmin``.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilesat.errors import InterpretError
from tilesat.ir.dtypes import is_float
from tilesat.ir.interp.call import Call, Handler
from tilesat.ir.interp.numerics import narrow, pad_value, storage_dtype, widen
from tilesat.ir.interp.scalars import as_index
from tilesat.ir.interp.values import Array, Extents, Region, Value
from tilesat.ir.types import TensorType, TileType

_FOLDS = ("sum", "prod", "max", "min")
_SEARCHES: dict[str, Callable[..., Array]] = {"argmax": np.argmax, "argmin": np.argmin}


def _fold(name: str, values: Array, dtype: str, axis: int) -> Array:
    whole = np.uint64 if dtype == "UINT64" else np.int64
    wide = np.ascontiguousarray(widen(values, dtype), dtype=np.float64 if is_float(dtype) else whole)
    if name == "sum":
        return _rounded(np.add.reduce(wide, axis=axis, keepdims=True), dtype)
    if name == "prod":
        return _rounded(np.multiply.reduce(wide, axis=axis, keepdims=True), dtype)
    if wide.shape[axis] == 0:
        lowest = pad_value("min" if name == "max" else "max", dtype)
        return np.full(_reduced(wide.shape, axis), lowest, storage_dtype(dtype))
    function = np.maximum if name == "max" else np.minimum
    return _rounded(function.reduce(wide, axis=axis, keepdims=True), dtype)


def _rounded(values: Array, dtype: str) -> Array:
    return narrow(values.astype(np.float32) if is_float(dtype) else values, dtype)


def _reduced(extents: Extents, axis: int) -> Extents:
    return tuple([1 if position == axis else extent for position, extent in enumerate(extents)])


def _axis(call: Call, source: Region, default: int) -> int:
    rank = len(source.shape)
    stated = call.keyword("axis")
    axis = default if stated is None else as_index(stated)
    axis += rank if axis < 0 else 0
    if not 0 <= axis < rank:
        raise InterpretError(f"{call.node.op} along axis {axis} of a value of rank {rank}")
    return axis


def _reduction(name: str, default_axis: int) -> Handler:
    def handle(call: Call) -> Value:
        source = call.region(0)
        axis = _axis(call, source, default_axis)
        shape, valid = _reduced(source.shape, axis), _reduced(source.valid, axis)
        if name in _FOLDS:
            dtype, values = source.dtype, _fold(name, source.valid_contents(), source.dtype, axis)
        else:
            dtype = call.result.dtype if isinstance(call.result, (TileType, TensorType)) else "INT32"
            values = _position(name, source, axis, valid).astype(storage_dtype(dtype))
        keep = call.keyword("keep_dim")
        if keep is not None and not keep:
            shape, valid = (*shape[:axis], *shape[axis + 1 :]), (*valid[:axis], *valid[axis + 1 :])
            values = values.reshape(valid)
        return call.new(dtype, shape, values, valid)

    return handle


def _position(name: str, source: Region, axis: int, valid: Extents) -> Array:
    values = widen(source.valid_contents(), source.dtype)
    if values.shape[axis] == 0:
        return np.zeros(valid, np.int64)
    return _SEARCHES[name](values, axis=axis, keepdims=True)


def handlers() -> dict[str, Handler]:
    """Handlers by op name without its ``tile.`` or ``tensor.`` prefix."""
    names = (*_FOLDS, *_SEARCHES)
    table = {f"row_{name}": _reduction(name, -1) for name in names}
    return table | {f"col_{name}": _reduction(name, -2) for name in names}
