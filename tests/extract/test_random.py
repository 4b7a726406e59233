"""Random graphs: every solver against plain enumeration, and against each other where that is too large."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.extract.graphs import PRICES, program_graph, wild_graph
from tilesat.errors import SolveError
from tilesat.extract import contract, exact, reduce, solve
from tilesat.extract.brute import cheapest, open_choices
from tilesat.extract.dominance import Dominance
from tilesat.extract.graph import ChoiceGraph, used_classes, violation
from tilesat.extract.part import search_part
from tilesat.extract.problem import is_legal
from tilesat.extract.result import PartResult

FAR = 2.0**30
LEXICOGRAPHIC = (0.0, FAR + 2**-8, 8 * FAR + 2**-6, 2.0**14 + 2**-8, 3 * FAR, 2.0**-8, 5 * FAR + 0.25, 2.0**15)
"""Prices like those of the preset ``moves``: of very different size, and all of them count."""

DECIMAL = (0.0, 0.1, 0.2, 0.3, 1 / 3, 0.7, 1e-3, 5.1)


def optimum(graph: ChoiceGraph) -> float | None:
    try:
        return graph.cost(cheapest(graph))
    except SolveError:
        return None


def check_against_enumeration(graph: ChoiceGraph, exactness: float = 0.0) -> None:
    """Local search is legal and honest, the exact search finds the optimum, both know when there is nothing."""
    best = optimum(graph)
    if best is None:
        for exactly in (False, True):
            with pytest.raises(SolveError):
                solve.solve(graph, exact=exactly)
        return
    tolerance = exactness * best
    for exactly in (False, True):
        solution = solve.solve(graph, exact=exactly)
        assert violation(graph, solution.choice) is None
        assert set(solution.choice) == set(used_classes(graph, solution.choice))
        assert solution.cost == graph.cost(solution.choice)
        assert solution.lower_bound <= best + tolerance
        assert best <= solution.cost + tolerance
        if exactly or solution.status == "optimal":
            assert solution.status == "optimal"
            assert solution.cost == pytest.approx(best, rel=exactness, abs=0.0)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), classes=st.integers(2, 10), prices=st.sampled_from([PRICES, LEXICOGRAPHIC]))
def test_small_graphs(seed: int, classes: int, prices: tuple[float, ...]) -> None:
    check_against_enumeration(wild_graph(seed, classes, prices))


@pytest.mark.parametrize("seed", [279, 100, 424, 33, 391, 540])
def test_ways_whose_guard_is_gone_are_not_taken_in_small_parts(seed: int) -> None:
    """Their slots lose a way that is circular, in a round that leaves too much for another one."""
    check_against_enumeration(wild_graph(seed, 9))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6))
def test_prices_that_are_not_dyadic(seed: int) -> None:
    check_against_enumeration(wild_graph(seed, 8, DECIMAL), exactness=1e-9)


@pytest.fixture
def bare_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither reduction by dominance nor branch and bound: local search and the integer program are on their own."""

    class NoDominance(Dominance):
        def run(self) -> None:
            pass

    monkeypatch.setattr(reduce, "Dominance", NoDominance)
    monkeypatch.setattr(reduce, "drop_circular", lambda *_: None)
    monkeypatch.setattr(reduce, "DEEP_WAYS", (0, 0))
    monkeypatch.setattr(contract.Contraction, "_may_skip", lambda *_: False)
    monkeypatch.setattr(solve, "QUICK_CLASSES", 0)
    monkeypatch.setattr(exact, "BRANCH_CLASSES", 0)


@pytest.mark.usefixtures("bare_search")
@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 10**6), prices=st.sampled_from([PRICES, LEXICOGRAPHIC]))
def test_small_graphs_without_reduction(seed: int, prices: tuple[float, ...]) -> None:
    graph = wild_graph(seed, 10, prices)
    if open_choices(graph) <= 10:
        check_against_enumeration(graph)


@pytest.mark.parametrize("room", [None, 24.0, 6.0, 3.0])
def test_programs(room: float | None) -> None:
    """bound <= exact <= local, and local search is close."""
    gaps = []
    for seed in range(6):
        graph = program_graph(seed, 60, room)
        local = solve.solve(graph)
        best = solve.solve(graph, exact=True, start=local.choice)
        assert violation(graph, local.choice) is None
        assert violation(graph, best.choice) is None
        assert best.status == "optimal"
        assert local.lower_bound <= best.lower_bound == best.cost <= local.cost
        gaps.append(local.cost / best.cost - 1)
    assert max(gaps) < (1e-3 if room is None else 0.05)


def test_a_larger_program_is_solved_in_parts() -> None:
    graph = program_graph(seed=2, statements=600)
    reduction = reduce.reduce(graph)
    assert len(reduction.parts) > 20
    assert sum(len(part.cls) for part in reduction.parts) < len(graph.nodes) / 4
    local, best = solve.solve(graph), solve.solve(graph, exact=True)
    assert best.status == "optimal"
    assert best.cost <= local.cost <= 1.001 * best.cost


@pytest.mark.parametrize("seed", range(12))
def test_a_projected_choice_stays_legal_and_gets_no_dearer(seed: int) -> None:
    """What reduction does to a choice from outside: a dominated way is replaced, the rest stays."""
    graph = program_graph(seed, 30, room=6.0)
    start = solve.solve(graph, seed=seed).choice
    reduction = reduce.reduce(graph)
    projected = [reduction.project(start, part) for part in reduction.parts]
    back = reduction.expand([choice for choice in projected if choice is not None])
    assert violation(graph, back) is None
    assert graph.cost(back) <= graph.cost(start)


@pytest.mark.parametrize("seed", range(4))
def test_visiting_order_never_spoils_legality(seed: int) -> None:
    for part in reduce.reduce(program_graph(11, 60, room=6.0)).parts:
        result = PartResult()
        search_part(part, result, float("inf"), seed)
        assert result.choice is not None
        assert is_legal(part, result.choice)
        assert result.bound <= result.cost
