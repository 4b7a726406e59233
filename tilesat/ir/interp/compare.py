"""Comparing what two programs show on the same inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tilesat.errors import InterpretError
from tilesat.ir.interp.random_args import DEFAULT_LIMIT, default_dims, find_function, random_arguments
from tilesat.ir.interp.run import MAX_STEPS, Interpretation, interpret
from tilesat.ir.interp.values import Array
from tilesat.ir.nodes import Program
from tilesat.ir.types import Direction


@dataclass(frozen=True, slots=True)
class Difference:
    """The first observable difference of two programs.

    ``place`` is an argument, a result, a trace entry or ``evaluation`` (only one program can be evaluated),
    ``index`` the element where values are arrays. The inputs are those of
    ``random_arguments(before, function, seed, dims, limit=limit)``.
    """

    function: str
    place: str
    index: tuple[int, ...] | None
    before: Any
    after: Any
    seed: int
    limit: int

    def __str__(self) -> str:
        element = "" if self.index is None else f"[{', '.join(map(str, self.index))}]"
        return (
            f"function '{self.function}', {self.place}{element}: {self.before} before, {self.after} after "
            f"(random arguments of seed {self.seed}, limit {self.limit})"
        )


def compare(
    before: Program,
    after: Program,
    function: str,
    *,
    seeds: Sequence[int] = (0, 1),
    dims: Mapping[str, int] | None = None,
    max_steps: int = MAX_STEPS,
    observe_inputs: bool = True,
) -> Difference | None:
    """The first difference that ``function`` shows between the programs, ``None`` when there is none.

    For each seed both run on the same random arguments; where ``before`` leaves a buffer, smaller integers
    are tried. NaN equals NaN and 0.0 equals -0.0, otherwise every bit counts. With ``observe_inputs`` false
    the final contents of In parameters do not count: the caller gives them up.

    Raises :class:`tilesat.errors.InterpretError` when ``before`` cannot be evaluated on any of them, or the
    two functions differ in their parameters.
    """
    _check_parameters(before, after, function)
    for seed in seeds:
        arguments, limit, first = runnable_arguments(before, function, seed, dims, max_steps=max_steps)
        try:
            second = interpret(after, function, arguments, dims=default_dims(after, dims), max_steps=max_steps)
        except InterpretError as error:
            return Difference(function, "evaluation", None, "runs", str(error), seed, limit)
        if not observe_inputs:
            inputs = _inputs(before, function)
            first, second = _without(first, inputs), _without(second, inputs)
        found = difference(first, second)
        if found is not None:
            return replace(found, function=function, seed=seed, limit=limit)
    return None


def _inputs(program: Program, function: str) -> frozenset[str]:
    params = find_function(program, function).params
    return frozenset(param.name for param in params if param.direction is Direction.In)


def _without(shown: Interpretation, names: frozenset[str]) -> Interpretation:
    kept = {name: array for name, array in shown.arguments.items() if name not in names}
    return replace(shown, arguments=kept)


def runnable_arguments(
    program: Program,
    function: str,
    seed: int = 0,
    dims: Mapping[str, int] | None = None,
    *,
    max_steps: int = MAX_STEPS,
) -> tuple[dict[str, Any], int, Interpretation]:
    """Random arguments on which ``function`` runs, their ``limit``, and what it shows on them.

    Halves the largest integer until the function stays within its buffers. Raises the error of the
    smallest attempt when none does.
    """
    dims = default_dims(program, dims)
    limit = DEFAULT_LIMIT
    while True:
        arguments = random_arguments(program, function, seed, dims, limit=limit)
        try:
            return arguments, limit, interpret(program, function, arguments, dims=dims, max_steps=max_steps)
        except InterpretError:
            if limit == 0:
                raise
        limit //= 2


def difference(before: Interpretation, after: Interpretation) -> Difference | None:
    """The first difference of two interpretations on the same inputs (its seed and function are blank)."""
    for name, array in before.arguments.items():
        found = _value(f"argument '{name}'", array, after.arguments.get(name))
        if found is not None:
            return found
    found = _value("results", before.results, after.results)
    return found or _trace(before, after)


def _check_parameters(before: Program, after: Program, function: str) -> None:
    first, second = (find_function(program, function).params for program in (before, after))
    if [param.name for param in first] != [param.name for param in second]:
        raise InterpretError(
            f"the parameters of '{function}' differ: {_names(first)} before, {_names(second)} after",
            hint="compare a function whose interface stays",
        )


def _names(params: tuple[Any, ...]) -> str:
    return "(" + ", ".join(param.name for param in params) + ")"


def _found(place: str, before: Any, after: Any, index: tuple[int, ...] | None = None) -> Difference:
    return Difference("", place, index, before, after, 0, 0)


def _value(place: str, before: Any, after: Any) -> Difference | None:
    if isinstance(before, np.ndarray) and isinstance(after, np.ndarray):
        return _array(place, before, after)
    if isinstance(before, tuple) and isinstance(after, tuple):
        if len(before) != len(after):
            return _found(f"{place}: number of values", len(before), len(after))
        for position, (a, b) in enumerate(zip(before, after, strict=True)):
            found = _value(f"{place} {position}", a, b)
            if found is not None:
                return found
        return None
    if type(before) is type(after) and (before == after or (_is_nan(before) and _is_nan(after))):
        return None
    return _found(place, before, after)


def _is_nan(value: Any) -> bool:
    return isinstance(value, (float, np.generic)) and bool(value != value)


def _array(place: str, before: Array, after: Array) -> Difference | None:
    if before.shape != after.shape or before.dtype != after.dtype:
        return _found(f"{place}: type", f"{before.dtype}{list(before.shape)}", f"{after.dtype}{list(after.shape)}")
    equal = (before == after) | ((before != before) & (after != after))
    if np.all(equal):
        return None
    index = tuple(int(axis[0]) for axis in np.nonzero(~np.asarray(equal)))
    return _found(place, before[index], after[index], index)


def _trace(before: Interpretation, after: Interpretation) -> Difference | None:
    for position, (a, b) in enumerate(zip(before.trace, after.trace, strict=False)):
        if a != b:
            return _found(f"trace entry {position}", a, b)
    if len(before.trace) != len(after.trace):
        return _found("number of trace entries", len(before.trace), len(after.trace))
    return None
