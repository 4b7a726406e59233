"""``tilesat opt``: a program in, a program out, and what is said on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tilesat
from tests.cli.running import PROGRAM, refused, run, written
from tests.corpus import DATA


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return written(tmp_path / "kernel.py")


def expected(**options: object) -> str:
    return str(tilesat.infer_tile_memory_space(tilesat.parse(PROGRAM), **options).program)  # type: ignore[arg-type]


def test_the_program_goes_to_stdout(source: Path) -> None:
    """And nothing else does: the output can be piped."""
    result = run("opt", source)
    assert result.exit_code == 0
    assert result.stdout == expected()
    assert tilesat.parse(result.stdout)


def test_the_program_goes_into_a_file(source: Path, tmp_path: Path) -> None:
    """``-o``."""
    result = run("opt", source, "-o", tmp_path / "out.py")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert (tmp_path / "out.py").read_text(encoding="utf-8") == expected()
    assert source.read_text(encoding="utf-8") == PROGRAM


def test_a_file_may_be_optimised_in_place(source: Path) -> None:
    """``-o`` the input: it is read before anything is written."""
    assert run("opt", source, "--output", source).exit_code == 0
    assert source.read_text(encoding="utf-8") == expected()


@pytest.mark.parametrize("hardware", ["910b", "950", "910B"])
def test_the_chip(source: Path, hardware: str) -> None:
    """``--hardware``."""
    assert run("opt", source, "--hardware", hardware).stdout == expected(hardware=hardware.lower())


@pytest.mark.parametrize("rules", ["reference", "optimal"])
def test_the_rules(source: Path, rules: str) -> None:
    """``--rules``."""
    result = run("opt", source, "--rules", rules)
    assert result.exit_code == 0
    assert result.stdout == expected(rules=rules)


@pytest.mark.parametrize("name", ["infer", "orch", "all"])
def test_the_pass(name: str) -> None:
    """``--pass``: memory spaces, orchestration, or both."""
    path = DATA / "cases" / "O30" / "before.py"
    program = tilesat.parse(path)
    passes = {
        "infer": tilesat.infer_tile_memory_space,
        "orch": tilesat.optimize_orch_tensors,
        "all": tilesat.optimize,
    }
    result = run("opt", path, "--pass", name)
    assert result.exit_code == 0
    assert result.stdout == str(passes[name](program).program)


def test_decisions_are_explained(source: Path) -> None:
    """``--explain``: each decision with the rule that made it, beside the program."""
    result = run("opt", source, "--explain")
    assert result.exit_code == 0
    assert result.stdout == expected(), "the program alone"
    for word in ("at lives in Mat", "target-keyword", "at_Left", "need-operand", "fixed-output"):
        assert word in result.stderr


def test_decisions_go_to_stdout_when_the_program_does_not(source: Path, tmp_path: Path) -> None:
    """``--explain -o``."""
    result = run("opt", source, "--explain", "-o", tmp_path / "out.py")
    assert "need-operand" in result.stdout


def test_both_programs_are_interpreted(source: Path) -> None:
    """``--check``."""
    result = run("opt", source, "--check")
    assert result.exit_code == 0
    assert "check: equal on random inputs: f" in result.stderr
    assert result.stdout == expected()


STALE = """\
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def f(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        t = pl.tile.load(x, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Vec)
        a = pl.tile.matmul(t, t)
        pl.tile.write(t, [0, 0], 7.0)
        b = pl.tile.matmul(t, t)
        r = pl.tile.store(a, [0, 0], y)
        q = pl.tile.store(b, [0, 0], r)
        return q
"""
UNSOUND = Path(__file__).parents[2] / "examples" / "experiments" / "unsound_rule.py"


def test_a_program_that_fails_the_check_is_not_written(tmp_path: Path) -> None:
    """``--check``: a rule that takes a copy for fresh after its source was written is caught before any output."""
    source, output = written(tmp_path / "kernel.py", STALE), tmp_path / "out.py"
    result = run("opt", source, "--rules", "optimal", "--rules", UNSOUND, "--check", "-o", output)
    assert result.exit_code == 1
    assert "check: NOT equivalent: function 'f', argument 'y'" in result.stderr
    assert not output.exists()


def test_what_cannot_be_checked_is_said(tmp_path: Path) -> None:
    """``--check``: exit status 1 rather than a claim that nothing stands behind."""
    text = PROGRAM.replace(
        "m = pl.matmul(at, bt)", "m = pl.matmul(at, bt)\n        k: pl.Scalar[pl.INDEX] = at.rows[0]"
    )
    result = run("opt", written(tmp_path / "kernel.py", text), "--check")
    assert result.exit_code == 1
    assert "check: 'f' was not evaluated" in result.stderr
    assert "check: nothing could be evaluated" in result.stderr


def test_everything_as_json(source: Path) -> None:
    """``--json``: program, decisions, diagnostics, timings."""
    result = run("opt", source, "--json", "--hardware", "910b")
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert data["program"] == expected(hardware="910b")
    assert {"space", "move"} <= {decision["kind"] for decision in data["decisions"]}
    moves = [decision for decision in data["decisions"] if decision["kind"] == "move"]
    assert moves[0]["rules"] == ["need-operand"]
    assert data["diagnostics"] == []
    assert all(seconds >= 0 for seconds in data["timings"].values())


def test_json_goes_into_a_file(source: Path, tmp_path: Path) -> None:
    """``--json -o``; ``--explain`` adds nothing to it."""
    result = run("opt", source, "--json", "--explain", "-o", tmp_path / "out.json")
    assert result.exit_code == 0
    assert "decisions" in json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))


def test_diagnostics_go_to_stderr() -> None:
    """Where the result departs from the documents."""
    result = run("opt", DATA / "cases" / "I14" / "before.py")
    assert result.exit_code == 0
    assert "split-accumulate" in result.stderr


# ------------------------------------------------------------------------------ bad input

BAD = {
    "syntax": ("def f(:\n", "kernel.py:1:"),
    "no program": ("x = 1\n", "kernel.py"),
    "undefined name": (PROGRAM.replace("pl.matmul(at, bt)", "pl.matmul(at, nope)"), "kernel.py:13:"),
    "type": (PROGRAM.replace("pl.matmul(at, bt)", "pl.matmul(at, at)"), "kernel.py:13:"),
    "empty": ("", "kernel.py"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("options", [(), ("--json",), ("--explain", "--check")], ids=" ".join)
def test_bad_text_is_refused(name: str, options: tuple[str, ...], tmp_path: Path) -> None:
    """One message with file and line; nothing is written."""
    text, place = BAD[name]
    output = tmp_path / "out.py"
    message = refused("opt", written(tmp_path / "kernel.py", text), "-o", output, *options)
    assert message.startswith("error: ")
    assert place in message
    assert message.count("error: ") == 1 + message.count("syntax error: ")
    assert message.count("\n") == 1
    assert not output.exists()


def test_input_that_violates_a_property_is_refused(tmp_path: Path) -> None:
    """INF-S-02, INF-S-03: function and parameter are named; nothing is written."""
    text = PROGRAM.replace("a: pl.Tensor", "a: pl.Tile").replace(
        "at = pl.load(a, [0, 0], [16, 64], target_memory=pl.Mem.Mat)", "at = a"
    )
    output = tmp_path / "out.py"
    message = refused("opt", written(tmp_path / "kernel.py", text), "-o", output)
    assert "function 'f'" in message
    assert "parameter 'a'" in message
    assert not output.exists()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "nowhere.py" in refused("opt", tmp_path / "nowhere.py")


def test_a_folder(tmp_path: Path) -> None:
    assert str(tmp_path.name) in refused("opt", tmp_path)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_bytes(b"\xff\xfe\x00")
    assert "kernel.py" in refused("opt", tmp_path / "kernel.py")


def test_output_that_cannot_be_written(source: Path, tmp_path: Path) -> None:
    assert "cannot write" in refused("opt", source, "-o", tmp_path / "nowhere" / "out.py")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--rules", "best"), "best"),
        (("--hardware", "911"), "911"),
        (("--pass", "magic"), "magic"),
        (("--frobnicate",), "frobnicate"),
    ],
)
def test_arguments_that_mean_nothing(source: Path, arguments: tuple[str, ...], said: str) -> None:
    assert said in refused("opt", source, *arguments)
