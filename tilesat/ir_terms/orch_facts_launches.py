"""Launches of kernels with windows: which windows of different trips are apart, what they lie in, who uses results."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from tilesat.ir.accesses import UNORDERED, Scalars
from tilesat.ir.affine import Affine, substituted
from tilesat.ir.nodes import (
    ORCHESTRATION,
    Assign,
    Expr,
    For,
    Function,
    OpCall,
    Stmt,
    Submit,
    TupleGet,
    Var,
    While,
)
from tilesat.ir.types import Direction, ScalarType, TensorType
from tilesat.ir.walk import names_in, own_exprs
from tilesat.ir_terms.orch_facts import Launch, ProgramFacts
from tilesat.ir_terms.orch_facts_aggregates import kernel_windows
from tilesat.ir_terms.orch_facts_strides import has_strides
from tilesat.ir_terms.orch_facts_windows import PIECES, KernelWindows, ParamWindow, Piece, opts_in

MAX_TENSORS, MAX_SCALARS = 32, 16
"""Arguments that a launch may have (peer behaviour, section 8.6)."""


class WindowFacts:
    """Adds the rows of pattern 5 to those of a program."""

    def __init__(self, facts: ProgramFacts) -> None:
        self.facts = facts
        kernels = [f for f in facts.program.functions if opts_in(f)]
        self.is_empty = not kernels
        if self.is_empty:
            return
        for function in kernels:
            self._kernel(function)
        for function in facts.program.functions:
            for position, param in enumerate(function.params):
                if isinstance(param.type, TensorType) and param.direction is not Direction.In:
                    facts.add("writes-out", function.name, position)
        names = {f.name for f in kernels}
        for launch in facts.launches:
            if launch.callee.name in names:
                self._launch(launch)

    def _kernel(self, function: Function) -> None:
        facts, name = self.facts, function.name
        facts.add("opted-in", name)
        if function.returns:
            facts.add("hands-data", name)
        for position, param in enumerate(function.params):
            if isinstance(param.type, TensorType) and not has_strides(param.type):
                facts.add("no-strides", name, position)
        for form, window in listed(kernel_windows(facts.workspace, function)):
            position = window.position
            facts.add("may-window", name, position, form)
            if window.is_whole:
                facts.add("whole-window", name, position, form)
            if len(window.pieces) > 1:
                facts.add("many-pieces", name, position, form)
            for why in dict.fromkeys(window.flaws):
                facts.add("window-flaw", name, position, form, why)

    # ------------------------------------------------------------------------ launches

    def _launch(self, launch: Launch) -> None:
        facts, number = self.facts, launch.number
        caller = facts.functions[launch.caller]
        index = facts.index(caller)
        windows = kernel_windows(facts.workspace, launch.callee)
        why = self._unwindowed(launch, caller, windows)
        if why:
            facts.add("unwindowed", number, why)
        loops = [s for s in self._loops_around(caller, launch.site) if _is_ordered(index.sites[s])]
        for loop in loops:
            facts.add("loop-around", number, facts.number(caller.name, loop))
        for form, window in listed(windows):
            self._place(launch, caller, form, window, loops)
        self._folds(launch, caller)
        self._results(launch, caller)

    def _unwindowed(self, launch: Launch, caller: Function, windows: KernelWindows) -> str:
        """Why this launch takes no windows, whatever they are; empty when it may."""
        index = self.facts.index(caller)
        if caller.kind != ORCHESTRATION:
            return f"'{caller.name}' is no orchestration function"
        if not isinstance(index.sites[launch.site], Assign):
            return "its results are not named"
        if any(isinstance(index.sites[s], While) for s in self._loops_around(caller, launch.site)):
            return "it stands in a while loop"
        if len(launch.call.args) < len(launch.callee.params):
            return "the runtime allocates some of its outputs"
        extra = sum(max(0, len(w.pieces) - 1) for w in windows.aggregates.values())
        tensors = sum(isinstance(p.type, TensorType) for p in launch.callee.params) + extra
        scalars = sum(isinstance(p.type, ScalarType) for p in launch.callee.params)
        if tensors > MAX_TENSORS or scalars > MAX_SCALARS:
            return f"it would have {tensors} tensors and {scalars} scalars, {MAX_TENSORS} and {MAX_SCALARS} are allowed"
        return ""

    def _loops_around(self, caller: Function, site: int) -> list[int]:
        """Sites of the loops around ``site``, outermost first."""
        index = self.facts.index(caller)
        regions = [index.regions[r] for r in index.ancestors(index.region_of[site])]
        return [region.owner for region in reversed(regions) if region.kind == "loop"]

    def _place(self, launch: Launch, caller: Function, form: str, window: ParamWindow, loops: Sequence[int]) -> None:
        facts, number = self.facts, launch.number
        scalars = facts.workspace.scalars(caller)
        pieces = [self._offsets(launch, scalars, piece) for piece in window.pieces]
        for loop in loops:
            if window.form == PIECES or not window.pieces or self._is_apart(caller, loop, loops, window, pieces[0]):
                facts.add("apart", number, window.position, form, facts.number(caller.name, loop))
        arg = launch.call.args[window.position] if window.position < len(launch.call.args) else None
        given = facts.type_of(caller.name, arg.name) if isinstance(arg, Var) else None
        param = launch.callee.params[window.position].type
        for type_ in (given, param):
            if isinstance(type_, TensorType) and any(
                self._may_leave(caller, type_, piece, offsets, loops)
                for piece, offsets in zip(window.pieces, pieces, strict=True)
            ):
                why = "a window at a place known in advance may lie outside a dimension that is not"
                facts.add("outside-risk", number, window.position, form, why)
                return

    def _offsets(self, launch: Launch, scalars: Scalars, piece: Piece) -> tuple[Affine, ...]:
        """The offsets of ``piece`` at this launch, over the caller's loop counters and scalars."""
        values = {
            param.name: scalars.form(arg)
            for param, arg in zip(launch.callee.params, launch.call.args, strict=False)
            if isinstance(param.type, ScalarType)
        }
        return tuple([substituted(form, values) for form in piece.forms])

    def _is_apart(
        self, caller: Function, loop: int, loops: Sequence[int], window: ParamWindow, offsets: tuple[Affine, ...]
    ) -> bool:
        """Whether windows of different trips share nothing (a partition), or are one (a reduction)."""
        scalars = self.facts.workspace.scalars(caller)
        region = self.facts.index(caller).arms[loop, 0]
        counter = scalars.loops[region][-1]
        if counter.trips is not None and counter.trips <= 1:
            return True
        depth = len(scalars.loops[region])
        for offset in offsets:
            inside = {
                name for name in offset.names() if not name.startswith("%") and scalars.depths.get(name, 0) >= depth
            }
            if inside or counter.name in offset.names_inside():
                return False
        moving = [axis for axis, offset in enumerate(offsets) if offset.coefficient(counter.name)]
        if not moving:
            return True
        if len(moving) > 1:
            return False
        axis = moving[0]
        extent = window.pieces[0].extents[axis]
        others = [scalars.loops[self.facts.index(caller).arms[other, 0]][-1].name for other in loops if other != loop]
        if any(offsets[axis].coefficient(name) for name in others):
            return False
        return isinstance(extent, int) and abs(offsets[axis].coefficient(counter.name)) >= extent

    def _may_leave(
        self, caller: Function, type_: TensorType, piece: Piece, offsets: tuple[Affine, ...], loops: Sequence[int]
    ) -> bool:
        """Whether a constant window stands in a symbolic dimension at a place that knows nothing of it."""
        scalars = self.facts.workspace.scalars(caller)
        static = set()
        for loop in loops:
            counter = scalars.loops[self.facts.index(caller).arms[loop, 0]][-1]
            if counter.trips is not None:
                static.add(counter.name)
        sides = zip(type_.shape, piece.extents, offsets, strict=False)
        return any(
            not isinstance(dim, int) and isinstance(extent, int) and offset.names() <= static
            for dim, extent, offset in sides
        )

    # ------------------------------------------------------------------------- parents

    def _folds(self, launch: Launch, caller: Function) -> None:
        """Loop results that are given: a slice is taken from what the loop starts from (ORC-5-06)."""
        facts = self.facts
        for position, param in enumerate(launch.callee.params):
            if not isinstance(param.type, TensorType) or position >= len(launch.call.args):
                continue
            for loop, slot in folds(facts, caller, launch.call.args[position]):
                facts.add("folds", launch.number, position, facts.number(caller.name, loop), slot)

    def _results(self, launch: Launch, caller: Function) -> None:
        facts = self.facts
        index = facts.index(caller)
        stmt = index.sites[launch.site]
        if not isinstance(stmt, Assign):
            return
        uses = facts.use_sites(caller.name)
        names = {stmt.name}
        for site in uses.get(stmt.name, ()):
            user = index.sites[site]
            if isinstance(user, Assign) and isinstance(user.value, TupleGet):
                names.add(user.name)
        lists = facts.statement_lists(caller.name).numbers
        for site in sorted({site for name in names for site in uses.get(name, ())}):
            user = index.sites[site]
            if lists[site] == lists[launch.site] and _assembles(user, names):
                facts.add("result-assembled", launch.number)
            if any(isinstance(expr, Submit) and _depends_on(expr, names) for expr in own_exprs(user)):
                facts.add("named-in-deps", launch.number)


