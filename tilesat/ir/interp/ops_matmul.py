"""Matrix products, in double precision on the valid parts, rounded to single precision (or INT32).

An accumulating product rounds the product first and then adds: ``matmul_acc(c, a, b)`` equals
``c + matmul(a, b)`` in every bit. The valid extents of the contracted dimension are the smaller ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tilesat.errors import InterpretError
from tilesat.ir.dtypes import is_float
from tilesat.ir.interp.call import Call, Handler
from tilesat.ir.interp.numerics import convert, narrow, widen
from tilesat.ir.interp.scalars import truth
from tilesat.ir.interp.values import Array, Extents, Region, Value, box

# A gemv result occupies a whole row of boxes of the accumulator.
_GEMV_ROWS = 16
_EXACT_INTS = frozenset({"INT4", "UINT4", "INT8", "UINT8", "INT16", "UINT16", "BOOL"})


def product(lhs: Region, rhs: Region, *, transpose_lhs: bool = False, transpose_rhs: bool = False) -> Array:
    """The product of the valid parts of ``lhs`` [.., M, K] and ``rhs`` [.., K, N], in FP32 or INT32."""
    a = _oriented(lhs, transpose_lhs)
    b = _oriented(rhs, transpose_rhs)
    depth = min(a.shape[-1], b.shape[-2])
    batch: tuple[Any, ...] = _common_batch(lhs, rhs)
    a, b = a[(*batch, ..., slice(depth))], b[(*batch, ..., slice(depth), slice(None))]
    exact = is_float(lhs.dtype) or {lhs.dtype, rhs.dtype} <= _EXACT_INTS
    compute = np.float64 if exact else np.int64
    result: Array = np.matmul(np.ascontiguousarray(a, compute), np.ascontiguousarray(b, compute))
    if is_float(lhs.dtype):
        return result.astype(np.float32)
    return result.astype(np.int64).astype(np.int32)


def _common_batch(lhs: Region, rhs: Region) -> tuple[slice, ...]:
    """Which products of a batch have valid operands; a batch of one that is repeated always has."""
    if lhs.shape[:-2] != rhs.shape[:-2]:
        return ()
    return box(tuple([min(pair) for pair in zip(lhs.valid[:-2], rhs.valid[:-2], strict=True)]))


def _oriented(region: Region, transpose: bool) -> Array:
    values = widen(region.valid_contents(), region.dtype)
    return values.swapaxes(-1, -2) if transpose else values


def product_dtype(lhs: Region) -> str:
    return "FP32" if is_float(lhs.dtype) else "INT32"


def _product_shape(call: Call, lhs: Region, rhs: Region, swap_lhs: bool, swap_rhs: bool) -> Extents:
    a = (*lhs.shape[:-2], lhs.shape[-1], lhs.shape[-2]) if swap_lhs else lhs.shape
    b = (*rhs.shape[:-2], rhs.shape[-1], rhs.shape[-2]) if swap_rhs else rhs.shape
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-2] or is_float(lhs.dtype) != is_float(rhs.dtype):
        raise InterpretError(f"{call.node.op} of {lhs.dtype} {list(a)} and {rhs.dtype} {list(b)} is not defined")
    try:
        batch = np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        raise InterpretError(f"{call.node.op} of batches {list(a[:-2])} and {list(b[:-2])}") from None
    return (*batch, a[-2], b[-1])


def _matmul(call: Call) -> Value:
    lhs, rhs = call.region(0), call.region(1)
    swap = call.flag("a_trans"), call.flag("b_trans")
    shape = _product_shape(call, lhs, rhs, *swap)
    values = product(lhs, rhs, transpose_lhs=swap[0], transpose_rhs=swap[1])
    computed = product_dtype(lhs)
    dtype = call.member("out_dtype") or computed
    return call.new(dtype, shape, convert(values, computed, dtype), values.shape)


def _matmul_bias(call: Call) -> Value:
    lhs, rhs, bias = call.region(0), call.region(1), call.region(2)
    shape = _product_shape(call, lhs, rhs, False, False)
    values = product(lhs, rhs)
    columns = min(values.shape[-1], bias.valid[-1])
    row = widen(bias.part((*(1,) * (len(bias.shape) - 1), columns)), bias.dtype).reshape(columns)
    dtype = product_dtype(lhs)
    biased = narrow(_plus(values[..., :columns], row), dtype)
    return call.new(dtype, shape, biased, biased.shape)


def _plus(values: Array, other: Array) -> Array:
    total: Array = values + other.astype(values.dtype)
    return total


def _gemv(call: Call) -> Value:
    return _one_row(call, product(call.region(0), call.region(1))[..., :1, :])


def _gemv_bias(call: Call) -> Value:
    bias = call.region(2)
    values = product(call.region(0), call.region(1))[..., :1, :]
    columns = min(values.shape[-1], bias.valid[-1])
    row = widen(bias.part((*(1,) * (len(bias.shape) - 1), columns)), bias.dtype).reshape(columns)
    return _one_row(call, _plus(values[..., :columns], row))


def _one_row(call: Call, row: Array) -> Value:
    shape = call.result_shape() or (*row.shape[:-2], _GEMV_ROWS, call.region(1).shape[-1])
    dtype = product_dtype(call.region(0))
    return call.new(dtype, shape, narrow(row, dtype), row.shape)


def _accumulated(call: Call) -> tuple[Region, Array, Extents]:
    """The accumulator, its new contents in the region both it and the product cover, and that region."""
    acc, lhs, rhs = call.region(0), call.region(1), call.region(2)
    swap = call.flag("a_trans"), call.flag("b_trans")
    values = product(lhs, rhs, transpose_lhs=swap[0], transpose_rhs=swap[1])
    if call.node.op.startswith("tile.gemv"):
        values = values[..., :1, :]
    elif _product_shape(call, lhs, rhs, *swap) != acc.shape:
        raise InterpretError(f"{call.node.op}: the accumulator of shape {list(acc.shape)} does not fit the product")
    valid = tuple([min(v, e) for v, e in zip(acc.valid, values.shape, strict=True)])
    values = values[box(valid)]
    starts_over = call.has(3) and truth(call.scalar(3))
    if not starts_over:
        values = _plus(values, widen(acc.part(valid), acc.dtype))
    return acc, narrow(values, acc.dtype), valid


def _accumulate(call: Call) -> Value:
    """In place: the result is the accumulator, valid where the product is too."""
    acc, values, valid = _accumulated(call)
    acc.write(box(valid), values)
    return _revalidated(acc, valid)


def _revalidated(acc: Region, valid: Extents) -> Region:
    return acc if valid == acc.valid else replace(acc, valid=valid)


def _accumulate_fresh(call: Call) -> Value:
    acc, values, valid = _accumulated(call)
    return call.new(acc.dtype, acc.shape, values, valid)


def handlers() -> dict[str, Handler]:
    """Handlers by full op name."""
    table: dict[str, Handler] = dict.fromkeys(("tile.matmul", "tile.batch_matmul", "tensor.matmul"), _matmul)
    table |= {"tile.matmul_bias": _matmul_bias, "tile.gemv": _gemv, "tile.gemv_bias": _gemv_bias}
    table |= dict.fromkeys(("tile.matmul_acc", "tile.batch_matmul_acc", "tile.gemv_acc"), _accumulate)
    table["tensor.matmul_acc"] = _accumulate_fresh
    return table
