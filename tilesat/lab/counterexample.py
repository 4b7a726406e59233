"""Counterexamples made small, and told: before, after, inputs, what differs, and the decision that did it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tilesat.bridge.decisions import Decision
from tilesat.ir.interp import random_arguments
from tilesat.ir.nodes import Program
from tilesat.ir.walk import statements_in
from tilesat.lab.changes import Change, undone
from tilesat.lab.examine import Outcome, examine
from tilesat.lab.judge import CRASH, Fault
from tilesat.lab.reduce import reduced
from tilesat.lab.shrink import simplest
from tilesat.lab.target import Target
from tilesat.lab.variants import CHEAPEST, DOCUMENTED
from tilesat.rules.rule import RuleSet

MOST_DECISIONS = 5
FEW = 12
"""Statements up to which a counterexample counts as small."""

REDUCE_SHARE = 0.7
"""Share of the time for leaving out statements; the rest is for simpler decisions of the generator."""

_SHOWN = 6


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A small program that the rules change. ``rules`` are those without which it would be right.

    ``inputs`` describes the arguments on which the two differ, ``decisions`` what was decided because of those rules.
    ``statements`` counts the statements of ``before``; ``seconds`` is what finding the small program took.
    """

    target: str
    seed: int
    fault: Fault
    before: Program
    after: Program | None
    rules: tuple[str, ...]
    inputs: tuple[str, ...]
    decisions: tuple[Decision, ...]
    statements: int
    seconds: float

    def __str__(self) -> str:
        culprits = ", ".join(f"'{name}'" for name in self.rules) or "the rules together"
        parts = [
            f"{self.fault.kind}: {culprits}",
            f"\nbefore ({self.statements} statements; target {self.target}, seed {self.seed}):",
            str(self.before).rstrip(),
        ]
        if self.after is not None:
            parts += [f"\nafter ({self.fault.variant}):", str(self.after).rstrip()]
        if self.inputs:
            parts += ["\ninputs:", *(f"  {line}" for line in self.inputs)]
        parts.append(f"\nwhat is wrong: {self.fault.message}")
        if self.decisions:
            parts += ["\ndecided by the rule:", *(f"  {_decision(decision)}" for decision in self.decisions)]
        return "\n".join(parts)

    def as_dict(self) -> dict[str, object]:
        return {
            "kind": self.fault.kind,
            "rules": list(self.rules),
            "target": self.target,
            "seed": self.seed,
            "statements": self.statements,
            "before": str(self.before),
            "after": None if self.after is None else str(self.after),
            "inputs": list(self.inputs),
            "message": self.fault.message,
            "decisions": [decision.as_dict() for decision in self.decisions],
        }


def _decision(decision: Decision) -> str:
    return f"{decision.kind}: {decision.text} [{', '.join(decision.rules)}] at `{decision.place}`"


def count_statements(program: Program) -> int:
    """All statements of all functions, nested ones and yields included."""
    return statements_in(*(function.body for function in program.functions))


def find_counterexample(
    rules: RuleSet,
    base: RuleSet,
    changed: Sequence[Change],
    target: Target,
    seed: int,
    fault: Fault,
    samples: int,
    seconds: float,
) -> Counterexample:
    """The program of ``seed``, which has ``fault``, made small."""
    start = time.monotonic()
    # Drawing random results takes time that a fault of another one does not need.
    samples = 0 if fault.variant in (DOCUMENTED, CHEAPEST) else samples
    trial = _Trial(rules, base, target, samples, seed, bool(changed))
    program = reduced(target.program(seed), trial.is_faulty, seconds * REDUCE_SHARE)
    if count_statements(program) > FEW:
        # Other decisions of the generator may lead to a smaller one.
        left = start + seconds - time.monotonic()
        found = simplest(seed, trial.is_faulty, target.make, seconds=left * (1 - REDUCE_SHARE))
        other = reduced(found.program, trial.is_faulty, start + seconds - time.monotonic())
        program = min(program, other, key=count_statements)
    outcome = trial.outcome(program)
    final = outcome.fault or fault
    culprits = tuple(change.name for change in changed if not trial.with_rules(undone(rules, change), program))
    return Counterexample(
        target.name,
        seed,
        final,
        program,
        final.program,
        culprits,
        _inputs(program, final),
        _blamed(outcome, final, culprits, trial, program, [c for c in changed if c.name in culprits]),
        count_statements(program),
        time.monotonic() - start,
    )


@dataclass(slots=True)
class _Trial:
    rules: RuleSet
    base: RuleSet
    target: Target
    samples: int
    seed: int
    has_changes: bool

    def outcome(self, program: Program) -> Outcome:
        return _with_crash(examine(program, self.rules, self.target, self.samples, self.seed), self.has_changes)

    def is_faulty(self, program: Program) -> bool:
        """Whether the rules spoil ``program`` and the shipped ones do not."""
        if not self.target.has(program) or self.outcome(program).fault is None:
            return False
        return not self.has_changes or not self.with_rules(self.base, program)

    def with_rules(self, rules: RuleSet, program: Program) -> bool:
        """Whether other rules spoil ``program`` too, or give nothing."""
        return _with_crash(examine(program, rules, self.target, self.samples, self.seed), True).fault is not None


def _with_crash(outcome: Outcome, refusal_counts: bool) -> Outcome:
    if outcome.fault is None and outcome.refusal and refusal_counts:
        outcome.fault = Fault(CRASH, "", outcome.refusal)
    return outcome


def _inputs(program: Program, fault: Fault) -> tuple[str, ...]:
    """The arguments on which the programs differ, scalars in full, arrays by their first elements."""
    difference = fault.difference
    if difference is None:
        return ()
    arguments = random_arguments(program, difference.function, difference.seed, limit=difference.limit)
    return tuple(f"{name} = {_shown(value)}" for name, value in arguments.items())


def _shown(value: object) -> str:
    if not isinstance(value, np.ndarray):
        return repr(value)
    first = ", ".join(str(item) for item in value.reshape(-1)[:_SHOWN])
    more = ", ..." if value.size > _SHOWN else ""
    return f"{value.dtype}{list(value.shape)} [{first}{more}]"


def _blamed(
    outcome: Outcome,
    fault: Fault,
    culprits: Sequence[str],
    trial: _Trial,
    program: Program,
    changed: Sequence[Change],
) -> tuple[Decision, ...]:
    """Decisions of the faulty result that name a culprit, else those in which it differs from the right one."""
    made = _decisions(outcome, fault.variant)
    named = [decision for decision in made if not set(culprits).isdisjoint(decision.rules)]
    if named:
        return tuple(named[:MOST_DECISIONS])
    rules = trial.rules
    for change in changed:
        rules = undone(rules, change)
    right = examine(program, rules if changed else trial.base, trial.target, trial.samples, trial.seed)
    should = _decisions(right, fault.variant)
    known, told = ({(d.kind, d.text) for d in found} for found in (should, made))
    fresh = [decision for decision in made if (decision.kind, decision.text) not in known]
    # A rule may also do harm by what is not done because of it.
    missed = [replace(d, text=f"no longer: {d.text}") for d in should if (d.kind, d.text) not in told]
    return tuple((fresh + missed or made)[:MOST_DECISIONS])


def _decisions(outcome: Outcome, variant: str) -> list[Decision]:
    if outcome.results is None:
        return []
    return next((found.decisions() for found in outcome.results.found if found.name == variant), [])
