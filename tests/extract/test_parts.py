"""The pieces of the solvers, one by one."""

from __future__ import annotations

import math
import random
import time
from types import SimpleNamespace
from typing import Any

import highspy
import pytest

from tests.extract.graphs import build, node, program_graph, wild_graph
from tilesat.errors import SolveError
from tilesat.extract import highs
from tilesat.extract.bound import priced_bound, shared_bound
from tilesat.extract.branch import BranchAndBound
from tilesat.extract.graph import ChoiceGraph
from tilesat.extract.highs import Rows, minimise
from tilesat.extract.knuth import allowed_under, tree_choice
from tilesat.extract.landmarks import members, needs
from tilesat.extract.local import LocalSearch
from tilesat.extract.milp import ExactModel, price_levels
from tilesat.extract.problem import Problem, Unit, choice_cost, is_legal, whole_problem
from tilesat.extract.prune import Pruner
from tilesat.extract.reduce import reduce
from tilesat.extract.result import PartResult, take_turns
from tilesat.extract.sccs import cyclic_groups
from tilesat.extract.starts import first_choices


def parts_of(*graphs: ChoiceGraph) -> list[Problem]:
    found: list[Problem] = []
    for graph in graphs:
        try:
            found += reduce(graph).parts
        except SolveError:
            continue
    return found


def wild_parts() -> list[Problem]:
    return parts_of(*(wild_graph(seed, 12) for seed in range(120)))


def optimum(problem: Problem) -> int | None:
    found = BranchAndBound(problem, None).run(10**6, math.inf)
    assert found.finished
    return found.cost if found.choice is not None else None


# ---------------------------------------------------------------------------------------------- Knuth


def test_tree_choice_takes_the_cheapest_derivation() -> None:
    problem, _ = whole_problem(build({"a": [(1, "b"), (5, "")], "b": [(3, "")], "c": [(0, "a b")]}, roots="c"))
    assert tree_choice(problem) == [0, 2, 3]


def test_ties_go_to_fewer_children_then_to_the_lower_number() -> None:
    graph = build({"a": [(2, "b"), (2, ""), (2, "")], "b": [(0, "")], "c": [(0, "b"), (0, "")]}, roots="a c")
    assert tree_choice(whole_problem(graph)[0]) == [1, 3, 5]


def test_free_cycles_do_not_derive_themselves() -> None:
    graph = build({"a": [(0, "b")], "b": [(0, "a")], "c": [(1, "")]}, roots="a")
    assert tree_choice(whole_problem(graph)[0]) == [-1, -1, 2]


def test_guarded_ways_follow_the_placement_of_slots() -> None:
    graph = build({"slot": [(0, ""), (9, "")], "a": [(5, "")]}, roots="slot a")
    graph.add(node(1, (), 1.0, guard=(0, 1)))
    problem, _ = whole_problem(graph)
    assert tree_choice(problem, allowed_under(problem, {0: 0})) == [0, 2]
    assert tree_choice(problem, allowed_under(problem, {0: 1})) == [1, 3]


# ----------------------------------------------------------------------------------- numbers and groups


def test_prices_become_exact_integers() -> None:
    values = [0.1, 2.0**40 + 2.0**-8, 3.0]
    unit = Unit.of(values)
    assert [unit.value(unit.count(value)) for value in values] == values
    assert unit.floor(2.5) == unit.count(2.5)


def test_cyclic_groups_are_the_components_of_more_than_one_class() -> None:
    graph = build(
        {"a": [(0, "b")], "b": [(0, "a"), (0, "c")], "c": [(0, "d")], "d": [(0, ""), (0, "e")], "e": [(0, "d")]},
        roots="a",
    )
    a, b, c, d, e = cyclic_groups(whole_problem(graph)[0])
    assert a == b >= 0
    assert c == -1
    assert d == e >= 0
    assert a != d


def test_landmarks_are_what_every_derivation_needs() -> None:
    graph = build(
        {"end": [(0, "x"), (0, "y")], "x": [(0, "z")], "y": [(0, "w")], "w": [(0, "z x")], "z": [(0, ""), (1, "y")]},
        roots="end",
    )
    problem, _ = whole_problem(graph)
    needed = needs(problem, Pruner(problem).run().alive)
    assert [members(bits) for bits in needed] == [[0, 1, 4], [1, 4], [1, 2, 3, 4], [1, 3, 4], [4]]


