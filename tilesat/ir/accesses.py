"""What a function does to its tensor parameters: windows read and written, inside which loops.

Everything is read off the syntax: scalars are followed to affine forms of loop counters and parameters, tensors through
aliases, slices, stores and carries to the parameters they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tilesat.ir.affine import Affine, affine, constant, substituted, variable
from tilesat.ir.index import BODY, FunctionIndex, int_value
from tilesat.ir.nodes import (
    Assign,
    Expr,
    For,
    FuncCall,
    If,
    ListExpr,
    OpaqueExpr,
    OpaqueStmt,
    OpCall,
    Stmt,
    Submit,
    Var,
    While,
    Yield,
)
from tilesat.ir.ops import Effect, op_info
from tilesat.ir.regions import Access, Counter, Window
from tilesat.ir.types import ScalarType, TensorType, TileType, TupleType
from tilesat.ir.walk import children, own_exprs

UNORDERED = frozenset({"parallel", "split_aiv"})
"""Kinds of loops whose trips may run side by side."""

Aliases = dict[str, "tuple[Affine, ...] | None"]
"""Parameter -> offset of a tensor in it, ``None`` where that is not known."""


@dataclass(frozen=True, slots=True)
class Touch:
    """One access to parameter ``param`` by the statement at ``site``.

    ``sure`` is the part that is certainly written, ``None`` for reads and for writes that may not happen.
    """

    param: str
    site: int
    access: Access
    reads: bool
    writes: bool
    sure: Access | None = None


class Scalars:
    """Affine forms of a function's index expressions, over loop counters and what comes from outside."""

    def __init__(self, index: FunctionIndex) -> None:
        self.index = index
        self.loops: list[tuple[Counter, ...]] = [()] * len(index.regions)
        """Per region, the loops around it."""
        self.depths: dict[str, int] = {}
        """Name -> number of loops around its definition, where that is not 0."""
        self._known: dict[str, Affine] = {}
        self._regions()
        self._definitions()

    def _regions(self) -> None:
        index = self.index
        for region in index.regions:
            if region.parent < 0:
                continue
            outer = self.loops[region.parent]
            stmt = index.sites[region.owner]
            if isinstance(stmt, (For, While)):
                ordered = not isinstance(stmt, For) or stmt.kind not in UNORDERED
                counter = Counter(f"%{region.owner}", self._trips(stmt), ordered)
                self.loops[region.id] = (*outer, counter)
                self.depths[counter.name] = len(outer) + 1
                if isinstance(stmt, For):
                    self._index(stmt, counter)
            else:
                self.loops[region.id] = outer

    def _trips(self, loop: For | While) -> int | None:
        if isinstance(loop, While):
            return None
        span, step = self.form(loop.stop) - self.form(loop.start), int_value(loop.step)
        if not span.is_const or step is None or step == 0:
            return None
        return len(range(0, span.const, step))

    def _index(self, loop: For, counter: Counter) -> None:
        step = int_value(loop.step)
        if step is not None:
            self._known[loop.index] = self.form(loop.start) + variable(counter.name).scaled(step)

    def _definitions(self) -> None:
        for name, definition in self.index.definitions.items():
            depth = len(self.loops[definition.region])
            if depth:
                self.depths[name] = depth

    def form(self, expr: int | Expr) -> Affine:
        """The affine form of ``expr``; definitions are followed as deep as they are arithmetic."""
        return affine(expr, self._lookup)

    def forms(self, exprs: Sequence[int | Expr]) -> tuple[Affine, ...]:
        return tuple([self.form(expr) for expr in exprs])

    def _lookup(self, name: str) -> Affine | None:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._define(name)
        return known

    def _define(self, name: str) -> Affine:
        definition = self.index.definitions.get(name)
        if definition is None or definition.how != "assign":
            return variable(name)
        stmt = self.index.sites[definition.site]
        if not isinstance(stmt, Assign) or stmt.type != ScalarType("INDEX") or not _is_arithmetic(stmt.value):
            return variable(name)
        return self.form(stmt.value)


def _is_arithmetic(expr: Expr) -> bool:
    return not isinstance(expr, (OpCall, FuncCall, Submit, OpaqueExpr)) and all(map(_is_arithmetic, children(expr)))


