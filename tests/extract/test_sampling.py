"""Random legal choices, and the enumeration that they are compared with."""

from __future__ import annotations

import pytest

from tests.extract.graphs import build, program_graph, wild_graph
from tilesat.errors import SolveError
from tilesat.extract.brute import all_choices, open_choices
from tilesat.extract.graph import ChoiceGraph, used_classes, violation
from tilesat.extract.sampling import sample


def test_enumeration_gives_each_choice_once() -> None:
    graph = build({"a": [(1, "b"), (2, "c"), (3, "")], "b": [(1, ""), (2, "c")], "c": [(1, ""), (2, "b")]}, roots="a")
    found = [tuple(sorted(choice.items())) for choice in all_choices(graph)]
    assert open_choices(graph) == 3
    # a alone; b alone or on c; c alone or on b; never b and c on each other.
    assert len(found) == len(set(found)) == 5


def test_sampled_choices_are_legal_and_used_only() -> None:
    for graph in (program_graph(1, 80), program_graph(2, 80, room=6.0)):
        for choice in sample(graph, seed=4, count=5):
            assert violation(graph, choice) is None
            assert set(choice) == set(used_classes(graph, choice))


def test_the_same_seed_gives_the_same_samples() -> None:
    graph = program_graph(5, 60, room=12.0)
    assert list(sample(graph, 1, 4)) == list(sample(graph, 1, 4)) != list(sample(graph, 2, 4))


def small_graphs() -> list[tuple[ChoiceGraph, set[tuple[tuple[int, int], ...]]]]:
    found = []
    for seed in range(200):
        graph = wild_graph(seed, 6)
        legal = {tuple(sorted(choice.items())) for choice in all_choices(graph)} if open_choices(graph) < 8 else set()
        if 2 <= len(legal) <= 12:
            found.append((graph, legal))
    return found[:25]


def test_every_legal_choice_can_come_out() -> None:
    """Slots, cycles and full groups included."""
    graphs = small_graphs()
    assert len(graphs) > 15
    for graph, legal in graphs:
        drawn = {tuple(sorted(choice.items())) for choice in sample(graph, seed=0, count=60 * len(legal))}
        assert drawn == legal


def test_samples_of_a_large_graph_differ() -> None:
    graph = program_graph(3, 120)
    assert len({tuple(sorted(choice.items())) for choice in sample(graph, 0, 6)}) == 6


def test_nothing_to_sample_is_an_error() -> None:
    with pytest.raises(SolveError, match="cannot be satisfied"):
        next(sample(build({"a": []}, roots="a"), 0, 1))
