"""Programs to rows of the syntax relations, hash-consed on the way."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from tilesat.ir.nodes import (
    Assign,
    BinOp,
    Block,
    Carry,
    Cast,
    Comment,
    Const,
    DictExpr,
    EnumConst,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    Function,
    If,
    ListExpr,
    NamedExprs,
    NoneConst,
    OpaqueExpr,
    OpaqueStmt,
    OpCall,
    Param,
    Program,
    Result,
    Return,
    ScalarFn,
    Scope,
    Stmt,
    StrConst,
    Submit,
    TupleGet,
    UnaryOp,
    Var,
    While,
    Yield,
)
from tilesat.ir.printer import Printer
from tilesat.ir.types import Type

Rows = dict[str, list[tuple[Any, ...]]]
SEPARATOR = "\x1f"
"""Joins lists of names or lines inside one string argument."""


class Encoder:
    """Collects the rows of one program or function.

    Equal nodes get one number, so equal terms are loaded once. Statements are numbered by ``site``
    in program order, structures before their contents, as :class:`tilesat.ir.index.FunctionIndex` does.
    """

    def __init__(self) -> None:
        self.rows: Rows = defaultdict(list)
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._vars: dict[str, int] = {}
        self._printer = Printer()
        self._site = 0

    def _node(self, constructor: str, *args: Any) -> int:
        key = (constructor, *args)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
            self.rows[constructor].append((number, *args))
        return number

    # --------------------------------------------------------------------- expressions

    def expr(self, expr: Expr) -> int:
        """The number of ``expr``."""
        return _EXPRS[type(expr)](self, expr)

    def _var(self, expr: Var) -> int:
        number = self._vars.get(expr.name)
        if number is None:
            number = self._vars[expr.name] = self._node("Var", expr.name)
        return number

    def _const(self, expr: Const) -> int:
        if isinstance(expr.value, bool):
            return self._node("BoolC", int(expr.value), expr.dtype)
        if isinstance(expr.value, int):
            fits = -(1 << 63) <= expr.value < (1 << 63)
            return self._node("IntC" if fits else "BigC", expr.value if fits else str(expr.value), expr.dtype)
        return self._node("FloatC", repr(expr.value), expr.dtype)

    def exprs(self, items: Iterable[Expr]) -> int:
        number = self._node("Nil")
        for item in reversed(tuple(items)):
            number = self._node("Cons", self.expr(item), number)
        return number

    def named(self, items: NamedExprs) -> int:
        number = self._node("NoName")
        for name, value in reversed(items):
            number = self._node("Name", name, self.expr(value), number)
        return number

    def _op(self, expr: OpCall) -> int:
        return self._node("Op", expr.op, self.exprs(expr.args), self.named(expr.kwargs), self.named(expr.attrs))

    def _invoke(self, expr: FuncCall) -> int:
        parts = (self.exprs(expr.args), self.named(expr.kwargs), self.named(expr.attrs))
        return self._node("Invoke", expr.callee, *parts)

    def _submit(self, expr: Submit) -> int:
        parts = (self.exprs(expr.args), self.named(expr.kwargs), self.named(expr.attrs))
        return self._node("SubmitE", expr.callee, *parts, int(expr.spmd))

    # ---------------------------------------------------------------------- statements

    def type(self, type_: Type) -> str:
        return self._printer.type(type_)

    def block(self, block: Block) -> int:
        numbers = [self.stmt(stmt) for stmt in block]
        number = self._node("End")
        for stmt in reversed(numbers):
            number = self._node("Seq", stmt, number)
        return number

    def stmt(self, stmt: Stmt) -> int:
        site = self._site
        self._site += 1
        return _STMTS[type(stmt)](self, site, stmt)

    def _carries(self, carries: tuple[Carry, ...]) -> int:
        number = self._node("NoCarry")
        for carry in reversed(carries):
            number = self._node("Carry", carry.name, self.type(carry.type), self.expr(carry.init), number)
        return number

    def _results(self, results: tuple[Result, ...]) -> int:
        number = self._node("NoResult")
        for result in reversed(results):
            number = self._node("Result", result.name, self.type(result.type), number)
        return number

    def _for(self, site: int, stmt: For) -> int:
        return self._node(
            "ForS",
            site,
            stmt.kind,
            stmt.index,
            self.exprs((stmt.start, stmt.stop, stmt.step)),
            self._carries(stmt.carries),
            self.block(stmt.body),
            self._results(stmt.results),
            self.named(stmt.kwargs),
            self.named(stmt.attrs),
        )

    def _while(self, site: int, stmt: While) -> int:
        carries, condition = self._carries(stmt.carries), self.expr(stmt.condition)
        return self._node("WhileS", site, carries, condition, self.block(stmt.body), self._results(stmt.results))

    def _if(self, site: int, stmt: If) -> int:
        condition, then = self.expr(stmt.condition), self.block(stmt.then)
        orelse = self.block(stmt.orelse or ())
        has_else = int(stmt.orelse is not None)
        return self._node("IfS", site, condition, then, orelse, has_else, self._results(stmt.results))

    def calls(self, sites: Sequence[Stmt], ops: Collection[str]) -> None:
        """Of the statements at ``sites`` those that assign a call of one of ``ops``."""
        for site, stmt in enumerate(sites):
            if isinstance(stmt, Assign) and isinstance(stmt.value, OpCall) and stmt.value.op in ops:
                _STMTS[Assign](self, site, stmt)

    # ----------------------------------------------------------- functions and programs

    def function(self, function: Function) -> int:
        """The number of ``function``; sites start again at 0."""
        self._site = 0
        body = self.block(function.body)
        return self._node(
            "FuncF",
            function.name,
            function.kind,
            optional(function.level),
            optional(function.role),
            self._params(function.params),
            self._types(function.returns),
            body,
            self.named(function.options),
            self.named(function.attrs),
        )

    def _params(self, params: tuple[Param, ...]) -> int:
        number = self._node("NoParam")
        for param in reversed(params):
            number = self._node("ParamP", param.name, param.direction.value, self.type(param.type), number)
        return number

    def _types(self, types: tuple[Type, ...]) -> int:
        number = self._node("NoType")
        for type_ in reversed(types):
            number = self._node("TypeT", self.type(type_), number)
        return number

    def program(self, program: Program) -> int:
        """The number of ``program``."""
        functions = self._node("NoFunc")
        for function in reversed(program.functions):
            functions = self._node("FuncsF", self.function(function), functions)
        return self._node(
            "ProgramP",
            program.name,
            SEPARATOR.join(program.dynamic_dims),
            SEPARATOR.join(program.preamble),
            int(program.final_newline),
            functions,
        )


def optional(text: str | None) -> str:
    """An optional string as one string: absent is empty."""
    return "" if text is None else text


_EXPRS: dict[type, Callable[[Encoder, Any], int]] = {
    Var: Encoder._var,
    Const: Encoder._const,
    StrConst: lambda self, e: self._node("StrC", e.value, e.quote),
    NoneConst: lambda self, e: self._node("NoneC"),
    EnumConst: lambda self, e: self._node("EnumC", e.path),
    ListExpr: lambda self, e: self._node("ListE", self.exprs(e.items)),
    DictExpr: lambda self, e: self._node("DictE", self.named(e.items)),
    BinOp: lambda self, e: self._node("Bin", e.op, self.expr(e.lhs), self.expr(e.rhs)),
    UnaryOp: lambda self, e: self._node("Un", e.op, self.expr(e.operand)),
    ScalarFn: lambda self, e: self._node("Fn", e.name, self.exprs(e.args)),
    Cast: lambda self, e: self._node("CastE", self.expr(e.operand), e.dtype),
    TupleGet: lambda self, e: self._node("Get", self.expr(e.value), e.index),
    OpaqueExpr: lambda self, e: self._node("OpaqueE", e.text, SEPARATOR.join(e.names)),
    OpCall: Encoder._op,
    FuncCall: Encoder._invoke,
    Submit: Encoder._submit,
}
_STMTS: dict[type, Callable[[Encoder, int, Any], int]] = {
    Assign: lambda self, site, s: self._node("Assign", site, s.name, self.type(s.type), self.expr(s.value)),
    EvalStmt: lambda self, site, s: self._node("Eval", site, self.expr(s.value)),
    For: Encoder._for,
    While: Encoder._while,
    If: Encoder._if,
    Scope: lambda self, site, s: self._node("ScopeS", site, self.named(s.kwargs), self.block(s.body)),
    Yield: lambda self, site, s: self._node("YieldS", site, self.exprs(s.values)),
    Return: lambda self, site, s: self._node("ReturnS", site, self.exprs(s.values)),
    Comment: lambda self, site, s: self._node("CommentS", site, s.text),
    OpaqueStmt: lambda self, site, s: self._node("OpaqueS", site, *map(SEPARATOR.join, (s.lines, s.names, s.binds))),
}
