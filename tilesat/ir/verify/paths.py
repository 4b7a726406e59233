"""HardwarePaths: every transfer exists on the hardware, every tile fits its memory."""

from __future__ import annotations

import math

from tilesat.diagnostics import Severity
from tilesat.ir.dtypes import byte_size
from tilesat.ir.hardware import CHIPS, Edge, Hardware, move_edges, move_path
from tilesat.ir.nodes import Assign, EnumConst, EvalStmt, Expr, OpCall
from tilesat.ir.types import MemorySpace, TileType
from tilesat.ir.verify.facts import Facts
from tilesat.ir.verify.report import PathPolicy, Report

_LANDING = frozenset({MemorySpace.Vec, MemorySpace.Mat})
_STORABLE = frozenset({MemorySpace.Vec, MemorySpace.Acc})
# Global memory and scalar registers have no buffer in the table.
_UNBUFFERED = frozenset({MemorySpace.DDR, MemorySpace.ScalarLocal})
_TRANSFERS = frozenset({"tile.move", "tile.extract"})


def check_paths(facts: Facts, report: Report) -> None:
    """Peer behaviour, sections 6.5 and 9. Without a chip, what some chip can do is possible."""
    if report.options.paths is not PathPolicy.IGNORE:
        _PathCheck(facts, report).run()


class _PathCheck:
    def __init__(self, facts: Facts, report: Report) -> None:
        self.facts = facts
        self.report = report
        self.chip = report.options.chip
        self.severity = Severity.ERROR if report.options.paths is PathPolicy.ERROR else Severity.WARNING
        chips = tuple(CHIPS.values()) if self.chip is None else (self.chip,)
        self.edges: frozenset[Edge] = frozenset().union(*map(move_edges, chips))
        self.capacity = _capacities(chips)
        self.where = "any chip" if self.chip is None else self.chip.name
        self.checked: dict[int, bool] = {}

    def run(self) -> None:
        for stmt, call, _ in self.facts.op_calls:
            if call.op in _TRANSFERS:
                self._transfer(stmt, call)
            elif call.op == "tile.load":
                self._load(stmt, call)
            elif call.op == "tile.store":
                self._store(stmt, call)
            elif call.op == "tile.create":
                self._create(stmt, call)
        for assign in self.facts.assigns:
            if isinstance(assign.type, TileType) and assign.type.space is not None:
                self._tile(assign, assign.type, assign.type.space)

    def _transfer(self, stmt: Assign | EvalStmt, call: OpCall) -> None:
        source = self._space_of(call.args[0]) if call.args else None
        target = _result_space(stmt, call)
        if source is None or target is None or source is target or (source, target) in self.edges:
            return
        self._say(
            f"'{call.op}' from {source} to {target}: no transfer of {self.where} connects them"
            + self._way(source, target),
            stmt,
        )

    def _way(self, source: MemorySpace, target: MemorySpace) -> str:
        """What would be right; nothing for a chip of the user's own, which the path table does not know."""
        if self.chip is not None and CHIPS.get(self.chip.name) is not self.chip:
            return ""
        path = move_path(None if self.chip is None else self.chip.name, source, target)
        return ", nor does a chain of them" if path is None else f"; go {' -> '.join(path)}"

    def _load(self, stmt: Assign | EvalStmt, call: OpCall) -> None:
        target = _result_space(stmt, call)
        if target is not None and target not in _LANDING:
            self._say(f"'tile.load' into {target}: global memory reaches only Vec and Mat", stmt)

    def _store(self, stmt: Assign | EvalStmt, call: OpCall) -> None:
        source = self._space_of(call.args[0]) if call.args else None
        if source is not None and source not in _STORABLE:
            self._say(f"'tile.store' from {source}: only Vec and Acc reach global memory", stmt)

    def _create(self, stmt: Assign | EvalStmt, call: OpCall) -> None:
        space = _result_space(stmt, call)
        if space in _UNBUFFERED:
            self._say(f"'tile.create' in {space}, which is no on-chip memory", stmt)

    def _tile(self, stmt: Assign, tile: TileType, space: MemorySpace) -> None:
        if id(tile) in self.checked:
            fits = self.checked[id(tile)]
        else:
            fits = self.checked[id(tile)] = self._fits(tile, space)
        if fits or space in _UNBUFFERED:
            return
        if space not in self.capacity:
            self._say(f"tile '{stmt.name}' is in {space}, a memory that {self.where} lacks", stmt)
            return
        size, capacity = _bytes(tile), self.capacity[space]
        text = f"tile '{stmt.name}' takes {size} bytes, but {space} of {self.where} holds {capacity}"
        self.report.warning(text, stmt)

    def _fits(self, tile: TileType, space: MemorySpace) -> bool:
        size = _bytes(tile)
        return space in self.capacity and (size is None or size <= self.capacity[space])

    def _space_of(self, expr: Expr) -> MemorySpace | None:
        tile = self.facts.tile(expr)
        return None if tile is None else tile.space

    def _say(self, message: str, stmt: Assign | EvalStmt) -> None:
        self.report.add(self.severity, message, stmt)


def _result_space(stmt: Assign | EvalStmt, call: OpCall) -> MemorySpace | None:
    """Where the result lives: as annotated, else as the keyword says."""
    if isinstance(stmt, Assign) and isinstance(stmt.type, TileType):
        return stmt.type.space
    wanted = call.kwarg("target_memory")
    member = wanted.path.rpartition(".")[2] if isinstance(wanted, EnumConst) else ""
    return MemorySpace.__members__.get(member)


def _capacities(chips: tuple[Hardware, ...]) -> dict[MemorySpace, int]:
    """Bytes of each memory; the largest when several chips are meant."""
    capacity: dict[MemorySpace, int] = {}
    for chip in chips:
        for space, buffer in chip.buffers.items():
            capacity[space] = max(buffer.capacity, capacity.get(space, 0))
    return capacity


def _bytes(tile: TileType) -> int | None:
    """Size of a tile, ``None`` when an extent or the width of its dtype is not known."""
    extents = [dim for dim in tile.shape if isinstance(dim, int)]
    if len(extents) != len(tile.shape):
        return None
    return byte_size(math.prod(extents), tile.dtype)
