"""Element arithmetic: the dtype elements are computed in, and conversions between dtypes.

16-bit and narrower floats are computed in single precision and rounded to nearest even; integers wrap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tilesat.errors import InterpretError
from tilesat.ir.dtypes import is_float, numpy_dtype
from tilesat.ir.interp.values import Array

ROUNDINGS = ("none", "rint", "round", "floor", "ceil", "trunc", "odd")
_NARROW_INTS = {"INT4": (np.int32, 4), "UINT4": (np.int32, 4)}


def storage_dtype(dtype: str) -> np.dtype[Any]:
    """The NumPy dtype of buffers of ``dtype``; raises :class:`InterpretError` when there is none."""
    found = numpy_dtype(dtype)
    if found is None:
        raise InterpretError(f"dtype {dtype} cannot be evaluated", hint="NumPy and ml_dtypes have no such dtype")
    return found


def widen(values: Array, dtype: str) -> Array:
    """``values`` of ``dtype`` in the dtype they are computed in, contiguous."""
    if is_float(dtype):
        return np.ascontiguousarray(values, dtype=np.float32)
    if dtype in _NARROW_INTS:
        return np.ascontiguousarray(values, dtype=np.int32)
    if dtype == "BOOL":
        return np.ascontiguousarray(values, dtype=np.uint8)
    return np.ascontiguousarray(values)


def narrow(values: Array, dtype: str) -> Array:
    """Computed ``values`` rounded (floats) or wrapped (integers) to ``dtype``."""
    target = storage_dtype(dtype)
    if is_float(dtype):
        return _as_float(values).astype(target)
    if values.dtype.kind == "f":
        return _saturated(np.trunc(values.astype(np.float64)), dtype)
    if dtype == "BOOL":
        nonzero: Array = values != 0
        return nonzero
    if dtype in ("INT4", "UINT4"):
        low = 8 if dtype == "INT4" else 0
        return (((values.astype(np.int64) + low) & 15) - low).astype(target)
    return values.astype(target)


def _as_float(values: Array) -> Array:
    return values if values.dtype == np.float32 else values.astype(np.float32)


def convert(values: Array, source: str, target: str, mode: str = "rint") -> Array:
    """``values`` of dtype ``source`` as ``target``; always a new array.

    ``mode`` is a member of :data:`ROUNDINGS` (``none`` rounds to nearest even, ``round`` halves away from
    zero). Floats saturate when they become integers and NaN becomes 0; integers wrap.
    """
    if mode not in ROUNDINGS:
        raise InterpretError(f"unknown rounding mode '{mode}'", hint="one of " + ", ".join(ROUNDINGS))
    if source == target:
        return np.array(values, order="C", copy=True)
    wide = widen(values, source)
    if is_float(target):
        return _to_float(wide, target, mode) if is_float(source) else narrow(wide, target)
    if not is_float(source):
        return narrow(wide, target)
    rounded: Array = _rounded(wide.astype(np.float64), mode)
    return _saturated(rounded, target)


def _saturated(values: Array, dtype: str) -> Array:
    target = storage_dtype(dtype)
    if dtype == "BOOL":
        nonzero: Array = values != 0
        return nonzero
    low, high = integer_range(dtype)
    # The ends of 64-bit ranges are no doubles: clip at the last double inside, then restore the end.
    top = float(high) if float(high) <= high else float(np.nextafter(float(high), 0))
    whole = np.clip(np.where(np.isnan(values), 0.0, values), float(low), top)
    exact = whole.astype(np.uint64 if dtype == "UINT64" else np.int64)
    if top < high:
        exact = np.where(values > top, exact.dtype.type(high), exact)
    return exact.astype(target)


def integer_range(dtype: str) -> tuple[int, int]:
    """Smallest and largest value of an integer ``dtype``."""
    if dtype == "INT4":
        return -8, 7
    if dtype == "UINT4":
        return 0, 15
    info = np.iinfo(storage_dtype(dtype))
    return int(info.min), int(info.max)


def _rounded(values: Array, mode: str) -> Array:
    if mode == "trunc":
        return np.trunc(values)
    if mode == "floor":
        return np.floor(values)
    if mode == "ceil":
        return np.ceil(values)
    if mode == "round":
        return np.sign(values) * np.floor(np.abs(values) + 0.5)
    if mode == "odd":
        whole = np.trunc(values)
        return np.where((whole != values) & (np.remainder(whole, 2) == 0), whole + np.sign(values), whole)
    return np.rint(values)


def _to_float(values: Array, dtype: str, mode: str) -> Array:
    """Single precision ``values`` rounded to the float ``dtype`` in direction ``mode``."""
    near = values.astype(storage_dtype(dtype))
    if mode in ("none", "rint") or dtype == "FP32":
        return near
    back = near.astype(np.float32)
    other = np.nextafter(near, np.where(back < values, np.inf, -np.inf).astype(near.dtype))
    beyond = other.astype(np.float32)
    if mode == "floor":
        take = back > values
    elif mode == "ceil":
        take = back < values
    elif mode == "round":
        distance = np.abs(back.astype(np.float64) - values)
        tie = distance == np.abs(beyond.astype(np.float64) - values)
        take = tie & (np.abs(beyond) > np.abs(back))
    elif mode == "trunc":
        take = np.abs(back) > np.abs(values)
    else:
        bits = near.view(f"u{near.itemsize}")
        take = bits % 2 == 0
    inexact = (back != values) & np.isfinite(values) & np.isfinite(back)
    return np.where(take & inexact, other, near)


def pad_value(name: str, dtype: str) -> Any:
    """What padding ``zero``, ``min`` or ``max`` writes; infinite for floats that have infinities."""
    if name in ("zero", "null"):
        return 0
    if name not in ("min", "max"):
        raise InterpretError(f"unknown padding '{name}'", hint="zero, min or max")
    if not is_float(dtype):
        return integer_range(dtype)[name == "max"]
    infinite = np.array([-np.inf if name == "min" else np.inf], np.float32).astype(storage_dtype(dtype))
    if np.isinf(infinite.astype(np.float32)[0]):
        return infinite[0]
    import ml_dtypes

    finfo: Any = ml_dtypes.finfo
    info = finfo(storage_dtype(dtype))
    return info.min if name == "min" else info.max
