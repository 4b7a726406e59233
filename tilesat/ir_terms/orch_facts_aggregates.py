"""Aggregate windows: a loop that carries an output and writes adjacent or separate parts of it (ORC-5-03)."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Sequence
from itertools import combinations, product

from tilesat.ir.affine import Affine, constant
from tilesat.ir.index import BODY
from tilesat.ir.nodes import Assign, For, Function, OpCall, Stmt, Var, Yield
from tilesat.ir.regions import Access, Box, Window, are_apart, instance_count, instances, tiles_exactly
from tilesat.ir.types import Direction, TensorType
from tilesat.ir.walk import reads
from tilesat.ir_terms.orch_facts_windows import (
    DENSE,
    MAX_PIECES,
    MAX_USES,
    PIECES,
    KernelWindows,
    ParamWindow,
    Piece,
    Reference,
    WindowReader,
    bounded,
)
from tilesat.ir_terms.orch_facts_workspace import Workspace


def kernel_windows(workspace: Workspace, function: Function) -> KernelWindows:
    """All window candidates of ``function``, found once for all kernels that are alike."""

    def read(kernel: Function) -> KernelWindows:
        reader = WindowReader(workspace.index(kernel), workspace.accesses(kernel))
        AggregateReader(reader).read()
        return reader.found

    return workspace.derived("windows", function, read)


class AggregateReader:
    """The loop that carries outputs and writes an aggregate window of each."""

    def __init__(self, reader: WindowReader) -> None:
        self.reader = reader
        self.index = reader.index
        self.scalars = reader.scalars
        self._sites = {id(stmt): site for site, stmt in enumerate(reader.index.sites)}
        self._loops: set[int] = set()

    def read(self) -> None:
        """Enter the aggregates, if there is exactly one loop that carries an output at top level."""
        outputs = {
            param.name: position
            for position, param in enumerate(self.reader.function.params)
            if isinstance(param.type, TensorType) and param.direction is not Direction.In
        }
        loops = [
            site
            for site in self.index.regions[BODY].sites
            if isinstance(stmt := self.index.sites[site], For)
            and any(isinstance(c.init, Var) and c.init.name in outputs for c in stmt.carries)
        ]
        if len(loops) != 1:
            return
        loop = self.index.sites[loops[0]]
        assert isinstance(loop, For)
        for slot, carry in enumerate(loop.carries):
            if isinstance(carry.init, Var) and carry.init.name in outputs:
                self._output(loops[0], loop, slot, outputs[carry.init.name])

    def _output(self, site: int, loop: For, slot: int, position: int) -> None:
        reader, param = self.reader, self.reader.function.params[position]
        assert isinstance(param.type, TensorType)
        results = reader.results_of({param.name, loop.results[slot].name})
        if not results:
            return
        self._loops.clear()
        window = ParamWindow(position, DENSE, [], results=results, loop=site)
        reader.found.aggregates[position] = window
        if len(reader.references[param.name]) != 1:
            window.flaws.append("it is used outside the loop, too")
        updates: list[tuple[int, Window]] = []
        counter = self.scalars.loops[self.index.arms[site, 0]][-1]
        if counter.trips is None or counter.trips == 0:
            window.flaws.append("the trips of the loop are not counted")
            return
        if not self._chain(window, loop.carries[slot].name, loop, slot, updates):
            window.flaws.append("it is not passed on through stores alone")
            return
        reader.check_names(window, param.name, self._loops)
        self._shape(window, param.type, counter.name, counter.trips, updates)

    # ------------------------------------------------------------------------- updates

    def _chain(self, window: ParamWindow, carry: str, loop: For, slot: int, updates: list[tuple[int, Window]]) -> bool:
        """Follow the output through the body of ``loop``; collects the windows written, and checks the reads."""
        last = loop.body[-1] if loop.body else None
        if not isinstance(last, Yield):
            return False
        current, done = carry, False
        pending: list[tuple[int, Reference]] = []
        for stmt in loop.body:
            site = self._sites[id(stmt)]
            uses = Tally(name for name in reads(stmt) if name == current)
            if not uses:
                continue
            if isinstance(stmt, Yield):
                done = stmt.values[slot] == Var(current) and uses[current] == 1
                continue
            step = self._step(window, site, stmt, current, updates, pending)
            if step is None:
                return False
            current = step
        written = {w for _, w in updates}
        for site, ref in pending:
            if ref.window not in written or ref.flaw:
                return False
            window.refs.append(site)
        return done and bool(updates)

    def _step(
        self,
        window: ParamWindow,
        site: int,
        stmt: Stmt,
        current: str,
        updates: list[tuple[int, Window]],
        pending: list[tuple[int, Reference]],
    ) -> str | None:
        """The name of the output after ``stmt``; ``None`` where it is used in another way."""
        if isinstance(stmt, For):
            return self._inner(window, stmt, current, updates)
        value = stmt.value if isinstance(stmt, Assign) else None
        found = self.reader.reference(site, value) if isinstance(value, OpCall) else None
        if found is None or found[0] != current or not isinstance(stmt, Assign):
            return None
        ref = found[1]
        if sum(name == current for name in reads(stmt)) != 1 or ref.window is None:
            return None
        if ref.kind in ("load", "slice"):
            pending.append((site, ref))
            return current
        if ref.flaw:
            return None
        updates.append((site, ref.window))
        window.refs.append(site)
        return stmt.name

    def _inner(self, window: ParamWindow, loop: For, current: str, updates: list[tuple[int, Window]]) -> str | None:
        slots = [slot for slot, carry in enumerate(loop.carries) if carry.init == Var(current)]
        counter = self.scalars.loops[self.index.arms[self._sites[id(loop)], 0]][-1]
        if len(slots) != 1 or counter.trips is None or not 0 < counter.trips <= MAX_PIECES:
            return None
        self._loops.add(self._sites[id(loop)])
        if not self._chain(window, loop.carries[slots[0]].name, loop, slots[0], updates):
            return None
        return loop.results[slots[0]].name

    # --------------------------------------------------------------------------- shape

    def _shape(
        self, window: ParamWindow, type_: TensorType, counter: str, trips: int, updates: Sequence[tuple[int, Window]]
    ) -> None:
        """Dense when all that is written fills one box, else one piece for each trip."""
        written: list[tuple[int, Window]] = []
        for site, update in updates:
            access = Access(self.scalars.loops[self.index.region_of[site]], update, site)
            count = instance_count(access)
            if count is None or len(written) + count > MAX_USES * MAX_PIECES:
                window.flaws.append(f"more than {MAX_USES * MAX_PIECES} windows written would have to be laid out")
                return
            names = [loop.name for loop in access.loops]
            outer = names.index(counter)
            for trip_window, trips_at in zip(instances(access), _trips(access), strict=True):
                written.append((trips_at[outer], trip_window))
        found = bounded([w for _, w in written])
        if found is None:
            window.flaws.append("the windows written have no common frame")
            return
        start, extents, boxes = found
        if tiles_exactly(boxes) is not None:
            window.pieces.append(Piece(tuple(form.expr() for form in start), start, extents))
            shape = self.scalars.forms(type_.shape)
            window.is_whole = all(f == constant(0) for f in start) and self.scalars.forms(extents) == shape
        else:
            self._pieces(window, trips, start, [(trip, box) for (trip, _), box in zip(written, boxes, strict=True)])
        self.reader.check(window, type_)

    def _pieces(self, window: ParamWindow, trips: int, start: tuple[Affine, ...], boxes: list[tuple[int, Box]]) -> None:
        window.form = PIECES
        if trips > MAX_PIECES:
            window.flaws.append(f"it would fall into more than {MAX_PIECES} pieces")
            return
        filled = [tiles_exactly([box for at, box in boxes if at == trip]) for trip in range(trips)]
        whole = [box for box in filled if box is not None]
        if len(whole) != trips or not all(are_apart(a, b) for a, b in combinations(whole, 2)):
            window.flaws.append("the windows written overlap or leave gaps")
            return
        for box in whole:
            forms = tuple([origin + constant(low) for origin, (low, _) in zip(start, box, strict=True)])
            extents = tuple([high - low for low, high in box])
            window.pieces.append(Piece(tuple(form.expr() for form in forms), forms, extents))


def _trips(access: Access) -> list[tuple[int, ...]]:
    """The loop counters of every instance, in the order of :func:`tilesat.ir.regions.instances`."""
    return list(product(*[range(loop.trips or 0) for loop in access.loops]))
