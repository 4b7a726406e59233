"""Decisions of a placement: what was chosen and why, what it costs, and the best that was not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tilesat.bridge.decisions import Decision, place_of
from tilesat.bridge.describe import Describer
from tilesat.bridge.place import PlaceElaborator
from tilesat.errors import SolveError
from tilesat.extract.alternatives import Alternatives
from tilesat.extract.graph import Node
from tilesat.extract.places import PlaceGraph
from tilesat.extract.plan import Reasons
from tilesat.extract.solve import Solution
from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import Assign
from tilesat.ir.types import TileType
from tilesat.ir_terms.relations import SPACES

_KINDS = {"Load": "load", "Move": "move", "Look": "view", "Slice": "view", "Cut": "extract"}
_KEEPING = frozenset({"Read", "Up", "AnyOf"})
ANY_LAYOUT = ("any-layout",)
NOTHING, NO_TIME = "no other way", "not searched: no time left"


@dataclass(frozen=True, slots=True)
class _Finding:
    """A decision before its alternatives are looked for: ``other`` has, per alternative, the nodes to do without."""

    site: int
    kind: str
    subject: str
    text: str
    rules: Reasons
    cost: float | None
    other: tuple[tuple[int, ...], ...] = ()


def placement_decisions(
    places: PlaceGraph,
    solution: Solution,
    elaborator: PlaceElaborator,
    result: FunctionIndex,
    alternatives: Alternatives | None = None,
) -> list[Decision]:
    """The decisions behind ``solution`` in program order; with ``alternatives`` also what each rejected."""
    return _Explainer(places, solution, elaborator, result, alternatives).run()


class _Explainer:
    def __init__(
        self,
        places: PlaceGraph,
        solution: Solution,
        elaborator: PlaceElaborator,
        result: FunctionIndex,
        alternatives: Alternatives | None,
    ) -> None:
        self.places = places
        self.index: FunctionIndex = places.index
        self.graph = places.choices
        self.choice = solution.choice
        self.schedule = elaborator.schedule
        self.result = result
        self.alternatives = alternatives
        self.describe = Describer(places)
        self._carriers = self._find_carriers()

    def run(self) -> list[Decision]:
        findings = [*self._executions(), *self._choices(), *self._dropped()]
        return [self._decision(finding) for finding in sorted(findings, key=lambda f: (f.site, f.kind, f.subject))]

    def _decision(self, found: _Finding) -> Decision:
        rejected, more = self._rejected(found.other)
        return Decision(
            self.index.function.name,
            found.kind,
            found.subject,
            found.text,
            place_of(self.index, found.site),
            found.rules,
            found.cost,
            rejected,
            more,
            "placement",
        )

    def _rejected(self, other: tuple[tuple[int, ...], ...]) -> tuple[str, float | None]:
        """The best of what doing without each of ``other`` would lead to, and what it costs more."""
        if self.alternatives is None or not other:
            return "", None
        try:
            tried = [self.alternatives.without(*nodes) for nodes in other]
        except SolveError:
            return NO_TIME, None
        best = min((found for found in tried if found is not None), key=lambda found: found.more, default=None)
        return (NOTHING, None) if best is None else (self.describe.steps(best.nodes), best.more)

    # ----------------------------------------------------------------- what is executed

    def _executions(self) -> Iterator[_Finding]:
        for executions in self.schedule.at.values():
            for execution in executions:
                node = execution.node
                source = self.schedule.names[node.children[0]] if node.children else ""
                carried = [reason for inner in self._kept_for(execution.cls) for reason in self._node(inner).reasons]
                rules = tuple(dict.fromkeys((*node.reasons, *carried)))
                text = f"{execution.name} = {self.describe.execution(node, source)}"
                kept = [(self.choice[inner],) for inner in self._kept_for(execution.cls)]
                other = ((self.choice[execution.cls],), *kept)
                kind = _KINDS[node.kind]
                site = self._stays(execution.site)
                yield _Finding(site, kind, execution.name, text, rules, node.cost, other)

    def _stays(self, site: int) -> int:
        """The first statement from ``site`` on that does not itself move about."""
        for later in range(site, len(self.index.sites)):
            if getattr(self.index.sites[later], "name", None) not in self.places.floating:
                return later
        return site

    def _find_carriers(self) -> dict[int, list[int]]:
        """Class -> classes that keep it for a region inside."""
        found: dict[int, list[int]] = defaultdict(list)
        for cls, number in self.choice.items():
            node = self.graph.nodes[number]
            if node.kind == "Up":
                found[node.children[0]].append(cls)
        return found

    def _kept_for(self, cls: int) -> list[int]:
        """Classes for which the place of ``cls`` is kept while regions inside run."""
        found: list[int] = []
        pending = [cls]
        while pending:
            inner = self._carriers.get(pending.pop(), [])
            found += inner
            pending += inner
        return found

    def _node(self, cls: int) -> Node:
        return self.graph.nodes[self.choice[cls]]

    # -------------------------------------------------------------------- other choices

    def _choices(self) -> Iterator[_Finding]:
        """What was open and is no statement of its own: slots, targets, operands read in place, equal loads."""
        for cls, number in self.choice.items():
            node = self.graph.nodes[number]
            if node.kind == "Made":
                yield from self._target(number, node)
            elif len(self.graph.classes[cls]) > 1:
                yield from self._choice(cls, number, node)

    def _target(self, number: int, node: Node) -> Iterator[_Finding]:
        """Where a load or create that may go to several spaces goes."""
        name = node.data[0]
        if sum((name, space) in self.places.own_class for space in SPACES) > 1:
            site, text = self.index.definitions[name].site, self.describe.step(node)
            yield _Finding(site, "target", name, text, node.reasons, node.cost, ((number,),))

    def _choice(self, cls: int, number: int, node: Node) -> Iterator[_Finding]:
        step, rules, cost = self.describe.step, node.reasons, node.cost
        if node.kind == "SlotIn":
            site = node.data[0]
            yield _Finding(site, "slot", self.describe.slot(*node.data[:2]), step(node), rules, cost, ((number,),))
        elif node.kind == "Alike" or (node.kind == "AnyOf" and node.reasons != ANY_LAYOUT):
            name, site = self.describe.holder(cls)
            text = f"{name} is {self.schedule.names[cls]}, which an equal load brings"
            yield _Finding(site, "merge", name, text, rules, cost, ((number,),))
        elif node.kind == "Take" and self._is_own(node.children[0]):
            yield from self._read_in_place(cls, node)

    def _is_own(self, cls: int) -> bool:
        """Whether the place of ``cls`` is the buffer of a variable, not a copy."""
        while cls in self.places.at:
            node = self._node(cls)
            if node.kind not in _KEEPING:
                return False
            (cls,) = node.children
        return True

    def _read_in_place(self, cls: int, node: Node) -> Iterator[_Finding]:
        """An operand that could have read a copy in another space."""
        space = self.places.space_of(node.children[0])
        ways = [way for way in self.graph.classes[cls] if self.graph.classes[self.graph.nodes[way].children[0]]]
        same = tuple(way for way in ways if self.places.space_of(self.graph.nodes[way].children[0]) == space)
        if len(same) < len(ways):
            site, name, text = self.places.site_of_use(cls), self.schedule.names[cls], self.describe.step(node)
            yield _Finding(site, "operand", name, text, node.reasons, node.cost, (same,))

    # -------------------------------------------------------------------- what is gone

    def _dropped(self) -> Iterator[_Finding]:
        left = self.result.definitions
        for site, stmt in enumerate(self.index.sites):
            if isinstance(stmt, Assign) and isinstance(stmt.type, TileType) and stmt.name not in left:
                text = f"{stmt.name} is left out: nothing needs it, or something else serves"
                yield _Finding(site, "dropped", stmt.name, text, (), None)
