"""What strides tensors really have when kernels are launched: read off the buffers that the interpreter passes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tilesat.ir.interp import interpret
from tilesat.ir.interp.launch import OBSERVER
from tilesat.ir.interp.random_args import default_dims, random_arguments
from tilesat.ir.interp.state import Run
from tilesat.ir.interp.values import Tensor, Value
from tilesat.ir.nodes import BinOp, Const, Expr, Function, Program, Var
from tilesat.ir.types import Dim, Direction, TensorType

Strides = tuple[int, ...]
_ANY = -1
"""Stands for the stride of a dimension of one element, which may be any."""


@dataclass(slots=True)
class Passed:
    """Per (kernel, parameter): the strides that its type states, and those of what launches gave for it."""

    stated: dict[tuple[str, str], Strides] = field(default_factory=dict)
    given: dict[tuple[str, str], set[Strides]] = field(default_factory=dict)

    def wrong(self) -> list[str]:
        """Parameters whose stated strides are not those of some tensor given."""
        return [
            f"{function}: {param} states {self.stated[function, param]}, gets {sorted(found)}"
            for (function, param), found in sorted(self.given.items())
            if (function, param) in self.stated and any(not _agree(self.stated[function, param], s) for s in found)
        ]


def _agree(stated: Strides, given: Strides) -> bool:
    return len(stated) == len(given) and all(b in (a, _ANY) for a, b in zip(stated, given, strict=True))


@contextmanager
def watched(directions: tuple[Direction, ...] = (Direction.In,)) -> Iterator[Passed]:
    """Collect what is passed to kernels for parameters of ``directions`` while programs are interpreted."""
    passed = Passed()

    def observe(run: Run, callee: Function, arguments: list[Value]) -> None:
        if not callee.is_incore:
            return
        names = _dims(run, callee, arguments)
        for param, argument in zip(callee.params, arguments, strict=True):
            if not isinstance(argument, Tensor) or param.direction not in directions:
                continue
            key = callee.name, param.name
            passed.given.setdefault(key, set()).add(_strides(argument.array))
            view = param.type.view if isinstance(param.type, TensorType) else None
            if view is not None and view.stride:
                passed.stated[key] = tuple(_number(stride, names) for stride in view.stride)

    token = OBSERVER.set(observe)
    try:
        yield passed
    finally:
        OBSERVER.reset(token)


def _dims(run: Run, callee: Function, arguments: list[Value]) -> dict[str, int]:
    """Dynamic dimensions, as the arguments show them."""
    names = dict(run.dims)
    for param, argument in zip(callee.params, arguments, strict=True):
        if isinstance(param.type, TensorType) and isinstance(argument, Tensor):
            sides = zip(param.type.shape, argument.shape, strict=True)
            names.update((dim.name, extent) for dim, extent in sides if isinstance(dim, Var))
    return names


def _number(stride: Dim | Expr, names: dict[str, int]) -> int:
    """The value of a stride: a product of dimensions."""
    if isinstance(stride, int):
        return stride
    if isinstance(stride, Const) and isinstance(stride.value, int):
        return stride.value
    if isinstance(stride, Var):
        return names[stride.name]
    assert isinstance(stride, BinOp), f"stride {stride} is no product of dimensions"
    assert stride.op == "*", f"stride {stride} is no product of dimensions"
    return _number(stride.lhs, names) * _number(stride.rhs, names)


def _strides(array: np.ndarray[Any, Any]) -> Strides:
    return tuple(
        _ANY if size == 1 else step // array.itemsize for size, step in zip(array.shape, array.strides, strict=True)
    )


def passed_strides(
    program: Program, entry: str, *, seed: int = 0, directions: tuple[Direction, ...] = (Direction.In,)
) -> Passed:
    """The strides of what ``entry`` passes to kernels, directly or through others, on random arguments."""
    dims = default_dims(program, None)
    with watched(directions) as passed:
        interpret(program, entry, random_arguments(program, entry, seed, dims, limit=1), dims=dims)
    return passed
