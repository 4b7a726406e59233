"""Hashes of values by their observable contents.

Only the valid region of tiles and tensors counts. Where a value lives, its layout, the sign of zero and
the payload of a NaN do not.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from tilesat.errors import InterpretError
from tilesat.ir.dtypes import is_float
from tilesat.ir.interp.values import Array, Opaque, ScalarArray, Tensor, Tile, Value
from tilesat.ir.nodes import EnumConst

SIZE = 16


def canonical(array: Array, dtype: str) -> Array:
    """``array``, contiguous, equal floats made equal in every bit."""
    if not is_float(dtype):
        return np.ascontiguousarray(array)
    wide = np.ascontiguousarray(array, dtype=np.float32) + np.float32(0)
    return np.where(np.isnan(wide), np.float32(np.nan), wide)


def digest(*parts: Value | bytes) -> bytes:
    """A hash of ``parts``; equal exactly when they are observably equal."""
    state = blake2b(digest_size=SIZE)
    for part in parts:
        _feed(state, part)
    return state.digest()


def outline(value: Tile | Tensor) -> str:
    """Kind, dtype, shape and valid extents of ``value``, without its contents."""
    return f"{type(value).__name__}:{value.dtype}:{value.shape}:{value.valid}"


def _feed(state: blake2b, part: Value | bytes) -> None:
    if isinstance(part, (Tile, Tensor)):
        _header(state, outline(part))
        state.update(canonical(part.valid_contents(), part.dtype).tobytes())
    elif isinstance(part, ScalarArray):
        _header(state, f"array:{part.dtype}:{part.array.shape}")
        state.update(canonical(part.array, part.dtype).tobytes())
    elif isinstance(part, Opaque):
        _header(state, "opaque")
        state.update(part.key)
    elif isinstance(part, tuple):
        _header(state, f"tuple:{len(part)}")
        for item in part:
            _feed(state, item)
    elif isinstance(part, bytes):
        _header(state, f"bytes:{len(part)}")
        state.update(part)
    elif isinstance(part, EnumConst):
        _header(state, f"enum:{part.path}")
    elif isinstance(part, (bool, int, float, str)) or part is None:
        _header(state, f"{type(part).__name__}:{part!r}" if part != 0 else "zero:" + type(part).__name__)
    elif isinstance(part, np.generic):
        # The sign of zero does not count.
        shown = "0" if part == 0 else str(part)
        _header(state, f"{part.dtype.name}:{shown}")
    else:
        raise InterpretError(f"a value of type {type(part).__name__} has no digest")


def _header(state: blake2b, text: str) -> None:
    encoded = text.encode()
    state.update(len(encoded).to_bytes(4, "little"))
    state.update(encoded)
