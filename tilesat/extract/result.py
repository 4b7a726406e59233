"""What is known about one part, and how the parts share a time limit."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SMALLEST_SHARE = 0.1
"""Of the time left, for each part in turn."""


@dataclass(slots=True)
class PartResult:
    """The best choice known for a part, its price, and a proven lower bound, in units."""

    choice: list[int] | None = None
    cost: int = 0
    bound: int = 0
    infeasible: bool = False
    closed: bool = False
    """Whether an exact search ended, which proves the choice to the accuracy of its prices."""
    tried: bool = False
    """Whether an exact search had its turn."""
    late: bool = False
    """Whether the deadline cut local search short."""

    @property
    def is_open(self) -> bool:
        """Whether something better may still be found."""
        return not (self.infeasible or self.closed) and (self.choice is None or self.bound < self.cost)

    def offer(self, choice: list[int] | None, cost: int) -> None:
        """Keep legal ``choice`` if it is the cheapest so far."""
        if choice is not None and (self.choice is None or cost < self.cost):
            self.choice, self.cost = choice, cost
            self.bound = min(self.bound, cost)

    def prove(self, bound: int) -> None:
        """No legal choice costs less than ``bound``."""
        self.bound = max(self.bound, bound)
        if self.choice is not None:
            self.bound = min(self.bound, self.cost)


def take_turns(sizes: Sequence[int], deadline: float) -> Iterator[tuple[int, float]]:
    """Each index of ``sizes`` and its own deadline, small ones first.

    What small ones leave of their share goes to the larger ones that follow. Late turns have a deadline that is over.
    """
    left = sum(sizes)
    for index in sorted(range(len(sizes)), key=lambda index: sizes[index]):
        now = time.monotonic()
        share = max(SMALLEST_SHARE, sizes[index] / left) if left else 1.0
        left -= sizes[index]
        yield index, min(deadline, now + max(0.0, deadline - now) * share)
