"""Where chosen copies, views and windows are executed, and under which names.

Each is executed in the region its place is for: where the input already has such a statement early enough, there;
else directly before the first statement of the region that needs it.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from tilesat.bridge.names import Names
from tilesat.extract.graph import Choice, Node
from tilesat.extract.places import PlaceGraph
from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import Assign, OpCall
from tilesat.ir.types import MemorySpace, TileType
from tilesat.ir_terms.relations import SPACES

_EXECUTED = frozenset({"Load", "Move", "Look", "Cut", "Slice"})


@dataclass(slots=True)
class Execution:
    """One statement to emit: the node that was chosen for class ``cls``."""

    cls: int
    node: Node
    region: int
    site: int
    """It stands directly before this site, or instead of it when ``reuses`` is that site."""
    name: str
    reuses: int | None = None


@dataclass(slots=True)
class Schedule:
    """All executions by the site they stand at, and what every used place is called."""

    at: dict[int, list[Execution]] = field(default_factory=lambda: defaultdict(list))
    names: dict[int, str] = field(default_factory=dict)
    """Place class -> name of the variable that is there."""
    homes: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Producer -> spaces in which its tile is wanted, the one it has now first."""
    kept: set[int] = field(default_factory=set)
    """Sites of statements that stay and are needed."""


