"""The entry point: arguments in, everything observable out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tilesat.errors import InterpretError, Location
from tilesat.ir.interp.machine import Machine
from tilesat.ir.interp.numerics import storage_dtype
from tilesat.ir.interp.random_args import default_dims, find_function, random_arguments
from tilesat.ir.interp.scalars import coerce
from tilesat.ir.interp.state import Frame, Launch, Run, TraceEvent
from tilesat.ir.interp.values import Array, Opaque, ScalarArray, Tensor, Tile, Value, new_tensor, new_tile
from tilesat.ir.nodes import Function, Param, Program
from tilesat.ir.types import ArrayType, Direction, ScalarType, TensorType, TileType

MAX_STEPS = 1_000_000


@dataclass(frozen=True, slots=True)
class Interpretation:
    """What evaluating a function showed.

    ``results`` are the returned values: arrays (of a tile its valid region), scalars, tuples.
    ``arguments`` holds the final contents of every tensor parameter, ``trace`` the evaluations of ops
    without a model in order, ``steps`` the number of statements executed.
    """

    results: tuple[Any, ...]
    arguments: dict[str, Array]
    trace: tuple[TraceEvent, ...]
    steps: int


def interpret(
    program: Program,
    function: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    dims: Mapping[str, int] | None = None,
    max_steps: int = MAX_STEPS,
) -> Interpretation:
    """Evaluate ``function`` of ``program`` on ``arguments``, which stay as they are.

    ``arguments`` maps parameter names to NumPy arrays and numbers; arrays that overlap keep doing so inside
    the program. Out parameters may be left out: they start uninitialised. With ``None`` all arguments are
    random (seed 0). ``dims`` gives dynamic dimensions that no argument shows.

    Raises :class:`tilesat.errors.InterpretError` for arguments that do not fit, for accesses out of bounds,
    for what cannot be evaluated, and after ``max_steps`` statements.
    """
    callee = find_function(program, function)
    if arguments is None:
        dims = default_dims(program, dims)
        arguments = random_arguments(program, function, 0, dims)
    run = Run(program, dict(dims or {}), max_steps)
    machine = Machine(run)
    with np.errstate(all="ignore"):
        try:
            values = _arguments(machine, callee, arguments)
            returned = machine.launcher.on_blocks(callee, values, None, Launch())
        except InterpretError as error:
            if error.location is not None:
                raise
            place = Location(function=function)
            raise InterpretError(error.message, location=place, hint=error.hint) from error
        buffers = {
            param.name: np.array(value.array, order="C", copy=True)
            for param, value in zip(callee.params, values, strict=True)
            if isinstance(value, Tensor)
        }
        results = tuple(_outside(value) for value in returned)
    return Interpretation(results, buffers, tuple(run.trace), run.steps)


def _outside(value: Value) -> Any:
    """``value`` as the caller of :func:`interpret` sees it."""
    if isinstance(value, Tensor):
        return np.array(value.array, order="C", copy=True)
    if isinstance(value, Tile):
        return np.array(value.valid_contents(), order="C", copy=True)
    if isinstance(value, ScalarArray):
        return value.array.copy()
    if isinstance(value, Opaque):
        return value.key.hex()
    if isinstance(value, tuple):
        return tuple(_outside(part) for part in value)
    return value


# ---------------------------------------------------------------------------------- arguments


def _arguments(machine: Machine, function: Function, arguments: Mapping[str, Any]) -> list[Value]:
    """The argument of each parameter, in buffers that are shared exactly as the caller's are."""
    unknown = arguments.keys() - {param.name for param in function.params}
    if unknown:
        raise InterpretError(f"no parameter is called '{sorted(unknown)[0]}'")
    arrays = {name: value for name, value in arguments.items() if isinstance(value, np.ndarray)}
    copies = _copied_together(arrays)
    given: list[Param] = []
    values: dict[str, Value] = {}
    for param in function.params:
        if param.name in arguments:
            values[param.name] = _inside(param, copies.get(param.name, arguments[param.name]))
            given.append(param)
    known = _frame(machine, function, given, values)
    for param in function.params:
        if param.name not in values:
            if param.direction is not Direction.Out or not isinstance(param.type, TensorType):
                raise InterpretError(f"parameter '{param.name}' has no argument")
            values[param.name] = machine.launcher.fresh_output(param, known)
    return [values[param.name] for param in function.params]


def _frame(machine: Machine, function: Function, given: list[Param], values: dict[str, Value]) -> Frame:
    return machine.launcher.bound(function, tuple(given), [values[param.name] for param in given])


def _inside(param: Param, argument: Any) -> Value:
    """``argument`` as the value of ``param``."""
    type_ = param.type
    if isinstance(type_, ScalarType):
        if not isinstance(argument, (bool, int, float, np.generic)):
            raise InterpretError(f"parameter '{param.name}' needs a number, not a {type(argument).__name__}")
        return coerce(argument, type_.dtype)
    if isinstance(type_, (TensorType, TileType, ArrayType)):
        if not isinstance(argument, np.ndarray) or argument.dtype != storage_dtype(type_.dtype):
            kind = argument.dtype if isinstance(argument, np.ndarray) else type(argument).__name__
            raise InterpretError(f"parameter '{param.name}' needs an array of {storage_dtype(type_.dtype)}, not {kind}")
        if isinstance(type_, TensorType):
            return new_tensor(type_.dtype, argument)
        owned = np.array(argument, order="C", copy=True)
        return new_tile(type_.dtype, owned) if isinstance(type_, TileType) else ScalarArray(type_.dtype, owned)
    return Opaque(repr(argument).encode())


def _root(array: Array) -> Array:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _copied_together(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Copies of ``arrays`` that overlap in memory exactly where the originals do."""
    copies: dict[str, Array] = {}
    for root, names in _by_root(arrays):
        if len(names) == 1:
            copies[names[0]] = np.array(arrays[names[0]], order="C", copy=True)
            continue
        if not root.flags.forc:
            raise InterpretError(f"arguments {', '.join(names)} share a buffer that is not contiguous")
        buffer = bytearray(root.tobytes(order="A"))
        for name in names:
            array = arrays[name]
            offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
            copies[name] = np.ndarray(array.shape, array.dtype, buffer, offset, array.strides)
    return copies


def _by_root(arrays: Mapping[str, Array]) -> list[tuple[Array, list[str]]]:
    """The arrays that own the memory of ``arrays``, and who uses each."""
    groups: list[tuple[Array, list[str]]] = []
    for name, array in arrays.items():
        root = _root(array)
        for known, names in groups:
            if known is root:
                names.append(name)
                break
            if np.may_share_memory(known, root):
                raise InterpretError(
                    f"arguments {names[0]} and {name} overlap without a common base array",
                    hint="make both views of one NumPy array",
                )
        else:
            groups.append((root, [name]))
    return groups
