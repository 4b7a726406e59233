"""Memory SSA of one function: which tiles share a buffer, and when a buffer changes.

Tiles that may name one buffer form a *group*: plain aliases, zero-copy views, results of ops that
reuse an argument, tiles in one declared allocation, and, where a carried slot or an if result is
written in place, everything that flows into it. Each group has *versions*: a write makes a new one, a
loop whose body writes the group starts its body and leaves with a fresh one, and so does an if with a
write in a branch. Two reads of a group see the same contents exactly when their versions agree (design
section 7).

Versions come in two kinds. ``written`` changes only at writes; ``ordered`` also changes at every
synchronisation, cross-core or unknown effect, so that nothing keyed by it moves across one.
Global memory gets versions too: one per tensor variable's storage as the function sees it, and one
for all of global memory, because two tensor parameters may overlap.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from tilesat.ir.index import BODY, FunctionIndex
from tilesat.ir.nodes import (
    Assign,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    If,
    OpaqueStmt,
    OpCall,
    Stmt,
    Submit,
    TupleGet,
    Var,
    While,
    Yield,
)
from tilesat.ir.ops import OpInfo, op_info
from tilesat.ir.remembered import remembered
from tilesat.ir.types import TensorType, TileType, TupleType
from tilesat.ir.walk import has_opaque, names_in, reads

COPIES = frozenset({"tile.move", "tile.extract"})
"""Ops whose result is a copy of (a window of) their first operand."""

Versions = tuple[int, int]
"""The (written, ordered) version of a group at one point."""

GLOBAL_MEMORY = "*"
"""The group that every write to global memory changes."""

_BARRIER = "!"
_CALLS = frozenset({OpCall, FuncCall, Submit})


class Groups:
    """Union-find over variable names."""

    def __init__(self) -> None:
        self._parent: dict[str, str] = {}

    def find(self, name: str) -> str:
        root = name
        while (parent := self._parent.get(root, root)) != root:
            root = parent
        while self._parent.get(name, name) != root:
            self._parent[name], name = root, self._parent[name]
        return root

    def union(self, a: str, b: str) -> bool:
        """Join the groups of ``a`` and ``b``; whether they were apart."""
        ra, rb = self.find(a), self.find(b)
        if ra == rb:
            return False
        self._parent[max(ra, rb)] = min(ra, rb)
        return True


def called(stmt: Stmt) -> Expr | None:
    """The call that ``stmt`` makes as a whole, else ``None``."""
    if not isinstance(stmt, (Assign, EvalStmt)):
        return None
    value = stmt.value
    return value if type(value) in _CALLS else None


@remembered("_is_barrier")
def is_barrier(stmt: Stmt) -> bool:
    """Whether ``stmt`` has an effect that nothing may be moved across.

    Writes to tiles and tensors are not barriers: they have versions of their own.
    """
    if has_opaque(stmt):
        return True
    call = called(stmt)
    if call is None:
        return False
    if not isinstance(call, OpCall):
        return True
    info = op_info(call.op)
    if info is None:
        return True
    if info.cross_core or info.category in ("SyncOp", "PrefetchOp", "DistributedOp", "CrossCoreOp"):
        return True
    return not info.is_pure and not info.effects and not info.kwarg_effects


def _shared_position(info: OpInfo | None) -> int | None:
    """The argument whose buffer an op's result is: views, ops that reuse one, and assemble."""
    if info is None:
        return None
    if info.reuses_arg is not None:
        return info.reuses_arg
    return 0 if info.is_view or info.name in _WRITES_INTO_FIRST else None


_WRITES_INTO_FIRST = frozenset({"tile.assemble", "tensor.assemble"})


