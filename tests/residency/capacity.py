"""What a program needs of each on-chip memory at once, found by walking its text; shares no code with tilesat.

A buffer is alive from the statement that fills it to the last that reads it, or a view or alias of it. What is alive
where a loop begins and is read inside stays alive to the loop's end. A carried slot, or the result of an if, lives in
one buffer with what flows into it. What a pipeline loop makes is there once for each of its stages.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from math import prod

from tilesat.ir.nodes import Assign, Block, Expr, For, Function, If, OpCall, Stmt, Var, While, Yield
from tilesat.ir.types import MemorySpace, TileType

# Sizes and alignments of the 910B in bytes (peer behaviour, section 9).
CAPACITY = {
    MemorySpace.Mat: (512 * 1024, 128),
    MemorySpace.Left: (64 * 1024, 64),
    MemorySpace.Right: (64 * 1024, 64),
    MemorySpace.Acc: (128 * 1024, 128),
    MemorySpace.Bias: (1024, 64),
    MemorySpace.Vec: (184 * 1024, 128),
}
WIDTH = {"FP32": 4, "INT32": 4, "UINT32": 4, "FP16": 2, "BF16": 2, "INT16": 2, "UINT16": 2, "INT8": 1, "UINT8": 1}
# Results that live in their first operand's buffer.
SHARING = {
    *("tile.slice", "tile.reshape", "tile.transpose_view", "tile.reinterpret_view", "tile.set_validshape"),
    *("tile.matmul_acc", "tile.assemble", "tile.fillpad_inplace", "tile.scatter", "tile.gemv_acc"),
}


@dataclass
class _Life:
    space: MemorySpace
    size: int
    first: int
    last: int


@dataclass
class _Walk:
    owner: dict[str, str] = field(default_factory=dict)
    """Tile -> the tile whose buffer it is."""
    lives: dict[str, _Life] = field(default_factory=dict)
    loops: list[int] = field(default_factory=list)
    """When the loops around the statement began."""
    stages: list[int] = field(default_factory=list)
    """Per such loop, how often it has what it makes."""
    pending: list[dict[str, None]] = field(default_factory=list)
    """Per such loop, the tiles from outside that it reads."""
    clock: int = 0

    def allocate(self, name: str, type_: object) -> None:
        if not isinstance(type_, TileType) or type_.space not in CAPACITY:
            return
        if not all(isinstance(extent, int) for extent in type_.shape) or type_.dtype not in WIDTH:
            return
        align = CAPACITY[type_.space][1]
        size = prod(extent for extent in type_.shape if isinstance(extent, int)) * WIDTH[type_.dtype]
        self.owner[name] = name
        copies = prod(self.stages)
        self.lives[name] = _Life(type_.space, -(-size // align) * align * copies, self.clock, self.clock)

    def share(self, name: str, source: str, type_: object) -> None:
        """``name`` lives where ``source`` does, if both are in one memory; else it has a buffer of its own."""
        life = self.lives.get(self.owner.get(source, ""))
        if life is not None and isinstance(type_, TileType) and type_.space is life.space:
            self.owner[name] = self.owner[source]
        else:
            self.allocate(name, type_)

    def read(self, name: str) -> None:
        life = self.lives.get(self.owner.get(name, ""))
        if life is None:
            return
        life.last = max(life.last, self.clock)
        for began, inside in zip(self.loops, self.pending, strict=True):
            if life.first <= began:
                inside[name] = None

    def block(self, block: Block) -> None:
        for stmt in block:
            self.clock += 1
            if isinstance(stmt, (For, While)):
                self.loop(stmt)
            elif isinstance(stmt, If):
                self.branch(stmt)
            else:
                self.statement(stmt)

    def statement(self, stmt: Stmt) -> None:
        value = getattr(stmt, "value", None)
        values = getattr(stmt, "values", ())
        for expr in (*([] if value is None else [value]), *values):
            for name in _names(expr):
                self.read(name)
        if not isinstance(stmt, Assign):
            return
        source = _shared(value)
        if source is not None:
            self.share(stmt.name, source, stmt.type)
        else:
            self.allocate(stmt.name, stmt.type)

    def loop(self, stmt: For | While) -> None:
        for carry in stmt.carries:
            for name in _names(carry.init):
                self.read(name)
            self.share(carry.name, getattr(carry.init, "name", ""), carry.type)
        for result in stmt.results:
            self.allocate(result.name, result.type)
        self.loops.append(self.clock)
        self.stages.append(_stages(stmt))
        self.pending.append({})
        self.block(stmt.body)
        for carry in stmt.carries:
            self.read(carry.name)
        self.loops.pop()
        self.stages.pop()
        for name in self.pending.pop():
            life = self.lives[self.owner[name]]
            life.last = max(life.last, self.clock)
        for carry, result in zip(stmt.carries, stmt.results, strict=True):
            self.merge(carry.name, result.name)
        for carry, value in zip(stmt.carries, _yielded(stmt.body), strict=False):
            self.merge(carry.name, getattr(value, "name", ""))

    def branch(self, stmt: If) -> None:
        for result in stmt.results:
            self.allocate(result.name, result.type)
        for arm in (stmt.then, stmt.orelse or ()):
            self.block(arm)
            for result, value in zip(stmt.results, _yielded(arm), strict=False):
                self.merge(result.name, getattr(value, "name", ""))

    def merge(self, name: str, other: str) -> None:
        """Both live in one buffer, if they are in one memory: a slot and what flows into it."""
        kept, gone = self.owner.get(name, ""), self.owner.get(other, "")
        if kept == gone or kept not in self.lives or gone not in self.lives:
            return
        a, b = self.lives[kept], self.lives[gone]
        if a.space is not b.space:
            return
        outer = a if a.first <= b.first else b
        self.lives[kept] = _Life(a.space, outer.size, min(a.first, b.first), max(a.last, b.last))
        del self.lives[gone]
        self.owner.update({tile: kept for tile, owner in self.owner.items() if owner == gone})


def _stages(loop: For | While) -> int:
    if not isinstance(loop, For) or loop.kind != "pipeline":
        return 1
    return next((int(getattr(value, "value", 1)) for name, value in loop.kwargs if name == "stage"), 1)


def _yielded(block: Block) -> tuple[Expr, ...]:
    last = block[-1] if block else None
    return last.values if isinstance(last, Yield) else ()


def _names(expr: Expr) -> list[str]:
    """The variables in ``expr``."""
    if isinstance(expr, Var):
        return [expr.name]
    found: list[str] = []
    for part in ("args", "items", "left", "right", "value", "operand", "kwargs", "attrs"):
        inner = getattr(expr, part, None)
        for item in inner if isinstance(inner, tuple) else [inner]:
            item = item[1] if isinstance(item, tuple) else item
            if isinstance(item, Expr):
                found += _names(item)
    return found


def _shared(value: object) -> str | None:
    """The tile whose buffer the result of ``value`` is."""
    if isinstance(value, Var):
        return value.name
    if isinstance(value, OpCall) and value.op in SHARING and isinstance(value.args[0], Var):
        return value.args[0].name
    return None


def peaks(function: Function) -> dict[MemorySpace, int]:
    """The most bytes of each memory that are alive at once."""
    walk = _Walk()
    walk.block(function.body)
    found: dict[MemorySpace, int] = {}
    for space in CAPACITY:
        changes: dict[int, int] = defaultdict(int)
        for life in walk.lives.values():
            if life.space is space:
                changes[life.first] += life.size
                changes[life.last + 1] -= life.size
        level = 0
        for time in sorted(changes):
            level += changes[time]
            found[space] = max(found.get(space, 0), level)
    return found


def overfull(function: Function) -> dict[MemorySpace, int]:
    """The memories of which ``function`` needs more than there is, and how much."""
    return {space: need for space, need in peaks(function).items() if need > CAPACITY[space][0]}
