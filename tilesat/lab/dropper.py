"""Functions without some of their statements, with something else for what those bound."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from tilesat.ir.nodes import (
    Assign,
    Block,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    Function,
    If,
    OpCall,
    Return,
    Stmt,
    Submit,
    Var,
    While,
    Yield,
)
from tilesat.ir.types import TensorType, TileType, Type
from tilesat.ir.walk import (
    blocks,
    map_own_exprs,
    map_types,
    reads,
    rename_expr,
    rename_type,
    statements_in,
    variable_types,
)
from tilesat.ir.walk import with_blocks as with_new_blocks

Names = dict[str, Expr]


def without_slot(function: Function, site: int, position: int) -> Function | None:
    """``function`` without a carried slot or branch result of the structure at ``site``, ``None`` where that is none.

    What a slot starts from stands for it, inside and behind; a result of a branch takes along what needs it.
    """
    names: Names = {}
    dead: set[str] = set()
    sites = iter(range(statements_in(function.body)))

    def shorter(items: tuple[Any, ...]) -> tuple[Any, ...]:
        return items[:position] + items[position + 1 :]

    def block(stmts: Block, *, ends_slot: bool) -> Block:
        return tuple(stmt_of(stmt, ends_slot=ends_slot) for stmt in stmts)

    def stmt_of(stmt: Stmt, *, ends_slot: bool) -> Stmt:
        is_it = next(sites) == site
        stmt = with_new_blocks(stmt, tuple(block(inner, ends_slot=is_it) for inner in blocks(stmt)))
        if isinstance(stmt, Yield) and ends_slot:
            return replace(stmt, values=shorter(stmt.values))
        if is_it and isinstance(stmt, (For, While)):
            init = stmt.carries[position].init
            names.update({stmt.carries[position].name: init, stmt.results[position].name: init})
            return replace(stmt, carries=shorter(stmt.carries), results=shorter(stmt.results))
        if is_it and isinstance(stmt, If):
            dead.add(stmt.results[position].name)
            return replace(stmt, results=shorter(stmt.results))
        return stmt

    body = block(function.body, ends_slot=False)
    return Dropper(replace(function, body=body), names=names, dead=dead).run()


class Dropper:
    """Drops the statements at ``sites``; puts arm ``arm`` of the structure at ``unwrap`` in its place.

    Calls of ``bare`` lose what they bind. ``stand_in`` is a variable for what dropped assignments bind, by default one
    is looked for; ``names`` stand for variables from the start, and ``dead`` ones have nothing that does.
    """

    def __init__(
        self,
        function: Function,
        sites: frozenset[int] = frozenset(),
        unwrap: int = -1,
        arm: int = 0,
        *,
        bare: str = "",
        stand_in: str = "",
        names: Mapping[str, Expr] | None = None,
        dead: Collection[str] = (),
    ) -> None:
        self.bare = bare
        self.function = function
        self.sites = sites
        self.unwrap = unwrap
        self.arm = arm
        self._site = -1
        self._types = variable_types(function)
        self._stand_in = Var(stand_in) if stand_in else None
        self._names: Names = dict(names or {})
        self._dead: set[str] = set(dead)

    def run(self) -> Function | None:
        """What is left, ``None`` where that is no function."""
        body = self._block(self.function.body)
        if body is None:
            return None
        returned = next((stmt for stmt in reversed(body) if isinstance(stmt, Return)), None)
        returns = () if returned is None else self.function.returns
        if returned is not None and len(returned.values) != len(returns):
            returns = tuple(self._types[value.name] for value in returned.values if isinstance(value, Var))
        return replace(self.function, body=body, returns=returns)

    def _block(self, stmts: Block) -> Block | None:
        out: list[Stmt] = []
        for stmt in stmts:
            self._site += 1
            made = self._stmt(stmt, self._site)
            if made is None:
                return None
            out += made
        return tuple(out)

    def _stmt(self, stmt: Stmt, site: int) -> list[Stmt] | None:
        if isinstance(stmt, (Yield, Return)):
            return self._end(stmt, site)
        needs_dead = any(name in self._dead for name in reads(stmt))
        if site in self.sites or needs_dead:
            return self._drop(stmt)
        stmt = self._renamed(stmt)
        if site == self.unwrap:
            return self._inlined(stmt)
        if self.bare and isinstance(stmt, Assign) and getattr(stmt.value, "callee", None) == self.bare:
            self._dead.add(stmt.name)
            return [EvalStmt(stmt.value)]
        if not blocks(stmt):
            return [stmt]
        inner = []
        for block in blocks(stmt):
            new = self._block(block)
            if new is None or not new:
                return None
            inner.append(new)
        return [with_new_blocks(stmt, tuple(inner))]

    def _end(self, stmt: Yield | Return, site: int) -> list[Stmt] | None:
        dead = any(isinstance(value, Var) and value.name in self._dead for value in stmt.values)
        if isinstance(stmt, Yield):
            # A loop or branch that has nothing to give for a result is no program.
            return None if dead else [self._renamed(stmt)]
        if site in self.sites:
            return []
        kept = tuple(v for v in stmt.values if not (isinstance(v, Var) and v.name in self._dead))
        return [self._renamed(replace(stmt, values=kept))] if kept else []

    def _renamed(self, stmt: Stmt) -> Stmt:
        if not self._names:
            return stmt
        stmt = map_own_exprs(stmt, lambda expr: rename_expr(expr, self._names))
        return map_types(stmt, lambda name, type_: rename_type(type_, self._names))

    def _drop(self, stmt: Stmt) -> list[Stmt]:
        """Nothing in place of ``stmt``; what it bound is replaced or dead."""
        self._site += statements_in(*blocks(stmt))
        if isinstance(stmt, Assign):
            self._replace(stmt.name, self._stand_in or self._substitute(stmt))
        elif isinstance(stmt, (For, While)):
            for carry, result in zip(stmt.carries, stmt.results, strict=True):
                self._replace(result.name, carry.init)
        elif isinstance(stmt, If):
            for result in stmt.results:
                self._replace(result.name, None)
        return []

    def _replace(self, name: str, value: Expr | None) -> None:
        if value is None or (isinstance(value, Var) and value.name in self._dead):
            self._dead.add(name)
        else:
            self._names[name] = rename_expr(value, self._names)

    def _substitute(self, stmt: Assign) -> Expr | None:
        """Something that can stand for what ``stmt`` binds: an operand of the same kind, the last one first."""
        value = stmt.value
        if isinstance(value, Var):
            return value
        if not isinstance(value, (OpCall, FuncCall, Submit)):
            return None
        alike = [arg for arg in value.args if isinstance(arg, Var) and self._is_like(arg.name, stmt.type)]
        alive = [arg for arg in alike if arg.name not in self._dead]
        if not alive:
            return None
        return alive[-1] if isinstance(stmt.type, TensorType) else alive[0]

    def _is_like(self, name: str, type_: Type) -> bool:
        mine = self._types.get(name)
        if isinstance(mine, TensorType) and isinstance(type_, TensorType):
            return mine.shape == type_.shape and mine.dtype == type_.dtype
        if isinstance(mine, TileType) and isinstance(type_, TileType):
            return mine.shape == type_.shape and mine.dtype == type_.dtype
        return mine == type_

    def _inlined(self, stmt: Stmt) -> list[Stmt] | None:
        chosen = blocks(stmt)[self.arm]
        skipped = statements_in(*blocks(stmt)[: self.arm])
        after = statements_in(*blocks(stmt)[self.arm + 1 :])
        self._site += skipped
        if isinstance(stmt, For):
            self._names[stmt.index] = stmt.start
        if isinstance(stmt, (For, While)):
            for carry in stmt.carries:
                self._names[carry.name] = carry.init
        results = stmt.results if isinstance(stmt, (For, While, If)) else ()
        inner = self._block(chosen)
        self._site += after
        if inner is None:
            return None
        if inner and isinstance(inner[-1], Yield):
            for result, value in zip(results, inner[-1].values, strict=True):
                self._names[result.name] = value
            inner = inner[:-1]
        return list(inner)
