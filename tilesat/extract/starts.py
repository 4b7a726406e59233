"""First choices for the local search: Knuth's tree choice under a few placements of the slots."""

from __future__ import annotations

from tilesat.extract.knuth import allowed_under, tree_choice
from tilesat.extract.problem import Problem, is_legal, reached

REPAIRS = 200
"""How many placements are tried, at most, when the usual ones leave a root without a way."""


def first_choices(problem: Problem) -> list[list[int]]:
    """Complete choices, each acyclic and true to its guards; groups may be overfull. May be empty.

    Slots start where they are first listed (where the program has them), and where a tree choice that ignores guards
    would put them.
    """
    slots = problem.slots()
    if not slots:
        return _complete(problem, [tree_choice(problem, allowed_under(problem, {}))])
    listed = {slot: problem.ways[slot][0] for slot in slots}
    relaxed = tree_choice(problem)
    wished = {slot: relaxed[slot] if relaxed[slot] >= 0 else listed[slot] for slot in slots}
    placements = [listed] if wished == listed else [listed, wished]
    choices = [tree_choice(problem, allowed_under(problem, slots)) for slots in placements]
    return _complete(problem, choices) or _complete(problem, _repaired(problem, listed))


def sparing_choice(problem: Problem) -> list[int] | None:
    """A legal choice that takes as little room as a tree choice can, slots as listed; ``None`` where that fails."""
    utmost = sum(max((problem.cost[way] for way in ways), default=0) for ways in problem.ways) + 1
    price = [cost + utmost * weight for cost, weight in zip(problem.cost, problem.weight, strict=True)]
    placement = {slot: problem.ways[slot][0] for slot in problem.slots()}
    choice = tree_choice(problem, allowed_under(problem, placement), price)
    return _used_only(problem, choice) if is_legal(problem, choice) else None


def _complete(problem: Problem, choices: list[list[int]]) -> list[list[int]]:
    complete = [choice for choice in choices if all(choice[root] >= 0 for root in problem.roots)]
    return [_used_only(problem, choice) for choice in complete]


def _used_only(problem: Problem, choice: list[int]) -> list[int]:
    used = set(reached(problem, choice))
    return [way if cls in used else -1 for cls, way in enumerate(choice)]


def _missing(problem: Problem, choice: list[int]) -> int:
    return sum(choice[root] < 0 for root in problem.roots)


def _repaired(problem: Problem, placement: dict[int, int]) -> list[list[int]]:
    """Move one slot after the other while that leaves fewer roots without a way."""
    placement = dict(placement)
    choice = tree_choice(problem, allowed_under(problem, placement))
    missing = _missing(problem, choice)
    tries = 0
    moved = True
    while missing and moved and tries < REPAIRS:
        moved = False
        for slot in placement:
            for way in problem.ways[slot]:
                if way == placement[slot] or tries >= REPAIRS:
                    continue
                tries += 1
                trial = {**placement, slot: way}
                candidate = tree_choice(problem, allowed_under(problem, trial))
                if _missing(problem, candidate) < missing:
                    placement, choice, missing, moved = trial, candidate, _missing(problem, candidate), True
    return [choice]
