"""A kernel under construction: typed statements, unique names, operands that fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tilesat.ir.deduce import deduce_type
from tilesat.ir.nodes import (
    INCORE,
    Assign,
    Const,
    EvalStmt,
    Expr,
    Function,
    ListExpr,
    OpCall,
    Param,
    Return,
    Stmt,
    Var,
)
from tilesat.ir.printer import SUB_WORKER
from tilesat.ir.types import Direction, ScalarType, Shape, TensorType, TileType, Type
from tilesat.lab.choices import Choices
from tilesat.lab.config import GeneratorConfig
from tilesat.lab.pool import ScalarVar, Scope, TensorVar, TileVar

INDEX = ScalarType("INDEX")
PARAMETER_HIGH = 4
"""Index parameters lie in 0 to this: what ``random_arguments`` draws and orchestrations pass."""
INDEX_ENTRIES = 8
_INDEX_TENSOR = TensorType((INDEX_ENTRIES,), "INT32")
_MOST_INDEX_PARAMETERS = 2

Argument: TypeAlias = "TileVar | Expr | int | Sequence[int | Expr]"


@dataclass(frozen=True, slots=True)
class Kernel:
    """A finished kernel; ``returned`` are the parameters whose tensors it returns, in order."""

    function: Function
    returned: tuple[str, ...]


class Builder:
    """Builds one kernel. ``emit`` adds the next statement; it is called for nested blocks too.

    ``extents``, ``matrix_dtype`` and ``vector_dtype`` are what the function prefers, so that its tiles fit
    each other. ``left`` is how many statements it may still set out to add, ``ops`` how many op calls it has.
    """

    def __init__(self, choices: Choices, config: GeneratorConfig, emit: Callable[[Builder], None]) -> None:
        self.choices = choices
        self.config = config
        self.emit = emit
        self.left = config.max_statements
        self.ops = 0
        self.extents: tuple[int, ...] = config.extents[:1]
        self.matrix_dtype = "FP16"
        self.vector_dtype = "FP32"
        self.params: list[Param] = []
        self.tensors: list[TensorVar] = []
        self.types: dict[str, Type] = {}
        self.root = Scope()
        self.scope = self.root
        self.settled: set[int] = set()
        """Buffers whose store relies on their being in Acc: nothing may change where they live."""
        self.unsettled: set[int] = set()
        """Buffers written in place or passed through loops and branches: where they live is open."""
        self.transposed: set[int] = set()
        """Buffers that a view reads the other way round."""
        self._count = 0
        self._loops = 0
        self._buffers: list[int] = []
        """For each buffer the loop in whose body it begins."""

    # -------------------------------------------------------------------- names, statements

    def name(self, prefix: str) -> str:
        """A name that nothing else in the function has."""
        self._count += 1
        return f"{prefix}{self._count}"

    def add(self, stmt: Stmt) -> None:
        self.scope.stmts.append(stmt)

    def bind(self, name: str, type_: Type) -> None:
        """Make ``name`` known in the current scope."""
        self.types[name] = type_
        self.scope.defined.add(name)

    def assign(self, prefix: str, type_: Type, value: Expr) -> str:
        """A new variable with ``value``."""
        name = self.name(prefix)
        self.add(Assign(name, type_, value))
        self.bind(name, type_)
        return name

    def call(self, op: str, *args: Argument, **kwargs: Expr) -> OpCall:
        """A call of ``op``; numbers become constants, sequences lists, tiles count as read."""
        self.ops += 1
        return OpCall(op, tuple([self._expr(arg) for arg in args]), tuple(kwargs.items()))

    def _expr(self, arg: Argument) -> Expr:
        if isinstance(arg, TileVar):
            arg.is_read = True
            return Var(arg.name)
        if isinstance(arg, Expr):
            return arg
        if isinstance(arg, int):
            return Const(arg)
        return ListExpr(tuple([Const(item) if isinstance(item, int) else item for item in arg]))

    def effect(self, call: OpCall) -> None:
        self.add(EvalStmt(call))

    def tile(self, call: OpCall, *, type_: TileType | None = None, shares: TileVar | None = None) -> TileVar:
        """The tile that ``call`` gives, of the deduced type unless the op has none and ``type_`` says it.

        ``shares`` is the operand whose buffer the result is.
        """
        deduced = deduce_type(call, self.types)
        if deduced is None:
            assert type_ is not None, f"{call.op}: the result type is open for these operands"
            deduced = type_
        assert isinstance(deduced, TileType)
        return self.add_tile(self.assign("t", deduced, call), deduced, shares)

    def add_tile(self, name: str, type_: TileType, shares: TileVar | None = None) -> TileVar:
        """A tile variable that is bound already, in a buffer of its own unless it ``shares`` one."""
        tile = TileVar(name, type_, self.new_buffer() if shares is None else shares.buffer)
        self.scope.tiles.append(tile)
        return tile

    def new_buffer(self) -> int:
        self._buffers.append(self.scope.loop)
        return len(self._buffers) - 1

    def open_buffer(self) -> int:
        """A buffer whose memory inference decides: of an iter-arg, of a result."""
        buffer = self.new_buffer()
        self.unsettled.add(buffer)
        return buffer

    def add_result(self, name: str, type_: TileType) -> None:
        """A tile that a loop or an if gives."""
        self.scope.tiles.append(TileVar(name, type_, self.open_buffer()))

    def scalar(self, dtype: str, value: Expr, high: int = 0) -> ScalarVar:
        """A scalar variable; an index among them lies in 0 to ``high``."""
        scalar = ScalarVar(self.assign("s", ScalarType(dtype), value), dtype, high)
        self.scope.scalars.append(scalar)
        return scalar

    # ----------------------------------------------------------------------------- operands

    def find(self, want: Callable[[TileVar], bool], make: Callable[[], TileVar]) -> TileVar:
        """A wanted tile: one of those at hand, latest first, or sometimes a new one."""
        return self.choices.select_or_none(self.scope.visible_tiles(want)) or make()

    def find_existing(self, want: Callable[[TileVar], bool]) -> TileVar | None:
        found = self.scope.visible_tiles(want)
        return self.choices.select(found) if found else None

    def shape(self) -> tuple[int, int]:
        """Extents of a new tile."""
        return self.choices.pick(self.extents), self.choices.pick(self.extents)

    def may_rename(self, tile: TileVar) -> bool:
        """Whether a write may make a new name for the buffer of ``tile``.

        In a loop that the buffer outlives, the next trip would read it under the old one.
        """
        return self.config.has("old_names") or self._buffers[tile.buffer] == self.scope.loop

    def rewritten(self, call: OpCall, target: TileVar) -> TileVar:
        """The result of ``call``, which overwrites ``target`` in place: a new name for its buffer."""
        self.wrote(target, renamed=True)
        return self.tile(call, shares=target)

    def wrote(self, tile: TileVar, *, renamed: bool) -> None:
        """Note that the buffer of ``tile`` changed; ``renamed`` when the write binds a new name for it."""
        self.unsettled.add(tile.buffer)
        if renamed and not self.config.has("old_names"):
            self.scope.retire(tile.buffer)
        else:
            self.scope.touch(tile.buffer)

    # --------------------------------------------------------------------------- parameters

    def _param(self, name: str, type_: Type, direction: Direction = Direction.In) -> None:
        self.params.append(Param(name, type_, direction))
        self.types[name] = type_
        self.root.defined.add(name)

    def index_param(self) -> ScalarVar | None:
        """A new index parameter, ``None`` when there are enough."""
        known = sum(isinstance(param.type, ScalarType) and param.type == INDEX for param in self.params)
        return self._scalar_param("n", "INDEX", PARAMETER_HIGH) if known < _MOST_INDEX_PARAMETERS else None

    def value_param(self, dtype: str) -> ScalarVar:
        """The scalar parameter of ``dtype``, which is not an index."""
        for param in self.params:
            if param.type == ScalarType(dtype):
                return ScalarVar(param.name, dtype)
        return self._scalar_param("v", dtype, 0)

    def _scalar_param(self, prefix: str, dtype: str, high: int) -> ScalarVar:
        scalar = ScalarVar(self.name(prefix), dtype, high)
        self._param(scalar.name, ScalarType(dtype))
        self.root.scalars.append(scalar)
        return scalar

    def tensor_param(self, dtype: str, direction: Direction, *, shape: Shape | None = None) -> TensorVar:
        """A new tensor parameter, square unless ``shape`` is given."""
        extent = self.config.tensor_extent
        type_ = TensorType(shape or (extent, extent), dtype)
        return self._tensor_param(type_, direction, is_index=False)

    def index_tensor(self) -> TensorVar:
        """The parameter that holds positions of 0 to :data:`PARAMETER_HIGH`."""
        known = next((tensor for tensor in self.tensors if tensor.is_index), None)
        return known or self._tensor_param(_INDEX_TENSOR, Direction.In, is_index=True)

    def _tensor_param(self, type_: TensorType, direction: Direction, *, is_index: bool) -> TensorVar:
        prefix = {Direction.In: "x", Direction.Out: "y", Direction.InOut: "z"}[direction]
        tensor = TensorVar(len(self.tensors), self.name(prefix), type_, direction, is_index)
        self.tensors.append(tensor)
        self._param(tensor.name, type_, direction)
        self.root.names[tensor.number] = [tensor.name]
        return tensor

    def tensor_name(self, tensor: TensorVar) -> Var:
        """The newest name of ``tensor``, or sometimes an older one."""
        names = self.scope.tensor_names(tensor)
        if len(names) == 1 or not self.config.has("old_names") or not self.choices.chance(8):
            return Var(names[0])
        return Var(self.choices.pick(names))

    def rename_tensor(self, tensor: TensorVar, name: str) -> None:
        """``name``, bound already, is what ``tensor`` is called from here on in this block."""
        self.scope.names.setdefault(tensor.number, []).append(name)

    # -------------------------------------------------------------------------------- blocks

    @property
    def can_nest(self) -> bool:
        return self.scope.depth < self.config.max_depth and self.left > 0

    def open(self) -> Scope:
        """Begin a nested block; statements go there until :meth:`close`."""
        self.scope = Scope(self.scope, self.scope.depth + 1, self.scope.loop)
        return self.scope

    def open_loop(self) -> Scope:
        """Begin the body of a loop."""
        self._loops += 1
        self.open().loop = self._loops
        return self.scope

    def carry(self, tile: TileVar) -> None:
        """Make ``tile`` known as an iter-arg of the loop whose body begins."""
        self._buffers[tile.buffer] = self.scope.loop
        tile.is_carried = True
        self.scope.tiles.append(tile)

    def close(self) -> Scope:
        """End the current block and give it back."""
        closed = self.scope
        assert closed.parent is not None
        self.scope = closed.parent
        return closed

    def fill(self, length: int) -> None:
        """Add about ``length`` statements to the current block, as long as there are any left."""

        def one() -> bool:
            if self.left <= 0 or self.choices.integer(0, length) == 0:
                return False
            self.left -= 1
            self.emit(self)
            return True

        while self.choices.span(one):
            pass

    # ------------------------------------------------------------------------------- results

    def kernel(self, name: str) -> Kernel:
        """The finished function. It returns the tensors it stored into, unless it shall return nothing."""
        stored = [tensor for tensor in self.tensors if tensor.is_stored]
        if stored and self.config.has("void") and self.choices.chance(6):
            stored = []
        if stored:
            self.add(Return(tuple([self.tensor_name(tensor) for tensor in stored])))
        returns = tuple([tensor.type for tensor in stored])
        body = self.root.block
        function = Function(name, tuple(self.params), returns, body, INCORE, "CHIP_DIE", SUB_WORKER)
        return Kernel(function, tuple([tensor.name for tensor in stored]))
