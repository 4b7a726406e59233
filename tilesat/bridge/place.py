"""From a chosen placement back to a function."""

from __future__ import annotations

from dataclasses import replace

from tilesat.bridge.rebuild import Rebuilder, with_target
from tilesat.bridge.retype import operand_type, retyped_call
from tilesat.bridge.schedule import Execution, Schedule, Scheduler
from tilesat.extract.graph import Choice
from tilesat.extract.places import PlaceGraph
from tilesat.ir.deduce import deduce_call
from tilesat.ir.nodes import Assign, Expr, ListExpr, OpCall, Stmt, Var
from tilesat.ir.types import MemorySpace, TileType, Type
from tilesat.ir_terms.relations import SPACE_NUMBERS, SPACES


class PlaceElaborator(Rebuilder):
    """Applies one choice to one function whose spaces are decided.

    Statements that stay keep their order and names; copies, views and windows are executed where the schedule
    puts them; what nobody needs is left out.
    """

    def __init__(self, places: PlaceGraph, choice: Choice) -> None:
        super().__init__(places.index)
        self.places = places
        self.choice = choice
        self.schedule: Schedule = Scheduler(places, choice, self.names).run()
        self._slot_spaces = self._chosen_slots()

    def _chosen_slots(self) -> dict[tuple[int, int], MemorySpace]:
        graph = self.places.choices
        found = {}
        for key, cls in self.places.slot_class.items():
            found[key] = SPACES[graph.nodes[self.choice[cls]].data[2]]
        return found

    # --------------------------------------------------------------------------- hooks

    def space_of(self, name: str) -> MemorySpace | None:
        definition = self.index.definitions[name]
        slot = self._slot_spaces.get((definition.site, definition.position))
        if slot is not None and definition.how in ("carry", "result"):
            return slot
        spaces = self.schedule.homes.get(name)
        if spaces:
            return SPACES[spaces[0]]
        type_ = self.index.types.get(name)
        return type_.space if isinstance(type_, TileType) else None

    def before(self, site: int, stmt: Stmt) -> list[Stmt]:
        return [self._execute(e) for e in self.schedule.at.get(site, ()) if e.reuses is None]

    def slot(self, site: int, slot: int, expr: Expr) -> Expr:
        cls = self.places.operand_class.get((site, slot))
        if cls is None:
            cls = self._flow(site, slot)
        if cls is None or cls not in self.schedule.names:
            return self.expr(expr)
        return Var(self.schedule.names[cls])

    def _flow(self, site: int, slot: int) -> int | None:
        key = self.places.slot_of_flow.get((site, slot))
        if key is None:
            return None
        return self.places.flow_class.get((site, slot, SPACE_NUMBERS[self._slot_spaces[key]]))

    def assign(self, site: int, stmt: Assign) -> list[Stmt]:
        reusing = [e for e in self.schedule.at.get(site, ()) if e.reuses == site]
        if reusing:
            return [self._execute(e) for e in reusing]
        if site in self.places.run_class:
            if site not in self.schedule.kept:
                return []
            return [self.rebound(site, stmt, self.call(site, stmt.value))]
        if stmt.name in self.places.makers:
            return self._make(site, stmt)
        if stmt.name in self.places.views:
            return self._views(site, stmt)
        if stmt.name in self.places.floating or stmt.name in self.places.aliases:
            return []
        return [self.rebound(site, stmt, self.call(site, stmt.value))]

    # ---------------------------------------------------------------------- statements

    def _make(self, site: int, stmt: Assign) -> list[Stmt]:
        """A load or create, once for each space its tile is wanted in."""
        made: list[Stmt] = []
        for number in self.schedule.homes.get(stmt.name, ()):
            space = SPACES[number]
            call = self.call(site, stmt.value)
            assert isinstance(call, OpCall)
            assert isinstance(stmt.type, TileType)
            name = self._own_name(stmt.name, number)
            if stmt.type.space is not space or stmt.value.kwarg("target_memory") is None:  # type: ignore[attr-defined]
                call = with_target(call, space)
                self.types[name] = retyped_call(call, stmt.type, space, self.types)
                made.append(Assign(name, self.types[name], call))
            else:
                made.append(self.rebound(site, stmt, call))
        return made

    def _views(self, site: int, stmt: Assign) -> list[Stmt]:
        """A view of a buffer that stays, once for each space that buffer is wanted in."""
        made: list[Stmt] = []
        assert isinstance(stmt.value, OpCall)
        source = stmt.value.args[0]
        assert isinstance(source, Var)
        for number in self.schedule.homes.get(stmt.name, ()):
            seen = Var(self._own_name(source.name, number))
            call = OpCall(
                stmt.value.op, (seen, *map(self.expr, stmt.value.args[1:])), stmt.value.kwargs, stmt.value.attrs
            )
            name = self._own_name(stmt.name, number)
            if name == stmt.name:
                made.append(self.rebound(site, stmt, call))
            else:
                self.types[name] = retyped_call(call, stmt.type, SPACES[number], self.types)
                made.append(Assign(name, self.types[name], call))
        return made

    def _own_name(self, name: str, space: int) -> str:
        cls = self.places.own_class[name, space]
        return self.schedule.names.get(cls, name)

    def _execute(self, execution: Execution) -> Assign:
        node = execution.node
        if node.kind == "Load":
            return self._load(execution)
        source = self.schedule.names[node.children[0]]
        call = self._execution_call(execution, source)
        type_ = deduce_call(call, [operand_type(arg, self.types) for arg in call.args])
        if type_ is None:
            type_ = self._stated_type(execution, call)
        type_ = self._in_allocation(execution.name, type_)
        self.types[execution.name] = type_
        return Assign(execution.name, type_, call)

    def _in_allocation(self, name: str, type_: Type) -> Type:
        """``type_`` in the allocation that the input declares for tile ``name``."""
        old = self.index.types.get(name)
        if not isinstance(old, TileType) or not isinstance(type_, TileType) or old.space is not type_.space:
            return type_
        return replace(type_, memref=old.memref)

    def _load(self, execution: Execution) -> Assign:
        """A load where it stands, told to land where it is wanted."""
        site, number, _ = execution.node.data
        stmt, space = self.index.sites[site], SPACES[number]
        assert isinstance(stmt, Assign)
        assert isinstance(stmt.type, TileType)
        call = self.call(site, stmt.value)
        assert isinstance(call, OpCall)
        if stmt.type.space is space and execution.name == stmt.name:
            return self.rebound(site, stmt, call)
        if stmt.type.space is not space:
            call = with_target(call, space)
        self.types[execution.name] = retyped_call(call, stmt.type, space, self.types)
        return Assign(execution.name, self.types[execution.name], call)

    def _execution_call(self, execution: Execution, source: str) -> OpCall:
        node = execution.node
        if node.kind == "Move":
            _, target, layout, _ = node.data
            return self._move(execution, source, SPACES[target], row_major=bool(layout))
        if node.kind == "Slice":
            offsets, shape, _ = node.data
            return OpCall("tile.slice", (Var(source), ListExpr(shape), ListExpr(offsets)))
        stmt = self.index.sites[node.data[0]]
        assert isinstance(stmt, Assign)
        assert isinstance(stmt.value, OpCall)
        call = OpCall(
            stmt.value.op, (Var(source), *map(self.expr, stmt.value.args[1:])), stmt.value.kwargs, stmt.value.attrs
        )
        return with_target(call, SPACES[node.data[1]]) if node.kind == "Cut" else call

    def _move(self, execution: Execution, source: str, target: MemorySpace, *, row_major: bool) -> OpCall:
        """The move, as the input has it where it is only kept."""
        if execution.reuses is not None:
            stmt = self.index.sites[execution.reuses]
            assert isinstance(stmt, Assign)
            assert isinstance(stmt.value, OpCall)
            return OpCall("tile.move", (Var(source),), stmt.value.kwargs, stmt.value.attrs)
        return self.move_from(source, target, row_major=row_major)

    def _stated_type(self, execution: Execution, call: OpCall) -> TileType:
        """The type the input states, for an op without a deduction rule."""
        stmt = self.index.sites[execution.node.data[0]]
        assert isinstance(stmt, Assign)
        assert isinstance(stmt.type, TileType)
        type_ = retyped_call(call, stmt.type, SPACES[self.places.at[execution.cls][1]], self.types)
        assert isinstance(type_, TileType)
        return type_
