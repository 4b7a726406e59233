"""How much of each on-chip memory a function needs at once: lifetimes of its tile buffers.

A buffer lives from its producer to its last reader; a reader inside a loop that does not contain the producer
keeps it to the end of that loop. What a carried slot or an if result takes over shares one buffer with it, as do
views and aliases. Sizes are full shapes, aligned as the allocator does; what a pipeline loop makes counts once for each
of its stages, because lowering makes as many copies.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

from tilesat.extract.count import tile_bytes
from tilesat.ir.hardware import Hardware
from tilesat.ir.index import FunctionIndex, int_value
from tilesat.ir.memory import Groups, MemorySSA
from tilesat.ir.nodes import Expr, For, If, Var, While, Yield
from tilesat.ir.types import MemorySpace, TileType
from tilesat.ir.walk import reads


@dataclass(frozen=True, slots=True)
class Buffer:
    """One allocation: its first and last site, its space, its aligned size in bytes (``None``: not static)."""

    name: str
    first: int
    last: int
    space: MemorySpace
    size: int | None
    names: frozenset[str] = frozenset()
    """All variables that live in it."""


def buffers(index: FunctionIndex, chip: Hardware, memory: MemorySSA | None = None) -> list[Buffer]:
    """All tile buffers of a function whose spaces are decided; ``memory`` is that of ``index``, where it is known."""
    memory = memory or MemorySSA(index)
    groups = Groups()
    tiles = index.tile_names()
    for name in tiles:
        groups.union(name, memory.group(name))
    for target, source in _flows(index):
        groups.union(target, source)
    members: dict[str, list[str]] = defaultdict(list)
    for name in tiles:
        members[groups.find(name)].append(name)
    last_read: dict[str, int] = {}
    for site, stmt in enumerate(index.sites):
        for name in reads(stmt):
            if name in index.definitions:
                end = _keeps_until(index, index.definitions[name].region, site)
                last_read[name] = max(last_read.get(name, -1), end)
    copies = _copies(index)
    return [_buffer(index, chip, names, last_read, copies) for names in members.values()]


def _buffer(
    index: FunctionIndex, chip: Hardware, names: list[str], last_read: dict[str, int], copies: list[int]
) -> Buffer:
    first = min([index.definitions[name].site for name in names])
    last = max(first, *[last_read.get(name, -1) for name in names])
    types = [index.types[name] for name in names]
    spaces = [t.space for t in types if isinstance(t, TileType) and t.space is not None]
    space = spaces[0] if spaces else MemorySpace.Vec
    sizes = [tile_bytes(t) for t in types]
    known = [size for size in sizes if size is not None]
    times = min([copies[index.definitions[name].region] for name in names])
    size = None if len(known) < len(sizes) else times * chip.allocation_size(max(known), space)
    return Buffer(names[0], first, last, space, size, frozenset(names))


def _copies(index: FunctionIndex) -> list[int]:
    """For each region, how many copies of a buffer made there the pipelines around it need."""
    found: list[int] = []
    for region in index.regions:
        stmt = index.sites[region.owner] if region.owner >= 0 else None
        times = found[region.parent] if region.parent >= 0 else 1
        if isinstance(stmt, For) and stmt.kind == "pipeline":
            times *= next((int_value(value) or 1 for name, value in stmt.kwargs if name == "stage"), 1)
        found.append(times)
    return found


def _flows(index: FunctionIndex) -> list[tuple[str, str]]:
    """Pairs of tiles that a slot or if result makes share one buffer, if they are in one space."""
    found: list[tuple[str, str]] = []

    def flow(target: str, source: Expr) -> None:
        a = index.types.get(target)
        b = index.types.get(source.name) if isinstance(source, Var) else None
        if isinstance(a, TileType) and isinstance(b, TileType) and a.space is b.space and isinstance(source, Var):
            found.append((target, source.name))

    for site, stmt in enumerate(index.sites):
        if isinstance(stmt, (For, While)):
            values = _yielded(index, site, 0)
            for position, carry in enumerate(stmt.carries):
                flow(carry.name, carry.init)
                flow(stmt.results[position].name, Var(carry.name))
                if position < len(values):
                    flow(carry.name, values[position])
        elif isinstance(stmt, If):
            for arm in (0, 1):
                for result, value in zip(stmt.results, _yielded(index, site, arm), strict=False):
                    flow(result.name, value)
    return found


def _yielded(index: FunctionIndex, site: int, arm: int) -> tuple[Expr, ...]:
    position = index.yields.get((site, arm))
    stmt = index.sites[position] if position is not None else None
    return stmt.values if isinstance(stmt, Yield) else ()


def _keeps_until(index: FunctionIndex, home: int, site: int) -> int:
    """The last site before which a buffer bound in region ``home`` and read at ``site`` cannot go."""
    end = site
    region = index.region_of[site]
    while region != home and region >= 0:
        if index.regions[region].kind == "loop":
            end = max(end, index.regions[region].end - 1)
        region = index.regions[region].parent
    return end


def peaks(index: FunctionIndex, chip: Hardware, memory: MemorySSA | None = None) -> dict[MemorySpace, int]:
    """Bytes needed at once per space; buffers of unknown size do not count."""
    changes: dict[MemorySpace, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for buffer in buffers(index, chip, memory):
        if buffer.size is not None:
            changes[buffer.space][buffer.first] += buffer.size
            changes[buffer.space][buffer.last + 1] -= buffer.size
    found: dict[MemorySpace, int] = {}
    for space, deltas in changes.items():
        level = peak = 0
        for site in sorted(deltas):
            level += deltas[site]
            peak = max(peak, level)
        found[space] = peak
    return found


class Needs:
    """What a function needs of each space, in bytes; found out when it is first asked, which most never are."""

    def __init__(self, index: FunctionIndex, chip: Hardware, memory: MemorySSA) -> None:
        self._of = index, chip, memory

    @cached_property
    def _peaks(self) -> dict[MemorySpace, int]:
        return peaks(*self._of)

    def of(self, space: MemorySpace) -> int:
        """Bytes needed at once in ``space``."""
        return self._peaks.get(space, 0)


def overfull(index: FunctionIndex, chip: Hardware, allowed: Needs) -> list[MemorySpace]:
    """Spaces that need more than the chip has and more than ``allowed``, which is what the input needs already."""
    above = [
        (space, need)
        for space, need in sorted(peaks(index, chip).items())
        if space in chip.buffers and need > chip.buffers[space].capacity
    ]
    return [space for space, need in above if need > allowed.of(space)]
