"""Rule sets and cost models compared over many programs: in parallel, on a cluster, resumable."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TextIO

from tilesat.errors import TilesatError
from tilesat.ir.parser import parse
from tilesat.lab.executors import cluster_rows, local_rows
from tilesat.lab.generate import GeneratorConfig, random_program
from tilesat.lab.jobs import Job, Row
from tilesat.lab.summary import Table, summarise
from tilesat.rules.catalogue import preset
from tilesat.rules.loading import load_rules

Progress = Callable[[int, int, str], None]
COLUMNS = (
    *("program", "rules", "cost_model", "without", "status", "cost", "reference_cost", "gap", "moves", "static_moves"),
    *("global_bytes", "statements", "e_nodes", "stays", "stochastic", "total_seconds", "error"),
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All rows, those of ablation apart."""

    rows: tuple[Row, ...]
    ablations: tuple[Row, ...] = field(default=())

    @property
    def failures(self) -> tuple[str, ...]:
        """Runs that gave nothing; that a rule set fails without a rule is a finding, not a failure."""
        return tuple(f"{r.program} under {r.rules}, {r.cost_model}: {r.error}" for r in self.rows if r.error)

    def tables(self) -> list[Table]:
        """Titles, columns and rows of the summary."""
        return summarise(self.rows, self.ablations)

    def write_csv(self, path: Path) -> None:
        """One line per run: :data:`COLUMNS`, then the seconds of each stage."""
        everything = [*self.rows, *self.ablations]
        stages = sorted({stage for row in everything for stage in row.seconds})
        with _opened(path) as file:
            writer = csv.writer(file)
            writer.writerow([*COLUMNS, *(f"seconds: {stage}" for stage in stages)])
            for row in everything:
                writer.writerow([*_cells(row), *(row.seconds.get(stage, "") for stage in stages)])

    def write_json(self, path: Path) -> None:
        """Everything, with firings and times per rule."""
        data = {"rows": [asdict(r) for r in self.rows], "ablations": [asdict(r) for r in self.ablations]}
        with _opened(path) as file:
            json.dump(data, file, indent=1)


def _opened(path: Path) -> TextIO:
    try:
        return path.open("w", encoding="utf-8", newline="")
    except OSError as error:
        raise TilesatError(f"cannot write {path}: {error.strerror}") from None


def _cells(row: Row) -> list[object]:
    values = asdict(row)
    return ["" if values[column] is None else values[column] for column in COLUMNS]


