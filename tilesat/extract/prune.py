"""Which ways can be part of a legal choice at all, and which classes every legal choice uses."""

from __future__ import annotations

from collections.abc import Iterable

from tilesat.errors import SolveError
from tilesat.extract.problem import NEVER, Problem


class Pruner:
    """Kills ways until nothing follows any more; raises :class:`SolveError` when a root is left without.

    A way is alive when its children can be satisfied, it is reachable from the roots, its guard is alive, and it
    fits its group beside what every choice puts there. ``forced`` classes are used by every legal choice.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.dead = bytearray(guard == NEVER for guard in problem.guard)
        self.alive = bytearray()
        self.forced = bytearray(len(problem.ways))
        self._guarded = [way for way, guard in enumerate(problem.guard) if guard >= 0]
        self._guarded_by: dict[int, list[int]] = {}
        for way in self._guarded:
            self._guarded_by.setdefault(problem.guard[way], []).append(way)
        self._heavy = [way for way, group in enumerate(problem.group) if group >= 0]
        self._roots = set(problem.roots)
        self._left: list[int] = []
        """How many alive ways each class has."""
        self._touched: list[int] = []
        """Classes that lost a way."""

    def run(self) -> Pruner:
        # A class that only a cycle still supports is found by starting afresh.
        while self._prune_once():
            pass
        return self

    def _prune_once(self) -> bool:
        """Find what can be satisfied, kill what follows; whether anything had to be killed."""
        problem = self.problem
        self.alive = self._satisfiable()
        self._left = [0] * len(problem.ways)
        for way, cls in enumerate(problem.cls):
            if self.alive[way]:
                self._left[cls] += 1
        killed = False
        self._touched.clear()
        self._kill([way for way in self._guarded if self.alive[way] and not self.alive[problem.guard[way]]])
        self.update_forced()
        while True:
            self._kill(self._other_slot_ways())
            self._kill(self._too_heavy_ways())
            if not self._touched:
                return killed
            killed = True
            self._grow_forced([cls for cls in self._touched if self.forced[cls]])
            self._touched.clear()

    def _kill(self, doomed: list[int]) -> None:
        """Kill ways, what they guard, and what needs a class of which they were the last way."""
        problem, alive, left = self.problem, self.alive, self._left
        while doomed:
            way = doomed.pop()
            if not alive[way]:
                continue
            alive[way] = 0
            self.dead[way] = 1
            cls = problem.cls[way]
            left[cls] -= 1
            self._touched.append(cls)
            doomed.extend(self._guarded_by.get(way, ()))
            if not left[cls]:
                doomed.extend(problem.parents[cls])
                if cls in self._roots:
                    self._satisfiable()  # says which class is to blame

    def alive_ways(self, cls: int) -> list[int]:
        return [way for way in self.problem.ways[cls] if self.alive[way]]

    def _satisfiable(self) -> bytearray:
        problem, dead = self.problem, self.dead
        cls, parents = problem.cls, problem.parents
        need = [len(children) for children in problem.children]
        possible = bytearray(len(problem.ways))
        ready = [way for way, count in enumerate(need) if not count and not dead[way]]
        while ready:
            made = cls[ready.pop()]
            if possible[made]:
                continue
            possible[made] = 1
            for way in parents[made]:
                need[way] -= 1
                if not need[way] and not dead[way]:
                    ready.append(way)
        for root in problem.roots:
            if not possible[root]:
                raise self._unsatisfiable(root, possible)
        return self._reachable(need)

    def _reachable(self, need: list[int]) -> bytearray:
        """``need`` counts the children of each way that cannot be satisfied."""
        problem, dead = self.problem, self.dead
        alive = bytearray(len(problem.cls))
        seen = bytearray(len(problem.ways))
        pending = list(problem.roots)
        for root in pending:
            seen[root] = 1
        while pending:
            for way in problem.ways[pending.pop()]:
                if need[way] or dead[way]:
                    continue
                alive[way] = 1
                for child in problem.children[way]:
                    if not seen[child]:
                        seen[child] = 1
                        pending.append(child)
        return alive

    def update_forced(self, landmarks: Iterable[int] = ()) -> None:
        """Find the forced classes anew, after others have killed ways or found ``landmarks`` of every choice."""
        known = [*self.problem.roots, *landmarks]
        self.forced = bytearray(len(self.problem.ways))
        for cls in known:
            self.forced[cls] = 1
        self._grow_forced(known)

    def _grow_forced(self, pending: list[int]) -> None:
        """Force what all ways of a forced class have in common, starting at ``pending``."""
        problem, forced, alive = self.problem, self.forced, self.alive
        while pending:
            ways = [way for way in problem.ways[pending.pop()] if alive[way]]
            common = problem.children[ways[0]]
            for way in ways[1:]:
                if not common:
                    break
                children = problem.children[way]
                common = tuple([child for child in common if child in children])
            for child in common:
                if not forced[child]:
                    forced[child] = 1
                    pending.append(child)

    def _other_slot_ways(self) -> list[int]:
        """Ways of slots that are out because a forced class has one way left, which another way guards."""
        problem = self.problem
        doomed: list[int] = []
        for way in self._guarded:
            cls = problem.cls[way]
            if self.alive[way] and self.forced[cls] and len(self.alive_ways(cls)) == 1:
                slot_ways = problem.ways[problem.cls[problem.guard[way]]]
                doomed.extend(other for other in slot_ways if other != problem.guard[way])
        return doomed

    def _too_heavy_ways(self) -> list[int]:
        """Ways that do not fit beside what every choice puts into their group."""
        problem = self.problem
        if not problem.limits:
            return []
        least = self._least_loads()
        forced = [0] * len(problem.limits)
        for (_, group), weight in least.items():
            forced[group] += weight
        for group, limit in enumerate(problem.limits):
            if forced[group] > limit:
                what = problem.graph.groups[problem.group_ids[group]].what
                raise SolveError(f"no legal choice: what must be in '{what}' exceeds its limit")
        return [
            way
            for way in self._heavy
            if forced[problem.group[way]] - least.get((problem.cls[way], problem.group[way]), 0) + problem.weight[way]
            > problem.limits[problem.group[way]]
        ]

    def _least_loads(self) -> dict[tuple[int, int], int]:
        """(forced class, group) -> the least that the class puts there."""
        problem = self.problem
        least: dict[tuple[int, int], int] = {}
        for way in self._heavy:
            key = (problem.cls[way], problem.group[way])
            if not self.alive[way] or not self.forced[key[0]] or key in least:
                continue
            loads = [problem.weight[w] if problem.group[w] == key[1] else 0 for w in self.alive_ways(key[0])]
            least[key] = min(loads)
        return least

    def _unsatisfiable(self, root: int, possible: bytearray) -> SolveError:
        """Names the innermost class without a way, which is what a user has to look at."""
        problem = self.problem
        path, cls = {root}, root
        while True:
            missing = [
                child
                for way in problem.ways[cls]
                if not self.dead[way]
                for child in problem.children[way]
                if not possible[child] and child not in path
            ]
            if not missing:
                break
            cls = missing[0]
            path.add(cls)
        why = "no way to make it" if not problem.ways[cls] else "every way is out of reach"
        needed = "" if cls == root else f", needed by '{problem.label(root)}'"
        return SolveError(f"no legal choice: '{problem.label(cls)}' cannot be satisfied{needed}", hint=why)
