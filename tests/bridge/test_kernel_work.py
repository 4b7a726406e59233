"""Functions inferred and placed at one go in other processes: which, in what time, and what if one fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.bridge.asking import JOBS, Asked, assert_same, dear, infer, kernels, watch_processes
from tilesat.bridge import workers
from tilesat.bridge.placing import Placed, PlacementStage, PlacementTask, SearchOptions
from tilesat.bridge.residency import has_candidates
from tilesat.bridge.work import InferenceWork, KernelWork, PlacementWork, StageRules
from tilesat.bridge.workers import FEWEST_TASKS
from tilesat.extract.cost import Cost
from tilesat.ir.hardware import CHIPS
from tilesat.ir.nodes import Program
from tilesat.ir_terms.residency_facts import is_load
from tilesat.ir_terms.session import Clock
from tilesat.rules.catalogue import preset
from tilesat.rules.rule import RuleSet


@pytest.fixture(scope="module")
def mixed() -> Program:
    """As many kernels of all kinds as other processes are worth; some load in loops, and one is there twice."""
    given = kernels(range(FEWEST_TASKS))
    return replace(given, functions=(*given.functions, replace(given.functions[1], name="again")))


def test_functions_are_placed_at_once_unless_a_load_may_leave_a_loop(
    mixed: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it may, only a look at the whole program tells."""
    waiting: list[str] = []

    def see(asked: Asked) -> None:
        if isinstance(asked.work, PlacementWork):
            waiting.extend(task.function.name for task in asked.tasks)

    watch_processes(monkeypatch, see)
    monkeypatch.setattr(workers, "FEWEST_TASKS", 4)
    assert_same(infer(mixed), infer(mixed, 1))
    *different, _ = mixed.functions
    assert waiting == [f.name for f in different if has_candidates(f, is_load)]
    assert 0 < len(waiting) < len(different)


def kernel_work(rules: RuleSet, cost: Cost = "moves", **options: Any) -> KernelWork:
    """What other processes do to kernels, as one of them has it."""
    clock, chip = Clock(), CHIPS["910b"]
    inference = InferenceWork(StageRules.of(rules, "inference", clock), chip)
    search = SearchOptions(**options)
    placement = PlacementWork(StageRules.of(rules, "placement", clock), chip, cost, None, search)
    return KernelWork(inference, placement, waits=None).sent().received()


def test_the_time_limit_counts_what_a_process_spends_on_placements(few: Program) -> None:
    """Neither its start, nor inference: nor would it if one came after the other."""
    work = kernel_work(preset("optimal"), time_limit=50.0)
    assert work.left == 50.0
    with work.opened(Clock()) as solve:
        found = solve(few.functions)
    assert all(one.placed is not None for one in found)
    assert found[0].seconds == pytest.approx(50.0 - work.left, abs=0.1)
    assert [one.seconds for one in found[1:]] == [0.0] * (len(found) - 1)


def test_what_is_placed_at_once_and_what_waits_share_a_time_limit(
    mixed: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float] = []

    def see(asked: Asked) -> None:
        if isinstance(asked.work, PlacementWork):
            limits.append(asked.work.options.time_limit)
            return
        spent = sum(one.seconds for one in asked.found)
        assert spent > 0
        asked.found[0].seconds += 7.0 * JOBS - spent

    watch_processes(monkeypatch, see)
    monkeypatch.setattr(workers, "FEWEST_TASKS", 4)
    infer(mixed, time_limit=20.0)
    assert limits == [pytest.approx(13.0)]


def test_a_process_in_which_a_placement_failed_leaves_the_others_alone(few: Program) -> None:
    """Each would fail, one after the other, before anybody is told."""
    work = kernel_work(preset("optimal"), dear)
    tried: list[int] = []
    real = PlacementStage.run

    def run(self: PlacementStage, tasks: Sequence[PlacementTask]) -> list[Placed]:
        tried.append(len(tasks))
        return real(self, tasks)

    with pytest.MonkeyPatch.context() as patch, work.opened(Clock()) as solve:
        patch.setattr(PlacementStage, "run", run)
        found = [one for function in few.functions for one in solve([function])]
    assert tried == [1]
    assert [one.placed for one in found] == [None] * len(few.functions)
    assert work.progress.has_failed
