"""Where a generator gets its decisions from: a random generator, or hypothesis.

Every helper is built on :meth:`Choices.integer` so that the lowest number means the simplest program.
A source that searches for small counterexamples, as hypothesis does, then simplifies by lowering numbers.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Generic, TypeVar

from tilesat.errors import TilesatError

T = TypeVar("T")

MOST_SELECTED = 16
_NONES = 2


class Choices(ABC):
    """A source of decisions."""

    @abstractmethod
    def integer(self, low: int, high: int) -> int:
        """A number from ``low`` to ``high``, both included; ``low`` is the simplest."""

    def span(self, body: Callable[[], T]) -> T:
        """What ``body`` returns; the decisions it takes belong together and may be dropped together."""
        return body()

    def pick(self, items: Sequence[T]) -> T:
        """One of ``items``, which are not empty, simplest first. A single item takes no decision."""
        return items[0] if len(items) == 1 else items[self.integer(0, len(items) - 1)]

    def select(self, items: Sequence[T]) -> T:
        """One of ``items``, whose number depends on what came before; simplest first.

        The decision has the same range whatever the number, so that it stays valid when a search drops
        something that came before. Of more than :data:`MOST_SELECTED` items the first ones count.
        """
        return items[self.integer(0, MOST_SELECTED - 1) % len(items)]

    def select_or_none(self, items: Sequence[T]) -> T | None:
        """As :meth:`select`, but once in a while, and when there are no ``items``, none of them."""
        number = self.integer(0, MOST_SELECTED - 1)
        is_none = number >= MOST_SELECTED - _NONES or not items
        return None if is_none else items[number % len(items)]

    def chance(self, one_in: int) -> bool:
        """True once in ``one_in`` times; false is simpler."""
        return self.integer(1, one_in) == one_in


class RandomChoices(Choices):
    """Decisions from a seeded random generator: equal seeds decide alike on every platform."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        # Not randint: this is the same distribution for the narrow ranges asked for, at a fifth of the time.
        return low + int(self._random.random() * (high - low + 1))


class Weighted(Generic[T]):
    """Items with weights, simplest first; what has weight 0 is never picked."""

    def __init__(self, items: Sequence[tuple[T, int]]) -> None:
        kept = [(item, weight) for item, weight in items if weight > 0]
        if not kept:
            raise TilesatError("nothing is left to choose from", hint="give some item a positive weight")
        self.items = tuple(item for item, _ in kept)
        self._bounds = tuple(accumulate(weight for _, weight in kept))

    def pick(self, choices: Choices) -> T:
        if len(self.items) == 1:
            return self.items[0]
        return self.items[bisect_right(self._bounds, choices.integer(0, self._bounds[-1] - 1))]


def scaled(items: Sequence[tuple[T, int]], most: int) -> list[tuple[T, int]]:
    """``items`` with weights in about the same proportions that add up to about ``most``.

    Nothing that can be picked loses that: small weights become 1.
    """
    total = sum(weight for _, weight in items)
    return [(item, max(1, round(weight * most / total))) for item, weight in items if weight > 0]