def test_a_class_with_one_guarded_way_places_its_slot() -> None:
    graph = build({"slot": [(0, ""), (7, "")], "a": [], "b": [(3, "")]}, roots="slot a b")
    graph.add(node(1, (), 1.0, guard=(0, 1)))
    graph.add(node(2, (), 0.0, guard=(0, 0)))
    reduction = reduce(graph)
    assert reduction.parts == []
    assert reduction.decided == {0: 1, 1: 3, 2: 2}


# --------------------------------------------------------------------------------------------- bounds


def test_the_shared_bound_never_exceeds_the_optimum() -> None:
    for problem in wild_parts():
        best = optimum(problem)
        assert best is None or 0 <= shared_bound(problem) <= best


def test_any_prices_of_room_give_a_bound() -> None:
    rng = random.Random(0)
    limited = [problem for problem in wild_parts() + parts_of(program_graph(0, 20, 6.0)) if problem.limits]
    limited = [problem for problem in limited if len(problem.ways) < 30]
    assert len(limited) > 5
    for problem in limited:
        best = optimum(problem)
        for _ in range(4):
            room = [rng.randint(0, 40) for _ in problem.limits]
            assert best is None or priced_bound(problem, room, 4) <= best


# ------------------------------------------------------------------------------------- branch and bound


def test_branch_and_bound_gives_up_after_its_steps() -> None:
    problem = max(parts_of(program_graph(1, 150)), key=lambda part: len(part.ways))
    assert not BranchAndBound(problem, None).run(1, math.inf).finished
    assert not BranchAndBound(problem, None).run(10**6, time.monotonic() - 1.0).finished


def test_branch_and_bound_looks_below_its_upper_bound_only() -> None:
    problem = next(problem for problem in wild_parts() if optimum(problem))
    best = optimum(problem)
    assert best is not None
    assert BranchAndBound(problem, best).run(10**6, math.inf).choice is None
    assert BranchAndBound(problem, best + 1).run(10**6, math.inf).cost == best


# ------------------------------------------------------------------------------------ integer programs


def test_the_integer_program_finds_the_optimum_of_each_part() -> None:
    for problem in wild_parts()[:60]:
        best = optimum(problem)
        proven = ExactModel(problem).solve(None, math.inf)
        if best is None:
            assert proven.infeasible
            continue
        assert proven.choice is not None
        assert is_legal(problem, proven.choice)
        assert choice_cost(problem, proven.choice) == proven.bound == best


def levels(*prices: float) -> list[tuple[int, list[int]]]:
    graph = build({f"c{number}": [(price, ""), (0, "")] for number, price in enumerate(prices)}, roots="c0")
    return [(level.unit, level.cost[::2]) for level in price_levels(whole_problem(graph)[0])]


def test_similar_prices_are_one_level() -> None:
    assert levels(6.0, 4.0, 0.5) == [(1, [12, 8, 1])]
    assert levels(0.0, 0.0) == [(1, [0, 0])]


def test_prices_far_apart_are_minimised_one_after_the_other() -> None:
    (high, far), (low, near) = levels(2.0**30 + 1.0, 3 * 2.0**30, 5.0)
    assert [high * a + low * b for a, b in zip(far, near, strict=True)] == [2**30 + 1, 3 * 2**30, 5]
    assert max(far) <= 6
    assert max(near) <= 5


def test_a_level_is_split_only_where_what_is_below_cannot_add_up_to_it() -> None:
    """A thousand prices just below 2**20 outweigh one of 2**29, and have no gap themselves."""
    assert len(levels(2.0**29, *[2.0**20 - 1.0] * 1000)) == 1


class StaleSolver:
    """Answers like a release that hands out the start together with the objective of something better."""

    def __init__(self, values: list[float], objective: float = 1.0) -> None:
        self.values = values
        self.objective = objective

    def setOptionValue(self, *_: object) -> None:
        pass

    def setSolution(self, _: object) -> None:
        pass

    def run(self) -> None:
        pass

    def getModelStatus(self) -> Any:
        return highspy.HighsModelStatus.kOptimal

    def getInfo(self) -> Any:
        return SimpleNamespace(mip_dual_bound=self.objective, objective_function_value=self.objective)

    def getSolution(self) -> Any:
        return SimpleNamespace(col_value=self.values)


