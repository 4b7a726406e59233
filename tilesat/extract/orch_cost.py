"""Costs of orchestration: what allocations, launches, copies of kernels and tiles on the way cost.

A model prices one execution of a thing, and things by their mere presence; everything is multiplied by how often its
code runs. Prices of the preset are in units of one on-core byte, as those of memory-space inference.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from tilesat.errors import CostModelError
from tilesat.extract.cost import UNKNOWN_BYTES, Frequency
from tilesat.ir.dtypes import bits
from tilesat.ir.hardware import ASCEND_910B, Hardware
from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import Assign, EvalStmt, FuncCall, Function, OpCall, Program, Stmt, Submit, Var
from tilesat.ir.types import Shape, TensorType, TileType
from tilesat.ir_terms.orch_facts import ProgramFacts


@runtime_checkable
class OrchCostModel(Protocol):
    """What a user writes to price orchestration. Prices are finite and not negative; sizes are in bytes."""

    @property
    def name(self) -> str: ...

    @property
    def frequency(self) -> Frequency: ...

    def allocation(self, size: int) -> float:
        """One execution of a create in global memory."""
        ...

    def dependency(self, size: int) -> float:
        """One tensor of a launch: whatever touches these bytes may have to wait for it."""
        ...

    def packing(self, size: int) -> float:
        """One tensor that is copied because it lies elsewhere, or with other strides, than it is needed."""
        ...

    def scratch(self, size: int) -> float:
        """One execution of a tile that is only there to gather blocks, or of a copy into it."""
        ...

    def store(self, size: int) -> float:
        """One store of a tile to global memory."""
        ...

    def kernel(self) -> float:
        """One kernel of the program, copies included."""
        ...

    def statement(self) -> float:
        """One statement, however often it runs: what breaks ties."""
        ...


@dataclass(frozen=True, slots=True)
class OrchTraffic:
    """Bytes, weighted by what they cost (preset ``traffic``)."""

    chip: Hardware = ASCEND_910B
    frequency: Frequency = field(default_factory=Frequency)
    name: str = "traffic"

    def allocation(self, size: int) -> float:
        return 4096.0 + size

    def dependency(self, size: int) -> float:
        return size / 8.0

    def packing(self, size: int) -> float:
        # Read and written once over global memory.
        return 16.0 * (size + self.chip.gm_granule)

    def scratch(self, size: int) -> float:
        return 1.0 * (size + 64.0)

    def store(self, size: int) -> float:
        granule = self.chip.gm_granule
        return 8.0 * (-(-size // granule) * granule)

    def kernel(self) -> float:
        return 512.0

    def statement(self) -> float:
        return 1.0 / 64


@dataclass(frozen=True, slots=True)
class OrchMoves:
    """Allocated buffers first, then copies of tensors, then bytes of dependencies (preset ``moves``)."""

    frequency: Frequency = field(default_factory=Frequency)
    name: str = "moves"

    def allocation(self, size: int) -> float:
        return 2.0**30 + size

    def dependency(self, size: int) -> float:
        return float(size)

    def packing(self, size: int) -> float:
        return 2.0**24 + size

    def scratch(self, size: int) -> float:
        return 2.0**4 + size / 2.0**10

    def store(self, size: int) -> float:
        return size / 2.0**10

    def kernel(self) -> float:
        return 2.0**4

    def statement(self) -> float:
        return 2.0**-8


_PRICES = ("allocation", "dependency", "packing", "scratch", "store")
PRESETS = ("traffic", "moves")


def orch_cost_model(cost: object, chip: Hardware | None) -> CheckedOrchModel:
    """The preset called ``cost`` for ``chip`` (the 910B without one), or the model itself."""
    if cost == "traffic":
        return CheckedOrchModel(OrchTraffic(chip or ASCEND_910B))
    if cost == "moves":
        return CheckedOrchModel(OrchMoves())
    if isinstance(cost, str):
        raise CostModelError(f"unknown cost model '{cost}'", hint="one of " + ", ".join(PRESETS))
    return CheckedOrchModel(cost)


class CheckedOrchModel:
    """A model whose every answer is checked, so that a bad one is named instead of spoiling a search."""

    def __init__(self, model: object) -> None:
        self.name = str(getattr(model, "name", type(model).__name__))
        missing = [a for a in (*_PRICES, "kernel", "statement", "frequency") if not hasattr(model, a)]
        if missing:
            raise CostModelError(
                f"cost model '{self.name}' has no '{missing[0]}'",
                hint="orchestration needs " + ", ".join((*_PRICES, "kernel", "statement", "frequency")),
            )
        assert isinstance(model, OrchCostModel)
        self.model = model
        self.frequency = model.frequency
        self.kernel = self._price("kernel()", model.kernel)
        self.statement = self._price("statement()", model.statement)
        self._known: dict[tuple[str, int], float] = {}

    def price(self, what: str, size: int | None) -> float:
        """The price of ``what`` (allocation, dependency, ...) for ``size`` bytes; an unknown size is guessed."""
        key = (what, UNKNOWN_BYTES if size is None else size)
        known = self._known.get(key)
        if known is None:
            ask: Callable[[int], float] = getattr(self.model, what)
            known = self._known[key] = self._price(f"{what}({key[1]})", lambda: ask(key[1]))
        return known

    def _price(self, what: str, ask: Callable[[], float]) -> float:
        try:
            value = ask()
        except Exception as error:
            raise CostModelError(f"cost model '{self.name}': {what} raised {type(error).__name__}: {error}") from error
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise CostModelError(f"cost model '{self.name}': {what} returned {value!r}", hint="return a number")
        if not math.isfinite(value) or value < 0:
            raise CostModelError(
                f"cost model '{self.name}': {what} returned {value}", hint="prices are finite and >= 0"
            )
        return float(value)


def byte_count(type_: object) -> int | None:
    """Bytes of a tensor or tile of static shape."""
    if not isinstance(type_, (TensorType, TileType)):
        return None
    width = bits(type_.dtype)
    return None if width is None else _bytes(type_.shape, width)


def _bytes(shape: Shape, width: int) -> int | None:
    count = 1
    for dim in shape:
        if not isinstance(dim, int):
            return None
        count *= dim
    return -(-count * width // 8)


def left_out(call: FuncCall | Submit, callee: Function) -> list[tuple[int, int | None]]:
    """Outputs that ``call`` does not give, so that the runtime allocates them, and their bytes."""
    rest = list(enumerate(callee.params))[len(call.args) :]
    return [(position, byte_count(param.type)) for position, param in rest if isinstance(param.type, TensorType)]


_CORES = ("InCore", "AIC", "AIV")


class Frequencies:
    """How often the statements of a program run.

    A function that nobody calls runs once; a kernel that nobody calls does so only where there are no callers at all.
    """

    def __init__(self, facts: ProgramFacts, frequency: Frequency) -> None:
        self.facts = facts
        self.frequency = frequency
        self._regions: dict[str, list[float]] = {}
        self._functions: dict[str, float] = {}
        self._into: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for launch in facts.launches:
            self._into[launch.callee.name].append((launch.caller, launch.site))

    def function(self, name: str) -> float:
        """How often function ``name`` runs; a function that calls itself counts as called from outside once."""
        known = self._functions.get(name)
        if known is None:
            calls = self._into.get(name, [])
            is_dead = self.facts.functions[name].kind in _CORES and bool(self.facts.launches)
            self._functions[name] = 0.0 if is_dead else 1.0
            if calls:
                self._functions[name] = 1.0
                self._functions[name] = sum(self.at(caller, site) for caller, site in calls)
            known = self._functions[name]
        return known

    def at(self, name: str, site: int) -> float:
        """How often the statement at ``site`` of function ``name`` runs."""
        function = self.facts.functions[name]
        index = self.facts.index(function)
        if name not in self._regions:
            self._regions[name] = region_frequencies(index, self.frequency)
        return self._regions[name][index.region_of[site]] * self.function(name)


def region_frequencies(index: FunctionIndex, frequency: Frequency) -> list[float]:
    """How often each region runs in one run of the function."""
    found: list[float] = []
    for region in index.regions:
        outer = 1.0 if region.parent < 0 else found[region.parent]
        if region.kind == "loop":
            outer *= frequency.dynamic_trips if region.trips is None else region.trips
        elif region.kind in ("then", "else"):
            outer *= frequency.branch
        found.append(outer)
    return found


class ProgramCost:
    """The cost of a program under a model, packing left out (see :mod:`tilesat.bridge.orch_search`)."""

    def __init__(self, facts: ProgramFacts, model: CheckedOrchModel) -> None:
        self.facts = facts
        self.model = model
        self.frequencies = Frequencies(facts, model.frequency)

    def total(self, program: Program) -> float:
        return sum(self.function(function) for function in program.functions)

    def function(self, function: Function) -> float:
        """What ``function``, or what becomes of it, costs, run as often as the program runs it."""
        total = self.model.kernel if function.is_incore else 0.0
        index = self.facts.index(function)
        total += self.model.statement * len(index.sites)
        runs = self.frequencies.function(function.name)
        regions = region_frequencies(index, self.model.frequency)
        for site, stmt in enumerate(index.sites):
            price = self.statement(stmt, index)
            if price:
                total += price * runs * regions[index.region_of[site]]
        return total

    def statement(self, stmt: Stmt, index: FunctionIndex) -> float:
        """One execution of ``stmt`` itself, where it matters."""
        value = stmt.value if isinstance(stmt, (Assign, EvalStmt)) else None
        if isinstance(value, (FuncCall, Submit)):
            return self.launch(value, index)
        if not isinstance(value, OpCall):
            return 0.0
        if value.op == "tensor.create" and isinstance(stmt, Assign):
            return self.model.price("allocation", byte_count(stmt.type))
        if value.op in ("tile.create", "tile.full") and isinstance(stmt, Assign):
            return self.model.price("scratch", byte_count(stmt.type))
        what, position = {"tile.store": ("store", 0), "tile.assemble": ("scratch", 1)}.get(value.op, ("", 0))
        tile = value.args[position] if what else None
        return self.tile(what, tile.name, index) if isinstance(tile, Var) else 0.0

    def tile(self, what: str, name: str, index: FunctionIndex) -> float:
        return self.model.price(what, byte_count(index.types.get(name)))

    def launch(self, call: FuncCall | Submit, index: FunctionIndex) -> float:
        """One execution of a launch: the width of what it depends on."""
        types = [index.types.get(arg.name) for arg in call.args if isinstance(arg, Var)]
        total = sum(self.model.price("dependency", byte_count(t)) for t in types if isinstance(t, TensorType))
        callee = self.facts.functions.get(call.callee)
        for _, size in () if callee is None else left_out(call, callee):
            total += self.model.price("allocation", size) + self.model.price("dependency", size)
        return total
