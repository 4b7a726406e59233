"""The cheapest legal choice of a graph: local search by default, exact on request."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tilesat.errors import SolveError
from tilesat.extract.bound import shared_bound
from tilesat.extract.exact import branch, solve_parts
from tilesat.extract.graph import Choice, ChoiceGraph, used_classes, violation
from tilesat.extract.part import search_part
from tilesat.extract.problem import Problem, choice_cost
from tilesat.extract.reduce import Reduction, reduce
from tilesat.extract.result import PartResult, take_turns

LOCAL_SHARE = 0.5
"""Part of the time limit that local search may take before an exact search."""

GRACE = 0.15
"""Seconds beyond the limit in which a first legal choice is still looked for."""

QUICK_CLASSES = 12
QUICK_STEPS = 300
"""Parts up to so many classes are decided by so many steps of branch and bound, if these are enough."""

POLISH_CLASSES = 64
POLISH_STEPS = 12_000
ALL_POLISH_STEPS = 36_000
"""Steps of branch and bound after local search, for a part of up to so many classes, and for all together.

Together they take some tens of milliseconds, and close nearly all gaps that local search leaves in small parts.
"""


@dataclass(frozen=True, slots=True)
class Solution:
    """``choice`` maps each used class to its node; no legal choice costs less than ``lower_bound``.

    ``status``: 'optimal' is proven; 'bounded' was searched exactly, with what gap the bound says; 'time limit' was
    cut short before everything was searched; 'heuristic' is a local optimum.
    """

    choice: Choice
    cost: float
    lower_bound: float
    status: str


def solve(
    graph: ChoiceGraph,
    *,
    exact: bool = False,
    time_limit: float = 10.0,
    seed: int = 0,
    start: Choice | None = None,
) -> Solution:
    """The best choice found within ``time_limit`` seconds, never dearer than ``start``, a legal choice.

    The same graph and seed give the same choice, as long as the time limit does not interfere. ``seed`` changes the
    order in which local search visits classes. Reading and reducing the graph is not interrupted; it takes about a
    second for 100,000 nodes.

    Raises :class:`SolveError` naming a class that cannot be satisfied when no legal choice exists, or when none is
    found in time; or when ``start`` is not legal.
    """
    begin = time.monotonic()
    deadline = begin + time_limit
    _check_start(graph, start)
    reduction = reduce(graph)
    results = [PartResult() for _ in reduction.parts]
    if start is not None:
        for part, result in zip(reduction.parts, results, strict=True):
            projected = reduction.project(start, part)
            result.offer(projected, 0 if projected is None else choice_cost(part, projected))
    _search_all(reduction.parts, results, begin + time_limit * LOCAL_SHARE if exact else deadline, seed)
    wanted = [n for n, result in enumerate(results) if exact or result.choice is None]
    if wanted:
        last = deadline if exact else max(deadline, time.monotonic() + GRACE)
        solve_parts([reduction.parts[n] for n in wanted], [results[n] for n in wanted], last)
    _check_complete(reduction, results)
    return _solution(reduction, results, start, exact)


def _search_all(parts: list[Problem], results: list[PartResult], deadline: float, seed: int) -> None:
    """Bound each part and improve its result, by a few branches where that is enough, else by local search and more."""
    polish = ALL_POLISH_STEPS
    for number, share in take_turns([len(part.cls) for part in parts], deadline):
        part, result = parts[number], results[number]
        result.prove(shared_bound(part))
        if len(part.ways) <= QUICK_CLASSES:
            branch(part, result, QUICK_STEPS, share)
        if result.is_open:
            search_part(part, result, share, seed)
        if result.is_open and polish > 0 and len(part.ways) <= POLISH_CLASSES:
            branch(part, result, min(polish, POLISH_STEPS), share)
            polish -= POLISH_STEPS


def _check_start(graph: ChoiceGraph, start: Choice | None) -> None:
    fault = None if start is None else violation(graph, start)
    if fault is not None:
        raise SolveError(f"the start is not a legal choice: {fault}")


def _check_complete(reduction: Reduction, results: list[PartResult]) -> None:
    for part, result in zip(reduction.parts, results, strict=True):
        if result.choice is not None:
            continue
        label = part.label(part.roots[0])
        if result.infeasible:
            room = [part.graph.groups[group].what for group in part.group_ids]
            raise SolveError(
                f"no legal choice: '{label}' cannot be satisfied together with what it depends on",
                hint=f"slots conflict, or there is no room in {', '.join(room)}" if room else "slots conflict",
            )
        raise SolveError(f"no legal choice found for '{label}' within the time limit", hint="raise the time limit")


def _solution(reduction: Reduction, results: list[PartResult], start: Choice | None, exact: bool) -> Solution:
    graph = reduction.graph
    choice = reduction.expand([result.choice or [] for result in results])
    fault = violation(graph, choice)
    if fault is not None:
        raise AssertionError(f"extraction made an illegal choice: {fault}")
    cost = graph.cost(choice)
    if start is not None and graph.cost(start) < cost:
        # Only rounding of prices that are not dyadic can get here.
        choice = {cls: start[cls] for cls in used_classes(graph, start)}
        cost = graph.cost(choice)
    units = reduction.fixed_cost + sum(result.bound for result in results)
    bound = graph.fixed_cost + reduction.unit.value(units)
    return Solution(choice, cost, min(bound, cost), _status(results, exact))


def _status(results: list[PartResult], exact: bool) -> str:
    left = [result for result in results if result.is_open]
    if not left:
        return "optimal"
    if exact:
        return "bounded" if all(result.tried for result in left) else "time limit"
    return "time limit" if any(result.late for result in left) else "heuristic"
