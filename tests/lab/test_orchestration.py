"""Rules of orchestration in the rule lab: whole programs, how they are judged, what is caught."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from hypothesis import given, settings

from tests.lab.mutants import Mutant
from tests.lab.orch_mutants import ORCH_MUTANTS
from tests.orch.test_strides import READ, READS, reader
from tests.orch.texts import function, main, program
from tilesat import Rule, TilesatError, preset, verify
from tilesat.bridge.orch import ORCH_PROPERTIES
from tilesat.bridge.validate import validate
from tilesat.diagnostics import errors
from tilesat.ir.nodes import Program
from tilesat.lab import assert_sound, check
from tilesat.lab.changes import changes
from tilesat.lab.checking import LEAST_SHARE
from tilesat.lab.orch_judge import WRONG_STRIDES, OrchJudge
from tilesat.lab.orch_programs import OrchConfig, random_orchestration
from tilesat.lab.orch_scenes import ORCH_SCENES
from tilesat.lab.orch_targets import ORCH_TARGETS
from tilesat.lab.orch_variants import orch_variants
from tilesat.lab.strategies import orchestrations
from tilesat.lab.target import ORCHESTRATION, kind_of
from tilesat.lab.target_table import TARGET_OF
from tilesat.lab.targets import TARGETS
from tilesat.lab.variants import CHEAPEST, DOCUMENTED, Variant, Variants
from tilesat.rules.catalogue import allow, optimal, options, reference

NIGHTLY = os.environ.get("TILESAT_PROFILE") == "nightly"
QUICK = {"bar-output-read", "bar-conflicting-strides", "keep-uncovered-start"}


def is_fine(before: Program) -> None:
    """Programs are valid, stay inside their buffers, and leave their inputs alone."""
    assert errors(verify(before, properties=ORCH_PROPERTIES)) == ()
    assert validate(before, before).ok
    assert OrchJudge(before).can_judge


@pytest.mark.parametrize("scene", sorted(ORCH_SCENES))
def test_programs_of_every_scene_are_fine(scene: str) -> None:
    for seed in range(3):
        before = random_orchestration(seed, OrchConfig(scenes=(scene,), most_scenes=2, kernels=1, budget=3))
        is_fine(before)
        assert before == random_orchestration(seed, OrchConfig(scenes=(scene,), most_scenes=2, kernels=1, budget=3))


@settings(max_examples=5)
@given(orchestrations(scenes=("carried_result",), budget=2, kernels=1))
def test_programs_by_hypothesis_are_fine(before: Program) -> None:
    is_fine(before)


def test_unknown_scenes_are_refused() -> None:
    with pytest.raises(TilesatError, match="unknown scene 'merge'"):
        OrchConfig(scenes=("merge",))


def test_the_table_knows_every_rule_of_orchestration() -> None:
    shipped = (rule for rules in (reference(), optimal(), options()) for rule in rules)
    mine = {rule.name for rule in shipped if kind_of(rule) == ORCHESTRATION}
    names = {target.name for target in ORCH_TARGETS}
    assert {name for name, target in TARGET_OF.items() if target in names} == mine


@pytest.mark.skipif(not NIGHTLY, reason="takes minutes")
@pytest.mark.parametrize("target", [target.name for target in ORCH_TARGETS])
def test_rules_fire_in_programs_of_their_target(target: str) -> None:
    report = check("optimal", examples=150, seed=11, targets=[target])
    assert report.ok, report.counterexample
    assert [r.name for r in report.rules if TARGET_OF[r.name] == target and r.share < LEAST_SHARE] == []


def test_an_overlap_breaks_a_promise() -> None:
    """INF-P4-14: a counterexample to ``assume_noalias`` passes no tensor twice, however small it is made."""
    target = TARGETS["panels"].keeping(["assume_noalias"])
    once = program(reader(), main("run(a: S, o: pl.Out[S]) -> S", "r = self.rd(a, o)\nreturn r"))
    twice = program(reader(), main("run(o: pl.InOut[S]) -> S", "r = self.rd(o, o)\nreturn r"))
    assert (target.has(once), target.has(twice), TARGETS["panels"].has(twice)) == (True, False, True)


def test_results_are_the_documented_the_cheapest_and_random_ones() -> None:
    before = random_orchestration(4, OrchConfig(scenes=("carried_result",)))
    found = orch_variants(before, optimal(), None, samples=2, seed=1)
    assert [variant.name for variant in found.found] == [DOCUMENTED, CHEAPEST, "random 1", "random 2"]
    (alone,) = orch_variants(before, reference(), None, samples=2, seed=1).found
    assert alone.program == found.found[0].program


def test_stated_strides_that_launches_do_not_give_are_a_fault() -> None:
    before = program(reader(), main(READS, READ))
    after = program(reader("S48"), main(READS, READ))
    fault = OrchJudge(before).first_fault(Variants((Variant("x", after, list),), 0))
    assert fault is not None
    assert fault.kind == WRONG_STRIDES
    assert fault.message == "rd: x states (48, 1), gets [(32, 1)]"
    # What the program states wrongly itself is no fault of a result.
    assert OrchJudge(after).first_fault(Variants((Variant("x", after, list),), 0)) is None


def test_inputs_may_be_overwritten_where_the_result_says_so() -> None:
    body = "a = pl.load(x, [0, 0], [8, 16])\nb = pl.exp(a)\nr = pl.store(b, [0, 0], {0})\nreturn r"
    fill = function("fill(x: S, o: pl.Out[S]) -> S", body.format("o"))
    filled = function("fill(x: pl.InOut[S]) -> S", body.format("x"))
    before = program(fill, main("run(x: S) -> S", "buf = NEW\nr = self.fill(x, buf)\nreturn r"))
    after = program(filled, main("run(x: S) -> S", "r = self.fill(x)\nreturn r"))
    judge = OrchJudge(before)
    assert judge.first_fault(Variants((Variant("said", after, list, gives_up=True),), 0)) is None
    fault = judge.first_fault(Variants((Variant("silent", after, list),), 0))
    assert fault is not None
    assert "argument 'x'" in fault.message


@pytest.mark.parametrize("mutant", [m for m in ORCH_MUTANTS if m.rule in QUICK], ids=lambda m: m.name)
def test_mutants_are_caught(mutant: Mutant) -> None:
    found = check(mutant.rules(), examples=100, targets=[mutant.target], shrink_seconds=5).counterexample
    assert found is not None
    assert mutant.rule in found.rules
    assert found.after is not None
    assert found.decisions


def test_every_mutant_is_a_rule_set_that_differs() -> None:
    assert len({mutant.key for mutant in ORCH_MUTANTS}) == len(ORCH_MUTANTS)
    for mutant in ORCH_MUTANTS:
        (change,) = changes(mutant.rules(), optimal())
        assert change.name == mutant.rule


def test_a_rule_of_the_user() -> None:
    """Added, its target is found by trying; replaced by one that says the same, it passes."""
    mine = Rule("note-windows", "mine", "names", "windows are windows", "(rule ((window-alias y x)) ((windowed y)))")
    report = assert_sound(preset("optimal") + mine, examples=6, least_share=0.1)
    (rule,) = report.rules
    assert (rule.name, rule.change) == ("note-windows", "added")
    assert rule.target in {target.name for target in ORCH_TARGETS}
    old = preset("optimal")["bar-rank"]
    kept = replace(old, text=old.text + " ")
    report = assert_sound(preset("optimal").replace(kept), examples=4)
    assert [(r.name, r.change, r.target) for r in report.rules] == [("bar-rank", "replaced", TARGET_OF["bar-rank"])]


def test_targets_of_the_other_kind_are_refused() -> None:
    with pytest.raises(TilesatError, match="target 'loads' is for rules of kernels, and nothing to check is one"):
        check(preset("optimal").without("bar-rank"), targets=["loads"])


@pytest.mark.parametrize("family", sorted({rule.family for rule in options()}))
def test_options_are_checked_on_programs_that_keep_their_promise(family: str) -> None:
    """INF-P4-14: without an example that breaks the promise, nothing is wrong with the option."""
    report = assert_sound(allow(optimal(), (family,)), examples=8, seed=3)
    assert {rule.name for rule in report.rules} == {rule.name for rule in options().only(family)}
    assert sum(rule.fired for rule in report.rules) > 0
