"""Local search: the default extractor.

From Knuth's tree choice, or another, the moves of :mod:`tilesat.extract.moves` are tried around whatever changed
last. Only strict improvements stay, so the search ends; it is deterministic.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from tilesat.extract.moves import Moves
from tilesat.extract.problem import Problem
from tilesat.extract.room import Room
from tilesat.extract.state import Mark, State

NEIGHBOURS = 64
"""How many classes around a change are worth another look, at most."""


class LocalSearch:
    """Improves one choice of one problem; :attr:`state` holds it."""

    def __init__(self, problem: Problem, choice: list[int], deadline: float) -> None:
        self.problem = problem
        self.state = State(problem, choice)
        self.moves = Moves(problem, self.state)
        self.room = Room(self.moves)
        self._exchange = False
        self.deadline = deadline
        self.timed_out = False
        self._simple: dict[int, None] = {}
        self._compound: dict[int, None] = {}

    def search(self, classes: Iterable[int], exchange: bool = False) -> None:
        """Search to a local optimum or the deadline, ``classes`` first and then what changes around them.

        ``exchange`` also swaps who has room in full groups.
        """
        self._exchange = exchange and bool(self.problem.limits)
        self._simple = dict.fromkeys(classes)
        self._compound = dict(self._simple)
        while self._simple or self._compound:
            if time.monotonic() > self.deadline:
                self.timed_out = True
                return
            if self._simple:
                self._attempt(self.moves.improve, _take_first(self._simple))
            else:
                self._attempt_compound(_take_first(self._compound))

    def adopt(self, choice: list[int]) -> None:
        """Go on from ``choice``."""
        state = self.state
        state.adopt(choice)
        self.room.forget_all()

    def set_prices(self, price: list[int], room_price: int) -> None:
        self.state.set_prices(price, room_price)
        self.room.forget_all()

    def choice(self) -> list[int]:
        return list(self.state.chosen)

    def _attempt_compound(self, cls: int) -> None:
        state, moves = self.state, self.moves
        if cls in moves.slots:
            self._attempt(moves.flip, cls)
        elif state.chosen[cls] < 0:
            self._attempt(moves.open, cls)
        elif state.users[cls] > 1:
            self._attempt(moves.close, cls)
        if self._exchange:
            self._attempt(self.room.swap, cls)
            self._attempt(self.room.make_way, cls)

    def _attempt(self, move: Callable[[int], bool], cls: int) -> None:
        state = self.state
        before = state.mark()
        if move(cls) and state.total < before[1]:
            self._look_again(before)
        else:
            state.rollback(before)
        state.log.clear()

    def _look_again(self, since: Mark) -> None:
        """What changed, and what could use it or be used by it, is worth another try."""
        state = self.state
        changed = {index for array, index, _ in state.log[since[0] :] if array is not state.load}
        self.room.forget(changed)
        for cls in sorted(changed | self._above(changed) | self._below(changed)):
            self._simple[cls] = None
            self._compound[cls] = None

    def _above(self, changed: set[int]) -> set[int]:
        """Classes with a way that asks for a changed one, directly or through unused classes."""
        problem, chosen = self.problem, self.state.chosen
        found: set[int] = set()
        pending = sorted(changed)
        while pending and len(found) < NEIGHBOURS + len(changed):
            for way in problem.parents[pending.pop()]:
                user = problem.cls[way]
                if user not in found:
                    found.add(user)
                    if chosen[user] < 0:
                        pending.append(user)
        return found

    def _below(self, changed: set[int]) -> set[int]:
        """Classes that a changed one could ask for, directly or through unused classes, and their slots."""
        problem, chosen = self.problem, self.state.chosen
        found: set[int] = set()
        pending = sorted(changed)
        while pending and len(found) < NEIGHBOURS + len(changed):
            for way in problem.ways[pending.pop()]:
                if problem.guard[way] >= 0:
                    found.add(problem.cls[problem.guard[way]])
                for child in problem.children[way]:
                    if child not in found:
                        found.add(child)
                        if chosen[child] < 0:
                            pending.append(child)
        return found


def _take_first(queue: dict[int, None]) -> int:
    first = next(iter(queue))
    del queue[first]
    return first
