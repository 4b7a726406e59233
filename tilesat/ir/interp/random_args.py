"""Random inputs on which sums are exact and most kernels run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tilesat.errors import InterpretError
from tilesat.ir.dtypes import is_float
from tilesat.ir.interp.junk import palette
from tilesat.ir.interp.machine import Machine
from tilesat.ir.interp.numerics import storage_dtype
from tilesat.ir.interp.state import Frame, Run
from tilesat.ir.interp.values import Array, Extents
from tilesat.ir.nodes import Function, Program
from tilesat.ir.types import ArrayType, ScalarType, TensorType, TileType

DEFAULT_DIM = 128
"""What a dynamic dimension is when nobody says: room for a few tiles of usual size."""
DEFAULT_LIMIT = 4
"""Largest random integer by default: block numbers, offsets, entries of index tensors."""

# Narrow integers are data, not positions: they are drawn around zero.
_DATA_INTS = frozenset({"INT4", "INT8", "INT16"})


def default_dims(program: Program, dims: Mapping[str, int] | None = None) -> dict[str, int]:
    """Every dynamic dimension of ``program``: as in ``dims``, else :data:`DEFAULT_DIM`."""
    return dict.fromkeys(program.dynamic_dims, DEFAULT_DIM) | dict(dims or {})


def find_function(program: Program, name: str) -> Function:
    """The function called ``name``; raises :class:`InterpretError` when there is none."""
    try:
        return program.function(name)
    except KeyError:
        known = ", ".join(function.name for function in program.functions)
        raise InterpretError(f"program '{program.name}' has no function '{name}'", hint=f"one of {known}") from None


def random_arguments(
    program: Program,
    function: str,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    *,
    limit: int = DEFAULT_LIMIT,
) -> dict[str, Any]:
    """An argument for every parameter of ``function``; equal seeds give equal arguments.

    Floats are non-zero multiples of 1/8 in [-2, 2] (coarser where the dtype is), 8- and 16-bit signed
    integers small numbers around zero, all other integers, scalars included, lie in 0 to ``limit``.
    """
    callee = find_function(program, function)
    generator = np.random.default_rng(seed)
    scalars: dict[str, Any] = {}
    for param in callee.params:
        if isinstance(param.type, ScalarType):
            scalars[param.name] = _scalar(generator, param.type.dtype, limit)
    known = {**default_dims(program, dims), **scalars}
    arguments: dict[str, Any] = {}
    for param in callee.params:
        if isinstance(param.type, ScalarType):
            arguments[param.name] = scalars[param.name]
        elif isinstance(param.type, (TensorType, TileType)):
            shape = _shape(program, callee, param.type, known)
            arguments[param.name] = _array(generator, param.type.dtype, shape, limit)
        elif isinstance(param.type, ArrayType):
            shape = _shape(program, callee, TensorType((param.type.extent,), param.type.dtype), known)
            arguments[param.name] = _array(generator, param.type.dtype, shape, limit)
        else:
            arguments[param.name] = f"{param.name}:{seed}"
    return arguments


def _shape(program: Program, function: Function, type_: TensorType | TileType, known: Mapping[str, Any]) -> Extents:
    machine = Machine(Run(program, {}, max_steps=1))
    shape = machine.extents(type_.shape, Frame(function, dict(known)))
    if any(extent < 1 for extent in shape):
        raise InterpretError(f"a parameter of '{function.name}' has shape {list(shape)}", hint="give dims")
    return shape


def _scalar(generator: np.random.Generator, dtype: str, limit: int) -> int | float | bool:
    if dtype == "BOOL":
        return bool(generator.integers(0, 2))
    if is_float(dtype):
        return float(generator.choice(palette(dtype).astype(np.float32)))
    return int(generator.integers(0, limit + 1))


def _array(generator: np.random.Generator, dtype: str, shape: Extents, limit: int) -> Array:
    target = storage_dtype(dtype)
    if is_float(dtype) or dtype == "BOOL":
        choices = palette(dtype)
        return np.ascontiguousarray(choices[generator.integers(0, len(choices), size=shape)])
    low, high = (-4, 4) if dtype in _DATA_INTS else (0, limit)
    return generator.integers(low, high + 1, size=shape).astype(target)
