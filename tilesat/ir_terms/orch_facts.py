"""Seed facts of a whole program for the orchestration pass: launches, storage, order.

Everything here is read off the syntax. Kernels contribute which parameters they hand back; callers contribute
launches, the flow of buffers through aliases, slices, carries and branches, and the order of their statements.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

from tilesat.ir.index import FunctionIndex, trip_count
from tilesat.ir.nodes import (
    OPAQUE,
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
from tilesat.ir.types import Direction, TensorType, TupleType
from tilesat.ir.walk import reads
from tilesat.ir_terms.encode import Rows
from tilesat.ir_terms.orch_facts_lists import StatementLists
from tilesat.ir_terms.orch_facts_origins import Origins, is_external, origins_of
from tilesat.ir_terms.orch_facts_touch import calls_in, element_name, leaked, live_until, touched
from tilesat.ir_terms.orch_facts_workspace import Workspace

REWRITTEN = (ORCHESTRATION, OPAQUE)
"""Kinds of functions whose call sites may change (ORC-S-01)."""

MOST_PROGRAMS = 3
"""Programs whose facts are kept: what one pattern leaves alone, the next one need not read again."""


@dataclass(frozen=True, slots=True)
class Launch:
    """One call or submit of a function of the program."""

    number: int
    caller: str
    site: int
    call: FuncCall | Submit
    callee: Function

    @property
    def is_submit(self) -> bool:
        return isinstance(self.call, Submit)


class ProgramFacts:
    """Gathers the rows that all patterns share; ``rows`` is ready to load when constructed."""

    def __init__(self, program: Program, workspace: Workspace) -> None:
        self.program = program
        self.workspace = workspace
        self.functions = {function.name: function for function in program.functions}
        self.rows: Rows = defaultdict(list)
        self.launches: list[Launch] = []
        self.result_names: dict[tuple[int, int], list[str]] = defaultdict(list)
        """(launch, index of a result) -> tensor variables bound to it."""
        self.uses: dict[str, Counter[str]] = {}
        """Function -> how often each name is read anywhere in it."""
        self._elements: list[tuple[str, str, int]] = []
        """Elements of tuples: function, key, statement that binds the tuple."""
        self._launched: dict[str, int] = {}
        """Variable that is a result of a launch, or an element of it -> the launch."""
        self._use_sites: dict[str, dict[str, list[int]]] = {}
        self._bases: dict[str, int] = {}
        self._starts: list[int] = []
        self._owners: list[Function] = []
        base = 0
        for function in program.functions:
            self._bases[function.name] = base
            count = len(self.index(function).sites)
            if count:
                self._starts.append(base)
                self._owners.append(function)
            base += count
        self._find_launches()
        self.called = {launch.callee.name for launch in self.launches}
        self.callers = {launch.caller for launch in self.launches}
        self.origins = origins_of(self.functions, workspace.origins)
        self._made: set[str] = set()
        """Variables bound to storage of their own."""
        self._born: dict[str, int] = {}
        self._params: dict[str, set[str]] = defaultdict(set)
        for function in program.functions:
            self._parameters(function)
            self._storage(function, self.origins[function.name])
            self._results(function)
        for function in program.functions:
            self._births(function.name)
        self.rows["born"] += self._born.items()
        for launch in self.launches:
            self._launch(launch)

    # ------------------------------------------------------------------------- queries

    def index(self, function: Function) -> FunctionIndex:
        return self.workspace.index(function)

    def number(self, function: str, site: int) -> int:
        """The number of a function's statement in the whole program."""
        return self._bases[function] + site

    def located(self, number: int) -> tuple[Function, int]:
        """The function and site of statement ``number``."""
        position = bisect_right(self._starts, number) - 1
        return self._owners[position], number - self._starts[position]

    def use_sites(self, function: str) -> dict[str, list[int]]:
        """For each name, the statements of ``function`` that read it, as often as they do."""
        known = self._use_sites.get(function)
        if known is None:
            known = self._use_sites[function] = defaultdict(list)
            for site, stmt in enumerate(self.index(self.functions[function]).sites):
                for name in reads(stmt):
                    known[name].append(site)
        return known

    def statement_lists(self, function: str) -> StatementLists:
        return self.workspace.derived("lists", self.functions[function], StatementLists)

    def statement(self, number: int) -> Stmt:
        function, site = self.located(number)
        return self.index(function).sites[site]

    def tensor(self, function: str, expr: Expr) -> str | None:
        """The key of ``expr`` where it is a tensor variable."""
        if not isinstance(expr, Var):
            return None
        type_ = self.index(self.functions[function]).types.get(expr.name)
        return f"{function}:{expr.name}" if isinstance(type_, TensorType) else None

    def type_of(self, function: str, name: str) -> TensorType | None:
        type_ = self.index(self.functions[function]).types.get(name)
        return type_ if isinstance(type_, TensorType) else None

    def add(self, relation: str, *row: Any) -> None:
        self.rows[relation].append(row)

    # ----------------------------------------------------------------------- functions

    def _parameters(self, function: Function) -> None:
        name = function.name
        if function.is_incore:
            self.add("kernel", name)
        for position, param in enumerate(function.params):
            if not isinstance(param.type, TensorType):
                continue
            self._params[name].add(f"{name}:{param.name}")
            self.add("tensor-param", name, position, f"{name}:{param.name}")
            self.add("param-way", name, position, param.direction.value)
            if param.direction is not Direction.In or name in self.called:
                self.add("callers-see", f"{name}:{param.name}")

    def _find_launches(self) -> None:
        for function in self.program.functions:
            index = self.index(function)
            self.uses[function.name] = Counter(name for stmt in index.sites for name in reads(stmt))
            for site, stmt in enumerate(index.sites):
                for call in calls_in(stmt):
                    callee = self.functions.get(call.callee)
                    if callee is not None:
                        number = self.number(function.name, site)
                        self.launches.append(Launch(number, function.name, site, call, callee))

    def _launch(self, launch: Launch) -> None:
        number, caller, callee = launch.number, launch.caller, launch.callee
        self.add("launch", number, callee.name, caller)
        self.add("launch-submit" if launch.is_submit else "launch-call", number)
        for position, param in enumerate(callee.params):
            if not isinstance(param.type, TensorType):
                continue
            if position >= len(launch.call.args):
                self.add("left-out", number, position)
                continue
            key = self.tensor(caller, launch.call.args[position])
            if key is None:
                self.add("given-other", number, position)
            else:
                self.add("given", number, position, key)

    # ------------------------------------------------------------------------- storage

    def _storage(self, function: Function, origins: Origins) -> None:
        name = function.name
        for relation, chains in (("origin", origins.buffers), ("whole-origin", origins.wholes)):
            for variable, end in chains.items():
                self.add(relation, f"{name}:{variable}", f"{name}:{end}")
        index = self.index(function)
        bound: dict[str, tuple[int, Expr]] = {}
        for site, stmt in enumerate(index.sites):
            for tensor in sorted(leaked(stmt, index)):
                self.add("leaks", f"{name}:{tensor}")
            if isinstance(stmt, Assign):
                if isinstance(stmt.value, (FuncCall, Submit, ListExpr)):
                    bound[stmt.name] = (site, stmt.value)
                if isinstance(stmt.type, TupleType):
                    self._tuple_assign(name, site, stmt, stmt.type)
                if isinstance(stmt.type, TensorType):
                    self._tensor_assign(name, site, stmt, bound)
            elif isinstance(stmt, (For, While)):
                self._slots(name, site, stmt, origins)
            elif isinstance(stmt, If):
                self._phis(name, site, stmt)

    def _results(self, function: Function) -> None:
        """Which tensors ``function`` hands back; what is no variable is unknown."""
        returns = [stmt for stmt in self.index(function).sites if isinstance(stmt, Return)]
        for position, type_ in enumerate(function.returns):
            if not isinstance(type_, TensorType):
                continue
            known = 0
            for stmt in returns:
                fits = len(stmt.values) == len(function.returns)
                key = self.tensor(function.name, stmt.values[position]) if fits else None
                if key is not None:
                    known += 1
                    self.add("hands-back", function.name, position, key)
            if known == 0 or known < len(returns):
                self.add("hands-back-other", function.name, position)

    def _tuple_assign(self, function: str, site: int, stmt: Assign, type_: TupleType) -> None:
        """Elements of a tuple are variables of their own, for statements that use the tuple itself."""
        for position, element in enumerate(type_.elements):
            if not isinstance(element, TensorType):
                continue
            key = f"{function}:{element_name(stmt.name, position)}"
            self._elements.append((function, key, self.number(function, site)))
            if isinstance(stmt.value, (FuncCall, Submit)):
                self._result(function, site, position, key, stmt.value)
            elif isinstance(stmt.value, ListExpr) and position < len(stmt.value.items):
                self._alias(function, site, key, stmt.value.items[position], "whole-alias")
            else:
                self.add("stray", key)

    def _tensor_assign(self, function: str, site: int, stmt: Assign, bound: dict[str, tuple[int, Expr]]) -> None:
        key, value = f"{function}:{stmt.name}", stmt.value
        if isinstance(value, Var):
            self._alias(function, site, key, value, "whole-alias")
        elif isinstance(value, OpCall):
            self._op(function, site, key, value)
        elif isinstance(value, FuncCall):
            self._result(function, site, 0, key, value)
        elif isinstance(value, TupleGet) and isinstance(value.value, Var):
            origin, source = bound.get(value.value.name, (-1, None))
            if isinstance(source, (FuncCall, Submit)):
                self._result(function, origin, value.index, key, source)
            elif isinstance(source, ListExpr) and value.index < len(source.items):
                self._alias(function, site, key, source.items[value.index], "whole-alias")
            else:
                self.add("stray", key)
        else:
            self.add("stray", key)

    def _alias(self, function: str, site: int, key: str, source: Expr, how: str) -> None:
        origin = self.tensor(function, source)
        if origin is None:
            self.add("stray", key)
            return
        self.add("alias-at", self.number(function, site), key, origin)
        self.add(how, key, origin)

    def _op(self, function: str, site: int, key: str, call: OpCall) -> None:
        info = op_info(call.op)
        if info is None or not call.args:
            self.add("stray", key)
        elif info.reuses_arg is not None:
            self._alias(function, site, key, call.args[info.reuses_arg], "whole-alias")
        elif call.op == "tensor.slice":
            self._alias(function, site, key, call.args[0], "window-alias")
        elif info.is_view:
            self._alias(function, site, key, call.args[0], "recast-alias")
        elif info.is_pure:
            self._made.add(key)
            self.add("makes", key)
        else:
            self.add("stray", key)

    def _result(self, function: str, site: int, index: int, key: str, call: FuncCall | Submit) -> None:
        if call.callee not in self.functions or is_external(self.functions[call.callee]):
            self.add("stray", key)
            return
        number = self.number(function, site)
        self.add("gives", number, index, key)
        self._launched[key] = number
        if "#" not in key:
            self.result_names[number, index].append(key)

    def _slots(self, function: str, site: int, stmt: For | While, origins: Origins) -> None:
        number = self.number(function, site)
        index = self.index(self.functions[function])
        last = index.yields.get((site, 0))
        end = None if last is None else index.sites[last]
        values = end.values if isinstance(end, Yield) else ()
        for position, carry in enumerate(stmt.carries):
            if not isinstance(carry.type, TensorType):
                continue
            self.add("loop-slot", number, position, f"{function}:{carry.name}")
            if (site, position) not in origins.staying:
                self.add("moving-slot", number, position, f"{function}:{carry.name}")
            self.add("slot-result", number, position, f"{function}:{stmt.results[position].name}")
            init = self.tensor(function, carry.init)
            yielded = self.tensor(function, values[position]) if position < len(values) else None
            if init is not None:
                self.add("slot-init", number, position, init)
            if yielded is not None:
                self.add("slot-yield", number, position, yielded, self.number(function, last or 0))
            if init is None or yielded is None:
                self.add("slot-open", number, position)

    def _phis(self, function: str, site: int, stmt: If) -> None:
        number = self.number(function, site)
        index = self.index(self.functions[function])
        for position, result in enumerate(stmt.results):
            if not isinstance(result.type, TensorType):
                continue
            self.add("phi-result", number, position, f"{function}:{result.name}")
            for arm in (0, 1):
                last = index.yields.get((site, arm))
                end = None if last is None else index.sites[last]
                if not isinstance(end, Yield) or last is None or position >= len(end.values):
                    continue
                source = self.tensor(function, end.values[position])
                if source is None:
                    self.add("stray", f"{function}:{result.name}")
                else:
                    self.add("phi-from", number, position, source, self.number(function, last))

    # --------------------------------------------------------------------------- order

    def add_lives(self, name: str, numbers: Sequence[int]) -> None:
        """Enter which names of tensors of function ``name`` matter after each of the launches ``numbers``.

        Names that surely are a certain parameter or create are listed by buffer; of the others, which may be many
        buffers, those that somebody may still read are listed by launch.
        """
        base, chains = self._bases[name], self.origins[name].buffers
        lives: list[tuple[int, int, str]] = []
        for variable, last in live_until(self.index(self.functions[name]), self.use_sites(name)):
            key, end = f"{name}:{variable}", f"{name}:{chains.end(variable)}"
            if end in self._made or self._is_param(name, end):
                self.add("firm", key, end)
                self.add("live-until", key, 2 * (base + last))
            elif key in self._born:
                lives.append((self._born[key], 2 * (base + last), key))
        lives.sort()
        waiting: list[tuple[int, str]] = []
        position = 0
        for number in sorted(numbers):
            while position < len(lives) and lives[position][0] < 2 * number:
                heappush(waiting, lives[position][1:])
                position += 1
            while waiting and waiting[0][0] <= 2 * number:
                heappop(waiting)
            for _, key in waiting:
                self.add("live-at", number, key)

    def _is_param(self, function: str, key: str) -> bool:
        return key in self._params.get(function, ())

    def add_order(self, name: str) -> None:
        """Enter the order of statements of function ``name``, and where its tensors are touched."""
        function = self.functions[name]
        index = self.index(function)
        base = self._bases[name]
        region_base = 3 * base  # A statement opens at most two lists.
        for site, stmt in enumerate(index.sites):
            number = base + site
            region, direct = index.region_of[site], site
            while region >= 0:
                self.add("within", number, region_base + region, base + direct)
                owner = index.regions[region].owner
                if owner >= 0 and isinstance(index.sites[owner], (For, While)):
                    self.add("in-loop", number, base + owner)
                region, direct = index.regions[region].parent, owner
            for tensor in sorted(touched(stmt, index)):
                # A condition is evaluated again in every trip.
                self.add("touched", f"{name}:{tensor}", number)
                if isinstance(stmt, While):
                    self.add("in-loop", number, number)

    def _births(self, name: str) -> None:
        """When the tensors of function ``name`` are bound, and where its loops begin."""
        index, base = self.index(self.functions[name]), self._bases[name]
        calls = name in self.callers
        for site, stmt in enumerate(index.sites):
            if isinstance(stmt, (For, While)):
                self.add("loop-from", base + site, 2 * (base + site))
                if not isinstance(stmt, For) or not trip_count(stmt):
                    self.add("may-skip", base + site)
                for region in index.ancestors(index.region_of[site]):
                    if index.regions[region].kind == "loop":
                        self.add("loop-in", base + site, base + index.regions[region].owner)
        for variable, definition in index.definitions.items():
            if not isinstance(index.types.get(variable), TensorType):
                continue
            position = 2 * (base + definition.site)
            launched = self._launched.get(f"{name}:{variable}")
            if launched is not None:
                # An element of a launch's results is there since the launch.
                position = 2 * launched
            if definition.how == "carry":
                position += 1
            elif definition.how == "result":
                position = 2 * (base + self._end(index, definition.site)) - 1
            self._born[f"{name}:{variable}"] = position
            if calls:
                self.add("in-function", f"{name}:{variable}", name)
        for function, key, number in self._elements:
            if function == name:
                self._born[key] = 2 * number
                self.add("in-function", key, name)

    def _end(self, index: FunctionIndex, site: int) -> int:
        arms = [index.arms[site, arm] for arm in (0, 1) if (site, arm) in index.arms]
        return max([site + 1, *(index.regions[arm].end for arm in arms)])


def program_facts(program: Program, workspace: Workspace) -> ProgramFacts:
    """The facts of ``program``, whose rows are the caller's own; those of the last programs are remembered."""
    known = workspace.programs.pop(id(program), None)
    if known is None:
        known = (program, ProgramFacts(program, workspace))
    workspace.programs[id(program)] = known
    while len(workspace.programs) > MOST_PROGRAMS:
        workspace.programs.pop(next(iter(workspace.programs)))
    facts: ProgramFacts = copy(known[1])
    facts.rows = defaultdict(list, {relation: list(rows) for relation, rows in known[1].rows.items()})
    return facts