class Accesses:
    """All touches of the tensor parameters of one function."""

    def __init__(self, index: FunctionIndex, scalars: Scalars | None = None) -> None:
        self.index = index
        self.scalars = scalars or Scalars(index)
        self.aliases: dict[str, Aliases] = {}
        """Tensor variable -> the parameters it is or may be."""
        self.touches: list[Touch] = []
        self._find_aliases()
        for site, stmt in enumerate(index.sites):
            self._statement(site, stmt)

    def of(self, param: str) -> list[Touch]:
        return [touch for touch in self.touches if touch.param == param]

    # ------------------------------------------------------------------------- aliases

    def _find_aliases(self) -> None:
        for param in self.index.function.params:
            if isinstance(param.type, TensorType):
                self.aliases[param.name] = {param.name: (constant(0),) * len(param.type.shape)}
        changed = True
        while changed:
            changed = False
            for site, stmt in enumerate(self.index.sites):
                for name, found in self._flows(site, stmt):
                    changed |= self._join(name, found)

    def _flows(self, site: int, stmt: Stmt) -> Iterator[tuple[str, Aliases]]:
        if isinstance(stmt, Assign) and isinstance(stmt.type, (TensorType, TupleType)):
            yield stmt.name, self._alias(stmt.value)
        elif isinstance(stmt, OpaqueStmt):
            reached: Aliases = {p: None for name in stmt.names for p in self.aliases.get(name, {})}
            yield from ((name, reached) for name in stmt.binds)
        elif isinstance(stmt, (For, While)):
            yielded = self._yielded(site, 0)
            for position, carry in enumerate(stmt.carries):
                yield carry.name, self._alias(carry.init)
                if position < len(yielded):
                    yield carry.name, self._alias(yielded[position])
                yield stmt.results[position].name, self.aliases.get(carry.name, {})
        elif isinstance(stmt, If):
            for arm in (0, 1):
                for result, value in zip(stmt.results, self._yielded(site, arm), strict=False):
                    yield result.name, self._alias(value)

    def _yielded(self, site: int, arm: int) -> tuple[Expr, ...]:
        position = self.index.yields.get((site, arm))
        stmt = None if position is None else self.index.sites[position]
        return stmt.values if isinstance(stmt, Yield) else ()

    def _alias(self, value: Expr) -> Aliases:
        if isinstance(value, Var):
            return self.aliases.get(value.name, {})
        if isinstance(value, (FuncCall, Submit)):
            return {p: None for arg in value.args for p in self._alias(arg)}
        if isinstance(value, OpaqueExpr):
            return {p: None for name in value.names for p in self.aliases.get(name, {})}
        if not isinstance(value, OpCall):
            return {p: None for inner in children(value) for p in self._alias(inner)}
        if value.op == "tensor.slice":
            return self._slice(value)
        info = op_info(value.op)
        if info is None:
            return {p: None for arg in value.args for p in self._alias(arg)}
        if info.reuses_arg is not None:
            return self._alias(value.args[info.reuses_arg])
        return dict.fromkeys(self._alias(value.args[0])) if info.is_view and value.args else {}

    def _slice(self, call: OpCall) -> Aliases:
        source = self._alias(call.args[0])
        offsets = call.args[2] if len(call.args) > 2 else None
        plain = len(call.args) < 5 or _items(call.args[4]) == ()
        if not isinstance(offsets, ListExpr) or not plain:
            return dict.fromkeys(source)
        forms = self.scalars.forms(offsets.items)
        moved: Aliases = {}
        for param, base in source.items():
            fits = base is not None and len(base) == len(forms)
            moved[param] = tuple([b + f for b, f in zip(base or (), forms, strict=True)]) if fits else None
        return moved

    def _join(self, name: str, found: Aliases) -> bool:
        known = self.aliases.setdefault(name, {})
        changed = False
        for param, offsets in found.items():
            if param not in known:
                known[param], changed = offsets, True
            elif known[param] is not None and known[param] != offsets:
                known[param], changed = None, True
        return changed

    # ------------------------------------------------------------------------- touches

    def _statement(self, site: int, stmt: Stmt) -> None:
        if isinstance(stmt, OpaqueStmt):
            for name in stmt.names:
                self._unknown(site, Var(name), reads=True, writes=True)
            return
        for expr in own_exprs(stmt):
            self._expression(site, expr)

    def _expression(self, site: int, expr: Expr) -> None:
        if isinstance(expr, OpaqueExpr):
            for name in expr.names:
                self._unknown(site, Var(name), reads=True, writes=True)
        elif isinstance(expr, OpCall):
            self._op(site, expr)
        elif isinstance(expr, (FuncCall, Submit)):
            for arg in expr.args:
                self._unknown(site, arg, reads=True, writes=True)
        for child in children(expr):
            self._expression(site, child)

    def _op(self, site: int, call: OpCall) -> None:
        if call.op in ("tensor.dim", "tensor.slice"):
            return
        if call.op == "tile.load":
            self._touch(site, call.args[0], call.args[1], call.args[2], reads=True)
        elif call.op == "tile.store":
            self._store(site, call)
        elif call.op == "tensor.read":
            self._touch(site, call.args[0], call.args[1], None, reads=True)
        elif call.op == "tensor.write":
            self._touch(site, call.args[0], call.args[1], None, writes=True)
        else:
            self._other(site, call)

    def _other(self, site: int, call: OpCall) -> None:
        info = op_info(call.op)
        if info is not None and info.is_view:
            return
        for position, arg in enumerate(call.args):
            effect = Effect.READ_WRITE if info is None else info.effect(position, call)
            reads = effect is not Effect.WRITE or call.op == "tensor.assemble"
            self._unknown(site, arg, reads=reads, writes=effect is not Effect.READ)

    def _unknown(self, site: int, arg: Expr, *, reads: bool, writes: bool) -> None:
        if isinstance(arg, Var):
            for param in self.aliases.get(arg.name, {}):
                access = Access(self._loops(site), None, site)
                self.touches.append(Touch(param, site, access, reads, writes))
        elif isinstance(arg, ListExpr):
            for item in arg.items:
                self._unknown(site, item, reads=reads, writes=writes)

    def _store(self, site: int, call: OpCall) -> None:
        info = op_info("tile.store")
        assert info is not None
        atomic = info.effect(2, call) is not Effect.WRITE
        source, offsets, target = call.args[:3]
        tile = self.index.types.get(source.name) if isinstance(source, Var) else None
        rank = len(_items(offsets))
        shape = _aligned(tile.shape, rank) if isinstance(tile, TileType) else None
        valid = _aligned(tile.valid_shape, rank) if isinstance(tile, TileType) else None
        if len(call.args) > 3 and _items(call.args[3]):
            whole = isinstance(tile, TileType) and tile.valid_shape == tile.shape
            shape = tuple(_items(call.args[3]))
            valid = shape if whole else None
        if shape is None:
            self._unknown(site, target, reads=atomic, writes=True)
            return
        forms = self.scalars.forms(shape)
        sure = None if valid is None else self.scalars.forms(valid)
        self._window(site, target, self.scalars.forms(_items(offsets)), forms, sure, reads=atomic, writes=True)

    def _touch(
        self,
        site: int,
        tensor: Expr,
        offsets: Expr,
        shape: Expr | None,
        *,
        reads: bool = False,
        writes: bool = False,
    ) -> None:
        at = self.scalars.forms(_items(offsets))
        extents = (constant(1),) * len(at) if shape is None else self.scalars.forms(_items(shape))
        self._window(site, tensor, at, extents, extents if writes else None, reads=reads, writes=writes)

    def _window(
        self,
        site: int,
        tensor: Expr,
        offsets: tuple[Affine, ...],
        extents: tuple[Affine, ...],
        sure: tuple[Affine, ...] | None,
        *,
        reads: bool,
        writes: bool,
    ) -> None:
        if not isinstance(tensor, Var):
            return
        aliases = self.aliases.get(tensor.name, {})
        loops, certain = self._loops(site), len(aliases) == 1 and self._is_certain(site)
        for param, base in aliases.items():
            if base is None or not len(base) == len(offsets) == len(extents):
                self.touches.append(Touch(param, site, Access(loops, None, site), reads, writes))
                continue
            moved = tuple([b + o for b, o in zip(base, offsets, strict=True)])
            done = Access(loops, Window(moved, sure), site) if sure is not None and certain else None
            access = Access(loops, Window(moved, extents), site)
            self.touches.append(Touch(param, site, access, reads, writes, done if writes else None))

    def _loops(self, site: int) -> tuple[Counter, ...]:
        return self.scalars.loops[self.index.region_of[site]]

    def _is_certain(self, site: int) -> bool:
        """Whether the statement runs whenever the loops around it do, and those are counted."""
        region = self.index.region_of[site]
        while region != BODY:
            owner = self.index.sites[self.index.regions[region].owner]
            if not isinstance(owner, For):
                return False
            region = self.index.regions[region].parent
        return True


def _items(expr: Expr) -> tuple[Expr, ...]:
    return expr.items if isinstance(expr, ListExpr) else ()


def _aligned(shape: tuple[int | Expr, ...], rank: int) -> tuple[int | Expr, ...] | None:
    """``shape`` in ``rank`` dimensions: ones are added or dropped in front; ``None`` when it does not fit."""
    surplus = len(shape) - rank
    if surplus <= 0:
        return (1,) * -surplus + shape
    return shape[surplus:] if all(dim == 1 for dim in shape[:surplus]) else None


def moved_to_start(window: Window, base: tuple[Affine, ...]) -> tuple[Affine, ...]:
    """The offsets of ``window`` relative to ``base``."""
    return tuple([offset - start for offset, start in zip(window.offsets, base, strict=True)])


def first_instance(form: Affine, loops: Sequence[Counter]) -> Affine:
    """``form`` in the first trip of every loop."""
    return substituted(form, {loop.name: constant(0) for loop in loops})
