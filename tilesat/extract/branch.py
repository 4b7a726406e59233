"""Branch and bound for parts with a handful of choices, where setting up a solver would cost more."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tilesat.extract.problem import Problem, is_legal
from tilesat.extract.sccs import cyclic_groups


@dataclass(frozen=True, slots=True)
class Branched:
    """``choice`` is the best found below the given bound, if any; ``finished`` says that none is better."""

    choice: list[int] | None
    cost: int
    finished: bool


class BranchAndBound:
    """Decides one class after another, roots first, slots before all; looks for less than ``upper``."""

    def __init__(self, problem: Problem, upper: int | None) -> None:
        self.problem = problem
        self.upper = upper
        self._best: list[int] | None = None
        self._cyclic = cyclic_groups(problem)
        cost = problem.cost
        self._options = [sorted(ways, key=lambda way: (cost[way], way)) for ways in problem.ways]
        self._least = [cost[options[0]] if options else 0 for options in self._options]
        self._chosen = [-1] * len(problem.ways)
        self._load = [0] * len(problem.limits)
        slots = set(problem.slots())
        self._todo = sorted(problem.roots, key=lambda cls: (cls not in slots, cls))
        self._required = bytearray(len(problem.ways))
        for root in self._todo:
            self._required[root] = 1

    def run(self, steps: int, deadline: float) -> Branched:
        """Give up after ``steps`` decisions or at ``deadline`` (``time.monotonic``)."""
        if not self._todo:
            return Branched([], 0, True)
        open_bound = sum(self._least[cls] for cls in self._todo)
        # One frame a decided class: next option, length of the agenda and bounds before the decision.
        frames: list[list[int]] = [[0, len(self._todo), 0, open_bound]]
        while frames:
            frame = frames[-1]
            depth = len(frames) - 1
            cls = self._todo[depth]
            self._undo(cls, frame[1])
            option, _, paid, rest = frame
            if option == len(self._options[cls]):
                frames.pop()
                continue
            frame[0] += 1
            steps -= 1
            if steps < 0 or (not steps % 64 and time.monotonic() > deadline):
                return self._result(finished=False)
            way = self._options[cls][option]
            paid += self.problem.cost[way]
            rest -= self._least[cls]
            if self.upper is not None and paid + rest >= self.upper:
                frame[0] = len(self._options[cls])  # dearer options follow
                continue
            if not self._may_take(cls, way):
                continue
            rest += self._decide(cls, way)
            if self.upper is not None and paid + rest >= self.upper:
                continue
            if depth + 1 < len(self._todo):
                frames.append([0, len(self._todo), paid, rest])
            elif is_legal(self.problem, self._chosen):
                self.upper, self._best = paid, list(self._chosen)
        return self._result(finished=True)

    def _result(self, finished: bool) -> Branched:
        cost = self.upper if self._best is not None and self.upper is not None else 0
        return Branched(self._best, cost, finished)

    def _may_take(self, cls: int, way: int) -> bool:
        problem = self.problem
        guard = problem.guard[way]
        if guard != -1 and (guard < 0 or self._chosen[problem.cls[guard]] not in (-1, guard)):
            return False
        group = problem.group[way]
        if group >= 0 and self._load[group] + problem.weight[way] > problem.limits[group]:
            return False
        return self._cyclic[cls] < 0 or not self._leads_back(cls, way)

    def _leads_back(self, cls: int, way: int) -> bool:
        """Whether chosen ways lead from ``way`` to ``cls``."""
        children, chosen, group = self.problem.children, self._chosen, self._cyclic[cls]
        pending = list(children[way])
        seen = set(pending)
        while pending:
            top = pending.pop()
            if top == cls:
                return True
            if chosen[top] >= 0 and self._cyclic[top] == group:
                new = [child for child in children[chosen[top]] if child not in seen]
                seen.update(new)
                pending.extend(new)
        return False

    def _decide(self, cls: int, way: int) -> int:
        """Enter ``way``; the least price of the classes that it puts on the agenda."""
        problem = self.problem
        self._chosen[cls] = way
        if problem.group[way] >= 0:
            self._load[problem.group[way]] += problem.weight[way]
        added = 0
        for child in problem.children[way]:
            if not self._required[child]:
                self._required[child] = 1
                self._todo.append(child)
                added += self._least[child]
        return added

    def _undo(self, cls: int, agenda: int) -> None:
        way = self._chosen[cls]
        if way < 0:
            return
        self._chosen[cls] = -1
        group = self.problem.group[way]
        if group >= 0:
            self._load[group] -= self.problem.weight[way]
        while len(self._todo) > agenda:
            self._required[self._todo.pop()] = 0
