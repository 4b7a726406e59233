"""Both passes in the order of the compiler's pipeline."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tilesat.bridge.infer import STATUSES, PassResult, Progress, infer_tile_memory_space
from tilesat.bridge.orch import PATTERNS, optimize_orch_tensors
from tilesat.bridge.workers import check_jobs
from tilesat.extract.cost import PRESETS, Cost
from tilesat.extract.orch_cost import OrchCostModel
from tilesat.ir.hardware import Hardware
from tilesat.ir.nodes import Program
from tilesat.rules.catalogue import allow, options_of_tensors, preset
from tilesat.rules.rule import RuleSet


def optimize(
    program: Program,
    *,
    rules: str | RuleSet = "reference",
    cost: Cost = "traffic",
    orch_cost: str | OrchCostModel | None = None,
    hardware: str | Hardware | None = None,
    options: Iterable[str] = (),
    exact: bool = False,
    time_limit: float = 10.0,
    seed: int = 0,
    explain: bool = False,
    jobs: int = 1,
    check: bool = True,
    progress: Progress | None = None,
) -> PassResult:
    """Optimise the tensors of the orchestration, then place the tiles of the kernels.

    The arguments are those of :func:`optimize_orch_tensors` and :func:`infer_tile_memory_space`; ``orch_cost`` is the
    model of the first pass, by default the preset that ``cost`` names, or ``traffic``. ``timings`` are those
    of both passes, with the name of the pass in front; costs are those of the second, which prices kernels in full.
    Only the second uses ``jobs`` processes.
    """
    check_jobs(jobs)
    names = tuple(options)
    allow(preset(rules), names)
    of_tensors = options_of_tensors(names)
    priced = cost if isinstance(cost, str) and cost in PRESETS else "traffic"
    model = orch_cost if orch_cost is not None else priced
    first = optimize_orch_tensors(
        program,
        rules=rules,
        cost=model,
        hardware=hardware,
        options=of_tensors,
        exact=exact,
        time_limit=time_limit,
        seed=seed,
        check=check,
        progress=progress,
    )

    def later(done: int, name: str) -> None:
        if progress is not None:
            progress(done + len(PATTERNS), name)

    second = infer_tile_memory_space(
        first.program,
        rules=rules,
        cost=cost,
        hardware=hardware,
        options=[name for name in names if name not in of_tensors],
        exact=exact,
        time_limit=time_limit,
        seed=seed,
        explain=explain,
        jobs=jobs,
        check=check,
        progress=later,
    )
    timings = {f"orch: {stage}": seconds for stage, seconds in first.timings.items()}
    timings |= {f"infer: {stage}": seconds for stage, seconds in second.timings.items()}
    known = [status for status in (first.status, second.status) if status in STATUSES]
    return replace(
        second,
        decisions=first.decisions + second.decisions,
        diagnostics=first.diagnostics + second.diagnostics,
        timings=timings,
        status=max(known, key=STATUSES.index, default="reference"),
    )
