"""Rebuilding a function statement by statement: what every elaboration has in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from tilesat.bridge.names import Names
from tilesat.bridge.retype import follow, operand_type, retyped_call
from tilesat.ir.deduce import deduce_call
from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import (
    Assign,
    Block,
    Carry,
    EnumConst,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    Function,
    If,
    ListExpr,
    NamedExprs,
    OpCall,
    Result,
    Return,
    Scope,
    Stmt,
    Submit,
    Var,
    While,
    Yield,
)
from tilesat.ir.types import MemorySpace, TileType, Type
from tilesat.ir.walk import map_exprs, map_named, names_in, rename_expr, rename_type
from tilesat.rules.moves import INIT_SLOT, YIELD_SLOT

_ROW_MAJOR: NamedExprs = (
    ("blayout", EnumConst("TileLayout.row_major")),
    ("slayout", EnumConst("TileLayout.none_box")),
)


def move_call(source: str, space: MemorySpace, *, row_major: bool) -> OpCall:
    """``tile.move`` of ``source`` to ``space``; ``row_major`` asks for rows without boxes."""
    target = ("target_memory", EnumConst(f"Mem.{space.value}"))
    return OpCall("tile.move", (Var(source),), (target, *(_ROW_MAJOR if row_major else ())))


def with_target(call: OpCall, space: MemorySpace) -> OpCall:
    """``call`` producing its tile in ``space``; a fill becomes an empty create (its contents are not read)."""
    target = EnumConst(f"Mem.{space.value}")
    if call.op == "tile.full":
        dtype = tuple(item for item in call.kwargs if item[0] == "dtype")
        return OpCall("tile.create", call.args[:1], (*dtype, ("target_memory", target)), call.attrs)
    if call.kwarg("target_memory") is None:
        return replace(call, kwargs=(*call.kwargs, ("target_memory", target)))
    kwargs = tuple((k, target if k == "target_memory" else v) for k, v in call.kwargs)
    return replace(call, kwargs=kwargs)


def final_values(block: Block) -> tuple[Expr, ...]:
    """What the yield that ends ``block`` gives, nothing without one."""
    last = next((stmt for stmt in reversed(block) if isinstance(stmt, Yield)), None)
    return () if last is None else last.values


class Rebuilder:
    """Walks a function in program order and rebuilds it; subclasses say what changes.

    ``types`` holds the new type of everything bound so far. Statements keep their order.
    """

    def __init__(self, index: FunctionIndex) -> None:
        self.index = index
        self.names = Names(index.definitions)
        self.types: dict[str, Type] = {param.name: param.type for param in index.function.params}
        self.renamed: dict[str, Expr] = {}
        self._site = 0

    # --------------------------------------------------------------------------- hooks

    def before(self, site: int, stmt: Stmt) -> list[Stmt]:
        """What is inserted directly before ``site``."""
        return []

    def assign(self, site: int, stmt: Assign) -> list[Stmt]:
        """What becomes of an assignment."""
        return [self.rebound(site, stmt, self.call(site, stmt.value))]

    def effect(self, site: int, stmt: EvalStmt) -> list[Stmt]:
        """What becomes of a bare call."""
        value = self.call(site, stmt.value)
        return [stmt if value is stmt.value else replace(stmt, value=value)]

    def slot(self, site: int, slot: int, expr: Expr) -> Expr:
        """What ``slot`` of ``site`` reads now."""
        return self.expr(expr)

    def space_of(self, name: str) -> MemorySpace | None:
        """The space tile ``name`` gets, ``None`` for what is no tile."""
        raise NotImplementedError

    # ------------------------------------------------------------------------- walking

    def function(self) -> Function:
        """The rebuilt function."""
        function = self.index.function
        return replace(function, body=self.block(function.body))

    def block(self, block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            site = self._site
            self._site += 1
            out += self.before(site, stmt)
            out += self._rewrite(site, stmt)
        return tuple(out)

    def _rewrite(self, site: int, stmt: Stmt) -> list[Stmt]:
        if isinstance(stmt, Assign):
            return self.assign(site, stmt)
        if isinstance(stmt, EvalStmt):
            return self.effect(site, stmt)
        if isinstance(stmt, (For, While)):
            return [self._loop(site, stmt)]
        if isinstance(stmt, If):
            return [self._if(stmt)]
        if isinstance(stmt, Scope):
            return [replace(stmt, body=self.block(stmt.body))]
        if isinstance(stmt, Yield):
            values = tuple([self.slot(site, YIELD_SLOT + k, v) for k, v in enumerate(stmt.values)])
            return [stmt if values == stmt.values else Yield(values)]
        if isinstance(stmt, Return):
            values = map_exprs(stmt.values, self.expr)
            return [stmt if values is stmt.values else Return(values)]
        return [stmt]

    # --------------------------------------------------------------------- expressions

    def expr(self, expr: Expr) -> Expr:
        """``expr`` under the names things have now."""
        return rename_expr(expr, self.renamed)

    def call(self, site: int, value: Expr) -> Expr:
        """``value`` with the operands its slots read now; attributes that name them follow (INF-P3-06)."""
        if not isinstance(value, (OpCall, FuncCall, Submit)):
            return self.expr(value)
        args = tuple([self.slot(site, position, arg) for position, arg in enumerate(value.args)])
        kwargs = map_named(value.kwargs, self.expr) if self.renamed else value.kwargs
        attrs = self._attrs(value.attrs, value.args, args)
        if args == value.args and kwargs is value.kwargs and attrs == value.attrs:
            return value
        return replace(value, args=args, kwargs=kwargs, attrs=attrs)

    def _attrs(self, attrs: NamedExprs, old: tuple[Expr, ...], new: tuple[Expr, ...]) -> NamedExprs:
        if not attrs:
            return attrs
        replaced: dict[str, list[str]] = defaultdict(list)
        for before, after in zip(old, new, strict=True):
            if isinstance(before, Var) and isinstance(after, Var) and after.name not in replaced[before.name]:
                replaced[before.name].append(after.name)
        first: Mapping[str, Expr] = {name: Var(names[0]) for name, names in replaced.items()}
        kept: list[tuple[str, Expr]] = []
        for key, value in attrs:
            if key == "dump_vars" and isinstance(value, ListExpr):
                kept.append((key, ListExpr(tuple(self._dumped(value, replaced)))))
            else:
                kept.append((key, self.expr(rename_expr(value, first))))
        return tuple(kept)

    def _dumped(self, listed: ListExpr, replaced: Mapping[str, list[str]]) -> list[Expr]:
        """A dump list names every replacement of a variable."""
        out: list[Expr] = []
        for item in listed.items:
            names = replaced.get(item.name, []) if isinstance(item, Var) else []
            out += [Var(name) for name in names] or [self.expr(item)]
        return out

    # -------------------------------------------------------------------- new variables

    def bind(self, hint: str, call: OpCall) -> Assign:
        """A new variable for ``call``, its type deduced."""
        type_ = deduce_call(call, [operand_type(arg, self.types) for arg in call.args])
        assert type_ is not None, f"{call.op} has no deduced type"
        name = self.names.fresh(hint)
        self.types[name] = type_
        return Assign(name, type_, call)

    def move(self, hint: str, source: str, space: MemorySpace, *, row_major: bool) -> Assign:
        """A new copy of ``source`` in ``space``, named after ``hint``."""
        return self.bind(f"{hint}_{space.value}", self.move_from(source, space, row_major=row_major))

    def move_from(self, source: str, space: MemorySpace, *, row_major: bool) -> OpCall:
        """The move of ``source`` to ``space``. A bias is a plain row: boxes do not follow it there."""
        type_ = self.types.get(source)
        boxed = isinstance(type_, TileType) and type_.layout.slayout != "none_box"
        return move_call(source, space, row_major=row_major or (space is MemorySpace.Bias and boxed))

    # --------------------------------------------------------------------------- types

    def rebound(self, site: int, stmt: Assign, value: Expr) -> Assign:
        """``stmt`` with ``value`` and the type that follows from it; ``stmt`` itself where that changes nothing."""
        type_ = self._new_type(stmt, value)
        self.types[stmt.name] = type_
        if value is stmt.value and type_ == stmt.type:
            return stmt
        return Assign(stmt.name, type_, value)

    def _new_type(self, stmt: Assign, value: Expr) -> Type:
        type_ = rename_type(stmt.type, self.renamed)
        space = self.space_of(stmt.name)
        if isinstance(value, OpCall) and self._is_changed(stmt, value):
            return retyped_call(value, type_, space, self.types)
        if isinstance(value, Var):
            source = stmt.value
            old = self.index.types.get(source.name) if isinstance(source, Var) else None
            return follow(type_, old, self.types.get(value.name), space)
        return follow(type_, None, None, space)

    def _is_changed(self, stmt: Assign, value: OpCall) -> bool:
        """Whether a call has other operands, or operands of another type, or another keyword."""
        old = stmt.value
        if not isinstance(old, OpCall) or value.args != old.args or value.kwargs != old.kwargs:
            return True
        for arg in value.args:
            for name in (arg.name,) if isinstance(arg, Var) else names_in(arg):
                before = self.index.types.get(name)
                now = self.types.get(name, before)
                if now is not before and now != before:
                    return True
        return False

    # ---------------------------------------------------------------------- structures

    def _loop(self, site: int, loop: For | While) -> Stmt:
        carries = tuple(self._carry(site, position, carry) for position, carry in enumerate(loop.carries))
        if isinstance(loop, For):
            start, stop, step = map(self.expr, (loop.start, loop.stop, loop.step))
            body = self.block(loop.body)
            results = self._loop_results(loop, carries)
            return replace(loop, start=start, stop=stop, step=step, carries=carries, body=body, results=results)
        condition = self.expr(loop.condition)
        body = self.block(loop.body)
        return While(carries, condition, body, self._loop_results(loop, carries))

    def _carry(self, site: int, position: int, carry: Carry) -> Carry:
        init = self.slot(site, INIT_SLOT + position, carry.init)
        old = self.index.types.get(carry.init.name) if isinstance(carry.init, Var) else None
        type_ = follow(carry.type, old, operand_type(init, self.types), self.space_of(carry.name))
        self.types[carry.name] = type_
        return Carry(carry.name, type_, init)

    def _loop_results(self, loop: For | While, carries: tuple[Carry, ...]) -> tuple[Result, ...]:
        results = []
        for result, before, after in zip(loop.results, loop.carries, carries, strict=True):
            type_ = follow(result.type, before.type, after.type, self.space_of(result.name))
            self.types[result.name] = type_
            results.append(Result(result.name, type_))
        return tuple(results)

    def _if(self, stmt: If) -> If:
        condition = self.expr(stmt.condition)
        then = self.block(stmt.then)
        orelse = None if stmt.orelse is None else self.block(stmt.orelse)
        old, new = final_values(stmt.then), final_values(then)
        results = []
        for result, before, after in zip(stmt.results, old, new, strict=True):
            source = operand_type(before, self.index.types)
            type_ = follow(result.type, source, operand_type(after, self.types), self.space_of(result.name))
            self.types[result.name] = type_
            results.append(Result(result.name, type_))
        return If(condition, then, orelse, tuple(results))
