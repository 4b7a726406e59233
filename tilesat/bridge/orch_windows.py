"""Pattern 5: launches slice their tensors, call the narrowed kernel, and assemble its outputs."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from tilesat.bridge.names import Names
from tilesat.bridge.orch_clone import Clone, Windows, windowed_clone
from tilesat.bridge.orch_edit import call_of, renamed_block, replace_functions, with_clones
from tilesat.bridge.orch_stage import OrchContext, Picked, place_at, total
from tilesat.extract.decided import read_reasons
from tilesat.extract.orch_choice import LaunchOptions, Option
from tilesat.extract.orch_cost import Frequencies, byte_count
from tilesat.ir.affine import folded, has_call
from tilesat.ir.nodes import (
    Assign,
    Block,
    Const,
    Expr,
    FuncCall,
    Function,
    ListExpr,
    OpCall,
    Program,
    Stmt,
    Submit,
    TupleGet,
    Var,
)
from tilesat.ir.types import Dim, ScalarType, TensorType, TupleType, Type
from tilesat.ir.walk import blocks, rename_expr, with_blocks
from tilesat.ir_terms.egraph import EGraph
from tilesat.ir_terms.orch_facts import Launch, ProgramFacts
from tilesat.ir_terms.orch_facts_aggregates import kernel_windows
from tilesat.ir_terms.orch_facts_launches import WindowFacts, parent_of
from tilesat.ir_terms.orch_facts_origins import Chains
from tilesat.ir_terms.orch_facts_windows import ParamWindow, Piece


def externalize_windows(program: Program, context: OrchContext) -> Program:
    """Pattern 5 on ``program`` (ORC-5-01 to ORC-5-08)."""
    facts = context.facts(program)
    start = time.perf_counter()
    found = WindowFacts(facts)
    context.clock.add("facts", start)
    if found.is_empty:
        return program
    with context.decided("windows", facts.rows) as graph:
        windows = _read_windows(graph, facts)
        here = {int(number) for (number,) in graph.table("window-here").read("int")}
        start = time.perf_counter()
        picked = _picked(facts, context, windows, here)
        chosen = {number: _windows(pick) for number, pick in picked.items()}
        context.clock.add("choose", start)
        _report(graph, facts, context, windows, picked)
    start = time.perf_counter()
    result = _apply(program, facts, chosen)
    context.clock.add("rewrite", start)
    return result


def _read_windows(graph: EGraph, facts: ProgramFacts) -> dict[str, Windows]:
    outputs: dict[str, dict[int, ParamWindow]] = defaultdict(dict)
    inputs: dict[str, dict[int, ParamWindow]] = defaultdict(dict)
    for kernel, position, form in sorted(graph.table("out-window").read("str", "int", "str")):
        found = kernel_windows(facts.workspace, facts.functions[kernel])
        outputs[kernel][position] = (found.outputs if form == "final" else found.aggregates)[position]
    for kernel, position in sorted(graph.table("in-window").read("str", "int")):
        inputs[kernel][position] = kernel_windows(facts.workspace, facts.functions[kernel]).inputs[position]
    return {kernel: Windows(outputs[kernel], inputs[kernel]) for kernel in {*outputs, *inputs}}


def _windows(picked: Picked) -> Windows:
    assert isinstance(picked.variant, Windows)
    return picked.variant


def _picked(
    facts: ProgramFacts, context: OrchContext, windows: Mapping[str, Windows], here: set[int]
) -> dict[int, Picked]:
    """The windows of each launch that gets any: all of its kernel, or what a search takes."""
    launches = [launch for launch in facts.launches if launch.number in here]
    if context.search is None:
        return {launch.number: Picked(windows[launch.callee.name]) for launch in launches}
    frequencies = Frequencies(facts, context.search.model.frequency)
    problems = []
    for launch in launches:
        found = windows[launch.callee.name]
        ways = [None, found, *([Windows(found.outputs, {})] if found.outputs and found.inputs else [])]
        options = [Option(_key(way), _cost(launch, way, facts, frequencies, context)) for way in ways]
        problems.append(LaunchOptions(launch.callee.name, options, 1))
    result: dict[int, Picked] = {}
    for launch, pick in zip(launches, context.search.pick(problems, is_free=True), strict=True):
        found = windows[launch.callee.name]
        if pick.variant is not None:
            way = found if pick.variant == _key(found) else Windows(found.outputs, {})
            result[launch.number] = replace(pick, variant=way)
    return result


def _key(windows: Windows | None) -> tuple[int, ...] | None:
    """The parameters that are windows."""
    return None if windows is None else tuple(sorted(w.position for w in windows.all))


def _cost(
    launch: Launch, windows: Windows | None, facts: ProgramFacts, frequencies: Frequencies, context: OrchContext
) -> float:
    """The width of the launch's dependencies, and the statements that make it narrower."""
    assert context.search is not None
    model, width, added = context.search.model, 0.0, 0
    for position, arg in enumerate(launch.call.args):
        type_ = facts.type_of(launch.caller, arg.name) if isinstance(arg, Var) else None
        if type_ is None:
            continue
        window = None if windows is None else windows.of(position)
        if window is None:
            width += model.price("dependency", byte_count(type_))
            continue
        for piece in window.pieces:
            width += model.price("dependency", byte_count(replace(type_, shape=piece.extents)))
            added += 3 if windows is not None and position in windows.outputs else 1
    return width * frequencies.at(launch.caller, launch.site) + added * model.statement


