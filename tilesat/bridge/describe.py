"""Steps of a placement in words."""

from __future__ import annotations

from collections.abc import Iterable

from tilesat.extract.graph import Node
from tilesat.extract.places import PlaceGraph
from tilesat.ir.memory import called
from tilesat.ir.nodes import For, If, OpCall, While
from tilesat.ir_terms.facts import LOAD
from tilesat.ir_terms.relations import SPACES

MOST_STEPS = 3
# Steps that say nothing by themselves: reading what another step makes.
_SILENT = frozenset({"Read", "Up", "AnyOf", "Run", "Home", "Slot"})


class Describer:
    """Names what nodes of one placement graph stand for."""

    def __init__(self, places: PlaceGraph) -> None:
        self.places = places
        self.index = places.index
        self.graph = places.choices
        self._owners = {cls: key for key, cls in places.own_class.items()}

    def steps(self, numbers: Iterable[int]) -> str:
        """What the nodes ``numbers`` do, the dearest first."""
        nodes = [self.graph.nodes[number] for number in numbers]
        loud = sorted((node for node in nodes if node.kind not in _SILENT), key=lambda node: -node.cost)
        made = [node for node in loud if node.kind != "Take"]
        # Who reads a tile follows from how it is made.
        loud = made or loud
        texts = list(dict.fromkeys(self.step(node) for node in loud))
        if not texts:
            return "the same step for another region"
        more = len(texts) - MOST_STEPS
        return "; ".join(texts[:MOST_STEPS]) + (f"; and {more} more" if more > 0 else "")

    def step(self, node: Node) -> str:
        """One node, by the names of the input."""
        if node.kind == "SlotIn":
            return f"{self.slot(*node.data[:2])} lives in {SPACES[node.data[2]].value}"
        if node.kind == "Made":
            name, space = node.data
            call = called(self.index.sites[self.index.definitions[name].site])
            verb = "loaded into" if isinstance(call, OpCall) and call.op == LOAD else "created in"
            return f"{name} is {verb} {SPACES[space].value}"
        if node.kind == "Alike":
            return f"{self.holder(node.cls)[0]} is the tile of an equal load"
        if node.kind == "Take":
            site, slot = self.places.key_of_use(node.cls)
            return f"{self._operand(site, slot)} reads {self.place(node.children[0])}"
        source = self.holder(node.children[0])[0] if node.children else ""
        return f"{self.execution(node, source)} {self.region(self.places.at[node.cls][3])}"

    def execution(self, node: Node, source: str) -> str:
        """What an executed node does to ``source``."""
        if node.kind == "Load":
            stmt = self.index.sites[node.data[0]]
            return f"load of {getattr(stmt, 'name', '')} into {SPACES[node.data[1]].value}"
        if node.kind == "Move":
            return f"move of {source} to {SPACES[node.data[1]].value}"
        if node.kind == "Cut":
            return f"window of {source} cut into {SPACES[node.data[1]].value}"
        return f"view of {source}"

    def region(self, region: int) -> str:
        """Where a region is."""
        kind, owner = self.index.regions[region].kind, self.index.regions[region].owner
        if owner < 0:
            return "in the function's body"
        stmt = self.index.sites[owner]
        if isinstance(stmt, For):
            return f"in the loop over {stmt.index}"
        if isinstance(stmt, While):
            return "in the while loop"
        assert isinstance(stmt, If)
        return f"in the {kind} branch"

    def place(self, cls: int) -> str:
        """A place by the tile that is there and its space."""
        if cls in self._owners:
            name, space = self._owners[cls]
            return f"{name} in {SPACES[space].value}, where it is"
        return f"a copy of {self.holder(cls)[0]} in {SPACES[self.places.at[cls][1]].value}"

    def holder(self, cls: int) -> tuple[str, int]:
        """The first variable that holds what place ``cls`` has, and the site where it is bound."""
        if cls in self._owners:
            name = self._owners[cls][0]
        else:
            members = self.places.members.get(self.places.at[cls][0], ())
            if not members:
                return "a window", -1
            name = members[0][0]
        return name, self.index.definitions[name].site

    def slot(self, site: int, position: int) -> str:
        """The result that a carried slot or branch leaves."""
        stmt = self.index.sites[site]
        assert isinstance(stmt, (For, While, If))
        return stmt.results[position].name

    def _operand(self, site: int, slot: int) -> str:
        call = called(self.index.sites[site])
        what = call.op if isinstance(call, OpCall) else type(self.index.sites[site]).__name__.lower()
        return f"operand {slot} of {what}"
