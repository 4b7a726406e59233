"""What reduction may drop, and what it must not; each graph is the smallest that shows the point."""

from __future__ import annotations

import pytest

from tests.extract.graphs import build, chosen_costs, node
from tilesat.extract.brute import cheapest
from tilesat.extract.graph import CapacityGroup, ChoiceGraph
from tilesat.extract.reduce import reduce
from tilesat.extract.solve import solve


def parts(graph: ChoiceGraph) -> list[int]:
    """Ways of each part that is left."""
    return [len(part.cls) for part in reduce(graph).parts]


def check(graph: ChoiceGraph) -> dict[str, float]:
    """The optimum, by price of each used class, found by both searches and by enumeration."""
    best = chosen_costs(graph, cheapest(graph))
    for exact in (False, True):
        assert chosen_costs(graph, solve(graph, exact=exact).choice) == best
    return best


def test_what_has_one_way_is_decided() -> None:
    graph = build({"end": [(1, "a b")], "a": [(2, "b")], "b": [(3, "")]}, roots="end")
    reduction = reduce(graph)
    assert reduction.parts == []
    assert reduction.unit.value(reduction.fixed_cost) == 6


def test_a_way_that_asks_for_more_and_costs_more_is_dropped() -> None:
    graph = build({"end": [(2, "a b"), (1, "a")], "a": [(3, ""), (4, "b")], "b": [(1, "")]}, roots="end")
    assert parts(graph) == []
    assert check(graph) == {"end": 1, "a": 3}


def test_what_comes_along_anyway_counts_as_asked_for() -> None:
    """``far`` brings ``near``, so the dearer way through ``far`` goes, and ``near`` is needed after all."""
    graph = build({"end": [(14, "far"), (1, "near")], "far": [(1, "near")], "near": [(4, "")]}, roots="end")
    assert parts(graph) == []
    assert check(graph) == {"end": 1, "near": 4}


def test_circular_ways_are_dropped() -> None:
    """``b`` is made from ``a`` only, so it cannot help to make ``a``."""
    graph = build({"end": [(0, "a b")], "a": [(9, ""), (1, "b")], "b": [(1, "a")]}, roots="end")
    assert parts(graph) == []
    assert check(graph) == {"end": 0, "a": 9, "b": 1}


def test_independent_choices_are_separate_parts() -> None:
    ways = {f"{name}{k}": entries for k in (0, 1) for name, entries in [
        ("end", [(0, f"x{k}"), (0, f"y{k}")]), ("use", [(1, f"x{k}"), (0, f"y{k}")]),
        ("x", [(3, "")]), ("y", [(4, "")]),
    ]}  # fmt: skip
    graph = build(ways, roots="end0 use0 end1 use1")
    assert parts(graph) == [6, 6]
    assert solve(graph).cost == 8


@pytest.mark.parametrize("limit", [0.0, 1.0, 2.0])
def test_a_limited_group_ties_parts_together_where_it_may_be_full(limit: float) -> None:
    graph = build({"a": [(0, ""), (2, "")], "b": [(0, ""), (3, "")]}, roots="a b")
    graph.groups.append(CapacityGroup(limit, "room"))
    for cls in (0, 1):
        graph.nodes[graph.classes[cls][0]].group = 0
        graph.nodes[graph.classes[cls][0]].weight = 1.0
    assert len(parts(graph)) == (1 if limit == 1.0 else 0)
    assert sum(check(graph).values()) == {0.0: 5, 1.0: 2, 2.0: 0}[limit]


def test_a_cheaper_but_heavier_way_stays_beside_a_lighter_one() -> None:
    graph = build({"a": [(0, ""), (1, ""), (9, "")], "b": [(0, ""), (5, "")]}, roots="a b")
    graph.groups.append(CapacityGroup(4.0, "room"))
    for number, weight in ((0, 4.0), (1, 1.0), (3, 3.0)):
        graph.nodes[number].group = 0
        graph.nodes[number].weight = weight
    assert check(graph) == {"a": 1, "b": 0}


def test_a_way_that_guards_others_stays_though_dearer() -> None:
    graph = build({"slot": [(0, ""), (2, "")], "a": [(9, "")]}, roots="slot a")
    graph.add(node(1, (), 1.0, guard=(0, 1)))
    assert check(graph) == {"slot": 2, "a": 1}


def test_a_guarded_way_does_not_beat_a_free_one() -> None:
    graph = build({"slot": [(0, ""), (7, "")], "a": [(5, "")]}, roots="slot a")
    graph.add(node(1, (), 1.0, guard=(0, 1)))
    assert check(graph) == {"slot": 0, "a": 5}


def test_a_guard_still_holds_when_its_way_is_the_last_one_left() -> None:
    """Dominance leaves one guarded way; the slot has to follow it."""
    graph = build({"slot": [(0, ""), (7, "")], "a": []}, roots="slot a")
    graph.add(node(1, (), 5.0, guard=(0, 1)))
    graph.add(node(1, (), 1.0, guard=(0, 1)))
    assert check(graph) == {"slot": 7, "a": 1}


def test_a_shared_price_is_not_moved_into_its_users() -> None:
    graph = build({"p": [(0, "s"), (4, "")], "q": [(0, "s"), (4, "")], "s": [(6, "t")], "t": [(0, "")]}, roots="p q")
    assert check(graph) == {"p": 0, "q": 0, "s": 6, "t": 0}
