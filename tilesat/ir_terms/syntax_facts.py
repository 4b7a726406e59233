"""Facts that say what the syntax of a function does: calls, operands, aliases, carried slots, branches.

Rules match these; the terms themselves are loaded where a rule mentions one.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import Assign, EnumConst, EvalStmt, For, FuncCall, If, OpCall, TupleGet, Var, While, Yield
from tilesat.ir_terms.encode import Rows
from tilesat.ir_terms.relations import SPACE_NUMBERS

_SPACES = {f"Mem.{space.value}": number for space, number in SPACE_NUMBERS.items()}


def syntax_facts(index: FunctionIndex) -> Rows:
    """The rows of these relations for one function."""
    reader = _Reader(index)
    reader.run()
    return reader.rows


class _Reader:
    def __init__(self, index: FunctionIndex) -> None:
        self.index = index
        self.rows: Rows = defaultdict(list)
        self._tiles = frozenset(index.tile_names())

    def _add(self, relation: str, *row: Any) -> None:
        self.rows[relation].append(row)

    def run(self) -> None:
        for site, stmt in enumerate(self.index.sites):
            if isinstance(stmt, Assign):
                self._assign(site, stmt)
            elif isinstance(stmt, EvalStmt) and isinstance(stmt.value, OpCall):
                self._call(site, stmt.value)
            elif isinstance(stmt, (For, While)):
                self._loop(site, stmt)
            elif isinstance(stmt, If):
                self._results("if-result", site, stmt)
        for (site, arm), end in self.index.yields.items():
            self._yield(site, arm, self.index.sites[end])

    def _assign(self, site: int, stmt: Assign) -> None:
        value = stmt.value
        if isinstance(value, OpCall):
            self._add("binds", site, stmt.name)
            self._call(site, value)
        elif stmt.name not in self._tiles:
            return
        elif isinstance(value, Var):
            self._add("same-as", stmt.name, value.name)
        elif isinstance(value, FuncCall):
            self._add("called", stmt.name)
        elif isinstance(value, TupleGet):
            self._add("projected", stmt.name)

    def _call(self, site: int, call: OpCall) -> None:
        self._add("op-at", site, call.op)
        tiles = [(k, arg.name) for k, arg in enumerate(call.args) if isinstance(arg, Var) and arg.name in self._tiles]
        for position, name in tiles:
            self._add("reads", site, position, name)
        if tiles:
            self._add("first-tile", site, tiles[0][0])
        for key, value in call.kwargs:
            if key == "target_memory" and isinstance(value, EnumConst) and value.path in _SPACES:
                self._add("target", site, _SPACES[value.path])

    def _loop(self, site: int, stmt: For | While) -> None:
        for position, carry in enumerate(stmt.carries):
            if carry.name in self._tiles:
                self._add("iter-arg", site, position, carry.name)
                if isinstance(carry.init, Var):
                    self._add("starts-from", site, position, carry.init.name)
        self._results("loop-result", site, stmt)

    def _results(self, relation: str, site: int, stmt: For | While | If) -> None:
        for position, result in enumerate(stmt.results):
            if result.name in self._tiles:
                self._add(relation, site, position, result.name)

    def _yield(self, site: int, arm: int, stmt: object) -> None:
        assert isinstance(stmt, Yield)
        for position, value in enumerate(stmt.values):
            if isinstance(value, Var) and value.name in self._tiles:
                self._add("yielded", site, arm, position, value.name)
