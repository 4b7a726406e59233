"""Contents nobody computed: uninitialised buffers, and results of functions without a model.

All values are finite, small and exact in their dtype, so that sums of a few hundred of them are exact
in single precision.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tilesat.ir.dtypes import is_float
from tilesat.ir.interp.numerics import storage_dtype
from tilesat.ir.interp.values import Array, Extents

# Steps and how many of them to either side of zero; floats of few bits need coarse ones.
_STEPS = {"FP8E5M2": (0.25, 7), "FP4": (0.5, 3)}
_STEP = (0.125, 16)


@lru_cache(maxsize=64)
def palette(dtype: str) -> Array:
    """The values that made-up elements of ``dtype`` take; integers are small and not negative."""
    target = storage_dtype(dtype)
    if dtype == "FP8E8M0":
        return np.array([0.25, 0.5, 1.0, 2.0, 4.0], np.float32).astype(target)
    if dtype == "BOOL":
        return np.array([False, True])
    if not is_float(dtype):
        return np.arange(8 if dtype != "INT4" else 7).astype(target)
    step, count = _STEPS.get(dtype, _STEP)
    levels = np.array([level for level in range(-count, count + 1) if level], np.float32)
    return (levels * np.float32(step)).astype(target)


@lru_cache(maxsize=128)
def junk(dtype: str, shape: Extents) -> Array:
    """What an uninitialised buffer holds: a function of dtype and shape only. Read-only."""
    choices = palette(dtype)
    order = (np.arange(int(np.prod(shape)), dtype=np.int64) * 7 + 3) % len(choices)
    contents = choices[order].reshape(shape)
    contents.flags.writeable = False
    return contents


def drawn(key: bytes, dtype: str, shape: Extents) -> Array:
    """Contents that are a function of ``key``, dtype and shape."""
    choices = palette(dtype)
    generator = np.random.Generator(np.random.PCG64(int.from_bytes(key, "little")))
    return np.ascontiguousarray(choices[generator.integers(0, len(choices), size=shape)])
