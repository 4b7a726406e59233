"""Which in-place writes are seen under names that were bound before them.

An op that writes an operand may be given a copy of it only if nobody reads the old buffer afterwards: whoever
does expects to find there what was written.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict

from tilesat.ir.index import FunctionIndex
from tilesat.ir.memory import MemorySSA, called
from tilesat.ir.nodes import Assign, OpCall, Var
from tilesat.ir.ops import op_info
from tilesat.ir.walk import reads


class StaleReaders:
    """Answers for the writes of one function."""

    def __init__(self, index: FunctionIndex, memory: MemorySSA) -> None:
        self.index = index
        self.memory = memory
        self._readers: dict[str, list[int]] = defaultdict(list)
        self._members: dict[str, list[str]] = defaultdict(list)
        tiles = set(index.tile_names())
        for site in reversed(range(len(index.sites))):
            if self._is_idle_view(site):
                continue
            for name in dict.fromkeys(reads(index.sites[site])):
                if name in tiles:
                    self._readers[name].append(site)
        for sites in self._readers.values():
            sites.reverse()
        self._bound = {name: self._bound_at(name) for name in tiles}
        for name in sorted(tiles, key=lambda name: (self._bound[name], name)):
            if self._readers[name]:
                self._members[memory.group(name)].append(name)
        self._latest = {group: self._latest_readers(names) for group, names in self._members.items()}
        self._in_loop: dict[tuple[str, int, int], bool] = {}

    def is_read(self, name: str) -> bool:
        """Whether anything but a view or alias that nobody reads looks at tile ``name``."""
        return bool(self._readers.get(name))

    def _is_idle_view(self, site: int) -> bool:
        """Whether ``site`` makes a view or alias that nobody reads; asked from the last site to the first."""
        stmt = self.index.sites[site]
        if not isinstance(stmt, Assign) or self._readers.get(stmt.name):
            return False
        info = op_info(stmt.value.op) if isinstance(stmt.value, OpCall) else None
        return isinstance(stmt.value, Var) or (info is not None and info.is_view)

    def _bound_at(self, name: str) -> int:
        """The site at which ``name`` gets its value: for results the last one of their structure."""
        definition = self.index.definitions[name]
        if definition.how != "result":
            return definition.site
        arms = (self.index.arms.get((definition.site, arm)) for arm in (0, 1))
        return max(self.index.regions[region].end for region in arms if region is not None) - 1

    def _latest_readers(self, names: list[str]) -> list[tuple[int, int]]:
        """(site of definition, last reader of what is defined up to there), ascending."""
        found: list[tuple[int, int]] = []
        last = -1
        for name in names:
            last = max(last, self._readers[name][-1])
            found.append((self._bound[name], last))
        return found

    def lingering(self) -> list[tuple[int, int]]:
        """(site, argument) of writes to a tile that is read afterwards under a name bound before the write."""
        found: list[tuple[int, int]] = []
        for site, stmt in enumerate(self.index.sites):
            call = called(stmt)
            info = op_info(call.op) if isinstance(call, OpCall) else None
            if not isinstance(call, OpCall) or info is None:
                continue
            for position in info.written_args(call):
                arg = call.args[position]
                if isinstance(arg, Var) and self.memory.group(arg.name) in self._members:
                    group = self.memory.group(arg.name)
                    if self._is_read_later(site, group) or self._is_read_next_trip(site, group):
                        found.append((site, position))
        return found

    def reads_older(self, site: int, group: str, origin: int) -> bool:
        """Whether a member of ``group`` bound before ``origin`` is read after ``site``, in this trip or the next."""
        return self._reads_after(site, group, origin) or self._is_read_next_trip(site, group, origin)

    def _is_read_later(self, site: int, group: str) -> bool:
        position = bisect_left(self._latest[group], (site, -1))
        if position == 0 or self._latest[group][position - 1][1] <= site:
            return False
        # Only what the other arm of an if reads may have misled the quick answer.
        return self._reads_after(site, group, site)

    def _reads_after(self, site: int, group: str, origin: int) -> bool:
        return any(
            reader > site and not self._exclusive(site, reader)
            for name in self._members[group]
            if self._bound[name] < origin
            for reader in self._readers[name]
        )

    def _exclusive(self, a: int, b: int) -> bool:
        """Whether ``a`` and ``b`` are in different arms of one if."""
        arms = {self.index.regions[r].owner: r for r in self.index.ancestors(self.index.region_of[a])}
        around = self.index.ancestors(self.index.region_of[b])
        return any(arms.get(self.index.regions[r].owner, r) != r for r in around)

    def _is_read_next_trip(self, site: int, group: str, origin: int | None = None) -> bool:
        """Whether a loop around ``site`` reads a member of ``group`` bound outside the loop (and before ``origin``)."""
        around = self.index.ancestors(self.index.region_of[site])
        return any(self._reads_outer(group, r, origin) for r in around if self.index.regions[r].kind == "loop")

    def _reads_outer(self, group: str, loop: int, origin: int | None) -> bool:
        region = self.index.regions[loop]
        limit = region.owner if origin is None else min(origin, region.owner)
        key = (group, loop, limit)
        if key not in self._in_loop:
            self._in_loop[key] = any(
                region.owner < reader < region.end
                for name in self._members[group]
                if self._bound[name] < limit
                for reader in self._readers[name]
            )
        return self._in_loop[key]
