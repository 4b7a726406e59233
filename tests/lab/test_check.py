"""The check finds what is unsound, passes what is sound, and says how much that is worth."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.lab.mutants import MUTANTS
from tilesat import Rule, RuleSet, TilesatError, preset
from tilesat.cli import main
from tilesat.lab import assert_sound, check
from tilesat.lab.changes import base_of, changes, undone
from tilesat.lab.counterexample import count_statements
from tilesat.lab.statement import refute
from tilesat.lab.target import kind_of
from tilesat.lab.target_table import TARGET_OF
from tilesat.lab.targets import TARGETS, is_targeted
from tilesat.rules.catalogue import options
from tilesat.rules.statements import STATEMENTS

EXPERIMENTS = Path(__file__).parents[2] / "examples" / "experiments"
UNSOUND, SOUND = str(EXPERIMENTS / "unsound_rule.py"), str(EXPERIMENTS / "whole_slices.py")
# Caught at once, and by different means.
QUICK = ("need-stops", "rehome-written", "slice-of-slice: only the outer row")


def test_an_unsound_rule_is_caught_and_told() -> None:
    report = check(UNSOUND, examples=40, targets=["writes"], shrink_seconds=15)
    found = report.counterexample
    assert not report.ok
    assert found is not None
    assert found.rules == ("stale-copies",)
    assert found.statements == count_statements(found.before)
    told = str(found)
    for part in ("before (", "after (", "inputs:", "what is wrong: function 'kernel0'", "decided by the rule:"):
        assert part in told
    assert found.fault.difference is not None
    assert found.fault.difference.index is not None, "the first differing element"


def test_a_sound_rule_passes_with_its_share() -> None:
    report = assert_sound(SOUND, examples=15, targets=["views"], least_share=0.1)
    (rule,) = report.rules
    assert (rule.name, rule.change, rule.examples, rule.statement) == ("whole-slices", "added", 15, "holds")
    assert rule.fired >= 2
    assert report.warnings == ()


def test_a_rule_that_leaves_a_function_without_a_placement_is_a_fault() -> None:
    """The pass keeps the function as it was and says so; nothing of what the rule does could be judged."""
    optimal = preset("optimal")
    move = optimal["move"]
    anywhere = replace(move, text=move.text.replace("(move-edge s t)", "(stop t)"))
    found = check(optimal.replace(anywhere), examples=20, targets=["any"], shrink_seconds=15).counterexample
    assert found is not None
    assert found.fault.kind == "no result"
    assert "stays as it is" in found.fault.message
    assert found.rules == ("move",)


def test_a_rule_that_never_fires_is_warned_of() -> None:
    rule = Rule("idle", "mine", "placement", "nothing", "(rule ((load-at s v g 123456)) ((owns v 9)))")
    rules = preset("optimal") + rule
    report = check(rules, examples=4, targets=["loads"])
    assert report.ok
    assert report.warnings == ("rule 'idle' never fired in 4 programs",)
    with pytest.raises(AssertionError, match=r"rule 'idle' fired in 0\.0% of 4 programs only"):
        assert_sound(rules, examples=4, targets=["views"], least_share=0.1)


def test_a_false_statement_refutes_its_rule() -> None:
    rule = Rule("wrong", "mine", "contents", "x", "(rule ((Of v e)) ())", sound=lambda random: random.random() < 0.9)
    report = check(preset("optimal") + rule, examples=100, targets=["loads"])
    assert not report.ok
    assert "rule 'wrong': its statement of soundness is false (random.Random(" in str(report.refutation)


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_statements_of_shipped_rules_hold(name: str) -> None:
    rule = preset("optimal")[name]
    assert rule.sound is STATEMENTS[name]
    assert refute(rule, tries=200) is None


def test_equal_arguments_give_equal_reports() -> None:
    first, second = (check("optimal", examples=3, seed=5, targets=["slots"]).as_dict() for _ in range(2))
    assert {**first, "seconds": 0} == {**second, "seconds": 0}


@pytest.mark.parametrize("mutant", [m for m in MUTANTS if m.rule in QUICK or m.name in QUICK], ids=lambda m: m.name)
def test_mutants_are_caught(mutant: object) -> None:
    report = check(mutant.rules(), examples=200, targets=[mutant.target], shrink_seconds=10)  # type: ignore[attr-defined]
    assert report.counterexample is not None
    assert mutant.rule in report.counterexample.rules  # type: ignore[attr-defined]


@pytest.mark.parametrize("target", sorted(TARGETS))
def test_shipped_rules_pass_on_a_few_programs_of_every_target(target: str) -> None:
    report = check("optimal", examples=4, seed=77, targets=[target])
    assert report.ok, report.counterexample


def test_every_mutant_is_a_rule_set_that_differs() -> None:
    assert len(MUTANTS) >= 40
    assert len({mutant.key for mutant in MUTANTS}) == len(MUTANTS)
    for mutant in MUTANTS:
        (change,) = changes(mutant.rules(), preset("optimal"))
        assert change.name == mutant.rule


def test_the_table_knows_every_rule() -> None:
    shipped = (*preset("reference"), *preset("optimal"), *options())
    assert set(TARGET_OF.values()) <= set(TARGETS)
    assert set(TARGET_OF) == {rule.name for rule in shipped if is_targeted(rule)}
    for rule in shipped:
        assert TARGETS[TARGET_OF[rule.name]].kind == kind_of(rule)


def test_changes_can_be_undone() -> None:
    base = preset("optimal")
    new = Rule("new", "mine", "placement", "x", "(rule ((load-at s v g n)) ((owns v 9)))")
    changed: RuleSet = (base + new).without("move").replace(replace(base["take-own"], text="(rule ((Of v e)) ())"))
    found = {change.name: change for change in changes(changed, base_of(changed))}
    assert {name: change.kind for name, change in found.items()} == {
        "new": "added",
        "move": "removed",
        "take-own": "replaced",
    }
    for change in found.values():
        changed = undone(changed, change)
    assert changes(changed, base) == ()


def test_unknown_names_are_refused() -> None:
    with pytest.raises(TilesatError, match="unknown target 'loops'"):
        check("optimal", targets=["loops"])
    with pytest.raises(TilesatError, match="nothing to check is called 'hoisting'"):
        check("optimal", only=["hoisting"])
    with pytest.raises(TilesatError, match="examples is 0"):
        check("optimal", examples=0)


def test_the_command_reports_and_ends_with_a_status() -> None:
    ok = CliRunner().invoke(main, ["lab", "check", SOUND, "--examples", "5", "--target", "views", "--json"])
    assert ok.exit_code == 0, ok.output
    assert json.loads(ok.stdout)["rules"][0]["rule"] == "whole-slices"
    bad = CliRunner().invoke(main, ["lab", "check", UNSOUND, "--examples", "40", "--target", "writes"])
    assert bad.exit_code == 1
    assert "NOT SOUND: wrong value: 'stale-copies'" in bad.output
    listed = CliRunner().invoke(main, ["lab", "check", "optimal", "--targets"])
    assert all(name in listed.output for name in TARGETS)
