"""Random legal choices of a graph: to test that whatever may be chosen means the same program."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tilesat.extract.graph import Choice, ChoiceGraph, used_classes, violation
from tilesat.extract.knuth import allowed_under, tree_choice
from tilesat.extract.problem import Problem, whole_problem
from tilesat.extract.prune import Pruner
from tilesat.extract.solve import solve

TRIES = 40
"""Random placements of the slots tried before falling back to one that is known to work."""

EVICTIONS = 60

SPREAD = 9.0
"""Decades that random prices span."""


def sample(graph: ChoiceGraph, seed: int, count: int) -> Iterator[Choice]:
    """``count`` random legal choices, used classes only; the same seed gives the same choices.

    Slots are placed at random, then every way gets a random price and the tree choice decides. Prices spread over
    many decades, so that the dearest step decides and long derivations win about as often as short ones; any
    acyclic choice can come out. Where groups are overfull, ways that take room are forbidden at random.

    Raises :class:`SolveError` when there is no legal choice.
    """
    sampler = Sampler(graph, random.Random(seed))
    for _ in range(count):
        yield sampler.draw()


class Sampler:
    """Draws random legal choices of one graph."""

    def __init__(self, graph: ChoiceGraph, rng: random.Random) -> None:
        self.graph = graph
        self.rng = rng
        self.problem: Problem = whole_problem(graph)[0]
        self.alive = Pruner(self.problem).run().alive
        self.slots = {
            slot: [way for way in self.problem.ways[slot] if self.alive[way]] for slot in self.problem.slots()
        }
        self._known: Choice | None = None

    def draw(self) -> Choice:
        for _ in range(TRIES):
            placement = {slot: self.rng.choice(ways) for slot, ways in self.slots.items()}
            choice = self._draw_under(placement)
            if choice is not None:
                return choice
        return self._draw_near_known()

    def _draw_near_known(self) -> Choice:
        """A choice that differs from one that the solver found in some slots at most."""
        if self._known is None:
            self._known = solve(self.graph).choice
        known = {slot: self._known[slot] for slot in self.slots}
        for share in (0.5, 0.2, 0.0):
            placement = {
                slot: self.rng.choice(ways) if self.rng.random() < share else known[slot]
                for slot, ways in self.slots.items()
            }
            choice = self._draw_under(placement)
            if choice is not None:
                return choice
        return dict(self._known)

    def _draw_under(self, placement: dict[int, int]) -> Choice | None:
        problem, rng = self.problem, self.rng
        allowed = allowed_under(problem, placement)
        for way, yes in enumerate(self.alive):
            if not yes:
                allowed[way] = 0
        price = [10.0 ** rng.uniform(0.0, SPREAD) for _ in problem.cls]
        for _ in range(EVICTIONS):
            ways = tree_choice(problem, allowed, price)
            if any(ways[root] < 0 for root in problem.roots):
                return None
            choice = dict(enumerate(ways))
            choice = {cls: choice[cls] for cls in used_classes(self.graph, choice)}
            heavy = self.overfull(choice)
            if not heavy:
                assert violation(self.graph, choice) is None
                return choice
            allowed[rng.choice(heavy)] = 0
        return None

    def overfull(self, choice: Choice) -> list[int]:
        """Chosen ways in groups that hold more than they may."""
        problem = self.problem
        load = [0] * len(problem.limits)
        for way in choice.values():
            if problem.group[way] >= 0:
                load[problem.group[way]] += problem.weight[way]
        return [
            way
            for way in choice.values()
            if problem.group[way] >= 0 and load[problem.group[way]] > problem.limits[problem.group[way]]
        ]
