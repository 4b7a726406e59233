"""Tiles that placement may make anew elsewhere: copies, loads that may leave their loops, and views of those."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from tilesat.ir.index import FunctionIndex
from tilesat.ir.memory import COPIES, MemorySSA
from tilesat.ir.nodes import Assign, EvalStmt, Expr, For, OpCall, Stmt, Var, While, Yield
from tilesat.ir.ops import op_info
from tilesat.ir.walk import asks_again, names_beside, reads


class Floating:
    """Answers for one function; ``standing`` are the loads that may leave their loops."""

    def __init__(self, index: FunctionIndex, memory: MemorySSA, standing: Collection[str]) -> None:
        self.index = index
        self.memory = memory
        self.standing = standing
        self.tiles = set(index.tile_names())
        self.reads: dict[str, list[int]] = defaultdict(list)
        for site, stmt in enumerate(index.sites):
            for name in dict.fromkeys(reads(stmt)):
                self.reads[name].append(site)

    def names(self) -> set[str]:
        """Copies that may be made anew wherever they are wanted, loads that may leave their loops, and views and
        aliases of those.

        Nobody writes such a copy, and wherever it is read its source still holds what was copied, with no
        synchronisation in between.
        """
        floating: set[str] = set()
        for stmt in self.index.sites:
            if not isinstance(stmt, Assign) or stmt.name not in self.tiles or self.memory.is_written(stmt.name):
                continue
            if stmt.name in self.standing:
                if len(self.read_versions(stmt.name)) == 1:
                    floating.add(stmt.name)
                continue
            source = tile_source(stmt.value)
            if source is None or source not in self.tiles or asks_again(stmt):
                continue
            if isinstance(stmt.value, OpCall) and stmt.value.op in COPIES:
                if self._is_stable(stmt.name, source):
                    floating.add(stmt.name)
            elif source in floating and shares_buffer(stmt.value):
                floating.add(stmt.name)
        return self._settle(floating)

    def _settle(self, floating: set[str]) -> set[str]:
        """``floating`` without what has a reader that cannot be given another tile.

        A view floats with what it shows: both do, or neither.
        """
        changed = True
        while changed:
            keep = {name for name in floating if self._replaceable(name) and self._views_float(name, floating)}
            for name in list(keep):
                stmt = self.index.sites[self.index.definitions[name].site]
                assert isinstance(stmt, Assign)
                if shares_buffer(stmt.value) and tile_source(stmt.value) not in keep:
                    keep.discard(name)
            changed = keep != floating
            floating = keep
        return floating

    def _views_float(self, name: str, floating: set[str]) -> bool:
        for site in self.reads[name]:
            stmt = self.index.sites[site]
            if isinstance(stmt, Assign) and stmt.name in self.tiles and shares_buffer(stmt.value):
                if stmt.name not in floating:
                    return False
        return True

    def _is_stable(self, name: str, source: str) -> bool:
        """Whether ``source`` holds the same at every read of ``name`` as where the copy is made.

        A slot may take over the buffer of what flows into it, so a copy that does keeps it apart from a source that
        is written at any time.
        """
        group = self.memory.group(source)
        if self.memory.is_written(source) and any(self._is_flow(site) for site in self.all_readers(name)):
            return False
        made = self.memory.use_versions[self.index.definitions[name].site, group][1]
        return all(self.memory.use_versions[site, group][1] == made for site in self.all_readers(name))

    def _is_flow(self, site: int) -> bool:
        return isinstance(self.index.sites[site], (For, While, Yield))

    def all_readers(self, name: str) -> list[int]:
        """Sites that read ``name`` or a view, alias or copy of it."""
        found: list[int] = []
        pending, seen = [name], {name}
        while pending:
            for site in self.reads[pending.pop()]:
                found.append(site)
                stmt = self.index.sites[site]
                if isinstance(stmt, Assign) and stmt.name in self.tiles and stmt.name not in seen:
                    value = stmt.value
                    if shares_buffer(value) or (isinstance(value, OpCall) and value.op in COPIES):
                        seen.add(stmt.name)
                        pending.append(stmt.name)
        return found

    def _replaceable(self, name: str) -> bool:
        """Whether every reader of ``name`` is a place where another tile can be put."""
        return all(self._takes_any(self.index.sites[site], name) for site in self.reads[name])

    def _takes_any(self, stmt: Stmt, name: str) -> bool:
        if isinstance(stmt, Yield):
            return True
        value = stmt.value if isinstance(stmt, (Assign, EvalStmt)) else None
        if isinstance(value, Var):
            return True
        takes_others = isinstance(stmt, (For, While)) or isinstance(value, OpCall)
        return takes_others and name not in names_beside(stmt)

    def read_versions(self, name: str) -> list[int]:
        """Versions at which ``name``, which nobody writes, is read."""
        group = self.memory.group(name)
        return sorted({self.memory.use_versions[site, group][1] for site in self.reads[name]})


def shares_buffer(value: Expr) -> bool:
    """Whether the result of ``value`` is a view or another name of its source."""
    info = op_info(value.op) if isinstance(value, OpCall) else None
    return isinstance(value, Var) or (info is not None and info.is_view)


def tile_source(value: Expr) -> str | None:
    """The variable that an alias names, or the first operand of a call."""
    if isinstance(value, Var):
        return value.name
    if isinstance(value, OpCall) and value.args and isinstance(value.args[0], Var):
        return value.args[0].name
    return None