class MemorySSA:
    """Groups and versions of one function; see the module's docstring."""

    def __init__(self, index: FunctionIndex) -> None:
        self.index = index
        self.groups = Groups()
        self.written_groups: set[str] = set()
        self._behind: dict[str, tuple[str, ...]] = {}
        """What a text that is not modelled binds -> the buffers it speaks of, any of which that may be."""
        self._writes: dict[int, tuple[str, ...]] = {}
        self._barriers = [is_barrier(stmt) for stmt in index.sites]
        self._written: dict[int, list[str]] = {}
        """Site -> variables whose buffers the statement there may change, where there are any."""
        self._join_buffers()
        self._overlaid = self._join_allocations()
        self._find_written()
        self._join_phis()
        self._collect_writes()

    @property
    def use_versions(self) -> dict[tuple[int, str], Versions]:
        """(site, group) -> (written, ordered) version that the statement reads."""
        return self._versions[0]

    @property
    def entry_versions(self) -> dict[tuple[int, str], Versions]:
        """(region, group) -> versions before a branch or loop, where every trip of the loop starts with the same."""
        return self._versions[1]

    # -------------------------------------------------------------------------- groups

    def group(self, name: str) -> str:
        """The group of tile or tensor ``name``."""
        return self.groups.find(name)

    def is_written(self, name: str) -> bool:
        """Whether anything in the function writes the buffer of ``name``."""
        return self.group(name) in self.written_groups

    def written_at(self, site: int) -> tuple[str, ...]:
        """Groups that the statement at ``site`` itself writes."""
        return self._writes.get(site, ())

    def is_barrier(self, site: int) -> bool:
        return self._barriers[site]

    def _join_buffers(self) -> None:
        for stmt in self.index.sites:
            if isinstance(stmt, OpaqueStmt):
                self._join_text(stmt)
            self._join_results(stmt)
            if not isinstance(stmt, Assign) or not isinstance(stmt.type, (TileType, TensorType)):
                continue
            source = self.shared_source(stmt.value)
            if source is not None:
                self.groups.union(stmt.name, source)

    def _join_text(self, stmt: OpaqueStmt) -> None:
        """What a text binds may be any of the buffers it speaks of; tiles stay apart, for they take room each."""
        for bound in stmt.binds:
            self._behind[bound] = tuple(name for name in stmt.names if self._has_buffer(name))
            for name in self._behind[bound]:
                if not isinstance(self.index.types.get(name), TileType):
                    self.groups.union(bound, name)

    def _join_results(self, stmt: Stmt) -> None:
        """Join the tensors that a call or unknown op gives with those that it is given: it may return them."""
        call = called(stmt)
        if not isinstance(stmt, Assign) or call is None or not isinstance(stmt.type, (TensorType, TupleType)):
            return
        if isinstance(call, OpCall) and op_info(call.op) is not None:
            return
        for name in names_in(call):
            if isinstance(self.index.types.get(name), TensorType):
                self.groups.union(stmt.name, name)

    def _join_allocations(self) -> set[str]:
        """Join the tiles of each declared allocation; those made there where others are made too overwrite them."""
        allocated: dict[str, list[str]] = {}
        for name in self.index.tile_names():
            type_ = self.index.types[name]
            if isinstance(type_, TileType) and type_.memref is not None:
                allocated.setdefault(type_.memref, []).append(name)
        overlaid: set[str] = set()
        for names in allocated.values():
            made = [name for name in names if self._is_made(name)]
            if len(made) > 1:
                overlaid.update(made)
            for name in names[1:]:
                self.groups.union(names[0], name)
        return overlaid

    def _is_made(self, name: str) -> bool:
        """Whether a statement makes ``name``, and not only a view, another name or a change of what is there."""
        site = self.index.definitions[name].site
        stmt = self.index.sites[site] if site >= 0 else None
        return isinstance(stmt, Assign) and self.shared_source(stmt.value) is None

    def shared_source(self, value: Expr) -> str | None:
        """The variable whose buffer the result of ``value`` is."""
        if isinstance(value, Var):
            return value.name
        if isinstance(value, TupleGet):
            return next(names_in(value), None)
        if not isinstance(value, OpCall):
            return None
        position = _shared_position(op_info(value.op))
        if position is None or position >= len(value.args):
            return None
        arg = value.args[position]
        return arg.name if isinstance(arg, Var) else None

    def _join_phis(self) -> None:
        """Join what flows into carried slots and if results that are written in place."""
        flows = list(self._flows())
        tensors = [flow for flow in flows if isinstance(self.index.types.get(flow[0]), TensorType)]
        for target, source in tensors:
            self.groups.union(target, source)
        direct = {name for names in self._written.values() for name in names}
        changed = True
        while changed:
            changed = False
            written = {self.groups.find(name) for name in direct}
            for target, source in flows:
                if self.groups.find(target) in written or self.groups.find(source) in written:
                    changed |= self.groups.union(target, source)

    def _flows(self) -> Iterable[tuple[str, str]]:
        """Pairs (phi variable, variable that flows into it)."""
        for site, stmt in enumerate(self.index.sites):
            if isinstance(stmt, (For, While)):
                yielded = self._yield_values(site, 0)
                for position, carry in enumerate(stmt.carries):
                    sources = [carry.init, *yielded[position : position + 1]]
                    for source in sources:
                        if isinstance(source, Var):
                            yield carry.name, source.name
                    if position < len(stmt.results):
                        yield stmt.results[position].name, carry.name
            elif isinstance(stmt, If):
                for arm in (0, 1):
                    for result, source in zip(stmt.results, self._yield_values(site, arm), strict=False):
                        if isinstance(source, Var):
                            yield result.name, source.name

    def _yield_values(self, site: int, arm: int) -> tuple[Expr, ...]:
        position = self.index.yields.get((site, arm))
        stmt = self.index.sites[position] if position is not None else None
        return stmt.values if isinstance(stmt, Yield) else ()

    # -------------------------------------------------------------------------- writes

    def _find_written(self) -> None:
        for site, stmt in enumerate(self.index.sites):
            made = [stmt.name] if self._overlaid and isinstance(stmt, Assign) and stmt.name in self._overlaid else []
            changed = self._changed_names(stmt)
            if made or changed:
                behind = [name for bound in changed for name in self._behind.get(bound, ())]
                self._written[site] = [*made, *changed, *behind]

    def _changed_names(self, stmt: Stmt) -> list[str]:
        """Variables bound before ``stmt`` whose buffers it may change."""
        if isinstance(stmt, OpaqueStmt):
            return [name for name in stmt.names if self._has_buffer(name)]
        call = called(stmt)
        if isinstance(call, OpCall):
            info = op_info(call.op)
            if info is None:
                return [name for name in names_in(call) if self._has_buffer(name)]
            return [
                arg.name
                for position in info.written_args(call)
                if isinstance(arg := call.args[position], Var) and self._has_buffer(arg.name)
            ]
        if isinstance(call, (FuncCall, Submit)):
            return [name for name in names_in(call) if self._has_buffer(name)]
        return []

    def _has_buffer(self, name: str) -> bool:
        return name in self._behind or isinstance(self.index.types.get(name), (TileType, TensorType))

    def _collect_writes(self) -> None:
        for site, stmt in enumerate(self.index.sites):
            names = self._written.get(site, [])
            is_unknown = isinstance(stmt, OpaqueStmt) or isinstance(called(stmt), (FuncCall, Submit))
            if not names and not is_unknown:
                continue
            groups = dict.fromkeys(self.group(name) for name in names)
            touches = (name in self._behind or isinstance(self.index.types.get(name), TensorType) for name in names)
            if is_unknown or any(touches):
                groups[GLOBAL_MEMORY] = None
            self._writes[site] = tuple(groups)
            self.written_groups.update(groups)

    # ------------------------------------------------------------------------ versions

    @cached_property
    def _versions(self) -> tuple[dict[tuple[int, str], Versions], dict[tuple[int, str], Versions]]:
        numbering = _Numbering(self)
        numbering.region(BODY)
        return numbering.uses, numbering.entries

    @cached_property
    def _origins(self) -> dict[str, tuple[str, ...]]:
        """For a copied tile, the groups it was copied from: a later read could read those instead."""
        origins: dict[str, tuple[str, ...]] = {}
        for stmt in self.index.sites:
            if not isinstance(stmt, Assign) or not isinstance(stmt.value, (OpCall, Var)):
                continue
            value = stmt.value
            source = value if isinstance(value, Var) else next(iter(value.args), None)
            if not isinstance(source, Var):
                continue
            if isinstance(value, OpCall) and value.op in COPIES:
                origins[stmt.name] = (self.group(source.name), *origins.get(source.name, ()))
            elif source.name in origins and self.group(source.name) == self.group(stmt.name):
                origins[stmt.name] = origins[source.name]
        return origins

    def groups_read(self, stmt: Stmt) -> list[str]:
        """Groups of the buffers ``stmt`` reads, and of those its copied operands were copied from.

        Loads read all of global memory too.
        """
        groups: dict[str, None] = {}
        for name in reads(stmt):
            if self._has_buffer(name):
                groups[self.group(name)] = None
                groups.update(dict.fromkeys(self._origins.get(name, ())))
            if isinstance(self.index.types.get(name), TensorType):
                groups[GLOBAL_MEMORY] = None
        return list(groups)


