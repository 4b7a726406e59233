"""From a plan back to a function: copies inserted, operands replaced, types deduced again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from tilesat.bridge.names import Names
from tilesat.bridge.retype import follow, operand_type, retyped_call
from tilesat.extract.plan import Copy, Plan
from tilesat.ir.deduce import deduce_call
from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import (
    Assign,
    BinOp,
    Block,
    Carry,
    EnumConst,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    Function,
    If,
    ListExpr,
    NamedExprs,
    OpCall,
    Result,
    Return,
    Scope,
    Stmt,
    Submit,
    Var,
    While,
    Yield,
)
from tilesat.ir.types import MemorySpace, TileType, Type
from tilesat.ir.walk import map_named, names_in, reads, rename_expr, rename_type
from tilesat.ir_terms.facts import PRODUCTS
from tilesat.rules.moves import INIT_SLOT, YIELD_SLOT

_ROW_MAJOR: NamedExprs = (
    ("blayout", EnumConst("TileLayout.row_major")),
    ("slayout", EnumConst("TileLayout.none_box")),
)


def move_call(source: str, space: MemorySpace, *, row_major: bool) -> OpCall:
    """``tile.move`` of ``source`` to ``space``; ``row_major`` asks for rows without boxes."""
    target = ("target_memory", EnumConst(f"Mem.{space.value}"))
    return OpCall("tile.move", (Var(source),), (target, *(_ROW_MAJOR if row_major else ())))


class Elaborator:
    """Applies one plan to one function. Statements keep their order; see :class:`Plan`."""

    def __init__(self, index: FunctionIndex, plan: Plan) -> None:
        self.index = index
        self.plan = plan
        self.names = Names((*index.definitions, *index.function.name.split()))
        self.types: dict[str, Type] = {param.name: param.type for param in index.function.params}
        self.copy_names: dict[int, str] = {}
        """Name of each inserted copy, by key; known once it was emitted."""
        self.added: dict[str, str] = {}
        """Names of added statements other than copies -> the variable they stand for."""
        self._copies: dict[int, list[Copy]] = defaultdict(list)
        for copy in sorted(plan.copies, key=lambda c: c.order):
            self._copies[copy.site].append(copy)
        self._renamed: dict[str, Expr] = {}
        self._clone_names: dict[tuple[str, MemorySpace], str] = {}
        self._rehome_sites = self._find_rehome_sites()
        self._site = 0

    def function(self) -> Function:
        """The function as planned."""
        function = self.index.function
        return replace(function, body=self._block(function.body))

    # -------------------------------------------------------------------------- blocks

    def _block(self, block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            site = self._site
            self._site += 1
            out += self._before(site, stmt)
            out += self._rewrite(site, stmt)
        return tuple(out)

    def _before(self, site: int, stmt: Stmt) -> list[Stmt]:
        """What is inserted directly before ``site``."""
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
        space = self.plan.rehomes[name]
        stmt = self._move(name, name, space, row_major=True)
        self._renamed[name] = Var(stmt.name)
        self.added[stmt.name] = name
        return stmt

    def _copy(self, copy: Copy) -> Assign:
        if copy.source is not None:
            source = self.copy_names[copy.source]
        else:
            source = next(names_in(rename_expr(Var(copy.variable), self._renamed)))
        stmt = self._move(copy.variable, source, copy.space, row_major=copy.row_major)
        self.copy_names[copy.key] = stmt.name
        return stmt

    def _move(self, hint: str, source: str, space: MemorySpace, *, row_major: bool) -> Assign:
        call = move_call(source, space, row_major=row_major)
        type_ = deduce_call(call, [self.types[source]])
        assert isinstance(type_, TileType), f"move of {source} has no type"
        name = self.names.fresh(f"{hint}_{space.value}")
        self.types[name] = type_
        return Assign(name, type_, call)

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
        self.added[clone] = name
        return Assign(clone, type_, call)

    # ---------------------------------------------------------------------- statements

    def _rewrite(self, site: int, stmt: Stmt) -> list[Stmt]:
        if isinstance(stmt, Assign):
            return self._assign(site, stmt)
        if isinstance(stmt, EvalStmt):
            return [replace(stmt, value=self._call(site, stmt.value))]
        if isinstance(stmt, (For, While)):
            return [self._loop(site, stmt)]
        if isinstance(stmt, If):
            return [self._if(stmt)]
        if isinstance(stmt, Scope):
            return [replace(stmt, body=self._block(stmt.body))]
        if isinstance(stmt, Yield):
            return [Yield(tuple(self._slot(site, YIELD_SLOT + k, v) for k, v in enumerate(stmt.values)))]
        if isinstance(stmt, Return):
            return [Return(tuple(self._expr(value) for value in stmt.values))]
        return [stmt]

    def _expr(self, expr: Expr) -> Expr:
        return rename_expr(expr, self._renamed)

    def _slot(self, site: int, slot: int, expr: Expr) -> Expr:
        """What ``slot`` of ``site`` reads: its copy, or the operand as it is now called."""
        key = self.plan.operands.get((site, slot))
        return self._expr(expr) if key is None else Var(self.copy_names[key])

    def _call(self, site: int, value: Expr) -> Expr:
        """``value`` with the operands the plan gives it; attributes that name them follow."""
        if not isinstance(value, (OpCall, FuncCall, Submit)):
            return self._expr(value)
        args = tuple(self._slot(site, position, arg) for position, arg in enumerate(value.args))
        kwargs = map_named(value.kwargs, self._expr)
        attrs = self._attrs(value.attrs, value.args, args)
        return replace(value, args=args, kwargs=kwargs, attrs=attrs)

    def _attrs(self, attrs: NamedExprs, old: tuple[Expr, ...], new: tuple[Expr, ...]) -> NamedExprs:
        """Attributes, references to replaced operands following them (INF-P3-06)."""
        replaced: dict[str, list[str]] = defaultdict(list)
        for before, after in zip(old, new, strict=True):
            if isinstance(before, Var) and isinstance(after, Var) and after.name not in replaced[before.name]:
                replaced[before.name].append(after.name)
        first: Mapping[str, Expr] = {name: Var(names[0]) for name, names in replaced.items()}
        kept: list[tuple[str, Expr]] = []
        for key, value in attrs:
            if key == "dump_vars" and isinstance(value, ListExpr):
                kept.append((key, ListExpr(tuple(self._dumped(value, replaced)))))
            else:
                kept.append((key, rename_expr(rename_expr(value, first), self._renamed)))
        return tuple(kept)

    def _dumped(self, listed: ListExpr, replaced: Mapping[str, list[str]]) -> list[Expr]:
        """A dump list names every replacement of a variable."""
        out: list[Expr] = []
        for item in listed.items:
            names = replaced.get(item.name, []) if isinstance(item, Var) else []
            out += [Var(name) for name in names] or [self._expr(item)]
        return out

    def _assign(self, site: int, stmt: Assign) -> list[Stmt]:
        if site in self.plan.splits:
            return self._split(site, stmt)
        if site in self.plan.peels:
            return [self._peel(site, stmt)]
        value = self._call(site, stmt.value)
        if stmt.name in self.plan.retargets and isinstance(value, OpCall):
            value = with_target(value, self.plan.spaces[stmt.name])
        type_ = self._new_type(stmt, value)
        self.types[stmt.name] = type_
        return [Assign(stmt.name, type_, value)]

    def _new_type(self, stmt: Assign, value: Expr) -> Type:
        type_ = rename_type(stmt.type, self._renamed)
        space = self.plan.spaces.get(stmt.name)
        if isinstance(value, OpCall) and self._is_changed(stmt, value):
            return retyped_call(value, type_, space, self.types)
        if isinstance(value, Var):
            source = stmt.value
            old = self.index.types.get(source.name) if isinstance(source, Var) else None
            return follow(type_, old, self.types.get(value.name), space)
        return follow(type_, None, None, space)

    def _is_changed(self, stmt: Assign, value: OpCall) -> bool:
        """Whether a call has other operands, or operands of another type, or another keyword."""
        old = stmt.value
        if not isinstance(old, OpCall) or value.args != old.args or value.kwargs != old.kwargs:
            return True
        return any(
            self.types.get(name, self.index.types.get(name)) != self.index.types.get(name)
            for arg in value.args
            for name in names_in(arg)
        )

    def _split(self, site: int, stmt: Assign) -> list[Stmt]:
        """``acc = f_acc(acc, a, b)`` as a product in Acc and a sum in Vec."""
        call = self._call(site, stmt.value)
        assert isinstance(call, OpCall)
        accumulator, *factors = call.args
        product = self._bind(f"{stmt.name}_product", OpCall(PRODUCTS[call.op], tuple(factors), call.kwargs))
        moved = self._move(product.name, product.name, MemorySpace.Vec, row_major=True)
        total = OpCall("tile.add", (accumulator, Var(moved.name)), (), call.attrs)
        self.added[product.name] = self.added[moved.name] = stmt.name
        type_ = retyped_call(total, stmt.type, self.plan.spaces[stmt.name], self.types)
        self.types[stmt.name] = type_
        return [product, moved, Assign(stmt.name, type_, total)]

    def _bind(self, hint: str, call: OpCall) -> Assign:
        type_ = deduce_call(call, [operand_type(arg, self.types) for arg in call.args])
        assert type_ is not None, f"{call.op} has no deduced type"
        name = self.names.fresh(hint)
        self.types[name] = type_
        return Assign(name, type_, call)

    def _peel(self, site: int, stmt: Assign) -> Stmt:
        """``acc = f_acc(acc, a, b)`` as a plain product in the loop's first trip."""
        loop = self.index.sites[self.plan.peels[site]]
        assert isinstance(loop, For)
        call = self._call(site, stmt.value)
        assert isinstance(call, OpCall)
        type_ = retyped_call(call, stmt.type, self.plan.spaces[stmt.name], self.types)
        first = self._bind(f"{stmt.name}_first", OpCall(PRODUCTS[call.op], call.args[1:], call.kwargs))
        other = self.names.fresh(f"{stmt.name}_next")
        self.types[other] = self.types[stmt.name] = type_
        self.added[first.name] = self.added[other] = stmt.name
        return If(
            BinOp("==", Var(loop.index), self._expr(loop.start)),
            (first, Yield((Var(first.name),))),
            (Assign(other, type_, call), Yield((Var(other),))),
            (Result(stmt.name, type_),),
        )

    # ---------------------------------------------------------------------- structures

    def _loop(self, site: int, loop: For | While) -> Stmt:
        carries = tuple(self._carry(site, position, carry) for position, carry in enumerate(loop.carries))
        if isinstance(loop, For):
            bounds = tuple(map(self._expr, (loop.start, loop.stop, loop.step)))
            body = self._block(loop.body)
            results = self._loop_results(loop, carries)
            start, stop, step = bounds
            return replace(loop, start=start, stop=stop, step=step, carries=carries, body=body, results=results)
        condition = self._expr(loop.condition)
        body = self._block(loop.body)
        return While(carries, condition, body, self._loop_results(loop, carries))

    def _carry(self, site: int, position: int, carry: Carry) -> Carry:
        space = self.plan.spaces.get(carry.name)
        init = self._slot(site, INIT_SLOT + position, carry.init)
        if isinstance(carry.init, Var) and space is not None:
            clone = self._clone_names.get((carry.init.name, space))
            init = init if clone is None else Var(clone)
        old = self.index.types.get(carry.init.name) if isinstance(carry.init, Var) else None
        type_ = follow(carry.type, old, operand_type(init, self.types), space)
        self.types[carry.name] = type_
        return Carry(carry.name, type_, init)

    def _loop_results(self, loop: For | While, carries: tuple[Carry, ...]) -> tuple[Result, ...]:
        results = []
        for result, before, after in zip(loop.results, loop.carries, carries, strict=True):
            type_ = follow(result.type, before.type, after.type, self.plan.spaces.get(result.name))
            self.types[result.name] = type_
            results.append(Result(result.name, type_))
        return tuple(results)

    def _if(self, stmt: If) -> If:
        condition = self._expr(stmt.condition)
        then = self._block(stmt.then)
        orelse = None if stmt.orelse is None else self._block(stmt.orelse)
        old, new = final_values(stmt.then), final_values(then)
        results = []
        for result, before, after in zip(stmt.results, old, new, strict=True):
            source = operand_type(before, self.index.types)
            type_ = follow(result.type, source, operand_type(after, self.types), self.plan.spaces.get(result.name))
            self.types[result.name] = type_
            results.append(Result(result.name, type_))
        return If(condition, then, orelse, tuple(results))


def final_values(block: Block) -> tuple[Expr, ...]:
    """What the yield that ends ``block`` gives, nothing without one."""
    last = next((stmt for stmt in reversed(block) if isinstance(stmt, Yield)), None)
    return () if last is None else last.values


def with_target(call: OpCall, space: MemorySpace) -> OpCall:
    """``call`` producing its tile in ``space``; a fill becomes an empty create (its contents are not read)."""
    target = EnumConst(f"Mem.{space.value}")
    if call.op == "tile.full":
        dtype = tuple(item for item in call.kwargs if item[0] == "dtype")
        return OpCall("tile.create", call.args[:1], (*dtype, ("target_memory", target)), call.attrs)
    if call.kwarg("target_memory") is None:
        return replace(call, kwargs=(*call.kwargs, ("target_memory", target)))
    kwargs = tuple((k, target if k == "target_memory" else v) for k, v in call.kwargs)
    return replace(call, kwargs=kwargs)
