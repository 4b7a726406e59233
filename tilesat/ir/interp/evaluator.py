"""Values of expressions."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from tilesat.errors import InterpretError
from tilesat.ir.interp.call import Call
from tilesat.ir.interp.digest import digest
from tilesat.ir.interp.launch import Launcher
from tilesat.ir.interp.registry import evaluate_op
from tilesat.ir.interp.scalars import as_index, binary, coerce, function, truth, unary
from tilesat.ir.interp.state import Frame, Run
from tilesat.ir.interp.uninterpreted import draw
from tilesat.ir.interp.values import Extents, Value
from tilesat.ir.nodes import (
    BinOp,
    Block,
    Cast,
    Const,
    DictExpr,
    EnumConst,
    Expr,
    FuncCall,
    ListExpr,
    NoneConst,
    OpaqueExpr,
    OpCall,
    ScalarFn,
    StrConst,
    Submit,
    TupleGet,
    UnaryOp,
    Var,
)
from tilesat.ir.types import Dim, Shape, Type

# Dtypes whose constants are bare numbers, which take the dtype of what they meet.
_BARE = frozenset({"INDEX", "FP32", "BOOL"})
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


class Returned(tuple[Any, ...]):
    """The values of a ``return``, as what a block ends with."""

    __slots__ = ()


# How a block ended: yielded values, returned values, or ``None`` when it ran off its end.
Outcome = tuple[Value, ...] | Returned | None


class Evaluator(ABC):
    """Evaluates expressions in frames of one run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.launcher = Launcher(run, self)
        self._handlers: dict[type[Expr], Callable[[Any, Frame], Value]] = {
            Var: self._var,
            Const: self._const,
            StrConst: self._leaf,
            NoneConst: self._leaf,
            EnumConst: self._leaf,
            ListExpr: self._list,
            DictExpr: self._dict,
            BinOp: self._binop,
            UnaryOp: self._unary,
            ScalarFn: self._scalar_fn,
            Cast: self._cast,
            TupleGet: self._get,
            OpaqueExpr: self._opaque_expr,
            OpCall: self._op,
            FuncCall: self.launcher.call,
            Submit: self.launcher.submit,
        }

    @abstractmethod
    def block(self, block: Block, frame: Frame) -> Outcome:
        """Run the statements of ``block``; what its yield or return gives."""

    def value(self, expr: Expr, frame: Frame) -> Value:
        return self._handlers[type(expr)](expr, frame)

    def annotated(self, expr: Expr, frame: Frame, type_: Type) -> Value:
        """The value of ``expr``, which defines a variable of ``type_``."""
        if isinstance(expr, OpCall):
            return self._op(expr, frame, type_)
        if isinstance(expr, OpaqueExpr):
            return self._opaque_expr(expr, frame, type_)
        return self.value(expr, frame)

    def values(self, exprs: tuple[Expr, ...], frame: Frame) -> tuple[Value, ...]:
        return tuple([self.value(expr, frame) for expr in exprs])

    def extent(self, dim: Dim, frame: Frame) -> int:
        """A shape entry as a number."""
        return dim if isinstance(dim, int) else as_index(self.value(dim, frame))

    def extents(self, shape: Shape, frame: Frame) -> Extents:
        return tuple([dim if isinstance(dim, int) else self.extent(dim, frame) for dim in shape])

    # ---------------------------------------------------------------------------- leaves

    def _var(self, node: Var, frame: Frame) -> Value:
        if node.name not in frame.variables:
            raise InterpretError(f"'{node.name}' has no value here", hint="define it first; give dims for dimensions")
        return frame.variables[node.name]

    def _const(self, node: Const, frame: Frame) -> Value:
        return node.value if node.dtype in _BARE else coerce(node.value, node.dtype)

    def _leaf(self, node: StrConst | NoneConst | EnumConst, frame: Frame) -> Value:
        if isinstance(node, StrConst):
            return node.value
        return node if isinstance(node, EnumConst) else None

    def _list(self, node: ListExpr, frame: Frame) -> Value:
        return self.values(node.items, frame)

    def _dict(self, node: DictExpr, frame: Frame) -> Value:
        return tuple([(key, self.value(value, frame)) for key, value in node.items])

    # --------------------------------------------------------------------------- scalars

    def _binop(self, node: BinOp, frame: Frame) -> Value:
        if node.op in ("and", "or"):
            first = truth(self.value(node.lhs, frame))
            decided = first == (node.op == "or")
            return first if decided else truth(self.value(node.rhs, frame))
        return binary(node.op, self.value(node.lhs, frame), self.value(node.rhs, frame))

    def _unary(self, node: UnaryOp, frame: Frame) -> Value:
        return unary(node.op, self.value(node.operand, frame))

    def _scalar_fn(self, node: ScalarFn, frame: Frame) -> Value:
        return function(node.name, self.values(node.args, frame))

    def _cast(self, node: Cast, frame: Frame) -> Value:
        return coerce(self.value(node.operand, frame), node.dtype)

    # ------------------------------------------------------------------- tuples and calls

    def _get(self, node: TupleGet, frame: Frame) -> Value:
        value = self.value(node.value, frame)
        if not isinstance(value, tuple) or not -len(value) <= node.index < len(value):
            size = f"tuple of {len(value)}" if isinstance(value, tuple) else type(value).__name__
            raise InterpretError(f"element {node.index} of a {size} is read")
        element: Value = value[node.index]
        return element

    def _op(self, node: OpCall, frame: Frame, type_: Type | None = None) -> Value:
        call = Call(
            node,
            self.values(node.args, frame),
            {name: self.value(value, frame) for name, value in node.kwargs},
            type_,
            self.run,
            frame,
            lambda dim: self.extent(dim, frame),
        )
        return evaluate_op(call)

    # ---------------------------------------------------------------- what is not modelled

    def _opaque_expr(self, node: OpaqueExpr, frame: Frame, type_: Type | None = None) -> Value:
        if type_ is None:
            raise InterpretError(f"'{node.text}' is not modelled and has no type", hint="assign it to a variable")
        key = self.opaque_digest(node.text, node.names, frame)
        return draw(type_, key, lambda shape: self.extents(shape, frame))

    def opaque_digest(self, text: str, names: tuple[str, ...], frame: Frame) -> bytes:
        """Digest of ``text`` and of the values of the variables in it, whatever their names."""
        known = [name for name in names if name in frame.variables]
        places = {name: f"${position}" for position, name in enumerate(known)}
        shape = _IDENTIFIER.sub(lambda match: places.get(match.group(), match.group()), text)
        return digest(shape, tuple(frame.variables[name] for name in known))
