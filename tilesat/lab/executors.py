"""Where jobs run: in this process, in local processes, on a dask.distributed cluster."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from tilesat.errors import TilesatError
from tilesat.lab.jobs import Job, Row, run_job, run_jobs

BATCH = 8
"""Jobs that go out together: they share the e-graphs of a rule set, which take longer to build than most programs."""

RETRIES = 3
"""How often a batch is run again when the worker that had it is lost."""


def batches(jobs: Sequence[Job], workers: int) -> list[list[Job]]:
    """Jobs of one rule set together, few enough that every worker gets some."""
    size = max(1, min(BATCH, len(jobs) // (2 * workers) or 1))
    return [list(jobs[start : start + size]) for start in range(0, len(jobs), size)]


def local_rows(jobs: Sequence[Job], processes: int) -> Iterator[Row]:
    """Rows as they come, from ``processes`` processes; from this one when that is one."""
    if processes <= 1 or len(jobs) <= 1:
        yield from map(run_job, jobs)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(processes, len(jobs)), mp_context=context) as pool:
        pending: set[Future[list[Row]]] = {pool.submit(run_jobs, batch) for batch in batches(jobs, processes)}
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                try:
                    yield from future.result()
                except BrokenProcessPool:
                    raise TilesatError(
                        "a worker process ended without an answer", hint="with --state a further run continues"
                    ) from None


def cluster_rows(jobs: Sequence[Job], scheduler: str) -> Iterator[Row]:
    """Rows as they come, from the workers of a cluster; what a lost worker had is run by another.

    Raises :class:`TilesatError` when dask.distributed is not installed or nobody answers at ``scheduler``.
    """
    try:
        import distributed
    except ImportError:
        raise TilesatError("--scheduler needs dask.distributed", hint="pip install 'tilesat[cluster]'") from None
    try:
        client: Any = distributed.Client(scheduler, timeout=20)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise TilesatError(f"no scheduler answers at '{scheduler}': {error}", hint="e.g. tcp://host:8786") from None
    with client:
        workers = max(1, len(client.scheduler_info()["workers"]))
        futures = client.map(run_jobs, batches(jobs, workers), retries=RETRIES, pure=False)
        for _, rows in distributed.as_completed(futures, with_results=True):  # type: ignore[no-untyped-call]
            yield from rows
