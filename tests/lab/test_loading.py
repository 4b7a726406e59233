"""Rule files of users: what they may do, and how their mistakes are told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

import tilesat
from tilesat.cli import main
from tilesat.ir_terms import bounded
from tilesat.lab.generate import GeneratorConfig, random_program
from tilesat.lab.targets import TARGETS
from tilesat.rules.loading import load_rules, unvouched

SMALL = GeneratorConfig(max_statements=4, length=4)
FILE = '''from tilesat import Rule


def extend(rules):
    return rules + Rule(
        "mine", "my-family", "{phase}", "what it means",
        """
        {text}
        """,
    )
'''


def rule_file(folder: Path, text: str, phase: str = "placement") -> str:
    path = folder / "my_rules.py"
    path.write_text(FILE.format(text=text, phase=phase), encoding="utf-8")
    return str(path)


def test_a_file_extends_the_optimal_rules(tmp_path: Path) -> None:
    path = rule_file(tmp_path, "(rule ((load-at s v g n)) ((owns v 1)))")
    rules = load_rules([path]).rules
    assert "mine" in rules
    assert "merge-loads" in rules
    assert unvouched(rules) == {"mine"}
    assert unvouched(tilesat.preset("optimal")) == frozenset()


def test_presets_files_and_what_to_leave_out_combine(tmp_path: Path) -> None:
    path = str(tmp_path / "less.py")
    Path(path).write_text("def extend(rules):\n    return rules.without('stay-ordered')\n", encoding="utf-8")
    rules = load_rules(["reference", path], without=["hoist-chain"]).rules
    assert not {"stay-ordered", "hoist-chain", "merge-loads"} & {rule.name for rule in rules}
    assert rules == tilesat.preset(f"reference,{path},-hoist-chain")
    assert len(load_rules(["optimal,-hoist"]).rules) < len(tilesat.preset("optimal"))
    assert "retarget-loads" in load_rules(["optimal,+retarget_loads"]).rules


def test_a_file_brings_a_cost_model(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text("def cost_model(transfer):\n    return 7.0\n", encoding="utf-8")
    assert load_rules([str(path)]).cost.transfer(None) == 7.0


MISTAKES = [
    ("(rule ((lod-at s v g n)) ((owns v 1)))", 8, "unknown term or relation 'lod-at'", "did you mean load-at"),
    ("(rule ((load-at s v g n))\n ((owns w 1)))", 9, "variable 'w' is not bound by any fact", "bind it in a fact"),
    ("(rule ((load-at s v g n)) ((owns s 1)))", 8, "'s' is used as String but is i64", "variable, space"),
    ("(rule ((load-at s v g)) ((owns v 1)))", 8, "'load-at' takes 4 arguments, here 3", "(load-at i64 String i64 i64)"),
    ("(rule ((load-at s v g n) (= q (+ s v))) ((owns v 1)))", 8, "no operator takes it", "i64"),
    ("(rule ((load-at s v g n)) ((set (owns v 1) 3)))", 8, "'owns' has no value to set", "write (owns ...)"),
    ("(rule ((candidate s q)) ((owns s 1)))", 8, "not known in the phase 'placement'", "the stage 'residency'"),
    ("(rule ((load-at s v g n)) ((owns v $Far)))", 8, "unknown space '$Far'", "$Vec"),
    ("(rule ((load-at s v g n)) ((owns v 1))", 8, "1 unclosed '('", "close every parenthesis"),
    ("(rule ((load-at s v g n)) ((decide (owns v 1))))", 8, "decides 'owns', which is no decision", "one of space"),
]


@pytest.mark.parametrize(("text", "line", "what", "cure"), MISTAKES)
def test_a_mistake_is_told_with_rule_line_and_cure(tmp_path: Path, text: str, line: int, what: str, cure: str) -> None:
    path = rule_file(tmp_path, text)
    with pytest.raises(tilesat.RuleError) as caught:
        load_rules([path])
    told = str(caught.value)
    assert "'mine'" in told
    assert f"my_rules.py:{line}:" in told
    assert what in told
    assert cure in told


def test_a_name_that_is_taken_is_told_with_the_line(tmp_path: Path) -> None:
    path = Path(rule_file(tmp_path, "(rule ((load-at s v g n)) ((owns v 1)))"))
    path.write_text(path.read_text(encoding="utf-8").replace('"mine"', '"merge-loads"'), encoding="utf-8")
    with pytest.raises(tilesat.RuleError, match=r"my_rules.py:5: rule 'merge-loads' is already in .*replace\(\)"):
        load_rules([str(path)])


def test_rounds_that_take_ever_longer_are_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every round has five times the matches of the last, long before there are many rows; the cause is named.

    Without its guard the rule makes a view equal to what it is a view of. It fires early; then others find more and
    more windows of windows.
    """
    monkeypatch.setattr(bounded, "MOST_SECONDS", 0.0)
    optimal = tilesat.preset("optimal")
    view_back = optimal["view-back"]
    endless = replace(view_back, text=view_back.text.replace("(equal-type h x)", "(view-at site h x)"))
    program = TARGETS["views"].program(0)
    usual = tilesat.infer_tile_memory_space(program, rules="optimal", hardware="910b")
    watched = optimal.replace(replace(view_back, text=view_back.text + " "))
    assert tilesat.infer_tile_memory_space(program, rules=watched, hardware="910b").program == usual.program
    with pytest.raises(tilesat.RuleError, match=r"rule 'view-back' makes the graph grow without end: .* and took"):
        tilesat.infer_tile_memory_space(program, rules=optimal.replace(endless), hardware="910b")


