"""What the two chips offer: buffers, paths between them, transfer granules (peer behaviour, section 9)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from types import MappingProxyType

from tilesat.errors import TilesatError
from tilesat.ir.types import MemorySpace as M

Edge = tuple[M, M]

CUBE_SPACES = frozenset({M.Mat, M.Left, M.Right, M.Acc, M.Bias, M.LeftScale, M.RightScale})


@dataclass(frozen=True, slots=True)
class Buffer:
    """One on-chip memory: capacity and allocation alignment, in bytes."""

    capacity: int
    align: int


@dataclass(frozen=True, slots=True)
class Hardware:
    """One chip. ``edges`` are the direct copies inside a core or to global memory.

    ``gm_granule`` is the size in bytes in which global memory is accessed; ``pushes_through_gm`` says
    that a cross-core push goes through a pipe buffer in global memory instead of on chip.
    """

    name: str
    buffers: Mapping[M, Buffer]
    edges: frozenset[Edge]
    gm_granule: int
    pushes_through_gm: bool
    cube_cores: int
    vector_cores: int

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled with a plain dictionary: a view of one cannot be."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        return Hardware, tuple((values | {"buffers": dict(self.buffers)}).values())

    def path(self, source: M, target: M) -> tuple[M, ...] | None:
        """Shortest chain of direct copies from ``source`` to ``target``, ends included."""
        return _shortest_path(self.edges, source, target)

    def allocation_size(self, size: int, space: M) -> int:
        """``size`` bytes rounded up to the allocator's alignment in ``space``."""
        align = self.buffers[space].align if space in self.buffers else 1
        return -(-size // align) * align


# Transfers that a later pass splits into a push on one core and a pop on the other (section 6.5):
# any cube-side space to Vec, and Vec to Mat, Left or Right. They exist besides the direct copies.
CROSS_CORE_EDGES: frozenset[Edge] = frozenset(
    {(space, M.Vec) for space in CUBE_SPACES} | {(M.Vec, target) for target in (M.Mat, M.Left, M.Right)}
)

_COMMON_EDGES: frozenset[Edge] = frozenset(
    {
        (M.DDR, M.Vec),
        (M.DDR, M.Mat),
        (M.Vec, M.DDR),
        (M.Mat, M.Left),
        (M.Mat, M.Right),
        (M.Mat, M.Bias),
        (M.Acc, M.Mat),
        (M.Acc, M.DDR),
    }
)
_KIB = 1024

ASCEND_910B = Hardware(
    name="910b",
    buffers=MappingProxyType(
        {
            M.Mat: Buffer(512 * _KIB, 128),
            M.Left: Buffer(64 * _KIB, 64),
            M.Right: Buffer(64 * _KIB, 64),
            M.Acc: Buffer(128 * _KIB, 128),
            M.Bias: Buffer(1 * _KIB, 64),
            M.Vec: Buffer(184 * _KIB, 128),
        }
    ),
    edges=_COMMON_EDGES,
    gm_granule=512,
    pushes_through_gm=True,
    cube_cores=24,
    vector_cores=48,
)

ASCEND_950 = Hardware(
    name="950",
    buffers=MappingProxyType(
        {
            M.Mat: Buffer(512 * _KIB, 128),
            M.Left: Buffer(64 * _KIB, 64),
            M.Right: Buffer(64 * _KIB, 64),
            M.Acc: Buffer(256 * _KIB, 128),
            M.Bias: Buffer(4 * _KIB, 64),
            M.LeftScale: Buffer(4 * _KIB, 32),
            M.RightScale: Buffer(4 * _KIB, 32),
            M.Vec: Buffer(240 * _KIB, 128),
        }
    ),
    edges=_COMMON_EDGES | {(M.Vec, M.Mat), (M.Acc, M.Vec), (M.Mat, M.LeftScale), (M.Mat, M.RightScale)},
    gm_granule=128,
    pushes_through_gm=False,
    cube_cores=36,
    vector_cores=72,
)

CHIPS: Mapping[str, Hardware] = MappingProxyType({"910b": ASCEND_910B, "950": ASCEND_950})


def hardware(name: str | Hardware | None) -> Hardware | None:
    """The chip called ``name`` (case does not matter); ``None`` stays ``None``.

    Raises :class:`tilesat.TilesatError` for an unknown chip.
    """
    if name is None or isinstance(name, Hardware):
        return name
    chip = CHIPS.get(name.lower().removeprefix("ascend"))
    if chip is None:
        raise TilesatError(f"unknown hardware '{name}'", hint="one of " + ", ".join(CHIPS))
    return chip


def move_edges(chip: Hardware | None) -> frozenset[Edge]:
    """Space pairs one ``tile.move`` may bridge; without a chip, those that every chip has."""
    on_core = _COMMON_EDGES if chip is None else chip.edges
    return frozenset(edge for edge in on_core | CROSS_CORE_EDGES if M.DDR not in edge)


@lru_cache(maxsize=256)
def move_path(chip_name: str | None, source: M, target: M) -> tuple[M, ...] | None:
    """Shortest chain of moves from ``source`` to ``target``, ends included; ``None`` when impossible."""
    return _shortest_path(move_edges(hardware(chip_name)), source, target)


def _shortest_path(edges: frozenset[Edge], source: M, target: M) -> tuple[M, ...] | None:
    came_from: dict[M, M | None] = {source: None}
    queue = deque([source])
    while queue:
        here = queue.popleft()
        if here == target:
            path = [here]
            while (previous := came_from[path[-1]]) is not None:
                path.append(previous)
            return tuple(reversed(path))
        for a, b in sorted(edges):
            if a == here and b not in came_from:
                came_from[b] = here
                queue.append(b)
    return None
