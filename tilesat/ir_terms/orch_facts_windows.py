"""Windows of a kernel's tensors: the part of an output that it writes, the part of an input that it reads.

Geometry only: every candidate is listed with what speaks against it; rules decide (ORC-5-01 to ORC-5-04).
"""

from __future__ import annotations

from collections import Counter as Tally
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tilesat.ir.accesses import Accesses, Scalars
from tilesat.ir.affine import Affine, constant
from tilesat.ir.index import BODY, FunctionIndex, int_value
from tilesat.ir.nodes import (
    Assign,
    Const,
    EvalStmt,
    Expr,
    For,
    Function,
    ListExpr,
    OpCall,
    Param,
    Return,
    Stmt,
    Var,
    Yield,
)
from tilesat.ir.regions import Access, Box, Window, as_box, instance_count, instances
from tilesat.ir.types import Dim, Direction, ScalarType, TensorType, TileType
from tilesat.ir.walk import names_in, reads
from tilesat.ir_terms.orch_facts_origins import is_external

MAX_PIECES = 32
"""Trips of a loop that are written as pieces of their own, and trips of a loop inside it that are enumerated."""
MAX_TRIPS = 256
"""Trips of one loop that are enumerated for an input."""
MAX_USES = 512
"""Reads of an input that are enumerated."""

FINAL, DENSE, PIECES, PURE, BOX = "final", "dense", "pieces", "pure", "box"


@dataclass(frozen=True, slots=True)
class Piece:
    """One window: where it starts, in terms of the function's parameters, and how far it reaches."""

    base: tuple[Expr, ...]
    forms: tuple[Affine, ...]
    extents: tuple[Dim, ...]


@dataclass(slots=True)
class ParamWindow:
    """What is accessed of parameter ``position``; ``refs`` are the sites whose offsets become local.

    ``results`` are the results that are this parameter. ``loop`` is the loop that aggregates, if any.
    """

    position: int
    form: str
    pieces: list[Piece]
    refs: list[int] = field(default_factory=list)
    results: list[int] = field(default_factory=list)
    loop: int | None = None
    is_whole: bool = False
    flaws: list[str] = field(default_factory=list)


@dataclass(slots=True)
class KernelWindows:
    """All candidates of one kernel."""

    outputs: dict[int, ParamWindow] = field(default_factory=dict)
    """Final stores."""
    aggregates: dict[int, ParamWindow] = field(default_factory=dict)
    inputs: dict[int, ParamWindow] = field(default_factory=dict)


def opts_in(function: Function) -> bool:
    """Whether ``function`` asks for windows (ORC-5-01), and its body is what runs."""
    wanted = any(key == "windowize" and value == Const(True, "BOOL") for key, value in function.attrs)
    return wanted and function.kind in ("InCore", "AIC", "AIV") and not is_external(function)


@dataclass(frozen=True, slots=True)
class Reference:
    """One use of a parameter: a load, slice or store with its window, else ``window`` is ``None``."""

    site: int
    kind: str
    window: Window | None
    offsets: tuple[Expr, ...] = ()
    extents: tuple[Dim, ...] = ()
    flaw: str = ""


