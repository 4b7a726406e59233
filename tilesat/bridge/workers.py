"""Functions of a large program are solved side by side: egglog lets other Python threads run while it works."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import copy_context
from functools import lru_cache
from typing import Generic, TypeVar

Task = TypeVar("Task")
Found = TypeVar("Found")
Solver = Callable[[Task], Found]

FEWEST_TASKS = 24
"""Below this many the e-graphs that a second thread has to build cost more than it saves."""

MOST_THREADS = 4


def solve_each(
    tasks: Sequence[Task],
    solver: Callable[[], AbstractContextManager[Solver[Task, Found]]],
    started: Callable[[Task], None] | None = None,
) -> list[Found]:
    """What a solver makes of each of ``tasks``, in their order.

    ``solver`` opens a solver in the thread that will use it. ``started`` is called in the caller's thread, or one at a
    time, before a task is begun. Where tasks fail, the error of the first of them in their order is raised.
    """
    job = _Job(tasks, solver, started)
    threads = min(MOST_THREADS, os.cpu_count() or 1) if len(tasks) >= FEWEST_TASKS else 1
    helpers: list[Future[None]] = [_pool().submit(copy_context().run, job.work) for _ in range(threads - 1)]
    job.work()
    for helper in helpers:
        helper.result()
    return job.results()


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    """Threads that stay, with the e-graphs they built."""
    return ThreadPoolExecutor(MOST_THREADS - 1, thread_name_prefix="tilesat")


class _Job(Generic[Task, Found]):
    """Tasks that threads take one after the other."""

    def __init__(
        self,
        tasks: Sequence[Task],
        solver: Callable[[], AbstractContextManager[Solver[Task, Found]]],
        started: Callable[[Task], None] | None,
    ) -> None:
        self.tasks = tasks
        self.solver = solver
        self.started = started
        self._lock = threading.Lock()
        self._next = 0
        self._found: dict[int, Found] = {}
        self._failed: dict[int, BaseException] = {}

    def work(self) -> None:
        """Solve what is left, until nothing is or something failed."""
        number = self._take()
        if number is None:
            return
        try:
            with self.solver() as solve:
                while number is not None:
                    self._found[number] = solve(self.tasks[number])
                    number = self._take()
        except BaseException as error:
            self._failed[-1 if number is None else number] = error

    def _take(self) -> int | None:
        with self._lock:
            if self._failed or self._next == len(self.tasks):
                return None
            number, self._next = self._next, self._next + 1
            if self.started is not None:
                self.started(self.tasks[number])
            return number

    def results(self) -> list[Found]:
        """What was found, in order; raises what failed first in the order of the tasks."""
        if self._failed:
            raise self._failed[min(self._failed)]
        return [self._found[number] for number in range(len(self.tasks))]
