"""One transfer of a tile: what cost models price."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from tilesat.ir.types import MemorySpace


class TransferKind(StrEnum):
    """What brings a tile, or a part of it, from one memory to another."""

    LOAD = "load"
    STORE = "store"
    MOVE = "move"
    EXTRACT = "extract"


class Transfer(NamedTuple):
    """One execution of a transfer of ``bytes`` bytes; ``None`` bytes where extents are not static."""

    kind: TransferKind
    source: MemorySpace
    target: MemorySpace
    bytes: int | None

    @property
    def touches_global_memory(self) -> bool:
        return MemorySpace.DDR in (self.source, self.target)
