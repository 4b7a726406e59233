"""Walking and rebuilding programs: statements, expressions, names read and bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import singledispatch
from operator import is_
from typing import Any

from tilesat.ir.nodes import (
    Assign,
    BinOp,
    Block,
    Carry,
    Cast,
    DictExpr,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    Function,
    If,
    ListExpr,
    NamedExprs,
    OpaqueExpr,
    OpaqueStmt,
    OpCall,
    Result,
    Return,
    ScalarFn,
    Scope,
    Stmt,
    Submit,
    TupleGet,
    UnaryOp,
    Var,
    While,
    Yield,
)
from tilesat.ir.remembered import remembered
from tilesat.ir.types import ArrayType, Shape, TensorType, TileType, TileView, TupleType, Type

Rename = Mapping[str, Expr]


STRUCTURES = frozenset({For, While, If, Scope})
"""The statements that have blocks."""


def blocks(stmt: Stmt) -> tuple[Block, ...]:
    """The blocks directly inside ``stmt``, in order."""
    if type(stmt) not in STRUCTURES:
        return ()
    if isinstance(stmt, (For, While, Scope)):
        return (stmt.body,)
    if isinstance(stmt, If):
        return (stmt.then,) if stmt.orelse is None else (stmt.then, stmt.orelse)
    return ()


def walk(block: Block) -> Iterator[Stmt]:
    """Every statement of ``block`` in program order, a structure before its contents."""
    stack: list[Stmt] = list(reversed(block))
    while stack:
        stmt = stack.pop()
        yield stmt
        if type(stmt) in STRUCTURES:
            for inner in reversed(blocks(stmt)):
                stack.extend(reversed(inner))


def statements_in(*given: Block) -> int:
    """How many statements there are in blocks, nested ones included."""
    return sum(1 for block in given for _ in walk(block))


def own_exprs(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions ``stmt`` evaluates itself, its blocks not included."""
    if isinstance(stmt, (Assign, EvalStmt)):
        return (stmt.value,)
    if isinstance(stmt, For):
        extra = tuple(value for _, value in (*stmt.kwargs, *stmt.attrs))
        return (stmt.start, stmt.stop, stmt.step, *(carry.init for carry in stmt.carries), *extra)
    if isinstance(stmt, While):
        return (*(carry.init for carry in stmt.carries), stmt.condition)
    if isinstance(stmt, If):
        return (stmt.condition,)
    if isinstance(stmt, (Yield, Return)):
        return stmt.values
    if isinstance(stmt, Scope):
        return tuple(value for _, value in stmt.kwargs)
    return ()


def own_types(stmt: Stmt) -> tuple[Type, ...]:
    """The types of what ``stmt`` binds."""
    if isinstance(stmt, Assign):
        return (stmt.type,)
    if isinstance(stmt, (For, While)):
        return (*(carry.type for carry in stmt.carries), *(result.type for result in stmt.results))
    if isinstance(stmt, If):
        return tuple(result.type for result in stmt.results)
    return ()


def bindings(stmt: Stmt) -> Iterator[tuple[str, Type | None]]:
    """Names ``stmt`` binds with their types: iter-args and loop index inside, results after it."""
    if isinstance(stmt, Assign):
        yield stmt.name, stmt.type
        return
    if isinstance(stmt, OpaqueStmt):
        for name in stmt.binds:
            yield name, None
    if isinstance(stmt, For):
        yield stmt.index, None
    if isinstance(stmt, (For, While)):
        for carry in stmt.carries:
            yield carry.name, carry.type
    if isinstance(stmt, (For, While, If)):
        for result in stmt.results:
            yield result.name, result.type


def variable_types(function: Function) -> dict[str, Type]:
    """The type of every parameter and bound variable of ``function``."""
    types: dict[str, Type] = {param.name: param.type for param in function.params}
    for stmt in walk(function.body):
        if isinstance(stmt, Assign):
            types[stmt.name] = stmt.type
        elif type(stmt) in STRUCTURES:
            types.update((name, type_) for name, type_ in bindings(stmt) if type_ is not None)
    return types


def _call_children(call: OpCall | FuncCall | Submit) -> tuple[Expr, ...]:
    if not call.kwargs and not call.attrs:
        return call.args
    return (*call.args, *[value for _, value in call.kwargs], *[value for _, value in call.attrs])