class Scheduler:
    """Computes the :class:`Schedule` of one choice."""

    def __init__(self, places: PlaceGraph, choice: Choice, names: Names) -> None:
        self.places = places
        self.graph = places.choices
        self.index: FunctionIndex = places.index
        self.choice = choice
        self.fresh = names
        self.schedule = Schedule()
        self._first: dict[int, int] = {}
        self._taken: set[str] = set()

    def run(self) -> Schedule:
        order = self._users_before_places()
        self._find_homes(order)
        for cls in order:
            self._propagate(cls)
        for cls in reversed(order):
            self._name(cls)
        rank = {cls: number for number, cls in enumerate(reversed(order))}
        for executions in self.schedule.at.values():
            executions[:] = self._in_order(sorted(executions, key=lambda execution: rank[execution.cls]))
        return self.schedule

    def _in_order(self, executions: list[Execution]) -> list[Execution]:
        """Executions of one site so that little is alive at once; ``executions`` are in a legal order.

        Each source comes directly before what is made of it. Loads that nothing is made of here stay alive, and come
        after what goes through the same memory.
        """
        if len(executions) < 2:
            return executions
        sources = {execution.cls: self._sources(execution.node) for execution in executions}
        read = set().union(*sources.values())
        last = [e for e in executions if e.node.kind == "Load" and e.cls not in read]
        return [*(e for e in executions if e not in last), *last] if last else executions

    def _sources(self, node: Node) -> set[int]:
        """Classes that ``node`` reads, directly or through what only passes them on."""
        found: set[int] = set()
        pending = list(node.children)
        while pending:
            cls = pending.pop()
            found.add(cls)
            inner = self._node(cls)
            if inner.kind in ("Read", "AnyOf", "Up"):
                pending.extend(inner.children)
        return found

    def _node(self, cls: int) -> Node:
        return self.graph.nodes[self.choice[cls]]

    # --------------------------------------------------------------------------- order

    def _users_before_places(self) -> list[int]:
        """Used classes, each after everything that uses it (a legal choice has no cycles)."""
        finished: list[int] = []
        state: set[int] = set()
        for root in self.graph.roots:
            stack = [(root, iter(self._node(root).children))] if root not in state else []
            state.add(root)
            while stack:
                cls, children = stack[-1]
                child = next((c for c in children if c not in state), None)
                if child is None:
                    finished.append(cls)
                    stack.pop()
                else:
                    state.add(child)
                    stack.append((child, iter(self._node(child).children)))
        return finished[::-1]

    def _find_homes(self, order: list[int]) -> None:
        for cls in order:
            node = self._node(cls)
            if node.kind == "Run":
                self.schedule.kept.add(node.data[0])
            elif node.kind in ("Home", "Made"):
                self.schedule.homes[node.data[0]].append(node.data[1])
        for name, spaces in self.schedule.homes.items():
            now = self._space_now(name)
            spaces.sort(key=lambda number: (SPACES[number] is not now, number))

    def _space_now(self, name: str) -> MemorySpace | None:
        type_ = self.index.types[name]
        return type_.space if isinstance(type_, TileType) else None

    # ----------------------------------------------------------------------- positions

    def _propagate(self, cls: int) -> None:
        """Pass on to the places that ``cls`` reads where they must be by, and settle where it is executed."""
        node = self._node(cls)
        if node.kind in _EXECUTED:
            position = self._settle(cls, node)
        else:
            position = self._reading_site(cls, node)
        for child in node.children:
            self._need(child, position)

    def _need(self, cls: int, site: int) -> None:
        place = self.places.at.get(cls)
        if place is None or site < 0:
            return
        region = place[3]
        here = self.index.site_in(region, site)
        self._first[cls] = min(self._first.get(cls, here), here)

    def _reading_site(self, cls: int, node: Node) -> int:
        """The site at which ``cls`` reads its children."""
        if node.kind == "Take":
            return self.places.site_of_use(cls)
        if node.kind in ("AnyOf", "Read"):
            return self._first.get(cls, -1)
        if node.kind == "Up":
            region = self.places.at[cls][3]
            return self.index.regions[region].owner
        return -1

    def _settle(self, cls: int, node: Node) -> int:
        region = self.places.at[cls][3]
        site = self._first[cls]
        original = self._original(cls, node, region, site)
        name = self._execution_name(cls, node, original)
        execution = Execution(cls, node, region, site, name)
        if original is not None:
            execution.site = execution.reuses = self.index.definitions[original].site
        self.schedule.names[cls] = name
        self.schedule.at[execution.site].append(execution)
        return execution.site

    def _original(self, cls: int, node: Node, region: int, latest: int) -> str | None:
        """A statement of the input that does just this, in the same region and early enough."""
        content, space, layout, _ = self.places.at[cls]
        for name, _ in self.places.members.get(content, ()):
            definition = self.index.definitions[name]
            if definition.region != region or definition.how != "assign" or definition.site > latest:
                continue
            if name not in self.places.floating or name in self._taken:
                # What is not floating stays as it is, and is read where it is.
                continue
            if not self._does(name, node, SPACES[space], layout):
                continue
            return name
        return None

    def _does(self, name: str, node: Node, space: MemorySpace, layout: int) -> bool:
        stmt = self.index.sites[self.index.definitions[name].site]
        if not isinstance(stmt, Assign) or not isinstance(stmt.value, OpCall) or not isinstance(stmt.type, TileType):
            return False
        if node.kind in ("Load", "Look", "Cut"):
            return self.index.definitions[name].site == node.data[0] and (
                node.kind == "Look" or stmt.type.space is space
            )
        if node.kind != "Move" or stmt.value.op != "tile.move" or stmt.type.space is not space:
            return False
        is_row = stmt.type.layout.slayout == "none_box" and stmt.type.layout.blayout == "row_major"
        return space is not MemorySpace.Vec or is_row == bool(layout)

    # --------------------------------------------------------------------------- names

    def _execution_name(self, cls: int, node: Node, original: str | None) -> str:
        content, space, _, _ = self.places.at[cls]
        if original is None:
            original = self._borrowed(content, SPACES[space])
        if original is not None:
            self._taken.add(original)
            return original
        base = self._base(content)
        hint = f"{base}_{SPACES[space].value}" if node.kind in ("Move", "Cut") else f"{base}_view"
        return self.fresh.fresh(hint)

    def _borrowed(self, content: Any, space: MemorySpace) -> str | None:
        """The name of a copy of the input that is no longer made where it was."""
        for name, _ in self.places.members.get(content, ()):
            is_free = name in self.places.floating and name not in self._taken
            if is_free and self._space_now(name) is space:
                return name
        return None

    def _base(self, content: Any) -> str:
        members = self.places.members.get(content, ())
        return next(
            (name for name, _ in members if name not in self.places.floating), members[0][0] if members else "t"
        )

    def _name(self, cls: int) -> None:
        """Name the place of ``cls`` after what it reads; children are named already."""
        node = self._node(cls)
        names = self.schedule.names
        if node.kind in ("Home", "Made"):
            name, space = node.data
            spaces = self.schedule.homes[name]
            names[cls] = name if spaces[0] == space else self._second_name(name, space)
        elif node.kind == "Slot":
            names[cls] = node.data[0]
        elif node.kind in ("Alike", "Read", "AnyOf", "Up", "Take"):
            names[cls] = names[node.children[0]]

    def _second_name(self, name: str, space: int) -> str:
        return self.fresh.fresh(f"{name}_{SPACES[space].value}")
