"""What strides tensors really have when kernels are launched: read off the buffers that the interpreter passes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch

import numpy as np

from tilesat.ir.interp import interpret
from tilesat.ir.interp.launch import Launcher
from tilesat.ir.interp.random_args import default_dims, random_arguments
from tilesat.ir.interp.values import Tensor
from tilesat.ir.nodes import Program, Var
from tilesat.ir.types import Direction, TensorType

Strides = tuple[int, ...]


@dataclass
class Passed:
    """Per (function, parameter): the strides that its type states, and those of what launches gave for it."""

    stated: dict[tuple[str, str], Strides] = field(default_factory=dict)
    given: dict[tuple[str, str], set[Strides]] = field(default_factory=dict)

    def wrong(self, *directions: Direction) -> list[str]:
        """Parameters whose stated strides are not those of some tensor given."""
        return [
            f"{function}: {param} states {self.stated[function, param]}, gets {sorted(found)}"
            for (function, param), found in sorted(self.given.items())
            if (function, param) in self.stated and any(not _agree(self.stated[function, param], s) for s in found)
        ]


def _agree(stated: Strides, given: Strides) -> bool:
    # A dimension of one element may have any stride.
    return len(stated) == len(given) and all(b in (a, -1) for a, b in zip(stated, given, strict=True))


@contextmanager
def watched(passed: Passed, directions: tuple[Direction, ...]) -> Iterator[None]:
    original = Launcher.function

    def function(self, callee, arguments, launch):  # type: ignore[no-untyped-def]
        names = dict(self.run.dims)
        for param, argument in zip(callee.params, arguments, strict=True):
            if isinstance(param.type, TensorType) and isinstance(argument, Tensor):
                names.update(
                    (d.name, n) for d, n in zip(param.type.shape, argument.shape, strict=True) if isinstance(d, Var)
                )
        for param, argument in zip(callee.params, arguments, strict=True):
            if callee.is_incore and isinstance(argument, Tensor) and param.direction in directions:
                key = callee.name, param.name
                passed.given.setdefault(key, set()).add(_strides(argument.array))
                view = param.type.view
                if view is not None and view.stride:
                    passed.stated[key] = tuple(d if isinstance(d, int) else names[d.name] for d in view.stride)
        return original(self, callee, arguments, launch)

    with patch.object(Launcher, "function", function):
        yield


def _strides(array: np.ndarray) -> Strides:
    return tuple(
        -1 if size == 1 else step // array.itemsize for size, step in zip(array.shape, array.strides, strict=True)
    )


def passed_strides(
    program: Program, entry: str, *, seed: int = 0, directions: tuple[Direction, ...] = (Direction.In,)
) -> Passed:
    """The strides of what ``entry`` passes to kernels, directly or through others, on random arguments."""
    passed = Passed()
    dims = default_dims(program, None)
    with watched(passed, directions):
        interpret(program, entry, random_arguments(program, entry, seed, dims, limit=1), dims=dims)
    return passed
