"""The experiments in ``examples/`` run and show what they say."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

EXPERIMENTS = Path(__file__).parents[2] / "examples" / "experiments"


def run(name: str, capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    """What the experiment prints."""
    runpy.run_path(str(EXPERIMENTS / f"{name}.py"))["main"](*arguments)
    return capsys.readouterr().out


def test_a_new_algebraic_rule_is_sound_and_saves_a_move(capsys: pytest.CaptureFixture[str]) -> None:
    told = run("new_rule", capsys, 20)
    assert "sound: True" in told
    before, after = (float(word) for word in told.split() if word.isdigit() and len(word) >= 4)
    assert after < before


def test_a_replaced_rule_gives_up_something(capsys: pytest.CaptureFixture[str]) -> None:
    costs = [float(line.split("cost")[1].split(",")[0]) for line in run("replaced_rule", capsys).splitlines()]
    reference, optimal, near, without = costs
    assert optimal < near < without == reference


def test_an_ablation_names_the_rules_that_count(capsys: pytest.CaptureFixture[str]) -> None:
    told = run("ablation", capsys)
    assert "without merge-loads" in told
    assert "(rule" not in told, "rules that load terms are none of ours"


def test_another_machine_wants_another_placement(capsys: pytest.CaptureFixture[str]) -> None:
    traffic, other = run("other_machine", capsys).splitlines()
    assert traffic.split("moves")[1] != other.split("moves")[1]


def test_an_unsound_rule_gets_its_counterexample(capsys: pytest.CaptureFixture[str]) -> None:
    told = run("unsound", capsys)
    assert "wrong value: 'stale-copies'" in told
    assert "decided by the rule:" in told


def test_a_sweep_writes_a_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    told = run("sweep", capsys, "2", str(tmp_path / "sweep.csv"))
    assert "12 runs in" in told
    assert len((tmp_path / "sweep.csv").read_text(encoding="utf-8").splitlines()) == 13
