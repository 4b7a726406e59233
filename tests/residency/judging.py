"""Running generated programs on arguments that overlap, before and after a pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

import tilesat
from tests.residency import capacity
from tilesat.ir.hardware import ASCEND_910B, Buffer, Hardware
from tilesat.ir.interp import Difference, difference
from tilesat.ir.nodes import Program
from tilesat.ir.types import MemorySpace

# Room for three panels of 1 KiB, and for two staged operands on either side.
SMALL = replace(
    ASCEND_910B,
    buffers=MappingProxyType(
        {
            **ASCEND_910B.buffers,
            MemorySpace.Mat: Buffer(3 * 1024, 128),
            MemorySpace.Left: Buffer(2 * 1024, 64),
            MemorySpace.Right: Buffer(2 * 1024, 64),
        }
    ),
)


def arguments(rows: int) -> dict[str, Any]:
    """Arguments of ``main``; ``other`` is a window of ``given``."""
    given = np.random.default_rng(rows).integers(-4, 5, size=(48, 48)).astype(np.float32) / 4
    return {"given": given, "other": given[8:40, 8:40], "rows": rows}


def first_difference(before: Program, after: Program, *, rows: tuple[int, ...] = (0, 16, 32)) -> Difference | None:
    """What ``main`` shows differently in the two programs, on storages that overlap."""
    for number in rows:
        given = arguments(number)
        found = difference(tilesat.interpret(before, "main", given), tilesat.interpret(after, "main", given))
        if found is not None:
            return found
    return None


def overfull(before: Program, after: Program, chip: Hardware) -> Mapping[tuple[str, MemorySpace], int]:
    """Per kernel and memory of which ``after`` needs more than there is and more than ``before``: how much it needs."""
    found: dict[tuple[str, MemorySpace], int] = {}
    for function in after.functions:
        if function.is_incore:
            needed = capacity.peaks(before.function(function.name))
            for space, need in capacity.peaks(function).items():
                if need > max(chip.buffers[space].capacity, needed.get(space, 0)):
                    found[function.name, space] = need
    return found
