"""From the plan that inference rules decided back to a function."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from tilesat.bridge.rebuild import Rebuilder, with_target
from tilesat.bridge.retype import operand_type, retyped_call
from tilesat.extract.plan import Copy, Plan
from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import (
    Assign,
    BinOp,
    Const,
    EnumConst,
    EvalStmt,
    Expr,
    For,
    If,
    ListExpr,
    OpCall,
    Result,
    Stmt,
    StrConst,
    Var,
    While,
    Yield,
)
from tilesat.ir.types import MemorySpace, TensorType, TileType
from tilesat.ir.walk import names_in, reads
from tilesat.ir_terms.facts import PRODUCTS
from tilesat.rules.moves import INIT_SLOT

STORE = "tile.store"


class Elaborator(Rebuilder):
    """Applies one plan to one function."""

    def __init__(self, index: FunctionIndex, plan: Plan) -> None:
        super().__init__(index)
        self.plan = plan
        self.copy_names: dict[int, str] = {}
        """Name of each inserted copy, by key; known once it was emitted."""
        self._copies: dict[int, list[Copy]] = defaultdict(list)
        for copy in sorted(plan.copies, key=lambda c: c.order):
            self._copies[copy.site].append(copy)
        self._clone_names: dict[tuple[str, MemorySpace], str] = {}
        self._rehome_sites = self._find_rehome_sites()

    def space_of(self, name: str) -> MemorySpace | None:
        return self.plan.spaces.get(name)

    # ----------------------------------------------------------------------- insertion

    def before(self, site: int, stmt: Stmt) -> list[Stmt]:
        added: list[Stmt] = [self._rehome(name) for name in self._rehome_sites.get(site, ())]
        if isinstance(stmt, (For, While)):
            added += self._clones_for(stmt)
        added += [self._copy(copy) for copy in self._copies.get(site, ())]
        return added

    def _find_rehome_sites(self) -> dict[int, list[str]]:
        """Where each re-homed variable moves: before its first reader at the level of its definition."""
        sites: dict[int, list[str]] = defaultdict(list)
        for name in self.plan.rehomes:
            region = self.index.definitions[name].region
            first = next(s for s, stmt in enumerate(self.index.sites) if name in reads(stmt))
            sites[self.index.site_in(region, first)].append(name)
        return sites

    def _rehome(self, name: str) -> Assign:
        stmt = self.move(name, name, self.plan.rehomes[name], row_major=True)
        self.renamed[name] = Var(stmt.name)
        return stmt

    def _copy(self, copy: Copy) -> Assign:
        if copy.source is not None:
            source = self.copy_names[copy.source]
        else:
            source = next(names_in(self.expr(Var(copy.variable))))
        stmt = self.move(copy.variable, source, copy.space, row_major=copy.row_major)
        self.copy_names[copy.key] = stmt.name
        return stmt

    def _clones_for(self, loop: For | While) -> list[Stmt]:
        """Creates for the inits of ``loop`` whose slot lives elsewhere than the create."""
        added: list[Stmt] = []
        for carry in loop.carries:
            if not isinstance(carry.init, Var):
                continue
            key = (carry.init.name, self.plan.spaces.get(carry.name, MemorySpace.DDR))
            if key in self.plan.clones:
                added.append(self._clone(*key))
        return added

    def _clone(self, name: str, space: MemorySpace) -> Assign:
        original = self.index.sites[self.index.definitions[name].site]
        assert isinstance(original, Assign)
        assert isinstance(original.value, OpCall)
        call = with_target(original.value, space)
        type_ = retyped_call(call, original.type, space, self.types)
        clone = self.names.fresh(f"{name}_{space.value}")
        self._clone_names[name, space] = clone
        self.types[clone] = type_
        return Assign(clone, type_, call)

    # ----------------------------------------------------------------------- rewriting

    def slot(self, site: int, slot: int, expr: Expr) -> Expr:
        key = self.plan.operands.get((site, slot))
        if key is not None:
            return Var(self.copy_names[key])
        loop = self.index.sites[site]
        if slot >= INIT_SLOT and isinstance(loop, (For, While)) and isinstance(expr, Var):
            space = self.plan.spaces.get(loop.carries[slot - INIT_SLOT].name, MemorySpace.DDR)
            clone = self._clone_names.get((expr.name, space))
            if clone is not None:
                return Var(clone)
        return self.expr(expr)

    def assign(self, site: int, stmt: Assign) -> list[Stmt]:
        if site in self.plan.splits:
            return self._split(site, stmt)
        if site in self.plan.peels:
            return [self._peel(site, stmt)]
        value = self.call(site, stmt.value)
        if site in self.plan.write_backs:
            assert isinstance(value, OpCall)
            return self._write_back(site, stmt, value)
        if stmt.name in self.plan.retargets and isinstance(value, OpCall):
            value = with_target(value, self.plan.spaces[stmt.name])
        casts, value = self._converted(stmt.value, value)
        return [*casts, self.rebound(site, stmt, value)]

    def _split(self, site: int, stmt: Assign) -> list[Stmt]:
        """``acc = f_acc(acc, a, b)`` as a product in Acc and a sum in Vec.

        Where the accumulator is read later under its old name the sum is written into its buffer.
        """
        call = self.call(site, stmt.value)
        assert isinstance(call, OpCall)
        accumulator, *factors = call.args
        product = self.bind(f"{stmt.name}_product", OpCall(PRODUCTS[call.op], tuple(factors), call.kwargs))
        moved = self.move(product.name, product.name, MemorySpace.Vec, row_major=True)
        total = OpCall("tile.add", (accumulator, Var(moved.name)), (), call.attrs)
        if site in self.plan.write_backs:
            return [product, moved, *self._write_back(site, stmt, total)]
        type_ = retyped_call(total, stmt.type, self.plan.spaces[stmt.name], self.types)
        self.types[stmt.name] = type_
        return [product, moved, Assign(stmt.name, type_, total)]

    def _write_back(self, site: int, stmt: Assign, call: OpCall) -> list[Stmt]:
        """``call``, and its result put into the buffer that ``stmt`` writes."""
        assert isinstance(stmt.value, OpCall)
        position, space = self.plan.write_backs[site]
        made = self.bind(f"{stmt.name}_new", call)
        moves, back = self._put_back(stmt.value.args[position], made.name, space)
        type_ = retyped_call(back, stmt.type, space, self.types)
        wanted = made.type.valid_shape if isinstance(made.type, TileType) else None
        if isinstance(type_, TileType) and wanted is not None and type_.valid_shape != wanted:
            # The old buffer shows the extent it had; the result has the one that the call gave it.
            written = self.bind(f"{stmt.name}_back", back)
            moves.append(written)
            extents = tuple(Const(dim, "INDEX") if isinstance(dim, int) else dim for dim in wanted)
            back = OpCall("tile.set_validshape", (Var(written.name), *extents))
            type_ = retyped_call(back, stmt.type, space, self.types)
        self.types[stmt.name] = type_
        return [made, *moves, Assign(stmt.name, type_, back)]

    def effect(self, site: int, stmt: EvalStmt) -> list[Stmt]:
        casts, value = self._converted(stmt.value, self.call(site, stmt.value))
        written: list[Stmt] = [*casts, replace(stmt, value=value)]
        if site not in self.plan.write_backs:
            return written
        position, space = self.plan.write_backs[site]
        (bare,) = written
        assert isinstance(bare, EvalStmt)
        assert isinstance(bare.value, OpCall)
        assert isinstance(stmt.value, OpCall)
        copy = bare.value.args[position]
        assert isinstance(copy, Var)
        moves, back = self._put_back(stmt.value.args[position], copy.name, space)
        return [bare, *moves, self.bind(f"{copy.name}_back", back)]

    def _converted(self, old: Expr, new: Expr) -> tuple[list[Stmt], Expr]:
        """A store converts from the accumulator only: what was one and is in Vec now is cast before it is stored."""
        if not isinstance(old, OpCall) or not isinstance(new, OpCall) or new.op != STORE or len(new.args) < 3:
            return [], new
        was, tile = operand_type(old.args[0], self.index.types), operand_type(new.args[0], self.types)
        tensor = operand_type(new.args[2], self.types)
        if not isinstance(was, TileType) or not isinstance(tile, TileType) or not isinstance(tensor, TensorType):
            return [], new
        if tile.dtype == tensor.dtype or tile.space is not MemorySpace.Vec or was.space is MemorySpace.Vec:
            return [], new
        keywords = (("target_type", EnumConst(tensor.dtype)), ("mode", StrConst("rint")))
        name = next(names_in(new.args[0]))
        cast = self.bind(f"{name}_{tensor.dtype}", OpCall("tile.cast", (new.args[0],), keywords))
        return [cast], replace(new, args=(Var(cast.name), *new.args[1:]))

    def _put_back(self, target: Expr, source: str, space: MemorySpace) -> tuple[list[Stmt], OpCall]:
        """The call that writes all of ``source`` into ``target``, which is in ``space``, and the moves before it."""
        moves: list[Stmt] = []
        type_ = self.types[source]
        if not isinstance(type_, TileType) or type_.space is not space:
            moved = self.move(source, source, space, row_major=space is MemorySpace.Vec)
            moves, source = [moved], moved.name
        origin = ListExpr((Const(0, "INDEX"), Const(0, "INDEX")))
        return moves, OpCall("tile.assemble", (self.expr(target), Var(source), origin))

    def _peel(self, site: int, stmt: Assign) -> Stmt:
        """``acc = f_acc(acc, a, b)`` as a plain product in the loop's first trip."""
        loop = self.index.sites[self.plan.peels[site]]
        assert isinstance(loop, For)
        call = self.call(site, stmt.value)
        assert isinstance(call, OpCall)
        type_ = retyped_call(call, stmt.type, self.plan.spaces[stmt.name], self.types)
        first = self.bind(f"{stmt.name}_first", OpCall(PRODUCTS[call.op], call.args[1:], call.kwargs))
        other = self.names.fresh(f"{stmt.name}_next")
        self.types[other] = self.types[stmt.name] = type_
        return If(
            BinOp("==", Var(loop.index), self.expr(loop.start)),
            (first, Yield((Var(first.name),))),
            (Assign(other, type_, call), Yield((Var(other),))),
            (Result(stmt.name, type_),),
        )
