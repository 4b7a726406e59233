"""Small functions are solved together: to fill an e-graph costs something, however little it is filled with."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from tilesat.errors import TilesatError
from tilesat.ir_terms.bundle import MOST_MEMBERS

Task = TypeVar("Task")
Found = TypeVar("Found")

MOST_TOGETHER = 2_500
"""Statements of functions that go together; with more of them there is little left to save."""


def bundled(tasks: Sequence[Task], size: Callable[[Task], int]) -> Iterator[list[Task]]:
    """``tasks`` in order, as many at a time as go together by their ``size`` in statements."""
    together: list[Task] = []
    total = 0
    for task in tasks:
        its = size(task)
        if together and (total + its > MOST_TOGETHER or len(together) == MOST_MEMBERS):
            yield together
            together, total = [], 0
        together.append(task)
        total += its
    if together:
        yield together


def solved(solve: Callable[[Sequence[Task]], Sequence[Found]], tasks: Sequence[Task]) -> Sequence[Found]:
    """What ``solve`` makes of ``tasks`` together.

    Where that fails they are solved one by one, so that the error is that of the first which fails by itself.
    """
    try:
        return solve(tasks)
    except TilesatError as error:
        if len(tasks) == 1:
            raise
        let_go(error)
    return [found for task in tasks for found in solve([task])]


def let_go(error: BaseException | None) -> None:
    """Release what the frames of ``error`` hold: e-graphs, of which no other thread can dispose."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__
