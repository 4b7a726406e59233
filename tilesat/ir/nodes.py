"""The program as immutable data: expressions, statements, functions.

Names identify variables: inside a function every bound name is unique, so an expression refers to a
variable by name and the statement that binds it carries its type. Blocks are tuples of statements.
Iter-args of loops are bound by :class:`Carry`, results of loops and ifs by :class:`Result`; the
``yield`` that ends a body gives their values, position by position.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from tilesat.ir.types import Direction, Type

# ------------------------------------------------------------------------------ expressions


@dataclass(frozen=True, slots=True)
class Expr:
    """Base of all expressions."""


@dataclass(frozen=True, slots=True)
class Var(Expr):
    """A variable, parameter, or symbolic dimension, by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Const(Expr):
    """A number or truth value. ``dtype`` is ``INDEX`` for bare integers, ``FP32`` for bare floats."""

    value: int | float | bool
    dtype: str = "INDEX"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const):
            return NotImplemented
        return self.dtype == other.dtype and (self.value, type(self.value)) == (
            other.value,
            type(other.value),
        )

    def __hash__(self) -> int:
        return hash((self.value, self.dtype))


@dataclass(frozen=True, slots=True)
class StrConst(Expr):
    """A string keyword value; ``quote`` is how the printed form quotes it."""

    value: str
    quote: str = field(default="'", compare=False)


@dataclass(frozen=True, slots=True)
class NoneConst(Expr):
    pass


@dataclass(frozen=True, slots=True)
class EnumConst(Expr):
    """``pl.<path>``: a member of an enumeration (``Mem.Left``) or a dtype (``FP32``)."""

    path: str


@dataclass(frozen=True, slots=True)
class ListExpr(Expr):
    """A bracketed list: shapes, offsets, dependencies. Tuples print as lists."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class DictExpr(Expr):
    items: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, slots=True)
class BinOp(Expr):
    """A binary operator in Python's spelling, comparisons and ``and``/``or`` included."""

    op: str
    lhs: Expr
    rhs: Expr


@dataclass(frozen=True, slots=True)
class UnaryOp(Expr):
    """``-``, ``~`` or ``not``."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class ScalarFn(Expr):
    """``pl.min``, ``pl.max`` or ``pl.abs`` on scalars."""

    name: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Cast(Expr):
    """``pl.cast(x, pl.DT)`` on a scalar."""

    operand: Expr
    dtype: str


@dataclass(frozen=True, slots=True)
class TupleGet(Expr):
    """``t[0]``."""

    value: Expr
    index: int


@dataclass(frozen=True, slots=True)
class OpaqueExpr(Expr):
    """An expression that is not modelled, as its text; ``names`` are the identifiers in it."""

    text: str
    names: tuple[str, ...] = ()


NamedExprs: TypeAlias = "tuple[tuple[str, Expr], ...]"


@dataclass(frozen=True, slots=True)
class OpCall(Expr):
    """A call of an op, registered or not: ``pl.tile.load(...)`` has op ``tile.load``."""

    op: str
    args: tuple[Expr, ...]
    kwargs: NamedExprs = ()
    attrs: NamedExprs = ()

    def kwarg(self, name: str) -> Expr | None:
        """The value of keyword ``name``, or ``None``."""
        return next((value for key, value in self.kwargs if key == name), None)


@dataclass(frozen=True, slots=True)
class FuncCall(Expr):
    """A call of a function of the program: ``self.f(...)``."""

    callee: str
    args: tuple[Expr, ...]
    kwargs: NamedExprs = ()
    attrs: NamedExprs = ()


@dataclass(frozen=True, slots=True)
class Submit(Expr):
    """``pl.submit(self.f, ...)`` or, with ``spmd``, ``pl.spmd_submit``: an asynchronous launch."""

    callee: str
    args: tuple[Expr, ...]
    kwargs: NamedExprs = ()
    attrs: NamedExprs = ()
    spmd: bool = False


Call: TypeAlias = "OpCall | FuncCall | Submit"

# ------------------------------------------------------------------------------- statements


class _Memo:
    """Room for what is remembered of a statement (:mod:`tilesat.ir.remembered`); no part of its value."""

    __slots__ = ("_beside", "_head", "_inner", "_is_barrier", "_reads")


@dataclass(frozen=True, slots=True)
class Stmt(_Memo):
    """Base of all statements."""


Block: TypeAlias = "tuple[Stmt, ...]"


@dataclass(frozen=True, slots=True)
class Assign(Stmt):
    """``name: type = value``."""

    name: str
    type: Type
    value: Expr


@dataclass(frozen=True, slots=True)
class EvalStmt(Stmt):
    """A bare expression, evaluated for its effect."""

    value: Expr


@dataclass(frozen=True, slots=True)
class Carry:
    """An iter-arg of a loop: its name, type and initial value."""

    name: str
    type: Type
    init: Expr


@dataclass(frozen=True, slots=True)
class Result:
    """A variable bound by a loop or an if."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class For(Stmt):
    """A counted loop. ``kind`` is ``range``, ``parallel``, ``pipeline``, ``unroll`` or ``split_aiv``.

    ``kwargs`` are the keywords other than ``init_values`` and ``attrs``, in order.
    """

    kind: str
    index: str
    start: Expr
    stop: Expr
    step: Expr
    carries: tuple[Carry, ...]
    body: Block
    results: tuple[Result, ...]
    kwargs: NamedExprs = ()
    attrs: NamedExprs = ()


