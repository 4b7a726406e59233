"""A cheap lower bound: each class's price is divided among all that could ever ask for it."""

from __future__ import annotations

from tilesat.extract.landmarks import children_first
from tilesat.extract.problem import Problem

SWEEPS = 12
SCALE = 1 << 20
"""Shares are floored whole numbers of units / SCALE, so that flooring never makes the bound too high."""


def shared_bound(problem: Problem) -> int:
    """At most the price of the cheapest choice, in units of the problem; guards and room are ignored."""
    return -(-_scaled_bound(problem, problem.cost) // SCALE)


def priced_bound(problem: Problem, room: list[int], per_one: int) -> int:
    """Like :func:`shared_bound`, with room taken into account at prices ``room[group] / per_one`` for a unit.

    Valid for any prices: to be charged for all room, and given back the price of the limits, never costs a legal
    choice more than it pays (Lagrangian relaxation).
    """
    price = [
        cost * per_one + (0 if group < 0 else room[group] * weight)
        for cost, group, weight in zip(problem.cost, problem.group, problem.weight, strict=True)
    ]
    given_back = sum(unit * limit for unit, limit in zip(room, problem.limits, strict=True)) * SCALE
    return -(-(_scaled_bound(problem, price) - given_back) // (SCALE * per_one))


def _scaled_bound(problem: Problem, price: list[int]) -> int:
    """A lower bound times ``SCALE``.

    Let ``P`` count the classes with a way that asks for class ``x``. In any choice at most ``P`` used classes ask for
    ``x``, so if each is charged ``bound(x) / P`` for it, nothing is charged twice. ``bound(x)`` is the least over the
    ways of ``x`` of own price and charges; roots are paid for by the choice itself and charged to nobody. Every sweep
    from zero upwards gives a valid bound, so stopping early is safe.
    """
    askers = [len({problem.cls[way] for way in ways}) for ways in problem.parents]
    for root in problem.roots:
        askers[root] = 0
    charge = [0] * len(problem.ways)
    bound = [0] * len(problem.ways)
    order = children_first(problem)
    for _ in range(SWEEPS):
        changed = False
        for cls in order:
            new = min(
                price[way] * SCALE + sum(charge[child] for child in problem.children[way]) for way in problem.ways[cls]
            )
            if new != bound[cls]:
                changed = True
                bound[cls] = new
                charge[cls] = new // askers[cls] if askers[cls] else 0
        if not changed:
            break
    return sum(bound[root] for root in problem.roots)