def _assembles(stmt: Stmt, names: Collection[str]) -> bool:
    """Whether ``stmt`` assembles one of ``names`` into another tensor."""
    call = stmt.value if isinstance(stmt, Assign) else None
    if not isinstance(call, OpCall) or call.op != "tensor.assemble":
        return False
    source = call.args[1]
    return isinstance(source, Var) and source.name in names


def _depends_on(submit: Submit, names: Collection[str]) -> bool:
    deps = [value for key, value in submit.kwargs if key == "deps"]
    return any(name in names for dep in deps for name in names_in(dep))


def listed(windows: KernelWindows) -> Iterator[tuple[str, ParamWindow]]:
    """All candidates with the form under which rules know them."""
    for window in windows.outputs.values():
        yield "final", window
    for window in windows.aggregates.values():
        yield "loop", window
    for window in windows.inputs.values():
        yield "input", window


def folds(facts: ProgramFacts, caller: Function, arg: Expr) -> list[tuple[int, int]]:
    """The loops (site, slot) through whose results ``arg`` leads back to what they start from."""
    index = facts.index(caller)
    found: list[tuple[int, int]] = []
    while isinstance(arg, Var):
        definition = index.definitions.get(arg.name)
        stmt = None if definition is None or definition.site < 0 else index.sites[definition.site]
        if isinstance(stmt, (For, While)) and definition is not None and definition.how == "result":
            found.append((definition.site, definition.position))
            arg = stmt.carries[definition.position].init
        elif isinstance(stmt, Assign) and isinstance(stmt.value, Var) and _leads_to_loop(facts, caller, stmt.value):
            arg = stmt.value
        else:
            break
    return found


def _leads_to_loop(facts: ProgramFacts, caller: Function, arg: Expr) -> bool:
    return bool(folds(facts, caller, arg))


def parent_of(facts: ProgramFacts, caller: Function, arg: Expr) -> Expr:
    """What a slice of ``arg`` is taken from: loop results are replaced by the loops' inits."""
    index = facts.index(caller)
    for loop, slot in folds(facts, caller, arg):
        stmt = index.sites[loop]
        assert isinstance(stmt, (For, While))
        arg = stmt.carries[slot].init
    return arg


def _is_ordered(stmt: Stmt) -> bool:
    return isinstance(stmt, While) or (isinstance(stmt, For) and stmt.kind not in UNORDERED)
