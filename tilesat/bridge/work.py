"""What a stage of a pass does to each function, as data: to be done here, in a thread or in another process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tilesat.bridge.bundles import MOST_TOGETHER, let_go, solved
from tilesat.bridge.decide import InferenceStage, Inferred
from tilesat.bridge.decisions import current_decisions
from tilesat.bridge.placing import Placed, PlacementStage, PlacementTask, SearchOptions, placement_task
from tilesat.bridge.residency import has_candidates
from tilesat.errors import TilesatError
from tilesat.extract.cost import CheckedModel, Cost, cost_model
from tilesat.extract.user_cost import is_model_file
from tilesat.ir.hardware import Hardware
from tilesat.ir.nodes import Function, Stmt
from tilesat.ir.walk import statements_in
from tilesat.ir_terms.session import Clock, Session, session
from tilesat.ir_terms.stage_program import StageProgram
from tilesat.rules.loading import located, unvouched
from tilesat.rules.rule import RuleSet


@dataclass(frozen=True, slots=True)
class StageRules:
    """The rules of one stage as solvers need them: the egglog text, and nothing of a user's that could run.

    ``program`` keeps the rules that nobody has vouched for; ``brought`` are those of users' files, which errors
    point to.
    """

    name: str
    program: StageProgram
    brought: RuleSet

    @staticmethod
    def of(rules: RuleSet, stage: str, clock: Clock) -> StageRules:
        """What ``rules`` has for ``stage``.

        Raises :class:`tilesat.RuleError` for a malformed rule.
        """
        start = time.perf_counter()
        with located(rules):
            program = rules.stage_program(stage, kept=unvouched(rules))
        brought = tuple(replace(rule, sound=None) for rule in rules if rule.origin is not None)
        found = StageRules(rules.name, program, RuleSet(rules.name, brought))
        clock.add("load rules", start)
        return found

    def size(self, function: Function) -> int:
        """What ``function`` takes of an e-graph that several share, in statements.

        Rules that nobody has vouched for get an e-graph for each: they may bring together what is not.
        """
        if self.program.kept:
            return MOST_TOGETHER
        return statements_in(function.body)

    @contextmanager
    def session(self, clock: Clock) -> Iterator[Session]:
        """The e-graph of the stage; the time to get it counts as loading rules."""
        start = time.perf_counter()
        with located(self.brought), session(self.program, what=f"rule set '{self.name}'") as graph:
            clock.add("load rules", start)
            yield graph


@dataclass(frozen=True, slots=True)
class InferenceWork:
    """Spaces and moves of one function after the other."""

    rules: StageRules
    chip: Hardware | None

    @contextmanager
    def opened(self, clock: Clock) -> Iterator[Callable[[Sequence[Function]], list[Inferred]]]:
        """A solver for the thread that opens it."""
        with self.rules.session(clock) as graph:
            yield InferenceStage(graph, self.chip, clock, f"rule set '{self.rules.name}'").run

    def size(self, task: Function) -> int:
        """Its statements."""
        return self.rules.size(task)

    def sent(self) -> InferenceWork:
        """What another process is told."""
        return self

    def received(self) -> InferenceWork:
        """What the other process makes of it."""
        return self


@dataclass(frozen=True, slots=True)
class PlacementWork:
    """Placements of one function after the other.

    ``cost`` is what the user gave, ``model`` what was made of it, ``None`` on the way to another process: the module of
    a model file can be imported nowhere else. ``deadline`` is when the search has to end, in seconds since the epoch,
    which all processes count alike; without one its time starts when a solver is opened.
    """

    rules: StageRules
    chip: Hardware | None
    cost: Cost
    model: CheckedModel | None
    options: SearchOptions
    deadline: float | None = None

    @contextmanager
    def opened(self, clock: Clock) -> Iterator[Callable[[Sequence[PlacementTask]], list[Placed]]]:
        """A solver for the thread that opens it."""
        model = cost_model(self.cost, self.chip) if self.model is None else self.model
        with self.rules.session(clock) as graph:
            seconds = self.options.time_limit if self.deadline is None else self.deadline - time.time()
            yield PlacementStage(graph, self.chip, model, self.options, clock, seconds).run

    def size(self, task: PlacementTask) -> int:
        """The statements of its function."""
        return self.rules.size(task.function)

    def sent(self) -> PlacementWork:
        """What another process is told: the time limit is one for all of them, and starts now."""
        cost = self.cost
        if isinstance(cost, (str, Path)) and is_model_file(cost):
            # A process that stays does not follow when this one changes its folder.
            cost = Path(cost).absolute()
        return replace(self, cost=cost, model=None, deadline=time.time() + self.options.time_limit)

    def received(self) -> PlacementWork:
        """What the other process makes of it: one model for all functions."""
        return replace(self, model=cost_model(self.cost, self.chip))


@dataclass(slots=True)
class _Progress:
    """How far one process has come: seconds spent on placements, and whether one failed."""

    spent: float = 0.0
    has_failed: bool = False


@dataclass(frozen=True, slots=True)
class KernelWork:
    """Inference and placement of functions in another process at one go: none has to travel in between.

    A function with statements that ``waits`` picks inside a loop or branch is not placed: a pass over the whole program
    comes first. Nor are functions from the first on for which that fails: they will fail again, in their turn. The time
    limit counts what the process spends on placements.
    """

    inference: InferenceWork
    placement: PlacementWork
    waits: Callable[[Stmt], bool] | None
    progress: _Progress = field(default_factory=_Progress, compare=False)

    @property
    def left(self) -> float:
        """Seconds of the time limit that are left to this process."""
        return self.placement.options.time_limit - self.progress.spent

    @contextmanager
    def opened(self, clock: Clock) -> Iterator[Callable[[Sequence[Function]], list[Inferred]]]:
        """A solver for the thread that opens it."""
        with self.inference.opened(clock) as infer:

            def solve(functions: Sequence[Function]) -> list[Inferred]:
                found = infer(functions)
                ready = [n for n, one in enumerate(found) if not self._has_to_wait(one.function)]
                tasks = [placement_task(functions[number], found[number].function) for number in ready]
                start = time.perf_counter()
                placed = self._placed(tasks, clock)
                seconds = time.perf_counter() - start
                self.progress.spent += seconds
                for number, one in zip(ready, placed, strict=bool(placed)):
                    found[number] = _settled(functions[number], found[number], one)
                if placed:
                    found[ready[0]].seconds = seconds
                return found

            yield solve

    def _has_to_wait(self, function: Function) -> bool:
        return self.waits is not None and has_candidates(function, self.waits)

    def _placed(self, tasks: Sequence[PlacementTask], clock: Clock) -> Sequence[Placed]:
        """All of ``tasks`` placed in the time that is left; none where one of them or one before has failed."""
        if not tasks or self.progress.has_failed:
            return ()
        try:
            with replace(self.placement, deadline=time.time() + self.left).opened(clock) as place:
                return solved(place, tasks)
        except TilesatError as error:
            self.progress.has_failed = True
            let_go(error)
            return ()

    def size(self, task: Function) -> int:
        """Its statements."""
        return max(self.inference.size(task), self.placement.rules.size(task))

    def sent(self) -> KernelWork:
        """What another process is told."""
        return replace(self, inference=self.inference.sent(), placement=self.placement.sent())

    def received(self) -> KernelWork:
        """What the other process makes of it."""
        return replace(self, placement=self.placement.received())


def _settled(before: Function, inferred: Inferred, placed: Placed) -> Inferred:
    """``inferred`` after placement, with what still holds."""
    kept, news = current_decisions(
        [before], [inferred.function], [placed.function], inferred.decisions, placed.decisions
    )
    placed.decisions = news
    return Inferred(placed.function, kept, inferred.diagnostics, placed)