_CHILDREN: Mapping[type, Callable[[Any], tuple[Expr, ...]]] = {
    OpCall: _call_children,
    FuncCall: _call_children,
    Submit: _call_children,
    BinOp: lambda expr: (expr.lhs, expr.rhs),
    UnaryOp: lambda expr: (expr.operand,),
    Cast: lambda expr: (expr.operand,),
    ListExpr: lambda expr: expr.items,
    DictExpr: lambda expr: tuple([value for _, value in expr.items]),
    ScalarFn: lambda expr: expr.args,
    TupleGet: lambda expr: (expr.value,),
}


def children(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside ``expr``."""
    inner = _CHILDREN.get(type(expr))
    return () if inner is None else inner(expr)


def names_in(expr: Expr) -> Iterator[str]:
    """Names of variables ``expr`` reads, in order, repeated as often as they occur."""
    found: list[str] = []
    _collect_names(expr, found)
    return iter(found)


def _collect_names(expr: Expr, found: list[str]) -> None:
    stack = [expr]
    while stack:
        node = stack.pop()
        kind = type(node)
        if kind is Var:
            found.append(node.name)  # type: ignore[attr-defined]
        elif kind is OpaqueExpr:
            found.extend(node.names)  # type: ignore[attr-defined]
        elif (inner := _CHILDREN.get(kind)) is not None:
            stack.extend(reversed(inner(node)))


def opaque_names(expr: Expr) -> Iterator[str]:
    """Names of variables that the unmodelled texts in ``expr`` speak of; those cannot be replaced."""
    stack = [expr]
    while stack:
        node = stack.pop()
        if isinstance(node, OpaqueExpr):
            yield from node.names
        else:
            stack.extend(children(node))


def has_call(*exprs: Expr) -> bool:
    """Whether something in ``exprs`` is a call or an unmodelled text: what it gives may depend on when it runs."""
    return any(isinstance(e, (OpCall, FuncCall, Submit, OpaqueExpr)) or has_call(*children(e)) for e in exprs)


def names_in_type(type_: Type) -> Iterator[str]:
    """Names of variables ``type_`` depends on."""
    if isinstance(type_, TupleType):
        for element in type_.elements:
            yield from names_in_type(element)
        return
    shapes: list[Shape] = []
    if isinstance(type_, TileType):
        shapes.append(type_.shape)
        if type_.view is not None:
            shapes += [s for s in (type_.view.valid_shape, type_.view.stride) if s is not None]
            if type_.view.start_offset is not None:
                shapes.append((type_.view.start_offset,))
    elif isinstance(type_, TensorType):
        shapes.append(type_.shape)
        if type_.view is not None:
            shapes += [s for s in (type_.view.valid_shape, type_.view.stride) if s is not None]
    elif isinstance(type_, ArrayType):
        shapes.append((type_.extent,))
    for shape in shapes:
        for dim in shape:
            if not isinstance(dim, int):
                yield from names_in(dim)


@remembered("_reads")
def reads(stmt: Stmt) -> tuple[str, ...]:
    """Names ``stmt`` reads in its own expressions (not in its blocks, not in types), as often as they occur."""
    names = list(stmt.names) if isinstance(stmt, OpaqueStmt) else []
    for expr in own_exprs(stmt):
        _collect_names(expr, names)
    return tuple(names)


_CALLS = (OpCall, FuncCall, Submit)


@remembered("_beside")
def names_beside(stmt: Stmt) -> tuple[str, ...]:
    """Names that ``stmt`` reads neither as an operand of its op, nor as an alias, nor into a slot; each once."""
    if isinstance(stmt, OpaqueStmt):
        return tuple(dict.fromkeys(stmt.names))
    value = stmt.value if isinstance(stmt, (Assign, EvalStmt)) else None
    exprs = own_exprs(stmt)
    if isinstance(value, OpCall):
        nested = [arg for arg in value.args if not isinstance(arg, Var)]
        exprs = (*nested, *_call_children(value)[len(value.args) :])
    elif isinstance(stmt, (For, While, Yield)):
        exprs = tuple([expr for expr in exprs if not isinstance(expr, Var)])
    elif isinstance(stmt, Assign) and isinstance(value, (Var, TupleGet)):
        exprs = ()
    names: list[str] = []
    for expr in exprs:
        _collect_names(expr, names)
    return tuple(dict.fromkeys(names))


@remembered("_inner")
def inner_kinds(stmt: Stmt) -> frozenset[type]:
    """The classes of all expressions in ``stmt``, but for the call that an assignment or a bare call makes."""
    stack = list(own_exprs(stmt))
    if isinstance(stmt, (Assign, EvalStmt)) and isinstance(stmt.value, _CALLS):
        stack = list(_call_children(stmt.value))
    kinds: set[type] = set()
    while stack:
        kind = type(node := stack.pop())
        kinds.add(kind)
        if (inner := _CHILDREN.get(kind)) is not None:
            stack.extend(inner(node))
    found = frozenset(kinds)
    return _KINDS.setdefault(found, found)


_KINDS: dict[frozenset[type], frozenset[type]] = {}
_ASKS_AGAIN = frozenset({*_CALLS, OpaqueExpr})


def has_opaque(stmt: Stmt) -> bool:
    """Whether ``stmt`` itself has text in it that is not modelled."""
    return isinstance(stmt, OpaqueStmt) or OpaqueExpr in inner_kinds(stmt)


def asks_again(stmt: Stmt) -> bool:
    """Whether something beside the call that ``stmt`` makes is a call: made elsewhere it might give something else."""
    return not _ASKS_AGAIN.isdisjoint(inner_kinds(stmt))


# --------------------------------------------------------------------------------- rebuilding


def rename_expr(expr: Expr, names: Rename) -> Expr:
    """``expr`` with the variables in ``names`` replaced; ``expr`` itself when none occurs."""
    if not names:
        return expr
    if isinstance(expr, Var):
        return names.get(expr.name, expr)
    return _rename(expr, names) if type(expr) in _CHILDREN else expr


def map_named(items: NamedExprs, function: Callable[[Expr], Expr]) -> NamedExprs:
    """Keyword or attribute items with ``function`` applied to each value; unchanged when nothing changes."""
    values = tuple([value for _, value in items])
    mapped = map_exprs(values, function)
    return items if mapped is values else tuple([(key, value) for (key, _), value in zip(items, mapped, strict=True)])


def map_exprs(exprs: tuple[Expr, ...], function: Callable[[Expr], Expr]) -> tuple[Expr, ...]:
    """``function`` applied to each; the same tuple when nothing changes."""
    mapped = tuple([function(expr) for expr in exprs])
    return exprs if all(map(is_, exprs, mapped)) else mapped


@singledispatch
def _rename(expr: Expr, _names: Rename) -> Expr:
    return expr


@_rename.register
def _(expr: BinOp, names: Rename) -> Expr:
    lhs, rhs = rename_expr(expr.lhs, names), rename_expr(expr.rhs, names)
    return expr if lhs is expr.lhs and rhs is expr.rhs else BinOp(expr.op, lhs, rhs)


@_rename.register(UnaryOp)
@_rename.register(Cast)
def _(expr: UnaryOp | Cast, names: Rename) -> Expr:
    operand = rename_expr(expr.operand, names)
    return expr if operand is expr.operand else replace(expr, operand=operand)


@_rename.register
def _(expr: ListExpr, names: Rename) -> Expr:
    items = map_exprs(expr.items, lambda item: rename_expr(item, names))
    return expr if items is expr.items else ListExpr(items)


@_rename.register
def _(expr: DictExpr, names: Rename) -> Expr:
    items = map_named(expr.items, lambda item: rename_expr(item, names))
    return expr if items is expr.items else DictExpr(items)


@_rename.register
def _(expr: ScalarFn, names: Rename) -> Expr:
    args = map_exprs(expr.args, lambda arg: rename_expr(arg, names))
    return expr if args is expr.args else ScalarFn(expr.name, args)


@_rename.register
def _(expr: TupleGet, names: Rename) -> Expr:
    value = rename_expr(expr.value, names)
    return expr if value is expr.value else TupleGet(value, expr.index)


@_rename.register(OpCall)
@_rename.register(FuncCall)
@_rename.register(Submit)
def _(expr: OpCall | FuncCall | Submit, names: Rename) -> Expr:
    def apply(inner: Expr) -> Expr:
        return rename_expr(inner, names)

    args = map_exprs(expr.args, apply)
    kwargs, attrs = map_named(expr.kwargs, apply), map_named(expr.attrs, apply)
    if args is expr.args and kwargs is expr.kwargs and attrs is expr.attrs:
        return expr
    return replace(expr, args=args, kwargs=kwargs, attrs=attrs)


def rename_shape(shape: Shape, names: Rename) -> Shape:
    return tuple([dim if isinstance(dim, int) else rename_expr(dim, names) for dim in shape])


def rename_type(type_: Type, names: Rename) -> Type:
    """``type_`` with the variables in ``names`` replaced in its extents and views."""
    if not names or not any(name in names for name in names_in_type(type_)):
        return type_
    if isinstance(type_, TupleType):
        return TupleType(tuple(rename_type(element, names) for element in type_.elements))
    if isinstance(type_, ArrayType):
        return replace(type_, extent=rename_shape((type_.extent,), names)[0])
    assert isinstance(type_, (TileType, TensorType))
    view = type_.view
    if view is not None:
        valid = None if view.valid_shape is None else rename_shape(view.valid_shape, names)
        stride = None if view.stride is None else rename_shape(view.stride, names)
        view = replace(view, valid_shape=valid, stride=stride)  # type: ignore[arg-type]
        if isinstance(view, TileView) and view.start_offset is not None:
            view = replace(view, start_offset=rename_shape((view.start_offset,), names)[0])
    return replace(type_, shape=rename_shape(type_.shape, names), view=view)  # type: ignore[arg-type]


def with_blocks(stmt: Stmt, new: tuple[Block, ...]) -> Stmt:
    """``stmt`` with its blocks replaced, in the order :func:`blocks` gives them."""
    if isinstance(stmt, (For, While, Scope)):
        return stmt if new[0] is stmt.body else replace(stmt, body=new[0])
    if isinstance(stmt, If):
        orelse = new[1] if stmt.orelse is not None else None
        if new[0] is stmt.then and orelse is stmt.orelse:
            return stmt
        return replace(stmt, then=new[0], orelse=orelse)
    return stmt


def map_own_exprs(stmt: Stmt, function: Callable[[Expr], Expr]) -> Stmt:
    """``stmt`` with ``function`` applied to each expression it evaluates itself."""
    if isinstance(stmt, (Assign, EvalStmt)):
        value = function(stmt.value)
        return stmt if value is stmt.value else replace(stmt, value=value)
    if isinstance(stmt, (Yield, Return)):
        values = map_exprs(stmt.values, function)
        return stmt if values is stmt.values else replace(stmt, values=values)
    if isinstance(stmt, For):
        return replace(
            stmt,
            start=function(stmt.start),
            stop=function(stmt.stop),
            step=function(stmt.step),
            carries=_map_carries(stmt.carries, function),
            kwargs=map_named(stmt.kwargs, function),
            attrs=map_named(stmt.attrs, function),
        )
    if isinstance(stmt, While):
        return replace(stmt, carries=_map_carries(stmt.carries, function), condition=function(stmt.condition))
    if isinstance(stmt, If):
        return replace(stmt, condition=function(stmt.condition))
    if isinstance(stmt, Scope):
        return replace(stmt, kwargs=map_named(stmt.kwargs, function))
    return stmt


def _map_carries(carries: tuple[Carry, ...], function: Callable[[Expr], Expr]) -> tuple[Carry, ...]:
    return tuple(replace(carry, init=function(carry.init)) for carry in carries)


def map_types(stmt: Stmt, function: Callable[[str, Type], Type]) -> Stmt:
    """``stmt`` with ``function(name, type)`` as the type of everything it binds."""
    if isinstance(stmt, Assign):
        type_ = function(stmt.name, stmt.type)
        return stmt if type_ is stmt.type else replace(stmt, type=type_)
    if isinstance(stmt, (For, While)):
        carries = tuple(replace(c, type=function(c.name, c.type)) for c in stmt.carries)
        return replace(stmt, carries=carries, results=_map_results(stmt.results, function))
    if isinstance(stmt, If):
        return replace(stmt, results=_map_results(stmt.results, function))
    return stmt


def _map_results(results: tuple[Result, ...], function: Callable[[str, Type], Type]) -> tuple[Result, ...]:
    return tuple(replace(result, type=function(result.name, result.type)) for result in results)
