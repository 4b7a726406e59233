"""Seed facts for in-place merges: which outputs come back as inputs, and what a kernel reads after it wrote."""

from __future__ import annotations

from collections import defaultdict

from tilesat.ir.index import Definition, FunctionIndex
from tilesat.ir.nodes import (
    Assign,
    EnumConst,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    Function,
    OpCall,
    Stmt,
    Submit,
    Var,
    While,
)
from tilesat.ir.types import Direction, TensorType
from tilesat.ir.walk import blocks, walk
from tilesat.ir_terms.orch_facts import REWRITTEN, Launch, ProgramFacts
from tilesat.ir_terms.orch_facts_kernel import kernel_facts, tensors, unlike_types
from tilesat.ir_terms.orch_facts_origins import is_external

_SPLIT = frozenset({"split", "split_aiv", "dual_aiv_dispatch"})
_OBSERVED = frozenset({"predicate", "dumps"})


class ReuseFacts:
    """Adds the rows of pattern 1 to those of a program."""

    def __init__(self, facts: ProgramFacts) -> None:
        self.facts = facts
        self._order = 0
        launched = {launch.callee.name for launch in facts.launches}
        candidates = {f.name for f in facts.program.functions if f.name in launched and is_candidate(f)}
        numbers: dict[str, list[int]] = defaultdict(list)
        """Caller -> its launches of candidates."""
        for launch in facts.launches:
            if launch.callee.name in candidates:
                numbers[launch.caller].append(launch.number)
        self.is_empty = not candidates
        for name in sorted(candidates):
            self._kernel(facts.functions[name])
        for function in facts.program.functions:
            if function.name in numbers:
                facts.add_order(function.name)
                facts.add_lives(function.name, numbers[function.name])
                self._caller(function, candidates)
        for launch in facts.launches:
            if launch.callee.name in candidates:
                self._launch(launch)

    # ------------------------------------------------------------------------- kernels

    def _kernel(self, function: Function) -> None:
        name, add = function.name, self.facts.add
        found = kernel_facts(self.facts.workspace, function)
        for output, result in found.results.items():
            add("output-result", name, output, result)
        for output, other, why in found.sees:
            add("sees-stored", name, output, other, why)
        for output, why in found.unfilled:
            add("not-filled", name, output, why)
        for output in found.read_outputs:
            add("output-read", name, output)
        for given, output in found.carried:
            add("carried-whole", name, given, output)
        for position, param in tensors(function, Direction.In):
            for other, stored in tensors(function, Direction.Out):
                assert isinstance(param.type, TensorType)
                assert isinstance(stored.type, TensorType)
                difference = unlike_types(param.type, stored.type)
                if difference:
                    add("unlike-params", name, position, other, difference)

    # ------------------------------------------------------------------------- callers

    def _caller(self, function: Function, candidates: set[str]) -> None:
        facts = self.facts
        for name, count in facts.uses[function.name].items():
            if count > 1 and facts.type_of(function.name, name) is not None:
                facts.add("used-again", f"{function.name}:{name}")
        index = facts.index(function)
        if function.is_incore:
            return
        site_of = {id(stmt): site for site, stmt in enumerate(index.sites)}
        in_loop: set[int] = set()
        self._scan(function, function.body, site_of, in_loop)
        for site, stmt in enumerate(index.sites):
            if _plain_call(stmt) is not None and site not in in_loop:
                facts.add("out-of-loops", facts.number(function.name, site))

    def _scan(self, function: Function, body: tuple[Stmt, ...], site_of: dict[int, int], in_loop: set[int]) -> None:
        """Carried loops, inner ones first: the order in which calls may decide (peer behaviour, section 8.1)."""
        for stmt in body:
            for inner in blocks(stmt):
                self._scan(function, inner, site_of, in_loop)
            if not isinstance(stmt, (For, While)) or not stmt.carries:
                continue
            loop = self.facts.number(function.name, site_of[id(stmt)])
            for inside in walk(stmt.body):
                if _plain_call(inside) is not None:
                    in_loop.add(site_of[id(inside)])
            for direct in stmt.body:
                if _plain_call(direct) is None:
                    continue
                number = self.facts.number(function.name, site_of[id(direct)])
                self.facts.add("loop-call", number, loop)
                self.facts.add("scan-order", number, self._order)
                self._order += 1

    # ------------------------------------------------------------------------ launches

    def _launch(self, launch: Launch) -> None:
        facts, number = self.facts, launch.number
        caller = facts.functions[launch.caller]
        why = self._fixed(launch, caller)
        if why:
            facts.add("fixed-launch", number, why)
        args = launch.call.args
        inputs = [(p, args[p]) for p, _ in tensors(launch.callee, Direction.In) if p < len(args)]
        for output, _ in tensors(launch.callee, Direction.Out):
            if output >= len(args):
                facts.add("omitted", number, output)
                continue
            arg = args[output]
            self._output(launch, caller, output, arg)
            for position, given in inputs:
                types = [facts.type_of(caller.name, x.name) if isinstance(x, Var) else None for x in (given, arg)]
                if types[0] is not None and types[1] is not None and types[0] != types[1]:
                    facts.add("unlike-given", number, position, output, "the tensors given have different types")

    def _fixed(self, launch: Launch, caller: Function) -> str:
        """Why this launch cannot take part in a merge, empty when it can."""
        if caller.kind not in REWRITTEN:
            return f"'{caller.name}' is a function of type {caller.kind}, whose calls stay as they are"
        named = (*launch.call.kwargs, *launch.call.attrs, *launch.callee.attrs)
        if any(key == "core_num" for key, _ in named) or (isinstance(launch.call, Submit) and launch.call.spmd):
            return "it runs on several blocks, which may read what others have written"
        keys = {key for key, _ in named}
        if keys & _SPLIT:
            return "its work is split between cores, which may read what others have written"
        if keys & _OBSERVED or any("dump" in key for key in keys):
            return "it may not run, or its arguments are shown"
        if launch.site in self.facts.statement_lists(caller.name).manual:
            return "in a manual scope nothing else orders the write after earlier reads"
        if is_external(launch.callee):
            return f"the body of '{launch.callee.name}' is not known"
        return ""

    def _output(self, launch: Launch, caller: Function, output: int, arg: Expr) -> None:
        facts, number = self.facts, launch.number
        definition = created(facts.index(caller), arg)
        if definition is None or not isinstance(arg, Var):
            facts.add("not-created", number, output)
            facts.add("not-fresh", number, output, "its buffer is not created for it")
            return
        lists = facts.statement_lists(caller.name).numbers
        if lists[definition.site] == lists[launch.site]:
            facts.add("made-beside", number, output)
        why = not_fresh(facts, launch, arg.name, definition)
        if why:
            facts.add("not-fresh", number, output, why)
        else:
            facts.add("fresh-for", number, output, f"{caller.name}:{arg.name}")


