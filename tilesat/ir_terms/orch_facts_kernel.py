"""What the body of a kernel says about its outputs: which result each is, what is read after it was written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from tilesat.ir.accesses import Accesses
from tilesat.ir.affine import Affine
from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import Assign, Const, Expr, For, Function, ListExpr, OpCall, Param, Return, Var, While
from tilesat.ir.regions import seen_later, uncovered
from tilesat.ir.types import Direction, TensorType
from tilesat.ir_terms.orch_facts_workspace import Workspace

MAX_CARRIES = 16
"""Loop carries that a stored tile is followed back through (peer behaviour, section 8.2)."""


@dataclass(slots=True)
class KernelFacts:
    """What the body of a kernel says about merging outputs into inputs; parameters by position."""

    results: dict[int, int] = field(default_factory=dict)
    """Output -> the result that is its last store (peer behaviour, section 8: output mapping)."""
    sees: list[tuple[int, int, str]] = field(default_factory=list)
    unfilled: list[tuple[int, str]] = field(default_factory=list)
    read_outputs: list[int] = field(default_factory=list)
    carried: list[tuple[int, int]] = field(default_factory=list)


def kernel_facts(workspace: Workspace, function: Function) -> KernelFacts:
    """The facts of ``function``, found once for all kernels that are alike."""
    return workspace.derived(
        "kernel", function, lambda f: KernelReader(workspace.index(f), workspace.accesses(f)).facts
    )


class KernelReader:
    """Reads :class:`KernelFacts` off one kernel."""

    def __init__(self, index: FunctionIndex, accesses: Accesses) -> None:
        self.index = index
        self.accesses = accesses
        self.function = index.function
        self.facts = KernelFacts()
        for output, param in tensors(self.function, Direction.Out):
            self._output(output, param.name)
        self.facts.results = self._results()
        self._carried()

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {param.name: position for position, param in enumerate(self.function.params)}

    def _output(self, output: int, name: str) -> None:
        writes = [touch for touch in self.accesses.of(name) if touch.writes]
        if any(touch.reads for touch in self.accesses.of(name)):
            self.facts.read_outputs.append(output)
        shape = self._shape(name)
        gap = uncovered([touch.sure for touch in writes if touch.sure is not None], shape)
        if gap is not None:
            self.facts.unfilled.append((output, gap.text))
        for other, position in self._positions.items():
            if other == name:
                continue
            alike = self._shape(other) == shape if isinstance(self.index.types[other], TensorType) else False
            for read in self.accesses.of(other):
                if not read.reads:
                    continue
                # Windows of tensors of other shapes are no windows of the same index space.
                access = read.access if alike else replace(read.access, window=None)
                found = [seen_later(w.access, access, self.accesses.scalars.depths) for w in writes]
                conflict = next((c for c in found if c is not None), None)
                if conflict is not None:
                    self.facts.sees.append((output, position, conflict.text))
                    break

    def _shape(self, name: str) -> tuple[Affine, ...]:
        type_ = self.index.types[name]
        assert isinstance(type_, TensorType)
        return self.accesses.scalars.forms(type_.shape)

    def _results(self) -> dict[int, int]:
        """Outputs whose last store, or whose loop's result, is returned at top level."""
        found: dict[int, int] = {}
        last = self.function.body[-1] if self.function.body else None
        if not isinstance(last, Return):
            return found
        outputs = {param.name: position for position, param in tensors(self.function, Direction.Out)}
        for result, value in enumerate(last.values):
            source = self._output_of(value)
            if source in outputs:
                found.setdefault(outputs[source], result)
        return found

    def _output_of(self, value: Expr) -> str | None:
        if not isinstance(value, Var):
            return None
        definition = self.index.definitions.get(value.name)
        if definition is None or definition.region != 0 or definition.site < 0:
            return None
        stmt = self.index.sites[definition.site]
        if isinstance(stmt, Assign) and isinstance(stmt.value, OpCall) and stmt.value.op == "tile.store":
            target = stmt.value.args[2]
            return target.name if isinstance(target, Var) else None
        if isinstance(stmt, (For, While)) and definition.how == "result":
            init = stmt.carries[definition.position].init
            return init.name if isinstance(init, Var) else None
        return None

    def _carried(self) -> None:
        """Inputs loaded as a whole, carried through a loop, and stored as an output (standalone form)."""
        taken: set[int] = set()
        for output in self.facts.results:
            given = self._carried_input(output)
            if given is not None and given not in taken:
                taken.add(given)
                self.facts.carried.append((given, output))

    def _carried_input(self, output: int) -> int | None:
        value = self._stored(output)
        for carries in range(MAX_CARRIES + 1):
            definition = self.index.definitions.get(value.name) if isinstance(value, Var) else None
            if definition is None or definition.site < 0:
                return None
            stmt = self.index.sites[definition.site]
            if isinstance(stmt, (For, While)) and definition.how in ("result", "carry"):
                value = stmt.carries[definition.position].init
                continue
            if not isinstance(stmt, Assign) or not isinstance(stmt.value, OpCall) or carries == 0:
                return None
            return self._whole_input(stmt.value, output)
        return None

    def _stored(self, output: int) -> Expr | None:
        name = self.function.params[output].name
        for stmt in self.function.body:
            if isinstance(stmt, Assign) and isinstance(stmt.value, OpCall) and stmt.value.op == "tile.store":
                if stmt.value.args[2] == Var(name):
                    return stmt.value.args[0]
        return None

    def _whole_input(self, load: OpCall, output: int) -> int | None:
        if load.op != "tile.load" or not isinstance(load.args[0], Var) or len(load.args) < 4:
            return None
        position = self._positions.get(load.args[0].name)
        if position is None or self.function.params[position].direction is not Direction.In:
            return None
        given, stored = self.function.params[position].type, self.function.params[output].type
        if not isinstance(given, TensorType) or not isinstance(stored, TensorType):
            return None
        if not all(isinstance(dim, int) for dim in given.shape) or unlike_types(given, stored):
            return None
        shape = ListExpr(tuple(Const(dim) for dim in given.shape if isinstance(dim, int)))
        zeros = ListExpr(tuple(Const(0) for _ in given.shape))
        return position if load.args[1:4] == (zeros, shape, shape) else None


def tensors(function: Function, direction: Direction) -> list[tuple[int, Param]]:
    """The tensor parameters of ``function`` with ``direction``, with their positions."""
    return [
        (position, param)
        for position, param in enumerate(function.params)
        if isinstance(param.type, TensorType) and param.direction is direction
    ]


def unlike_types(given: TensorType, stored: TensorType) -> str:
    """How the types of an input and an output differ, empty when they are equal."""
    if given.dtype != stored.dtype:
        return f"their dtypes differ: {given.dtype} and {stored.dtype}"
    if given.shape != stored.shape:
        return "their shapes differ"
    return "" if given == stored else "their views or allocations differ"
