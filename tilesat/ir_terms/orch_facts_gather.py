"""Loops that gather blocks into a tile which is stored afterwards, and what speaks against storing block by block."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tilesat.ir.accesses import Accesses, Scalars
from tilesat.ir.affine import Affine
from tilesat.ir.index import BODY, FunctionIndex
from tilesat.ir.memory import is_barrier
from tilesat.ir.nodes import Assign, Block, Expr, For, Function, If, ListExpr, OpCall, Return, Stmt, Var, Yield
from tilesat.ir.ops import op_info
from tilesat.ir.regions import Access, Window, seen_later, uncovered
from tilesat.ir.types import Direction, MemorySpace, TensorType, TileType
from tilesat.ir.walk import reads
from tilesat.ir_terms.orch_facts import ProgramFacts
from tilesat.ir_terms.orch_facts_origins import is_external
from tilesat.ir_terms.orch_facts_workspace import Workspace

_STORABLE = (None, MemorySpace.Vec, MemorySpace.Acc)
PLAIN, NESTED, GUARDED = "plain", "nested", "guarded"


@dataclass(frozen=True, slots=True)
class GatherBlock:
    """One ``tile.assemble`` into the gathered tile."""

    site: int
    source: Expr
    offsets: tuple[Expr, ...]
    is_sure: bool


@dataclass(slots=True)
class Gather:
    """One loop that gathers: sites are those of the kernel, ``output`` is a position among its parameters."""

    loop: int
    store: int
    output: int
    init: str
    offsets: tuple[Expr, ...]
    """Where the whole tile is stored."""
    form: str = PLAIN
    blocks: list[GatherBlock] = field(default_factory=list)
    tiles: list[str] = field(default_factory=list)
    """Variables that are the tile on its way: iter-arg, assembled, results."""
    passes: Counter[str] = field(default_factory=Counter)
    """How often each of them is used on the way."""
    inits: int = 0
    """How often the init is used."""
    starts_empty: bool = False
    flaws: list[str] = field(default_factory=list)
    gap: str | None = None
    seen: list[tuple[int, str]] = field(default_factory=list)
    stores: list[int] = field(default_factory=list)


def gathers(workspace: Workspace, function: Function) -> list[Gather]:
    """The gathering loops of ``function``, found once for all kernels that are alike."""
    return workspace.derived(
        "gather", function, lambda f: GatherReader(workspace.index(f), workspace.accesses(f)).found
    )


class GatherFacts:
    """Adds the rows of pattern 3 to those of a program."""

    def __init__(self, facts: ProgramFacts) -> None:
        self.is_empty = True
        for function in facts.program.functions:
            if not function.is_incore or is_external(function):
                continue
            for gather in gathers(facts.workspace, function):
                self.is_empty = False
                self._rows(facts, function, gather)

    def _rows(self, facts: ProgramFacts, function: Function, gather: Gather) -> None:
        name, loop, add = function.name, facts.number(function.name, gather.loop), facts.add
        add("gather", name, loop, gather.output)
        add("gather-form", name, loop, gather.form)
        add("gather-start", name, loop, "empty" if gather.starts_empty else "data")
        for why in gather.flaws:
            add("gather-flaw", name, loop, why)
        if gather.gap is not None:
            add("gather-gap", name, loop, gather.gap)
        for position, why in gather.seen:
            add("block-seen", name, loop, position, why)
        for position in gather.stores:
            add("stores-too", name, loop, position)


class GatherReader:
    """Finds the gathering loops of one kernel."""

    def __init__(self, index: FunctionIndex, accesses: Accesses) -> None:
        self.index = index
        self.accesses = accesses
        self.scalars: Scalars = accesses.scalars
        self.uses = Counter(name for stmt in index.sites for name in reads(stmt))
        self.found: list[Gather] = []
        last = index.function.body[-1] if index.function.body else None
        self.returned = last.values if isinstance(last, Return) else ()
        for site in index.regions[BODY].sites:
            stmt = index.sites[site]
            if isinstance(stmt, For) and len(stmt.carries) == 1 and len(stmt.results) == 1:
                gather = self._gather(site, stmt)
                if gather is not None:
                    self.found.append(gather)

    def _gather(self, site: int, loop: For) -> Gather | None:
        tile, init = loop.results[0], loop.carries[0].init
        if not isinstance(tile.type, TileType) or not isinstance(init, Var):
            return None
        store = self._store(tile.name, site)
        if store is None:
            return None
        store_site, call = store
        output = self._output(call.args[2])
        offsets = call.args[1]
        if output is None or not isinstance(offsets, ListExpr):
            return None
        gather = Gather(site, store_site, output, init.name, offsets.items)
        gather.tiles.append(tile.name)
        if not self._body(gather, site, loop.carries[0].name, loop.body, is_sure=True):
            return None
        self._check(gather, call, tile.type)
        self._check_init(gather)
        self._regions(gather, tile.type)
        return gather

    def _store(self, tile: str, loop: int) -> tuple[int, OpCall] | None:
        """The store of ``tile`` at top level whose result is returned."""
        for site in self.index.regions[BODY].sites:
            stmt = self.index.sites[site]
            if site > loop and isinstance(stmt, Assign) and isinstance(stmt.value, OpCall):
                call = stmt.value
                if call.op == "tile.store" and call.args[0] == Var(tile) and Var(stmt.name) in self.returned:
                    return site, call
        return None

    def _output(self, target: Expr) -> int | None:
        for position, param in enumerate(self.index.function.params):
            if target == Var(param.name) and param.direction is Direction.Out:
                return position
        return None

    # ---------------------------------------------------------------------------- body

    def _body(self, gather: Gather, owner: int, carry: str, body: Block, *, is_sure: bool) -> bool:
        """Whether ``body`` yields ``carry`` with blocks assembled into it; collects them."""
        gather.tiles.append(carry)
        last = body[-1] if body else None
        if not isinstance(last, Yield) or len(last.values) != 1:
            return False
        return self._yielded(gather, self.index.arms[owner, 0], carry, last.values[0], is_sure=is_sure)

    def _yielded(self, gather: Gather, region: int, carry: str, value: Expr, *, is_sure: bool) -> bool:
        if not isinstance(value, Var):
            return False
        definition = self.index.definitions.get(value.name)
        if definition is None or definition.region != region:
            return False
        stmt = self.index.sites[definition.site]
        gather.tiles.append(value.name)
        gather.passes[value.name] += 1
        if isinstance(stmt, Assign):
            return self._block(gather, definition.site, stmt, carry, is_sure=is_sure)
        if isinstance(stmt, For) and len(stmt.carries) == 1 and stmt.carries[0].init == Var(carry):
            gather.form = NESTED if gather.form == PLAIN else gather.form
            gather.passes[carry] += 1
            inner = stmt.carries[0].name
            return self._body(gather, definition.site, inner, stmt.body, is_sure=is_sure)
        if isinstance(stmt, If) and len(stmt.results) == 1 and stmt.orelse is not None:
            gather.form = GUARDED
            return self._branches(gather, definition.site, stmt, carry)
        return False

    def _block(self, gather: Gather, site: int, stmt: Assign, carry: str, *, is_sure: bool) -> bool:
        call = stmt.value
        if not isinstance(call, OpCall) or call.op != "tile.assemble" or len(call.args) != 3:
            return False
        offsets = call.args[2]
        if call.args[0] != Var(carry) or not isinstance(offsets, ListExpr):
            return False
        if call.kwargs or call.attrs:
            gather.flaws.append("a block is assembled with options")
        gather.passes[carry] += 1
        gather.blocks.append(GatherBlock(site, call.args[1], offsets.items, is_sure))
        return True

    def _branches(self, gather: Gather, site: int, stmt: If, carry: str) -> bool:
        """Each branch yields the tile as it is, or with a block in it."""
        changed = 0
        for arm, block in enumerate((stmt.then, stmt.orelse or ())):
            last = block[-1] if block else None
            if not isinstance(last, Yield) or len(last.values) != 1:
                return False
            if last.values[0] == Var(carry):
                gather.passes[carry] += 1
                continue
            region = self.index.arms[site, arm]
            if not self._yielded(gather, region, carry, last.values[0], is_sure=False):
                return False
            changed += 1
        return changed > 0

    # -------------------------------------------------------------------------- checks

    def _check(self, gather: Gather, store: OpCall, tile: TileType) -> None:
        flaws, index = gather.flaws, self.index
        param = index.function.params[gather.output]
        if any(self.uses[name] != gather.passes[name] for name in gather.tiles[1:]):
            flaws.append("the gathered tile is read in the loop")
        if self.uses[gather.tiles[0]] != 1:
            flaws.append("the gathered tile has another reader")
        if self.uses[param.name] != 1 + self.returned.count(Var(param.name)):
            flaws.append(f"'{param.name}' is used elsewhere, too")
        if self.uses[self._name(gather.store)] != self.returned.count(Var(self._name(gather.store))):
            flaws.append("the stored tensor is used before it is returned")
        if store.kwargs or store.attrs or len(store.args) > 3:
            flaws.append("the tile is stored with options")
        assert isinstance(param.type, TensorType)
        if tile.valid_shape != tile.shape:
            flaws.append("only a part of the tile is valid")
        if tile.dtype != param.type.dtype or len(tile.shape) != len(param.type.shape):
            flaws.append("tile and tensor differ in dtype or rank")
        if any(not self._known_before(name, gather.loop) for e in gather.offsets for name in self._names(e)):
            flaws.append("the place of the tile is known only after the loop")
        for block in gather.blocks:
            self._check_block(gather, block, tile)
        inside = range(gather.loop, gather.store)
        if any(is_barrier(index.sites[site]) for site in inside):
            flaws.append("a synchronisation lies between the blocks and the store")

    def _names(self, expr: Expr) -> list[str]:
        return list(reads(Return((expr,))))

    def _name(self, site: int) -> str:
        stmt = self.index.sites[site]
        assert isinstance(stmt, Assign)
        return stmt.name

    def _known_before(self, name: str, site: int) -> bool:
        definition = self.index.definitions.get(name)
        return definition is None or definition.site < site

    def _check_block(self, gather: Gather, block: GatherBlock, tile: TileType) -> None:
        source = self.index.types.get(block.source.name) if isinstance(block.source, Var) else None
        if not isinstance(source, TileType) or len(source.shape) != len(tile.shape):
            gather.flaws.append("a block and the tile differ in rank")
        elif source.dtype != tile.dtype:
            gather.flaws.append("a block and the tile differ in dtype")
        elif source.space not in _STORABLE:
            gather.flaws.append(f"a block in {source.space} cannot be stored")
        if len(block.offsets) != len(tile.shape):
            gather.flaws.append("a block and the tile differ in rank")

    def _check_init(self, gather: Gather) -> None:
        gather.inits = self.uses[gather.init]
        definition = self.index.definitions.get(gather.init)
        stmt: Stmt | None = None if definition is None or definition.site < 0 else self.index.sites[definition.site]
        call = stmt.value if isinstance(stmt, Assign) else None
        if isinstance(call, OpCall) and call.op == "tile.create" and call.kwarg("init_value") is None:
            gather.starts_empty = gather.inits == 1
            return
        info = op_info(call.op) if isinstance(call, OpCall) else None
        if info is None or not info.is_pure:
            gather.inits += 1  # Not a statement that may go.

    # ------------------------------------------------------------------------- regions

    def _regions(self, gather: Gather, tile: TileType) -> None:
        shape = self.scalars.forms(tile.shape)
        sure: list[Access] = []
        moved: list[Access] = []
        final = self.scalars.forms(gather.offsets)
        for block in gather.blocks:
            source = self.index.types.get(block.source.name) if isinstance(block.source, Var) else None
            if not isinstance(source, TileType) or len(block.offsets) != len(shape) or len(source.shape) != len(shape):
                continue
            loops = self.scalars.loops[self.index.region_of[block.site]]
            offsets = self.scalars.forms(block.offsets)
            if block.is_sure:
                valid = self.scalars.forms(source.valid_shape)
                sure.append(Access(loops, Window(offsets, valid), block.site))
            window = Window(_sums(offsets, final), self.scalars.forms(source.shape))
            moved.append(Access(loops, window if len(final) == len(offsets) else None, block.site))
        gap = uncovered(sure, shape)
        gather.gap = None if gap is None else gap.text
        self._conflicts(gather, moved)

    def _conflicts(self, gather: Gather, moved: list[Access]) -> None:
        params = self.index.function.params
        output = params[gather.output].type
        for position, param in enumerate(params):
            if position == gather.output or not isinstance(param.type, TensorType):
                continue
            assert isinstance(output, TensorType)
            alike = param.type.shape == output.shape
            for touch in self.accesses.of(param.name):
                if not gather.loop < touch.site < gather.store:
                    continue
                if touch.writes and position not in gather.stores:
                    gather.stores.append(position)
                access = touch.access if alike else Access(touch.access.loops, None, touch.site)
                found = [seen_later(block, access, self.scalars.depths) for block in moved] if touch.reads else []
                conflict = next((c for c in found if c is not None), None)
                if conflict is not None:
                    gather.seen.append((position, conflict.text))
                    break


def _sums(a: tuple[Affine, ...], b: tuple[Affine, ...]) -> tuple[Affine, ...]:
    return tuple([x + y for x, y in zip(a, b, strict=False)])
