"""SSAForm: single definitions, uses dominated by them, yields and returns in their places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tilesat.ir.nodes import (
    Assign,
    BinOp,
    Block,
    Comment,
    Const,
    EnumConst,
    Expr,
    For,
    FuncCall,
    If,
    ListExpr,
    NoneConst,
    OpaqueExpr,
    OpaqueStmt,
    OpCall,
    Result,
    Return,
    Scope,
    Stmt,
    StrConst,
    Submit,
    Var,
    While,
    Yield,
)
from tilesat.ir.types import TupleType, Type
from tilesat.ir.verify.facts import Facts, Loop, last_statement
from tilesat.ir.verify.report import Report
from tilesat.ir.walk import children, names_in_type, own_exprs, reads

# How a printed text marks a use whose definition is gone (peer behaviour, section 4).
FREE_VAR = "__FREE_VAR"
_CLOSED = frozenset({Const, EnumConst, StrConst, NoneConst})
_CALLS = frozenset({OpCall, FuncCall, Submit})


def check_ssa(facts: Facts, report: Report) -> None:
    """INF-S-03; peer behaviour, section 11 (SSAForm and UseAfterDef)."""
    _SsaWalk(facts, report).run()


@dataclass(frozen=True, slots=True)
class _Leave:
    """Closes a block: forgets the names bound since ``mark``."""

    mark: int


@dataclass(frozen=True, slots=True)
class _Enter:
    """Opens the second branch of an if."""

    block: Block
    stmt: If


@dataclass(frozen=True, slots=True)
class _Bind:
    """Binds what a finished structure gives."""

    results: tuple[Result, ...]
    stmt: Stmt


@dataclass(frozen=True, slots=True)
class _Expected:
    """A yield or return that stands where one belongs."""

    stmt: Yield | Return


class _SsaWalk:
    """Walks a function in program order with an explicit stack, names in scope in ``visible``."""

    def __init__(self, facts: Facts, report: Report) -> None:
        self.function = facts.function
        self.namesake = facts.functions[facts.function.name]
        self.types = facts.types
        self.report = report
        self.visible: set[str] = set(facts.program.dynamic_dims)
        self.bound: set[str] = set(self.visible)
        self.opened: list[str] = []
        self.names_of_type: dict[int, tuple[str, ...]] = {}
        self.work: list[Stmt | _Leave | _Enter | _Bind | _Expected] = []

    def run(self) -> None:
        if self.namesake is not self.function:
            self.report.error(f"function '{self.function.name}' is defined more than once")
        for param in self.function.params:
            self._bind(param.name, None)
        for type_ in (*(param.type for param in self.function.params), *self.function.returns):
            self._use_type(type_, None)
        self._check_return()
        self._push_block(self.function.body, Return)
        while self.work:
            item = self.work.pop()
            if type(item) is Assign:
                self._use(item.value, item)
                self._use_type(item.type, item)
                self._bind(item.name, item)
            elif isinstance(item, Stmt):
                self._statement(item)
            elif isinstance(item, _Leave):
                self._leave(item.mark)
            elif isinstance(item, _Bind):
                self._bind_results(item)
            elif isinstance(item, _Expected):
                self._use_all(item.stmt.values, item.stmt)
            else:
                self._open_branch(item.block, item.stmt)

    # ---------------------------------------------------------------------- statements

    def _statement(self, stmt: Stmt) -> None:
        if isinstance(stmt, (For, While)):
            self._loop(stmt)
        elif isinstance(stmt, If):
            self._use(stmt.condition, stmt)
            self._check_branches(stmt)
            self.work.append(_Bind(stmt.results, stmt))
            if stmt.orelse is not None:
                self.work.append(_Enter(stmt.orelse, stmt))
            self._open_branch(stmt.then, stmt)
        elif isinstance(stmt, Scope):
            # A runtime scope hides no names: its body counts as part of the list around it.
            self._use_all(own_exprs(stmt), stmt)
            self._push_block(stmt.body, None)
        elif isinstance(stmt, Yield):
            self.report.error("a yield that does not end a loop body or branch with results", stmt)
            self._use_all(stmt.values, stmt)
        elif isinstance(stmt, Return):
            self.report.error("a return that does not end the function body", stmt)
            self._use_all(stmt.values, stmt)
        elif isinstance(stmt, OpaqueStmt):
            self._use_names(reads(stmt), stmt)
            for name in stmt.binds:
                self._bind(name, stmt)
        elif not isinstance(stmt, Comment):
            self._use_all(own_exprs(stmt), stmt)

    def _loop(self, loop: Loop) -> None:
        before = own_exprs(loop) if isinstance(loop, For) else tuple(carry.init for carry in loop.carries)
        self._use_all(before, loop)
        for carry in loop.carries:
            self._use_type(carry.type, loop)
        self._check_carried(loop)
        self.work.append(_Bind(loop.results, loop))
        self.work.append(_Leave(len(self.opened)))
        if isinstance(loop, For):
            self._bind(loop.index, loop)
        for carry in loop.carries:
            self._bind(carry.name, loop)
        if isinstance(loop, While):
            self._use(loop.condition, loop)
        self._push_block(loop.body, Yield if loop.carries or loop.results else None)

    def _open_branch(self, block: Block, stmt: If) -> None:
        self.work.append(_Leave(len(self.opened)))
        self._push_block(block, Yield if stmt.results else None)

    def _push_block(self, block: Block, ending: type[Yield] | type[Return] | None) -> None:
        """Queue ``block``; its last statement may be an ``ending``."""
        last = None if ending is None else last_statement(block)
        at_end = ending is not None and isinstance(last, ending)
        for stmt in reversed(block):
            if at_end and stmt is last and isinstance(stmt, (Yield, Return)):
                self.work.append(_Expected(stmt))
                at_end = False
            else:
                self.work.append(stmt)

    # -------------------------------------------------------------------------- counts

    def _check_carried(self, loop: Loop) -> None:
        carried, given = len(loop.carries), len(loop.results)
        if carried != given:
            self.report.error(f"the loop has {_count(carried, 'iter-arg')}, but {_count(given, 'result')}", loop)
        if carried or given:
            self._check_yield(loop.body, max(carried, given), "the loop body", loop)

    def _check_branches(self, stmt: If) -> None:
        count = len(stmt.results)
        if count == 0:
            return
        self._check_yield(stmt.then, count, "the then branch", stmt)
        if stmt.orelse is None:
            self.report.error(f"the if has {_count(count, 'result')}, but no else branch", stmt)
        else:
            self._check_yield(stmt.orelse, count, "the else branch", stmt)

    def _check_yield(self, block: Block, count: int, what: str, stmt: Stmt) -> None:
        last = last_statement(block)
        if not isinstance(last, Yield):
            self.report.error(f"{what} does not end with a yield of {_count(count, 'value')}", stmt)
        elif len(last.values) != count:
            self.report.error(f"{what} yields {_count(len(last.values), 'value')} for {_count(count, 'result')}", stmt)

    def _check_return(self) -> None:
        declared = len(self.function.returns)
        last = last_statement(self.function.body)
        if isinstance(last, Return):
            given = len(last.values)
            if given != declared and not self._returns_tuple(last):
                self.report.error(f"returns {_count(given, 'value')}, but declares {declared}", last)
        elif declared and not self._is_external():
            self.report.error(f"declares {_count(declared, 'result')}, but does not end with a return", last)

    def _returns_tuple(self, stmt: Return) -> bool:
        """Whether ``stmt`` returns one tuple of all declared results."""
        value = stmt.values[0] if len(stmt.values) == 1 else None
        type_ = self.types.get(value.name) if isinstance(value, Var) else None
        return isinstance(type_, TupleType) and len(type_.elements) == len(self.function.returns)

    def _is_external(self) -> bool:
        """Functions written elsewhere have a signature only."""
        return any(key == "external_source" for key, _ in self.function.options)

    # --------------------------------------------------------------------------- names

    def _bind(self, name: str, stmt: Stmt | None) -> None:
        if name in self.bound:
            self.report.error(f"'{name}' is bound more than once", stmt)
        self.bound.add(name)
        self.visible.add(name)
        self.opened.append(name)

    def _bind_results(self, item: _Bind) -> None:
        for result in item.results:
            self._use_type(result.type, item.stmt)
        for result in item.results:
            self._bind(result.name, item.stmt)

    def _leave(self, mark: int) -> None:
        self.visible.difference_update(self.opened[mark:])
        del self.opened[mark:]

    def _use_all(self, exprs: Iterable[Expr], stmt: Stmt) -> None:
        for expr in exprs:
            self._use(expr, stmt)

    def _use(self, expr: Expr, stmt: Stmt) -> None:
        visible = self.visible
        stack = [expr]
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind is Var:
                if node.name not in visible:  # type: ignore[attr-defined]
                    self._undefined(node.name, stmt)  # type: ignore[attr-defined]
            elif kind in _CLOSED:
                continue
            elif kind in _CALLS:
                stack.extend(reversed(children(node)))
            elif kind is ListExpr:
                stack.extend(reversed(node.items))  # type: ignore[attr-defined]
            elif kind is BinOp:
                stack += (node.rhs, node.lhs)  # type: ignore[attr-defined]
            elif kind is OpaqueExpr:
                self._use_names(node.names, stmt)  # type: ignore[attr-defined]
            else:
                stack.extend(reversed(children(node)))

    def _use_names(self, names: Iterable[str], stmt: Stmt) -> None:
        for name in names:
            if name not in self.visible:
                self._undefined(name, stmt)

    def _use_type(self, type_: Type, stmt: Stmt | None) -> None:
        names = self.names_of_type.get(id(type_))
        if names is None:
            names = self.names_of_type[id(type_)] = tuple(names_in_type(type_))
        for name in names:
            if name not in self.visible:
                self._undefined(name, stmt, where=" in a type")

    def _undefined(self, name: str, stmt: Stmt | None, where: str = "") -> None:
        if name.endswith(FREE_VAR):
            self.report.error(f"'{name.removesuffix(FREE_VAR)}' is used{where}, but nothing defines it", stmt)
        elif name in self.bound:
            self.report.error(f"'{name}' is used{where} outside the block that binds it", stmt)
        elif name in self.types:
            self.report.error(f"'{name}' is used{where} before it is bound", stmt)
        else:
            self.report.error(f"'{name}' is used{where}, but nothing defines it", stmt)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
