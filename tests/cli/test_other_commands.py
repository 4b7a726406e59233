"""``tilesat verify``, ``diff``, ``ops``, and the program itself."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tilesat
from tests.cli.running import PROGRAM, refused, run, written
from tilesat.ir.ops import op_table


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return written(tmp_path / "kernel.py")


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    return written(tmp_path / "done.py", str(tilesat.infer_tile_memory_space(tilesat.parse(PROGRAM)).program))


# --------------------------------------------------------------------------------- verify


def test_a_finished_program_verifies(finished: Path) -> None:
    result = run("verify", finished)
    assert result.exit_code == 0
    assert "no findings" in result.stderr


def test_findings_are_listed_and_end_with_1(source: Path) -> None:
    """Each with check, function and statement."""
    result = run("verify", source)
    assert result.exit_code == 1
    text = result.stdout + result.stderr
    assert "TileMemoryInferred" in text
    assert "'tile.matmul' input 0 ('at') requires Left but is in Mat" in text


def test_only_what_the_pass_requires(source: Path) -> None:
    """``--input``."""
    assert run("verify", source, "--input").exit_code == 0


@pytest.mark.parametrize(("paths", "status"), [("ignore", 0), ("warn", 0), ("error", 1)])
def test_transfers_that_no_chip_has(tmp_path: Path, paths: str, status: int) -> None:
    """``--paths``."""
    text = PROGRAM.replace("target_memory=pl.Mem.Mat", "target_memory=pl.Mem.Left", 1)
    path = tmp_path / "kernel.py"
    written(path, str(tilesat.infer_tile_memory_space(tilesat.parse(text)).program))
    result = run("verify", path, "--paths", paths)
    assert result.exit_code == status
    assert ("global memory reaches only Vec and Mat" in result.stdout + result.stderr) == (paths != "ignore")


def test_the_chip_of_verify(finished: Path) -> None:
    """``--hardware``."""
    assert run("verify", finished, "--hardware", "950").exit_code == 0


def test_verify_refuses_bad_text(tmp_path: Path) -> None:
    assert "kernel.py:1:" in refused("verify", written(tmp_path / "kernel.py", "class (\n"))


# ----------------------------------------------------------------------------------- diff


def test_programs_that_differ_in_names_only(source: Path, tmp_path: Path) -> None:
    text = PROGRAM.replace("m = ", "product = ").replace("store(m,", "store(product,").replace("bt", "right")
    result = run("diff", source, written(tmp_path / "other.py", text))
    assert result.exit_code == 0
    assert result.stdout.strip() == "equal up to names"


def test_the_first_difference_is_said(source: Path, finished: Path) -> None:
    result = run("diff", source, finished)
    assert result.exit_code == 1
    assert "function 'f'" in result.stdout
    assert "statement 3" in result.stdout


def test_diff_refuses_bad_text(source: Path, tmp_path: Path) -> None:
    assert "other.py" in refused("diff", source, written(tmp_path / "other.py", "nonsense"))


# ------------------------------------------------------------------------------------ ops


def test_all_ops_are_listed() -> None:
    result = run("ops")
    assert result.exit_code == 0
    listed = {line.split()[0] for line in result.stdout.splitlines() if line.strip()}
    assert set(op_table()) <= listed


def test_what_is_known_of_one_op() -> None:
    result = run("ops", "tile.matmul_acc")
    assert result.exit_code == 0
    for word in ("tile.matmul_acc", "Acc", "Left", "Right"):
        assert word in result.stdout


def test_an_unknown_op_and_its_neighbours() -> None:
    message = refused("ops", "tile.matmull")
    assert "unknown op 'tile.matmull'" in message


def test_a_name_that_is_nearly_right() -> None:
    assert "did you mean" in refused("ops", "pl.matmul")


# -------------------------------------------------------------------------------- program


@pytest.mark.parametrize("arguments", [("--help",), ("opt", "-h"), ("verify", "-h"), ("diff", "-h"), ("ops", "-h")])
def test_help(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert result.exit_code == 0
    assert result.stdout.startswith("Usage: ")


def test_version() -> None:
    assert tilesat.__version__ in run("--version").stdout


def test_it_runs_as_a_program(tmp_path: Path) -> None:
    """In a process of its own: bad input leaves no traceback, and the status is 2."""
    path = written(tmp_path / "kernel.py", "x = \n")
    done = subprocess.run(
        [sys.executable, "-c", "from tilesat.cli import main; main()", "opt", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


HEAVY = ("egglog", "highspy", "rich", "hypothesis", "pandas", "jinja2", "scipy", "matplotlib")


def test_imports_are_lazy() -> None:
    """``import tilesat`` loads neither the e-graph nor the solver; parsing and verifying do not either."""
    code = (
        "import sys, tilesat\n"
        f"p = tilesat.parse({PROGRAM!r})\n"
        "tilesat.verify(p); str(p)\n"
        f"print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_does_not_do_work() -> None:
    """No op table is read, no rule built, no program parsed."""
    code = (
        "import sys\n"
        "calls = []\n"
        "sys.setprofile(lambda frame, event, _: calls.append(frame.f_code) if event == 'call' else None)\n"
        "import tilesat\n"
        "sys.setprofile(None)\n"
        "names = {code.co_name for code in calls if 'tilesat' in code.co_filename}\n"
        "print(sorted(names & {'op_table', 'program', 'parse_text', 'optimal', 'reference', 'stage_program'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