def _report(
    graph: EGraph,
    facts: ProgramFacts,
    context: OrchContext,
    windows: Mapping[str, Windows],
    picked: Mapping[int, Picked],
) -> None:
    why, outputs, inputs = (read_reasons(graph, name) for name in ("window-here", "out-window", "in-window"))
    found: dict[tuple[str, int], tuple[str, ...]] = defaultdict(tuple)
    for (kernel, position, *_), rules in (*outputs.items(), *inputs.items()):
        found[str(kernel), int(str(position))] += rules
    launches = {launch.number: launch for launch in facts.launches}
    for number in sorted(picked):
        launch, chosen = launches[number], _windows(picked[number])
        params = launch.callee.params
        names = [params[w.position].name for w in sorted(chosen.all, key=lambda w: w.position)]
        text = f"'{launch.callee.name}' gets windows for {', '.join(names)}"
        reasons = dict.fromkeys(r for w in chosen.all for r in found[launch.callee.name, w.position])
        place = place_at(facts, number)
        rules = (*reasons, *why[number,])
        context.decide(launch.caller, "window", launch.callee.name, text, place, rules, total([picked[number]]))
    kept = read_reasons(graph, "launch-kept")
    for row in sorted(graph.table("launch-kept").read("int", "str")):
        launch = launches[row[0]]
        message = f"'{launch.callee.name}' keeps whole tensors: {row[1]}"
        context.decline(launch.caller, "windows", message, place_at(facts, row[0]), kept[row])
    flaws = read_reasons(graph, "window-kept")
    for row in sorted(graph.table("window-kept").read("str", "int", "str", "str")):
        kernel, position, _, reason = row
        if kernel in windows and windows[kernel].of(position) is not None:
            continue
        name = facts.functions[kernel].params[position].name
        message = f"'{name}' is no window: {reason}"
        context.decline(kernel, "windows", message, f"def {kernel}", flaws[row], is_news=kernel not in windows)


# --------------------------------------------------------------------------------- rewriting


def _apply(program: Program, facts: ProgramFacts, chosen: Mapping[int, Windows]) -> Program:
    taken = Names(function.name for function in program.functions)
    clones: dict[str, dict[tuple[int, ...] | None, Clone]] = defaultdict(dict)
    sites: dict[str, dict[int, tuple[Launch, Windows, Clone]]] = defaultdict(dict)
    for launch in facts.launches:
        windows = chosen.get(launch.number)
        if windows is None:
            continue
        callee = launch.callee
        made = clones[callee.name]
        if _key(windows) not in made:
            name = taken.fresh(f"{callee.name}__windowed")
            made[_key(windows)] = windowed_clone(facts.workspace, callee, name, windows)
        sites[launch.caller][launch.site] = (launch, windows, made[_key(windows)])
    changed = {caller: _Caller(facts, facts.functions[caller], found).function() for caller, found in sites.items()}
    program = replace_functions(program, changed)
    return with_clones(program, {name: [c.function for c in made.values()] for name, made in clones.items()})


