"""What can be read off one function's syntax: sites, regions, definitions, trip counts.

A *site* is a statement with its number in program order (structures before their contents). A
*region* is the function body, a loop body or a branch; runtime scopes do not open one. Loop bodies
know how often they run per entry, ``None`` when that depends on run-time values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from tilesat.ir.nodes import (
    Assign,
    Block,
    Const,
    Expr,
    For,
    Function,
    If,
    OpaqueStmt,
    Scope,
    Stmt,
    While,
    Yield,
)
from tilesat.ir.types import TileType, Type
from tilesat.ir.walk import STRUCTURES

BODY = 0


@dataclass(slots=True)
class Region:
    """A statement list. ``owner`` is the site of its loop or if, -1 for the function body."""

    id: int
    parent: int
    depth: int
    owner: int
    kind: str
    trips: int | None
    around: tuple[int, ...]
    """It and the regions that it lies in, innermost first."""
    sites: list[int] = field(default_factory=list)
    end: int = 0
    """One past the last site inside, nested ones included."""


class Definition(NamedTuple):
    """Where a name is bound: ``how`` is param, assign, index, carry, result, or opaque for unmodelled statements."""

    site: int
    region: int
    how: str
    position: int = 0


class FunctionIndex:
    """Sites, regions and definitions of one function; built by one walk."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.sites: list[Stmt] = []
        self.region_of: list[int] = []
        self.regions: list[Region] = []
        self.definitions: dict[str, Definition] = {}
        self.types: dict[str, Type] = {}
        self.yields: dict[tuple[int, int], int] = {}
        """Site of the yield that ends arm ``a`` of structure ``s``; arm 0 for loops and then."""
        self.arms: dict[tuple[int, int], int] = {}
        """Region of arm ``a`` of structure ``s``."""
        for position, param in enumerate(function.params):
            self._define(param.name, param.type, Definition(-1, BODY, "param", position))
        self._new_region(-1, -1, "body", 1)
        self._visit(function.body)

    def _define(self, name: str, type_: Type | None, definition: Definition) -> None:
        self.definitions[name] = definition
        if type_ is not None:
            self.types[name] = type_

    def _new_region(self, parent: int, owner: int, kind: str, trips: int | None) -> int:
        number = len(self.regions)
        around = (number, *self.ancestors(parent))
        self.regions.append(Region(number, parent, len(around) - 1, owner, kind, trips, around))
        return number

    def _visit(self, body: Block) -> None:
        # An explicit stack: programs may nest deeper than Python's recursion limit allows.
        stack: list[tuple[int, list[Stmt], bool]] = [(BODY, list(reversed(body)), True)]
        while stack:
            region, pending, closes = stack[-1]
            if not pending:
                stack.pop()
                if closes:
                    self.regions[region].end = len(self.sites)
                continue
            stmt = pending.pop()
            site = len(self.sites)
            self.sites.append(stmt)
            self.region_of.append(region)
            self.regions[region].sites.append(site)
            self._bind(site, region, stmt)
            if type(stmt) in STRUCTURES:
                stack.extend(self._open(site, region, stmt))

    def _bind(self, site: int, region: int, stmt: Stmt) -> None:
        if isinstance(stmt, Assign):
            self._define(stmt.name, stmt.type, Definition(site, region, "assign"))
        elif isinstance(stmt, OpaqueStmt):
            for position, name in enumerate(stmt.binds):
                self._define(name, None, Definition(site, region, "opaque", position))
        elif isinstance(stmt, Yield):
            owner = self.regions[region].owner
            if owner >= 0:
                arm = 1 if self.regions[region].kind == "else" else 0
                self.yields[owner, arm] = site
        elif isinstance(stmt, (For, While, If)):
            for position, result in enumerate(stmt.results):
                self._define(result.name, result.type, Definition(site, region, "result", position))

    def _open(self, site: int, region: int, stmt: Stmt) -> list[tuple[int, list[Stmt], bool]]:
        if isinstance(stmt, Scope):
            return [(region, list(reversed(stmt.body)), False)]
        if isinstance(stmt, (For, While)):
            trips = trip_count(stmt) if isinstance(stmt, For) else None
            body = self._arm(site, region, 0, "loop", trips)
            if isinstance(stmt, For):
                self._define(stmt.index, None, Definition(site, body, "index"))
            for position, carry in enumerate(stmt.carries):
                self._define(carry.name, carry.type, Definition(site, body, "carry", position))
            return [(body, list(reversed(stmt.body)), True)]
        if isinstance(stmt, If):
            then = self._arm(site, region, 0, "then", 1)
            opened = [(then, list(reversed(stmt.then)), True)]
            if stmt.orelse is not None:
                orelse = self._arm(site, region, 1, "else", 1)
                opened.insert(0, (orelse, list(reversed(stmt.orelse)), True))
            return opened
        return []

    def _arm(self, site: int, parent: int, arm: int, kind: str, trips: int | None) -> int:
        region = self._new_region(parent, site, kind, trips)
        self.arms[site, arm] = region
        return region

    # ------------------------------------------------------------------------- queries

    def ancestors(self, region: int) -> tuple[int, ...]:
        """``region`` and the regions around it, innermost first."""
        return self.regions[region].around if region >= 0 else ()

    def is_inside(self, region: int, outer: int) -> bool:
        """Whether ``region`` is ``outer`` or lies in it."""
        return outer in self.regions[region].around

    def site_in(self, region: int, site: int) -> int:
        """The site directly in ``region`` that is, or encloses, ``site``."""
        while self.region_of[site] != region:
            site = self.regions[self.region_of[site]].owner
        return site

    def tile_names(self) -> list[str]:
        """Names of all tile-typed variables, in order of definition."""
        return [name for name, type_ in self.types.items() if isinstance(type_, TileType)]


def int_value(expr: Expr) -> int | None:
    """The value of an integer constant, else ``None``."""
    if isinstance(expr, Const) and isinstance(expr.value, int) and not isinstance(expr.value, bool):
        return expr.value
    return None


def trip_count(loop: For) -> int | None:
    """How often the body of ``loop`` runs, ``None`` when the bounds are not constant."""
    start, stop, step = int_value(loop.start), int_value(loop.stop), int_value(loop.step)
    if start is None or stop is None or step is None or step == 0:
        return None
    return len(range(start, stop, step))
