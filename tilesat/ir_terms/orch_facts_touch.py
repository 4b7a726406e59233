"""Which tensors a statement touches: reads, writes, or hands on to somebody who may."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import (
    Assign,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    ListExpr,
    OpaqueExpr,
    OpaqueStmt,
    OpCall,
    Stmt,
    Submit,
    TupleGet,
    Var,
    While,
    Yield,
)
from tilesat.ir.ops import op_info
from tilesat.ir.types import ScalarType, TensorType, TileType, TupleType
from tilesat.ir.walk import children, names_in, own_exprs, reads

_PLAIN = (ScalarType, TensorType, TileType)
METADATA = frozenset({"tensor.dim"})
"""Ops that look at a tensor's type, not at its contents."""


def element_name(name: str, position: int) -> str:
    """How an element of the tuple ``name`` is known where no variable is bound to it."""
    return f"{name}#{position}"


def touched(stmt: Stmt, index: FunctionIndex) -> set[str]:
    """Tensors whose contents ``stmt`` itself reads, writes or hands on to somebody who may."""
    if isinstance(stmt, OpaqueStmt):
        return {tensor for name in stmt.names for tensor in _tensors_of(name, index)}
    found: set[str] = set()
    for expr in _touching(stmt, index):
        found.update(_tensors_in(expr, index))
    return found


def leaked(stmt: Stmt, index: FunctionIndex) -> set[str]:
    """Tensors that go into something that is not followed: an unknown object, a tuple that is carried or yielded."""
    names: list[str] = []
    if isinstance(stmt, OpaqueStmt) and stmt.binds:
        names += stmt.names
    elif isinstance(stmt, Assign):
        names += reads(stmt) if _hides(stmt) else ()
    elif isinstance(stmt, (For, While)):
        names += [name for c in stmt.carries if isinstance(c.type, TupleType) for name in names_in(c.init)]
    elif isinstance(stmt, Yield):
        names += [v.name for v in stmt.values if isinstance(v, Var) and isinstance(index.types.get(v.name), TupleType)]
    return {tensor for name in names for tensor in _tensors_of(name, index)}


def _hides(stmt: Assign) -> bool:
    """Whether what ``stmt`` binds may hold a tensor without being one: a pointer, an array, an unknown tuple."""
    if isinstance(stmt.type, TupleType):
        if isinstance(stmt.value, (OpCall, OpaqueExpr)):
            return True
        return any(not isinstance(element, _PLAIN) for element in stmt.type.elements)
    return not isinstance(stmt.type, _PLAIN)


def live_until(index: FunctionIndex, uses: Mapping[str, Sequence[int]]) -> Iterator[tuple[str, int]]:
    """For every tensor, and element of a tuple, the last site that may still use it.

    A use in a loop counts until the loop ends, unless the tensor is bound anew in every trip.
    """
    for name, sites in uses.items():
        keys = list(_tensors_of(name, index))
        definition = index.definitions.get(name)
        if not keys or definition is None:
            continue
        last = max(_end_of_use(index, site, definition.region) for site in sites)
        for key in keys:
            yield key, last


def _end_of_use(index: FunctionIndex, site: int, home: int) -> int:
    last = site
    if isinstance(index.sites[site], While):
        # Its condition is evaluated again in every trip.
        last = index.regions[index.arms[site, 0]].end
    region = index.region_of[site]
    while region not in (home, -1):
        if index.regions[region].kind == "loop":
            last = max(last, index.regions[region].end)
        region = index.regions[region].parent
    return last


def _tensors_in(expr: Expr, index: FunctionIndex) -> Iterator[str]:
    """Tensor variables and elements of tuples that occur in ``expr``."""
    if isinstance(expr, TupleGet) and isinstance(expr.value, Var):
        yield element_name(expr.value.name, expr.index)
        return
    if isinstance(expr, Var):
        yield from _tensors_of(expr.name, index)
    elif isinstance(expr, OpaqueExpr):
        for name in expr.names:
            yield from _tensors_of(name, index)
    for child in children(expr):
        yield from _tensors_in(child, index)


def _tensors_of(name: str, index: FunctionIndex) -> Iterator[str]:
    type_ = index.types.get(name)
    if isinstance(type_, TensorType):
        yield name
    elif isinstance(type_, TupleType):
        for position, element in enumerate(type_.elements):
            if isinstance(element, TensorType):
                yield element_name(name, position)


def _touching(stmt: Stmt, index: FunctionIndex) -> Iterator[Expr]:
    """The expressions of ``stmt`` that touch contents: not aliases, views, projections, inits and yields of tensors.

    What carries or branches pass on as a tuple is not followed, so it counts as touched there.
    """
    if isinstance(stmt, (For, While)):
        yield from (stmt.start, stmt.stop, stmt.step) if isinstance(stmt, For) else (stmt.condition,)
        yield from (carry.init for carry in stmt.carries if isinstance(carry.type, TupleType))
        return
    if isinstance(stmt, Yield):
        for value in stmt.values:
            if not isinstance(value, Var) or isinstance(index.types.get(value.name), TupleType):
                yield value
        return
    for expr in own_exprs(stmt):
        if isinstance(expr, OpCall):
            info = op_info(expr.op)
            if expr.op in METADATA:
                continue
            if info is not None and info.is_view:
                yield from expr.args[1:]
                continue
        if isinstance(stmt, Assign) and isinstance(expr, (Var, TupleGet, ListExpr)):
            continue
        yield expr


def calls_in(stmt: Stmt) -> list[FuncCall | Submit]:
    """The calls and submits that ``stmt`` itself makes, nested ones included."""
    if isinstance(stmt, (Assign, EvalStmt)) and isinstance(stmt.value, OpCall):
        return []
    found: list[FuncCall | Submit] = []
    stack = list(own_exprs(stmt))
    while stack:
        expr = stack.pop()
        if isinstance(expr, (FuncCall, Submit)):
            found.append(expr)
        stack.extend(children(expr))
    return found
