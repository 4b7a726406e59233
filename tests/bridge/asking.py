"""Programs of several functions, and how tests ask for other processes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

import tilesat
from tilesat.bridge import processes
from tilesat.extract.transfer import Transfer
from tilesat.ir.nodes import Program
from tilesat.lab.generate import random_program

JOBS = 2
SUM = """
    @pl.function(type=pl.FunctionType.InCore)
    def kernel{number}(
        self, x: pl.Tensor[[{rows}, 128], pl.FP32], out: pl.Out[pl.Tensor[[{rows}, 128], pl.FP32]]
    ) -> pl.Tensor[[{rows}, 128], pl.FP32]:
        a = pl.load(x, [0, 0], [{rows}, 128])
        b = pl.add(a, a)
        out_0 = pl.store(b, [0, 0], out)
        return out_0
"""
HEAD = "import pypto.language as pl\n\n@pl.program\nclass Sums:\n"


def kernels(seeds: Sequence[int]) -> Program:
    """The kernels of generated programs as one program, each under a name of its own."""
    given = [random_program(seed) for seed in seeds]
    found = [function for program in given for function in program.functions if function.is_incore]
    return replace(
        given[0],
        functions=tuple(replace(f, name=f"kernel{n}") for n, f in enumerate(found)),
        dynamic_dims=tuple(dict.fromkeys(name for program in given for name in program.dynamic_dims)),
        preamble=tuple(dict.fromkeys(line for program in given for line in program.preamble)),
    )


def infer(program: Program, jobs: int = JOBS, **more: Any) -> tilesat.PassResult:
    return tilesat.infer_tile_memory_space(program, jobs=jobs, **{"rules": "optimal", "hardware": "910b", **more})


def assert_same(one: tilesat.PassResult, other: tilesat.PassResult) -> None:
    assert str(one.program) == str(other.program)
    assert one.program == other.program
    assert replace(one, timings={}) == replace(other, timings={})
    assert set(one.timings) == set(other.timings)


def dear(transfer: Transfer) -> float:
    raise ValueError(f"{transfer.bytes} bytes are too dear")


@dataclass(frozen=True)
class Asked:
    """What other processes were asked to do, and what came back."""

    tasks: Sequence[Any]
    work: Any
    jobs: int
    found: list[Any]


def watch_processes(patch: pytest.MonkeyPatch, see: Callable[[Asked], None]) -> None:
    """From now on ``see`` is told of what other processes have done, before anybody else is."""
    real = processes.solve_in_processes

    def solve(tasks: Any, work: Any, clock: Any, jobs: int, started: Any) -> Any:
        found = real(tasks, work, clock, jobs, started)
        see(Asked(tasks, work, jobs, found))
        return found

    patch.setattr(processes, "solve_in_processes", solve)
