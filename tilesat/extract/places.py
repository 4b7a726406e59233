"""The choice graph of a function, read out of its saturated e-graph and priced by a cost model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from typing import Any

from tilesat.extract.cost import CheckedModel
from tilesat.extract.count import operand_transfer, region_frequencies, tile_bytes
from tilesat.extract.graph import ChoiceGraph, Node
from tilesat.extract.plan import Reasons
from tilesat.extract.transfer import Transfer, TransferKind
from tilesat.ir.index import FunctionIndex
from tilesat.ir.memory import MemorySSA, called, is_barrier
from tilesat.ir.nodes import Assign, Expr, OpCall, Stmt
from tilesat.ir.ops import op_info
from tilesat.ir.types import MemorySpace, TileType
from tilesat.ir_terms.bundle import Tables
from tilesat.ir_terms.decode import Decoder
from tilesat.ir_terms.encode import Rows
from tilesat.ir_terms.facts import LOAD
from tilesat.ir_terms.placement_facts import NAMED_SLOT
from tilesat.ir_terms.relations import SPACES
from tilesat.ir_terms.relations.base import kind_of
from tilesat.ir_terms.relations.placement import WAYS

_SCALE_SPACES = frozenset({MemorySpace.LeftScale, MemorySpace.RightScale})


def _but_last(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return row[:-1]


class PlaceGraph:
    """Builds the :class:`ChoiceGraph`; keeps what elaboration needs to know of contents and operands."""

    def __init__(
        self, graph: Tables, facts: Rows, index: FunctionIndex, memory: MemorySSA, model: CheckedModel
    ) -> None:
        self.egraph = graph
        self.facts = facts
        self.index = index
        self.memory = memory
        self.model = model
        self.choices = ChoiceGraph()
        self.runs = region_frequencies(index, model.frequency)
        self.operand_class: dict[tuple[int, int], int] = {}
        """(site, slot) -> class of what the operand reads."""
        self.flow_class: dict[tuple[int, int, int], int] = {}
        self.run_class: dict[int, int] = {}
        """Site of a statement that stays where it is -> class that its being there makes true."""
        self.slot_class: dict[tuple[int, int], int] = {}
        self.own_class: dict[tuple[str, int], int] = {}
        self.at: dict[int, tuple[Any, int, int, int]] = {}
        """Class of an At place -> (content, space, layout, region)."""
        self.members: dict[Any, list[tuple[str, int]]] = defaultdict(list)
        """Content -> the (variable, version) pairs that hold it, in order of definition."""
        self.floating = self._names("floating")
        self.makers = self._names("made-in")
        self.views = self._names("own-view")
        self.aliases = self._names("own-alias")
        self.slot_of_flow: dict[tuple[int, int], tuple[int, int]] = {}
        """(site, slot) of what flows -> the slot it flows into."""
        self._use_site: dict[int, int] = {}
        self._use_key: dict[int, tuple[int, int]] = {}
        self._numbers: dict[Any, int] = {}
        self._sizes: dict[Any, int | None] = {}
        self._operands: dict[int, list[int]] = defaultdict(list)
        self._decoder: Decoder | None = None
        self.operand_names: dict[tuple[int, int], str] = {}
        self._read_contents()
        self._read_classes()
        self._read_slots()
        self._read_runs()
        self._read_ways()

    def _names(self, relation: str) -> set[str]:
        return {row[0] for row in self.facts.get(relation, ())}

    def site_of_use(self, cls: int) -> int:
        """The site of the operand, or of the flow, that class ``cls`` stands for."""
        return self._use_site[cls]

    def space_of(self, cls: int) -> int:
        """The number of the space that place ``cls`` is in."""
        return self._place_space[cls]

    def key_of_use(self, cls: int) -> tuple[int, int]:
        """Site and slot of the operand, or of the flow, that class ``cls`` stands for."""
        return self._use_key[cls]

    def exprs(self, items: Any) -> tuple[Expr, ...]:
        """The expressions of a list in the e-graph."""
        if self._decoder is None:
            self._decoder = Decoder(self.egraph)
        return self._decoder.items(items)

    @contextmanager
    def without(self, numbers: frozenset[int]) -> Iterator[None]:
        """The graph without some nodes, for as long as the block lasts."""
        changed = {self.choices.nodes[number].cls for number in numbers}
        before = {cls: self.choices.classes[cls] for cls in changed}
        self.give_up(numbers)
        try:
            yield
        finally:
            for cls, members in before.items():
                self.choices.classes[cls] = members

    def give_up(self, numbers: frozenset[int]) -> None:
        """Take some nodes out of the graph."""
        for cls in {self.choices.nodes[number].cls for number in numbers}:
            self.choices.classes[cls] = [n for n in self.choices.classes[cls] if n not in numbers]

    def forbid_keeping(self, spaces: set[MemorySpace]) -> None:
        """Take back the offers to keep copies in ``spaces`` from surrounding regions."""
        for cls, numbers in enumerate(self.choices.classes):
            place = self.at.get(cls)
            if place is not None and SPACES[place[1]] in spaces:
                self.choices.classes[cls] = [n for n in numbers if self.choices.nodes[n].kind != "Up"]

    # ------------------------------------------------------------------------- reading

    def _class(self, value: Any, label: str) -> int:
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = self.choices.new_class(label)
        return number

    def _read_contents(self) -> None:
        sites = self.index.definitions
        rows = self.egraph.table("Of").read("str", "int", "class")
        for name, version, content in sorted(rows, key=lambda row: (sites[row[0]].site, row[0], row[1])):
            self.members[content].append((name, version))

    def _read_classes(self) -> None:
        """Number the classes in an order that does not depend on that of egglog's rows."""
        for name, space, value in sorted(self.egraph.table("Own").read("str", "int", "class"), key=_but_last):
            self.own_class[name, space] = self._class(value, f"{name} in {SPACES[space].value}")
        order = {content: number for number, content in enumerate(self.members)}
        places = self.egraph.table("At").read("class", "int", "int", "int", "class")
        for content, *key, value in sorted(places, key=lambda row: (order.get(row[0], len(order)), row[1:-1])):
            space, layout, region = key
            label = f"{self._holder(content)} in {SPACES[space].value} for region {region}"
            number = self._class(value, label)
            self.at[number] = (content, space, layout, region)
        for site, slot, value in sorted(self.egraph.table("UseOf").read("int", "int", "class"), key=_but_last):
            self.operand_class[site, slot] = self._class(value, f"operand {slot} of site {site}")
            self._operands[site].append(slot)
        flows = self.egraph.table("FlowOf").read("int", "int", "int", "class")
        for site, slot, space, value in sorted(flows, key=_but_last):
            self.flow_class[site, slot, space] = self._class(value, f"flow {slot} of site {site}")
        for relation in ("operand-at", "flow-at"):
            for site, slot, name, _ in self.facts.get(relation, ()):
                self.operand_names[site, slot] = name
        for site, slot, _, _ in self.facts.get("operand-at", ()):
            if (site, slot) not in self.operand_class:
                self.operand_class[site, slot] = self.choices.new_class(f"operand {slot} of site {site}")
                self._operands[site].append(slot)
        self._scales = {content for content, space, _, _ in self.at.values() if SPACES[space] in _SCALE_SPACES}
        self._place_space = {cls: key[1] for key, cls in self.own_class.items()}
        self._place_space.update((cls, key[1]) for cls, key in self.at.items())
        self._operand_of = {cls: key for key, cls in self.operand_class.items()}
        self._use_key = dict(self._operand_of)
        self._use_key.update((cls, key[:2]) for key, cls in self.flow_class.items())
        self._use_site = {cls: key[0] for cls, key in self._use_key.items()}

    def _holder(self, content: Any) -> str:
        members = self.members.get(content)
        return members[0][0] if members else "window"

    def _read_slots(self) -> None:
        """Each carried slot and if result is a choice of space, and what flows in follows it."""
        flows: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for structure, position, site, slot in self.facts.get("slot-flow", ()):
            flows[structure, position].append((site, slot))
            self.slot_of_flow[site, slot] = (structure, position)
        base = {row[:2]: row[2] for row in self.facts.get("slot-base", ())}
        may = sorted(
            self.egraph.table("slot-may").read("int", "int", "int"), key=lambda r: (r[:2], r[2] != base[r[:2]])
        )
        reasons = {row[:-1]: row[-1] for row in self.egraph.table("why-slot-may").read("int", "int", "int", "strings")}
        for structure, position, space in may:
            key = (structure, position)
            if key not in self.slot_class:
                self.slot_class[key] = self.choices.new_class(f"slot {position} of site {structure}")
                self.choices.slots.append(self.slot_class[key])
                self.choices.roots.append(self.slot_class[key])
            children = [self.flow_class.get((site, slot, space), -1) for site, slot in flows[key]]
            if -1 not in children:
                data = (structure, position, space)
                why = reasons.get(data, ())
                self.choices.add(Node(self.slot_class[key], "SlotIn", data, tuple(children), 0.0, why))

    def _read_runs(self) -> None:
        """Statements that stay: needed for their effect, or for the tile they leave."""
        moving = self.floating | self.makers | self.views | self.aliases
        fixed = 0
        for site, stmt in enumerate(self.index.sites):
            slots = sorted(self._operands.get(site, ()))
            if isinstance(stmt, Assign) and stmt.name in moving:
                # What its keywords and attributes name must be there, wherever it is made.
                self.choices.roots += [self.operand_class[site, slot] for slot in slots if slot >= NAMED_SLOT]
                continue
            is_tile = isinstance(stmt, Assign) and isinstance(stmt.type, TileType)
            if not slots and not is_tile:
                fixed += 1
                continue
            cls = self.run_class[site] = self.choices.new_class(f"site {site}")
            children = tuple(self.operand_class[site, slot] for slot in slots)
            self.choices.add(Node(cls, "Run", (site,), children, self.model.statement()))
            if self._must_stay(site, stmt):
                self.choices.roots.append(cls)
        self.choices.fixed_cost = fixed * self.model.statement()

    def _must_stay(self, site: int, stmt: Stmt) -> bool:
        """Whether the statement is there for more than the tile it leaves."""
        if not isinstance(stmt, Assign) or not isinstance(stmt.type, TileType) or is_barrier(stmt):
            return True
        call = called(stmt)
        info = op_info(call.op) if isinstance(call, OpCall) else None
        return info is None or bool(self.memory.written_at(site))

    # --------------------------------------------------------------------------- costs

    def _priced(self, transfer: Transfer, region: int) -> float:
        return self.model.transfer(transfer) * self.runs[region] + self.model.statement()

    def _content_bytes(self, content: Any) -> int | None:
        if content not in self._sizes:
            members = self.members.get(content)
            self._sizes[content] = tile_bytes(self.index.types[members[0][0]]) if members else None
        return self._sizes[content]

    # ---------------------------------------------------------------------------- ways

    def _read_ways(self) -> None:
        for name, term in WAYS.items():
            kinds = list(map(kind_of, term.columns))
            rows = self.egraph.table(name).read(*kinds)
            reasons = {row[:-1]: row[-1] for row in self.egraph.table(f"why-{name}").read(*kinds[:-1], "strings")}
            for row in self._in_order(kinds, rows):
                cls = self._numbers.get(row[-1])
                if cls is not None:
                    self._way(name, cls, row[1:-1], reasons.get(row[:-1], ()))

    def _in_order(self, kinds: list[str], rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """``rows`` in an order that does not depend on how egglog numbers its classes."""
        number = self._numbers.get
        columns = zip(kinds, zip(*rows, strict=True), strict=bool(rows))
        named = [[number(x, -1) for x in column] if kind == "class" else column for kind, column in columns]
        keyed = zip(zip(*named, strict=True), rows, strict=True)
        return [row for _, row in sorted(keyed, key=itemgetter(0))]

    def _way(self, name: str, cls: int, args: tuple[Any, ...], reasons: Reasons) -> None:
        build = getattr(self, f"_way_{name.lower()}")
        build(cls, args, reasons)

    def _add(
        self,
        cls: int,
        kind: str,
        data: tuple[Any, ...],
        children: Iterable[int],
        cost: float,
        reasons: Reasons,
        guard: tuple[int, int] | None = None,
    ) -> None:
        self.choices.add(Node(cls, kind, data, tuple(children), cost, reasons, guard))

    def _way_home(self, cls: int, args: tuple[Any, ...], reasons: Reasons) -> None:
        name, space = args
        site = self.index.definitions[name].site
        stmt = self.index.sites[site]
        children: list[int] = []
        call = called(stmt)
        info = op_info(call.op) if isinstance(call, OpCall) else None
        source = getattr(call.args[0], "name", None) if isinstance(call, OpCall) and call.args else None
        follows = info is not None and info.output_rule.value == "inherit"
        if follows and source is not None and (source, space) in self.own_class:
            children.append(self.own_class[source, space])
        # A view of something that is no variable, an element of a tuple, is a statement like any other.
        if site in self.run_class:
            children.append(self.run_class[site])
        cost = self.model.statement() if name in self.views else 0.0
        self._add(cls, "Home", (name, space), children, cost, reasons)

    def _way_made(self, cls: int, args: tuple[Any, ...], reasons: Reasons) -> None:
        name, space = args
        definition = self.index.definitions[name]
        stmt = self.index.sites[definition.site]
        assert isinstance(stmt, Assign)
        assert isinstance(stmt.value, OpCall)
        cost = self.model.statement()
        if stmt.value.op == LOAD:
            transfer = Transfer(TransferKind.LOAD, MemorySpace.DDR, SPACES[space], tile_bytes(stmt.type))
            cost = self._priced(transfer, definition.region)
        self._add(cls, "Made", (name, space), (), cost, reasons)

    def _way_load(self, cls: int, args: tuple[Any, ...], reasons: Reasons) -> None:
        name, space, region = args
        size = tile_bytes(self.index.types[name])
        transfer = Transfer(TransferKind.LOAD, MemorySpace.DDR, SPACES[space], size)
        site = self.index.definitions[name].site
        self._add(cls, "Load", (site, space, region), (), self._priced(transfer, region), reasons)

    def _way_slot(self, cls: int, args: tuple[Any, ...], reasons: Reasons) -> None:
        name, space = args
        definition = self.index.definitions[name]
        slot = self.slot_class[definition.site, definition.position]
        for number in self.choices.classes[slot]:
            if self.choices.nodes[number].data[2] == space:
                self._add(cls, "Slot", (name, space), (), 0.0, reasons, (slot, number))

    def _pass(self, cls: int, kind: str, source: Any, data: tuple[Any, ...], reasons: Reasons) -> None:
        child = self._numbers.get(source)
        if child is not None:
            self._add(cls, kind, data, (child,), 0.0, reasons)

    def _way_alike(self, cls: int, args: tuple[Any, ...], reasons: Reasons) -> None:
        self._pass(cls, "Alike", args[0], (), reasons)

    def _way_read(self, cls: int, args: tuple[Any, ...], reasons: Reasons) -> None:
        self._pass(cls, "Read", args[0], (), reasons)

    def _way_anyof(self, cls: int, args: tuple[Any, ...], reasons: Reasons) -> None:
        self._pass(cls, "AnyOf", args[0], (), reasons)

    def _way_take(self, cls: int, args: tuple[Any, ...], reasons: Reasons) -> None:
        child = self._numbers.get(args[0])
        if child is not None:
            self._add(cls, "Take", (), (child,), self._take_cost(cls, child), reasons)

    def _take_cost(self, cls: int, place: int) -> float:
        """What a store, or a move that stays, pays for its operand being where it is."""
        site, slot = self._operand_of.get(cls, (-1, -1))
        stmt = self.index.sites[site] if slot == 0 else None
        call = called(stmt) if stmt is not None else None
        if not isinstance(call, OpCall) or stmt is None:
            return 0.0
        transfer = operand_transfer(stmt, call, SPACES[self._place_space[place]], self.index.types)
        return 0.0 if transfer is None else self.model.transfer(transfer) * self.runs[self.index.region_of[site]]

    def _way_up(self, cls: int, args: tuple[Any, ...], reasons: Reasons) -> None:
        self._pass(cls, "Up", args[0], (args[1],), reasons)

    def _way_look(self, cls: int, args: tuple[Any, ...], reasons: Reasons) -> None:
        site, source, region = args
        child = self._numbers.get(source)
        if child is not None:
            self._add(cls, "Look", (site, region), (child,), self.model.statement(), reasons)

    def _way_slice(self, cls: int, args: tuple[Any, ...], reasons: Reasons) -> None:
        source, offsets, shape, region = args
        child = self._numbers.get(source)
        if child is not None and self._is_static(self.at[child][0]):
            window = self.exprs(offsets), self.exprs(shape)
            self._add(cls, "Slice", (*window, region), (child,), self.model.statement(), reasons)

    def _is_static(self, content: Any) -> bool:
        """Whether the valid extents of ``content`` are numbers, so that those of its windows can be told."""
        types = [self.index.types[name] for name, _ in self.members.get(content, ())]
        return all(isinstance(extent, int) for t in types if isinstance(t, TileType) for extent in t.valid_shape)

    def _way_move(self, cls: int, args: tuple[Any, ...], reasons: Reasons) -> None:
        source, origin, target, layout, region = args
        child = self._numbers.get(source)
        if child is None or (SPACES[target] is MemorySpace.Mat and self.at[cls][0] in self._scales):
            # What goes on to a scale buffer must lie in Mat as its producer leaves it; a copy has boxes.
            return
        size = self._content_bytes(self.at[cls][0])
        transfer = Transfer(TransferKind.MOVE, SPACES[origin], SPACES[target], size)
        self._add(cls, "Move", (origin, target, layout, region), (child,), self._priced(transfer, region), reasons)

    def _way_cut(self, cls: int, args: tuple[Any, ...], reasons: Reasons) -> None:
        site, source, target, region = args
        child = self._numbers.get(source)
        if child is None:
            return
        stmt = self.index.sites[site]
        assert isinstance(stmt, Assign)
        transfer = Transfer(TransferKind.EXTRACT, SPACES[self.at[child][1]], SPACES[target], tile_bytes(stmt.type))
        self._add(cls, "Cut", (site, target, region), (child,), self._priced(transfer, region), reasons)
