"""One run of a comparison as plain data: it goes to other processes and machines, and comes back as a row.

Files travel with the job, so a worker need not see the file system of whoever asked.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import tilesat
from tilesat.bridge.infer import PassResult, infer_tile_memory_space
from tilesat.bridge.placing import OBSERVER
from tilesat.extract.cost import CheckedModel, Cost, cost_model
from tilesat.extract.count import Counts, count_program, function_cost
from tilesat.extract.places import PlaceGraph
from tilesat.ir.hardware import hardware
from tilesat.ir.nodes import Function, Program
from tilesat.ir.parser import parse_text
from tilesat.lab.firing import Firings, firings
from tilesat.lab.stochastic import StochasticSearch, stochastic_cost
from tilesat.lab.variants import shape_of
from tilesat.rules.loading import load_rules
from tilesat.rules.rule import RuleSet


@dataclass(frozen=True, slots=True)
class Job:
    """What to run: ``program`` as text, ``rules`` and ``cost`` as on the command line, ``files`` they refer to.

    ``without`` leaves out one rule (ablation); ``stochastic`` also searches at random for as long as the search took.
    """

    name: str
    program: str
    rules: str
    cost: str
    hardware: str | None
    exact: bool
    time_limit: float
    seed: int
    without: str = ""
    stochastic: bool = False
    files: tuple[tuple[str, str], ...] = ()

    @property
    def key(self) -> str:
        """What tells this job from others: the same key promises the same row, times aside."""
        text = json.dumps([tilesat.__version__, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


@dataclass(slots=True)
class Row:
    """What a job gave. Bytes, moves and loads are executed ones, frequencies as the cost model has them.

    ``gap`` is how far the cost may be above the cheapest, as a share of the proven bound. ``e_nodes`` counts the ways
    in the placement graphs. ``seconds`` are per stage, ``rule_seconds`` and ``matches`` per rule. ``stochastic`` is the
    cost that random search found in the time of the search. ``stays`` counts the functions that kept their placement
    because the rules left no legal one. With ``error`` everything else is empty.
    """

    key: str
    program: str
    rules: str
    cost_model: str
    without: str = ""
    error: str = ""
    status: str = ""
    cost: float = 0.0
    reference_cost: float | None = None
    gap: float | None = None
    moves: float = 0.0
    static_moves: int = 0
    global_bytes: float = 0.0
    statements: int = 0
    e_nodes: int = 0
    stays: int = 0
    total_seconds: float = 0.0
    stochastic: float | None = None
    seconds: dict[str, float] = field(default_factory=dict)
    matches: dict[str, int] = field(default_factory=dict)
    rule_seconds: dict[str, float] = field(default_factory=dict)


def run_jobs(jobs: list[Job]) -> list[Row]:
    """The rows of ``jobs``, in order; a job that fails has a row with the error."""
    return [run_job(job) for job in jobs]


def run_job(job: Job) -> Row:
    row = Row(job.key, job.name, job.rules, Path(job.cost).name, job.without)
    try:
        return _filled(job, row)
    except Exception as error:  # one broken run does not end the others; the row tells
        return replace(row, error=f"{type(error).__name__}: {error}")


def _filled(job: Job, row: Row) -> Row:
    folder = _unpacked(job.files)
    rules, brought = _rules(job.rules, folder, job.files)
    if job.without:
        rules = rules.without(job.without)
    chip = hardware(job.hardware)
    program = parse_text(job.program)
    cost: Cost = brought if brought is not None and job.cost == "traffic" else _placed(job.cost, folder, job.files)
    model = cost_model(cost, chip)
    graphs: list[tuple[Function, Function, PlaceGraph]] = []
    searches: list[StochasticSearch] = []

    def observe(before: Function, after: Function, places: PlaceGraph) -> None:
        graphs.append((before, after, places))
        if job.stochastic:
            searches.append(StochasticSearch(places, job.seed))

    token = OBSERVER.set(observe)
    start = time.perf_counter()
    try:
        with firings() as found:
            result = infer_tile_memory_space(
                program,
                rules=rules,
                cost=cost,
                hardware=chip,
                exact=job.exact,
                time_limit=job.time_limit,
                seed=job.seed,
            )
            spent = time.perf_counter() - start
            if job.stochastic and result.cost is not None:
                limit = result.timings.get("extract", 0.0)
                shapes = [shape_of(function) for function in result.program.functions]
                distinct = [
                    (old, new, search, shapes.count(shape_of(new)))
                    for (old, new, _), search in zip(graphs, searches, strict=True)
                ]
                row.stochastic = stochastic_cost(distinct, result.cost, limit, model)
    finally:
        OBSERVER.reset(token)
    return _measured(row, result, found, graphs, model, spent)


def _measured(
    row: Row,
    result: PassResult,
    found: Firings,
    graphs: list[tuple[Function, Function, PlaceGraph]],
    model: CheckedModel,
    spent: float,
) -> Row:
    counts: Counts = count_program(_kernels(result.program), model.frequency)
    cost = result.cost
    if cost is None:
        cost = sum(function_cost(function, model) for function in result.program.functions if function.is_incore)
    bound = result.lower_bound
    return replace(
        row,
        status=result.status,
        cost=cost,
        reference_cost=result.reference_cost,
        gap=None if not bound else max(0.0, cost / bound - 1.0),
        moves=counts.executed_moves,
        static_moves=counts.static_moves,
        global_bytes=counts.loaded_bytes + counts.stored_bytes,
        statements=counts.statements,
        e_nodes=sum(len(places.choices.nodes) for _, _, places in graphs),
        stays=sum(decision.keeps_placement for decision in result.decisions),
        total_seconds=spent,
        seconds=dict(result.timings),
        matches=dict(found.matches),
        rule_seconds=found.seconds,
    )


def _kernels(program: Program) -> Program:
    return replace(program, functions=tuple(f for f in program.functions if f.is_incore))


# ------------------------------------------------------------------------------------ files


_folders: dict[tuple[tuple[str, str], ...], Path] = {}


def _unpacked(files: tuple[tuple[str, str], ...]) -> Path | None:
    """A folder with ``files``, kept for the next job of this process."""
    if not files:
        return None
    if files not in _folders:
        folder = Path(tempfile.mkdtemp(prefix="tilesat-lab-"))
        for number, (_, text) in enumerate(files):
            path = folder / str(number) / Path(files[number][0]).name
            path.parent.mkdir()
            path.write_text(text, encoding="utf-8")
        _folders[files] = folder
    return _folders[files]


def _placed(part: str, folder: Path | None, files: tuple[tuple[str, str], ...]) -> str:
    """Where ``part`` was unpacked, if it is one of ``files``."""
    if folder is None or not part.endswith(".py"):
        return part
    for number, (name, _) in enumerate(files):
        if name == part:
            return str(folder / str(number) / Path(name).name)
    return part


@lru_cache(maxsize=32)
def _rules(spec: str, folder: Path | None, files: tuple[tuple[str, str], ...]) -> tuple[RuleSet, Any]:
    parts = [_placed(part, folder, files) for part in spec.split(",")]
    loaded = load_rules(parts)
    return loaded.rules, loaded.cost
