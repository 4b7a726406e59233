"""Functions solved side by side: results in order, the first error, one solver for each thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import tilesat
from tilesat.bridge import workers
from tilesat.bridge.workers import FEWEST_TASKS, solve_each
from tilesat.lab.scale import many_functions


@contextmanager
def _squares() -> Iterator[Callable[[int], int]]:
    home = threading.get_ident()

    def solve(number: int) -> int:
        assert threading.get_ident() == home, "a solver is used in the thread that opened it"
        return number * number

    yield solve


def test_results_come_in_the_order_of_the_tasks() -> None:
    numbers = list(range(10 * FEWEST_TASKS))
    assert solve_each(numbers, _squares) == [number * number for number in numbers]


def test_nothing_to_do() -> None:
    assert solve_each([], _squares) == []


def test_the_error_of_the_first_task_that_fails_is_raised() -> None:
    @contextmanager
    def failing() -> Iterator[Callable[[int], int]]:
        def solve(number: int) -> int:
            if number >= 5:
                raise tilesat.SolveError(f"task {number}")
            return number

        yield solve

    with pytest.raises(tilesat.SolveError, match=r"task 5$"):
        solve_each(list(range(2 * FEWEST_TASKS)), failing)


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
