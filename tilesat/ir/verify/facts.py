"""What the checks ask about a function, gathered in one walk over its statements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from tilesat.ir.nodes import (
    Assign,
    BinOp,
    Block,
    Call,
    Comment,
    Const,
    EnumConst,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    Function,
    If,
    ListExpr,
    NoneConst,
    OpaqueExpr,
    OpCall,
    Program,
    Return,
    Scope,
    Stmt,
    StrConst,
    Submit,
    Var,
    While,
    Yield,
)
from tilesat.ir.ops import OpInfo, op_table
from tilesat.ir.types import TileType, Type
from tilesat.ir.walk import blocks, children, own_exprs, variable_types

Loop: TypeAlias = "For | While"
OpSite: TypeAlias = "tuple[Assign | EvalStmt, OpCall, OpInfo | None]"


@dataclass(slots=True)
class Facts:
    """One function of ``program``, its statements sorted by kind, each list in program order.

    ``op_calls`` and ``launches`` hold the calls that are a statement's whole value, ``nested`` those
    that stand inside another expression.
    """

    program: Program
    function: Function
    functions: Mapping[str, Function]
    types: dict[str, Type]
    assigns: list[Assign] = field(default_factory=list)
    op_calls: list[OpSite] = field(default_factory=list)
    launches: list[tuple[Assign | EvalStmt, FuncCall | Submit]] = field(default_factory=list)
    nested: list[tuple[Stmt, Call]] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    ifs: list[If] = field(default_factory=list)
    scopes: list[Scope] = field(default_factory=list)
    returns: list[Return] = field(default_factory=list)

    def tile(self, expr: Expr) -> TileType | None:
        """The type of ``expr`` when it is a variable that holds a tile."""
        if type(expr) is not Var:
            return None
        type_ = self.types.get(expr.name)
        return type_ if isinstance(type_, TileType) else None


def gather(program: Program) -> list[Facts]:
    """The facts about each function of ``program``."""
    functions = {function.name: function for function in program.functions}
    return [_gather(Facts(program, f, functions, variable_types(f))) for f in program.functions]


def _gather(facts: Facts) -> Facts:
    table = op_table()
    stack: list[Stmt] = list(reversed(facts.function.body))
    while stack:
        stmt = stack.pop()
        kind = type(stmt)
        if kind is Assign or kind is EvalStmt:
            _gather_value(facts, stmt, table.get)  # type: ignore[arg-type]
            continue
        for expr in own_exprs(stmt):
            if type(expr) not in _LEAVES:
                _gather_nested(facts, stmt, expr)
        _gather_structure(facts, stmt)
        for inner in reversed(blocks(stmt)):
            stack.extend(reversed(inner))
    return facts


_LEAVES = frozenset({Var, Const, EnumConst, StrConst, NoneConst, OpaqueExpr})
_CALLS = frozenset({OpCall, FuncCall, Submit})


def _gather_value(facts: Facts, stmt: Assign | EvalStmt, lookup: Callable[[str], OpInfo | None]) -> None:
    value = stmt.value
    if type(stmt) is Assign:
        facts.assigns.append(stmt)
    if isinstance(value, OpCall):
        facts.op_calls.append((stmt, value, lookup(value.op)))
    elif isinstance(value, (FuncCall, Submit)):
        facts.launches.append((stmt, value))
    for inner in children(value):
        if type(inner) not in _LEAVES:
            _gather_nested(facts, stmt, inner)


def _gather_nested(facts: Facts, stmt: Stmt, expr: Expr) -> None:
    stack = [expr]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind in _CALLS:
            facts.nested.append((stmt, node))  # type: ignore[arg-type]
        if kind is ListExpr:
            inner: tuple[Expr, ...] = node.items  # type: ignore[attr-defined]
        elif kind is BinOp:
            inner = (node.lhs, node.rhs)  # type: ignore[attr-defined]
        else:
            inner = children(node)
        stack.extend(child for child in reversed(inner) if type(child) not in _LEAVES)


def _gather_structure(facts: Facts, stmt: Stmt) -> None:
    if isinstance(stmt, (For, While)):
        facts.loops.append(stmt)
    elif isinstance(stmt, If):
        facts.ifs.append(stmt)
    elif isinstance(stmt, Scope):
        facts.scopes.append(stmt)
    elif isinstance(stmt, Return):
        facts.returns.append(stmt)


def last_statement(block: Block) -> Stmt | None:
    """The last statement of ``block`` that is no comment."""
    return next((stmt for stmt in reversed(block) if not isinstance(stmt, Comment)), None)


def yielded(block: Block | None) -> tuple[Expr, ...]:
    """The values that ``block`` ends by yielding; none when it does not end with a yield."""
    last = None if block is None else last_statement(block)
    return last.values if isinstance(last, Yield) else ()
