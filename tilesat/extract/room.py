"""Exchange of room: who takes a place in a full group, and who leaves for it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tilesat.extract.moves import CANDIDATES, Moves
from tilesat.extract.state import NO_BOUND, Mark


@dataclass(frozen=True, slots=True)
class Exit:
    """How a class can leave a group: what that costs, and what room it frees."""

    loss: int
    freed: int
    cls: int
    shut: bool
    """Whether its users go elsewhere, instead of the class itself."""


class Room:
    """Finds exchanges in full groups. What leaving costs is remembered while nothing nearby changes."""

    def __init__(self, moves: Moves) -> None:
        self.moves = moves
        self.problem = moves.problem
        self.state = moves.state
        self._members: list[list[int]] = [[] for _ in self.problem.limits]
        for way, group in enumerate(self.problem.group):
            if group >= 0:
                self._members[group].append(way)
        self._exits: dict[int, list[Exit]] = {}

    def forget(self, changed: set[int]) -> None:
        """Leaving costs of groups with a member among ``changed`` classes are no longer known."""
        problem = self.problem
        for cls in changed:
            for way in problem.ways[cls]:
                self._exits.pop(problem.group[way], None)

    def forget_all(self) -> None:
        self._exits.clear()

    def swap(self, cls: int) -> bool:
        """Let ``cls`` take a better way for which there is no room, and make others leave until it fits."""
        state, problem = self.state, self.problem
        old = state.chosen[cls]
        if old < 0 or cls in self.moves.slots or len(problem.ways[cls]) < 2:
            return False
        start = state.mark()
        wanted = self._wanted(cls, old, start[1])
        for way, groups in wanted:
            exits = [exit for group in groups for exit in self.exits(group)]
            for order in (by_ratio(exits), sorted(exits, key=lambda exit: exit.loss)):
                state.detach(cls)
                blocked = state.dependents((cls,))
                blocked.add(cls)
                if state.switch(cls, way, blocked, NO_BOUND) and self._make_room(cls, order, start[1]):
                    return True
                state.rollback(start)
        return False

    def make_way(self, cls: int) -> bool:
        """Let ``cls`` leave its room, and those take it that gain most by it."""
        state = self.state
        way = state.chosen[cls]
        if way < 0 or self.problem.group[way] < 0:
            return False
        start = state.mark()
        for shut in (False, True):
            if self._take_exit(Exit(0, 0, cls, shut)) and not state.excess:
                self._refill(start, cls)
                if state.total < start[1]:
                    return True
            state.rollback(start)
        return False

    def _refill(self, since: Mark, left: int) -> None:
        """Improve the members of groups that have more room than at ``since``, largest gain first."""
        state, problem = self.state, self.problem
        groups = {index for array, index, _ in state.log[since[0] :] if array is state.load}
        members = {problem.cls[way] for group in groups for way in self._members[group]} - {left}
        gains: list[tuple[int, int]] = []
        before = state.mark()
        for cls in sorted(members)[:CANDIDATES]:
            if self.moves.improve(cls):
                gains.append((state.total - before[1], cls))
            state.rollback(before)
        for _, cls in sorted(gains):
            self.moves.improve(cls)

    def _wanted(self, cls: int, old: int, bound: int) -> list[tuple[int, list[int]]]:
        """(way, overfull groups) for ways that were better if there were room."""
        state, problem = self.state, self.problem
        start = state.mark()
        state.detach(cls)
        blocked = state.dependents((cls,))
        blocked.add(cls)
        detached = state.mark()
        wanted: list[tuple[int, list[int]]] = []
        for way in problem.ways[cls]:
            if way == old or not state.is_allowed(way):
                continue
            if state.switch(cls, way, blocked, NO_BOUND) and state.excess:
                if state.total - state.room_price * state.excess < bound:
                    over = [group for group, limit in enumerate(problem.limits) if state.load[group] > limit]
                    wanted.append((way, over))
            state.rollback(detached)
        state.rollback(start)
        return wanted

    def _make_room(self, newcomer: int, exits: list[Exit], bound: int) -> bool:
        """Let classes leave in the order of ``exits`` until all fits; whether the total ends below ``bound``."""
        state, problem = self.state, self.problem
        for exit in exits:
            if not state.excess:
                break
            if state.total - state.room_price * state.excess >= bound:
                return False
            way = state.chosen[exit.cls]
            group = -1 if way < 0 else problem.group[way]
            if exit.cls == newcomer or group < 0 or state.load[group] <= problem.limits[group]:
                continue
            before = state.mark()
            if not self._take_exit(exit) or state.excess >= before[2]:
                state.rollback(before)
        return not state.excess and state.total < bound

    def _take_exit(self, exit: Exit) -> bool:
        return self.moves.shut(exit.cls) if exit.shut else self.moves.leave(exit.cls)

    def exits(self, group: int) -> list[Exit]:
        """How each class that takes room in ``group`` could leave it now."""
        exits = self._exits.get(group)
        if exits is None:
            exits = self._exits[group] = self._find_exits(group)
        return exits

    def _find_exits(self, group: int) -> list[Exit]:
        """The cheapest exit of each class that takes room in ``group``."""
        state, problem = self.state, self.problem
        found: list[Exit] = []
        before = state.mark()
        load = state.load[group]
        for way in self._members[group]:
            cls = problem.cls[way]
            if state.chosen[cls] != way:
                continue
            best: Exit | None = None
            for shut in (False, True):
                trial = Exit(0, 0, cls, shut)
                if self._take_exit(trial) and state.load[group] < load and state.excess <= before[2]:
                    loss = state.total - before[1]
                    if best is None or loss < best.loss:
                        best = Exit(loss, load - state.load[group], cls, shut)
                state.rollback(before)
            if best is not None:
                found.append(best)
        return found


def by_ratio(exits: list[Exit]) -> list[Exit]:
    """``exits``, least loss for the room first."""
    return sorted(exits, key=lambda exit: Fraction(exit.loss, exit.freed))
