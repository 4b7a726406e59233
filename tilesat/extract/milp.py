"""Exact choice of one part as a mixed-integer program.

A binary column a way. A class takes at most one way, a root exactly one; a way brings one way of each child; a
guarded way needs its guard; groups keep their limits. Where classes may depend on each other, order variables
forbid cycles, with a row for each pair as a stronger form of the shortest cycles; what tolerances still let through
is cut off afterwards.

Prices of very different size are minimised one after the other (:func:`price_levels`): in one objective the small
ones would drown in the solver's tolerances.
"""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction

from tilesat.extract.highs import Answer, Rows, minimise
from tilesat.extract.problem import Problem, choice_cost, is_legal
from tilesat.extract.sccs import cyclic_groups

WIDE = 1 << 20
"""Ratio of the largest to the smallest price up to which one objective is accurate."""

SPLIT_WIDTH = 1 << 24
"""Largest price of an upper level, in its units; a wider one would not be accurate enough to build on."""

ABSOLUTE_ERROR, RELATIVE_ERROR = 1e-6, 1e-10
"""Of a bound that the solver reports, in terms of the objective that it was given."""

CLOSED = 1e-9
"""Relative gap at which the optimum counts as found where prices are finer than the solver's accuracy."""

CUT_ROUNDS = 20


@dataclass(frozen=True, slots=True)
class Level:
    """Whole prices of the ways, each worth ``unit``."""

    unit: int
    cost: list[int]

    @property
    def scale(self) -> Fraction:
        """What prices are multiplied with for the solver: 1 unless they are too wide to be accurate."""
        return Fraction(WIDE, max(WIDE, *self.cost))

    def proven(self, bound: float) -> int:
        """The whole number of units that the solver's ``bound`` proves."""
        if not math.isfinite(bound):
            return 0
        units = Fraction(bound) / self.scale
        error = self._error(units)
        return math.ceil(units - error) if error < 0.25 else math.floor(units - error)

    def is_closed(self, lowest: int, reached: int) -> bool:
        """Whether ``reached`` is the optimum when ``lowest`` is proven."""
        error = self._error(Fraction(reached))
        if error < 0.25:
            return lowest >= reached
        return reached - lowest <= max(Fraction(CLOSED) * reached, 4 * error)

    def _error(self, units: Fraction) -> Fraction:
        return Fraction(ABSOLUTE_ERROR) / self.scale + Fraction(RELATIVE_ERROR) * abs(units)


@dataclass(frozen=True, slots=True)
class Proven:
    """The best legal choice found, if any, and a lower bound.

    ``closed``: no better one exists, to the accuracy of the solver. ``infeasible``: no legal one exists.
    """

    choice: list[int] | None
    bound: int
    closed: bool = False
    infeasible: bool = False


