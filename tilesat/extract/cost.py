"""Cost models: the protocol, the two presets, and how often code runs.

A model prices one execution of a transfer, and a statement by its mere presence; the extractor multiplies by
how often the statement's region runs. Compute is the same in every placement and has no price.

Unit prices follow from the hardware tables (peer behaviour, section 9). A byte over global memory is dearest.
A cross-core push goes through a pipe buffer in global memory on the 910B, which is written and read once but
stays in cache; on the 950 it stays on chip. Moves inside a core are cheap. Each transfer has a start-up price:
over global memory one access granule, on chip one allocation unit.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from tilesat.errors import CostModelError
from tilesat.extract.frequency import Frequency
from tilesat.extract.transfer import Transfer, TransferKind
from tilesat.extract.user_cost import PriceOf, as_model, is_model_file, read_model_file
from tilesat.ir.hardware import ASCEND_910B, CUBE_SPACES, Hardware
from tilesat.ir.types import MemorySpace

__all__ = [
    "PRESETS",
    "UNKNOWN_BYTES",
    "CheckedModel",
    "Cost",
    "CostModel",
    "Frequency",
    "Moves",
    "Traffic",
    "cost_model",
    "is_cross_core",
]

UNKNOWN_BYTES = 4096
"""Assumed size of a tile whose extents are not static."""


@runtime_checkable
class CostModel(Protocol):
    """What a user writes to price placements; see ``examples/``.

    Both prices must be finite and not negative. ``frequency`` says how often dynamic loops and branches run.
    """

    @property
    def name(self) -> str: ...

    @property
    def frequency(self) -> Frequency: ...

    def transfer(self, transfer: Transfer) -> float:
        """The price of one execution of ``transfer``."""
        ...

    def statement(self) -> float:
        """The price of one statement that is there, however often it runs: what breaks ties."""
        ...


def is_cross_core(source: MemorySpace, target: MemorySpace) -> bool:
    """Whether a tile changes between the vector core's memory and the cube core's."""
    return (source is MemorySpace.Vec) != (target is MemorySpace.Vec) and (
        source in CUBE_SPACES or target in CUBE_SPACES
    )


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes moved, weighted by where (preset ``traffic``). Prices are in units of one on-core byte."""

    chip: Hardware = ASCEND_910B
    frequency: Frequency = field(default_factory=Frequency)
    name: str = "traffic"

    @property
    def weights(self) -> Mapping[str, tuple[float, float]]:
        """(price per byte, start-up in bytes) of global, cross-core and on-core transfers."""
        granule = float(self.chip.gm_granule)
        push = (6.0, granule) if self.chip.pushes_through_gm else (3.0, 128.0)
        return MappingProxyType({"global": (8.0, granule), "cross-core": push, "on-core": (1.0, 64.0)})

    def transfer(self, transfer: Transfer) -> float:
        size = UNKNOWN_BYTES if transfer.bytes is None else transfer.bytes
        if transfer.touches_global_memory:
            kind = "global"
            granule = self.chip.gm_granule
            size = -(-size // granule) * granule
        else:
            kind = "cross-core" if is_cross_core(transfer.source, transfer.target) else "on-core"
        per_byte, start_up = self.weights[kind]
        return per_byte * (size + start_up)

    def statement(self) -> float:
        return 1.0 / 64


@dataclass(frozen=True, slots=True)
class Moves:
    """Executed moves first, then executed global loads, then bytes (preset ``moves``).

    The weights lie so far apart that a lower count of one kind outweighs any realistic amount of the next.
    """

    frequency: Frequency = field(default_factory=Frequency)
    name: str = "moves"

    def transfer(self, transfer: Transfer) -> float:
        size = UNKNOWN_BYTES if transfer.bytes is None else transfer.bytes
        weight = 2.0**30 if transfer.kind in (TransferKind.MOVE, TransferKind.EXTRACT) else 2.0**14
        cross = 2 if is_cross_core(transfer.source, transfer.target) else 1
        return weight + cross * size / 2.0**12

    def statement(self) -> float:
        return 2.0**-8


PRESETS = ("traffic", "moves")


Cost = str | Path | PriceOf | CostModel | type[CostModel]
"""What may be given as a cost model: a preset's name, a Python file, a function of a transfer, a model or its class."""


def cost_model(cost: Cost, chip: Hardware | None) -> CheckedModel:
    """``cost`` as a checked model: a preset is priced for ``chip`` (the 910B without one).

    Raises :class:`CostModelError` for an unknown name, a file that defines no model, and a model that lacks a part
    or answers nonsense.
    """
    if isinstance(cost, CheckedModel):
        return cost
    if isinstance(cost, (str, Path)) and is_model_file(cost):
        return CheckedModel(read_model_file(Path(cost)))
    if cost == "traffic":
        return CheckedModel(Traffic(chip or ASCEND_910B))
    if cost == "moves":
        return CheckedModel(Moves())
    if isinstance(cost, str):
        hint = f"one of {', '.join(PRESETS)}, or a Python file"
        raise CostModelError(f"unknown cost model '{cost}'", hint=hint)
    return CheckedModel(as_model(cost))


MOST = 1e30
"""Prices above this would drown everything else in rounding."""
MOST_TRIPS = 1e9
_PARTS = ("transfer", "statement", "frequency")


class CheckedModel:
    """A model whose every answer is checked, so that a bad one is named instead of spoiling a search."""

    def __init__(self, model: CostModel) -> None:
        self.model = model
        self.name = type(model).__name__
        self.name = str(self._part("name") or self.name)
        self._known: dict[Transfer, float] = {}
        for part in _PARTS:
            if self._part(part) is None:
                raise CostModelError(
                    f"cost model '{self.name}' has no '{part}'",
                    hint="it needs transfer(transfer), statement() and frequency",
                )
        self.frequency = self._frequency()
        self._statement = self._price("statement()", lambda: model.statement())

    def _part(self, name: str) -> object:
        """A part of the model; what a property of it raises is the model's fault."""
        try:
            return getattr(self.model, name, None)
        except Exception as error:
            text = f"cost model '{self.name}': {name} raised {type(error).__name__}: {error}"
            raise CostModelError(text) from error

    def _frequency(self) -> Frequency:
        given = self.model.frequency
        found = [self._number(f"frequency.{part}", getattr(given, part, None)) for part in ("dynamic_trips", "branch")]
        for part, value in zip(("dynamic_trips", "branch"), found, strict=True):
            if value > MOST_TRIPS:
                raise CostModelError(f"cost model '{self.name}': frequency.{part} is {value}", hint="at most 1e9")
        return Frequency(*found)

    def transfer(self, transfer: Transfer) -> float:
        known = self._known.get(transfer)
        if known is None:
            known = self._known[transfer] = self._price(f"transfer({transfer})", lambda: self.model.transfer(transfer))
        return known

    def statement(self) -> float:
        return self._statement

    def _price(self, what: str, ask: Callable[[], object]) -> float:
        try:
            value = ask()
        except Exception as error:
            raise CostModelError(f"cost model '{self.name}': {what} raised {type(error).__name__}: {error}") from error
        return self._number(what, value)

    def _number(self, what: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise CostModelError(f"cost model '{self.name}': {what} is {value!r}", hint="it must be a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not 0.0 <= number <= MOST:
            raise CostModelError(f"cost model '{self.name}': {what} is {value}", hint=f"a number from 0 to {MOST:g}")
        return number
