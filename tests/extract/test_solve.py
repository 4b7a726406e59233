"""What ``solve`` promises, on graphs small enough to see the answer."""

from __future__ import annotations

import math
import time

import pytest

from tests.extract.graphs import build, chosen_costs, node, program_graph
from tilesat.errors import SolveError
from tilesat.extract.brute import cheapest
from tilesat.extract.graph import CapacityGroup, Choice, ChoiceGraph, used_classes, violation
from tilesat.extract.solve import solve

BOTH = pytest.mark.parametrize("exact", [False, True], ids=["local", "exact"])


# ------------------------------------------------------------------ sharing that tree costs do not see


def two_consumers() -> ChoiceGraph:
    """A tile wanted in Vec and in Left: one load into Mat and a move beat a load for each."""
    return build(
        {
            "v.Vec": [(60, ""), (18, "v.Mat")],
            "v.Mat": [(50, ""), (24, "v.Vec")],
            "v.Left": [(6, "v.Mat")],
            "w.Mat": [(50, "")],
            "w.Right": [(6, "w.Mat")],
            "exp": [(8, "v.Vec")],
            "store.exp": [(60, "exp")],
            "matmul": [(40, "v.Left w.Right")],
            "store.matmul": [(70, "matmul")],
        },
        roots="store.exp store.matmul",
    )


def both_operands() -> ChoiceGraph:
    """A tile wanted in Left and in Right: each direct move is cheaper than over Mat, both together are not."""
    return build(
        {
            "v.Vec": [(60, "")],
            "x.Vec": [(8, "v.Vec")],
            "x.Mat": [(24, "x.Vec")],
            "x.Left": [(28, "x.Vec"), (6, "x.Mat")],
            "x.Right": [(28, "x.Vec"), (6, "x.Mat")],
            "matmul": [(40, "x.Left x.Right")],
            "store": [(70, "matmul")],
        },
        roots="store",
    )


def stored_anyway() -> ChoiceGraph:
    """A tile that is stored anyway: loading it back is cheaper than a move, given that the store is paid."""
    return build(
        {
            "v.Vec": [(60, ""), (18, "v.Mat")],
            "v.Mat": [(20, ""), (24, "v.Vec")],
            "y.Vec": [(8, "v.Vec")],
            "y.stored": [(60, "y.Vec")],
            "y.Mat": [(24, "y.Vec"), (20, "y.stored")],
            "y.Left": [(6, "y.Mat")],
            "w.Mat": [(20, "")],
            "w.Right": [(6, "w.Mat")],
            "matmul": [(40, "y.Left w.Right")],
            "store.matmul": [(70, "matmul")],
        },
        roots="y.stored store.matmul",
    )


@BOTH
@pytest.mark.parametrize(("graph", "optimum"), [(two_consumers(), 308), (both_operands(), 214), (stored_anyway(), 268)])
def test_a_shared_class_is_paid_once(graph: ChoiceGraph, optimum: float, exact: bool) -> None:
    solution = solve(graph, exact=exact)
    assert solution.cost == solution.lower_bound == optimum
    assert solution.status == "optimal"
    assert violation(graph, solution.choice) is None


def test_the_choice_has_used_classes_only() -> None:
    graph = both_operands()
    assert chosen_costs(graph, solve(graph).choice) == {
        "store": 70, "matmul": 40, "x.Left": 6, "x.Right": 6, "x.Mat": 24, "x.Vec": 8, "v.Vec": 60,
    }  # fmt: skip


@BOTH
def test_free_cycles_of_equal_places_are_not_taken(exact: bool) -> None:
    graph = build({"a": [(0, "b"), (3, "")], "b": [(0, "a"), (4, "")], "end": [(1, "a b")]}, roots="end")
    assert chosen_costs(graph, solve(graph, exact=exact).choice) == {"end": 1, "a": 3, "b": 0}


def test_a_graph_without_roots_costs_what_is_fixed() -> None:
    graph = ChoiceGraph(fixed_cost=2.5)
    solution = solve(graph)
    assert (solution.choice, solution.cost, solution.status) == ({}, 2.5, "optimal")


# --------------------------------------------------------------------------------------------- guards


