"""Kernels narrowed to windows: parameters shrink, offsets become local, pieces unroll their loop (ORC-5-02, -03)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tilesat.bridge.names import Names
from tilesat.bridge.orch_edit import rebound_block, renamed_block, retyped_block, rewrite_block
from tilesat.ir.affine import affine, folded
from tilesat.ir.index import FunctionIndex, int_value
from tilesat.ir.nodes import (
    Assign,
    BinOp,
    Block,
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
from tilesat.ir.types import TensorType, TensorView, Type
from tilesat.ir.walk import bindings, walk
from tilesat.ir_terms.orch_facts_strides import row_major
from tilesat.ir_terms.orch_facts_windows import PIECES, ParamWindow, Piece
from tilesat.ir_terms.orch_facts_workspace import Workspace

_OFFSETS_AT = {"tile.load": 1, "tile.store": 1, "tensor.slice": 2, "tensor.assemble": 2}


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of one kernel that were chosen, by parameter."""

    outputs: Mapping[int, ParamWindow]
    inputs: Mapping[int, ParamWindow]

    def of(self, position: int) -> ParamWindow | None:
        return self.outputs.get(position) or self.inputs.get(position)

    @property
    def all(self) -> tuple[ParamWindow, ...]:
        return (*self.outputs.values(), *self.inputs.values())


@dataclass(slots=True)
class Clone:
    """A narrowed kernel. ``results[i]`` are its results that make up result ``i`` of the original."""

    function: Function
    results: list[list[int]] = field(default_factory=list)


def window_type(parent: TensorType, piece: Piece) -> TensorType:
    """The type of a window of a tensor of type ``parent``: its extents, the parent's strides."""
    old = parent.view or TensorView()
    view = TensorView(
        valid_shape=None if old.valid_shape is None else piece.extents,
        stride=old.stride or row_major(parent.shape),
        layout=old.layout or "ND",
        pad=old.pad,
    )
    return replace(parent, shape=piece.extents, view=view)


def windowed_clone(workspace: Workspace, function: Function, name: str, windows: Windows) -> Clone:
    """``function`` as ``name``, every window's parameter narrowed to it."""
    return _Cloner(workspace, function, windows).clone(name)


