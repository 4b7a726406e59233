"""Both passes together, and the command line for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import tilesat
from tests.corpus import DATA, kernel
from tests.orch.test_optimal import loop
from tests.orch.test_reuse import BUMP
from tests.orch.texts import main as orchestration
from tests.orch.texts import program
from tilesat.bridge.orch import OVERWRITTEN_INPUT, PATTERNS
from tilesat.cli import main

EXAMPLE = DATA / "orch_example" / "before.py"
STATES = DATA / "kernels" / "state_rounds" / "orch_before.py"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["opt", *map(str, arguments)])


# --------------------------------------------------------------------------------- library


@pytest.mark.parametrize(("name", "rules"), [("state_rounds", "reference"), ("tile_board", "optimal")])
def test_optimize_is_one_pass_after_the_other(name: str, rules: str) -> None:
    before = kernel(name, "orch_before")
    both = tilesat.optimize(before, rules=rules, hardware="910b")
    first = tilesat.optimize_orch_tensors(before, rules=rules, hardware="910b")
    second = tilesat.infer_tile_memory_space(first.program, rules=rules, hardware="910b")
    assert both.program == second.program
    assert both.decisions == first.decisions + second.decisions
    assert both.diagnostics == first.diagnostics + second.diagnostics
    assert {stage.partition(":")[0] for stage in both.timings} == {"orch", "infer"}


def test_decisions_say_which_pass_made_them() -> None:
    stages = [d.stage for d in tilesat.optimize(kernel("state_rounds", "orch_before"), hardware="910b").decisions]
    assert stages == sorted(stages, reverse=True)
    assert {"orchestration", "inference"} <= {*stages}


def test_progress_of_both() -> None:
    before = kernel("state_rounds", "orch_before")
    steps: list[int] = []
    tilesat.optimize(before, hardware="910b", progress=lambda done, name: steps.append(done))
    assert steps == sorted(steps)
    assert steps[: len(PATTERNS)] == list(range(len(PATTERNS)))
    assert steps[-1] >= len(PATTERNS)


def test_the_input_stays_as_it_is() -> None:
    before = kernel("state_rounds", "orch_before")
    text = str(before)
    tilesat.optimize(before, rules="optimal", hardware="910b")
    assert str(before) == text


def test_each_pass_gets_the_options_that_are_about_it() -> None:
    """``keep_inputs`` keeps the entry's input; ``retarget_loads`` is for the kernels."""
    before = program(BUMP, orchestration("run(x: S, d: S) -> S", f"{loop('x', 'f', 0)}\nreturn f"))
    options = ["retarget_loads", "keep_inputs"]
    free = tilesat.optimize(before, rules="optimal", hardware="910b")
    kept = tilesat.optimize(before, rules="optimal", hardware="910b", options=options)
    assert any(d.check == OVERWRITTEN_INPUT for d in free.diagnostics)
    assert not any(d.check == OVERWRITTEN_INPUT for d in kept.diagnostics)
    assert tilesat.validate(before, kept.program).ok
    with pytest.raises(tilesat.RuleError, match="'retarget_loads' is about placing tiles"):
        tilesat.optimize_orch_tensors(before, rules="optimal", options=options)
    with pytest.raises(tilesat.RuleError, match="'keep_inputs' is about sharing tensors"):
        tilesat.infer_tile_memory_space(before, rules="optimal", options=options)
    with pytest.raises(tilesat.RuleError, match="merges no buffers, so option 'keep_inputs' changes nothing"):
        tilesat.optimize(before, rules=tilesat.preset("optimal").without("reuse", "offers"), options=["keep_inputs"])


def test_a_model_of_its_own_for_orchestration() -> None:
    before = kernel("state_rounds", "orch_before")
    with pytest.raises(tilesat.CostModelError, match="unknown cost model 'latency'"):
        tilesat.optimize(before, rules="optimal", orch_cost="latency")


# ---------------------------------------------------------------------------- command line


def test_orch() -> None:
    """The program on stdout, notes and what was checked on stderr."""
    result = run(EXAMPLE, "--pass", "orch", "--check")
    assert result.exit_code == 0
    expected = tilesat.optimize_orch_tensors(tilesat.parse(EXAMPLE)).program
    assert result.stdout.startswith(str(expected))
    assert "the parameter 'buf' (In) is overwritten by the merge in 'compute'" in " ".join(result.stderr.split())
    assert "check: equal on random inputs: main" in result.stderr


def test_orch_explained(tmp_path: Path) -> None:
    """Each decision with its rules."""
    output = tmp_path / "after.py"
    result = run(EXAMPLE, "--pass", "orch", "--explain", "-o", output)
    assert result.exit_code == 0
    shown = " ".join((result.stdout + result.stderr).split())
    assert "merge-carried" in shown
    assert "lives in the buffer of" in shown
    assert tilesat.parse(output) == tilesat.optimize_orch_tensors(tilesat.parse(EXAMPLE)).program


@pytest.mark.parametrize("rules", ["reference", "optimal"])
def test_all(rules: str) -> None:
    result = run(STATES, "--pass", "all", "--rules", rules, "--hardware", "910b", "--check")
    assert result.exit_code == 0, result.output
    expected = tilesat.optimize(tilesat.parse(STATES), rules=rules, hardware="910b").program
    assert result.stdout.startswith(str(expected))


def test_all_as_json() -> None:
    result = run(STATES, "--pass", "all", "--rules", "optimal", "--hardware", "910b", "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    kinds = {d["kind"] for d in data["decisions"] if d["stage"] == "orchestration"}
    assert {"merge", "strides"} <= kinds
    merge = next(d for d in data["decisions"] if d["kind"] == "merge")
    assert merge["rejected"] == "left as it is"
    assert merge["rejected_cost"] > 0


def test_a_check_that_finds_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule set without one of its conditions is caught by ``--check``."""
    from tests.orch.hazards import CALLER_HAZARDS
    from tilesat.rules import catalogue

    hazard = CALLER_HAZARDS[0]
    source = tmp_path / "hazard.py"
    source.write_text(str(hazard.program), encoding="utf-8")
    broken = catalogue.preset("reference").without(hazard.rule)
    monkeypatch.setitem(catalogue.PRESETS, "reference", lambda: broken)
    result = run(source, "--pass", "orch", "--check")
    assert result.exit_code == 1
    assert "NOT equivalent" in result.stderr


def test_bad_input(tmp_path: Path) -> None:
    """One message, exit status 2, nothing on stdout."""
    source = tmp_path / "bad.py"
    source.write_text(
        str(program(BUMP, orchestration("run(x: S) -> S", "r: S = q__FREE_VAR\nreturn r"))), encoding="utf-8"
    )
    result = run(source, "--pass", "orch")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
