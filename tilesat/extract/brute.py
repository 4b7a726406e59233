"""Every legal choice of a small graph, by plain enumeration: the yardstick of the solvers."""

from __future__ import annotations

from collections.abc import Iterator

from tilesat.errors import SolveError
from tilesat.extract.graph import Choice, ChoiceGraph, alive_nodes, violation


def open_choices(graph: ChoiceGraph) -> int:
    """How many classes that a choice may use have more than one alive node."""
    alive = alive_nodes(graph)
    return sum(sum(alive[node] for node in nodes) > 1 for nodes in graph.classes)


def all_choices(graph: ChoiceGraph) -> Iterator[Choice]:
    """Each legal choice once, as used classes only; exponential in :func:`open_choices`."""
    alive = alive_nodes(graph)
    options = [[node for node in nodes if alive[node]] for nodes in graph.classes]
    agenda = list(dict.fromkeys(graph.roots))
    if not agenda:
        yield {}
        return
    choice: Choice = {}
    # One frame a decided class: next option, and the agenda's length before the decision.
    frames = [[0, len(agenda)]]
    while frames:
        option, length = frames[-1]
        cls = agenda[len(frames) - 1]
        choice.pop(cls, None)
        del agenda[length:]
        if option == len(options[cls]):
            frames.pop()
            continue
        frames[-1][0] += 1
        choice[cls] = options[cls][option]
        waiting = set(agenda)
        agenda.extend(child for child in dict.fromkeys(graph.nodes[choice[cls]].children) if child not in waiting)
        if len(frames) < len(agenda):
            frames.append([0, len(agenda)])
        elif violation(graph, choice) is None:
            yield dict(choice)


def cheapest(graph: ChoiceGraph) -> Choice:
    """The first of the cheapest legal choices; raises :class:`SolveError` when there is none."""
    best = min(all_choices(graph), key=graph.cost, default=None)
    if best is None:
        raise SolveError("no legal choice: enumeration found none")
    return best
