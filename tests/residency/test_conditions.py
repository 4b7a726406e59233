"""INF-P4-01 to INF-P4-13: each condition keeps a load in its loop, is named, and is missed when it is left out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tilesat
from tests.residency.condition import Condition, Harm
from tests.residency.conditions import CONDITIONS
from tests.residency.programs import STATIONARY, depth_of, loads, program, resident, stays, unmarked
from tilesat.bridge.residency import ResidencyPass, Standing
from tilesat.errors import InterpretError, VerifyError
from tilesat.ir.hardware import hardware
from tilesat.ir.interp import difference
from tilesat.ir.nodes import Program
from tilesat.ir_terms.relations import Role
from tilesat.ir_terms.relations.residency import RELATIONS
from tilesat.ir_terms.session import Clock, session
from tilesat.rules.rule import RuleSet

each = pytest.mark.parametrize("condition", CONDITIONS, ids=lambda c: f"{c.requirement}: {c.name}")
held = pytest.mark.parametrize(
    "condition", [c for c in CONDITIONS if c.hold], ids=lambda c: f"{c.requirement}: {c.name}"
)
harmful = pytest.mark.parametrize(
    "condition", [c for c in CONDITIONS if c.harm is not Harm.NONE], ids=lambda c: f"{c.requirement}: {c.name}"
)
PROMISES = {
    "hold-unsafe-source": "assume_noalias",
    "hold-without-mark": "hoist_manual_loads",
    "hold-uncertain-trips": "assume_nonzero_trips",
}


def _with(rules: RuleSet, name: str, old: str, new: str) -> RuleSet:
    rule = rules[name]
    assert rule.text.count(old) == 1, name
    return rules.replace(type(rule)(rule.name, rule.family, rule.phase, rule.meaning, rule.text.replace(old, new)))


# Rules that make something movable miss a condition when a part of them is left out, not the whole.
WEAKENED: dict[str, Callable[[RuleSet], RuleSet]] = {
    "chain-exact": lambda rules: _with(rules, "chain-exact", "(staged-in w t) (use-count w 1)", "(staged-in w t)"),
    "chain-link": lambda rules: _with(rules, "chain-link", "(mat-load s v) (use-count v 1)", "(mat-load s v)"),
    "residency-candidate": lambda rules: _with(
        rules, "residency-candidate", "(loop-at l r o)", "(ancestor r b d) (loop-at l b o)"
    ),
}


# A load in a branch is no candidate for the loops around it, besides being held.
UNCONDITIONAL = "(site-region s r) (loop-at l r o)"


def unheld(condition: Condition) -> RuleSet:
    """The optimal rules without the one that holds loads under ``condition``."""
    assert condition.hold is not None
    rules = tilesat.preset("optimal").without(condition.hold)
    if condition.hold == "hold-conditional":
        rules = _with(rules, "stand-outside", UNCONDITIONAL, "(site-region s r) (ancestor r b d) (loop-at l b o)")
    return rules


def mutant(condition: Condition, preset: str = "reference") -> RuleSet:
    """The preset without the rules that look at ``condition``."""
    rules = tilesat.preset(preset)
    for name in condition.rules:
        rules = WEAKENED[name](rules) if name in WEAKENED else rules.without(name)
    return rules


# ------------------------------------------------------------------------- the reference


@each
def test_without_the_condition_it_leaves(condition: Condition) -> None:
    """The pair's positive side: everything else about the program is as it has to be."""
    assert depth_of(resident(condition.text).program, condition.subject) == 0


@each
def test_the_condition_keeps_it(condition: Condition) -> None:
    """A load that stays leaves the text as it is, apart from the mark (INF-P4-03)."""
    result = resident(condition.text, *condition.edits)
    assert depth_of(result.program, condition.subject) == 1
    if condition.subject == "wm":
        assert str(result.program) == unmarked(program(condition.text, *condition.edits))


@each
def test_the_explanation_names_it(condition: Condition) -> None:
    decisions = stays(resident(condition.text, *condition.edits), condition.subject)
    found = [decision for decision in decisions if condition.reason in decision.text]
    assert len(found) == 1, [decision.text for decision in decisions]
    assert set(condition.rules) & set(found[0].rules)


@each
def test_without_its_rule_the_condition_is_missed(condition: Condition) -> None:
    """Every condition has a mutant that the pair catches; nothing else keeps the load."""
    if condition.harm is Harm.INVALID:
        with pytest.raises(VerifyError):
            resident(condition.text, *condition.edits, rules=mutant(condition))
        return
    result = resident(condition.text, *condition.edits, rules=mutant(condition), check=False)
    assert depth_of(result.program, condition.subject) == 0


