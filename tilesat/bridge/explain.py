"""Decisions of a placement: what was chosen, what it costs, and the best that was not."""

from __future__ import annotations

from tilesat.bridge.decisions import Decision, place_of
from tilesat.bridge.place import PlaceElaborator
from tilesat.extract.graph import Node
from tilesat.extract.places import PlaceGraph
from tilesat.extract.solve import Solution
from tilesat.ir_terms.relations import SPACES

_KINDS = {"Load": "load", "Move": "move", "Look": "view", "Slice": "view", "Cut": "extract"}


def placement_decisions(places: PlaceGraph, solution: Solution, elaborator: PlaceElaborator) -> list[Decision]:
    """The decisions behind ``solution`` in program order."""
    function = places.index.function.name
    found: list[tuple[int, Decision]] = []
    for executions in elaborator.schedule.at.values():
        for execution in executions:
            node = execution.node
            source = elaborator.schedule.names[node.children[0]] if node.children else ""
            text = _text(node, execution.name, source)
            rules = dict.fromkeys((*node.reasons, *_carried(places, solution, execution.cls)))
            kind = _KINDS[node.kind]
            place = place_of(places.index, execution.site)
            decision = Decision(function, kind, execution.name, text, place, tuple(rules), node.cost)
            found.append((execution.site, decision))
    return [decision for _, decision in sorted(found, key=lambda item: (item[0], item[1].subject))]


def _carried(places: PlaceGraph, solution: Solution, cls: int) -> list[str]:
    """Rules that brought the place of ``cls`` into the regions that read it."""
    graph = places.choices
    reasons: list[str] = []
    for number in solution.choice.values():
        node = graph.nodes[number]
        if node.kind == "Up" and node.children[0] == cls:
            reasons += node.reasons
    return reasons


def _text(node: Node, name: str, source: str) -> str:
    if node.kind == "Load":
        return f"{name} = load into {SPACES[node.data[1]].value}"
    if node.kind == "Move":
        return f"{name} = move of {source} to {SPACES[node.data[1]].value}"
    if node.kind == "Cut":
        return f"{name} = window of {source} cut into {SPACES[node.data[1]].value}"
    return f"{name} = view of {source}"
