"""Counting transfers over a finished program: the cost of a program, independent of how it was made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from tilesat.extract.cost import CostModel, Frequency, is_cross_core
from tilesat.extract.transfer import Transfer, TransferKind
from tilesat.ir.dtypes import byte_size
from tilesat.ir.index import FunctionIndex
from tilesat.ir.memory import called
from tilesat.ir.nodes import Assign, Function, OpCall, Program, Stmt, Var
from tilesat.ir.types import MemorySpace, TileType, Type

_LOADS = frozenset({"tile.load"})
_STORES = frozenset({"tile.store"})


def region_frequencies(index: FunctionIndex, frequency: Frequency) -> list[float]:
    """How often each region runs per call of the function."""
    found: list[float] = []
    for region in index.regions:
        around = found[region.parent] if region.parent >= 0 else 1.0
        if region.kind == "loop":
            around *= frequency.dynamic_trips if region.trips is None else region.trips
        elif region.kind in ("then", "else"):
            around *= frequency.branch
        found.append(around)
    return found


def tile_bytes(type_: object) -> int | None:
    """Bytes of a tile's full shape, ``None`` where it is not static."""
    if not isinstance(type_, TileType):
        return None
    extents = [extent for extent in type_.shape if isinstance(extent, int)]
    return byte_size(prod(extents), type_.dtype) if len(extents) == len(type_.shape) else None


def transfer_of(stmt: Stmt, types: Mapping[str, Type]) -> Transfer | None:
    """The transfer that ``stmt`` makes, if it makes one."""
    call = called(stmt)
    if not isinstance(call, OpCall):
        return None
    if call.op in _LOADS and isinstance(stmt, Assign) and isinstance(stmt.type, TileType):
        target = stmt.type.space or MemorySpace.Vec
        return Transfer(TransferKind.LOAD, MemorySpace.DDR, target, tile_bytes(stmt.type))
    source = types.get(call.args[0].name) if call.args and isinstance(call.args[0], Var) else None
    if not isinstance(source, TileType):
        return None
    return operand_transfer(stmt, call, source.space or MemorySpace.Vec, types)


def operand_transfer(stmt: Stmt, call: OpCall, origin: MemorySpace, types: Mapping[str, Type]) -> Transfer | None:
    """The transfer of a store, move or extract whose tile comes from ``origin``."""
    if call.op in _STORES and isinstance(call.args[0], Var):
        return Transfer(TransferKind.STORE, origin, MemorySpace.DDR, tile_bytes(types.get(call.args[0].name)))
    if isinstance(stmt, Assign) and isinstance(stmt.type, TileType) and call.op in ("tile.move", "tile.extract"):
        kind = TransferKind.MOVE if call.op == "tile.move" else TransferKind.EXTRACT
        return Transfer(kind, origin, stmt.type.space or MemorySpace.Vec, tile_bytes(stmt.type))
    return None


@dataclass(frozen=True, slots=True)
class Counts:
    """What a program transfers. ``executed_*`` are weighted by frequency, ``static_*`` are not."""

    static_moves: int = 0
    executed_moves: float = 0.0
    moved_bytes: float = 0.0
    cross_core_bytes: float = 0.0
    loads: float = 0.0
    loaded_bytes: float = 0.0
    stored_bytes: float = 0.0
    statements: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


def transfers(index: FunctionIndex, frequency: Frequency) -> Iterator[tuple[Transfer, float]]:
    """Every transfer of a function with how often it runs."""
    runs = region_frequencies(index, frequency)
    for site, stmt in enumerate(index.sites):
        transfer = transfer_of(stmt, index.types)
        if transfer is not None:
            yield transfer, runs[index.region_of[site]]


def function_cost(function: Function, model: CostModel) -> float:
    """The cost of ``function`` under ``model``: transfers by frequency, and statements."""
    return indexed_cost(FunctionIndex(function), model)


def indexed_cost(index: FunctionIndex, model: CostModel) -> float:
    """:func:`function_cost` of the function that ``index`` is of."""
    total = sum(model.transfer(transfer) * runs for transfer, runs in transfers(index, model.frequency))
    return total + model.statement() * len(index.sites)


def count_function(function: Function, frequency: Frequency | None = None) -> Counts:
    """What ``function`` transfers."""
    index = FunctionIndex(function)
    counts = Counts(statements=len(index.sites))
    for transfer, runs in transfers(index, frequency or Frequency()):
        size = float(transfer.bytes or 0)
        is_move = transfer.kind in (TransferKind.MOVE, TransferKind.EXTRACT)
        is_load = transfer.kind is TransferKind.LOAD
        cross = is_move and is_cross_core(transfer.source, transfer.target)
        counts += Counts(
            static_moves=int(is_move),
            executed_moves=runs * is_move,
            moved_bytes=runs * size * is_move,
            cross_core_bytes=runs * size * cross,
            loads=runs * is_load,
            loaded_bytes=runs * size * is_load,
            stored_bytes=runs * size * (transfer.kind is TransferKind.STORE),
        )
    return counts


def count_program(program: Program, frequency: Frequency | None = None) -> Counts:
    """What all functions of ``program`` transfer, each counted once."""
    total = Counts()
    for function in program.functions:
        total += count_function(function, frequency)
    return total