class WindowReader:
    """Reads the candidates off one kernel."""

    def __init__(self, index: FunctionIndex, accesses: Accesses) -> None:
        self.index = index
        self.scalars: Scalars = accesses.scalars
        self.accesses = accesses
        self.function = index.function
        self.found = KernelWindows()
        last = self.function.body[-1] if self.function.body else None
        self.returned = last.values if isinstance(last, Return) else ()
        self.references: dict[str, list[Reference]] = defaultdict(list)
        self._names = {p.name for p in self.function.params if isinstance(p.type, TensorType)}
        for site, stmt in enumerate(index.sites):
            self._collect(site, stmt)
        for position, param in enumerate(self.function.params):
            if not isinstance(param.type, TensorType):
                continue
            if param.direction is Direction.In:
                self._input(position, param, param.type)
            else:
                self._final(position, param, param.type)

    # -------------------------------------------------------------------- references

    def _collect(self, site: int, stmt: Stmt) -> None:
        """Enter the uses of parameters by the statement at ``site``."""
        uses = Tally(name for name in reads(stmt) if name in self._names)
        if not uses or isinstance(stmt, Return):
            return
        value = stmt.value if isinstance(stmt, (Assign, EvalStmt)) else None
        ref = self.reference(site, value) if isinstance(value, OpCall) else None
        for name, count in uses.items():
            if ref is not None and ref[0] == name and count == 1:
                self.references[name].append(ref[1])
            elif isinstance(stmt, For) and any(carry.init == Var(name) for carry in stmt.carries) and count == 1:
                self.references[name].append(Reference(site, "init", None))
            elif not (isinstance(value, OpCall) and value.op == "tensor.dim"):
                self.references[name].append(
                    Reference(site, "other", None, flaw="it is used other than by loads and slices")
                )
            else:
                self.references[name].append(Reference(site, "other", None, flaw="its extents are asked for"))

    def reference(self, site: int, call: OpCall) -> tuple[str, Reference] | None:
        """The tensor that a load, slice or store accesses, and how."""
        if call.op == "tile.load" and len(call.args) >= 3:
            return self._ref(site, "load", call.args[0], call.args[1], call.args[2], self._load_flaw(call))
        if call.op == "tensor.slice" and len(call.args) >= 3:
            return self._ref(site, "slice", call.args[0], call.args[2], call.args[1], self._slice_flaw(call))
        if call.op == "tile.store" and len(call.args) >= 3:
            tile = self.index.types.get(call.args[0].name) if isinstance(call.args[0], Var) else None
            shape = tile.shape if isinstance(tile, TileType) else ()
            flaw = "it is stored with options" if call.kwargs or len(call.args) > 3 else ""
            return self._ref(site, "store", call.args[2], call.args[1], shape, flaw)
        if call.op == "tensor.assemble" and len(call.args) >= 3:
            part = self.index.types.get(call.args[1].name) if isinstance(call.args[1], Var) else None
            shape = part.shape if isinstance(part, TensorType) else ()
            flaw = "it is assembled with options" if call.kwargs else ""
            return self._ref(site, "assemble", call.args[0], call.args[2], shape, flaw)
        return None

    def _ref(
        self, site: int, kind: str, tensor: Expr, offsets: Expr, shape: Expr | Sequence[Dim], flaw: str
    ) -> tuple[str, Reference] | None:
        if not isinstance(tensor, Var) or not isinstance(offsets, ListExpr):
            return None
        extents = tuple(map(_dim, shape.items if isinstance(shape, ListExpr) else _dims(shape)))
        if len(extents) != len(offsets.items):
            return tensor.name, Reference(site, "other", None, flaw="a window and its tensor differ in rank")
        window = Window(self.scalars.forms(offsets.items), self.scalars.forms(extents))
        return tensor.name, Reference(site, kind, window, offsets.items, extents, flaw)

    def _load_flaw(self, call: OpCall) -> str:
        if any(key in ("transpose", "clamp") and value != Const(False, "BOOL") for key, value in call.kwargs):
            return "it is loaded transposed or clamped"
        valid = call.args[3] if len(call.args) > 3 else call.args[2]
        return "only a part of what is loaded is valid" if valid != call.args[2] else ""

    def _slice_flaw(self, call: OpCall) -> str:
        valid = call.args[3] if len(call.args) > 3 else ListExpr(())
        if call.kwargs or valid not in (ListExpr(()), call.args[1]):
            return "it is sliced with options"
        return ""

    # ------------------------------------------------------------------------- outputs

    def _final(self, position: int, param: Param, type_: TensorType) -> None:
        """A store into the output at top level whose result, or the output itself, is returned."""
        refs = self.references[param.name]
        stores = [ref for ref in refs if ref.kind == "store" and self.index.region_of[ref.site] == BODY]
        if not stores:
            return
        store = stores[-1]
        results = self.results_of({param.name, getattr(self.index.sites[store.site], "name", param.name)})
        if not results or store.window is None:
            return
        window = ParamWindow(position, FINAL, [self.piece(store)], [store.site], results)
        window.is_whole = store.window.is_whole(self.scalars.forms(type_.shape))
        if store.flaw:
            window.flaws.append(store.flaw)
        for ref in refs:
            if ref is store:
                continue
            if param.direction is Direction.Out or ref.kind not in ("load", "slice") or ref.window != store.window:
                window.flaws.append("other parts of it are read or written, too")
            elif ref.flaw:
                window.flaws.append(ref.flaw)
            else:
                window.refs.append(ref.site)
        self.check_names(window, param.name, set())
        self.check(window, type_)
        self.found.outputs[position] = window

    def results_of(self, names: Iterable[str]) -> list[int]:
        """Results that are one of ``names``."""
        return [result for result, value in enumerate(self.returned) if isinstance(value, Var) and value.name in names]

    def piece(self, ref: Reference) -> Piece:
        """The window of ``ref``, its offsets as written where they only use parameters."""
        assert ref.window is not None
        base = tuple(
            [
                written if self.is_open(names_in(written)) is None else form.expr()
                for written, form in zip(ref.offsets, ref.window.offsets, strict=True)
            ]
        )
        return Piece(base, ref.window.offsets, ref.extents)

    def is_open(self, names: Iterable[str]) -> str | None:
        """A name that is neither a parameter nor known outside the function."""
        for name in names:
            definition = self.index.definitions.get(name)
            if name.startswith("%") or (definition is not None and definition.how != "param"):
                return name
            if definition is not None and not isinstance(self.index.types.get(name), ScalarType):
                return name
        return None

    def check_names(self, window: ParamWindow, param: str, loops: set[int]) -> None:
        """Whatever else the output is called may be passed on, but not accessed other than at ``window.refs``."""
        names = {n for n, aliases in self.accesses.aliases.items() if param in aliases and n != param}
        for site, stmt in enumerate(self.index.sites):
            if site in window.refs or site in loops or isinstance(stmt, (Return, Yield)):
                continue
            if isinstance(stmt, Assign) and isinstance(stmt.value, Var):
                continue
            if any(name in names for name in reads(stmt)):
                window.flaws.append("it is accessed under another name")
                return

    def check(self, window: ParamWindow, type_: TensorType) -> None:
        """Conditions on offsets, extents and types (peer behaviour, section 8.6)."""
        flaws = window.flaws
        strided = type_.view is not None and bool(type_.view.stride)
        if type_.view is not None and type_.view.layout not in (None, "ND") and not strided:
            flaws.append(f"its layout {type_.view.layout} states no strides")
        if type_.distributed:
            flaws.append("it is a distributed tensor")
        for piece in window.pieces:
            if len(piece.extents) != len(type_.shape):
                flaws.append("a window and its tensor differ in rank")
                continue
            names = [n for form in piece.forms for n in form.names()]
            names += [n for extent in piece.extents if not isinstance(extent, int) for n in names_in(extent)]
            open_name = self.is_open(names)
            if open_name is not None:
                flaws.append("its place depends on more than the parameters")
            for dim, form, extent in zip(type_.shape, piece.forms, piece.extents, strict=True):
                if not isinstance(dim, int) and form.is_const and isinstance(extent, int):
                    flaws.append("a constant window of a symbolic dimension may lie outside")

    # -------------------------------------------------------------------------- inputs

    def _input(self, position: int, param: Param, type_: TensorType) -> None:
        refs = self.references[param.name]
        if not refs:
            return
        flaws = [ref.flaw or "it is carried" for ref in refs if ref.flaw or ref.window is None]
        windows = {ref.window for ref in refs}
        if flaws:
            window = ParamWindow(position, PURE, [], flaws=flaws[:1])
        elif len(windows) == 1 and self._is_fixed(refs[0]):
            window = ParamWindow(position, PURE, [self.piece(refs[0])])
            assert refs[0].window is not None
            window.is_whole = refs[0].window.is_whole(self.scalars.forms(type_.shape))
        else:
            window = self._bounding(position, refs, type_)
        window.refs = [ref.site for ref in refs]
        if window.pieces:
            self.check(window, type_)
            self._check_input(window, type_)
        self.found.inputs[position] = window

    def _is_fixed(self, ref: Reference) -> bool:
        assert ref.window is not None
        return self.is_open(n for form in ref.window.offsets for n in form.names()) is None

    def _check_input(self, window: ParamWindow, type_: TensorType) -> None:
        """Strides of an input window may name only what its shape names."""
        inside = {n for e in window.pieces[0].extents if not isinstance(e, int) for n in names_in(e)}
        strides = type_.view.stride if type_.view is not None and type_.view.stride else type_.shape[1:]
        names = {n for dim in strides if not isinstance(dim, int) for n in names_in(dim)}
        if not names <= inside:
            window.flaws.append("its strides name a dimension that the window does not have")

    def _bounding(self, position: int, refs: Sequence[Reference], type_: TensorType) -> ParamWindow:
        """The box around all reads, their loops enumerated."""
        window = ParamWindow(position, BOX, [])
        accesses: list[Access] = []
        uses = 0
        for ref in refs:
            loops = self.scalars.loops[self.index.region_of[ref.site]]
            assert ref.window is not None
            used = {name for form in ref.window.offsets for name in form.names()}
            access = Access(tuple(loop for loop in loops if loop.name in used), ref.window, ref.site)
            count = instance_count(access)
            if count is None:
                window.flaws.append("it is read in a loop whose trips are not counted")
                return window
            if any((loop.trips or 0) > MAX_TRIPS for loop in access.loops):
                window.flaws.append(f"it is read in a loop of more than {MAX_TRIPS} trips")
                return window
            uses += count
            accesses.append(access)
        if uses > MAX_USES:
            window.flaws.append(f"it is read in more than {MAX_USES} windows")
            return window
        found = bounded([w for access in accesses for w in instances(access)])
        if found is None:
            window.flaws.append("the windows read have no common frame")
            return window
        forms, extents, _ = found
        window.pieces.append(Piece(tuple(form.expr() for form in forms), forms, extents))
        shape = self.scalars.forms(type_.shape)
        at_zero = all(form == constant(0) for form in forms)
        window.is_whole = at_zero and self.scalars.forms(extents) == shape
        if not window.is_whole and any(not _is_narrower(e, dim) for e, dim in zip(extents, type_.shape, strict=True)):
            window.flaws.append("the windows read together are no smaller than the tensor")
        return window


