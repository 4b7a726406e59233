"""The choice graph: classes of equivalent places, the ways to make each, and what they cost.

An AND-OR graph as plain arrays. A class is satisfied by one of its nodes, a node by all its children. A guarded
node may be chosen only where the slot it depends on lives in the space it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tilesat.extract.plan import Reasons


@dataclass(slots=True)
class Node:
    """One way. ``kind`` and ``data`` say what it is to whoever elaborates; ``guard`` is (slot class, node)."""

    cls: int
    kind: str
    data: tuple[Any, ...]
    children: tuple[int, ...]
    cost: float
    reasons: Reasons = ()
    guard: tuple[int, int] | None = None
    group: int | None = None
    """Capacity group this node takes room in, if any."""
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class CapacityGroup:
    """Chosen nodes of the group may weigh at most ``limit`` together (bytes of one space in one region)."""

    limit: float
    what: str


@dataclass(slots=True)
class ChoiceGraph:
    """``nodes`` by number, ``classes[c]`` the nodes of class ``c``, ``roots`` the classes that must be satisfied."""

    nodes: list[Node] = field(default_factory=list)
    classes: list[list[int]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    slots: list[int] = field(default_factory=list)
    """Slot classes: their nodes are the spaces a slot may live in."""
    groups: list[CapacityGroup] = field(default_factory=list)
    fixed_cost: float = 0.0
    """Cost of what stays in every choice."""

    def new_class(self, label: str) -> int:
        self.classes.append([])
        self.labels.append(label)
        return len(self.classes) - 1

    def add(self, node: Node) -> int:
        """Enter ``node``; a node that needs its own class is useless and left out (-1)."""
        if node.cls in node.children:
            return -1
        self.nodes.append(node)
        self.classes[node.cls].append(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def cost(self, choice: Choice) -> float:
        """The cost of all that ``choice`` uses, each class once, fixed cost included."""
        return self.fixed_cost + sum(self.nodes[choice[c]].cost for c in used_classes(self, choice))


Choice = dict[int, int]
"""Class -> chosen node."""


def used_classes(graph: ChoiceGraph, choice: Choice) -> list[int]:
    """Classes reached from the roots through chosen nodes, each once, in order of discovery."""
    seen = dict.fromkeys(graph.roots)
    pending = list(graph.roots)
    while pending:
        cls = pending.pop()
        for child in graph.nodes[choice[cls]].children:
            if child not in seen:
                seen[child] = None
                pending.append(child)
    return list(seen)


def violation(graph: ChoiceGraph, choice: Choice) -> str | None:
    """Why ``choice`` is not legal, ``None`` when it is: missing class, cycle, guard, capacity."""
    state: dict[int, int] = {}
    for root in graph.roots:
        stack: list[tuple[int, int]] = [(root, 0)]
        while stack:
            cls, position = stack.pop()
            if cls not in choice:
                return f"class {graph.labels[cls]} has no choice"
            if position == 0:
                if state.get(cls) == 2:
                    continue
                state[cls] = 1
            children = graph.nodes[choice[cls]].children
            if position == len(children):
                state[cls] = 2
                continue
            stack.append((cls, position + 1))
            child = children[position]
            if state.get(child) == 1:
                return f"class {graph.labels[child]} depends on itself"
            if child not in state:
                stack.append((child, 0))
    return _guard_violation(graph, choice, list(state)) or _capacity_violation(graph, choice, list(state))


def _guard_violation(graph: ChoiceGraph, choice: Choice, used: list[int]) -> str | None:
    for cls in used:
        guard = graph.nodes[choice[cls]].guard
        if guard is not None and choice.get(guard[0]) != guard[1]:
            return f"class {graph.labels[cls]} needs its slot elsewhere"
    return None


def _capacity_violation(graph: ChoiceGraph, choice: Choice, used: list[int]) -> str | None:
    load = [0.0] * len(graph.groups)
    for cls in used:
        node = graph.nodes[choice[cls]]
        if node.group is not None:
            load[node.group] += node.weight
    for group, weight in zip(graph.groups, load, strict=True):
        if weight > group.limit:
            return f"{group.what}: {weight:.0f} of {group.limit:.0f} bytes"
    return None


def alive_nodes(graph: ChoiceGraph) -> list[bool]:
    """Nodes that can be satisfied at all and are reachable from the roots through such nodes."""
    need = [len(set(node.children)) for node in graph.nodes]
    parents: list[list[int]] = [[] for _ in graph.classes]
    for number, node in enumerate(graph.nodes):
        for child in set(node.children):
            parents[child].append(number)
    possible = [False] * len(graph.classes)
    pending = []
    for number, count in enumerate(need):
        if count == 0 and not possible[graph.nodes[number].cls]:
            possible[graph.nodes[number].cls] = True
            pending.append(graph.nodes[number].cls)
    while pending:
        for number in parents[pending.pop()]:
            need[number] -= 1
            cls = graph.nodes[number].cls
            if need[number] == 0 and not possible[cls]:
                possible[cls] = True
                pending.append(cls)
    return _reachable(graph, possible)


def _reachable(graph: ChoiceGraph, possible: list[bool]) -> list[bool]:
    alive = [False] * len(graph.nodes)
    seen = set(graph.roots)
    pending = list(seen)
    while pending:
        for number in graph.classes[pending.pop()]:
            node = graph.nodes[number]
            if not all(possible[child] for child in node.children):
                continue
            alive[number] = True
            for child in node.children:
                if child not in seen:
                    seen.add(child)
                    pending.append(child)
    return alive
