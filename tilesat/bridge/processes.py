"""Functions of a large program solved in several processes, which stay for the next program.

Tasks go out in batches, each with what is to be done to them, and come back as results and seconds, pickled and
unpickled here rather than by the executor (see :mod:`tilesat.bridge.sending`).
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from tilesat.bridge.bundles import bundled, solved
from tilesat.bridge.collector import collector_paused
from tilesat.bridge.sending import ALONE, packed, unsendable
from tilesat.bridge.workers import Work
from tilesat.errors import TilesatError
from tilesat.ir_terms.session import Clock

Task = TypeVar("Task")
Found = TypeVar("Found")

BATCH = 32
"""Tasks that go out together: sending them one by one takes longer."""

BATCHES_EACH = 4
"""Batches that every worker should get where there are enough tasks: some tasks take longer than others."""

_GUARD = "a script keeps the call below `if __name__ == '__main__':`"


def solve_in_processes(
    tasks: Sequence[Task],
    work: Work[Task, Found],
    clock: Clock,
    jobs: int,
    started: Callable[[Task], None] | None = None,
) -> list[Found]:
    """What ``work`` makes of each of ``tasks``, in their order, from ``jobs`` processes.

    ``started`` is called in this process, for all tasks of a batch when the batches before it are done. Where tasks
    fail, the error of the first of them in their order is raised.

    Raises :class:`TilesatError` where something cannot be sent, no process can be started, or one ends without an
    answer; the next call starts new ones.
    """
    message = _Message(uuid.uuid4().hex, packed(work.sent(), "what the pass was given"))
    size = max(1, min(BATCH, len(tasks) // (BATCHES_EACH * jobs)))
    batches = [list(tasks[start : start + size]) for start in range(0, len(tasks), size)]
    pool, futures = _submitted(jobs, message, batches)
    found: list[Found] = []
    try:
        for batch, future in zip(batches, futures, strict=True):
            if started is not None:
                for task in batch:
                    started(task)
            results, spent = pickle.loads(future.result())
            pool.answered = True
            found += results
            clock.merge(spent)
    except BrokenProcessPool:
        _discard(pool)
        raise _ended(pool) from None
    except BaseException as error:
        _cancel(futures)
        if not isinstance(error, Exception):
            # Ctrl-C reaches the workers as well.
            _discard(pool)
        raise
    return found


# ------------------------------------------------------------------------------- the workers


@dataclass(frozen=True, slots=True)
class _Message:
    """The work of one call, pickled; ``call`` tells calls apart, between which a model's file may change."""

    call: str
    work: bytes


def _solve(message: _Message, batch: bytes) -> bytes:
    """In a worker: the results of a batch and the seconds they took."""
    clock = Clock()
    with collector_paused():
        work, tasks = _received(message), pickle.loads(batch)
        with work.opened(clock) as solve:
            found = [one for together in bundled(tasks, work.size) for one in solved(solve, together)]
        return packed((found, clock), "a result")


@lru_cache(maxsize=1)
def _received(message: _Message) -> Work[Any, Any]:
    try:
        work: Work[Any, Any] = pickle.loads(message.work)
    except Exception as error:  # functions are sent by name, which need not lead anywhere here
        raise unsendable("what the pass was given", error) from None
    return work.received()


def _begin() -> None:
    """In a worker, first: Ctrl-C ends it without a word, as the process that asked tells of it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


# ---------------------------------------------------------------------------------- the pool


@dataclass(slots=True, eq=False)
class _Pool:
    """Processes that stay, with the e-graphs they built."""

    executor: ProcessPoolExecutor
    jobs: int
    answered: bool = False


_lock = threading.Lock()
_kept: dict[int, _Pool] = {}
"""The pool of the last call. By process, because a fork has the pool but not the thread that serves it."""


def _submitted(jobs: int, message: _Message, batches: Sequence[list[Any]]) -> tuple[_Pool, list[Future[bytes]]]:
    """All batches on their way, in order."""
    futures: list[Future[bytes]] = []
    with _lock:
        pool = _usable(jobs)
        try:
            futures.extend(pool.executor.submit(_solve, message, packed(batch, "a function")) for batch in batches)
        except TilesatError:
            _cancel(futures)
            raise
        except BrokenProcessPool:
            _discard(pool)
            raise _ended(pool) from None
        except (AssertionError, OSError, RuntimeError) as error:
            _discard(pool)
            first = str(error).strip().partition("\n")[0]
            raise TilesatError(f"no worker process can be started: {first}", hint=f"{ALONE}; {_GUARD}") from error
    return pool, futures


def _cancel(futures: Sequence[Future[bytes]]) -> None:
    for future in futures:
        future.cancel()


def _usable(jobs: int) -> _Pool:
    """The pool of the last call, if it has as many processes and they live, or a new one."""
    kept = _kept.get(os.getpid())
    if kept is not None and kept.jobs == jobs:
        try:
            # Fails at once where they have ended.
            kept.executor.submit(os.getpid)
            return kept
        except BrokenProcessPool:
            pass
    if kept is not None:
        _discard(kept)
    context = multiprocessing.get_context("spawn")
    pool = _Pool(ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin), jobs)
    _kept[os.getpid()] = pool
    return pool


def _discard(pool: _Pool) -> None:
    """Let the workers of ``pool`` end after what they are at; another call's batches are still answered."""
    pool.executor.shutdown(wait=False)
    if _kept.get(os.getpid()) is pool:
        del _kept[os.getpid()]


def _ended(pool: _Pool) -> TilesatError:
    if pool.answered:
        hint = f"was it out of memory? fewer jobs, or {ALONE}; the next call starts new ones"
        return TilesatError("a worker process ended without an answer", hint=hint)
    return TilesatError("the worker processes ended before any of them had answered", hint=f"{_GUARD}, or {ALONE}")