def _is_narrower(extent: Dim, dim: Dim) -> bool:
    return not isinstance(extent, int) or not isinstance(dim, int) or extent <= dim


def bounded(windows: Sequence[Window]) -> tuple[tuple[Affine, ...], tuple[int, ...], list[Box]] | None:
    """The box around ``windows``: its start, its extents, and each window relative to the start.

    ``None`` unless offsets differ by constants and extents are constant.
    """
    first = windows[0].offsets
    boxes: list[Box] = []
    for window in windows:
        moved = tuple([offset - origin for offset, origin in zip(window.offsets, first, strict=True)])
        box = as_box(Window(moved, window.extents))
        if box is None:
            return None
        boxes.append(box)
    low = [min(box[axis][0] for box in boxes) for axis in range(len(first))]
    high = [max(box[axis][1] for box in boxes) for axis in range(len(first))]
    start = tuple([origin + constant(least) for origin, least in zip(first, low, strict=True)])
    relative = [tuple([(a - least, b - least) for (a, b), least in zip(box, low, strict=True)]) for box in boxes]
    return start, tuple([b - a for a, b in zip(low, high, strict=True)]), relative


def _dims(shape: Expr | Sequence[Dim]) -> Sequence[Dim]:
    return () if isinstance(shape, Expr) else shape


def _dim(dim: Dim) -> Dim:
    value = dim if isinstance(dim, int) else int_value(dim)
    return dim if value is None else value
