"""The choice problem in dense numbers and exact integers: what all solvers work on.

Prices are kept as integers of a common binary unit. Every float is a whole number of such units, so sums are
exact, ties are ties, and a search that only accepts improvements cannot cycle.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from tilesat.errors import SolveError
from tilesat.extract.graph import ChoiceGraph

NEVER = -2
"""Guard of a way whose slot cannot be where the way needs it."""


@dataclass(slots=True)
class Problem:
    """Classes and ways by dense number; ``class_ids`` and ``way_ids`` lead back to the graph.

    ``guard[w]`` is the way that must be chosen for way ``w`` to be allowed, or -1. ``group[w]`` is -1 for a way
    that takes no limited room. Every class that owns a guard is a root. Children of a way are distinct.
    """

    graph: ChoiceGraph
    ways: list[list[int]]
    cls: list[int]
    children: list[tuple[int, ...]]
    cost: list[int]
    guard: list[int]
    group: list[int]
    weight: list[int]
    limits: list[int]
    group_ids: list[int]
    roots: list[int]
    class_ids: list[int]
    way_ids: list[int]
    _parents: list[list[int]] | None = field(default=None, init=False)

    @property
    def parents(self) -> list[list[int]]:
        """For each class the ways that have it as a child."""
        if self._parents is None:
            parents: list[list[int]] = [[] for _ in self.ways]
            for way, children in enumerate(self.children):
                for child in children:
                    parents[child].append(way)
            self._parents = parents
        return self._parents

    def label(self, cls: int) -> str:
        return self.graph.labels[self.class_ids[cls]]

    def slots(self) -> list[int]:
        """Classes whose choice guards other ways."""
        return sorted({self.cls[guard] for guard in self.guard if guard >= 0})


@dataclass(frozen=True, slots=True)
class Unit:
    """What one integer is worth: ``1 / per_one``."""

    per_one: int

    @staticmethod
    def of(values: Iterable[float]) -> Unit:
        """The largest binary unit that divides all ``values``; they must be finite."""
        return Unit(max((value.as_integer_ratio()[1] for value in values), default=1))

    def count(self, value: float) -> int:
        numerator, denominator = value.as_integer_ratio()
        return numerator * (self.per_one // denominator)

    def floor(self, value: float) -> int:
        return math.floor(Fraction(value) * self.per_one)

    def value(self, count: int) -> float:
        return count / self.per_one


def whole_problem(graph: ChoiceGraph) -> tuple[Problem, Unit]:
    """All of ``graph``, class and way numbers unchanged, and the unit of its prices.

    Raises :class:`SolveError` for prices or weights that are negative or not finite, and for guards that name no
    node of a root.
    """
    nodes = graph.nodes
    _check_numbers(graph)
    unit = Unit.of({node.cost for node in nodes})
    price = {cost: unit.count(cost) for cost in {node.cost for node in nodes}}
    heavy = Unit.of({node.weight for node in nodes})
    limited = [math.isfinite(group.limit) for group in graph.groups]
    problem = Problem(
        graph=graph,
        ways=graph.classes,
        cls=[node.cls for node in nodes],
        children=[_distinct(node.children) for node in nodes],
        cost=[price[node.cost] for node in nodes],
        guard=[-1] * len(nodes),
        group=[-1] * len(nodes),
        weight=[0] * len(nodes),
        limits=[heavy.floor(group.limit) if limited[g] else 0 for g, group in enumerate(graph.groups)],
        group_ids=list(range(len(graph.groups))),
        roots=list(dict.fromkeys(graph.roots)),
        class_ids=list(range(len(graph.classes))),
        way_ids=list(range(len(nodes))),
    )
    roots = set(graph.roots)
    listed = bytearray(len(nodes))
    for ways in graph.classes:
        for number in ways:
            listed[number] = 1
    for number, node in enumerate(nodes):
        if not listed[number]:
            # Its offer was taken back.
            problem.guard[number] = NEVER
        elif node.guard is not None:
            slot, wanted = node.guard
            if slot not in roots or nodes[wanted].cls != slot:
                raise SolveError(
                    f"a node of class {graph.labels[node.cls]} is guarded by node {wanted} of class {slot}",
                    hint="a guard names a slot class among the roots, and one of its nodes",
                )
            problem.guard[number] = wanted
        if node.group is not None and node.weight and limited[node.group]:
            problem.group[number] = node.group
            problem.weight[number] = heavy.count(node.weight)
    return problem, unit


def _distinct(children: tuple[int, ...]) -> tuple[int, ...]:
    if len(children) < 2:
        return children
    return tuple(dict.fromkeys(children))


def _check_numbers(graph: ChoiceGraph) -> None:
    for values, what in (
        ({node.cost for node in graph.nodes}, "cost"),
        ({node.weight for node in graph.nodes}, "weight"),
    ):
        wrong = [value for value in values if not math.isfinite(value) or value < 0]
        if wrong:
            raise SolveError(f"the choice graph has a node of {what} {wrong[0]}", hint="a finite number >= 0")


def choice_cost(problem: Problem, choice: list[int]) -> int:
    """The price of all that ``choice`` (class -> way, -1 where unused) uses from the roots."""
    return sum(problem.cost[choice[c]] for c in reached(problem, choice))


def reached(problem: Problem, choice: list[int]) -> list[int]:
    """Classes that ``choice`` uses, in order of discovery."""
    seen = dict.fromkeys(problem.roots)
    pending = list(seen)
    while pending:
        for child in problem.children[choice[pending.pop()]]:
            if child not in seen:
                seen[child] = None
                pending.append(child)
    return list(seen)


def is_legal(problem: Problem, choice: list[int]) -> bool:
    """Whether what ``choice`` uses is complete, acyclic, guarded by chosen ways, and fits its groups."""
    used = _acyclic_order(problem, choice)
    if used is None:
        return False
    load = [0] * len(problem.limits)
    for cls in used:
        way = choice[cls]
        guard = problem.guard[way]
        if guard >= 0 and choice[problem.cls[guard]] != guard:
            return False
        if problem.group[way] >= 0:
            load[problem.group[way]] += problem.weight[way]
    return all(weight <= limit for weight, limit in zip(load, problem.limits, strict=True))


def _acyclic_order(problem: Problem, choice: list[int]) -> list[int] | None:
    """Used classes, children before parents; ``None`` when one is missing or depends on itself."""
    order: list[int] = []
    state = bytearray(len(problem.ways))
    stack = list(problem.roots)
    while stack:
        cls = stack[-1]
        if state[cls]:
            stack.pop()
            if state[cls] == 1:
                state[cls] = 2
                order.append(cls)
            continue
        if choice[cls] < 0:
            return None
        state[cls] = 1
        for child in problem.children[choice[cls]]:
            if state[child] == 1:
                return None
            if not state[child]:
                stack.append(child)
    return order