@dataclass(frozen=True, slots=True)
class While(Stmt):
    """``for (a,) in pl.while_(init_values=(x,)): pl.cond(e) ...``."""

    carries: tuple[Carry, ...]
    condition: Expr
    body: Block
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class If(Stmt):
    """A branch; ``orelse`` is ``None`` when there is no else."""

    condition: Expr
    then: Block
    orelse: Block | None
    results: tuple[Result, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope(Stmt):
    """``with pl.scope(...):``, a runtime scope of an orchestration function."""

    kwargs: NamedExprs
    body: Block


@dataclass(frozen=True, slots=True)
class Yield(Stmt):
    """The last statement of a loop body or branch with results."""

    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Return(Stmt):
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Comment(Stmt):
    """A comment line, without the ``#``; it does nothing."""

    text: str


@dataclass(frozen=True, slots=True)
class OpaqueStmt(Stmt):
    """A statement that is not modelled: its lines, the variables it reads and those it binds. A barrier.

    What it binds has no type that anything could be decided from.
    """

    lines: tuple[str, ...]
    names: tuple[str, ...] = ()
    binds: tuple[str, ...] = ()


# -------------------------------------------------------------------- functions and programs


@dataclass(frozen=True, slots=True)
class Param:
    name: str
    type: Type
    direction: Direction = Direction.In


INCORE = "InCore"
ORCHESTRATION = "Orchestration"
OPAQUE = "Opaque"


@dataclass(frozen=True, slots=True)
class Function:
    """One function. ``kind`` is the member of ``pl.FunctionType`` (``Opaque`` when none is written).

    ``options`` are further keywords of the decorator (``auto_scope``, ``external_source``), ``attrs``
    the entries of ``pl.func_attr``. ``returns`` holds the declared result types, empty for void.
    """

    name: str
    params: tuple[Param, ...]
    returns: tuple[Type, ...]
    body: Block
    kind: str = INCORE
    level: str | None = None
    role: str | None = None
    options: NamedExprs = ()
    attrs: NamedExprs = ()

    @property
    def is_incore(self) -> bool:
        return self.kind == INCORE


@dataclass(frozen=True, slots=True)
class Program:
    """Functions in printed order, and the symbolic dimensions they share.

    ``preamble`` holds module-level lines that are not modelled, verbatim. ``final_newline`` is trivia:
    whether the text ended with a line break.
    """

    name: str
    functions: tuple[Function, ...]
    dynamic_dims: tuple[str, ...] = ()
    preamble: tuple[str, ...] = ()
    final_newline: bool = field(default=True, compare=False)

    def function(self, name: str) -> Function:
        """The function called ``name``; raises ``KeyError`` when there is none."""
        for function in self.functions:
            if function.name == name:
                return function
        raise KeyError(name)

    def __str__(self) -> str:
        from tilesat.ir.printer import print_program

        return print_program(self)