class _Numbering:
    """Gives versions to the groups, region by region.

    Regions nest no deeper than Python's own parser allows blocks to, so recursion is safe.
    """

    def __init__(self, memory: MemorySSA) -> None:
        self.memory = memory
        self.index = memory.index
        self.uses: dict[tuple[int, str], Versions] = {}
        self.entries: dict[tuple[int, str], Versions] = {}
        self._current: dict[str, int] = {}
        self._fresh = 0
        self._pairs: dict[tuple[int, int], int] = {}
        self._changed: list[set[str]] = [set() for _ in self.index.regions]
        self._read: list[set[str]] = [set() for _ in self.index.regions]
        self._groups_read = [memory.groups_read(stmt) for stmt in self.index.sites]
        self._summarise()

    def _summarise(self) -> None:
        """Groups changed and read in each region, nested ones included (inner regions come later)."""
        for site, region in enumerate(self.index.region_of):
            self._changed[region].update(self.memory.written_at(site))
            self._read[region].update(self._groups_read[site])
            if self.memory.is_barrier(site):
                self._changed[region].add(_BARRIER)
        for inner in reversed(self.index.regions):
            if inner.parent >= 0:
                self._changed[inner.parent] |= self._changed[inner.id]
                self._read[inner.parent] |= self._read[inner.id]

    def _versions(self, group: str) -> Versions:
        pair = (self._current.get(group, 0), self._current.get(_BARRIER, 0))
        return pair[0], self._pairs.setdefault(pair, len(self._pairs))

    def _renew(self, groups: Iterable[str]) -> None:
        for group in sorted(groups):
            self._fresh += 1
            self._current[group] = self._fresh

    def region(self, region: int) -> None:
        for site in self.index.regions[region].sites:
            stmt = self.index.sites[site]
            if isinstance(stmt, If):
                self._branch(site)
            elif isinstance(stmt, (For, While)):
                self._loop(site)
            else:
                self._record(site)
                self._renew(self.memory.written_at(site))
                if self.memory.is_barrier(site):
                    self._renew((_BARRIER,))

    def _record(self, site: int) -> None:
        for group in self._groups_read[site]:
            self.uses[site, group] = self._versions(group)

    def _loop(self, site: int) -> None:
        self._record(site)
        body = self.index.arms[site, 0]
        before = {group: self._versions(group) for group in self._read[body]}
        self._renew(self._changed[body])
        # Every trip but the first starts from what the trip before has left.
        self.entries.update(((body, g), v) for g, v in before.items() if v == self._versions(g))
        self.region(body)
        self._renew(self._changed[body])

    def _branch(self, site: int) -> None:
        self._record(site)
        arms = [self.index.arms[site, arm] for arm in (0, 1) if (site, arm) in self.index.arms]
        changed = set().union(*(self._changed[arm] for arm in arms))
        before = {group: self._current.get(group, 0) for group in changed}
        for arm in arms:
            self._current.update(before)
            self.entries.update(((arm, group), self._versions(group)) for group in self._read[arm])
            self.region(arm)
        self._renew(changed)
