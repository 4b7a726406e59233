"""A choice under change: what is used, by how many, at what price. Every step can be taken back.

``chosen[c]`` is -1 for a class that nobody uses, and for a used class that has just been detached and waits for a
new way. Chosen edges are acyclic at all times.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from tilesat.extract.problem import Problem
from tilesat.extract.sccs import cyclic_groups

REGION = 400
"""How many unpaid classes a derivation may look at."""

NEVER_READY = 1 << 30

NO_BOUND = 1 << 4096
"""More than any sum of prices."""

Mark = tuple[int, int, int]


class State:
    """``total`` is the price of what is used plus ``room_price`` for each unit that a group is over its limit."""

    def __init__(self, problem: Problem, choice: list[int]) -> None:
        self.problem = problem
        self.cyclic = cyclic_groups(problem)
        self.chosen = [-1] * len(problem.ways)
        self.users = [0] * len(problem.ways)
        self.load = [0] * len(problem.limits)
        self.price = problem.cost
        self.room_price = 0
        self.total = 0
        self.excess = 0
        """By how much all groups together are over their limits."""
        self.log: list[tuple[list[int], int, int]] = []
        self.adopt(choice)

    def adopt(self, choice: list[int]) -> None:
        """Start afresh from ``choice``, of which only the used part counts."""
        problem = self.problem
        self.chosen = [-1] * len(problem.ways)
        self.users = [0] * len(problem.ways)
        self.load = [0] * len(problem.limits)
        self.total = self.excess = 0
        for root in problem.roots:
            self.users[root] += 1
        pending = list(problem.roots)
        while pending:
            cls = pending.pop()
            if self.chosen[cls] < 0:
                self.attach(cls, choice[cls])
                pending.extend(problem.children[choice[cls]])
        self.log.clear()

    def mark(self) -> Mark:
        return len(self.log), self.total, self.excess

    def rollback(self, mark: Mark) -> None:
        log = self.log
        length, self.total, self.excess = mark
        while len(log) > length:
            array, index, old = log.pop()
            array[index] = old

    def set_prices(self, price: list[int], room_price: int) -> None:
        """Let each way cost ``price`` from now on, and each unit of excess ``room_price``."""
        self.price, self.room_price = price, room_price
        self.total = room_price * self.excess + sum(price[way] for way in self.chosen if way >= 0)

    def room_penalty(self, way: int) -> int:
        """What the room of ``way`` would add to the total now."""
        group = self.problem.group[way]
        if group < 0:
            return 0
        free = self.problem.limits[group] - self.load[group]
        weight = self.problem.weight[way]
        return self.room_price * (weight if free < 0 else max(0, weight - free))

    def _shift_load(self, group: int, weight: int) -> None:
        limit, old = self.problem.limits[group], self.load[group]
        self.log.append((self.load, group, old))
        self.load[group] = old + weight
        change = max(0, old + weight - limit) - max(0, old - limit)
        self.excess += change
        self.total += self.room_price * change

    def detach(self, cls: int) -> None:
        """Take away the way of used class ``cls``, and all that is then unused below it."""
        problem, chosen, users, log = self.problem, self.chosen, self.users, self.log
        pending = [cls]
        while pending:
            top = pending.pop()
            way = chosen[top]
            if way < 0:
                continue
            log.append((chosen, top, way))
            chosen[top] = -1
            self.total -= self.price[way]
            if problem.group[way] >= 0:
                self._shift_load(problem.group[way], -problem.weight[way])
            for child in problem.children[way]:
                count = users[child]
                log.append((users, child, count))
                users[child] = count - 1
                if count == 1:
                    pending.append(child)

    def attach(self, cls: int, way: int) -> None:
        """Let ``cls`` use ``way``; children that are unpaid are the caller's to derive."""
        problem, users, log = self.problem, self.users, self.log
        log.append((self.chosen, cls, self.chosen[cls]))
        self.chosen[cls] = way
        self.total += self.price[way]
        if problem.group[way] >= 0:
            self._shift_load(problem.group[way], problem.weight[way])
        for child in problem.children[way]:
            log.append((users, child, users[child]))
            users[child] += 1

    def hold(self, cls: int, change: int) -> None:
        """Add ``change`` users from outside."""
        self.log.append((self.users, cls, self.users[cls]))
        self.users[cls] += change

    def is_allowed(self, way: int) -> bool:
        guard = self.problem.guard[way]
        return guard == -1 or (guard >= 0 and self.chosen[self.problem.cls[guard]] == guard)

    def active_users(self, cls: int) -> list[int]:
        """Classes whose chosen way asks for ``cls``."""
        owner, chosen = self.problem.cls, self.chosen
        return [owner[way] for way in self.problem.parents[cls] if chosen[owner[way]] == way]

    def dependents(self, detached: Iterable[int]) -> set[int]:
        """Used classes that need a detached one: what its new derivation must keep clear of."""
        cyclic, chosen = self.cyclic, self.chosen
        owner, parents = self.problem.cls, self.problem.parents
        found: set[int] = set()
        pending = list(detached)
        while pending:
            cls = pending.pop()
            group = cyclic[cls]
            if group < 0:
                continue
            for way in parents[cls]:
                user = owner[way]
                if chosen[user] == way and cyclic[user] == group and user not in found:
                    found.add(user)
                    pending.append(user)
        return found

    def switch(self, cls: int, way: int, blocked: set[int], bound: int) -> bool:
        """Attach detached ``cls`` to ``way`` and derive what it needs; whether the total stays below ``bound``.

        Keeps clear of ``blocked`` classes. After ``False`` the caller rolls back.
        """
        self.attach(cls, way)
        for child in self.problem.children[way]:
            if self.total >= bound or child in blocked:
                return False
            if self.chosen[child] < 0 and not self.derive(child, blocked, bound - self.total):
                return False
        return self.total < bound

    def derive(self, target: int, blocked: set[int], budget: int) -> bool:
        """Attach unpaid ``target`` by the way of least additional tree cost; what is paid is free.

        Whether there is one below ``budget``. Nothing changes after ``False``.
        """
        best = self._cheapest_ways(target, blocked, budget)
        if best is None:
            return False
        chosen, children = self.chosen, self.problem.children
        pending = [target]
        while pending:
            cls = pending.pop()
            if chosen[cls] < 0:
                self.attach(cls, best[cls])
                pending.extend(child for child in children[best[cls]] if chosen[child] < 0)
        return True

    def _cheapest_ways(self, target: int, blocked: set[int], budget: int) -> dict[int, int] | None:
        """Knuth's algorithm over the unpaid classes below ``target``."""
        owner, children = self.problem.cls, self.problem.children
        need, paid, waiting = self._open_region(target, blocked, budget)
        queue = [(paid[way], len(children[way]), way) for way, count in need.items() if not count]
        heapq.heapify(queue)
        best: dict[int, int] = {}
        while queue:
            price, _, way = heapq.heappop(queue)
            cls = owner[way]
            if cls in best:
                continue
            best[cls] = way
            if cls == target:
                return best
            for parent in waiting[cls]:
                paid[parent] += price
                need[parent] -= 1
                if not need[parent] and paid[parent] < budget:
                    heapq.heappush(queue, (paid[parent], len(children[parent]), parent))
        return None

    def _open_region(
        self, target: int, blocked: set[int], budget: int
    ) -> tuple[dict[int, int], dict[int, int], dict[int, list[int]]]:
        """Usable ways of unpaid classes below ``target``: unpaid children, price, and who waits for a class."""
        problem, chosen = self.problem, self.chosen
        ways, owner, children, guards, cost = (
            problem.ways,
            problem.cls,
            problem.children,
            problem.guard,
            self.price,
        )
        need: dict[int, int] = {}
        paid: dict[int, int] = {}
        waiting: dict[int, list[int]] = {target: []}
        region = [target]
        for cls in region:
            for way in ways[cls]:
                guard = guards[way]
                if guard != -1 and chosen[owner[guard]] != guard:
                    continue
                price = cost[way]
                if problem.group[way] >= 0:
                    price += self.room_penalty(way)
                if price >= budget:
                    continue
                unpaid = []
                for child in children[way]:
                    if child in blocked:
                        break
                    if chosen[child] < 0:
                        unpaid.append(child)
                else:
                    need[way], paid[way] = len(unpaid), price
                    for child in unpaid:
                        if child in waiting:
                            waiting[child].append(way)
                        elif len(region) < REGION:
                            waiting[child] = [way]
                            region.append(child)
                        else:
                            need[way] = NEVER_READY
        return need, paid, waiting
