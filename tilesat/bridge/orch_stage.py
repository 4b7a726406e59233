"""What the patterns of the orchestration pass share: their e-graph, their reports."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tilesat.bridge.decisions import Decision
from tilesat.diagnostics import Diagnostic, Severity
from tilesat.extract.orch_choice import Chooser, LaunchOptions, Variant, choose_variants
from tilesat.extract.orch_cost import CheckedOrchModel
from tilesat.ir.nodes import Program
from tilesat.ir.printer import print_head
from tilesat.ir_terms.egraph import EGraph
from tilesat.ir_terms.encode import Rows
from tilesat.ir_terms.orch_facts import ProgramFacts, program_facts
from tilesat.ir_terms.orch_facts_workspace import Workspace
from tilesat.ir_terms.session import Clock, session
from tilesat.rules.loading import unvouched
from tilesat.rules.rule import STAGES, RuleSet

OVERWRITTEN_INPUT = "overwritten-input"
"""The check that warns of parameters In that a merge overwrites."""


@dataclass(frozen=True, slots=True)
class Picked:
    """The variant taken at a launch, its cost there, and what more it would cost to leave the launch as it is."""

    variant: Variant
    cost: float | None = None
    saved: float | None = None


@dataclass(slots=True)
class Search:
    """How to choose where the rules offer a choice."""

    model: CheckedOrchModel
    chooser: Chooser

    def pick(
        self, launches: Sequence[LaunchOptions], *, kernel: float | None = None, is_free: bool = False
    ) -> list[Picked]:
        """The variant of each launch; ``kernel`` is what a copy costs, by default what the model says."""
        price = self.model.kernel if kernel is None else kernel
        variants = choose_variants(launches, price, self.chooser, tie=self.model.statement / 64.0, is_free=is_free)
        return [_picked(launch, variant) for launch, variant in zip(launches, variants, strict=True)]


def _picked(launch: LaunchOptions, variant: Variant) -> Picked:
    costs = {option.variant: option.cost for option in launch.options}
    as_it_is = next((option.cost for option in launch.options if not option.variant), None)
    saved = None if as_it_is is None else as_it_is - costs[variant]
    return Picked(variant, costs[variant], saved)


def total(picked: Iterable[Picked]) -> Picked | None:
    """Costs of several launches together; ``None`` where nothing was searched."""
    listed = list(picked)
    if not listed or any(p.cost is None for p in listed):
        return None
    saved = None if any(p.saved is None for p in listed) else sum(p.saved or 0.0 for p in listed)
    return Picked(None, sum(p.cost or 0.0 for p in listed), saved)


@dataclass(slots=True)
class OrchContext:
    """The run of the pass over one program: rules, what is known of functions, what was decided so far.

    Without ``search`` the rules' decisions for whole kernels are carried out as they are.
    """

    rules: RuleSet
    search: Search | None = None
    workspace: Workspace = field(default_factory=Workspace)
    clock: Clock = field(default_factory=Clock)
    decisions: list[Decision] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    kept: frozenset[str] = field(init=False)
    """Rules that nobody has vouched for, found once for all stages."""

    def __post_init__(self) -> None:
        self.kept = unvouched(self.rules)

    def facts(self, program: Program) -> ProgramFacts:
        start = time.perf_counter()
        facts = program_facts(program, self.workspace)
        self.clock.add("facts", start)
        return facts

    @contextmanager
    def decided(self, stage: str, rows: Rows) -> Iterator[EGraph]:
        """The e-graph of ``stage`` over ``rows``, all its phases run."""
        what = f"rule set '{self.rules.name}'"
        start = time.perf_counter()
        with session(self.rules.stage_program(stage, self.kept), what=what) as graph:
            start = self.clock.add("load rules", start)
            graph.enter_rows(rows)
            start = self.clock.add("load facts", start)
            graph.saturate(*STAGES[stage], what=what)
            self.clock.add(f"saturate {stage}", start)
            yield graph.graph

    # ------------------------------------------------------------------------- reports

    def decide(
        self,
        function: str,
        kind: str,
        subject: str,
        text: str,
        place: str,
        rules: Sequence[str],
        picked: Picked | None = None,
    ) -> None:
        """Enter a decision; ``picked`` has the costs where a search made it."""
        cost, saved = (None, None) if picked is None else (picked.cost, picked.saved)
        rejected = "" if saved is None else "left as it is"
        self.decisions.append(
            Decision(function, kind, subject, text, place, tuple(rules), cost, rejected, saved, stage="orchestration")
        )

    def decline(
        self, function: str, check: str, message: str, place: str, rules: Sequence[str], *, is_news: bool = True
    ) -> None:
        """Say that a rewrite is left out, and why; ``is_news`` where the documents or the program ask for it."""
        self.decide(function, "stays", "", message, place, rules)
        if is_news:
            self.diagnostics.append(Diagnostic(Severity.NOTE, check, function, message, place))

    def warn(self, function: str, check: str, message: str, place: str) -> None:
        self.diagnostics.append(Diagnostic(Severity.WARNING, check, function, message, place))


def place_at(facts: ProgramFacts, number: int) -> str:
    """The first line of statement ``number``."""
    return print_head(facts.statement(number))


def local_name(key: str) -> str:
    """The variable of a key ``function:name``."""
    return key.partition(":")[2]
