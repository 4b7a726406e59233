"""Local search of one part: where to begin, and how to share out room that is short.

Room is shared out by prices (Lagrangian relaxation). First everything is placed as if there were room for all. Then
a unit of room in each overfull group gets the price at which enough of its classes would rather leave; where room
is left over the price falls. Every round ends with a legal choice made from the priced one, and the best stays.
"""

from __future__ import annotations

import random
import time

from tilesat.extract.bound import priced_bound
from tilesat.extract.local import LocalSearch
from tilesat.extract.problem import Problem, choice_cost
from tilesat.extract.result import PartResult
from tilesat.extract.room import by_ratio
from tilesat.extract.starts import first_choices, sparing_choice

LARGE = 5000
"""Ways of a part above which only one beginning is searched."""

FREE_SHARE = 0.4
"""Of the time, for the search that takes room to be free."""

ROUNDS = 8
PATIENCE = 2
"""Rounds of pricing at most, and without a better legal choice."""


def search_part(problem: Problem, result: PartResult, deadline: float, seed: int) -> None:
    """Improve ``result`` by local search; the choice it has is searched from when all else ends dearer.

    ``seed`` decides in which order classes are visited first, 0 being their own order.
    """
    if problem.limits and result.choice is None:
        sparing = sparing_choice(problem)
        result.offer(sparing, 0 if sparing is None else choice_cost(problem, sparing))
    start = result.choice
    beginnings = first_choices(problem)
    if len(problem.cls) > LARGE:
        beginnings = beginnings[:1]
    searches = [PartSearch(problem, beginning, deadline, seed) for beginning in beginnings]
    for search in searches:
        search.run_free()
    if problem.limits and searches:
        searches = [min(searches, key=lambda search: search.total)]
    for search in searches:
        search.run()
        search.report(result)
    if start is not None and result.choice is start:
        search = PartSearch(problem, start, deadline, seed)
        search.run_legal()
        search.report(result)


class PartSearch:
    """Searches one part from one beginning; :attr:`best` is the cheapest legal choice met."""

    def __init__(self, problem: Problem, beginning: list[int], deadline: float, seed: int) -> None:
        self.problem = problem
        self.search = LocalSearch(problem, beginning, deadline)
        self.best: list[int] | None = None
        self.best_cost = 0
        self._everything = list(range(len(problem.ways)))
        if seed:
            random.Random(seed).shuffle(self._everything)
        self._limited = sorted({problem.cls[way] for way, group in enumerate(problem.group) if group >= 0})
        self._scale = 1 << max(problem.weight, default=0).bit_length()
        """Prices are scaled so that whole prices of a unit of room are fine enough."""
        self._real = [cost * self._scale for cost in problem.cost]
        self._utmost = sum(max((self._real[way] for way in ways), default=0) for ways in problem.ways) + 1
        self._room = [0] * len(problem.limits)
        self._all_room: list[list[int]] = []
        """Every vector of room prices that was searched with."""

    def report(self, result: PartResult) -> None:
        """Add what was found and proven to ``result``."""
        result.offer(self.best, self.best_cost)
        result.late |= self.search.timed_out
        if result.is_open and self._all_room:
            result.prove(self._priced_bound())

    @property
    def total(self) -> int:
        return self.search.state.total

    def run_free(self) -> None:
        """To a local optimum as if there were room for all."""
        end = self.search.deadline
        if self.problem.limits:
            now = time.monotonic()
            self.search.deadline = now + (end - now) * FREE_SHARE
        self._set_room_prices()
        self.search.search(self._everything)
        self.search.deadline = end
        self._record()

    def run(self) -> None:
        """From there to a legal choice."""
        if not self.problem.limits:
            return
        self._share_out_room()
        if self.best is not None:
            self.search.adopt(self.best)
        self.run_legal()

    def _priced_bound(self) -> int:
        """What the prices of room prove about every legal choice."""
        count = len(self._all_room)
        mean = [sum(prices) // count for prices in zip(*self._all_room, strict=True)]
        return max(priced_bound(self.problem, room, self._scale) for room in (mean, self._all_room[-1]))

    def run_legal(self) -> None:
        """From the present choice to a local optimum within all limits."""
        self._legalise(self._everything)

    def _share_out_room(self) -> None:
        waited = 0
        for _ in range(ROUNDS):
            priced = self.search.choice()
            waited = 0 if self._legalise(self._limited) else waited + 1
            if self.search.timed_out or waited > PATIENCE:
                return
            self.search.adopt(priced)
            self._set_room_prices()
            if not self._move_room_prices():
                return
            self._set_room_prices()
            self._all_room.append(list(self._room))
            self.search.search(self._limited)

    def _legalise(self, classes: list[int]) -> bool:
        """Search within the limits; whether that gave a better legal choice than all before."""
        self.search.set_prices(self._real, self._utmost)
        self.search.search(classes, exchange=True)
        return self._record()

    def _record(self) -> bool:
        state = self.search.state
        if state.excess:
            return False
        cost = sum(self.problem.cost[way] for way in state.chosen if way >= 0)
        if self.best is not None and cost >= self.best_cost:
            return False
        self.best, self.best_cost = self.search.choice(), cost
        return True

    def _set_room_prices(self) -> None:
        problem, room = self.problem, self._room
        price = [
            real if group < 0 else real + room[group] * weight
            for real, group, weight in zip(self._real, problem.group, problem.weight, strict=True)
        ]
        self.search.set_prices(price, 0)

    def _move_room_prices(self) -> bool:
        """Dearer where too much is, cheaper where room is left; whether any price changed."""
        state = self.search.state
        before = list(self._room)
        for group, limit in enumerate(self.problem.limits):
            if state.load[group] > limit:
                self._room[group] += self._marginal_loss(group, state.load[group] - limit)
            else:
                self._room[group] = self._room[group] * 3 // 4
        return self._room != before

    def _marginal_loss(self, group: int, needed: int) -> int:
        """The loss per unit of room at which ``needed`` units of ``group`` would be given up."""
        ratio = 0
        for exit in by_ratio(self.search.room.exits(group)):
            ratio = max(ratio, -(-exit.loss // exit.freed))
            needed -= exit.freed
            if needed <= 0:
                break
        return ratio + 1
