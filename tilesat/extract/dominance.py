"""Ways that no cheapest choice needs: those that only lead in circles, and those that another way beats."""

from __future__ import annotations

from collections import defaultdict

from tilesat.extract.landmarks import members
from tilesat.extract.problem import Problem
from tilesat.extract.prune import Pruner

MAX_GROUP = 128
"""Cyclic groups larger than this are not searched for circular ways: the search is quadratic."""

MAX_IMPLIED = 64


def drop_circular(problem: Problem, pruned: Pruner, cyclic: list[int]) -> None:
    """Kill each way of a class that has a child of which every derivation already needs the class."""
    members: dict[int, list[int]] = defaultdict(list)
    for cls, group in enumerate(cyclic):
        if group >= 0:
            members[group].append(cls)
    for classes in members.values():
        if len(classes) <= MAX_GROUP:
            _drop_circular_in(problem, pruned, classes)


def drop_circular_by_needs(problem: Problem, pruned: Pruner, needed: list[int]) -> None:
    """The same, from what every derivation of each class needs (:mod:`tilesat.extract.landmarks`)."""
    for way, children in enumerate(problem.children):
        if pruned.alive[way] and any(needed[child] >> problem.cls[way] & 1 for child in children):
            pruned.alive[way] = 0


def _drop_circular_in(problem: Problem, pruned: Pruner, classes: list[int]) -> None:
    bit = {cls: 1 << position for position, cls in enumerate(classes)}
    inner = {
        way: [child for child in problem.children[way] if child in bit]
        for cls in classes
        for way in pruned.alive_ways(cls)
    }
    # Greatest fixpoint: which members every derivation of a member needs, itself included.
    needs = dict.fromkeys(classes, (1 << len(classes)) - 1)
    changed = True
    while changed:
        changed = False
        for cls in classes:
            common = -1
            for way in pruned.alive_ways(cls):
                required = 0
                for child in inner[way]:
                    required |= needs[child]
                common &= required
            common |= bit[cls]
            if common != needs[cls]:
                needs[cls] = common
                changed = True
    for way, children in inner.items():
        if any(needs[child] & bit[problem.cls[way]] for child in children):
            pruned.alive[way] = 0


class Dominance:
    """Finds the ways that another way of the same class can always replace without a rise in cost.

    Way ``a`` beats ``b`` when it costs no more, asks for nothing that ``b`` does not bring about anyway, and
    needs no other slot and no more room. ``replaced`` collects ``b`` -> ``a`` in terms of the graph's nodes.
    """

    def __init__(
        self,
        problem: Problem,
        pruned: Pruner,
        cyclic: list[int],
        replaced: dict[int, int],
        needed: list[int] | None = None,
    ) -> None:
        self.problem = problem
        self.pruned = pruned
        self.cyclic = cyclic
        self.replaced = replaced
        self.needed = needed
        self._guards = {g for way, g in enumerate(problem.guard) if g >= 0 and pruned.alive[way]}

    def run(self) -> None:
        for ways in self.problem.ways:
            if len(ways) > 1:
                live = [way for way in ways if self.pruned.alive[way]]
                if len(live) > 1:
                    self._compare(live)

    def paid_children(self, way: int) -> list[int]:
        """Children that are not in every choice anyway, or that may close a cycle."""
        forced, cyclic = self.pruned.forced, self.cyclic
        children = self.problem.children[way]
        group = cyclic[self.problem.cls[way]]
        if group < 0:
            return [child for child in children if not forced[child]]
        return [child for child in children if not forced[child] or cyclic[child] == group]

    def _compare(self, ways: list[int]) -> None:
        alive = self.pruned.alive
        asked = {way: self.paid_children(way) for way in ways}
        # The cheap and modest come first, so that equals are replaced by the lower number.
        ways = sorted(ways, key=lambda way: (self.problem.cost[way], len(asked[way]), way))
        for position, worse in enumerate(ways):
            if worse in self._guards:
                continue
            brought: set[int] | None = None
            for better in ways[:position]:
                if not alive[better] or not self._fits(better, worse):
                    continue
                if brought is None:
                    brought = self._implied(asked[worse])
                if brought.issuperset(asked[better]):
                    alive[worse] = 0
                    ids = self.problem.way_ids
                    self.replaced[ids[worse]] = ids[better]
                    break

    def _fits(self, better: int, worse: int) -> bool:
        problem = self.problem
        if problem.guard[better] not in (-1, problem.guard[worse]):
            return False
        if problem.group[better] < 0:
            return True
        return problem.group[better] == problem.group[worse] and problem.weight[better] <= problem.weight[worse]

    def _implied(self, asked: list[int]) -> set[int]:
        """``asked`` and what comes with it: all that is needed, or at least what single ways bring."""
        if self.needed is not None:
            bits = 0
            for child in asked:
                bits |= self.needed[child]
            return set(members(bits))
        implied = set(asked)
        pending = list(asked)
        while pending and len(implied) < MAX_IMPLIED:
            ways = self.pruned.alive_ways(pending.pop())
            if len(ways) == 1:
                for child in self.paid_children(ways[0]):
                    if child not in implied:
                        implied.add(child)
                        pending.append(child)
        return implied
