"""Chains of names for one buffer, followed to their start where no path can lead elsewhere.

``y = assemble(x, ...)`` is in the buffer of ``x``; a loop's result is its init where the body hands the iter-arg on
through such steps. A long program has long chains; rules get their ends, so that they need few rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import (
    Assign,
    Block,
    Expr,
    For,
    FuncCall,
    Function,
    If,
    ListExpr,
    OpCall,
    Return,
    Scope,
    Submit,
    TupleGet,
    Var,
    While,
    Yield,
)
from tilesat.ir.ops import op_info
from tilesat.ir.types import TensorType, TupleType
from tilesat.ir.walk import walk
from tilesat.ir_terms.orch_facts_touch import element_name

HandsBack = Mapping[int, int]
"""Result of a function -> position of the parameter that it surely is, as a whole."""
_LAUNCHES = (FuncCall, Submit)


class Chains:
    """Names with the name each follows; ``end`` is where a chain starts."""

    def __init__(self) -> None:
        self._next: dict[str, str] = {}

    def follow(self, name: str, source: str) -> None:
        """Enter that ``name`` follows ``source``."""
        if self.end(source) != name:
            self._next[name] = source

    def end(self, name: str) -> str:
        path = []
        while name in self._next:
            path.append(name)
            name = self._next[name]
        for passed in path:
            self._next[passed] = name
        return name

    def items(self) -> Iterator[tuple[str, str]]:
        """Every name that follows another, and where its chain starts."""
        for name in list(self._next):
            yield name, self.end(name)


class Origins:
    """The chains of one function. ``buffers`` are followed through windows and recasts too, ``wholes`` are not."""

    def __init__(self, index: FunctionIndex, callees: Mapping[str, HandsBack]) -> None:
        self.index = index
        self.buffers = Chains()
        self.wholes = Chains()
        self.staying: set[tuple[int, int]] = set()
        """Slots (site of the loop, position) whose iter-arg is the init in every trip."""
        self._callees = callees
        self._tuples: dict[str, Expr] = {}
        self._site = 0
        self._ends(index.function.body)
        self.handed = {} if is_external(index.function) else self._handed()

    def _handed(self) -> dict[int, int]:
        """Results that are one parameter as a whole, whichever way the function returns."""
        function = self.index.function
        positions = {param.name: position for position, param in enumerate(function.params)}
        returns = [stmt for stmt in self.index.sites if isinstance(stmt, Return)]
        found: dict[int, int] = {}
        for result in range(len(function.returns)):
            ends = {self._whole_end(stmt.values, result) for stmt in returns}
            end = ends.pop() if len(ends) == 1 else None
            if end in positions:
                found[result] = positions[end]
        return found

    def _whole_end(self, values: tuple[Expr, ...], position: int) -> str | None:
        value = values[position] if position < len(values) else None
        return self.wholes.end(value.name) if isinstance(value, Var) else None

    # -------------------------------------------------------------------------- blocks

    def _ends(self, block: Block) -> tuple[Expr, ...]:
        """Follow the statements of ``block``; the values it yields."""
        yielded: tuple[Expr, ...] = ()
        for stmt in block:
            site = self._site
            self._site += 1
            if isinstance(stmt, Yield):
                yielded = stmt.values
            elif isinstance(stmt, Assign):
                self._assign(stmt)
            elif isinstance(stmt, (For, While)):
                self._loop(site, stmt)
            elif isinstance(stmt, If):
                self._branches(stmt)
            elif isinstance(stmt, Scope):
                yielded = self._ends(stmt.body) or yielded
        return yielded

    def _loop(self, site: int, stmt: For | While) -> None:
        values = self._ends(stmt.body)
        for position, (carry, value) in enumerate(zip(stmt.carries, values, strict=False)):
            if not isinstance(value, Var) or not isinstance(carry.init, Var) or not self._is_tensor(carry.init):
                continue
            result = stmt.results[position].name
            if self.buffers.end(value.name) == carry.name:
                self.staying.add((site, position))
                self.buffers.follow(carry.name, carry.init.name)
                self.buffers.follow(result, carry.init.name)
            if self.wholes.end(value.name) == carry.name:
                self.wholes.follow(carry.name, carry.init.name)
                self.wholes.follow(result, carry.init.name)

    def _branches(self, stmt: If) -> None:
        arms = [self._ends(stmt.then), self._ends(stmt.orelse or ())]
        for position, result in enumerate(stmt.results):
            values = [arm[position] for arm in arms if position < len(arm)]
            names = [value.name for value in values if isinstance(value, Var) and self._is_tensor(value)]
            if len(names) != 2:
                continue
            for chains in (self.buffers, self.wholes):
                if chains.end(names[0]) == chains.end(names[1]):
                    chains.follow(result.name, names[0])

    # --------------------------------------------------------------------- assignments

    def _assign(self, stmt: Assign) -> None:
        if isinstance(stmt.type, TupleType):
            self._tuples[stmt.name] = stmt.value
            for position, element in enumerate(stmt.type.elements):
                if isinstance(element, TensorType):
                    self._element(element_name(stmt.name, position), stmt.value, position)
        elif isinstance(stmt.type, TensorType):
            value = stmt.value
            if isinstance(value, TupleGet) and isinstance(value.value, Var):
                self._element(stmt.name, self._tuples.get(value.value.name), value.index)
            elif isinstance(value, OpCall):
                self._op(stmt.name, value)
            else:
                self._element(stmt.name, value, 0)

    def _element(self, name: str, source: Expr | None, position: int) -> None:
        """``name`` is element ``position`` of what ``source`` gives."""
        if isinstance(source, ListExpr) and position < len(source.items):
            self._same(name, source.items[position])
        elif isinstance(source, (FuncCall, Submit)):
            given = self._callees.get(source.callee, {}).get(position)
            if given is not None and given < len(source.args):
                self._same(name, source.args[given])
        elif isinstance(source, Var) and position == 0:
            self._same(name, source)

    def _op(self, name: str, call: OpCall) -> None:
        info = op_info(call.op)
        if info is None or not call.args:
            return
        if info.reuses_arg is not None:
            self._same(name, call.args[info.reuses_arg])
        elif (call.op == "tensor.slice" or info.is_view) and isinstance(call.args[0], Var):
            if self._is_tensor(call.args[0]):
                self.buffers.follow(name, call.args[0].name)

    def _is_tensor(self, variable: Var) -> bool:
        return isinstance(self.index.types.get(variable.name), TensorType)

    def _same(self, name: str, source: Expr) -> None:
        if isinstance(source, Var) and self._is_tensor(source):
            self.buffers.follow(name, source.name)
            self.wholes.follow(name, source.name)


Find = Callable[[Function, Mapping[str, HandsBack]], Origins]


def is_external(function: Function) -> bool:
    """Whether the body of ``function`` is not the one that runs."""
    return any(option == "external_source" for option, _ in function.options)


def origins_of(functions: Mapping[str, Function], find: Find) -> dict[str, Origins]:
    """The chains of every function, callees before callers; results of a call in a cycle of calls lead nowhere.

    ``find(function, callees)`` makes the chains of one function, or remembers them.
    """
    found: dict[str, Origins] = {}
    open_: set[str] = set()
    for name in functions:
        stack = [name]
        while stack:
            current = stack[-1]
            if current in found:
                stack.pop()
                continue
            waiting = [c for c in _callees(functions[current]) if c in functions and c not in found and c not in open_]
            if waiting and current not in open_:
                open_.add(current)
                stack += waiting
                continue
            stack.pop()
            callees = {c: found[c].handed for c in _callees(functions[current]) if c in found and found[c].handed}
            found[current] = find(functions[current], callees)
    return found


def _callees(function: Function) -> list[str]:
    names = [v.callee for stmt in walk(function.body) if isinstance(v := getattr(stmt, "value", None), _LAUNCHES)]
    return list(dict.fromkeys(names))
