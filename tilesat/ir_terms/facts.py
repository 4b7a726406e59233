"""Seed facts of one function: what can be read off its syntax, the op table and the hardware."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tilesat.ir.hardware import Hardware, move_path
from tilesat.ir.index import FunctionIndex, trip_count
from tilesat.ir.memory import MemorySSA, called
from tilesat.ir.nodes import Assign, Const, For, If, OpaqueStmt, OpCall, Stmt, Var, While
from tilesat.ir.ops import OpInfo, OutputRule, op_info
from tilesat.ir.stale import StaleReaders
from tilesat.ir.types import MemorySpace, TileType
from tilesat.ir.walk import has_opaque, names_in, opaque_names, own_exprs, reads
from tilesat.ir_terms.encode import Rows
from tilesat.ir_terms.relations import SPACE_NUMBERS

ON_CHIP = tuple(s for s in MemorySpace if s not in (MemorySpace.DDR, MemorySpace.ScalarLocal))
LOAD_TARGETS = (MemorySpace.Vec, MemorySpace.Mat)

# Accumulating ops and the ops that compute their product from the remaining arguments.
PRODUCTS = {
    "tile.matmul_acc": "tile.matmul",
    "tile.gemv_acc": "tile.gemv",
    "tile.batch_matmul_acc": "tile.batch_matmul",
    "tile.matmul_mx_acc": "tile.matmul_mx",
}


class FactCollector:
    """Gathers the seed rows of one function; ``rows`` is ready to load when constructed."""

    def __init__(self, index: FunctionIndex, memory: MemorySSA, chip: Hardware | None) -> None:
        self.index = index
        self.memory = memory
        self.chip = chip
        self.rows: Rows = defaultdict(list)
        self._tiles = index.tile_names()
        self._tile_set = set(self._tiles)
        self._regions()
        self._variables()
        self._sites()
        self._hardware()

    def _add(self, relation: str, *row: Any) -> None:
        self.rows[relation].append(row)

    # --------------------------------------------------------------------- structure

    def _regions(self) -> None:
        index = self.index
        for region in index.regions:
            self._add("region", region.id, region.parent, region.depth)
        for site, region_id in enumerate(index.region_of):
            self._add("site-region", site, region_id)
        for (site, arm), region_id in index.arms.items():
            self._add("body-of", site, arm, region_id)
        for (site, arm), yield_site in index.yields.items():
            self._add("yield-at", site, arm, yield_site)
        for name, definition in index.definitions.items():
            if name in self._tile_set:
                self._add("defined-in", name, definition.region)

    # --------------------------------------------------------------------- variables

    def _variables(self) -> None:
        uses = Counter(name for stmt in self.index.sites for name in reads(stmt) if name in self._tile_set)
        for name in self._tiles:
            self._add("tile", name)
            self._add("uses", name, uses[name])
            space = self._declared(name)
            if space is None:
                self._add("undeclared", name)
            else:
                self._add("declared", name, SPACE_NUMBERS[space])
            self._producer(name)

    def _declared(self, name: str) -> MemorySpace | None:
        type_ = self.index.types[name]
        assert isinstance(type_, TileType)
        return None if type_.space is MemorySpace.DDR else type_.space

    def _producer(self, name: str) -> None:
        """How far the place of a variable's value can be chosen by whoever reads it."""
        definition = self.index.definitions[name]
        stmt = self.index.sites[definition.site] if definition.site >= 0 else None
        call = called(stmt) if isinstance(stmt, Assign) else None
        info = op_info(call.op) if isinstance(call, OpCall) else None
        creates = info is not None and info.retargetable and info.name != LOAD
        if not creates:
            self._add("holds-data", name)
        elif self._is_pristine(name):
            self._add("pristine", name)
        else:
            self._add("tainted", name)
        if creates and self._is_filled(name):
            self._add("holds-data", name)
        is_alias = isinstance(stmt, Assign) and isinstance(stmt.value, Var)
        follows = is_alias or (info is not None and (info.retargetable or info.is_view))
        if not follows and not isinstance(stmt, If):
            self._add("pinned", name)
        if isinstance(call, OpCall) and call.op == "tile.full" and _is_zero(call):
            self._add("zero-fill", name)

    def _is_pristine(self, name: str) -> bool:
        """Whether nothing writes or views the empty tile ``name`` under its own name."""
        for site in self._readers(name):
            stmt = self.index.sites[site]
            if isinstance(stmt, (For, While)):
                continue
            call = called(stmt)
            info = op_info(call.op) if isinstance(call, OpCall) else None
            if not isinstance(call, OpCall) or info is None or info.is_view or info.reuses_arg is not None:
                return False
            written = {call.args[k] for k in info.written_args(call)}
            if Var(name) in written:
                return False
        return True

    def _is_filled(self, name: str) -> bool:
        """Whether an op other than one that accumulates writes the empty tile ``name`` under its own name."""
        for site in self._readers(name):
            call = called(self.index.sites[site])
            info = op_info(call.op) if isinstance(call, OpCall) else None
            if isinstance(call, OpCall) and info is not None and call.op not in PRODUCTS:
                if Var(name) in {call.args[k] for k in info.written_args(call)}:
                    return True
        return False

    def _readers(self, name: str) -> Iterable[int]:
        if not hasattr(self, "_reader_sites"):
            sites: dict[str, list[int]] = defaultdict(list)
            for site, stmt in enumerate(self.index.sites):
                for read in dict.fromkeys(reads(stmt)):
                    sites[read].append(site)
            self._reader_sites = sites
        return self._reader_sites[name]

    # ------------------------------------------------------------------------- sites

    def _sites(self) -> None:
        ops: dict[str, OpInfo | None] = {}
        for site, stmt in enumerate(self.index.sites):
            self._versions(site, stmt)
            if isinstance(stmt, For) and (trips := trip_count(stmt)) is not None:
                self._add("trips", site, trips)
            call = called(stmt)
            if isinstance(call, OpCall):
                info = ops[call.op] if call.op in ops else ops.setdefault(call.op, op_info(call.op))
                self._call(site, call, info)
        for op, info in ops.items():
            self._op(op, info)
        self._lingering()

    def _lingering(self) -> None:
        views = [name for name in self._tiles if self._is_bound_view(name)]
        anchored = {self.memory.group(name) for name in (*views, *self._named_in_text())}
        stale = StaleReaders(self.index, self.memory)
        writes: dict[str, list[int]] = defaultdict(list)
        for site, position in stale.lingering():
            self._add("lingers", site, position)
            call = called(self.index.sites[site])
            assert isinstance(call, OpCall)
            name = next(names_in(call.args[position]))
            writes[self.memory.group(name)].append(site)
            is_anchored = self.memory.group(name) in anchored or self._has_older_readers(name, site, stale)
            self._add("anchored" if is_anchored else "movable", name)
        for name in filter(stale.is_read, views):
            self._shown(self.index.definitions[name].site, writes, stale)

    def _shown(self, site: int, writes: Mapping[str, list[int]], stale: StaleReaders) -> None:
        """The view at ``site`` exists in one space: of a copy it would not show what is written to the tile later."""
        call = called(self.index.sites[site])
        assert isinstance(call, OpCall)
        name = next(names_in(call.args[0]), None)
        if name not in self._tile_set:
            return
        loops = self._loops_around(site)
        later = [w for w in writes[self.memory.group(name)] if w > site or loops & self._loops_around(w)]
        if later:
            is_torn = any(self._has_older_readers(name, write, stale) for write in later)
            self._add("torn-view" if is_torn else "shows-writes", site, name)

    def _loops_around(self, site: int) -> set[int]:
        around = self.index.ancestors(self.index.region_of[site])
        return {region for region in around if self.index.regions[region].kind == "loop"}

    def _has_older_readers(self, name: str, site: int, stale: StaleReaders) -> bool:
        """Whether ``name`` shows what an op left in a buffer that is read after ``site`` under an older name."""
        group = self.memory.group(name)
        while (bound := self.index.definitions[name].site) >= 0:
            stmt = self.index.sites[bound]
            if not isinstance(stmt, Assign):
                return False
            source = self.memory.shared_source(stmt.value)
            if source is None or source not in self._tile_set:
                return False
            info = op_info(stmt.value.op) if isinstance(stmt.value, OpCall) else None
            if info is not None and not info.is_view and stale.reads_older(site, group, bound):
                return True
            name = source
        return False

    def _named_in_text(self) -> set[str]:
        """Tiles that a text which is not modelled, and so cannot follow a renaming, speaks of."""
        found: set[str] = set()
        for stmt in self.index.sites:
            if isinstance(stmt, OpaqueStmt):
                found.update(stmt.names)
            elif has_opaque(stmt):
                found.update(name for expr in own_exprs(stmt) for name in opaque_names(expr))
        return found & self._tile_set

    def _is_bound_view(self, name: str) -> bool:
        """Whether ``name`` is a view that exists in one space only."""
        site = self.index.definitions[name].site
        call = called(self.index.sites[site]) if site >= 0 else None
        info = op_info(call.op) if isinstance(call, OpCall) else None
        return info is not None and info.is_view and bool(info.slot(0))

    def _versions(self, site: int, stmt: Stmt) -> None:
        for name in dict.fromkeys(reads(stmt)):
            if name in self._tile_set:
                written, _ = self.memory.use_versions[site, self.memory.group(name)]
                self._add("version", site, name, written)

    def _call(self, site: int, call: OpCall, info: OpInfo | None) -> None:
        if not any(isinstance(arg, Var) and arg.name in self._tile_set for arg in call.args):
            self._add("without-tile", site)
        if info is None:
            return
        if info.output_kwarg is not None and call.kwarg(info.output_kwarg) is None:
            self._add("untargeted", site)
        for position in info.written_args(call):
            self._add("writes-arg", site, position)
        product = PRODUCTS.get(call.op)
        if product is not None and isinstance(self.index.sites[site], Assign):
            base = op_info(product)
            if base is not None and len(call.args) == len(base.args) + 1:
                self._add("splittable", site)

    def _op(self, op: str, info: OpInfo | None) -> None:
        is_tile_op = op.startswith("tile.")
        if not is_tile_op:
            self._add("op-foreign", op)
        elif info is None:
            self._add("op-unknown-cube" if op.startswith("tile.matmul_mx") else "op-unknown", op)
        if info is None:
            return
        if is_tile_op:
            self._output(op, info)
        if info.is_view:
            self._add("op-view", op)
        if info.retargetable:
            self._add("op-loads" if op == LOAD else "op-creates", op)
        if op in PRODUCTS:
            self._add("op-accumulates", op, PRODUCTS[op])
        for position, spaces in enumerate(info.slots):
            if spaces:
                numbers = [SPACE_NUMBERS[space] for space in spaces]
                self._add("slot-first", op, position, numbers[0])
                self._add("slot-mask", op, position, sum(1 << number for number in numbers))
        if self.chip is not None and info.wants_layout is not None:
            for position, layout in enumerate(info.wants_layout.inputs):
                if layout == "row_major":
                    self._add("wants-row-major", op, position)

    def _output(self, op: str, info: OpInfo) -> None:
        if info.output_rule is OutputRule.FIXED and info.output_space is not None:
            self._add("op-fixed", op, SPACE_NUMBERS[info.output_space])
        elif info.output_rule is OutputRule.INHERIT and len(info.slot(0)) == 1:
            self._add("op-fixed", op, SPACE_NUMBERS[info.slot(0)[0]])
        elif info.output_rule is OutputRule.INHERIT:
            self._add("op-inherits", op)
        elif info.output_rule is OutputRule.NONE:
            self._add("op-annotated", op)
        elif info.output_rule is OutputRule.KWARG:
            self._add("op-target", op)
            if info.output_space is not None:
                self._add("op-default", op, SPACE_NUMBERS[info.output_space])
            elif not info.retargetable:
                self._add("op-unresolved", op)

    # ---------------------------------------------------------------------- hardware

    def _hardware(self) -> None:
        chip = None if self.chip is None else self.chip.name
        for source in ON_CHIP:
            number = SPACE_NUMBERS[source]
            self._add("can-land" if source in LOAD_TARGETS else "cannot-land", number)
            for target in ON_CHIP:
                if source is target:
                    continue
                path = move_path(chip, source, target)
                if path is None:
                    self._add("no-path", number, SPACE_NUMBERS[target])
                else:
                    self._add("hop", number, SPACE_NUMBERS[target], SPACE_NUMBERS[path[1]])
                if not self._inserts(source, target):
                    self._add("cannot-insert", number, SPACE_NUMBERS[target])

    def _inserts(self, source: MemorySpace, target: MemorySpace) -> bool:
        """Whether assemble can write a block in ``source`` into a tile in ``target``."""
        if (source, target) == (MemorySpace.Acc, MemorySpace.Mat):
            return True
        return self.chip is not None and (source, target) in self.chip.edges


LOAD = "tile.load"


def _is_zero(call: OpCall) -> bool:
    value = call.kwarg("value")
    if value is None and len(call.args) > 1:
        value = call.args[1]
    return isinstance(value, Const) and not isinstance(value.value, bool) and value.value == 0
