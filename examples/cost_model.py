"""Cost models of your own.

Run with ``tilesat opt examples/programs/matmul.py --rules optimal --cost examples/cost_model.py``; from Python, give
a function, a class or an instance as ``cost`` (``python examples/cost_model.py`` does).

A model prices one execution of a transfer: ``transfer.kind`` (load, store, move, extract), ``transfer.source`` and
``transfer.target`` (memory spaces), ``transfer.bytes`` (``None`` where a tile's extents are not static). The search
multiplies by how often the statement runs and adds up. Prices are numbers from 0 to 1e30, in any unit you like; the
same transfer must always get the same price. Whatever breaks these rules ends in a ``CostModelError`` that names the
model.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import tilesat
from tilesat.extract.cost import Frequency, is_cross_core
from tilesat.extract.transfer import Transfer


def only_cross_core(transfer: Transfer) -> float:
    """The simplest form, a function: bytes that change between the cores, everything else for free."""
    return float(transfer.bytes or 4096) if is_cross_core(transfer.source, transfer.target) else 0.0


@dataclass(frozen=True)
class Latency:
    """The full form: nanoseconds on a chip whose memories have these speeds.

    ``frequency`` says how often loops with bounds that are not constant run, and which share of runs takes a branch.
    """

    name: str = "latency"
    frequency: Frequency = field(default_factory=lambda: Frequency(dynamic_trips=32, branch=0.5))

    def transfer(self, transfer: Transfer) -> float:
        size = 4096 if transfer.bytes is None else transfer.bytes
        if transfer.touches_global_memory:
            return 800.0 + size / 32
        if is_cross_core(transfer.source, transfer.target):
            return 400.0 + size / 64
        return 50.0 + size / 256

    def statement(self) -> float:
        """One statement, however often it runs: breaks ties in favour of the shorter program."""
        return 0.01


cost_model = Latency
"""What ``--cost`` looks for: a function, a class without required arguments, or an instance."""


def main() -> None:
    program = tilesat.parse(Path(__file__).parent / "programs" / "attention.py")
    for cost in ("traffic", "moves", only_cross_core, Latency):
        result = tilesat.infer_tile_memory_space(program, rules="optimal", cost=cost, hardware="910b")
        print(f"{getattr(cost, '__name__', cost)}: {result.reference_cost:,.0f} -> {result.cost:,.0f}, {result.status}")


if __name__ == "__main__":
    main()
