"""Memory-space inference and move insertion, as a pass over programs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tilesat.bridge.alike import first_alike
from tilesat.bridge.collector import collector_paused
from tilesat.bridge.decisions import Decision, current_decisions
from tilesat.bridge.placing import OBSERVER, Placed, SearchOptions, placement_task
from tilesat.bridge.residency import ResidencyPass, Standing, candidates, strip_marks
from tilesat.bridge.waterfall import Step, waterfall
from tilesat.bridge.work import InferenceWork, KernelWork, PlacementWork, StageRules
from tilesat.bridge.workers import check_jobs, check_sendable, go_out, solve_each
from tilesat.diagnostics import Diagnostic
from tilesat.extract.cost import Cost, cost_model
from tilesat.ir.hardware import Hardware
from tilesat.ir.hardware import hardware as find_chip
from tilesat.ir.nodes import Function, Program
from tilesat.ir.verify import INPUT_PROPERTIES, OUTPUT_PROPERTIES, refuse, require, verify
from tilesat.ir_terms.egraph import LISTENER
from tilesat.ir_terms.session import Clock, Syntax
from tilesat.rules.catalogue import allow, preset
from tilesat.rules.levels import FAMILY as LEVELS
from tilesat.rules.rule import RuleSet

Progress = Callable[[int, str], None]
# What a search may say of its result, from best to worst; a program is as good as its worst function.
STATUSES = ("optimal", "heuristic", "bounded", "time limit")


_LEAST_SECONDS = 0.001
"""What is left of any time limit at least."""

_PATHS = "HardwarePaths"
"""The property of results that is told, not demanded: without a chip nobody knows."""


@dataclass(frozen=True, slots=True)
class PassResult:
    """What a pass made of a program.

    ``decisions`` are in program order, ``diagnostics`` say where the pass departed from the documents or what it found
    suspicious, ``timings`` are seconds per stage, added up over threads and processes. ``cost`` is the sum over the
    InCore functions under the cost model, ``reference_cost`` the same for what the reference rules make of the program,
    ``lower_bound`` what no placement can beat, ``status`` how sure the search is (``reference`` where nothing was
    searched). ``waterfall`` has, on request, where the savings come from.
    """

    program: Program
    decisions: tuple[Decision, ...]
    diagnostics: tuple[Diagnostic, ...]
    timings: Mapping[str, float]
    cost: float | None = None
    reference_cost: float | None = None
    lower_bound: float | None = None
    status: str = "reference"
    waterfall: tuple[Step, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The result as plain data, for JSON; the program as text."""
        return {
            "program": str(self.program),
            "decisions": [decision.as_dict() for decision in self.decisions],
            "diagnostics": [diagnostic.as_dict() for diagnostic in self.diagnostics],
            "timings": dict(self.timings),
            "cost": self.cost,
            "reference_cost": self.reference_cost,
            "lower_bound": self.lower_bound,
            "status": self.status,
            "waterfall": [step.as_dict() for step in self.waterfall],
        }


@dataclass(slots=True)
class _Sum:
    """Costs of all functions together."""

    cost: float = 0.0
    reference_cost: float = 0.0
    lower_bound: float = 0.0
    statuses: list[str] = field(default_factory=list)

    def add(self, placed: Placed) -> None:
        self.cost += placed.cost
        self.reference_cost += placed.reference_cost
        self.lower_bound += placed.lower_bound
        self.statuses.append(placed.status)

    @property
    def status(self) -> str:
        return max(self.statuses, key=STATUSES.index, default="optimal")