def carried(count: int) -> ChoiceGraph:
    """``count`` carried slots, each fed by the one before: only all of them in Mat save the moves.

    What is carried in comes cheaply in Mat, and is wanted in Mat at the end; slots are listed in Vec.
    """
    graph = build({"in.Vec": [(10, "")], "in.Mat": [(1, "")], "end": []}, roots="end")
    flow = {"Vec": 0, "Mat": 1}
    for position in range(count):
        slot = graph.new_class(f"slot {position}")
        graph.slots.append(slot)
        graph.roots.append(slot)
        place = {space: graph.new_class(f"place {position} in {space}") for space in flow}
        for space, other in (("Vec", "Mat"), ("Mat", "Vec")):
            own = graph.new_class(f"slot {position} in {space}")
            graph.add(node(own, (), 0.0, guard=(slot, graph.add(node(slot, (flow[space],), 0.0)))))
            graph.add(node(place[space], (own,), 0.0))
            graph.add(node(place[space], (place[other],), 4.0))
        flow = place
    graph.add(node(2, (flow["Mat"],), 0.0))
    return graph


@BOTH
def test_a_slot_flips_with_all_that_it_guards(exact: bool) -> None:
    assert solve(carried(1), exact=exact).cost == 1


@BOTH
def test_neighbouring_slots_follow(exact: bool) -> None:
    assert solve(carried(12), exact=exact).cost == 1


@BOTH
def test_a_yield_may_depend_on_its_own_iter_arg(exact: bool) -> None:
    """The guard closes a loop that children do not."""
    graph = build({"slot": [], "arg": [], "sum": [(2, "arg")], "init": [(1, "")]}, roots="slot")
    graph.slots.append(0)
    way = graph.add(node(0, (3, 2), 0.0))
    graph.add(node(1, (), 0.0, guard=(0, way)))
    solution = solve(graph, exact=exact)
    assert solution.cost == 3
    assert violation(graph, solution.choice) is None


def test_a_guard_must_name_a_node_of_a_root() -> None:
    graph = build({"slot": [(0, "")], "a": []}, roots="a")
    graph.add(node(1, (), 0.0, guard=(0, 0)))
    with pytest.raises(SolveError, match="guard"):
        solve(graph)


# ------------------------------------------------------------------------------------------- capacity


def resident(limit: float, *items: tuple[float, float]) -> ChoiceGraph:
    """Operands that are free where they stay resident, at some weight, and cost a reload otherwise."""
    graph = ChoiceGraph(groups=[CapacityGroup(limit, "Vec in region 1")])
    for weight, reload in items:
        cls = graph.new_class(f"operand {len(graph.roots)}")
        graph.roots.append(cls)
        graph.add(node(cls, (), 0.0, group=0, weight=weight))
        graph.add(node(cls, (), reload))
    return graph


@BOTH
@pytest.mark.parametrize(
    ("limit", "cost"), [(0.0, 21), (3.0, 16), (4.0, 12), (5.0, 11), (7.0, 7), (9.0, 2), (12.0, 0), (math.inf, 0)]
)
def test_room_goes_to_those_that_gain_most(limit: float, cost: float, exact: bool) -> None:
    graph = resident(limit, (3, 5), (4, 9), (2, 5), (3, 2))
    assert graph.cost(cheapest(graph)) == cost
    assert solve(graph, exact=exact).cost == cost


@BOTH
def test_what_cannot_fit_is_an_error(exact: bool) -> None:
    graph = resident(5.0, (3, 1), (4, 1))
    for cls in (0, 1):
        graph.nodes[graph.classes[cls][1]].group = 0
        graph.nodes[graph.classes[cls][1]].weight = 3.0
    with pytest.raises(SolveError, match="Vec in region 1"):
        solve(graph, exact=exact)


# --------------------------------------------------------------------------------------------- errors


@BOTH
def test_the_class_that_nobody_can_make_is_named(exact: bool) -> None:
    graph = build({"end": [(1, "a b")], "a": [(1, "")], "b": [(1, "c")], "c": []}, roots="end")
    with pytest.raises(SolveError, match=r"'c' cannot be satisfied, needed by 'end' \(no way to make it\)"):
        solve(graph, exact=exact)


@BOTH
def test_classes_that_only_need_each_other_cannot_be_made(exact: bool) -> None:
    graph = build({"a": [(0, "b")], "b": [(0, "a")]}, roots="a")
    with pytest.raises(SolveError, match="cannot be satisfied"):
        solve(graph, exact=exact)


