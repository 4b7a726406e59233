"""Functions solved side by side: results in order, the first error, one solver for each thread."""

from __future__ import annotations

import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

import pytest

import tilesat
from tilesat.bridge import workers
from tilesat.bridge.bundles import MOST_TOGETHER
from tilesat.bridge.workers import FEWEST_TASKS, solve_each
from tilesat.ir_terms.session import Clock
from tilesat.lab.scale import many_functions
from tilesat.rules.catalogue import preset


@dataclass(frozen=True)
class Squares:
    """Squares numbers up to a limit."""

    limit: int = 10_000

    @contextmanager
    def opened(self, clock: Clock) -> Iterator[Callable[[Sequence[int]], list[int]]]:
        home = threading.get_ident()

        def solve(numbers: Sequence[int]) -> list[int]:
            assert threading.get_ident() == home, "a solver is used in the thread that opened it"
            for number in reversed(numbers):
                if number >= self.limit:
                    raise tilesat.SolveError(f"task {number}")
            return [number * number for number in numbers]

        clock.seconds["square"] = 1.0
        yield solve

    def size(self, task: int) -> int:
        return MOST_TOGETHER // 3

    def sent(self) -> Self:
        raise AssertionError("nothing leaves this process")

    def received(self) -> Self:
        return self


def test_results_come_in_the_order_of_the_tasks() -> None:
    numbers = list(range(10 * FEWEST_TASKS))
    assert solve_each(numbers, Squares(), Clock()) == [number * number for number in numbers]


def test_nothing_to_do() -> None:
    assert solve_each([], Squares(), Clock()) == []


def test_the_seconds_of_every_solver_count() -> None:
    """One solver for a few tasks; for many, one for each thread that gets any."""
    few, many = Clock(), Clock()
    solve_each([1, 2], Squares(), few)
    solve_each(list(range(10 * FEWEST_TASKS)), Squares(), many)
    assert few.seconds == {"square": 1.0}
    assert 1.0 <= many.seconds["square"] <= workers.MOST_THREADS


def test_the_error_of_the_first_task_that_fails_is_raised() -> None:
    """Also where it fails together with others, of which another is looked at first."""
    with pytest.raises(tilesat.SolveError, match=r"task 5$"):
        solve_each(list(range(2 * FEWEST_TASKS)), Squares(5), Clock())


def test_a_thread_that_fails_lets_go_of_its_e_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other thread could, and egglog would say so on stderr."""
    seen: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", seen.append)
    monkeypatch.setattr(os, "cpu_count", lambda: workers.MOST_THREADS)
    program, rules = many_functions(FEWEST_TASKS, 12, FEWEST_TASKS), preset("reference").without("resolve")
    for _ in range(3):
        with pytest.raises(tilesat.SolveError, match="no rule gives tile"):
            tilesat.infer_tile_memory_space(program, rules=rules)
    gc.collect()
    assert seen == []


def test_few_tasks_stay_in_this_process() -> None:
    numbers = list(range(FEWEST_TASKS - 1))
    assert solve_each(numbers, Squares(), Clock(), jobs=2) == [number * number for number in numbers]


def test_many_functions_come_out_as_they_do_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    program = many_functions(FEWEST_TASKS, 12, FEWEST_TASKS)
    together = tilesat.infer_tile_memory_space(program, rules="optimal", hardware="910b")
    monkeypatch.setattr(workers, "MOST_THREADS", 1)
    alone = tilesat.infer_tile_memory_space(program, rules="optimal", hardware="910b")
    assert str(together.program) == str(alone.program)
    assert together.decisions == alone.decisions
    assert together.cost == alone.cost


def test_progress_names_every_function_that_is_solved_once() -> None:
    program = many_functions(6, 12, 3)
    seen: list[tuple[int, str]] = []
    tilesat.infer_tile_memory_space(program, progress=lambda done, name: seen.append((done, name)))
    assert seen == [(0, "kernel0"), (1, "kernel1"), (2, "kernel2")]
