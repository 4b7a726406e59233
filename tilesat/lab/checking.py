"""Whether rules are sound: programs that make them fire, before and after, interpreted and compared.

One run of a rule set over a program tells which of its rules fired, so all rules with one target are checked together;
each is checked on every program of its target.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tilesat.errors import TilesatError
from tilesat.ir.nodes import Program
from tilesat.lab.changes import Change, base_of, changes
from tilesat.lab.counterexample import Counterexample, find_counterexample
from tilesat.lab.examine import examine
from tilesat.lab.firing import Firings
from tilesat.lab.judge import CRASH, Fault
from tilesat.lab.statement import Refutation, refute
from tilesat.lab.target import Target, kind_of
from tilesat.lab.targets import TARGETS, choose_targets, is_targeted
from tilesat.rules.catalogue import options, preset
from tilesat.rules.rule import Rule, RuleSet

SEED_STRIDE = 1_000_003
LEAST_SHARE = 0.1
"""Share of its programs in which a rule should fire; below that the check says little of it."""

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class RuleReport:
    """How one rule fared. ``fired`` of ``examples`` programs of its ``target`` made it fire.

    ``examples`` is 0 for a rule that no target is for, and for a rule that was removed ``fired`` is 0.
    """

    name: str
    family: str
    change: str
    target: str
    examples: int
    fired: int
    statement: str = "none"

    @property
    def share(self) -> float:
        return self.fired / self.examples if self.examples else 0.0

    def as_dict(self) -> dict[str, object]:
        return {
            "rule": self.name,
            "family": self.family,
            "change": self.change,
            "target": self.target,
            "examples": self.examples,
            "fired": self.fired,
            "share": round(self.share, 4),
            "statement": self.statement,
        }


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check saw.

    ``examples`` programs were run, of which ``refused`` have no right result under the shipped rules either and
    ``unjudged`` could not be interpreted. ``counterexample`` and ``refutation`` are the first ones found.
    """

    rules: tuple[RuleReport, ...]
    examples: int
    refused: int
    unjudged: int
    seconds: float
    counterexample: Counterexample | None = None
    refutation: Refutation | None = None

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against the rules."""
        return self.counterexample is None and self.refutation is None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Rules that fired too seldom for the check to mean much."""
        found = []
        for rule in self.rules:
            if rule.change == "removed" or not rule.examples:
                continue
            if not rule.fired:
                found.append(f"rule '{rule.name}' never fired in {rule.examples} programs")
            elif rule.share < LEAST_SHARE:
                found.append(f"rule '{rule.name}' fired in {rule.share:.1%} of {rule.examples} programs only")
        return tuple(found)

    def as_dict(self) -> dict[str, object]:
        return {
            "ok": self.ok,
            "examples": self.examples,
            "refused": self.refused,
            "unjudged": self.unjudged,
            "seconds": round(self.seconds, 2),
            "rules": [rule.as_dict() for rule in self.rules],
            "warnings": list(self.warnings),
            "counterexample": None if self.counterexample is None else self.counterexample.as_dict(),
            "refutation": None if self.refutation is None else str(self.refutation),
        }


def check(
    rules: str | RuleSet,
    *,
    examples: int = 2000,
    seed: int = 0,
    only: Sequence[str] = (),
    targets: Sequence[str] = (),
    samples: int = 2,
    seconds: float | None = None,
    shrink_seconds: float = 40.0,
    progress: Progress | None = None,
) -> CheckReport:
    """Look for a program whose meaning ``rules`` change.

    Checked are the rules that differ from the preset they are built on; for a preset itself all its rules, and for a
    preset with options (see :func:`tilesat.rules.catalogue.allow`) the rules of these, on programs for which what they
    promise holds. With ``only`` those of these names or families. Each is checked on ``examples`` programs of its
    target, or of ``targets`` (see :data:`tilesat.lab.targets.TARGETS`): kernels, or whole programs for the rules of
    orchestration. Of each program ``samples`` random legal results are taken besides the documented and the cheapest
    one; results must be legal programs that compute the same, use transfers that exist, and state the strides that
    tensors have. The executable statements of the rules are tried as often. The check ends early at the first
    counterexample, which is then simplified for up to ``shrink_seconds``, and after ``seconds``.

    Equal arguments give equal reports as long as no time limit interferes. Raises :class:`tilesat.RuleError` for rules
    that do not load, never for unsound ones.
    """
    if examples < 1:
        raise TilesatError(f"examples is {examples}", hint="at least 1")
    return _Check(preset(rules), examples, seed, only, targets, samples, seconds, shrink_seconds, progress).run()


@dataclass(slots=True)
class _Tally:
    examples: int = 0
    refused: int = 0
    unjudged: int = 0
    fired: dict[str, int] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)