class _Caller:
    """Rewrites the launches of one function."""

    def __init__(
        self,
        facts: ProgramFacts,
        function: Function,
        launches: Mapping[int, tuple[Launch, Windows, Clone]],
    ) -> None:
        self.facts = facts
        self.original = function
        self.launches = launches
        self.names = Names(facts.index(function).definitions)
        self._elements: dict[str, list[str]] = {}
        """Result of a rewritten launch -> the variables that are its elements."""
        self._site = 0

    def function(self) -> Function:
        return replace(self.original, body=self._block(self.original.body))

    def _block(self, block: Block) -> Block:
        out: list[Stmt] = []
        newer = _Latest()
        for original in block:
            site = self._site
            self._site += 1
            # Later uses of a parent see what was assembled into it.
            stmt = renamed_block((original,), newer)[0]
            found = self.launches.get(site)
            if found is None:
                stmt = self._with_elements(stmt)
                inner = tuple([self._block(part) for part in blocks(stmt)])
                out.append(with_blocks(stmt, inner) if inner else stmt)
                continue
            assert isinstance(stmt, Assign)
            written = _WindowedLaunch(self, *found, stmt)
            out += written.stmts
            if written.elements:
                self._elements[stmt.name] = written.elements
            for old, new in written.newer.items():
                newer.add(old, new)
        return tuple(out)

    def _with_elements(self, stmt: Stmt) -> Stmt:
        """An element of a rewritten launch's result is the variable that was assembled."""
        if not isinstance(stmt, Assign) or not isinstance(stmt.value, TupleGet):
            return stmt
        source = stmt.value.value
        elements = self._elements.get(source.name) if isinstance(source, Var) else None
        return stmt if elements is None else replace(stmt, value=Var(elements[stmt.value.index]))


