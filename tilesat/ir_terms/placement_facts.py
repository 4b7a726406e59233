"""Seed facts for placement, of one function whose tiles all have their spaces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tilesat.ir.hardware import Hardware, move_edges
from tilesat.ir.index import FunctionIndex
from tilesat.ir.memory import COPIES, GLOBAL_MEMORY, MemorySSA, called
from tilesat.ir.nodes import (
    Assign,
    Expr,
    For,
    If,
    OpCall,
    Var,
    While,
    Yield,
)
from tilesat.ir.ops import OpInfo, OutputRule, op_info
from tilesat.ir.printer import print_expr
from tilesat.ir.types import MemorySpace, TensorType, TileType
from tilesat.ir.walk import asks_again, names_beside, names_in
from tilesat.ir_terms.encode import Rows
from tilesat.ir_terms.facts import LOAD, ON_CHIP
from tilesat.ir_terms.floating import Floating, tile_source
from tilesat.ir_terms.relations import SPACE_NUMBERS
from tilesat.ir_terms.windows import begins_on_block, is_sure, keeps_boxes
from tilesat.rules.moves import INIT_SLOT, YIELD_SLOT

EXTRACT, MOVE, STORE = "tile.extract", "tile.move", "tile.store"
# A view may look at a copy in Vec, which is flat; boxed copies keep what their producer gave them.
_LOOKS_IN_VEC = frozenset({"tile.slice", "tile.reshape", "tile.set_validshape"})
_CARRIABLE = (MemorySpace.Vec, MemorySpace.Mat, MemorySpace.Acc)
_BOXED = (MemorySpace.Acc, MemorySpace.Mat)
_STOPS = (MemorySpace.Vec, MemorySpace.Mat)
ANY, ROW_MAJOR = 0, 1


class PlacementCollector:
    """Gathers the rows; ``rows`` is ready to load when constructed.

    ``free`` names loads and creates whose text left the space open: they may go to any space that suits them.
    ``made`` names copies that inference made, whose layout is open: each reader gets the one it asks for.
    ``standing`` has the regions in which loads that may leave their loops may be executed.
    """

    def __init__(
        self,
        index: FunctionIndex,
        memory: MemorySSA,
        chip: Hardware | None,
        free: frozenset[str],
        made: frozenset[str],
        standing: Mapping[str, frozenset[int]],
    ) -> None:
        self.index = index
        self.memory = memory
        self.chip = chip
        self.free = free
        self.made = made
        self.standing = standing
        self.rows: Rows = defaultdict(list)
        self.tiles = set(index.tile_names())
        self.definition_site = {name: d.site for name, d in index.definitions.items()}
        self._move_edges = move_edges(chip)
        self._floats = Floating(index, memory, standing.keys())
        self.floating = self._floats.names()
        self.named = self._find_named()
        self._regions()
        self._edges()
        self._sites()
        self._slots()
        self._live()

    def _add(self, relation: str, *row: Any) -> None:
        self.rows[relation].append(row)

    def space(self, name: str) -> MemorySpace:
        """The space of tile ``name``; inference has decided all of them."""
        type_ = self.index.types[name]
        assert isinstance(type_, TileType)
        assert type_.space is not None, f"{name} has no space"
        return type_.space

    def _find_named(self) -> set[str]:
        """Tiles that something reads other than as an operand or what flows into a slot: under their own name."""
        found = {name for stmt in self.index.sites for name in names_beside(stmt) if name in self.tiles}
        for stmt in reversed(self.index.sites):
            # What a name stands for that stays is read by that statement.
            if isinstance(stmt, Assign) and isinstance(stmt.value, Var) and stmt.name in found:
                found.add(stmt.value.name)
        return found

    # ----------------------------------------------------------------------- structure

    def _regions(self) -> None:
        index = self.index
        for region in index.regions:
            self._add("region", region.id, region.parent, region.depth)
        for site, region_id in enumerate(index.region_of):
            self._add("site-region", site, region_id)
        for name in self.tiles:
            self._add("tile", name)
            self._add("defined-in", name, index.definitions[name].region)
            self._add("bound-at", name, index.definitions[name].site)

    def _edges(self) -> None:
        for source, target in sorted(self._move_edges):
            if source in ON_CHIP and target in ON_CHIP:
                self._add("move-edge", SPACE_NUMBERS[source], SPACE_NUMBERS[target])
                self._add("cut-edge", SPACE_NUMBERS[source], SPACE_NUMBERS[target])
        for space in _STOPS:
            self._add("stop", SPACE_NUMBERS[space])
            self._add("cut-edge", SPACE_NUMBERS[space], SPACE_NUMBERS[space])
        for space in _CARRIABLE:
            self._add("carriable", SPACE_NUMBERS[space])

    def _live(self) -> None:
        by_group: dict[str, list[str]] = defaultdict(list)
        for name in self.tiles:
            if name not in self.floating:
                by_group[self.memory.group(name)].append(name)
        for (region, group), (_, version) in self.memory.entry_versions.items():
            if self._is_lane(region):
                continue
            for name in by_group.get(group, ()):
                if not self.index.is_inside(self.index.definitions[name].region, region):
                    self._add("live-in", region, name, version)
        for name in self.floating & self.standing.keys():
            self._live_load(name)

    def _is_lane(self, region: int) -> bool:
        """Whether ``region`` is the body of a loop over vector lanes: what is in it belongs to one lane."""
        owner = self.index.regions[region].owner
        stmt = self.index.sites[owner] if owner >= 0 else None
        return isinstance(stmt, For) and stmt.kind == "split_aiv"

    def _live_load(self, name: str) -> None:
        """A load serves every region around its readers, up to the outermost it may stand in."""
        outermost = min(self._allowed(name), key=lambda region: self.index.regions[region].depth)
        (version,) = self._floats.read_versions(name)
        readers = {self.index.region_of[site] for site in self._floats.all_readers(name)}
        around = {region for inner in readers for region in self.index.ancestors(inner)}
        for region in sorted(around):
            if region != outermost and self.index.is_inside(region, outermost):
                self._add("live-in", region, name, version)

    def _allowed(self, name: str) -> frozenset[int]:
        return self.standing[name] | {self.index.definitions[name].region}

    # --------------------------------------------------------------------------- sites

    def _version(self, site: int, name: str) -> int:
        return self.memory.use_versions[site, self.memory.group(name)][1]

    def _sites(self) -> None:
        for site, stmt in enumerate(self.index.sites):
            call = called(stmt)
            if isinstance(stmt, Assign) and stmt.name in self.tiles:
                self._producer(site, stmt)
            elif isinstance(call, OpCall):
                self._operands(site, call, op_info(call.op))
            else:
                self._named_operands(site, names_beside(stmt))

    def _producer(self, site: int, stmt: Assign) -> None:
        name, value = stmt.name, stmt.value
        call = value if isinstance(value, OpCall) else None
        info = op_info(call.op) if call is not None else None
        source = tile_source(value)
        if name in self.floating:
            self._add("floating", name)
            self._floating(site, stmt, source)
            return
        if isinstance(value, Var) and name not in self.named:
            self._add("same-as", name, value.name)
            self._add("own-alias", name, value.name)
            return
        if info is not None and info.is_view and source in self.tiles and not asks_again(stmt):
            assert source is not None
            self._home(name)
            self._view(site, name, source, call)
            self._add("own-view", name, source)
            return
        self._add("has-buffer", name)
        self._home(name)
        if call is None:
            self._add("owner", name, SPACE_NUMBERS[self.space(name)])
            self._named_operands(site, (value.name,) if isinstance(value, Var) else names_beside(stmt))
            return
        if info is not None and info.retargetable:
            self._makes(site, name, call)
        elif info is not None and _leaves_in_operand(info) and source in self.tiles:
            assert source is not None
            self._add("follows", name, source)
        else:
            self._add("owner", name, SPACE_NUMBERS[self.space(name)])
        self._operands(site, call, info)

    def _home(self, name: str) -> None:
        type_ = self.index.types[name]
        assert isinstance(type_, TileType)
        if type_.space is MemorySpace.Vec and is_row_major(type_):
            self._add("row-major-home", name)

    def _floating(self, site: int, stmt: Assign, source: str | None) -> None:
        assert source is not None
        name, value = stmt.name, stmt.value
        self._home(name)
        if name in self.standing:
            assert isinstance(value, OpCall)
            self._load(site, name, value)
            self._named_operands(site, names_beside(stmt))
            for region in sorted(self._allowed(name)):
                self._add("stands", name, region)
            for space in sorted(self._load_spaces(name)):
                self._add("load-in", name, SPACE_NUMBERS[space])
            return
        if isinstance(value, Var):
            self._add("same-as", name, source)
            return
        assert isinstance(value, OpCall)
        if value.op in COPIES:
            self._named_operands(site, names_beside(stmt))
            relation = "extract-at" if value.op == EXTRACT else "copied-at"
            made = self._version(site, source)
            for version in self._floats.read_versions(name):
                self._add(relation, site, name, version, source, made)
            if value.op == EXTRACT and begins_on_block(value, self.index.types[source]):
                self._add("block-window", site)
            if value.op == MOVE:
                self._own_move(site, name, source)
            self._fixed(site, name, value)
            return
        self._view(site, name, source, value)

    def _own_move(self, site: int, name: str, source: str) -> None:
        """Moves that no rule would make again; those that change neither space nor layout need not be made."""
        origin, target = self.space(source), self.space(name)
        old, new = self.index.types[source], self.index.types[name]
        assert isinstance(old, TileType)
        assert isinstance(new, TileType)
        if (origin, target) in self._move_edges or (origin is target and old.layout == new.layout):
            return
        layout = ROW_MAJOR if target is MemorySpace.Vec and is_row_major(new) else ANY
        if origin is target:
            self._add("own-move", site, SPACE_NUMBERS[target], layout)
        else:
            self._add("own-edge", site, SPACE_NUMBERS[origin], SPACE_NUMBERS[target], layout)

    def _view(self, site: int, name: str, source: str, call: OpCall | None) -> None:
        assert call is not None
        self._named_operands(site, names_beside(self.index.sites[site]))
        self._add("view-at", site, name, source)
        self._add("lookable", site, SPACE_NUMBERS[self.space(name)])
        info = op_info(call.op)
        bound = info.slot(0) if info is not None else ()
        if not bound:
            self._add("view-anywhere", site)
        for space in bound:
            self._add("view-only", site, SPACE_NUMBERS[space])
        if call.op == "tile.reshape":
            self._add("plain-view", site)
        if call.op in _LOOKS_IN_VEC:
            self._add("lookable", site, SPACE_NUMBERS[MemorySpace.Vec])
        if name in self.floating and call.op == "tile.slice" and keeps_boxes(self.index.types[name], call):
            for space in _BOXED:
                self._add("lookable", site, SPACE_NUMBERS[space])
        self._fixed(site, name, call)
        self._view_back(name, source)

    def _view_back(self, name: str, source: str) -> None:
        """Whether ``name`` is a view of a view that comes out as what that one looks at."""
        inner = self.definition_site[source]
        stmt = self.index.sites[inner] if inner >= 0 else None
        outer = self.index.sites[self.definition_site[name]]
        if not isinstance(stmt, Assign) or not isinstance(stmt.value, OpCall) or not isinstance(outer, Assign):
            return
        if name in self.named:
            return
        assert isinstance(outer.value, OpCall)
        origin = tile_source(stmt.value)
        if outer.value.op == stmt.value.op and stmt.value.op in ("tile.reshape", "tile.transpose_view"):
            if origin in self.tiles and self.index.types[name] == self.index.types[origin or ""]:
                self._add("equal-type", name, origin)

    def _fixed(self, site: int, name: str, call: OpCall) -> None:
        """Regions around the readers of ``name`` in front of which the call can be made.

        Nothing is bound in them that it reads besides its source, and it stands in front of them or they run for sure.
        """
        names = {arg.name for arg in call.args[1:] if isinstance(arg, Var)}.union(names_beside(self.index.sites[site]))
        source = tile_source(call)
        everywhere = source is not None and is_sure(call, self.index.types[source], self.index)
        bound_in = [self.index.definitions[other].region for other in names if other in self.index.definitions]
        inner = {self.index.region_of[reader] for reader in (site, *self._floats.all_readers(name))}
        around = self.index.ancestors(self.index.region_of[site])
        for region in sorted({region for start in inner for region in self.index.ancestors(start)}):
            is_new_there = not everywhere and region in around and not self._surely_runs(region)
            if not is_new_there and not any(self.index.is_inside(other, region) for other in bound_in):
                self._add("fixed-in", site, region)

    def _surely_runs(self, region: int) -> bool:
        """Whether who comes to the structure around ``region`` runs it at least once."""
        body = self.index.regions[region]
        return body.kind not in ("then", "else") and bool(body.trips)

    # ---------------------------------------------------------------- loads and creates

    def _makes(self, site: int, name: str, call: OpCall) -> None:
        if call.op == LOAD:
            spaces = self._load_spaces(name)
            self._load(site, name, call)
        else:
            spaces = {self.space(name)} | self._create_spaces(name)
        for space in sorted(spaces, key=SPACE_NUMBERS.__getitem__):
            self._add("made-in", name, SPACE_NUMBERS[space])

    def _load_spaces(self, name: str) -> set[MemorySpace]:
        # Of a tile that is written there is one, where its writers expect it.
        is_open = name in self.free and not self.memory.is_written(name)
        return {self.space(name)} | ({MemorySpace.Vec, MemorySpace.Mat} if is_open else set())

    def _load(self, site: int, name: str, call: OpCall) -> None:
        if self.memory.is_written(name) or name in self.named or asks_again(self.index.sites[site]):
            return
        source = next(names_in(call.args[0]), None)
        every = self.memory.use_versions[site, GLOBAL_MEMORY][1]
        own = self.memory.use_versions[site, self.memory.group(source)][1] if source is not None else every
        self._add("load-at", site, name, every, own)
        options = sorted((key, print_expr(value)) for key, value in call.kwargs if key != "target_memory")
        self._add("load-options", site, repr(options))
        for version in self._floats.read_versions(name):
            self._add("content-version", name, version)

    def _create_spaces(self, name: str) -> set[MemorySpace]:
        """Spaces an empty tile may be made in: those its slots and in-place readers can use."""
        readers = self._floats.reads[name]
        spaces: set[MemorySpace] = set()
        if all(isinstance(self.index.sites[site], (For, While)) for site in readers):
            spaces |= set(_CARRIABLE)
        if len(readers) == 1:
            call = called(self.index.sites[readers[0]])
            info = op_info(call.op) if isinstance(call, OpCall) else None
            if isinstance(call, OpCall) and info is not None:
                for position, arg in enumerate(call.args):
                    if arg == Var(name) and not info.is_view:
                        spaces |= set(info.slot(position))
        return spaces & set(self.chip.buffers if self.chip is not None else ON_CHIP)

    # ------------------------------------------------------------------------ operands

    def _operands(self, site: int, call: OpCall, info: OpInfo | None) -> None:
        written = set(info.written_args(call)) if info is not None else set(range(len(call.args)))
        for position, arg in enumerate(call.args):
            if not isinstance(arg, Var) or arg.name not in self.tiles:
                continue
            allowed = info.slot(position) if info is not None else ()
            if call.op == STORE and position == 0 and self._converts(call):
                allowed = (MemorySpace.Acc,)
            spaces: list[MemorySpace]
            if call.op == MOVE and position == 0:
                now = self.space(arg.name)
                spaces = [s for s in ON_CHIP if s is now or self._moves(s, site)]
            elif allowed and not (info is not None and _stays_beside(info)):
                spaces = list(allowed)
            else:
                spaces = [self.space(arg.name)]
            is_shared = info is None or info.is_view or position in written
            self._operand(site, position, arg.name, spaces, copyable=not is_shared)
        self._named_operands(site, names_beside(self.index.sites[site]))

    def _converts(self, store: OpCall) -> bool:
        """Whether ``store`` changes the dtype on its way, which only the way out of Acc does."""
        types = [self.index.types.get(arg.name) for arg in store.args if isinstance(arg, Var)]
        dtypes = {type_.dtype for type_ in types if isinstance(type_, (TileType, TensorType))}
        return len(dtypes) > 1

    def _moves(self, source: MemorySpace, site: int) -> bool:
        """Whether the move at ``site`` could start from ``source``."""
        stmt = self.index.sites[site]
        assert isinstance(stmt, Assign)
        target = self.space(stmt.name)
        return source is target or (source, target) in move_edges(self.chip)

    def _named_operands(self, site: int, names: Iterable[str]) -> None:
        """Tiles that are read other than as operands of an op: where they are, under their own name."""
        for number, name in enumerate(names):
            if name in self.tiles:
                self._operand(site, NAMED_SLOT + number, name, [self.space(name)], copyable=False)

    def _operand(self, site: int, slot: int, name: str, spaces: list[MemorySpace], *, copyable: bool) -> None:
        numbers = [SPACE_NUMBERS[space] for space in spaces]
        self._add("operand-at", site, slot, name, self._version(site, name))
        self._add("accepts", site, slot, sum(1 << number for number in numbers))
        for number in numbers:
            self._add("accepts-space", site, slot, number)
        if copyable:
            self._add("copy-layout", site, slot, self._wanted_layout(site, slot, name))

    def _wanted_layout(self, site: int, slot: int, name: str) -> int:
        """Row-major where the operand's copy is row-major now, or where the backend wants it."""
        call = called(self.index.sites[site])
        type_ = self.index.types[name]
        assert isinstance(type_, TileType)
        row_major = is_row_major(type_)
        if name in self.floating and type_.space is MemorySpace.Vec and name not in self.made:
            return ROW_MAJOR if row_major else ANY
        info = op_info(call.op) if isinstance(call, OpCall) else None
        if self.chip is None or info is None or info.wants_layout is None:
            return ROW_MAJOR if type_.space is MemorySpace.Acc else ANY
        wishes = info.wants_layout.inputs
        return ROW_MAJOR if slot < len(wishes) and wishes[slot] == "row_major" else ANY

    # --------------------------------------------------------------------------- slots

    def _slots(self) -> None:
        for site, stmt in enumerate(self.index.sites):
            if isinstance(stmt, (For, While)):
                for position, carry in enumerate(stmt.carries):
                    if carry.name in self.tiles:
                        self._slot(site, position, [carry.name, stmt.results[position].name], carry.name)
                        self._flow(site, position, site, INIT_SLOT + position, carry.init)
                        self._yield_flow(site, 0, position)
            elif isinstance(stmt, If):
                for position, result in enumerate(stmt.results):
                    if result.name in self.tiles:
                        self._slot(site, position, [result.name], result.name)
                        self._yield_flow(site, 0, position)
                        self._yield_flow(site, 1, position)

    def _slot(self, site: int, position: int, names: list[str], main: str) -> None:
        self._add("slot-base", site, position, SPACE_NUMBERS[self.space(main)])
        for name in names:
            self._add("has-buffer", name)
            self._add("slot-of", name, site, position)
            self._home(name)

    def _yield_flow(self, structure: int, arm: int, position: int) -> None:
        site = self.index.yields[structure, arm]
        stmt = self.index.sites[site]
        assert isinstance(stmt, Yield)
        self._flow(structure, position, site, YIELD_SLOT + position, stmt.values[position])

    def _flow(self, structure: int, position: int, site: int, slot: int, value: Expr) -> None:
        if isinstance(value, Var) and value.name in self.tiles:
            self._add("slot-flow", structure, position, site, slot)
            self._add("flow-at", site, slot, value.name, self._version(site, value.name))


NAMED_SLOT = 3000


def _leaves_in_operand(info: OpInfo) -> bool:
    """Whether the result is the first operand, written in place, wherever that is."""
    return info.output_rule is OutputRule.INHERIT and 0 in info.effects


def _stays_beside(info: OpInfo) -> bool:
    """Whether the result is in the space of the first operand, which is read: there it stays."""
    return info.output_rule is OutputRule.INHERIT and 0 not in info.effects


def is_row_major(tile: TileType) -> bool:
    """Whether ``tile`` is row-major without boxes."""
    return tile.layout.slayout == "none_box" and tile.layout.blayout == "row_major"
