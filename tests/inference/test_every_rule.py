"""No rule is idle: without any one of them some program comes out differently (issue: the e-graph does the work)."""

from __future__ import annotations

from functools import cache

import pytest

import tilesat
from tests.inference.texts import body_of, kernel
from tests.inference.wishes import ASKS_FOR_MAT, NAMES_NO_SPACE, reference_with
from tests.inference.witnesses import NEEDS, PROGRAMS
from tilesat.rules.catalogue import preset
from tilesat.rules.rule import STAGES, RuleSet

INFERENCE = [rule for rule in preset("reference") if rule.phase in STAGES["inference"]]
RULES = reference_with(ASKS_FOR_MAT, NAMES_NO_SPACE)
# The op that names no space is one that the table lacks, for which this rule would answer as well.
COVERED_BY = {"unresolved-vec": "unknown-op"}
# A demand for Vec changes no space, because Vec is where an open producer goes anyway: it is a reason given.
GIVES_A_REASON = {"demand-vec-last"}


def outcome(name: str, rules: RuleSet) -> str:
    """What program ``name`` becomes: its body, or the error."""
    try:
        result = tilesat.infer_tile_memory_space(kernel(PROGRAMS[name]), rules=rules, hardware="910b", check=False)
    except tilesat.TilesatError as error:
        return f"{type(error).__name__}: {error}"
    return body_of(result)


@cache
def whole(name: str, without: str | None = None) -> str:
    """The outcome with all rules, or all but ``without``."""
    return outcome(name, RULES if without is None else RULES.without(without))


def test_every_rule_of_the_inference_has_a_witness() -> None:
    assert NEEDS.keys() == {rule.name for rule in INFERENCE}
    assert set(NEEDS.values()) == set(PROGRAMS.keys())


@pytest.mark.parametrize("name", PROGRAMS)
def test_witnesses_are_inferred(name: str) -> None:
    """With all rules each program comes out, verified; a witness is no program that fails anyway."""
    tilesat.infer_tile_memory_space(kernel(PROGRAMS[name]), rules=RULES, hardware="910b")


@pytest.mark.parametrize("rule", [rule.name for rule in INFERENCE if rule.name not in GIVES_A_REASON])
def test_without_a_rule_the_result_changes(rule: str) -> None:
    apart = COVERED_BY.get(rule)
    rules = RULES.without(rule) if apart is None else RULES.without(rule, apart)
    assert outcome(NEEDS[rule], rules) != whole(NEEDS[rule], apart)


@pytest.mark.parametrize("rule", sorted(GIVES_A_REASON))
def test_without_a_rule_a_reason_is_missing(rule: str) -> None:
    program = kernel(PROGRAMS[NEEDS[rule]])
    reasons = [
        [decision.rules for decision in tilesat.infer_tile_memory_space(program, rules=rules).decisions]
        for rules in (RULES, RULES.without(rule))
    ]
    assert reasons[0] != reasons[1]


def test_without_the_rules_nothing_is_decided() -> None:
    """Python seeds what can be read off the syntax; spaces come out of rules."""
    program = kernel(PROGRAMS["product"])
    with pytest.raises(tilesat.TilesatError, match="space"):
        tilesat.infer_tile_memory_space(program, rules=preset("reference").without("resolve"))


def test_the_rules_name_every_row_that_they_decide() -> None:
    """Rows that name rules, moves and layouts; the others are about the pass and what it writes."""
    named = {row for rule in INFERENCE for row in rule.requirements}
    assert named >= {f"INF-P0-0{n}" for n in (1, 2, 3)} | {f"INF-P1-{n:02}" for n in range(1, 13)}
    assert named >= {"INF-P2-01", "INF-P2-02", "INF-P3-02", "INF-P3-03", "INF-P3-04"}
