"""Room for copies that stay through loops: what to give up where a solution needs too much of a memory.

A copy kept from outside is alive throughout the loop it is kept for. What else is alive next to it depends on the
solution, so solutions are checked when they are there. One that needs too much makes several tiles that are alive at
its fullest statement; every solution that fits does without one of them. So it is followed by one solution for each,
the cheapest first, until one fits. Where that takes too many, the room for kept copies is narrowed to what the rest of
the solution leaves, which fits soon and proves nothing.
"""

from __future__ import annotations

import heapq
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from tilesat.errors import SolveError
from tilesat.extract.count import tile_bytes
from tilesat.extract.graph import CapacityGroup, Choice, used_classes
from tilesat.extract.lifetimes import Buffer, Needs, buffers, overfull
from tilesat.extract.places import PlaceGraph
from tilesat.extract.solve import Solution
from tilesat.ir.hardware import Hardware
from tilesat.ir.index import FunctionIndex
from tilesat.ir.types import MemorySpace
from tilesat.ir_terms.relations import SPACE_NUMBERS, SPACES

T = TypeVar("T")
# Ways to make a tile that has a buffer of its own, and to keep one.
_MAKES = frozenset({"Load", "Move", "Cut", "Made"})


@dataclass(frozen=True, slots=True)
class Attempt(Generic[T]):
    """One solution of the choice graph as it was, and what the caller made of it."""

    solution: Solution
    result: FunctionIndex
    names: Mapping[int, str]
    """Place class -> name of the variable of ``result`` that is there."""
    made: T


Solve = Callable[[], Attempt[T]]

# Solutions to look at before the room is narrowed instead; fewer for graphs with many nodes.
MOST_ATTEMPTS, MOST_EXACT_ATTEMPTS = 64, 2000
LEAST_ATTEMPTS, NODES_WITH_ALL_ATTEMPTS = 4, 3000
MOST_NARROWINGS = 8


