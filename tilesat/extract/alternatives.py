"""What a decision would cost the other way: the cheapest choice found that does without one chosen node."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass, replace

from tilesat.errors import SolveError
from tilesat.extract.graph import CapacityGroup, Choice, ChoiceGraph, Node
from tilesat.extract.problem import Problem, whole_problem
from tilesat.extract.prune import Pruner
from tilesat.extract.solve import solve

LONGEST = 1.0
"""Seconds for one alternative."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A choice without some node: what it costs more in all, and the nodes that it uses instead."""

    more: float
    nodes: tuple[int, ...]


@dataclass(slots=True)
class _Island:
    """Classes whose decisions depend on each other and on nothing else, as a graph of their own."""

    graph: ChoiceGraph
    node_numbers: list[int]
    """Node of the island -> node of the whole graph."""
    start: Choice
    cost: float


class Alternatives:
    """Answers for one graph and the choice made in it.

    Only the island of classes that a decision can influence is solved again, so an answer takes milliseconds. All
    answers together take ``time_limit`` seconds at most; ``is_over`` says whether that time has passed.
    """

    def __init__(self, graph: ChoiceGraph, choice: Choice, time_limit: float, seed: int = 0) -> None:
        self.graph = graph
        self.choice = choice
        self.seed = seed
        self._deadline = time.monotonic() + time_limit
        self._problem: Problem = whole_problem(graph)[0]
        pruned = Pruner(self._problem).run()
        self._alive = pruned.alive
        self._forced = pruned.forced
        self._settled = [
            bool(pruned.forced[cls]) and sum(self._alive[way] for way in ways) == 1
            for cls, ways in enumerate(graph.classes)
        ]
        self._islands: dict[int, _Island] = {}
        self._leader = self._join()
        self._members: dict[int, list[int]] = defaultdict(list)
        for cls in range(len(graph.classes)):
            if not self._settled[cls]:
                self._members[self._find(cls)].append(cls)

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._deadline

    def is_open(self, cls: int) -> bool:
        """Whether ``cls`` could be had in more than one way."""
        return sum(self._alive[way] for way in self.graph.classes[cls]) > 1

    def without(self, *nodes: int) -> Alternative | None:
        """The cheapest choice found that uses none of ``nodes``, ways of one class; ``None`` where there is none.

        Raises :class:`SolveError` when the time is over.
        """
        cls = self.graph.nodes[nodes[0]].cls
        if self._settled[cls]:
            return None
        if self.is_over:
            raise SolveError("no time left for alternatives", hint="raise the time limit")
        island = self._island(cls)
        rest = _without(island.graph, {island.node_numbers.index(node) for node in nodes if self._alive[node]})
        left = min(LONGEST, max(0.01, self._deadline - time.monotonic()))
        try:
            found = solve(rest, time_limit=left, seed=self.seed)
        except SolveError:
            return None
        used = {island.node_numbers[way] for way in found.choice.values()}
        now = set(self.choice.values())
        return Alternative(found.cost - island.cost, tuple(sorted(used - now)))

    # ------------------------------------------------------------------------- islands

    def _find(self, cls: int) -> int:
        leader = self._leader
        while leader[cls] != cls:
            leader[cls] = leader[leader[cls]]
            cls = leader[cls]
        return cls

    def _join(self) -> list[int]:
        problem = self._problem
        self._leader = list(range(len(problem.ways)))
        first_of_group: dict[int, int] = {}
        for way, cls in enumerate(problem.cls):
            if not self._alive[way] or self._settled[cls]:
                continue
            others = [child for child in problem.children[way] if not self._settled[child]]
            guard = problem.guard[way]
            if guard >= 0 and not self._settled[problem.cls[guard]]:
                others.append(problem.cls[guard])
            if problem.group[way] >= 0:
                others.append(first_of_group.setdefault(problem.group[way], cls))
            for other in others:
                first, second = sorted((self._find(cls), self._find(other)))
                self._leader[second] = first
        return self._leader

    def _island(self, cls: int) -> _Island:
        key = self._find(cls)
        if key not in self._islands:
            self._islands[key] = self._cut_out(self._members[key])
        return self._islands[key]

    def _cut_out(self, members: list[int]) -> _Island:
        number = {cls: position for position, cls in enumerate(members)}
        kept = [way for cls in members for way in self.graph.classes[cls] if self._alive[way]]
        way_number = {way: position for position, way in enumerate(kept)}
        island = ChoiceGraph(
            labels=[self.graph.labels[cls] for cls in members],
            classes=[[way_number[way] for way in self.graph.classes[cls] if self._alive[way]] for cls in members],
            roots=[number[cls] for cls in members if self._forced[cls]],
            slots=[number[cls] for cls in self.graph.slots if cls in number],
            groups=self._groups_left(),
        )
        for way in kept:
            island.nodes.append(self._cut_node(self.graph.nodes[way], number, way_number))
        start = {number[cls]: way_number[self.choice[cls]] for cls in members if cls in self.choice}
        return _Island(island, kept, start, island.cost(start))

    def _cut_node(self, node: Node, number: dict[int, int], way_number: dict[int, int]) -> Node:
        guard = node.guard
        cut = None if guard is None or guard[0] not in number else (number[guard[0]], way_number[guard[1]])
        children = tuple(number[child] for child in node.children if child in number)
        return replace(node, cls=number[node.cls], children=children, guard=cut)

    def _groups_left(self) -> list[CapacityGroup]:
        """Each group's limit without what settled classes put into it."""
        taken = [0.0] * len(self.graph.groups)
        for cls, ways in enumerate(self.graph.classes):
            for way in ways:
                node = self.graph.nodes[way]
                if self._settled[cls] and self._alive[way] and node.group is not None:
                    taken[node.group] += node.weight
        return [
            replace(group, limit=group.limit - weight) for group, weight in zip(self.graph.groups, taken, strict=True)
        ]


def _without(graph: ChoiceGraph, nodes: set[int]) -> ChoiceGraph:
    # A node that a missing one guards can never be chosen.
    gone = nodes | {n for n, other in enumerate(graph.nodes) if other.guard is not None and other.guard[1] in nodes}
    classes = [[way for way in ways if way not in gone] for ways in graph.classes]
    return replace(graph, classes=classes)