def price_levels(problem: Problem) -> list[Level]:
    """Prices split so that minimising level after level minimises their sum.

    A split at ``unit`` is exact when all that the lower level could ever add up to is less than one ``unit``.
    """
    levels: list[Level] = []
    cost = problem.cost
    while True:
        unit = math.gcd(*cost)
        if not unit:
            return levels or [Level(1, [0] * len(cost))]
        split = _split_unit(problem, cost, unit)
        if split is None:
            return [*levels, Level(unit, [price // unit for price in cost])]
        levels.append(Level(split, [price // split for price in cost]))
        cost = [price % split for price in cost]


def _split_unit(problem: Problem, cost: list[int], unit: int) -> int | None:
    """Where to split ``cost``, multiples of ``unit``; ``None`` when that is not needed or not possible."""
    largest = max(cost)
    if largest // unit <= WIDE:
        return None
    best, best_width = None, largest // unit
    split = unit
    while split < largest:
        split *= 2
        low = [price % split for price in cost]
        most = sum(max((low[way] for way in ways), default=0) for ways in problem.ways)
        width = max(largest // split, max(low) // unit)
        if largest // split <= SPLIT_WIDTH and 0 < most < split and width < best_width:
            best, best_width = split, width
    return best


class ExactModel:
    """The program of one part, and its solution level by level."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.cyclic = cyclic_groups(problem)
        self.rows = Rows(len(problem.cls))
        self._asking: list[dict[int, list[int]]] = [defaultdict(list) for _ in problem.ways]
        """Class -> child -> the ways that ask for it."""
        for way, children in enumerate(problem.children):
            for child in children:
                self._asking[problem.cls[way]][child].append(way)
        self._order_column: dict[int, int] = {}
        self._class_rows()
        self._guard_rows()
        self._order_rows()
        self._room_rows()

    # -------------------------------------------------------------------------- the rows

    def _class_rows(self) -> None:
        problem, rows = self.problem, self.rows
        roots = set(problem.roots)
        for cls, ways in enumerate(problem.ways):
            rows.add(1.0 if cls in roots else 0.0, 1.0, ways, [1.0] * len(ways))
        for asking in self._asking:
            for child, ways in asking.items():
                if child not in roots:
                    made = problem.ways[child]
                    rows.add(-math.inf, 0.0, ways + made, [1.0] * len(ways) + [-1.0] * len(made))

    def _guard_rows(self) -> None:
        problem = self.problem
        guarded: dict[tuple[int, int], list[int]] = defaultdict(list)
        for way, guard in enumerate(problem.guard):
            if guard >= 0:
                guarded[problem.cls[way], guard].append(way)
        for (_, guard), ways in guarded.items():
            self.rows.add(-math.inf, 0.0, [*ways, guard], [1.0] * len(ways) + [-1.0])

    def _order_rows(self) -> None:
        """A row for each cycle of two; order variables where longer cycles are possible."""
        rows, cyclic = self.rows, self.cyclic
        size = Counter(cyclic)
        for cls, group in enumerate(cyclic):
            if group >= 0 and size[group] > 2:
                self._order_column[cls] = rows.binaries + len(self._order_column)
        rows.orders = [float(size[cyclic[cls]] - 1) for cls in self._order_column]
        for cls, group in enumerate(cyclic):
            if group < 0:
                continue
            large = float(size[group])
            for child, ways in self._asking[cls].items():
                if cyclic[child] != group:
                    continue
                back = self._asking[child].get(cls)
                if back is not None and cls < child:
                    rows.add(-math.inf, 1.0, ways + back, [1.0] * (len(ways) + len(back)))
                if cls in self._order_column:
                    order = [self._order_column[cls], self._order_column[child]]
                    rows.add(1.0 - large, math.inf, [*order, *ways], [1.0, -1.0] + [-large] * len(ways))

    def _room_rows(self) -> None:
        problem = self.problem
        for group, limit in enumerate(problem.limits):
            ways = [way for way, taken in enumerate(problem.group) if taken == group]
            unit = math.gcd(*(problem.weight[way] for way in ways))
            if unit:
                weights = [float(problem.weight[way] // unit) for way in ways]
                self.rows.add(-math.inf, float(limit // unit), ways, weights)

    # --------------------------------------------------------------------------- solving

    def solve(self, start: list[int] | None, deadline: float) -> Proven:
        """Minimise to ``deadline``; ``start`` is a legal choice."""
        best = start
        bound = 0
        levels = price_levels(self.problem)
        for level in levels:
            answer = self._minimise(level, best, deadline)
            if answer.infeasible:
                return Proven(best, bound, infeasible=best is None)
            found = self._decode(answer)
            if found is not None and (best is None or self._cost(found) < self._cost(best)):
                best = found
            lowest = max(0, level.proven(answer.bound))
            reached = None if best is None else self._level_cost(level, best)
            if reached is None or not level.is_closed(lowest, reached):
                return Proven(best, bound + lowest * level.unit)
            bound += min(lowest, reached) * level.unit
            if level is not levels[-1]:
                self._hold(level, reached)
        return Proven(best, bound, closed=True)

    def _hold(self, level: Level, reached: int) -> None:
        """No lower level may make this one dearer than ``reached``."""
        columns = [way for way, price in enumerate(level.cost) if price]
        self.rows.add(-math.inf, float(reached), columns, [float(level.cost[way]) for way in columns])

    def _minimise(self, level: Level, start: list[int] | None, deadline: float) -> Answer:
        """One level, again with the cycles cut off that the solver's tolerances let through."""
        point = None if start is None else self._point(start)
        scale = level.scale
        price = [float(cost * scale) for cost in level.cost]
        # Prices are whole, so a gap below one proves the optimum.
        gap = float(scale) * 0.5
        for _ in range(CUT_ROUNDS):
            answer = minimise(self.rows, price, gap, deadline, point)
            if answer.values is None or not self._cut_cycle(answer.values):
                return answer
            if time.monotonic() > deadline:
                break
        return Answer(None, answer.bound)

    def _cost(self, choice: list[int]) -> int:
        return choice_cost(self.problem, choice)

    def _level_cost(self, level: Level, choice: list[int]) -> int:
        return sum(level.cost[way] for way in choice if way >= 0)

    def _picked(self, values: list[float]) -> list[int]:
        choice = [-1] * len(self.problem.ways)
        for way, cls in enumerate(self.problem.cls):
            if values[way] > 0.5:
                choice[cls] = way
        return choice

    def _decode(self, answer: Answer) -> list[int] | None:
        """The choice, used classes only; ``None`` when there is none or tolerances spoilt it."""
        if answer.values is None:
            return None
        choice = self._picked(answer.values)
        if not is_legal(self.problem, choice):
            return None
        seen = set(self.problem.roots)
        pending = list(seen)
        while pending:
            for child in self.problem.children[choice[pending.pop()]]:
                if child not in seen:
                    seen.add(child)
                    pending.append(child)
        return [way if cls in seen else -1 for cls, way in enumerate(choice)]

    def _cut_cycle(self, values: list[float]) -> bool:
        """Forbid one cycle of the picked ways, if there is one."""
        cycle = self._find_cycle(self._picked(values))
        if not cycle:
            return False
        columns = [
            way for cls, child in zip(cycle, cycle[1:] + cycle[:1], strict=True) for way in self._asking[cls][child]
        ]
        self.rows.add(-math.inf, len(cycle) - 1.0, columns, [1.0] * len(columns))
        return True

    def _find_cycle(self, choice: list[int]) -> list[int]:
        state = bytearray(len(choice))
        for first, group in enumerate(self.cyclic):
            if group < 0 or state[first] or choice[first] < 0:
                continue
            path = [first]
            rest = [iter(self.problem.children[choice[first]])]
            state[first] = 1
            while path:
                for child in rest[-1]:
                    if choice[child] < 0 or self.cyclic[child] != group:
                        continue
                    if state[child] == 1:
                        return path[path.index(child) :]
                    if not state[child]:
                        state[child] = 1
                        path.append(child)
                        rest.append(iter(self.problem.children[choice[child]]))
                        break
                else:
                    state[path.pop()] = 2
                    rest.pop()
        return []

    def _point(self, choice: list[int]) -> list[float]:
        """``choice`` as values of all columns; order variables count the longest way down inside a group."""
        values = [0.0] * self.rows.width
        for way in choice:
            if way >= 0:
                values[way] = 1.0
        height: dict[int, int] = {}
        for first in self._order_column:
            stack = [first] if choice[first] >= 0 else []
            while stack:
                cls = stack[-1]
                below = [
                    child for child in self.problem.children[choice[cls]] if self.cyclic[child] == self.cyclic[cls]
                ]
                unknown = [child for child in below if child not in height]
                if unknown and cls not in height:
                    stack.extend(unknown)
                    continue
                stack.pop()
                height[cls] = 1 + max((height[child] for child in below), default=-1)
        for cls, level in height.items():
            values[self._order_column[cls]] = float(level)
        return values
