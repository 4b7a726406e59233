"""``tilesat opt`` with a search: cost models, exactness, limits, permissions, explanations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import tilesat
from tests.corpus import DATA
from tests.optimal.test_cost_models import EXAMPLE
from tilesat.cli import main

I07 = str(DATA / "cases" / "I07" / "before.py")
I02 = str(DATA / "cases" / "I02" / "before.py")
OPTIMAL = ("--rules", "optimal")


def opt(*arguments: str, source: str = I07) -> Result:
    return CliRunner().invoke(main, ["opt", source, *arguments])


def test_the_summary_says_cost_reference_bound_and_status() -> None:
    """On stderr, so that stdout stays a program."""
    done = opt(*OPTIMAL, "--cost", "moves", "--exact", "--time-limit", "10")
    assert done.exit_code == 0
    assert done.stderr.startswith("cost (moves): ")
    for part in ("; reference ", "% less", "; lower bound ", "; optimal"):
        assert part in done.stderr
    assert tilesat.parse(done.stdout).functions


def test_the_command_gives_what_the_library_gives() -> None:
    done = opt(*OPTIMAL, "--cost", "moves", "--seed", "3", "--hardware", "910b")
    result = tilesat.infer_tile_memory_space(
        tilesat.parse(Path(I07)), rules="optimal", cost="moves", seed=3, hardware="910b"
    )
    assert done.stdout.strip() == str(result.program).strip()


def test_a_model_from_a_file() -> None:
    done = opt(*OPTIMAL, "--cost", str(EXAMPLE))
    assert done.exit_code == 0
    assert done.stderr.startswith("cost (cost_model.py): ")


def test_permissions_and_promises() -> None:
    """Case I02: nothing crosses to the other core once loads may land elsewhere."""
    kept, allowed = opt(*OPTIMAL, source=I02), opt(*OPTIMAL, "--allow", "retarget_loads", source=I02)
    assert kept.exit_code == allowed.exit_code == 0
    assert "load(" in kept.stdout
    assert "target_memory=pl.Mem.Vec)" in kept.stdout
    assert "target_memory=pl.Mem.Vec)" not in allowed.stdout


def test_explanations_are_tables_beside_the_program(tmp_path: Path) -> None:
    output = tmp_path / "out.py"
    done = opt(*OPTIMAL, "--explain", "-o", str(output))
    assert done.exit_code == 0
    for part in ("keep-from-outside", "in the loop over", "where the savings come from", "hoist"):
        assert part in done.stdout
    assert tilesat.parse(output).functions


def test_explanations_as_data() -> None:
    data = json.loads(opt(*OPTIMAL, "--explain", "--json").stdout)
    moves = [d for d in data["decisions"] if d["kind"] == "move"]
    assert moves
    assert all(d["rejected"] and d["rejected_cost"] > 0 for d in moves)
    assert data["waterfall"][-1]["cost"] == data["cost"]
    assert data["status"] == "optimal"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--exact",), "'reference' leaves nothing to choose, so --exact has no effect"),
        (("--cost", "moves"), "so --cost has no effect"),
        (("--seed", "1"), "so --seed has no effect"),
        (("--time-limit", "1"), "so --time-limit has no effect"),
        (("--allow", "retarget_loads"), "places nothing"),
        ((*OPTIMAL, "--allow", "retarget"), "unknown option 'retarget'"),
        ((*OPTIMAL, "--cost", "speed"), "unknown cost model 'speed'"),
        ((*OPTIMAL, "--cost", "gone.py"), "there is no cost model file gone.py"),
        ((*OPTIMAL, "--time-limit", "0"), "--time-limit"),
        ((*OPTIMAL, "--time-limit", "nan"), "the time limit is nan"),
        ((*OPTIMAL, "--time-limit", "soon"), "--time-limit"),
        ((*OPTIMAL, "--pass", "orch", "--allow", "retarget_loads"), "'retarget_loads' is about placing tiles"),
        ((*OPTIMAL, "--allow", "keep_inputs"), "'keep_inputs' is about sharing tensors, which this pass does not"),
        ((*OPTIMAL, "--pass", "orch", "--cost", "mine.py"), "--pass orch has no cost model 'mine.py'"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments: tuple[str, ...], said: str) -> None:
    """One message, exit status 2, no program."""
    done = opt(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.output


def test_a_model_that_misbehaves_ends_the_run(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("def cost_model(transfer):\n    return -transfer.bytes\n")
    done = opt(*OPTIMAL, "--cost", str(path))
    assert done.exit_code == 2
    assert "cost model 'broken.py: cost_model': transfer(Transfer(kind=" in done.stderr


def test_both_passes_take_the_same_options() -> None:
    done = opt("--pass", "all", *OPTIMAL, "--cost", "moves", "--exact", "--allow", "assume_noalias")
    assert done.exit_code == 0
    assert done.stderr.startswith("cost (moves): ")
