"""A cost model for another machine: both cores share one memory, so pushes between them are nearly free."""

from dataclasses import dataclass, field

from tilesat.extract.cost import Frequency, is_cross_core
from tilesat.extract.transfer import Transfer


@dataclass(frozen=True)
class OneChip:
    """Prices in nanoseconds: 100 to begin a transfer over global memory, 1 for a push, 10 for any other move."""

    name: str = "one-chip"
    frequency: Frequency = field(default_factory=Frequency)

    def transfer(self, transfer: Transfer) -> float:
        size = 4096 if transfer.bytes is None else transfer.bytes
        if transfer.touches_global_memory:
            return 100.0 + size / 8
        if is_cross_core(transfer.source, transfer.target):
            return 1.0
        return 10.0 + size / 256

    def statement(self) -> float:
        return 1.0 / 64


cost_model = OneChip
