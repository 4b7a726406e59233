"""What a pass decided about one function, as data: spaces, copies, rewrites, and the reasons."""

from __future__ import annotations

from dataclasses import dataclass, field

from tilesat.ir.types import MemorySpace

Reasons = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Copy:
    """One ``tile.move`` to insert before ``site``: ``variable`` into ``space``.

    ``source`` is the copy it starts from, ``None`` for the variable itself. ``row_major`` asks for a
    row-major layout without boxes. Copies of one site are emitted by ``order``: slot, then how many
    copies lie before it on its chain.
    """

    key: int
    variable: str
    space: MemorySpace
    site: int
    region: int
    order: tuple[int, int]
    row_major: bool
    source: int | None
    reasons: Reasons


@dataclass(slots=True)
class Plan:
    """Decisions for one function; sites and names are those of its index."""

    spaces: dict[str, MemorySpace] = field(default_factory=dict)
    space_reasons: dict[str, Reasons] = field(default_factory=dict)
    copies: list[Copy] = field(default_factory=list)
    operands: dict[tuple[int, int], int] = field(default_factory=dict)
    """(site, slot) -> key of the copy that the slot reads."""
    need_reasons: dict[tuple[int, int], Reasons] = field(default_factory=dict)
    retargets: dict[str, Reasons] = field(default_factory=dict)
    """Producers whose ``target_memory`` is written anew, from ``spaces``."""
    clones: dict[tuple[str, MemorySpace], Reasons] = field(default_factory=dict)
    splits: dict[int, Reasons] = field(default_factory=dict)
    write_backs: dict[int, tuple[int, MemorySpace]] = field(default_factory=dict)
    """Call that writes a copy which goes back into the old buffer -> the argument it writes, space of the buffer."""
    peels: dict[int, int] = field(default_factory=dict)
    """Accumulating call site -> site of the loop whose first trip is peeled."""
    rehomes: dict[str, MemorySpace] = field(default_factory=dict)
    impossible: list[tuple[int, str, MemorySpace, MemorySpace]] = field(default_factory=list)
    """(site, variable, from, to): moves that the documents ask for and no chip has."""
