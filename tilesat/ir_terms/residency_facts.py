"""Seed facts about loads in loops of one function whose spaces are all decided."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import prod
from typing import Any

from tilesat.ir.dtypes import byte_size
from tilesat.ir.hardware import Hardware
from tilesat.ir.index import FunctionIndex, int_value, trip_count
from tilesat.ir.memory import GLOBAL_MEMORY, MemorySSA, called, is_barrier
from tilesat.ir.nodes import (
    Assign,
    Comment,
    Const,
    For,
    FuncCall,
    OpCall,
    Return,
    Stmt,
    Submit,
    Var,
    While,
    Yield,
)
from tilesat.ir.ops import op_info
from tilesat.ir.types import Direction, MemorySpace, TensorType, TileType
from tilesat.ir.walk import asks_again, has_call, names_in, names_in_type, reads
from tilesat.ir_terms.encode import Rows
from tilesat.ir_terms.facts import LOAD
from tilesat.ir_terms.relations import SPACE_NUMBERS

BRIDGE_MARK = "__compiler_tensor_to_tile_mat_bridge"
# Stands for what a call inside an offset or extent gives, among the variables that are bound in a loop.
CALL_RESULT = "the result of a call"
RESIDENT_SPACES = (MemorySpace.Mat, MemorySpace.Left, MemorySpace.Right)
_STAGES = frozenset({"tile.move", "tile.extract"})
_PASSES_ON = _STAGES | {"tile.transpose_view"}
_RESERVES = frozenset({"system.reserve_buffer", "system.import_peer_buffer", "tile.alloc", "tensor.create_l1"})
# Writes to tiles that the peer does not move anything across; products that accumulate are not among them.
_ORDERED_WRITES = frozenset({"tile.assemble", "tile.write"})
# Products and the spaces in which their factors are staged.
FACTORS = {
    "tile.matmul": {0: MemorySpace.Left, 1: MemorySpace.Right},
    "tile.matmul_bias": {0: MemorySpace.Left, 1: MemorySpace.Right},
    "tile.matmul_acc": {1: MemorySpace.Left, 2: MemorySpace.Right},
}


def is_load(stmt: Stmt) -> bool:
    """Whether ``stmt`` loads a tile from global memory."""
    if not isinstance(stmt, Assign) or not isinstance(stmt.type, TileType):
        return False
    return isinstance(stmt.value, OpCall) and stmt.value.op == LOAD


def is_mat_load(stmt: Stmt) -> bool:
    """Whether ``stmt`` loads from global memory into Mat."""
    if not is_load(stmt) or not isinstance(stmt, Assign):
        return False
    return isinstance(stmt.type, TileType) and stmt.type.space is MemorySpace.Mat


def has_mark(call: OpCall) -> bool:
    """Whether ``call`` carries the mark of a load that the compiler made (INF-P4-03)."""
    return any(key == BRIDGE_MARK and value == Const(True, "BOOL") for key, value in call.attrs)


class ResidencyCollector:
    """Gathers the rows; ``rows`` is ready to load when constructed.

    Without ``chip`` no capacity is known.
    """

    def __init__(self, index: FunctionIndex, memory: MemorySSA, chip: Hardware | None) -> None:
        self.index = index
        self.memory = memory
        self.chip = chip
        self.rows: Rows = defaultdict(list)
        self._positions: dict[str, int] = {}
        """Op -> how many of its positions are known to feed nothing, or what."""
        self._params = {param.name: (k, param) for k, param in enumerate(index.function.params)}
        self._loops()
        self._sites()
        self._names()
        self._uses()
        self._capacity()

    def _add(self, relation: str, *row: Any) -> None:
        self.rows[relation].append(row)

    def _loops(self) -> None:
        index = self.index
        for site, stmt in enumerate(index.sites):
            if not isinstance(stmt, (For, While)):
                continue
            self._add("loop-at", site, index.arms[site, 0], index.region_of[site])
            for why in _unfit(stmt):
                self._add("unfit-loop", site, why)
            for why in _uncertain(stmt):
                self._add("uncertain-trips", site, why)
            header = (stmt.start, stmt.stop, stmt.step) if isinstance(stmt, For) else (stmt.condition,)
            header = (*header, *(carry.init for carry in stmt.carries))
            if has_call(*header):
                first = index.regions[index.arms[site, 0]].sites
                self._add("ordering-at", first[0] if first else site)
        for region in index.regions:
            if region.kind in ("then", "else"):
                self._add("branch-region", region.id)
                for site in region.sites:
                    self._add("in-branch", site)

    def _sites(self) -> None:
        for site, stmt in enumerate(self.index.sites):
            if is_barrier(stmt) or isinstance(called(stmt), (FuncCall, Submit)):
                self._add("ordering-at", site)
            if self._ends_prefix(site, stmt):
                self._add("ends-prefix", site)
            if is_load(stmt):
                assert isinstance(stmt, Assign)
                assert isinstance(stmt.value, OpCall)
                self._add("tile-load", site, stmt.name)
                if is_mat_load(stmt):
                    self._add("mat-load", site, stmt.name)
                if self.memory.is_written(stmt.name):
                    self._add("written-tile", stmt.name)
                self._add("bridge-load" if has_mark(stmt.value) else "manual-load", site)
                self._source(site, stmt.value)

    def _ends_prefix(self, site: int, stmt: Stmt) -> bool:
        if isinstance(stmt, Comment):
            return False
        call = called(stmt)
        if not isinstance(stmt, Assign) or isinstance(call, (FuncCall, Submit)) or is_barrier(stmt):
            return True
        orders = isinstance(call, OpCall) and call.op in _ORDERED_WRITES
        return orders or GLOBAL_MEMORY in self.memory.written_at(site)

    def _source(self, site: int, load: OpCall) -> None:
        source = load.args[0]
        position, param = self._params.get(source.name, (-1, None)) if isinstance(source, Var) else (-1, None)
        if param is None or not isinstance(param.type, TensorType):
            self._add("load-source-other", site, "the source is no tensor parameter used directly")
        elif param.direction is not Direction.In:
            self._add("load-source-other", site, f"the source is an {param.direction.value} parameter")
        else:
            self._add("load-source", site, position)
            if self.memory.is_written(param.name):
                self._add("source-written", position)

    def _names(self) -> None:
        for name, definition in self.index.definitions.items():
            self._add("name-region", name, definition.region)
        for site, stmt in enumerate(self.index.sites):
            call = called(stmt)
            if not isinstance(call, OpCall):
                continue
            passed_on = sum(len(list(names_in(arg))) for arg in call.args[:1]) if call.op in _PASSES_ON else 0
            names = dict.fromkeys(reads(stmt)[passed_on:])
            if isinstance(stmt, Assign) and stmt.type is not None:
                names.update(dict.fromkeys(names_in_type(stmt.type)))
            for name in names:
                self._add("uses-name", site, name)
            if asks_again(stmt):
                # Each trip asks anew: the memory that it reads may have changed.
                self._add("uses-name", site, CALL_RESULT)
                self._add("name-region", CALL_RESULT, self.index.region_of[site])

    def _uses(self) -> None:
        counts = Counter(name for stmt in self.index.sites for name in reads(stmt))
        tiles = set(self.index.tile_names())
        for site, stmt in enumerate(self.index.sites):
            call = called(stmt)
            read = [name for name in reads(stmt) if name in tiles]
            direct: list[str] = []
            if isinstance(call, OpCall):
                direct = [arg.name for arg in call.args if isinstance(arg, Var) and arg.name in tiles]
                self._operands(site, stmt, call, tiles)
            if len(read) > len(direct):
                for name in Counter(read) - Counter(direct):
                    self._add("escapes", name, f"{name} {_escape(stmt)}")
        for name in tiles:
            self._add("use-count", name, counts[name])

    def _operands(self, site: int, stmt: Stmt, call: OpCall, tiles: set[str]) -> None:
        for position, arg in enumerate(call.args):
            if isinstance(arg, Var) and arg.name in tiles:
                if not (call.op in _PASSES_ON and position == 0 and self._passes_on(stmt)):
                    self._add("use-other", site, position)
        if call.op in _STAGES and isinstance(stmt, Assign) and isinstance(stmt.type, TileType):
            if stmt.type.space is not None:
                self._add("staged-in", stmt.name, SPACE_NUMBERS[stmt.type.space])
        self._add_not_fed(call)

    def _passes_on(self, stmt: Stmt) -> bool:
        """Whether a transposed view stays in Mat, or a move or extract stages an operand."""
        if not isinstance(stmt, Assign) or not isinstance(stmt.type, TileType):
            return False
        return stmt.type.space in RESIDENT_SPACES

    def _add_not_fed(self, call: OpCall) -> None:
        factors = FACTORS.get(call.op, {})
        for position in range(self._positions.get(call.op, 0), len(call.args)):
            for space in (MemorySpace.Left, MemorySpace.Right):
                if factors.get(position) is not space:
                    self._add("not-fed", call.op, position, SPACE_NUMBERS[space])
        self._positions[call.op] = max(self._positions.get(call.op, 0), len(call.args))

    def _capacity(self) -> None:
        totals = dict.fromkeys(RESIDENT_SPACES, 0)
        for site, stmt in enumerate(self.index.sites):
            call = called(stmt)
            if isinstance(call, OpCall) and call.op in _RESERVES:
                self._add("reserved", site)
            space = self._allocates(stmt)
            if space is None:
                continue
            assert isinstance(stmt, Assign)
            assert isinstance(stmt.type, TileType)
            size = static_bytes(stmt.type)
            if size is None:
                self._add("space-unknown", SPACE_NUMBERS[space])
            elif self.chip is not None:
                totals[space] += self.chip.allocation_size(size, space)
            if self._in_pipeline(self.index.region_of[site]):
                self._add("space-replicated", SPACE_NUMBERS[space])
        for space, total in totals.items():
            if self.chip is None:
                self._add("space-open", SPACE_NUMBERS[space])
                continue
            self._add("space-total", SPACE_NUMBERS[space], total)
            self._add("space-capacity", SPACE_NUMBERS[space], self.chip.buffers[space].capacity)

    def _allocates(self, stmt: Stmt) -> MemorySpace | None:
        """The space in which ``stmt`` allocates a tile that could be resident, if it does."""
        call = called(stmt)
        if not isinstance(stmt, Assign) or not isinstance(stmt.type, TileType) or not isinstance(call, OpCall):
            return None
        if stmt.type.space not in RESIDENT_SPACES:
            return None
        info = op_info(call.op)
        shares = info is not None and (info.is_view or info.reuses_arg is not None or call.op == "tile.assemble")
        return None if shares else stmt.type.space

    def _in_pipeline(self, region: int) -> bool:
        for around in self.index.ancestors(region):
            owner = self.index.regions[around].owner
            stmt = self.index.sites[owner] if owner >= 0 else None
            if isinstance(stmt, For) and stmt.kind == "pipeline":
                return True
        return False


def static_bytes(tile: TileType) -> int | None:
    """Bytes of ``tile``, ``None`` when its extents or element width are not static."""
    if not all(isinstance(extent, int) for extent in tile.shape):
        return None
    return byte_size(prod(extent for extent in tile.shape if isinstance(extent, int)), tile.dtype)


def _unfit(loop: For | While) -> list[str]:
    """Why nothing may be moved out of ``loop``, whatever is promised (INF-P4-04)."""
    if isinstance(loop, While):
        return []
    reasons = []
    if loop.kind != "range":
        reasons.append(f"the loop is not sequential but {loop.kind}")
    step = int_value(loop.step)
    if step is None:
        reasons.append("the loop's step is not constant")
    elif step <= 0:
        reasons.append("the loop's step is not positive")
    elif trip_count(loop) == 0:
        reasons.append("the loop never runs")
    return reasons


def _uncertain(loop: For | While) -> list[str]:
    """Why ``loop`` may not run at all (INF-P4-04)."""
    if isinstance(loop, While):
        return ["the loop is a while loop"]
    if int_value(loop.start) is None or int_value(loop.stop) is None:
        return ["the loop's bounds are not constant"]
    return []


def _escape(stmt: Stmt) -> str:
    """How ``stmt`` uses a tile that it does not read as an operand of an op."""
    if isinstance(stmt, Yield):
        return "is yielded"
    if isinstance(stmt, (For, While)):
        return "starts a carried value"
    if isinstance(stmt, Return):
        return "is returned"
    if isinstance(called(stmt), Submit):
        return "is passed to a submit"
    if isinstance(called(stmt), FuncCall):
        return "is passed to a function"
    if isinstance(stmt, Assign) and isinstance(stmt.value, Var):
        return "has an alias"
    return "is read inside an expression"