@BOTH
def test_slots_in_conflict_are_an_error(exact: bool) -> None:
    """Two operands insist on different places of one slot, beside other ways that are circular."""
    graph = build({"slot": [(0, ""), (0, "")], "a": [], "b": []}, roots="slot a b")
    graph.slots.append(0)
    for cls in (1, 2):
        graph.add(node(cls, (), 1.0, guard=(0, cls - 1)))
    with pytest.raises(SolveError, match=r"'(slot|a|b)'"):
        solve(graph, exact=exact)


@pytest.mark.parametrize("price", [-1.0, math.inf, math.nan])
def test_prices_are_finite_and_not_negative(price: float) -> None:
    with pytest.raises(SolveError, match="cost"):
        solve(build({"a": [(price, "")]}, roots="a"))


# ----------------------------------------------------------------------------- start, time, repetition


def test_a_start_is_never_beaten_by_a_dearer_result() -> None:
    graph = program_graph(seed=3, statements=60, room=6.0)
    best = solve(graph, exact=True)
    for seed in range(3):
        assert solve(graph, seed=seed, start=best.choice).cost == best.cost
    assert solve(graph, start=best.choice, time_limit=0.0).cost == best.cost


def test_a_start_may_name_more_than_it_uses() -> None:
    graph = both_operands()
    start: Choice = {cls: nodes[0] for cls, nodes in enumerate(graph.classes)}
    assert set(used_classes(graph, start)) < set(start)
    assert solve(graph, start=start).cost == 214


def test_an_illegal_start_is_refused() -> None:
    graph = both_operands()
    with pytest.raises(SolveError, match=r"start is not a legal choice: class store"):
        solve(graph, start={})


@BOTH
def test_same_graph_and_seed_give_the_same_choice(exact: bool) -> None:
    first, second = (
        solve(program_graph(seed=7, statements=80, room=6.0), exact=exact, time_limit=60.0, seed=5) for _ in range(2)
    )
    assert first == second
    assert list(first.choice) == list(second.choice)


def hard_graph(roots: int, shared: int) -> ChoiceGraph:
    """Each root needs two of many shared classes, which can be made from each other: no solver likes it."""
    graph = ChoiceGraph()
    pool = [graph.new_class(f"shared {number}") for number in range(shared)]
    for cls in pool:
        graph.add(node(cls, (), 20.0 + cls * 37 % 41))
        graph.add(node(cls, (pool[(cls * 7 + 3) % shared],), 1.0 + cls * 13 % 29))
        graph.add(node(cls, (pool[(cls * 11 + 5) % shared],), 1.0 + cls * 17 % 23))
    for root in range(roots):
        cls = graph.new_class(f"root {root}")
        graph.roots.append(cls)
        for way in range(5):
            pair = ((root * 31 + way * 17) % shared, (root * 13 + way * 29 + 1) % shared)
            graph.add(node(cls, pair if pair[0] != pair[1] else pair[:1], float((root * 7 + way * 5) % 20)))
    return graph


def test_the_time_limit_is_kept_and_the_status_honest() -> None:
    graph = hard_graph(150, 150)
    begin = time.monotonic()
    solution = solve(graph, exact=True, time_limit=0.5)
    assert time.monotonic() - begin < 1.5
    assert solution.status in ("bounded", "time limit")
    assert 0 < solution.lower_bound < solution.cost
    assert violation(graph, solution.choice) is None


def test_without_any_time_there_still_is_an_answer() -> None:
    graph = program_graph(seed=1, statements=150)
    solution = solve(graph, time_limit=0.0)
    assert violation(graph, solution.choice) is None
    assert solution.lower_bound <= solve(graph, exact=True).cost <= solution.cost


def test_a_long_chain_is_no_problem() -> None:
    """Nothing recurses."""
    count = 20_000
    graph = ChoiceGraph()
    for number in range(count):
        cls = graph.new_class(f"link {number}")
        graph.add(node(cls, (number - 1,) if number else (), 1.0))
        if number > 1:
            graph.add(node(cls, (number - 1, number - 2), 0.5))
    graph.roots.append(count - 1)
    assert solve(graph).cost == 2 + 0.5 * (count - 2)
