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
    Carry,
    Const,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    Function,
    If,
    Param,
    Program,
    Return,
    Submit,
    While,
)
from tilesat.ir.verify import INPUT_PROPERTIES, verify
from tilesat.ir.walk import blocks, map_own_exprs, reads, statements_in, walk
from tilesat.ir.walk import with_blocks as with_new_blocks
from tilesat.lab.dropper import Dropper, without_slot

MOST_STAND_INS = 4
"""How many earlier variables are tried in place of one."""
_PROPERTIES = (*INPUT_PROPERTIES, "TypesConsistent")


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
        quick = (self._functions, self._interfaces, self._chunks, self._unwrap, self._bounds)
        thorough = (self._slots, self._results, self._stand_ins)
        changed = True
        while changed and time.monotonic() < self.deadline:
            changed = sum(simplify() for simplify in quick) > 0 or sum(simplify() for simplify in thorough) > 0
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
        return self._edited(name, lambda function: Dropper(function, frozenset(sites)).run())

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

    def _slots(self) -> bool:
        """Leave out carried slots, and results of branches."""
        changed = False
        for name in [function.name for function in self.best.functions]:
            for site, stmt in enumerate(list(walk(self.best.function(name).body))):
                for position in reversed(range(len(stmt.results) if isinstance(stmt, (For, While, If)) else 0)):
                    changed |= self._accept(self._edited(name, partial(without_slot, site=site, position=position)))
        return changed

    def _results(self) -> bool:
        """Leave out single results of functions that nobody calls."""
        changed = False
        called = {callee for function in self.best.functions for callee in _callees(function)}
        for name in [function.name for function in self.best.functions if function.name not in called]:
            for position in reversed(range(len(self.best.function(name).returns))):
                changed |= self._accept(self._edited(name, partial(_without_result, position=position)))
        return changed

    def _stand_ins(self) -> bool:
        """Leave out statements for which something made before can stand, though it is no operand."""
        changed = False
        for name in [function.name for function in self.best.functions]:
            for site in reversed(range(_size(self.best.function(name)))):
                function = self.best.function(name)
                edits = (partial(_stood_for, site=site, other=other) for other in _made_before(function, site))
                changed |= any(self._accept(self._edited(name, edit)) for edit in edits)
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
    return statements_in(function.body)


def _callees(function: Function) -> set[str]:
    values = [stmt.value for stmt in walk(function.body) if isinstance(stmt, (Assign, EvalStmt))]
    return {value.callee for value in values if isinstance(value, (FuncCall, Submit))}


def _made_before(function: Function, site: int) -> list[str]:
    """What was bound before the assignment at ``site``, of its type, the latest first."""
    stmts = list(walk(function.body))[: site + 1]
    last = stmts.pop() if stmts else None
    if not isinstance(last, Assign):
        return []
    bound: list[Assign | Param | Carry] = list(function.params)
    for stmt in stmts:
        bound += [stmt] if isinstance(stmt, Assign) else stmt.carries if isinstance(stmt, (For, While)) else ()
    names = [one.name for one in bound if one.type == last.type]
    return names[: -MOST_STAND_INS - 1 : -1]


def _stood_for(function: Function, site: int, other: str) -> Function | None:
    return Dropper(function, frozenset({site}), stand_in=other).run()


def _without_result(function: Function, position: int) -> Function:
    """``function`` with one result less; nothing is returned where it was the only one."""
    body = []
    for stmt in function.body:
        if isinstance(stmt, Return):
            stmt = Return(stmt.values[:position] + stmt.values[position + 1 :])
        body += [stmt] if not isinstance(stmt, Return) or stmt.values else []
    return replace(function, body=tuple(body), returns=function.returns[:position] + function.returns[position + 1 :])


def _void(program: Program, name: str) -> Program | None:
    """``program`` where ``name`` returns nothing and its callers make do without."""
    functions = []
    for function in program.functions:
        if function.name == name:
            body = tuple(stmt for stmt in function.body if not isinstance(stmt, Return))
            functions.append(replace(function, body=body, returns=()))
            continue
        caller = Dropper(function, frozenset(), bare=name).run()
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
    return Dropper(function, frozenset(), site, arm).run()


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
