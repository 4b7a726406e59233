"""A baseline for the extraction: stochastic search over the same placements, for the same time.

Random changes to a placement, kept when they are no dearer: the way in which superoptimisers search. It starts from the
documented placement, as the extraction does, so it is never dearer than that.
"""

from __future__ import annotations

import random
import time

from tilesat.extract.cost import CheckedModel
from tilesat.extract.count import function_cost
from tilesat.extract.graph import Choice, used_classes
from tilesat.extract.identity import identity_choice
from tilesat.extract.knuth import allowed_under, tree_choice
from tilesat.extract.places import PlaceGraph
from tilesat.extract.sampling import SPREAD, Sampler
from tilesat.ir.nodes import Function

LEAST_SECONDS = 0.002
_SHARES = (0.02, 0.1, 0.3)
"""Shares of the prices that a step draws anew."""


class StochasticSearch:
    """Searches the placements of one function. What it changes are random prices, from which a placement follows.

    Made while the function is in the e-graph; run at any time.
    """

    def __init__(self, places: PlaceGraph, seed: int) -> None:
        self.graph = places.choices
        self.rng = random.Random(seed)
        self.start = identity_choice(places)
        self.sampler = Sampler(self.graph, self.rng)

    def run(self, seconds: float) -> float:
        """The cost of the best placement found within ``seconds``, in the units of the graph."""
        deadline = time.monotonic() + max(seconds, LEAST_SECONDS)
        rng, slots = self.rng, self.sampler.slots
        chosen = self.start or {}
        best = self.graph.cost(self.start) if self.start is not None else float("inf")
        placement = {slot: chosen.get(slot, rng.choice(ways)) for slot, ways in slots.items()}
        kept = set(chosen.values())
        prices = [1.0 if way in kept else 10.0 ** rng.uniform(0.0, SPREAD) for way in range(len(self.sampler.alive))]
        while time.monotonic() < deadline:
            share = rng.choice(_SHARES)
            tried = [10.0 ** rng.uniform(0.0, SPREAD) if rng.random() < share else price for price in prices]
            moved = {s: rng.choice(slots[s]) if rng.random() < share else way for s, way in placement.items()}
            choice = self._follow(moved, tried)
            if choice is None:
                continue
            cost = self.graph.cost(choice)
            if cost <= best:
                best, prices, placement = cost, tried, moved
        return best

    def _follow(self, placement: dict[int, int], prices: list[float]) -> Choice | None:
        """The placement that is cheapest under ``prices``, each use paid by itself; ``None`` where none is legal."""
        problem = self.sampler.problem
        allowed = allowed_under(problem, placement)
        for way, alive in enumerate(self.sampler.alive):
            if not alive:
                allowed[way] = 0
        ways = tree_choice(problem, allowed, prices)
        if any(ways[root] < 0 for root in problem.roots):
            return None
        whole = dict(enumerate(ways))
        choice = {cls: whole[cls] for cls in used_classes(self.graph, whole)}
        return None if self.sampler.overfull(choice) else choice


def stochastic_cost(
    searches: list[tuple[Function, Function, StochasticSearch, int]],
    total: float,
    seconds: float,
    model: CheckedModel,
) -> float:
    """What a program costs when its kernels are placed by stochastic search instead.

    ``searches`` has, per distinct kernel, the function before and after the extraction, the search over its placements,
    and how often it occurs; ``total`` is the cost that the extraction reached in ``seconds`` for all of them.
    """
    for before, after, search, times in searches:
        found = search.run(seconds / len(searches))
        # Whatever the graph does not price is the same in every placement.
        found = min(found, function_cost(before, model))
        total += times * (found - function_cost(after, model))
    return total
