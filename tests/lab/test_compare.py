"""Comparisons: the same rows wherever they run, nothing lost when a run or a worker stops."""

from __future__ import annotations

import csv
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import tilesat.lab.comparing as compare_module
from tilesat import TilesatError
from tilesat.cli import main
from tilesat.lab import compare
from tilesat.lab.generate import GeneratorConfig
from tilesat.lab.jobs import Job, Row, run_job

ROOT = Path(__file__).parents[2]
SLICES, RELOADS = ROOT / "examples" / "programs" / "slices.py", ROOT / "examples" / "programs" / "reloads.py"
OWN = str(ROOT / "examples" / "experiments" / "whole_slices.py")
SMALL = GeneratorConfig(max_statements=4, length=4)


def facts(rows: tuple[Row, ...]) -> list[tuple[object, ...]]:
    """What does not depend on how fast or where the runs were."""
    return [(r.program, r.rules, r.cost_model, r.cost, r.moves, r.global_bytes, r.statements, r.matches) for r in rows]


def test_rule_sets_are_compared_on_a_program() -> None:
    result = compare([SLICES, RELOADS], rules=["reference", "optimal", f"optimal,{OWN}"], jobs=1, stochastic=True)
    costs = {(Path(row.program).name, row.rules): row.cost for row in result.rows}
    assert result.failures == ()
    assert costs["slices.py", f"optimal,{OWN}"] < costs["slices.py", "optimal"] <= costs["slices.py", "reference"]
    assert costs["reloads.py", "optimal"] < costs["reloads.py", "reference"]
    own = next(row for row in result.rows if row.rules.endswith(".py") and row.program == str(SLICES))
    assert own.matches["whole-slices"] >= 1
    assert own.e_nodes > 0
    assert own.gap == 0.0
    assert own.stochastic is not None
    assert own.stochastic >= own.cost
    assert "saturate" in own.seconds


def test_ablation_tells_what_a_rule_is_worth() -> None:
    result = compare([RELOADS], rules=["optimal"], ablate=["merge-loads", "take-own"], jobs=1)
    (whole,) = result.rows
    without = {row.without: row for row in result.ablations}
    assert without["merge-loads"].cost > whole.cost
    assert without["take-own"].stays == 1, "nothing can be read, so nothing is placed"
    assert without["take-own"].cost == whole.reference_cost
    assert set(without) == {"merge-loads", "take-own"}
    assert result.failures == (), "that is a finding, no failure"
    assert any(title.startswith("without each rule") for title, _, _ in result.tables())


def test_processes_give_the_same_rows() -> None:
    options = {"rules": ["reference", "optimal"], "generate": 3, "config": SMALL}
    here = compare(jobs=1, **options)  # type: ignore[arg-type]
    there = compare(jobs=2, **options)  # type: ignore[arg-type]
    assert facts(here.rows) == facts(there.rows)


def test_a_stopped_run_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "state.jsonl"
    options = {"rules": ["reference"], "generate": 5, "config": SMALL, "jobs": 1, "state": state}
    asked: list[Job] = []

    def counting(jobs: list[Job], _processes: int) -> Iterator[Row]:
        for job in jobs:
            asked.append(job)
            yield run_job(job)

    def stop(done: int, _total: int, _label: str) -> None:
        if done == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(compare_module, "local_rows", counting)
    with pytest.raises(KeyboardInterrupt):
        compare(progress=stop, **options)  # type: ignore[arg-type]
    with state.open("a", encoding="utf-8") as file:
        file.write('{"key": "cut off in the mid')
    asked.clear()
    result = compare(**options)  # type: ignore[arg-type]
    assert len(asked) == 3, "two were done"
    assert len(result.rows) == 5
    assert facts(result.rows) == facts(compare(rules=["reference"], generate=5, config=SMALL, jobs=1).rows)


def test_a_broken_run_does_not_end_the_others(tmp_path: Path) -> None:
    path = tmp_path / "dear.py"
    path.write_text("def cost_model(transfer):\n    return -1.0\n", encoding="utf-8")
    result = compare([RELOADS], rules=["optimal"], costs=["traffic", str(path)], jobs=1)
    assert [bool(row.error) for row in result.rows] == [False, True]
    assert "CostModelError" in result.failures[0]


def test_results_are_written(tmp_path: Path) -> None:
    result = compare([RELOADS], rules=["reference", "optimal"], jobs=1)
    result.write_csv(tmp_path / "r.csv")
    result.write_json(tmp_path / "r.json")
    rows = list(csv.DictReader((tmp_path / "r.csv").open(encoding="utf-8")))
    assert [float(row["cost"]) for row in rows] == [row.cost for row in result.rows]
    assert rows[1]["seconds: saturate"]
    data = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert data["rows"][1]["matches"] == result.rows[1].matches


def test_bad_requests_are_refused_before_anything_runs() -> None:
    with pytest.raises(TilesatError, match="nothing to compare on"):
        compare()
    with pytest.raises(TilesatError, match="unknown rule set 'optimum'"):
        compare([RELOADS], rules=["optimum"])
    with pytest.raises(TilesatError, match="no scheduler answers"):
        compare([RELOADS], scheduler="nowhere")


def test_the_command_prints_tables_and_writes_files(tmp_path: Path) -> None:
    arguments = ["lab", "compare", str(RELOADS), "--jobs", "1", "--cost", "traffic,moves"]
    result = CliRunner().invoke(main, [*arguments, "--csv", str(tmp_path / "r.csv")])
    assert result.exit_code == 0, result.output
    assert "cost, against the first rule set" in result.output
    assert len((tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()) == 5


def test_a_cluster_loses_nothing_when_a_worker_dies() -> None:
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    killed: list[int] = []

    def kill_one(done: int, _total: int, _label: str) -> None:
        """Kill a worker in the middle of the run; its nanny starts another, or the other worker does the rest."""
        if not killed and done >= 2:
            killed.append(next(iter(cluster.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

    options = {"rules": ["reference", "optimal", f"optimal,{OWN}"], "generate": 6, "config": SMALL}
    try:
        there = compare(scheduler=cluster.scheduler_address, progress=kill_one, **options)  # type: ignore[arg-type]
    finally:
        closing = threading.Thread(target=cluster.close, daemon=True)
        closing.start()
        closing.join(20)
    assert killed
    assert there.failures == ()
    assert facts(there.rows) == facts(compare(jobs=1, **options).rows)  # type: ignore[arg-type]


@pytest.mark.skipif(os.environ.get("TILESAT_PROFILE") != "nightly", reason="takes minutes: nightly")
def test_two_hundred_programs_under_four_rule_sets_take_three_minutes_at_most() -> None:
    start = time.monotonic()
    rules = ["reference", "optimal", "optimal,-hoist", "optimal,-merge-loads"]
    result = compare(rules=rules, generate=200, jobs=2)
    assert len(result.rows) == 800
    assert time.monotonic() - start < 180
