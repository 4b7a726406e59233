"""From a choice graph to small independent problems, and from their choices back to one for the graph.

What real programs leave open is a small part of their graph: most classes have one way. Reduction alternates
pruning, dominance and contraction until nothing changes, then splits what is left. Every step keeps at least one
cheapest choice; none depends on costs being distinct.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from tilesat.extract.contract import Contraction
from tilesat.extract.dominance import Dominance, drop_circular, drop_circular_by_needs
from tilesat.extract.graph import Choice, ChoiceGraph, used_classes
from tilesat.extract.landmarks import members, needs
from tilesat.extract.problem import NEVER, Problem, Unit, is_legal, reached, whole_problem
from tilesat.extract.prune import Pruner
from tilesat.extract.sccs import cyclic_groups

DEEP_WAYS = (12, 6000)
"""Ways of a part, more than and up to, for which it pays to find out what every derivation needs."""

QUICK_SHARE, SLOW_SHARE = 0.6, 0.9
"""A round over a whole problem that leaves more than this share of its ways is the last: its parts are looked at more
closely, which also takes less time. A part with too many ways for that goes on until little follows any more."""


@dataclass(slots=True)
class Reduction:
    """What is left to decide: ``parts``, independent of each other, and the way back."""

    graph: ChoiceGraph
    unit: Unit
    fixed_cost: int
    """Price of what is decided, in units, without the graph's own fixed cost."""
    decided: dict[int, int]
    replaced: dict[int, int]
    parts: list[Problem]

    def expand(self, choices: list[list[int]]) -> Choice:
        """The choice for the graph, used classes only, from one choice per part."""
        full = dict(self.decided)
        for part, choice in zip(self.parts, choices, strict=True):
            full.update((part.class_ids[cls], part.way_ids[way]) for cls, way in enumerate(choice) if way >= 0)
        return {cls: full[cls] for cls in used_classes(self.graph, full)}

    def project(self, choice: Choice, part: Problem) -> list[int] | None:
        """What a legal ``choice`` for the graph means for ``part``: no dearer, and legal again.

        ``None`` where it is legal only by the rounding of weights, which are exact here.
        """
        way_number = {way: position for position, way in enumerate(part.way_ids)}
        result = [-1] * len(part.ways)
        for position, cls in enumerate(part.class_ids):
            way = choice.get(cls, -1)
            while way in self.replaced:
                way = self.replaced[way]
            result[position] = way_number.get(way, -1)
        if not is_legal(part, result):
            return None
        used = set(reached(part, result))
        return [way if cls in used else -1 for cls, way in enumerate(result)]


def reduce(graph: ChoiceGraph) -> Reduction:
    """Raises :class:`SolveError` when a root cannot be satisfied whatever is chosen."""
    problem, unit = whole_problem(graph)
    reduction = Reduction(graph, unit, 0, {}, {}, [])
    for part in split(_shrink(problem, reduction, most_left=QUICK_SHARE)):
        if len(part.cls) <= DEEP_WAYS[0]:
            reduction.parts.append(part)
        elif len(part.cls) <= DEEP_WAYS[1]:
            reduction.parts += split(_shrink(part, reduction, deep=True))
        else:
            reduction.parts += split(_shrink(part, reduction, most_left=SLOW_SHARE))
    return reduction


def _shrink(problem: Problem, reduction: Reduction, *, deep: bool = False, most_left: float = 1.0) -> Problem:
    """``problem`` without what can be decided, which goes into ``reduction``.

    It ends early, with more than a few ways left, after a round that leaves more than ``most_left`` of them, but never
    with ways whose guard is gone: parts do not know of those. ``deep`` finds out what every derivation needs, in time
    quadratic in the number of classes.
    """
    while True:
        pruned = Pruner(problem).run()
        cyclic = cyclic_groups(problem, pruned.alive)
        needed: list[int] | None = None
        landmarks: list[int] = []
        if deep:
            needed = needs(problem, pruned.alive)
            landmarks = sorted({cls for root in problem.roots for cls in members(needed[root])})
            pruned.update_forced(landmarks)
            drop_circular_by_needs(problem, pruned, needed)
        else:
            drop_circular(problem, pruned, cyclic)
        dominance = Dominance(problem, pruned, cyclic, reduction.replaced, needed)
        dominance.run()
        pruned.update_forced(landmarks)
        contraction = Contraction(problem, dominance, reduction.decided)
        reduction.fixed_cost += contraction.fixed_cost
        before, problem = problem, contraction.result
        if not contraction.merged and len(problem.cls) == len(before.cls):
            return problem
        is_enough = len(before.cls) > DEEP_WAYS[0] and len(problem.cls) > most_left * len(before.cls)
        if is_enough and NEVER not in problem.guard:
            return problem


def split(problem: Problem) -> list[Problem]:
    """Parts that share no class, no slot and no limited group, in order of their first class."""
    leader = list(range(len(problem.ways)))

    def find(cls: int) -> int:
        while leader[cls] != cls:
            leader[cls] = leader[leader[cls]]
            cls = leader[cls]
        return cls

    def join(a: int, b: int) -> None:
        first, second = sorted((find(a), find(b)))
        leader[second] = first

    first_of_group: dict[int, int] = {}
    for way, cls in enumerate(problem.cls):
        for child in problem.children[way]:
            join(cls, child)
        if problem.guard[way] >= 0:
            join(cls, problem.cls[problem.guard[way]])
        if problem.group[way] >= 0:
            join(cls, first_of_group.setdefault(problem.group[way], cls))
    members: dict[int, list[int]] = defaultdict(list)
    for cls in range(len(problem.ways)):
        members[find(cls)].append(cls)
    return [_part(problem, members[key]) for key in sorted(members)]


def _part(problem: Problem, classes: list[int]) -> Problem:
    number = {cls: position for position, cls in enumerate(classes)}
    ways = [way for cls in classes for way in problem.ways[cls]]
    way_number = {way: position for position, way in enumerate(ways)}
    groups = sorted({problem.group[way] for way in ways if problem.group[way] >= 0})
    group_number = {group: position for position, group in enumerate(groups)}
    is_root = set(problem.roots)
    return Problem(
        graph=problem.graph,
        ways=[[way_number[way] for way in problem.ways[cls]] for cls in classes],
        cls=[number[problem.cls[way]] for way in ways],
        children=[tuple(number[child] for child in problem.children[way]) for way in ways],
        cost=[problem.cost[way] for way in ways],
        guard=[-1 if problem.guard[way] < 0 else way_number[problem.guard[way]] for way in ways],
        group=[-1 if problem.group[way] < 0 else group_number[problem.group[way]] for way in ways],
        weight=[problem.weight[way] for way in ways],
        limits=[problem.limits[group] for group in groups],
        group_ids=[problem.group_ids[group] for group in groups],
        roots=[number[cls] for cls in classes if cls in is_root],
        class_ids=[problem.class_ids[cls] for cls in classes],
        way_ids=[problem.way_ids[way] for way in ways],
    )
