"""Small programs by leaving out statements, whoever made the program.

What a dropped statement bound is replaced by something of the same kind where there is one: a store's tensor, an
operand, what a loop starts from. Where there is none, whatever needs it goes too. Most candidates are refused by the
verifier, which is quick; only legal ones are tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from tilesat.diagnostics import errors
from tilesat.ir.nodes import (
    Assign,
    Block,
    Const,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    Function,
    If,
    OpCall,
    Program,
    Return,
    Stmt,
    Submit,
    Var,
    While,
    Yield,
)
from tilesat.ir.types import TensorType, TileType, Type
from tilesat.ir.verify import INPUT_PROPERTIES, verify
from tilesat.ir.walk import blocks, map_own_exprs, map_types, reads, rename_expr, rename_type, variable_types, walk
from tilesat.ir.walk import with_blocks as with_new_blocks

_PROPERTIES = (*INPUT_PROPERTIES, "TypesConsistent")
Names = dict[str, Expr]


def reduced(program: Program, condition: Callable[[Program], bool], seconds: float) -> Program:
    """A program from which nothing can be left out without losing ``condition``, or the best within ``seconds``."""
    return _Reduction(program, condition, time.monotonic() + seconds).run()


class _Reduction:
    def __init__(self, program: Program, condition: Callable[[Program], bool], deadline: float) -> None:
        self.best = program
        self.condition = condition
        self.deadline = deadline
        self.seen = {str(program)}

    def run(self) -> Program:
        changed = True
        while changed and time.monotonic() < self.deadline:
            passes = (self._functions, self._interfaces, self._chunks, self._unwrap, self._bounds)
            changed = sum(simplify() for simplify in passes) > 0
        return self.best

    def _accept(self, candidate: Program | None) -> bool:
        if candidate is None or time.monotonic() > self.deadline:
            return False
        text = str(candidate)
        if text in self.seen:
            return False
        self.seen.add(text)
        if errors(verify(candidate, properties=_PROPERTIES)) or not self.condition(candidate):
            return False
        self.best = candidate
        return True

    def _functions(self) -> bool:
        """Leave out whole functions, callers first."""
        changed = False
        for function in reversed(self.best.functions):
            left = tuple(f for f in self.best.functions if f.name != function.name)
            if left:
                changed |= self._accept(replace(self.best, functions=left))
        return changed

    def _chunks(self) -> bool:
        """Leave out statements, many at once first."""
        changed = False
        for name in [function.name for function in self.best.functions]:
            size = max(1, _size(self.best.function(name)) // 2)
            while size:
                start = 0
                while start < _size(self.best.function(name)):
                    if self._accept(self._without(name, range(start, start + size))):
                        changed = True
                    else:
                        start += size
                size //= 2
        return changed

    def _without(self, name: str, sites: range) -> Program | None:
        return self._edited(name, lambda function: _Dropper(function, frozenset(sites)).run())

    def _unwrap(self) -> bool:
        """Put what a loop or branch does once in its place."""
        changed = False
        for name in [function.name for function in self.best.functions]:
            site = 0
            while site < _size(self.best.function(name)):
                stmt = list(walk(self.best.function(name).body))[site]
                arms = (0, 1) if isinstance(stmt, If) and stmt.orelse is not None else (0,)
                done = isinstance(stmt, (For, While, If)) and any(
                    self._accept(self._edited(name, partial(_unwrapped, site=site, arm=arm))) for arm in arms
                )
                changed |= done
                site += not done
        return changed

    def _interfaces(self) -> bool:
        """Let functions return nothing, and leave out parameters that nobody reads."""
        changed = False
        for name in [function.name for function in self.best.functions]:
            if self.best.function(name).returns:
                changed |= self._accept(_void(self.best, name))
            for param in self.best.function(name).params:
                changed |= self._accept(_without_param(self.best, name, param.name))
        return changed

    def _bounds(self) -> bool:
        """Let loops run fewer times, from 0 in steps of 1."""
        changed = False
        for name in [function.name for function in self.best.functions]:
            for site, stmt in enumerate(list(walk(self.best.function(name).body))):
                if not isinstance(stmt, For):
                    continue
                for trips in (1, 2):
                    if (stmt.start, stmt.stop, stmt.step) == (Const(0), Const(trips), Const(1)):
                        break
                    simple = replace(stmt, start=Const(0), stop=Const(trips), step=Const(1))
                    if self._accept(self._edited(name, partial(_with_loop, site=site, header=simple))):
                        changed = True
                        break
        return changed

    def _edited(self, name: str, edit: Callable[[Function], Function | None]) -> Program | None:
        functions = []
        for function in self.best.functions:
            new = edit(function) if function.name == name else function
            if new is None:
                return None
            functions.append(new)
        return replace(self.best, functions=tuple(functions))


def _size(function: Function) -> int:
    return sum(1 for _ in walk(function.body))


def _void(program: Program, name: str) -> Program | None:
    """``program`` where ``name`` returns nothing and its callers make do without."""
    functions = []
    for function in program.functions:
        if function.name == name:
            body = tuple(stmt for stmt in function.body if not isinstance(stmt, Return))
            functions.append(replace(function, body=body, returns=()))
            continue
        caller = _Dropper(function, frozenset(), bare=name).run()
        if caller is None:
            return None
        functions.append(caller)
    return replace(program, functions=tuple(functions))


def _without_param(program: Program, name: str, param: str) -> Program | None:
    """``program`` where ``name`` lacks a parameter that nothing in it reads."""
    callee = program.function(name)
    if any(param in reads(stmt) for stmt in walk(callee.body)):
        return None
    position = [p.name for p in callee.params].index(param)

    def shorter(expr: Expr) -> Expr:
        if isinstance(expr, (FuncCall, Submit)) and expr.callee == name:
            return replace(expr, args=expr.args[:position] + expr.args[position + 1 :])
        return expr

    def block(stmts: Block) -> Block:
        return tuple(map_own_exprs(with_new_blocks(s, tuple(map(block, blocks(s)))), shorter) for s in stmts)

    functions = tuple(replace(function, body=block(function.body)) for function in program.functions)
    program = replace(program, functions=functions)
    params = callee.params[:position] + callee.params[position + 1 :]
    changed = [replace(f, params=params) if f.name == name else f for f in program.functions]
    return replace(program, functions=tuple(changed))


def _unwrapped(function: Function, site: int, arm: int) -> Function | None:
    return _Dropper(function, frozenset(), site, arm).run()


def _with_loop(function: Function, site: int, header: For) -> Function:
    """``function`` with the bounds of ``header`` for the loop at ``site``."""
    counter = iter(range(_size(function)))

    def block(stmts: Block) -> Block:
        out = []
        for stmt in stmts:
            here = next(counter)
            stmt = with_new_blocks(stmt, tuple(map(block, blocks(stmt))))
            if here == site and isinstance(stmt, For):
                stmt = replace(stmt, start=header.start, stop=header.stop, step=header.step)
            out.append(stmt)
        return tuple(out)

    return replace(function, body=block(function.body))


class _Dropper:
    """Drops the statements at ``sites``; puts arm ``arm`` of the structure at ``unwrap`` in its place.

    Calls of ``bare`` lose what they bind.
    """

    def __init__(
        self, function: Function, sites: frozenset[int], unwrap: int = -1, arm: int = 0, bare: str = ""
    ) -> None:
        self.bare = bare
        self.function = function
        self.sites = sites
        self.unwrap = unwrap
        self.arm = arm
        self._site = -1
        self._types = variable_types(function)
        self._names: Names = {}
        self._dead: set[str] = set()

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
        self._site += sum(1 for block in blocks(stmt) for _ in walk(block))
        if isinstance(stmt, Assign):
            self._replace(stmt.name, self._substitute(stmt))
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
        skipped = sum(1 for block in blocks(stmt)[: self.arm] for _ in walk(block))
        after = sum(1 for block in blocks(stmt)[self.arm + 1 :] for _ in walk(block))
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