def infer_tile_memory_space(
    program: Program,
    *,
    rules: str | RuleSet = "reference",
    cost: Cost = "traffic",
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
    """Give every tile of the InCore functions a memory space and insert the moves that takes.

    ``rules`` is a preset's name or a rule set, ``cost`` a preset's name, a Python file, a function or a model (see
    :data:`tilesat.extract.cost.Cost`; it matters where the rules offer a choice), ``hardware`` a chip's name (``910b``,
    ``950``) or ``None`` for what all chips share. ``options`` are promises and permissions beyond the rules
    (``assume_noalias``, ``hoist_manual_loads``, ``assume_nonzero_trips``, ``retarget_loads``; see
    :func:`tilesat.rules.catalogue.options`). ``exact`` proves the choice with a solver, within ``time_limit`` seconds.
    ``explain`` finds what each decision rejected and what each family of rules saved; that takes several times as
    long. ``jobs`` processes solve a program of many different functions, with the same result; they stay for the next
    call (see :mod:`tilesat.bridge.processes`). Functions of other kinds come back as they are (INF-S-01). With
    ``check`` the result is verified; the input always is, before anything is touched. ``progress`` is called with the
    number of functions done and the name of the next.

    Raises :class:`tilesat.VerifyError` for input that violates a required property (INF-S-02, INF-S-03),
    :class:`tilesat.RuleError` or :class:`tilesat.SolveError` when the rules fail, and
    :class:`tilesat.CostModelError` when the model does. With more than one of ``jobs`` also
    :class:`tilesat.TilesatError` for a cost model that cannot be sent to another process, and when one ends.
    """
    check_jobs(jobs)
    chip = find_chip(hardware)
    search = SearchOptions(exact, time_limit, seed, explain)
    allowed = allow(preset(rules), options, tensors=False)
    inference = _Pass(allowed, chip, cost, search, 1 if _is_listened_to() else jobs)
    with collector_paused():
        return inference.run(program, check=check, progress=progress)


def _is_listened_to() -> bool:
    """Whether somebody looks on in this process, and would see nothing of what happens in others."""
    return LISTENER.get() is not None or OBSERVER.get() is not None


class _Pass:
    def __init__(
        self, rules: RuleSet, chip: Hardware | None, cost: Cost, options: SearchOptions, jobs: int = 1
    ) -> None:
        self.rules = rules
        self.chip = chip
        self.clock = Clock()
        self.cost = cost
        self.model = cost_model(cost, chip)
        self.options = options
        self.jobs = jobs
        self.places = rules.has_stage("placement")
        self.levels = self.places and any(rule.family == LEVELS for rule in rules)
        self.standing: dict[str, Standing] = {}
        self.syntax: dict[str, Syntax] = {}
        self.placed: dict[str, Placed] = {}
        """Functions that were placed together with their inference."""
        self.spent = 0.0
        """Seconds that this took, added up over processes."""

    def run(self, program: Program, *, check: bool, progress: Progress | None) -> PassResult:
        if self.jobs > 1 and self.places:
            # Needed late, and only for many functions; better refused at once and always.
            check_sendable(self.cost, self.model.name)
        start = time.perf_counter()
        require(program, INPUT_PROPERTIES)
        self.clock.add("verify input", start)
        inferred, decisions, diagnostics = self._infer(program, progress)
        if self.rules.has_stage("residency"):
            evidence, rules = (StageRules.of(self.rules, stage, self.clock) for stage in ("evidence", "residency"))
            with evidence.session(self.clock) as callers, rules.session(self.clock) as graph:
                residency = ResidencyPass(callers, graph, self.chip, self.clock, levels=self.levels)
                inferred, resident = residency.run(inferred, self.placed)
            self.standing, self.syntax = residency.standing, residency.syntax
            decisions += resident
        total = _Sum()
        placed = inferred
        if self.places:
            placed, more = self._place(program, inferred, total, self.rules, self._options_left())
            before, between, after = ([f for f in p.functions if self._is_open(f)] for p in (program, inferred, placed))
            kept, news = current_decisions(before, between, after, decisions, more)
            decisions = kept + news
        result = strip_marks(placed)
        if check:
            diagnostics += self._check(result)
        outcome = PassResult(result, tuple(decisions), tuple(diagnostics), self.clock.seconds)
        if not self.places:
            return outcome
        return replace(
            outcome,
            cost=total.cost,
            reference_cost=total.reference_cost,
            lower_bound=total.lower_bound,
            status=total.status,
            waterfall=self._waterfall(program, inferred, total) if self.options.explain else (),
        )

    def _waterfall(self, program: Program, inferred: Program, total: _Sum) -> tuple[Step, ...]:
        options = replace(self.options, explain=False)

        def placed_cost(rules: RuleSet) -> float:
            found = _Sum()
            self._place(program, inferred, found, rules, options)
            return found.cost

        return waterfall(self.rules, total.reference_cost, total.cost, placed_cost)

    def _infer(self, program: Program, progress: Progress | None) -> tuple[Program, list[Decision], list[Diagnostic]]:
        position = {function.name: number for number, function in enumerate(program.functions)}
        kernels = [function for function in program.functions if function.is_incore]
        if not kernels:
            return program, [], []
        # Functions that differ in name only are solved once.
        first = first_alike(kernels)
        tasks = [kernels[number] for number in sorted(set(first))]

        def started(function: Function) -> None:
            if progress is not None:
                progress(position[function.name], function.name)

        work = self._work(len(tasks))
        results = solve_each(tasks, work, self.clock, jobs=self.jobs, started=started)
        self.spent = sum(found.seconds for found in results)
        solved = dict(zip(sorted(set(first)), results, strict=True))
        known = {function.name: solved[number] for function, number in zip(kernels, first, strict=True)}
        functions: list[Function] = []
        decisions: list[Decision] = []
        diagnostics: list[Diagnostic] = []
        for function in program.functions:
            if not function.is_incore:
                functions.append(function)
                continue
            found = known[function.name]
            functions.append(replace(found.function, name=function.name))
            if found.placed is not None:
                self.placed[function.name] = found.placed
            decisions += [decision.of(function.name) for decision in found.decisions]
            diagnostics += [replace(diagnostic, function=function.name) for diagnostic in found.diagnostics]
        return replace(program, functions=tuple(functions)), decisions, diagnostics

    def _work(self, kernels: int) -> InferenceWork | KernelWork:
        """What is done first to each of so many kernels: where they go to other processes, as much as can be."""
        inference = InferenceWork(StageRules.of(self.rules, "inference", self.clock), self.chip)
        if not self.places or self.options.explain or not go_out(kernels, self.jobs):
            return inference
        waits = candidates(levels=self.levels) if self.rules.has_stage("residency") else None
        return KernelWork(inference, self._placement_work(self.rules, self.options), waits)

    def _placement_work(self, rules: RuleSet, options: SearchOptions) -> PlacementWork:
        return PlacementWork(StageRules.of(rules, "placement", self.clock), self.chip, self.cost, self.model, options)

    def _options_left(self) -> SearchOptions:
        """How to search with what is left of the time limit."""
        left = max(_LEAST_SECONDS, self.options.time_limit - self.spent / self.jobs)
        return replace(self.options, time_limit=left) if self.spent else self.options

    def _is_open(self, function: Function) -> bool:
        """Whether ``function`` is a kernel that was not placed with its inference."""
        return function.is_incore and function.name not in self.placed

    def _place(
        self, original: Program, program: Program, total: _Sum, rules: RuleSet, options: SearchOptions
    ) -> tuple[Program, list[Decision]]:
        stands = self.standing if any(rule.family == LEVELS for rule in rules) else {}
        tasks = {
            after.name: placement_task(before, after, stands.get(after.name, {}), self.syntax.get(after.name))
            for before, after in zip(original.functions, program.functions, strict=True)
            if self._is_open(after)
        }
        listed = list(tasks.values())
        first = first_alike([task.function for task in listed], lambda number: listed[number].given)
        distinct = sorted(set(first))
        solved: dict[int, Placed] = {}
        if distinct:
            work = self._placement_work(rules, options)
            results = solve_each([listed[number] for number in distinct], work, self.clock, jobs=self.jobs)
            solved = dict(zip(distinct, results, strict=True))
        known = self.placed | {name: solved[number] for name, number in zip(tasks, first, strict=True)}
        functions: list[Function] = []
        decisions: list[Decision] = []
        for function in program.functions:
            if function.name not in known:
                functions.append(function)
                continue
            placed = known[function.name]
            total.add(placed)
            functions.append(replace(placed.function, name=function.name))
            decisions += [decision.of(function.name) for decision in placed.decisions]
        return replace(program, functions=tuple(functions)), decisions

    def _check(self, result: Program) -> list[Diagnostic]:
        start = time.perf_counter()
        found = verify(result, properties=(*OUTPUT_PROPERTIES, _PATHS), hardware=self.chip)
        refuse(tuple(finding for finding in found if finding.check != _PATHS))
        self.clock.add("verify output", start)
        return [finding for finding in found if finding.check == _PATHS]
