"""One smaller problem out of a pruned one: what is decided is taken out, what only passes on is skipped."""

from __future__ import annotations

from tilesat.extract.dominance import Dominance
from tilesat.extract.problem import NEVER, Problem

Expansion = tuple[tuple[int, ...], int]
"""What asking for a skipped class asks for instead, and at what price."""

MAX_SHARED_CHILDREN = 2


class Contraction:
    """Builds :attr:`result`.

    * A forced class with one way that lies on no cycle is paid once and for all (``fixed_cost``) and leaves.
    * A class with one way, not a root, is skipped when that moves no shared price: the way is free, or a single
      way asks for the class.

    ``decided`` collects class -> node of the graph for both.
    """

    def __init__(self, problem: Problem, dominance: Dominance, decided: dict[int, int]) -> None:
        self.problem = problem
        self.dominance = dominance
        self.pruned = dominance.pruned
        self.decided = decided
        self.fixed_cost = 0
        self.live = [[way for way in ways if self.pruned.alive[way]] if ways else [] for ways in problem.ways]
        self.limits = list(problem.limits)
        self._binding = self._binding_groups()
        self.merged = not all(self._binding)
        """Whether a class was skipped or decided, or a group dropped."""
        self._asked = {way: dominance.paid_children(way) for ways in self.live for way in ways}
        self._users = [0] * len(problem.ways)
        for asked in self._asked.values():
            for child in asked:
                self._users[child] += 1
        self._expansions: dict[int, Expansion | None] = {}
        self.result = self._build()

    # ------------------------------------------------------------------- what can leave

    def _binding_groups(self) -> list[bool]:
        """Groups that some choice could overfill."""
        problem = self.problem
        load = [0] * len(problem.limits)
        if not load:
            return []
        for ways in self.live:
            most: dict[int, int] = {}
            for way in ways:
                group = problem.group[way]
                if group >= 0:
                    most[group] = max(most.get(group, 0), problem.weight[way])
            for group, weight in most.items():
                load[group] += weight
        return [weight > limit for weight, limit in zip(load, problem.limits, strict=True)]

    def _group(self, way: int) -> int:
        group = self.problem.group[way]
        return group if group >= 0 and self._binding[group] else -1

    def _guard(self, way: int) -> int:
        guard = self.problem.guard[way]
        if guard < 0:
            return guard
        if self.pruned.alive[guard] and len(self.live[self.problem.cls[guard]]) == 1:
            return -1
        return guard

    def _is_decided(self, cls: int) -> bool:
        if not self.pruned.forced[cls] or len(self.live[cls]) != 1:
            return False
        return self.dominance.cyclic[cls] < 0 and self._guard(self.live[cls][0]) == -1

    def _may_skip(self, cls: int) -> bool:
        if self.pruned.forced[cls] or len(self.live[cls]) != 1:
            return False
        way = self.live[cls][0]
        return self._group(way) < 0 and self._guard(way) == -1

    # ------------------------------------------------------------------------- skipping

    def _expansion(self, cls: int) -> Expansion | None:
        """What stands for ``cls``, ``None`` when it has to stay."""
        stack = [cls]
        known = self._expansions
        while stack:
            top = stack[-1]
            if top in known:
                stack.pop()
                continue
            if not self._may_skip(top):
                known[top] = None
                continue
            children = self._asked[self.live[top][0]]
            open_children = [child for child in children if child not in known]
            if open_children:
                stack.extend(open_children)
                continue
            stack.pop()
            known[top] = self._decide_skip(top)
        return known[cls]

    def _decide_skip(self, cls: int) -> Expansion | None:
        way = self.live[cls][0]
        children, cost = self._expand(way)
        if self._users[cls] == 1 or (cost == 0 and len(children) <= MAX_SHARED_CHILDREN):
            return children, cost
        return None

    def _expand(self, way: int) -> Expansion:
        """Children and cost of ``way`` when all skipped classes among its children are replaced."""
        children: dict[int, None] = {}
        cost = self.problem.cost[way]
        for child in self._asked[way]:
            expansion = self._expansion(child)
            if expansion is None:
                children[child] = None
            else:
                children.update(dict.fromkeys(expansion[0]))
                cost += expansion[1]
        return tuple(children), cost

    # ------------------------------------------------------------------------- building

    def _build(self) -> Problem:
        problem = self.problem
        kept: list[int] = []
        for cls, ways in enumerate(self.live):
            if not ways:
                continue
            if self._is_decided(cls):
                self._decide(cls, ways[0])
            elif self._expansion(cls) is not None:
                self.decided[problem.class_ids[cls]] = problem.way_ids[ways[0]]
                self.merged = True
            else:
                kept.append(cls)
        return self._renumber(kept)

    def _decide(self, cls: int, way: int) -> None:
        problem = self.problem
        self.decided[problem.class_ids[cls]] = problem.way_ids[way]
        self.fixed_cost += problem.cost[way]
        self.merged = True
        if problem.group[way] >= 0:
            self.limits[problem.group[way]] -= problem.weight[way]

    def _renumber(self, kept: list[int]) -> Problem:
        problem = self.problem
        number = {cls: position for position, cls in enumerate(kept)}
        groups = [group for group, binding in enumerate(self._binding) if binding]
        group_number = {group: position for position, group in enumerate(groups)}
        new = Problem(
            graph=problem.graph,
            ways=[[] for _ in kept],
            cls=[],
            children=[],
            cost=[],
            guard=[],
            group=[],
            weight=[],
            limits=[self.limits[group] for group in groups],
            group_ids=[problem.group_ids[group] for group in groups],
            roots=[number[cls] for cls in kept if self.pruned.forced[cls]],
            class_ids=[problem.class_ids[cls] for cls in kept],
            way_ids=[],
        )
        way_number: dict[int, int] = {}
        for cls in kept:
            for way in self.live[cls]:
                children, cost = self._expand(way)
                if cls in children:
                    self.merged = True
                    continue
                way_number[way] = len(new.cls)
                new.ways[number[cls]].append(len(new.cls))
                new.cls.append(number[cls])
                new.children.append(tuple(number[child] for child in children))
                new.cost.append(cost)
                new.guard.append(self._guard(way))
                group = self._group(way)
                new.group.append(-1 if group < 0 else group_number[group])
                new.weight.append(0 if group < 0 else problem.weight[way])
                new.way_ids.append(problem.way_ids[way])
        new.guard = [guard if guard < 0 else way_number.get(guard, NEVER) for guard in new.guard]
        return new