def test_a_stale_answer_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Rows(2)
    rows.add(1.0, 1.0, [0, 1], [1.0, 1.0])
    solvers = [StaleSolver([0.0, 1.0]), StaleSolver([1.0, 0.0])]
    monkeypatch.setattr(highs, "_set_up", lambda *_: solvers.pop(0))
    answer = minimise(rows, [1.0, 5.0], 0.5, math.inf, start=[0.0, 1.0])
    assert answer.values == [1.0, 0.0]
    assert solvers == []


def test_an_objective_off_by_one_of_millions_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by generated program 1183: HiGHS reported an optimum one unit below every solution."""
    rows = Rows(2)
    rows.add(1.0, 1.0, [0, 1], [1.0, 1.0])
    solvers = [StaleSolver([1.0, 0.0], 1998850.0), StaleSolver([1.0, 0.0], 1998851.0)]
    monkeypatch.setattr(highs, "_set_up", lambda *_: solvers.pop(0))
    assert minimise(rows, [1998851.0, 2e6], 0.5, math.inf, start=[1.0, 0.0]).bound == 1998851.0


def test_the_solver_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    rows = Rows(2)
    rows.add(1.0, 2.0, [0, 1], [1.0, 1.0])
    assert minimise(rows, [1.0, 5.0], 0.5, time.monotonic() + 5.0, start=None).bound == 1.0
    assert capfd.readouterr().out == ""


# -------------------------------------------------------------------------------------------- searching


@pytest.mark.parametrize("room", [None, 6.0])
def test_the_state_agrees_with_its_choice_throughout(room: float | None) -> None:
    """Undo logs, users, loads and totals after a search are those of the choice, counted afresh."""
    for problem in parts_of(program_graph(4, 60, room)):
        for beginning in first_choices(problem):
            search = LocalSearch(problem, beginning, math.inf)
            search.set_prices(problem.cost, room_price=10**6)
            search.search(range(len(problem.ways)), exchange=True)
            state = search.state
            fresh = LocalSearch(problem, search.choice(), math.inf)
            fresh.set_prices(problem.cost, room_price=10**6)
            assert fresh.state.chosen == state.chosen
            assert fresh.state.users == state.users
            assert fresh.state.load == state.load
            assert (fresh.state.total, fresh.state.excess) == (state.total, state.excess)
            assert state.excess or is_legal(problem, state.chosen)


def test_moves_that_do_not_pay_leave_no_trace() -> None:
    for problem in parts_of(program_graph(9, 60, 6.0)):
        search = LocalSearch(problem, first_choices(problem)[0], math.inf)
        state, moves, room = search.state, search.moves, search.room
        before = (list(state.chosen), list(state.users), list(state.load), state.total, state.excess)
        for cls in range(len(problem.ways)):
            for move in (moves.improve, moves.leave, moves.open, moves.close, moves.flip, room.swap, room.make_way):
                mark = state.mark()
                if move is moves.flip and cls not in moves.slots:
                    continue
                if move is moves.open and state.chosen[cls] >= 0:
                    continue
                if move is moves.close and state.chosen[cls] < 0:
                    continue
                move(cls)
                state.rollback(mark)
        assert before == (state.chosen, state.users, state.load, state.total, state.excess)


# ------------------------------------------------------------------------------------------------ turns


def test_small_parts_have_their_turn_first_and_leave_time_to_large_ones() -> None:
    deadline = time.monotonic() + 100.0
    turns = list(take_turns([60, 10, 30], deadline))
    assert [index for index, _ in turns] == [1, 2, 0]
    assert turns[0][1] < turns[1][1] < turns[2][1] <= deadline


def test_results_keep_the_better_of_two() -> None:
    result = PartResult()
    result.prove(3)
    result.offer([1], 9)
    result.offer([2], 12)
    assert (result.choice, result.cost, result.bound, result.is_open) == ([1], 9, 3, True)
    result.prove(9)
    assert not result.is_open
