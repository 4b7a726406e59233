"""Seed facts of a whole program: call sites, and which tensors share storage."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tilesat.ir.memory import called
from tilesat.ir.nodes import (
    ORCHESTRATION,
    Assign,
    Expr,
    For,
    FuncCall,
    Function,
    If,
    ListExpr,
    OpCall,
    Program,
    Return,
    Stmt,
    Submit,
    TupleGet,
    Var,
    While,
    Yield,
)
from tilesat.ir.ops import op_info
from tilesat.ir.types import ArrayType, Direction, ScalarType, TensorType, Type
from tilesat.ir.walk import children, inner_kinds, own_exprs, variable_types, walk
from tilesat.ir_terms.encode import Rows

_CREATES = frozenset({"tensor.create"})
_WRITES_INTO_FIRST = frozenset({"tensor.assemble"})


class EvidenceCollector:
    """Gathers the storage facts of ``program`` and the calls of the kernels in ``written``.

    ``written`` has, per kernel, the positions of the parameters that it writes, whatever their direction says.
    """

    def __init__(self, program: Program, written: Mapping[str, frozenset[int]]) -> None:
        self.program = program
        self.written = written
        self.functions = {function.name: function for function in program.functions}
        self.rows: Rows = defaultdict(list)
        self._calls = 0
        self._call_of: dict[str, tuple[int, Expr]] = {}
        callees = {call.callee for f in program.functions for s in walk(f.body) for call in _calls_in(s)}
        for function in program.functions:
            is_root = function.kind == ORCHESTRATION and function.name not in callees
            self._add("root-function" if is_root else "other-function", function.name)
            self._function(function)

    def _add(self, relation: str, *row: Any) -> None:
        self.rows[relation].append(row)

    # ----------------------------------------------------------------------- functions

    def _function(self, function: Function) -> None:
        name = function.name
        self._call_of = {}
        tensors = self._tensors(function)
        for position, param in enumerate(function.params):
            if not isinstance(param.type, TensorType):
                if _may_hold_memory(param.type):
                    self._add("param-writable", name, position)
                continue
            key = f"{name}:{param.name}"
            self._add("external", key)
            self._add("kernel-param", name, position, key)
            if param.direction is not Direction.In or position in self.written.get(name, ()):
                self._add("param-writable", name, position)
            if param.direction is Direction.In and name in self.written:
                self._add("param-in", name, position)
        for stmt in walk(function.body):
            numbers = {id(call): self._call(name, call, tensors) for call in _calls_in(stmt)}
            if isinstance(stmt, Assign):
                self._assign(name, stmt, numbers)
            elif isinstance(stmt, (For, While, If)):
                self._phis(name, stmt, tensors)
            elif isinstance(stmt, Return):
                for index, value in enumerate(stmt.values):
                    if isinstance(value, Var) and value.name in tensors:
                        self._add("returned", name, index, f"{name}:{value.name}")
                    else:
                        self._add("returned-unnamed", name, index)

    def _tensors(self, function: Function) -> set[str]:
        return {name for name, type_ in variable_types(function).items() if isinstance(type_, TensorType)}

    def _call(self, caller: str, call: FuncCall | Submit, tensors: set[str]) -> int:
        """Enter one call site; returns its number."""
        number = self._calls
        self._calls += 1
        self._add("submit-from" if isinstance(call, Submit) else "call-from", call.callee, caller, number)
        callee = self.functions.get(call.callee)
        for position, arg in enumerate(call.args):
            if isinstance(arg, Var) and arg.name in tensors:
                self._add("actual", number, position, f"{caller}:{arg.name}")
            elif callee is None or (position < len(callee.params) and _has_memory(callee.params[position].type)):
                self._add("actual-unnamed", number, position)
        return number

    # ------------------------------------------------------------------------- storage

    def _assign(self, function: str, stmt: Assign, numbers: dict[int, int]) -> None:
        value = stmt.value
        if isinstance(value, (FuncCall, Submit)):
            self._call_of[stmt.name] = (numbers[id(value)], value)
        elif isinstance(value, ListExpr):
            self._call_of[stmt.name] = (-1, value)
        if not isinstance(stmt.type, TensorType):
            return
        key = f"{function}:{stmt.name}"
        if isinstance(value, Var):
            self._add("same-storage", key, f"{function}:{value.name}")
        elif isinstance(value, OpCall):
            self._op(function, key, value)
        elif isinstance(value, FuncCall) and value.callee in self.functions:
            self._add("call-result", key, numbers[id(value)], 0)
        elif isinstance(value, TupleGet) and isinstance(value.value, Var):
            self._projection(function, key, value.value.name, value.index)
        else:
            self._add("untraced", key)

    def _op(self, function: str, key: str, call: OpCall) -> None:
        info = op_info(call.op)
        if call.op in _CREATES:
            self._add("created", key, function)
            return
        position = None
        if info is not None:
            shares_first = info.is_view or call.op in _WRITES_INTO_FIRST
            position = info.reuses_arg if info.reuses_arg is not None else (0 if shares_first else None)
        source = call.args[position] if position is not None and position < len(call.args) else None
        if isinstance(source, Var):
            self._add("same-storage", key, f"{function}:{source.name}")
        else:
            self._add("untraced", key)

    def _projection(self, function: str, key: str, source: str, index: int) -> None:
        number, value = self._call_of.get(source, (-1, None))
        if isinstance(value, (FuncCall, Submit)) and value.callee in self.functions:
            self._add("call-result", key, number, index)
            return
        element = value.items[index] if isinstance(value, ListExpr) and index < len(value.items) else None
        if isinstance(element, Var):
            self._add("same-storage", key, f"{function}:{element.name}")
        else:
            self._add("untraced", key)

    def _phis(self, function: str, stmt: For | While | If, tensors: set[str]) -> None:
        def flow(target: str, source: Expr) -> None:
            if target in tensors:
                if isinstance(source, Var):
                    self._add("same-storage", f"{function}:{target}", f"{function}:{source.name}")
                else:
                    self._add("untraced", f"{function}:{target}")

        if isinstance(stmt, If):
            for block in (stmt.then, stmt.orelse or ()):
                for result, value in zip(stmt.results, _yielded(block), strict=False):
                    flow(result.name, value)
            return
        yielded = _yielded(stmt.body)
        for position, carry in enumerate(stmt.carries):
            flow(carry.name, carry.init)
            if position < len(yielded):
                flow(carry.name, yielded[position])
            flow(stmt.results[position].name, Var(carry.name))


def _may_hold_memory(type_: Type) -> bool:
    """Whether a parameter of ``type_``, which is no tensor, may stand for memory that is written through it."""
    return not isinstance(type_, (ScalarType, ArrayType))


def _has_memory(type_: Type) -> bool:
    return isinstance(type_, TensorType) or _may_hold_memory(type_)


def _yielded(block: tuple[Stmt, ...]) -> tuple[Expr, ...]:
    last = next((stmt for stmt in reversed(block) if isinstance(stmt, Yield)), None)
    return () if last is None else last.values


def _calls_in(stmt: Stmt) -> list[FuncCall | Submit]:
    """The calls and submits that ``stmt`` itself makes, nested ones included."""
    found: list[FuncCall | Submit] = []
    if not isinstance(called(stmt), (FuncCall, Submit)) and inner_kinds(stmt).isdisjoint((FuncCall, Submit)):
        return found
    stack = list(own_exprs(stmt))
    while stack:
        expr = stack.pop()
        if isinstance(expr, (FuncCall, Submit)):
            found.append(expr)
        stack.extend(children(expr))
    return found