@harmful
def test_missing_the_condition_does_harm(condition: Condition) -> None:
    """Most conditions are there because something goes wrong otherwise; each such program shows it."""
    before = program(condition.text, *condition.edits)
    sound = resident(condition.text, *condition.edits).program
    assert not differs(before, sound, condition.harm)
    if condition.harm is Harm.INVALID:
        return
    assert differs(before, resident(condition.text, *condition.edits, rules=mutant(condition)).program, condition.harm)


def differs(before: Program, after: Program, harm: Harm) -> bool:
    """Whether the programs show something else where ``harm`` says."""
    if harm in (Harm.VALUES, Harm.INVALID, Harm.NONE):
        return tilesat.validate(before, after).difference is not None
    function = "main" if harm is Harm.ARGUMENTS else "kernel"
    rng = np.random.default_rng(0)
    big = rng.integers(-8, 8, size=(16, 80)).astype(np.float32) / 4
    given = {"w": big[:, :32], "o": big[:, 16:80], "s": rng.integers(-8, 8, size=(32, 64)).astype(np.float32) / 4}
    first = tilesat.interpret(before, function, given)
    try:
        second = tilesat.interpret(after, function, given)
    except InterpretError:
        return True
    return difference(first, second) is not None


# ---------------------------------------------------------------------- the optimal rules


def deepest(result: tilesat.PassResult) -> int:
    """The number of loops around the load of the stationary operand that is furthest inside."""
    return max(loads(result.program) or loads(result.program, "x"))


@held
def test_the_optimal_rules_hold_it_too(condition: Condition) -> None:
    assert deepest(resident(condition.text, rules="optimal")) == 0
    result = resident(condition.text, *condition.edits, rules="optimal")
    assert deepest(result) == 1
    found = [d for d in stays(result, condition.subject) if condition.hold in d.rules]
    assert found
    assert all(d.text.startswith(f"{condition.subject} cannot leave the loop `for ") for d in found)


@held
def test_without_its_rule_the_optimal_rules_let_it_go(condition: Condition) -> None:
    before = program(condition.text, *condition.edits)
    assert condition.subject not in standing(before, tilesat.preset("optimal"))
    rules = unheld(condition)
    assert condition.subject in standing(before, rules)
    if condition.harm is Harm.INVALID:
        with pytest.raises((VerifyError, KeyError)):
            resident(condition.text, *condition.edits, rules=rules)
        return
    result = resident(condition.text, *condition.edits, rules=rules, check=False)
    assert deepest(result) == (1 if condition.masked else 0)
    assert differs(before, result.program, condition.harm) == (condition.harm is not Harm.NONE and not condition.masked)


def standing(before: Program, rules: RuleSet) -> Standing:
    """The loads of the kernel that may leave their loops under ``rules``."""
    stages = (session(rules.stage_program(stage), what="test") for stage in ("evidence", "residency"))
    with next(stages) as callers, next(stages) as graph:
        found = ResidencyPass(callers, graph, hardware("910b"), Clock(), levels=True)
        found.run(before)
    return found.standing["kernel"]


@held
def test_a_promise_lifts_what_it_is_about_and_nothing_else(condition: Condition) -> None:
    """``assume_noalias``, ``hoist_manual_loads`` and ``assume_nonzero_trips``."""
    own = PROMISES.get(condition.hold or "")
    others = [promise for promise in PROMISES.values() if promise != own]
    assert deepest(resident(condition.text, *condition.edits, rules="optimal", options=others)) == 1
    if own is not None:
        assert deepest(resident(condition.text, *condition.edits, rules="optimal", options=[own])) == 0


# --------------------------------------------------------------------------- completeness


def test_every_rule_that_keeps_a_load_has_a_pair() -> None:
    rules = [rule.name for rule in (*tilesat.preset("reference"), *tilesat.preset("optimal"))]
    keeping = {name for name in rules if name.startswith(("stay-", "panel-", "capacity-", "evidence-", "hold-"))}
    covered = {name for c in CONDITIONS for name in (*c.rules, c.hold)}
    # These say no condition of their own, they pass one on; the last two are about hardware (see below).
    passing_on = {"stay-behind", "panel-views", "stay-unsafe-source", "stay-extra-use", "stay-capacity"}
    assert keeping - covered - passing_on == {"capacity-open", "hold-no-hardware"}


@pytest.mark.parametrize("rules", ["reference", "optimal"])
def test_without_hardware_nothing_leaves(rules: str) -> None:
    """INF-P4-13: nobody knows what fits."""
    result = resident(STATIONARY, hardware=None, rules=rules)
    assert deepest(result) == 1
    assert any("no hardware is given" in decision.text for decision in stays(result))


def test_every_fact_is_documented() -> None:
    for relation in RELATIONS:
        assert len(relation.meaning) > 10, relation.name
        assert relation.role in Role