def compare(
    files: Sequence[str | Path] = (),
    *,
    rules: Sequence[str] = ("reference", "optimal"),
    costs: Sequence[str] = ("traffic",),
    hardware: str | None = "910b",
    exact: bool = False,
    time_limit: float = 10.0,
    ablate: bool | Sequence[str] = False,
    stochastic: bool = False,
    generate: int = 0,
    config: GeneratorConfig | None = None,
    seed: int = 0,
    jobs: int | None = None,
    scheduler: str | None = None,
    state: str | Path | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run every rule set under every cost model over every program.

    ``files`` are programs, or folders of them; ``generate`` adds as many random programs, made by ``config``. ``rules``
    are specifications as in :func:`tilesat.rules.loading.load_rules`, ``costs`` presets or Python files. With
    ``ablate`` (``True``, or families and names) each rule set also runs without each of its rules that fired. ``jobs``
    is the number of local processes, by default one per core; with ``scheduler``, the address of a dask.distributed
    cluster, everything runs there instead. Rows are kept in ``state`` as they come, and a later call with the same file
    runs only what is missing.

    Rows are the same whatever runs them, times aside. Raises :class:`tilesat.TilesatError` for files, rule sets and
    cost models that do not load; what fails later is in the rows.
    """
    listed = _jobs(files, rules, costs, hardware, exact, time_limit, stochastic, generate, config, seed)
    runner = _Runner(jobs, scheduler, None if state is None else Path(state), progress)
    rows = runner.run(listed)
    ablations: list[Row] = []
    if ablate:
        only = frozenset() if ablate is True else frozenset(ablate)
        without = [
            replace(job, without=rule, stochastic=False) for job in listed for rule in _removable(job, rows, only)
        ]
        done = runner.run(without)
        ablations = [done[job.key] for job in without]
    return Comparison(tuple(rows[job.key] for job in listed), tuple(ablations))


def _removable(job: Job, rows: dict[str, Row], only: frozenset[str]) -> list[str]:
    """The rules that fired in a run, of the families and names in ``only``: without others nothing changes."""
    fired = sorted(rows[job.key].matches)
    if not only:
        return fired
    family = {rule.name: rule.family for rule in load_rules((job.rules,)).rules}
    return [rule for rule in fired if rule in only or family.get(rule) in only]


def _jobs(
    files: Sequence[str | Path],
    rules: Sequence[str],
    costs: Sequence[str],
    hardware: str | None,
    exact: bool,
    time_limit: float,
    stochastic: bool,
    generate: int,
    config: GeneratorConfig | None,
    seed: int,
) -> list[Job]:
    programs = _programs(files, generate, config, seed)
    if not programs:
        raise TilesatError("there is nothing to compare on", hint="give files, or generate programs")
    found = []
    for spec in dict.fromkeys(rules):
        # Mistakes in rules are told before anything runs.
        loaded = load_rules((spec,))
        for cost in dict.fromkeys(costs):
            needed = [part for part in (*spec.split(","), cost) if part.endswith(".py")]
            attached = tuple((name, _text(Path(name))) for name in dict.fromkeys(needed))
            preset(loaded.rules)
            found += [
                Job(name, text, spec, cost, hardware, exact, time_limit, seed, "", stochastic, attached)
                for name, text in programs
            ]
    return found


def _programs(
    files: Sequence[str | Path], generate: int, config: GeneratorConfig | None, seed: int
) -> list[tuple[str, str]]:
    paths = [
        path for given in map(Path, files) for path in (sorted(given.glob("**/*.py")) if given.is_dir() else [given])
    ]
    found = []
    for path in paths:
        parse(path)
        found.append((str(path), _text(path)))
    found += [(f"random-{number}", str(random_program(number, config))) for number in range(seed, seed + generate)]
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise TilesatError(f"cannot read {path}: {error.strerror}") from None


class _Runner:
    """Runs jobs that have no row yet, and keeps their rows."""

    def __init__(self, jobs: int | None, scheduler: str | None, state: Path | None, progress: Progress | None) -> None:
        self.jobs = jobs or os.cpu_count() or 1
        self.scheduler = scheduler
        self.state = state
        self.progress = progress
        self.known = {} if state is None else _read_state(state)

    def run(self, listed: Sequence[Job]) -> dict[str, Row]:
        """Key -> row for all of ``listed``."""
        missing = list({job.key: job for job in listed if job.key not in self.known}.values())
        done, total = len(listed) - len(missing), len(listed)
        rows = cluster_rows(missing, self.scheduler) if self.scheduler else local_rows(missing, self.jobs)
        for row in rows:
            self.known[row.key] = row
            done += 1
            if self.state is not None:
                _append(self.state, row)
            if self.progress is not None:
                self.progress(done, total, f"{row.rules} {row.program}"[-40:])
        return self.known


def _read_state(path: Path) -> dict[str, Row]:
    """The rows that an earlier run kept; a line that it did not finish is run again."""
    if not path.exists():
        return {}
    rows: dict[str, Row] = {}
    for line in _text(path).splitlines():
        try:
            row = Row(**json.loads(line))
        except (json.JSONDecodeError, TypeError):
            continue
        rows[row.key] = row
    return rows


def _append(path: Path, row: Row) -> None:
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(row)) + "\n")
    except OSError as error:
        raise TilesatError(f"cannot write {path}: {error.strerror}") from None