class _Check:
    def __init__(
        self,
        rules: RuleSet,
        examples: int,
        seed: int,
        only: Sequence[str],
        targets: Sequence[str],
        samples: int,
        seconds: float | None,
        shrink_seconds: float,
        progress: Progress | None,
    ) -> None:
        self.rules = rules
        self.base = base_of(rules)
        self.examples = examples
        self.seed = seed
        self.samples = samples
        self.shrink_seconds = shrink_seconds
        self.progress = progress
        self.start = time.monotonic()
        self.deadline = None if seconds is None else self.start + seconds
        self.changes = changes(rules, self.base)
        self.options = tuple(rule for rule in options() if rule in tuple(rules))
        self.wanted = self._wanted(only)
        self.given = [_target(name) for name in targets]
        self.tally = _Tally()

    def _wanted(self, only: Sequence[str]) -> tuple[Change, ...]:
        """The rules to check, as changes; unchanged ones are changes from a rule to itself."""
        shipped = tuple(rule for rule in self.rules if is_targeted(rule))
        listed = self.changes or tuple(Change(r.name, r, r) for r in ((not only and self.options) or shipped))
        if only:
            known = {name for change in listed for name in (change.name, _rule(change).family)}
            for name in only:
                if name not in known:
                    raise TilesatError(
                        f"nothing to check is called '{name}'", hint="one of " + ", ".join(sorted(known))
                    )
            listed = tuple(c for c in listed if c.name in only or _rule(c).family in only)
        return listed

    def run(self) -> CheckReport:
        refuted, statements = self._statements()
        plan = self._plan()
        fault = None
        total = sum(self.examples for target, changed in plan.items() if changed)
        for name, changed in plan.items():
            if refuted is not None or fault is not None:
                break
            if changed:
                fault = self._try_target(self._kept(TARGETS[name]), [change.name for change in changed], total)
        reports = tuple(
            RuleReport(
                change.name,
                _rule(change).family,
                "shipped" if change.new is change.old else change.kind,
                name,
                self.tally.seen.get(change.name, 0),
                self.tally.fired.get(change.name, 0),
                statements.get(change.name, "none"),
            )
            for name, changed in plan.items()
            for change in changed
        )
        tally, spent = self.tally, time.monotonic() - self.start
        return CheckReport(reports, tally.examples, tally.refused, tally.unjudged, spent, fault, refuted)

    def _kept(self, target: Target) -> Target:
        """``target`` without programs for which the options of the rules promise too much."""
        return target.keeping([rule.family for rule in self.options])

    def _statements(self) -> tuple[Refutation | None, dict[str, str]]:
        """Try the executable statements of the rules; what came of each."""
        outcome: dict[str, str] = {}
        for change in self.wanted:
            if change.new is None or change.new.sound is None:
                continue
            found = refute(change.new, self.examples, self.seed)
            outcome[change.name] = "holds" if found is None else "refuted"
            if found is not None:
                return found, outcome
        return None, outcome

    def _plan(self) -> dict[str, list[Change]]:
        """The changes by target."""
        plan: dict[str, list[Change]] = {name: [] for name in TARGETS}
        if self.given:
            for target in self.given:
                plan[target.name] = [c for c in self.wanted if kind_of(_rule(c)) == target.kind]
                if not plan[target.name]:
                    raise TilesatError(
                        f"target '{target.name}' is for rules of {target.kind}, and nothing to check is one",
                        hint="leave the target out, or see the list of targets",
                    )
            return plan
        chosen = choose_targets(self.rules, [_rule(change) for change in self.wanted], self.seed, self.examples)
        for change in self.wanted:
            plan[chosen[change.name]].append(change)
        return plan

    def _try_target(self, target: Target, names: Sequence[str], total: int) -> Counterexample | None:
        for number in range(self.examples):
            if self.deadline is not None and time.monotonic() > self.deadline:
                return None
            if self.progress is not None:
                self.progress(self.tally.examples, total, target.name)
            program_seed = self.seed * SEED_STRIDE + number
            program = target.program(program_seed)
            fault, found = self._fault(target, program, program_seed)
            self.tally.examples += 1
            for name in names:
                self.tally.seen[name] = self.tally.seen.get(name, 0) + 1
                self.tally.fired[name] = self.tally.fired.get(name, 0) + found.fired(name)
            if fault is not None:
                return find_counterexample(
                    self.rules, self.base, self.changes, target, program_seed, fault, self.samples, self.shrink_seconds
                )
        return None

    def _fault(self, target: Target, program: Program, seed: int) -> tuple[Fault | None, Firings]:
        outcome = examine(program, self.rules, target, self.samples, seed)
        if outcome.refusal and self.changes:
            # Where the shipped rules have no result either, the rules cannot be blamed.
            blamed = not examine(program, self.base, target, 0, seed).refusal
            outcome.fault = Fault(CRASH, "", outcome.refusal) if blamed else None
            self.tally.refused += not blamed
        elif outcome.refusal and outcome.fault is None:
            self.tally.refused += 1
        elif outcome.fault is not None and self.changes:
            shipped = examine(program, self.base, target, self.samples, seed)
            if shipped.fault is not None or shipped.refusal:
                outcome.fault = None
                self.tally.refused += 1
        self.tally.unjudged += outcome.unjudged
        return outcome.fault, outcome.firings


def _rule(change: Change) -> Rule:
    rule = change.new or change.old
    assert rule is not None
    return rule


def _target(name: str) -> Target:
    if name not in TARGETS:
        raise TilesatError(f"unknown target '{name}'", hint="one of " + ", ".join(TARGETS))
    return TARGETS[name]