def _plain_call(stmt: Stmt) -> FuncCall | None:
    value = stmt.value if isinstance(stmt, (Assign, EvalStmt)) else None
    return value if isinstance(value, FuncCall) else None


def created(index: FunctionIndex, arg: Expr | None) -> Definition | None:
    """Where ``arg`` is bound, if to a create."""
    definition = index.definitions.get(arg.name) if isinstance(arg, Var) else None
    if definition is None or definition.how != "assign":
        return None
    stmt = index.sites[definition.site]
    is_create = isinstance(stmt, Assign) and isinstance(stmt.value, OpCall) and stmt.value.op == "tensor.create"
    return definition if is_create else None


def not_fresh(facts: ProgramFacts, launch: Launch, name: str, definition: Definition) -> str:
    """Why the create ``name`` does not serve ``launch`` alone, empty when it does."""
    index = facts.index(facts.functions[launch.caller])
    if facts.uses[launch.caller][name] > 1:
        return f"the buffer '{name}' has other uses"
    if _loops_around(index, launch.site) != _loops_around(index, definition.site):
        return f"the buffer '{name}' is created outside the loop"
    if not _is_plain_create(index.sites[definition.site]):
        return f"the buffer '{name}' is created with contents or a layout"
    return ""


def _is_plain_create(stmt: Stmt) -> bool:
    assert isinstance(stmt, Assign)
    assert isinstance(stmt.value, OpCall)
    layout = stmt.value.kwarg("layout")
    plain = layout is None or (isinstance(layout, EnumConst) and layout.path.endswith(".ND"))
    return plain and stmt.value.kwarg("init_value") is None and not stmt.value.attrs


def _loops_around(index: FunctionIndex, site: int) -> list[int]:
    return [region for region in index.ancestors(index.region_of[site]) if index.regions[region].kind == "loop"]


def is_candidate(function: Function) -> bool:
    """Whether ``function`` is a kernel with an input and an output that could be one buffer."""
    return function.is_incore and bool(tensors(function, Direction.In)) and bool(tensors(function, Direction.Out))