class Fitter(Generic[T]):
    """Looks for the cheapest solution that fits; the memories may be as full as the input has them."""

    def __init__(
        self,
        places: PlaceGraph,
        chip: Hardware,
        allowed: Needs,
        solve: Solve[T],
        deadline: float,
        most_attempts: int,
    ) -> None:
        self.places = places
        self.chip = chip
        self.allowed = allowed
        self.solve = solve
        self.deadline = deadline
        nodes = max(1, len(places.choices.nodes))
        self.attempts = max(LEAST_ATTEMPTS, min(most_attempts, most_attempts * NODES_WITH_ALL_ATTEMPTS // nodes))
        self.rooms = Rooms(places, chip, allowed)
        self.bound = float("inf")
        """No solution that fits costs less."""

    def run(self) -> Attempt[T] | None:
        """The cheapest solution that fits; ``None`` where none was found. The graph loses what that one gives up.

        Its bound and status hold for all solutions that fit.
        """
        found, given_up, is_proven = self._search()
        if not is_proven and (found is None or given_up):
            found, given_up = self._cheaper(found, given_up)
        if found is None:
            return None
        self.places.give_up(given_up)
        lower = min(found.solution.cost, self.bound)
        status = found.solution.status
        if status == "optimal" and lower < found.solution.cost:
            status = "heuristic"
        return replace(found, solution=replace(found.solution, lower_bound=lower, status=status))

    def fits(self, result: FunctionIndex) -> bool:
        return not overfull(result, self.chip, self.allowed)

    def _search(self) -> tuple[Attempt[T] | None, frozenset[int], bool]:
        """Best first over what is given up, one node more at each step.

        The best that fits, what it gives up, and whether nothing that fits can be cheaper.
        """
        best: Attempt[T] | None = None
        best_without: frozenset[int] = frozenset()
        left = self.attempts
        heap: list[tuple[float, int, frozenset[int]]] = [(float("-inf"), 0, frozenset())]
        seen: set[frozenset[int]] = {frozenset()}
        while heap and (best is None or heap[0][0] < best.solution.cost):
            if not left or (len(seen) > 1 and time.monotonic() > self.deadline):
                break
            left -= 1
            bound, _, given_up = heapq.heappop(heap)
            attempt = self._without(given_up)
            if attempt is None:
                continue
            bound = max(bound, attempt.solution.lower_bound)
            if self.fits(attempt.result):
                self.bound = min(self.bound, bound)
                if best is None or attempt.solution.cost < best.solution.cost:
                    best, best_without = attempt, given_up
                continue
            crowd, is_complete = self.rooms.crowd(attempt)
            if not is_complete:
                self.bound = min(self.bound, bound)
            for fewer in self._branches(given_up, crowd):
                if fewer not in seen:
                    seen.add(fewer)
                    heapq.heappush(heap, (bound, len(seen), fewer))
        if heap:
            self.bound = min(self.bound, heap[0][0])
        return best, best_without, best is not None and self.bound >= best.solution.cost

    def _cheaper(self, found: Attempt[T] | None, given_up: frozenset[int]) -> tuple[Attempt[T] | None, frozenset[int]]:
        """``found``, or what narrowing the room finds, if that costs less."""
        graph = self.places.choices
        groups, classes = list(graph.groups), list(graph.classes)
        narrowed = self._narrowed()
        if narrowed is not None and (found is None or narrowed.solution.cost < found.solution.cost):
            return narrowed, frozenset()
        graph.groups[: len(groups)], graph.classes[:] = groups, classes
        for row in range(len(groups), len(graph.groups)):
            graph.groups[row] = CapacityGroup(float("inf"), graph.groups[row].what)
        return found, given_up

    def _branches(self, given_up: frozenset[int], crowd: list[int]) -> Iterator[frozenset[int]]:
        """What to give up instead: one node of ``crowd`` each, while those before it are taken for sure."""
        graph = self.places.choices
        taken: set[int] = set()
        for node in crowd:
            yield given_up | taken | {node}
            taken.update(other for other in graph.classes[graph.nodes[node].cls] if other != node)

    def _without(self, given_up: frozenset[int]) -> Attempt[T] | None:
        """The best solution without these nodes in which the kept copies alone fit, ``None`` when there is none."""
        while True:
            with self.places.without(given_up):
                try:
                    attempt = self.solve()
                except SolveError:
                    if not given_up:
                        raise
                    return None
            if not self.rooms.limit(attempt.solution.choice):
                return attempt

    def _narrowed(self) -> Attempt[T] | None:
        """Narrow the room for kept copies, then forbid them in the memories that are still too full."""
        forbidden: set[MemorySpace] = set()
        rounds = 0
        while True:
            attempt = self.solve()
            full = [space for space in overfull(attempt.result, self.chip, self.allowed) if space not in forbidden]
            if not full:
                return attempt if self.fits(attempt.result) else None
            rounds += 1
            if rounds > MOST_NARROWINGS or not self.rooms.narrow(attempt.solution.choice, attempt.result):
                forbidden.update(full)
                self.places.forbid_keeping(forbidden)


class Rooms:
    """The capacity rows of one function's choice graph; ``allowed`` is what the input needs already."""

    def __init__(self, places: PlaceGraph, chip: Hardware, allowed: Needs) -> None:
        self.places = places
        self.graph = places.choices
        self.chip = chip
        self.allowed = allowed
        self._rows: dict[tuple[int, MemorySpace], int] = {}

    def crowd(self, attempt: Attempt[T]) -> tuple[list[int], bool]:
        """Nodes of a solution that make or keep what is alive where a memory is too full; kept copies come first.

        Of several memories, the one with the fewest. Also whether they are all there is: a tile that stays where it is
        produced may be alive for less time in another solution, so nothing is proven about those. A tile that a node
        makes or keeps is taken to be alive for as long wherever that node is chosen.
        """
        spaces = overfull(attempt.result, self.chip, self.allowed)
        return min((self._crowd(attempt, space) for space in spaces), key=lambda found: len(found[0]))

    def _crowd(self, attempt: Attempt[T], space: MemorySpace) -> tuple[list[int], bool]:
        live = [buffer for buffer in buffers(attempt.result, self.chip) if buffer.size and buffer.space is space]
        fullest = max((buffer.first for buffer in live), key=lambda site: (_alive(live, site), -site))
        crowd = {
            name: k for k, buffer in enumerate(live) if buffer.first <= fullest <= buffer.last for name in buffer.names
        }
        kept: list[int] = []
        made: list[int] = []
        explained: set[int] = set()
        for cls in used_classes(self.graph, attempt.solution.choice):
            buffer = crowd.get(attempt.names.get(cls, ""))
            number = attempt.solution.choice[cls]
            kind = self.graph.nodes[number].kind
            if buffer is not None and (kind == "Up" or kind in _MAKES):
                explained.add(buffer)
                (kept if kind == "Up" else made).append(number)
        return [*kept, *made], explained == set(crowd.values())

    def limit(self, choice: Choice) -> bool:
        """Make rows for the loops and memories in which the kept copies of ``choice`` do not fit by themselves.

        Returns whether a row now forbids ``choice``. No solution that fits is lost.
        """
        found = False
        for (region, space), weight in self._kept(choice).items():
            capacity = self.chip.buffers[space].capacity
            if weight > capacity and weight > self.allowed.of(space):
                self._set_limit(region, space, float(max(capacity, self.allowed.of(space))))
                found = True
        return found

    def narrow(self, choice: Choice, result: FunctionIndex) -> bool:
        """Narrow the rows of the loops in which ``result``, made by ``choice``, needs too much.

        Returns whether a row now forbids ``choice``; where none does, rows cannot help. Solutions that fit may be lost:
        the rest of another one may need less.
        """
        narrowed = False
        kept = self._kept(choice)
        for region, space, excess in self._too_full(result):
            weight = kept.get((region, space), 0.0)
            if weight:
                self._set_limit(region, space, max(0.0, weight - excess))
                narrowed = True
        return narrowed

    def _too_full(self, result: FunctionIndex) -> Iterator[tuple[int, MemorySpace, int]]:
        """(loop body, memory, excess bytes); moving copies neither makes nor removes a region."""
        if len(result.regions) != len(self.places.index.regions):
            return
        live = [buffer for buffer in buffers(result, self.chip) if buffer.size]
        for region in result.regions:
            if region.kind != "loop":
                continue
            inside = [b for b in live if b.first < region.end and b.last >= region.owner]
            for space in sorted({b.space for b in inside} & self.chip.buffers.keys()):
                limit = max(self.chip.buffers[space].capacity, self.allowed.of(space))
                need = _peak([b for b in inside if b.space is space], region.owner + 1)
                if need > limit:
                    yield region.id, space, need - limit

    def _kept(self, choice: Choice) -> dict[tuple[int, MemorySpace], float]:
        """Bytes that the copies which ``choice`` keeps from outside take in each memory for each loop body."""
        found: dict[tuple[int, MemorySpace], float] = defaultdict(float)
        for cls in used_classes(self.graph, choice):
            node = self.graph.nodes[choice[cls]]
            if node.kind != "Up" or cls not in self.places.at:
                continue
            _, number, _, region = self.places.at[cls]
            space = SPACES[number]
            if space in self.chip.buffers and self.places.index.regions[region].kind == "loop":
                found[region, space] += self._weight(cls, node.children[0], space)
        return found

    def _set_limit(self, region: int, space: MemorySpace, limit: float) -> None:
        row = self._row(region, space)
        what = f"copies kept in {space.value} for region {region}"
        self.graph.groups[row] = CapacityGroup(min(self.graph.groups[row].limit, limit), what)

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


def _alive(live: list[Buffer], site: int) -> int:
    """Bytes of ``live`` at ``site``."""
    return sum(buffer.size or 0 for buffer in live if buffer.first <= site <= buffer.last)


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