class _Latest(Mapping[str, Expr]):
    """Names of tensors with the newest name for each, where newer ones may be superseded in turn."""

    def __init__(self) -> None:
        self._chains = Chains()
        self._names: set[str] = set()

    def add(self, old: str, new: str) -> None:
        self._names.add(old)
        self._chains.follow(old, new)

    def __getitem__(self, name: str) -> Expr:
        if name not in self._names:
            raise KeyError(name)
        return Var(self._chains.end(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _WindowedLaunch:
    """The statements that one launch becomes: slices, the call, assembles."""

    def __init__(self, caller: _Caller, launch: Launch, windows: Windows, clone: Clone, stmt: Assign) -> None:
        self.caller = caller
        self.stmt = stmt
        self.windows = windows
        self.clone = clone
        self.params = launch.callee.params
        call = call_of(stmt)
        assert call is not None
        self.call: FuncCall | Submit = call
        self.stmts: list[Stmt] = []
        self.elements: list[str] = []
        self.newer: dict[str, str] = {}
        self._temporaries = 0
        self._args: dict[int, list[Expr]] = {}
        self._parents: dict[int, Expr] = {}
        self._offsets: dict[int, list[ListExpr]] = {}
        for window in (*_sorted(self.windows.inputs), *_sorted(self.windows.outputs)):
            self._slices(window)
        self._launch()

    # -------------------------------------------------------------------------- slices

    def _slices(self, window: ParamWindow) -> None:
        """Materialise the windows of one argument."""
        position = window.position
        arg = self.call.args[position]
        assert isinstance(arg, Var)
        parent = parent_of(self.caller.facts, self.caller.original, arg)
        self._parents[position] = parent
        offsets = [self._place(arg.name, piece) for piece in window.pieces]
        self._offsets[position] = offsets
        self._args[position] = []
        for number, (piece, at) in enumerate(zip(window.pieces, offsets, strict=True)):
            suffix = f"__window_{number}" if len(window.pieces) > 1 else "__window"
            name = self.caller.names.fresh(f"{arg.name}{suffix}")
            extents = tuple([self._extent(dim) for dim in piece.extents])
            shape = ListExpr(tuple([Const(e) if isinstance(e, int) else e for e in extents]))
            param = self.params[position].type
            assert isinstance(param, TensorType)
            self.stmts.append(
                Assign(name, TensorType(extents, param.dtype), OpCall("tensor.slice", (parent, shape, at)))
            )
            self._args[position].append(Var(name))

    def _place(self, name: str, piece: Piece) -> ListExpr:
        """Where ``piece`` starts, in terms of the caller; calls inside get variables of their own."""
        return ListExpr(tuple([self._named(name, folded(rename_expr(start, self._values))) for start in piece.base]))

    @property
    def _values(self) -> dict[str, Expr]:
        return {
            param.name: arg
            for param, arg in zip(self.params, self.call.args, strict=False)
            if isinstance(param.type, ScalarType)
        }

    def _extent(self, dim: Dim) -> Dim:
        if isinstance(dim, int):
            return dim
        value = folded(rename_expr(dim, self._values))
        return value.value if isinstance(value, Const) and isinstance(value.value, int) else value

    def _named(self, name: str, offset: Expr) -> Expr:
        if not has_call(offset):
            return offset
        temporary = self.caller.names.fresh(f"{name}__expr_tmp_{self._temporaries}")
        self._temporaries += 1
        self.stmts.append(Assign(temporary, ScalarType("INDEX"), offset))
        return Var(temporary)

    # ---------------------------------------------------------------------------- call

    def _launch(self) -> None:
        args = [new for position, arg in enumerate(self.call.args) for new in self._args.get(position, [arg])]
        call = replace(self.call, callee=self.clone.function.name, args=tuple(args))
        if not self.windows.outputs:
            self.stmts.append(replace(self.stmt, value=call))
            return
        types: list[Type] = list(self.clone.function.returns)
        if isinstance(call, Submit):
            types.append(ScalarType("TASK_ID"))
        is_tuple = isinstance(self.stmt.type, TupleType)
        whole = self.caller.names.fresh(f"{self.stmt.name}__windowed")
        alone = len(types) == 1 and not is_tuple
        self.stmts.append(Assign(whole, types[0] if alone else TupleType(tuple(types)), call))
        if alone:
            self._single(whole)
        else:
            self._elementwise(whole, types)

    def _single(self, whole: str) -> None:
        """The only result is one window: its parent gets the result's name."""
        window = next(iter(self.windows.outputs.values()))
        self._assemble(self.stmt.name, self.stmt.type, window, 0, self._parents[window.position], whole)
        self._renew(window, self.stmt.name)

    def _elementwise(self, whole: str, types: Sequence[Type]) -> None:
        """Every result on its own, windows assembled into their parents, then all under the old name."""
        old = self.stmt.type
        olds = old.elements if isinstance(old, TupleType) else (old,)
        outputs = {result: w for w in self.windows.outputs.values() for result in w.results}
        names: list[str] = []
        for result, type_ in enumerate(olds):
            parts = self.clone.results[result] if result < len(self.clone.results) else [len(types) - 1]
            if result in outputs:
                names.append(self._assembled(whole, types, result, type_, outputs[result], parts))
            else:
                names.append(self._element(f"{self.stmt.name}__pass_{result}", whole, parts[0], type_))
        if isinstance(old, TupleType):
            self.elements = names
            value: Expr = ListExpr(tuple(map(Var, names)))
        else:
            value = Var(names[0])
        self.stmts.append(replace(self.stmt, value=value))
        for result, window in outputs.items():
            self._renew(window, names[result] if self.elements else self.stmt.name)

    def _assembled(
        self, whole: str, types: Sequence[Type], result: int, type_: Type, window: ParamWindow, parts: Sequence[int]
    ) -> str:
        """Result ``result``, its pieces assembled one after the other; the name of the last state of the parent."""
        target = self._parents[window.position]
        name = ""
        for number, part in enumerate(parts):
            source = self._element(f"{self.stmt.name}__windowed_{part}", whole, part, types[part])
            name = self.caller.names.fresh(f"{self.stmt.name}__assembled_{result}_{number}")
            self._assemble(name, type_, window, number, target, source)
            target = Var(name)
        return name

    def _element(self, hint: str, whole: str, index: int, type_: Type) -> str:
        name = self.caller.names.fresh(hint)
        self.stmts.append(Assign(name, type_, TupleGet(Var(whole), index)))
        return name

    def _assemble(self, name: str, type_: Type, window: ParamWindow, number: int, target: Expr, source: str) -> None:
        offsets = self._offsets[window.position][number]
        self.stmts.append(Assign(name, type_, OpCall("tensor.assemble", (target, Var(source), offsets))))

    def _renew(self, window: ParamWindow, name: str) -> None:
        arg = self.call.args[window.position]
        assert isinstance(arg, Var)
        self.newer[arg.name] = name


def _sorted(windows: Mapping[int, ParamWindow]) -> list[ParamWindow]:
    return [windows[position] for position in sorted(windows)]
