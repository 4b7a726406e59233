"""Room for copies that stay through loops: rows of the choice problem, made where a solution needs too much.

A copy kept from outside is alive throughout the loop it is kept for, so for one loop and space the kept copies
together may take what the rest of the loop leaves at its fullest statement. What the rest needs depends on the
solution; a row that turns out too wide is narrowed and the problem solved again.
"""

from __future__ import annotations

from collections import defaultdict

from tilesat.extract.count import tile_bytes
from tilesat.extract.graph import CapacityGroup, Choice, used_classes
from tilesat.extract.lifetimes import Buffer, buffers
from tilesat.extract.places import PlaceGraph
from tilesat.ir.hardware import Hardware
from tilesat.ir.index import FunctionIndex
from tilesat.ir.types import MemorySpace
from tilesat.ir_terms.relations import SPACE_NUMBERS


class Rooms:
    """The capacity rows of one function's choice graph; ``allowed`` is what the input needed already, in bytes."""

    def __init__(self, places: PlaceGraph, chip: Hardware, allowed: dict[MemorySpace, int]) -> None:
        self.places = places
        self.graph = places.choices
        self.chip = chip
        self.allowed = allowed
        self._rows: dict[tuple[int, MemorySpace], int] = {}

    def narrow(self, choice: Choice, result: FunctionIndex) -> bool:
        """Make or narrow the rows of the loops in which ``result``, made by ``choice``, needs too much.

        Returns whether a row now forbids ``choice``; where none does, rows cannot help.
        """
        if len(result.regions) != len(self.places.index.regions):
            return False
        used = set(used_classes(self.graph, choice))
        live = [buffer for buffer in buffers(result, self.chip) if buffer.size]
        narrowed = False
        for region in result.regions:
            if region.kind != "loop":
                continue
            inside = [b for b in live if b.first < region.end and b.last >= region.owner]
            for space in {b.space for b in inside} & self.chip.buffers.keys():
                limit = max(self.chip.buffers[space].capacity, self.allowed.get(space, 0))
                need = _peak([b for b in inside if b.space is space], region.owner + 1)
                if need > limit:
                    narrowed |= self._narrow(region.id, space, limit - need, choice, used)
        return narrowed

    def _narrow(self, region: int, space: MemorySpace, spare: int, choice: Choice, used: set[int]) -> bool:
        row = self._row(region, space)
        members = [node for node in self.graph.nodes if node.group == row and node.weight]
        kept = sum(node.weight for node in members if node.cls in used and self.graph.nodes[choice[node.cls]] is node)
        if not kept:
            return False
        what = f"copies kept in {space.value} for region {region}"
        self.graph.groups[row] = CapacityGroup(min(self.graph.groups[row].limit, max(0.0, kept + spare)), what)
        return True

    def _row(self, region: int, space: MemorySpace) -> int:
        """The group of all copies that can be kept in ``space`` for ``region``."""
        row = self._rows.get((region, space))
        if row is None:
            row = self._rows[region, space] = len(self.graph.groups)
            self.graph.groups.append(CapacityGroup(float("inf"), ""))
            for node in self.graph.nodes:
                place = self.places.at.get(node.cls) if node.kind == "Up" else None
                if place is not None and place[1] == SPACE_NUMBERS[space] and place[3] == region:
                    node.group, node.weight = row, self._weight(node.cls, node.children[0], space)
        return row

    def _weight(self, cls: int, source: int, space: MemorySpace) -> float:
        """Bytes that keeping ``cls`` takes; nothing where a buffer that is there anyhow is read."""
        if self._is_there(source):
            return 0.0
        members = self.places.members.get(self.places.at[cls][0])
        size = tile_bytes(self.places.index.types[members[0][0]]) if members else None
        return 0.0 if size is None else float(self.chip.allocation_size(size, space))

    def _is_there(self, cls: int) -> bool:
        seen = {cls}
        pending = [cls]
        while pending:
            for number in self.graph.classes[pending.pop()]:
                node = self.graph.nodes[number]
                if node.kind == "Read":
                    return True
                if node.kind in ("Up", "AnyOf") and node.children[0] not in seen:
                    seen.add(node.children[0])
                    pending.append(node.children[0])
        return False


def _peak(live: list[Buffer], start: int) -> int:
    """The most bytes of ``live`` at once, at ``start`` or later."""
    changes: dict[int, int] = defaultdict(int)
    for buffer in live:
        changes[max(buffer.first, start)] += buffer.size or 0
        changes[max(buffer.last, start) + 1] -= buffer.size or 0
    level = peak = 0
    for site in sorted(changes):
        level += changes[site]
        peak = max(peak, level)
    return peak
