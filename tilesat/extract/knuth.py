"""Knuth's tree choice: for each class the way of least tree cost, every use paid again.

Dijkstra's algorithm over an AND-OR graph (D. E. Knuth, A generalization of Dijkstra's algorithm, 1977). Acyclic by
construction: a way is taken only after all its children.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from tilesat.extract.problem import Problem


def tree_choice(
    problem: Problem, allowed: Sequence[int] | None = None, cost: Sequence[float] | None = None
) -> list[int]:
    """Class -> way, -1 for classes that the ``allowed`` ways cannot make.

    ``cost`` replaces the prices of the ways. Equal costs go to the way with fewer children, then to the lower number.
    """
    price = problem.cost if cost is None else cost
    cls, parents, children = problem.cls, problem.parents, problem.children
    need = [len(asked) for asked in children]
    total = list(price)
    queue = [(total[way], 0, way) for way, count in enumerate(need) if not count and (allowed is None or allowed[way])]
    heapq.heapify(queue)
    choice = [-1] * len(problem.ways)
    while queue:
        paid, _, way = heapq.heappop(queue)
        made = cls[way]
        if choice[made] >= 0:
            continue
        choice[made] = way
        for parent in parents[made]:
            total[parent] += paid
            need[parent] -= 1
            if not need[parent] and choice[cls[parent]] < 0 and (allowed is None or allowed[parent]):
                heapq.heappush(queue, (total[parent], len(children[parent]), parent))
    return choice


def allowed_under(problem: Problem, slots: dict[int, int]) -> bytearray:
    """Which ways may be used when each slot class of ``slots`` takes the given way."""
    allowed = bytearray(b"\1") * len(problem.cls)
    for way, guard in enumerate(problem.guard):
        if guard != -1 and (guard < 0 or slots[problem.cls[guard]] != guard):
            allowed[way] = 0
    for slot, chosen in slots.items():
        for way in problem.ways[slot]:
            if way != chosen:
                allowed[way] = 0
    return allowed
