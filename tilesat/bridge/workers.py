"""Functions of a large program are solved side by side: in threads, as egglog lets others run, or in processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from contextvars import copy_context
from functools import lru_cache
from typing import Generic, Protocol, TypeVar

from tilesat.bridge.bundles import bundled, let_go, solved
from tilesat.errors import TilesatError
from tilesat.ir_terms.session import Clock

Task = TypeVar("Task")
Found = TypeVar("Found")
_Task = TypeVar("_Task", contravariant=True)
_Found = TypeVar("_Found", covariant=True)

FEWEST_TASKS = 24
"""Below this many the e-graphs that a second worker has to build cost more than it saves."""

MOST_THREADS = 4


class Work(Protocol[_Task, _Found]):
    """What is to be done to each task."""

    def opened(self, clock: Clock) -> AbstractContextManager[Callable[[Sequence[_Task]], Sequence[_Found]]]:
        """A solver of tasks that go together, for the thread that opens it; its seconds go to ``clock``."""
        ...

    def size(self, task: _Task) -> int:
        """The statements of ``task``: small ones go together."""
        ...

    def sent(self) -> Work[_Task, _Found]:
        """The same as it goes to another process: it must be picklable."""
        ...

    def received(self) -> Work[_Task, _Found]:
        """The same as it is used there."""
        ...


def check_jobs(jobs: object) -> None:
    """Raises :class:`TilesatError` unless ``jobs`` is a number of processes."""
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise TilesatError(f"jobs is {jobs!r}", hint="the number of processes, an integer of at least 1")


def go_out(tasks: int, jobs: int) -> bool:
    """Whether so many tasks are solved in other processes."""
    return tasks >= FEWEST_TASKS and jobs > 1


def check_sendable(cost: object, name: str) -> None:
    """Raises :class:`TilesatError` when the cost model called ``name`` cannot be sent to another process."""
    from tilesat.bridge.sending import packed

    packed(cost, f"cost model '{name}'")


def solve_each(
    tasks: Sequence[Task],
    work: Work[Task, Found],
    clock: Clock,
    *,
    jobs: int = 1,
    started: Callable[[Task], None] | None = None,
) -> list[Found]:
    """What ``work`` makes of each of ``tasks``, in their order.

    With more than one of ``jobs``, many tasks are solved in as many processes, otherwise in threads of this one.
    ``started`` is called for one task after the other, in order, about when it is begun; ``clock`` gets the seconds of
    all workers. Where tasks fail, the error of the first of them in their order is raised.
    """
    many = len(tasks) >= FEWEST_TASKS
    if go_out(len(tasks), jobs):
        # Not needed by most programs, and slow to import.
        from tilesat.bridge.processes import solve_in_processes

        return solve_in_processes(tasks, work, clock, jobs, started)
    job = _Job(tasks, work, started)
    threads = min(MOST_THREADS, os.cpu_count() or 1, job.most_workers) if many else 1
    helpers: list[Future[None]] = [_pool().submit(copy_context().run, _help, job) for _ in range(threads - 1)]
    job.work()
    for helper in helpers:
        helper.result()
    for spent in job.clocks:
        clock.merge(spent)
    return job.results()


@lru_cache(maxsize=1)
def _pool() -> ThreadPoolExecutor:
    """Threads that stay, with the e-graphs they built."""
    return ThreadPoolExecutor(MOST_THREADS - 1, thread_name_prefix="tilesat")


def _help(job: _Job[Task, Found]) -> None:
    """In another thread: work, and let go of the e-graph of what failed, which no other thread can do."""
    let_go(job.work())


class _Job(Generic[Task, Found]):
    """Tasks that threads take one after the other."""

    def __init__(self, tasks: Sequence[Task], work: Work[Task, Found], started: Callable[[Task], None] | None) -> None:
        self.clocks: list[Clock] = []
        self._work = work
        self._started = started
        self._lock = threading.Lock()
        self._next = 0
        self._bundles = list(bundled(tasks, work.size))
        self._found: dict[int, Sequence[Found]] = {}
        self._failed: dict[int, BaseException] = {}

    @property
    def most_workers(self) -> int:
        """How many can have something to do."""
        return max(1, len(self._bundles))

    def work(self) -> BaseException | None:
        """Solve what is left, until nothing is or something failed; what that was."""
        number = self._take()
        if number is None:
            return None
        clock = Clock()
        self.clocks.append(clock)
        try:
            with self._work.opened(clock) as solve:
                while number is not None:
                    self._found[number] = solved(solve, self._bundles[number])
                    number = self._take()
        except BaseException as error:
            self._failed[-1 if number is None else number] = error
            return error
        return None

    def _take(self) -> int | None:
        with self._lock:
            if self._failed or self._next == len(self._bundles):
                return None
            number, self._next = self._next, self._next + 1
            if self._started is not None:
                for task in self._bundles[number]:
                    self._started(task)
            return number

    def results(self) -> list[Found]:
        """What was found, in order; raises what failed first in the order of the tasks."""
        if self._failed:
            try:
                raise self._failed[min(self._failed)]
            finally:
                # Whoever catches it lets go of the e-graph; a cycle would be found by any thread.
                self._failed.clear()
        return [found for number in range(len(self._bundles)) for found in self._found[number]]
