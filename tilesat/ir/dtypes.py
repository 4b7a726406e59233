"""Element types: widths, kinds, and the NumPy dtypes that hold them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

_BITS = {
    "BOOL": 8,
    "INT4": 4,
    "UINT4": 4,
    "FP4": 4,
    "INT8": 8,
    "UINT8": 8,
    "FP8E4M3FN": 8,
    "FP8E5M2": 8,
    "FP8E8M0": 8,
    "HF4": 4,
    "HF8": 8,
    "INT16": 16,
    "UINT16": 16,
    "FP16": 16,
    "BF16": 16,
    "INT32": 32,
    "UINT32": 32,
    "FP32": 32,
    "INT64": 64,
    "UINT64": 64,
    "INDEX": 64,
    "TASK_ID": 64,
}
_NUMPY = {
    "BOOL": "bool",
    "INT8": "int8",
    "UINT8": "uint8",
    "INT16": "int16",
    "UINT16": "uint16",
    "INT32": "int32",
    "UINT32": "uint32",
    "INT64": "int64",
    "UINT64": "uint64",
    "INDEX": "int64",
    "TASK_ID": "int64",
    "FP16": "float16",
    "FP32": "float32",
}
_ML_DTYPES = {
    "BF16": "bfloat16",
    "FP8E4M3FN": "float8_e4m3fn",
    "FP8E5M2": "float8_e5m2",
    "FP8E8M0": "float8_e8m0fnu",
    "INT4": "int4",
    "UINT4": "uint4",
    "FP4": "float4_e2m1fn",
}


def bits(dtype: str) -> int | None:
    """Width of ``dtype`` in bits, ``None`` when it is not known."""
    return _BITS.get(dtype)


def byte_size(elements: int, dtype: str) -> int | None:
    """Bytes of ``elements`` packed elements of ``dtype``, ``None`` when its width is not known."""
    width = _BITS.get(dtype)
    return None if width is None else (elements * width + 7) // 8


def is_float(dtype: str) -> bool:
    return dtype.startswith(("FP", "BF", "HF"))


def is_integer(dtype: str) -> bool:
    return dtype.startswith(("INT", "UINT")) or dtype == "INDEX"


@lru_cache(maxsize=64)
def numpy_dtype(dtype: str) -> np.dtype[Any] | None:
    """The NumPy dtype that holds ``dtype``, ``None`` when there is none."""
    if dtype in _NUMPY:
        return np.dtype(_NUMPY[dtype])
    if dtype not in _ML_DTYPES:
        return None
    import ml_dtypes

    held: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _ML_DTYPES[dtype]))
    return held