class _Cloner:
    def __init__(self, workspace: Workspace, function: Function, windows: Windows) -> None:
        self.function = function
        self.windows = windows
        self.index: FunctionIndex = workspace.index(workspace.shared(function))
        self.scalars = workspace.scalars(workspace.shared(function))
        self.aliases = workspace.accesses(function).aliases
        self.types = {
            w.position: [window_type(self._tensor(w.position), piece) for piece in w.pieces] for w in windows.all
        }
        self.pieces = {w.position: w for w in windows.all if w.form == PIECES}
        self.names = Names([*self.index.definitions, *(p.name for p in function.params)])
        self.params = {
            position: [self.function.params[position].name, *self._extra_names(window)]
            for position, window in self.pieces.items()
        }

    def _tensor(self, position: int) -> TensorType:
        type_ = self.function.params[position].type
        assert isinstance(type_, TensorType)
        return type_

    def _extra_names(self, window: ParamWindow) -> list[str]:
        base = self.function.params[window.position].name
        return [self.names.fresh(f"{base}_piece{number}") for number in range(1, len(window.pieces))]

    def clone(self, name: str) -> Clone:
        body = self._localised(self.function.body, 0, None)
        body = retyped_block(body, self._retyped(single=True))
        if self.pieces:
            body = self._unrolled(body)
        returns, results = self._returns()
        function = replace(self.function, name=name, params=self._params(), returns=returns, body=body)
        return Clone(function, results)

    def _params(self) -> tuple[Param, ...]:
        params: list[Param] = []
        for position, param in enumerate(self.function.params):
            types = self.types.get(position, [param.type])
            names = self.params.get(position, [param.name])
            params += [replace(param, name=n, type=t) for n, t in zip(names, types, strict=True)]
        return tuple(params)

    def _returns(self) -> tuple[tuple[Type, ...], list[list[int]]]:
        by_result = {result: w.position for w in self.windows.outputs.values() for result in w.results}
        returns: list[Type] = []
        results: list[list[int]] = []
        for result, type_ in enumerate(self.function.returns):
            types: Sequence[Type] = self.types[by_result[result]] if result in by_result else [type_]
            results.append(list(range(len(returns), len(returns) + len(types))))
            returns += types
        return tuple(returns), results

    def _retyped(self, *, single: bool, trip: int = 0) -> dict[str, Type]:
        """New types of the names that windowed outputs are passed on as."""
        types: dict[str, Type] = {}
        for window in self.windows.outputs.values():
            if (window.position in self.pieces) == single:
                continue
            param = self.function.params[window.position].name
            new = self.types[window.position][trip]
            types.update((n, new) for n, known in self.aliases.items() if param in known and n != param)
        return types

    # ------------------------------------------------------------------------- offsets

    def _localised(self, block: Block, first: int, trip: int | None) -> Block:
        """``block`` with offsets relative to single windows, or in a ``trip`` to that trip's piece."""
        edits: dict[int, Piece] = {}
        for window in self.windows.all:
            is_pieces = window.position in self.pieces
            if is_pieces == (trip is not None):
                piece = window.pieces[trip or 0] if is_pieces else window.pieces[0]
                edits.update(dict.fromkeys(window.refs, piece))

        def rewrite(site: int, stmt: Stmt) -> Sequence[Stmt] | None:
            piece = edits.get(site)
            if piece is None or not isinstance(stmt, (Assign, EvalStmt)) or not isinstance(stmt.value, OpCall):
                return None
            call = stmt.value
            at = _OFFSETS_AT[call.op]
            offsets = call.args[at]
            assert isinstance(offsets, ListExpr)
            local = ListExpr(tuple([self._local(o, piece, axis) for axis, o in enumerate(offsets.items)]))
            return (replace(stmt, value=replace(call, args=(*call.args[:at], local, *call.args[at + 1 :]))),)

        return rewrite_block(block, rewrite, first)

    def _local(self, offset: Expr, piece: Piece, axis: int) -> Expr:
        """``offset`` relative to the window's start, in terms of the kernel's own variables."""
        start = piece.forms[axis]
        if self.scalars.form(offset) == start:
            return Const(0)
        if start == affine(0):
            return offset
        return folded(BinOp("-", offset, piece.base[axis]))

    # -------------------------------------------------------------------------- pieces

    def _unrolled(self, body: Block) -> Block:
        """``body`` with the aggregating loop written out, one piece for each trip."""
        site = next(iter(self.pieces.values())).loop
        assert site is not None
        original = self.index.sites[site]
        assert isinstance(original, For)
        position = self._place(site)
        loop = body[position]
        assert isinstance(loop, For)
        trips = len(next(iter(self.pieces.values())).pieces)
        carried: list[Expr] = [carry.init for carry in loop.carries]
        yielded: list[list[Expr]] = []
        out: list[Stmt] = []
        for trip in range(trips):
            stmts, carried = self._trip(site, loop, trip, carried)
            out += stmts
            yielded.append(carried)
        after = self._after(loop, body[position + 1 :], yielded)
        return (*body[:position], *out, *after)

    def _place(self, site: int) -> int:
        """The place among the body's statements of the statement at ``site``."""
        stmt = self.index.sites[site]
        return next(n for n, other in enumerate(self.index.function.body) if other is stmt)

    def _trip(self, site: int, loop: For, trip: int, carried: Sequence[Expr]) -> tuple[list[Stmt], list[Expr]]:
        body = self._localised(loop.body, site + 1, trip)
        body = retyped_block(body, self._retyped(single=False, trip=trip))
        bound = [name for stmt in walk(body) for name, _ in bindings(stmt)]
        fresh = {name: name if trip == 0 else self.names.fresh(f"{name}_{trip}") for name in dict.fromkeys(bound)}
        body = rebound_block(body, fresh)
        values: dict[str, Expr] = {loop.index: _index_value(loop, trip)}
        for carry, value in zip(loop.carries, carried, strict=True):
            values[carry.name] = self._piece_param(carry.init, trip) or value
        body = renamed_block(body, values)
        last = body[-1]
        assert isinstance(last, Yield)
        return list(body[:-1]), list(last.values)

    def _piece_param(self, init: Expr, trip: int) -> Expr | None:
        for position, names in self.params.items():
            if init == Var(self.function.params[position].name):
                return Var(names[trip])
        return None

    def _after(self, loop: For, rest: Block, yielded: Sequence[Sequence[Expr]]) -> Block:
        """What follows the loop: results become the values of the last trip, pieces are returned one by one."""
        by_result: dict[int, int] = {}
        names: dict[str, Expr] = {}
        for slot, (carry, result) in enumerate(zip(loop.carries, loop.results, strict=True)):
            names[result.name] = yielded[-1][slot]
            for position, window in self.pieces.items():
                if carry.init == Var(self.function.params[position].name):
                    by_result.update(dict.fromkeys(window.results, slot))
        last = rest[-1]
        assert isinstance(last, Return)
        values: list[Expr] = []
        for number, value in enumerate(last.values):
            if number in by_result:
                values += [trip[by_result[number]] for trip in yielded]
            else:
                values.append(value)
        return renamed_block((*rest[:-1], Return(tuple(values))), names)


def _index_value(loop: For, trip: int) -> Expr:
    """The loop's index in ``trip``."""
    start, step = int_value(loop.start), int_value(loop.step)
    assert step is not None
    if start is not None:
        return Const(start + step * trip)
    return loop.start if trip == 0 else BinOp("+", loop.start, Const(step * trip))
