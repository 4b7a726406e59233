"""Random whole programs mean the same after the pass, whatever the rules offer and whatever is chosen (ORC-1-03)."""

from __future__ import annotations

import os
from collections import Counter

import pytest
from hypothesis import given, settings

import tilesat
from tilesat.bridge.decisions import Decision
from tilesat.bridge.orch import ORCH_PROPERTIES, OVERWRITTEN_INPUT, run_patterns
from tilesat.bridge.orch_stage import OrchContext, Search
from tilesat.diagnostics import errors
from tilesat.extract.orch_choice import RandomChoice
from tilesat.extract.orch_cost import orch_cost_model
from tilesat.ir.interp import compare
from tilesat.ir.nodes import Program
from tilesat.ir.verify import verify
from tilesat.lab.choices import RandomChoices
from tilesat.lab.orch_programs import orchestration_program
from tilesat.lab.orch_strides import passed_strides
from tilesat.lab.strategies import orchestrations
from tilesat.rules.catalogue import preset

NIGHTLY = os.environ.get("TILESAT_PROFILE") == "nightly"
RANDOM_EXTRACTIONS = 20 if NIGHTLY else 3
SEEDS = range(500 if NIGHTLY else 6)
RICH = (10, 27, 31, 42, 106, 122)
"""Seeds of programs in which something is merged, strided, stored block by block, windowed."""


def same(before: Program, after: Program, *, gives_up: bool) -> None:
    """Assert that ``after`` is valid, shows what ``before`` shows, and states the strides that it gives."""
    assert errors(verify(after, properties=ORCH_PROPERTIES)) == ()
    assert passed_strides(after, "main").wrong() == []
    difference = compare(before, after, "main", observe_inputs=not gives_up)
    assert difference is None, f"{difference}\n{before}\n{after}"


def check_preset(before: Program, rules: str) -> tuple[Decision, ...]:
    result = tilesat.optimize_orch_tensors(before, rules=rules)
    same(before, result.program, gives_up=any(d.check == OVERWRITTEN_INPUT for d in result.diagnostics))
    if rules == "reference":
        again = tilesat.optimize_orch_tensors(result.program, rules=rules)
        assert [d for d in again.decisions if d.kind in ("window", "stream")] == []
    elif result.cost is not None and result.reference_cost is not None:
        assert result.cost <= result.reference_cost
    return result.decisions


def check_random(before: Program, seed: int) -> list[Decision]:
    """A choice among all that the optimal rules offer, whatever it costs."""
    search = Search(orch_cost_model("traffic", None), RandomChoice(seed))
    context = OrchContext(preset("optimal"), search)
    after = run_patterns(before, context, None)
    same(before, after, gives_up=any(d.check == OVERWRITTEN_INPUT for d in context.diagnostics))
    return context.decisions


@settings(max_examples=settings.default.max_examples if NIGHTLY else 6)
@given(orchestrations())
def test_found_by_hypothesis(before: Program) -> None:
    """Shrinks to a few statements when something is wrong."""
    check_preset(before, "reference")
    check_preset(before, "optimal")
    check_random(before, 1)


@pytest.mark.parametrize("seed", sorted({*SEEDS, *RICH}))
def test_random_programs(seed: int) -> None:
    """Reference, optimal, and random extractions from the same offers."""
    before = orchestration_program(RandomChoices(seed))
    check_preset(before, "reference")
    check_preset(before, "optimal")
    for number in range(RANDOM_EXTRACTIONS):
        check_random(before, 100 * seed + number)


def test_programs_are_worth_testing() -> None:
    """Every pattern finds something to do in them, and every kind of reason to leave things alone comes up."""
    found: Counter[str] = Counter()
    for seed in RICH:
        before = orchestration_program(RandomChoices(seed))
        found.update(d.kind for d in tilesat.optimize_orch_tensors(before).decisions)
        for number in range(3):
            search = Search(orch_cost_model("traffic", None), RandomChoice(100 * seed + number))
            context = OrchContext(preset("optimal"), search)
            run_patterns(before, context, None)
            found.update(f"random {d.kind}" for d in context.decisions)
    assert {"merge", "strides", "stream", "window", "stays", "random merge", "random strides", "random window"} <= {
        *found
    }


def test_the_same_result_every_time() -> None:
    for seed in RICH[:3]:
        before = orchestration_program(RandomChoices(seed))
        for rules in ("reference", "optimal"):
            first, second = (tilesat.optimize_orch_tensors(before, rules=rules) for _ in range(2))
            assert str(first.program) == str(second.program)
            assert first.decisions == second.decisions
