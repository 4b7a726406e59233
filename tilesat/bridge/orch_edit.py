"""Editing programs: names replaced in whole bodies, parameters and arguments dropped, statements taken out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from tilesat.ir.nodes import (
    Assign,
    Block,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    Function,
    If,
    Param,
    Program,
    Stmt,
    Submit,
    Var,
    While,
)
from tilesat.ir.types import Direction, Type
from tilesat.ir.walk import blocks, map_own_exprs, map_types, rename_expr, rename_type, with_blocks

Rewrite = Callable[[int, Stmt], "Sequence[Stmt] | None"]
"""What a statement, its blocks done, becomes; ``None`` keeps it. The number is its site."""


def rewrite_block(block: Block, rewrite: Rewrite, first: int = 0) -> Block:
    """``block`` with ``rewrite`` applied to every statement, inner ones first.

    Sites count as in the function's index; ``first`` is the site of the block's first statement.
    """
    return _Rewriter(rewrite, first).block(block)


class _Rewriter:
    """Blocks nest no deeper than Python's own parser allows, so recursion is safe."""

    def __init__(self, rewrite: Rewrite, first: int) -> None:
        self._rewrite = rewrite
        self._site = first

    def block(self, block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            site = self._site
            self._site += 1
            inner = tuple([self.block(part) for part in blocks(stmt)])
            stmt = with_blocks(stmt, inner) if inner else stmt
            new = self._rewrite(site, stmt)
            if new is None:
                out.append(stmt)
            else:
                out.extend(new)
        unchanged = len(out) == len(block) and all(a is b for a, b in zip(out, block, strict=True))
        return block if unchanged else tuple(out)


def renamed_block(block: Block, names: Mapping[str, Expr]) -> Block:
    """``block`` with variables replaced in expressions and in types."""
    if not names:
        return block

    def rewrite(_site: int, stmt: Stmt) -> Sequence[Stmt]:
        stmt = map_own_exprs(stmt, lambda expr: rename_expr(expr, names))
        return (map_types(stmt, lambda _, type_: rename_type(type_, names)),)

    return rewrite_block(block, rewrite)


def rebound_block(block: Block, names: Mapping[str, str]) -> Block:
    """``block`` with what it binds under other names, and their uses."""
    uses: dict[str, Expr] = {old: Var(new) for old, new in names.items()}

    def rewrite(_site: int, stmt: Stmt) -> Sequence[Stmt]:
        if isinstance(stmt, Assign):
            return (replace(stmt, name=names.get(stmt.name, stmt.name)),)
        if isinstance(stmt, (For, While, If)):
            results = tuple([replace(r, name=names.get(r.name, r.name)) for r in stmt.results])
            stmt = replace(stmt, results=results)
        if isinstance(stmt, (For, While)):
            stmt = replace(stmt, carries=tuple([replace(c, name=names.get(c.name, c.name)) for c in stmt.carries]))
        if isinstance(stmt, For):
            stmt = replace(stmt, index=names.get(stmt.index, stmt.index))
        return (stmt,)

    return rewrite_block(renamed_block(block, uses), rewrite)


def retyped_block(block: Block, types: Mapping[str, Type]) -> Block:
    """``block`` with other types for the variables in ``types``."""

    def rewrite(_site: int, stmt: Stmt) -> Sequence[Stmt] | None:
        if not isinstance(stmt, (Assign, For, While, If)):
            return None
        return (map_types(stmt, lambda name, type_: types.get(name, type_)),)

    return rewrite_block(block, rewrite) if types else block


def merged_kernel(function: Function, pairs: Collection[tuple[int, int]]) -> Function:
    """``function`` with each output of ``pairs`` (input, output) stored to the input, which becomes InOut."""
    params = function.params
    names: dict[str, Expr] = {params[output].name: Var(params[given].name) for given, output in pairs}
    written = {given for given, _ in pairs}
    dropped = {output for _, output in pairs}
    kept: list[Param] = [
        replace(param, direction=Direction.InOut) if position in written else param
        for position, param in enumerate(params)
        if position not in dropped
    ]
    return replace(function, params=tuple(kept), body=renamed_block(function.body, names))


def without_args(call: FuncCall | Submit, positions: Collection[int]) -> FuncCall | Submit:
    """``call`` without the arguments at ``positions``."""
    return replace(call, args=tuple([arg for position, arg in enumerate(call.args) if position not in positions]))


def with_call(stmt: Stmt, call: FuncCall | Submit) -> Stmt:
    """``stmt``, whose whole value is a call, with ``call`` instead."""
    assert isinstance(stmt, (Assign, EvalStmt))
    return replace(stmt, value=call)


def call_of(stmt: Stmt) -> FuncCall | Submit | None:
    """The call or submit that is the whole value of ``stmt``."""
    value = stmt.value if isinstance(stmt, (Assign, EvalStmt)) else None
    return value if isinstance(value, (FuncCall, Submit)) else None


def replace_functions(program: Program, changed: Mapping[str, Function]) -> Program:
    """``program`` with functions replaced by name."""
    if not changed:
        return program
    return replace(program, functions=tuple([changed.get(f.name, f) for f in program.functions]))


def with_clones(program: Program, clones: Mapping[str, Sequence[Function]]) -> Program:
    """``program`` with ``clones[f]`` right behind function ``f``."""
    if not clones:
        return program
    functions: list[Function] = []
    for function in program.functions:
        functions.append(function)
        functions.extend(clones.get(function.name, ()))
    return replace(program, functions=tuple(functions))
