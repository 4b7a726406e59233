"""Choice graphs for tests: small wild ones, and large ones shaped like real programs."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tilesat.extract.graph import CapacityGroup, Choice, ChoiceGraph, Node


def node(cls: int, children: tuple[int, ...] = (), cost: float = 0.0, **more: object) -> Node:
    """A node whose kind and data do not matter."""
    return Node(cls, "Way", (), children, cost, **more)  # type: ignore[arg-type]


def build(ways: dict[str, list[tuple[float, str]]], roots: str) -> ChoiceGraph:
    """A graph from ``class -> [(price, "its children")]``; names are separated by blanks."""
    graph = ChoiceGraph()
    number = {name: graph.new_class(name) for name in ways}
    for name, entries in ways.items():
        for price, children in entries:
            graph.add(node(number[name], tuple(number[child] for child in children.split()), price))
    graph.roots = [number[name] for name in roots.split()]
    return graph


def chosen_costs(graph: ChoiceGraph, choice: Choice) -> dict[str, float]:
    """Used class -> price of its node, by name."""
    return {graph.labels[cls]: graph.nodes[number].cost for cls, number in choice.items()}


PRICES = (0.0, 0.0, 1.0, 2.0, 3.5, 8.0, 0.25)


def wild_graph(seed: int, classes: int = 9, prices: tuple[float, ...] = PRICES) -> ChoiceGraph:
    """A small graph with everything: sharing, cycles, guards, groups, free nodes. May have no legal choice."""
    rng = random.Random(seed)
    graph = ChoiceGraph()
    for number in range(classes):
        graph.new_class(f"class {number}")
    slots = rng.sample(range(classes), rng.choice([0, 1, 1, 2]))
    graph.slots = slots
    graph.roots = list(dict.fromkeys([*slots, *rng.sample(range(classes), rng.randint(1, 2))]))
    graph.fixed_cost = rng.choice([0.0, 1.5])
    for _ in range(rng.choice([0, 0, 1, 2])):
        graph.groups.append(CapacityGroup(float(rng.randint(0, 6)), f"space {len(graph.groups)}"))
    order = rng.sample(range(classes), classes)
    height = {cls: position for position, cls in enumerate(order)}
    for cls in order:
        for _ in range(rng.choice([1, 2, 2, 3])):
            below = [other for other in range(classes) if height[other] < height[cls]]
            pool = below if rng.random() < 0.75 else [other for other in range(classes) if other != cls]
            children = tuple(rng.sample(pool, min(len(pool), rng.choice([0, 1, 1, 2, 3]))))
            graph.add(node(cls, children, rng.choice(prices)))
    _guard_and_weigh(graph, rng)
    return graph


def _guard_and_weigh(graph: ChoiceGraph, rng: random.Random) -> None:
    for way in graph.nodes:
        if graph.slots and way.cls not in graph.slots and rng.random() < 0.3:
            slot = rng.choice(graph.slots)
            way.guard = (slot, rng.choice(graph.classes[slot]))
        if graph.groups and rng.random() < 0.4:
            way.group = rng.randrange(len(graph.groups))
            way.weight = float(rng.randint(0, 4))


SPACES = ("Vec", "Mat", "Left", "Right", "Acc")
MOVES = {("Vec", "Mat"): 6, ("Mat", "Left"): 1, ("Mat", "Right"): 1, ("Acc", "Vec"): 6, ("Acc", "Mat"): 1}
MOVES[("Vec", "Left")] = 6
HOMES = {"load": ("Vec", "Mat"), "vector": ("Vec",), "cube": ("Acc",)}
ASKS = {"vector": [("Vec",)], "cube": [("Left",), ("Right",)], "store": [("Vec", "Acc")]}


@dataclass
class ProgramShape:
    """Builds a graph the way places of tiles make one: values, spaces, nested loops, carried slots."""

    seed: int
    room: float | None = None
    """Bytes of each space that a loop body may hold from outside; ``None`` for no groups."""
    graph: ChoiceGraph = field(default_factory=ChoiceGraph)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.parent = {0: -1}
        self.runs = {0: 1.0}
        self.defined: list[tuple[int, int, tuple[str, ...], float]] = []
        self.own: dict[tuple[int, str], int] = {}
        self.stored: dict[int, int] = {}
        self.at: dict[tuple[int, str, int], int] = {}
        self.room_of: dict[tuple[str, int], int] = {}
        self.values = 0

    def build(self, statements: int) -> ChoiceGraph:
        region = 0
        for _ in range(3):
            self._load(0)
        for _ in range(statements):
            draw = self.rng.random()
            if draw < 0.06 and self._depth(region) < 3:
                region = self._enter(region)
            elif draw < 0.10 and region:
                region = self.parent[region]
            elif draw < 0.28:
                self._load(region)
            elif draw < 0.60:
                self._statement(region, "vector", self.rng.choice([1, 2]))
            elif draw < 0.75:
                self._statement(region, "cube", 2)
            elif draw < 0.82:
                self._view(region)
            elif draw < 0.90 and region:
                self._carry(region)
            else:
                self._statement(region, "store", 1)
        return self.graph

    # ------------------------------------------------------------------------- statements

    def _depth(self, region: int) -> int:
        depth = 0
        while region:
            region, depth = self.parent[region], depth + 1
        return depth

    def _enter(self, region: int) -> int:
        inner = len(self.parent)
        self.parent[inner] = region
        self.runs[inner] = self.runs[region] * self.rng.choice([2.0, 4.0, 8.0])
        return inner

    def _value(self, region: int, spaces: tuple[str, ...], size: float) -> int:
        self.values += 1
        self.defined.append((self.values, region, spaces, size))
        for space in spaces:
            self.own[self.values, space] = self.graph.new_class(f"v{self.values} in {space}")
        stored = self.stored[self.values] = self.graph.new_class(f"v{self.values} in global memory")
        for space in spaces:
            self.graph.add(node(stored, (self.own[self.values, space],), 9.0 * size * self.runs[region]))
        return self.values

    def _load(self, region: int) -> None:
        size = self.rng.choice([1.0, 2.0, 4.0])
        value = self._value(region, HOMES["load"], size)
        for space in HOMES["load"]:
            cost = 8.0 * size * self.runs[region] + 1 / 64
            self.graph.add(node(self.own[value, space], (), cost))

    def _pick(self, region: int) -> tuple[int, int, tuple[str, ...], float]:
        inside = {region}
        while region:
            region = self.parent[region]
            inside.add(region)
        seen = [entry for entry in self.defined[-30:] if entry[1] in inside] or self.defined[:3]
        return self.rng.choice(seen)

    def _statement(self, region: int, kind: str, operands: int) -> None:
        run = self.graph.new_class(f"{kind} statement")
        asked = []
        for slot in range(operands):
            entry = self._pick(region)
            use = self.graph.new_class(f"operand {slot} of {kind}")
            for space in ASKS[kind][slot % len(ASKS[kind])]:
                cost = 8.0 * entry[3] * self.runs[region] if kind == "store" and space == "Acc" else 0.0
                self.graph.add(node(use, (self._place(entry, space, region),), cost))
            asked.append(use)
        self.graph.add(node(run, tuple(asked), 1 / 64))
        self.graph.roots.append(run)
        if kind != "store":
            value = self._value(region, HOMES[kind], self.rng.choice([1.0, 2.0, 4.0]))
            self.graph.add(node(self.own[value, HOMES[kind][0]], (run,), 0.0))

    def _view(self, region: int) -> None:
        source, _, spaces, size = self._pick(region)
        value = self._value(region, spaces, size / 2)
        for space in spaces:
            self.graph.add(node(self.own[value, space], (self.own[source, space],), 1 / 64))

    def _carry(self, region: int) -> None:
        """A carried slot: the iter-arg lives where the slot is, the yield has to flow there."""
        initial = self._pick(self.parent[region])
        slot = self.graph.new_class(f"slot {len(self.graph.slots)}")
        self.graph.slots.append(slot)
        self.graph.roots.append(slot)
        spaces = ("Vec", "Mat")
        carried = self._value(region, spaces, initial[3])
        iter_arg = self.defined[-1]
        for _ in range(self.rng.choice([1, 2])):
            self._statement(region, "vector", 2)
        yielded = self.rng.choice([iter_arg, *self.defined[-2:]])
        result = self._value(self.parent[region], spaces, initial[3])
        for space in spaces:
            flows = (self._place(initial, space, self.parent[region]), self._place(yielded, space, region))
            number = self.graph.add(node(slot, flows, 0.0))
            for value in (carried, result):
                self.graph.add(node(self.own[value, space], (), 0.0, guard=(slot, number)))

    # ----------------------------------------------------------------------------- places

    def _place(self, entry: tuple[int, int, tuple[str, ...], float], space: str, region: int) -> int:
        value, home, spaces, size = entry
        if (value, space, region) in self.at:
            return self.at[value, space, region]
        if region not in self.parent or not self._is_inside(region, home):
            region = home
        self._all_places(value, home, spaces, size, region)
        return self.at[value, space, region]

    def _is_inside(self, region: int, outer: int) -> bool:
        while region != outer and region:
            region = self.parent[region]
        return region == outer

    def _all_places(self, value: int, home: int, spaces: tuple[str, ...], size: float, region: int) -> None:
        path = [region]
        while path[-1] != home:
            path.append(self.parent[path[-1]])
        for here in reversed(path):
            new = [space for space in SPACES if (value, space, here) not in self.at]
            for space in new:
                self.at[value, space, here] = self.graph.new_class(f"v{value} in {space} for region {here}")
            for space in new:
                cls = self.at[value, space, here]
                if here == home and space in spaces:
                    self.graph.add(node(cls, (self.own[value, space],), 0.0))
                if here != home:
                    outer = self.at[value, space, self.parent[here]]
                    self.graph.add(node(cls, (outer,), 0.0, **self._room(space, here, size)))
                if here != home and space in ("Vec", "Mat"):
                    reload = 9.0 * size * self.runs[here] + 1 / 64
                    self.graph.add(node(cls, (self.stored[value],), reload))
                for (source, target), weight in MOVES.items():
                    if target == space:
                        cost = weight * size * self.runs[here] + 1 / 64
                        self.graph.add(node(cls, (self.at[value, source, here],), cost))

    def _room(self, space: str, region: int, size: float) -> dict[str, object]:
        if self.room is None:
            return {}
        key = (space, region)
        if key not in self.room_of:
            self.room_of[key] = len(self.graph.groups)
            self.graph.groups.append(CapacityGroup(self.room, f"{space} in region {region}"))
        return {"group": self.room_of[key], "weight": size}


def program_graph(seed: int, statements: int, room: float | None = None) -> ChoiceGraph:
    """A graph shaped like a program of about ``statements`` statements; about ten nodes a statement and loop."""
    return ProgramShape(seed, room).build(statements)