def test_a_rule_that_feeds_itself_is_stopped(tmp_path: Path) -> None:
    """It would fill the memory and egglog cannot be interrupted."""
    rules = load_rules([rule_file(tmp_path, "(rule ((At c s l r)) ((At c s (+ l 1) r)))")]).rules
    with pytest.raises(tilesat.RuleError) as caught:
        tilesat.infer_tile_memory_space(random_program(1, SMALL), rules=rules, hardware="910b")
    assert "my_rules.py:8: rule 'mine' makes the graph grow without end" in str(caught.value)
    assert "a fact that bounds it" in str(caught.value)


FILES = [
    ("x = 1\n", "the file defines no 'extend'"),
    ("def extend(rules):\n    return 3\n", r"bad.py:1: extend\(rules\) returned int"),
    ("def extend(rules):\n    return rules.only(1 / 0)\n", r"bad.py:2: extend\(rules\) raised ZeroDivisionError"),
    ("def extend(rules:\n", r"bad.py:1: the file is no Python"),
    ("def extend(rules):\n    return rules.without('hoisting')\n", r"bad.py:2: 'optimal' has no rule 'hoisting'"),
]


@pytest.mark.parametrize(("text", "what"), FILES)
def test_a_file_that_is_no_rule_file_is_told(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "bad.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(tilesat.RuleError, match=what):
        load_rules([str(path)])


def test_two_presets_are_refused() -> None:
    with pytest.raises(tilesat.RuleError, match="two presets: 'optimal' and 'reference'"):
        load_rules(["optimal,reference"])


def test_the_command_line_takes_files_and_what_to_leave_out(tmp_path: Path) -> None:
    program = tmp_path / "p.py"
    program.write_text(str(random_program(3, SMALL)), encoding="utf-8")
    path = rule_file(tmp_path, "(rule ((load-at s v g n)) ((owns v 9)))")
    result = CliRunner().invoke(main, ["opt", str(program), "--rules", "optimal", "--rules", path, "--without", "mine"])
    assert result.exit_code == 0, result.output
    typo = rule_file(tmp_path, "(rule ((lod-at s v g n)) ((owns v 1)))")
    result = CliRunner().invoke(main, ["opt", str(program), "--rules", typo])
    assert result.exit_code == 2
    assert "unknown term or relation 'lod-at'" in result.output
