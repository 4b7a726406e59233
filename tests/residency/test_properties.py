"""Generated programs: residency on and off show the same on storages that really overlap, and what leaves fits."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

import tilesat
from tests.residency.generate import HAZARDS, generate
from tests.residency.judging import SMALL, first_difference, overfull
from tests.residency.programs import program, unmarked
from tilesat.ir.nodes import Program
from tilesat.lab.choices import RandomChoices
from tilesat.lab.strategies import HypothesisChoices
from tilesat.rules.rule import RuleSet

SEEDS = range(2000 if os.environ.get("TILESAT_PROFILE") == "nightly" else 12)
# Hazards without which all arguments of a launch are storages of their own, so that ``assume_noalias`` is true.
ALIASING = ("overlap", "external", "written In", "other launch", "unknown")


@st.composite
def texts(draw: DrawFn) -> str:
    return generate(HypothesisChoices(draw))


def infer(before: Program, **options: object) -> tilesat.PassResult:
    given = {"hardware": SMALL, **options}
    return tilesat.infer_tile_memory_space(before, **given)  # type: ignore[arg-type]


@settings(max_examples=10 if SEEDS.stop < 100 else 500)
@given(texts())
def test_the_reference_changes_nothing_that_shows(text: str) -> None:
    """Root callers, aliases, submits, wrappers, writes in and after loops, in every mixture that shrinks."""
    before = program(text)
    result = infer(before, hardware="910b")
    assert first_difference(before, result.program) is None


@pytest.mark.parametrize("seed", SEEDS)
def test_the_optimal_rules_change_nothing_that_shows_and_fit(seed: int) -> None:
    before = program(generate(RandomChoices(seed)))
    options = ("hoist_manual_loads",) if seed % 2 else ("hoist_manual_loads", "assume_nonzero_trips")
    result = infer(before, rules="optimal", options=options, exact=seed % 4 == 0)
    # With the promise that loops run, they do.
    rows = (16, 32) if "assume_nonzero_trips" in options else (0, 16, 32)
    assert first_difference(before, result.program, rows=rows) is None
    assert overfull(infer(before).program, result.program, SMALL) == {}
    assert result.cost is not None
    assert result.reference_cost is not None
    assert result.lower_bound is not None
    assert result.lower_bound <= result.cost <= result.reference_cost


@pytest.mark.parametrize("seed", SEEDS[: len(SEEDS) // 2])
def test_the_promise_of_no_overlap_is_enough_where_it_is_kept(seed: int) -> None:
    hazards = tuple(hazard for hazard in HAZARDS if hazard not in ALIASING)
    before = program(generate(RandomChoices(seed), hazards=hazards))
    result = infer(before, rules="optimal", options=("assume_noalias", "hoist_manual_loads"))
    assert first_difference(before, result.program) is None
    assert overfull(infer(before).program, result.program, SMALL) == {}


@pytest.mark.parametrize("seed", SEEDS[: len(SEEDS) // 2])
def test_without_the_residency_rules_nothing_leaves(seed: int) -> None:
    before = program(generate(RandomChoices(seed)))
    off = tilesat.preset("reference").without("hoist-load", "hoist-chain")
    assert str(infer(before, rules=off).program) == unmarked(infer(before, rules=off, hardware=None).program)


def test_the_programs_have_loads_that_leave_and_loads_that_stay() -> None:
    """The generator is of use: loads move in most programs, and every kind of reason keeps some."""
    resident, reasons = 0, set()
    for seed in range(24):
        decisions = infer(program(generate(RandomChoices(seed))), hardware="910b").decisions
        resident += any(decision.kind == "resident" for decision in decisions)
        reasons |= {rule for decision in decisions if decision.kind == "stays" for rule in decision.rules}
    assert resident >= 12
    assert len(reasons) >= 14, sorted(reasons)


# Rules whose absence the generated programs show to do harm; the hand-written pairs show it for each condition.
HARMFUL: dict[str, tuple[str, ...]] = {
    "overlap": ("evidence-overlap",),
    "external": ("evidence-source-external", "evidence-overlap"),
    "InOut source": ("stay-other-source",),
    "written In": ("stay-written-source", "evidence-overlap"),
}


@pytest.mark.parametrize(("hazard", "names"), HARMFUL.items(), ids=HARMFUL)
def test_generated_programs_catch_what_does_harm(hazard: str, names: tuple[str, ...]) -> None:
    """A mutant without the rules that a hazard needs changes what some program with this hazard shows."""
    rules = tilesat.preset("reference").without(*names)
    assert any(_is_harmed(seed, hazard, rules) for seed in range(60))


def _is_harmed(seed: int, hazard: str, rules: RuleSet) -> bool:
    before = program(generate(RandomChoices(seed), hazards=(hazard,)))
    after = infer(before, rules=rules, hardware="910b", check=False).program
    return first_difference(before, after, rows=(32,)) is not None
