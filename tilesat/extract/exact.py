"""Exact extraction of the parts of a reduced graph, small parts first, within one time limit."""

from __future__ import annotations

import time

from tilesat.extract.branch import BranchAndBound
from tilesat.extract.milp import ExactModel
from tilesat.extract.problem import Problem
from tilesat.extract.result import PartResult, take_turns

BRANCH_CLASSES = 40
BRANCH_STEPS = 3000


def branch(problem: Problem, result: PartResult, steps: int, deadline: float) -> None:
    """Improve ``result`` by branch and bound, to the end if that takes no more than ``steps``."""
    search = BranchAndBound(problem, None if result.choice is None else result.cost)
    found = search.run(steps, deadline)
    if found.choice is not None:
        result.offer(found.choice, found.cost)
    if found.finished:
        result.tried = True
        result.infeasible = result.choice is None
        result.prove(result.cost)


def solve_parts(parts: list[Problem], results: list[PartResult], deadline: float) -> None:
    """Improve each of ``results`` to a proven optimum, or as far as ``deadline`` lets."""
    open_parts = [number for number, result in enumerate(results) if result.is_open]
    for turn, share in take_turns([len(parts[number].cls) for number in open_parts], deadline):
        if time.monotonic() >= deadline:
            return
        _solve_part(parts[open_parts[turn]], results[open_parts[turn]], share)


def _solve_part(part: Problem, result: PartResult, deadline: float) -> None:
    if len(part.ways) <= BRANCH_CLASSES:
        branch(part, result, BRANCH_STEPS, deadline)
        if not result.is_open:
            return
    proven = ExactModel(part).solve(result.choice, deadline)
    result.tried = True
    if proven.choice is not None:
        result.offer(proven.choice, sum(part.cost[way] for way in proven.choice if way >= 0))
    result.prove(proven.bound)
    result.closed = proven.closed
    result.infeasible = proven.infeasible
