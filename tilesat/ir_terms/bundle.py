"""Several functions in one e-graph, kept apart by their names and numbers.

To load rows, run rules and read tables costs something each time, however little there is to do. So small functions go
together: a variable ``x`` of member 3 is called ``03:x``, its site 42 is number 3,000,042. No rule of inference or
placement brings together what shares neither a name, a site, a region nor a class, so each member has the rows that it
would have alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from sys import intern
from typing import Any, Protocol

from tilesat.ir_terms.columns import COLUMNS, SORT_OF
from tilesat.ir_terms.egraph import EGraph, lines
from tilesat.ir_terms.relations import BY_NAME
from tilesat.ir_terms.relations.base import SLOTS, Column, kind_of
from tilesat.ir_terms.relations.placement import WAYS
from tilesat.ir_terms.schema import BY_NAME as CONSTRUCTORS
from tilesat.ir_terms.schema import SORTS, loaded_from

SPAN = 1_000_000
"""More than the sites, regions, terms or versions of memory of any member."""
MOST_MEMBERS = 99
_MARK = 3
"""Length of what stands before a member's names."""

_NUMBERED = frozenset({Column.SITE, Column.REGION, Column.MEMORY})
_PLACES = frozenset(way.sort for way in WAYS.values())
_KEYED = ("Own", "At", "UseOf", "FlowOf")
"""Terms whose arguments tell whose they are; every way to make a place is of one of their classes."""


class Readable(Protocol):
    """The rows of one relation, function or term."""

    def read(self, *kinds: str) -> list[tuple[Any, ...]]:
        """See :meth:`tilesat.ir_terms.egraph.Table.read`."""
        ...


class Tables(Protocol):
    """What can be read of one function after rules were run on it."""

    def table(self, name: str) -> Readable:
        """The rows of relation, function or term ``name``, empty when it has none."""
        ...


# --------------------------------------------------------------------------------- entering


def bundled_lines(relation: str, parts: Mapping[int, Sequence[tuple[Any, ...]]]) -> str:
    """The rows of ``relation`` of several members, by their numbers, as egglog reads them."""
    columns = _entered(relation)
    return "".join([_member_lines(rows, columns, member) for member, rows in parts.items()])


def _member_lines(rows: Sequence[tuple[Any, ...]], columns: Sequence[str], member: int) -> str:
    if Column.OUTER in columns:
        place = columns.index(Column.OUTER)
        rows = [(*row[:place], _outer(row[place], member), *row[place + 1 :]) for row in rows]
    return lines(rows, [_PATTERNS.get(column, "%s").format(member) for column in columns])


_PATTERNS: dict[str, str] = {Column.VARIABLE: "{:02d}:%s", **dict.fromkeys(_NUMBERED, "{}%06d")}


def _outer(region: int, member: int) -> int:
    return region if region < 0 else member * SPAN + region


@lru_cache(maxsize=512)
def _entered(relation: str) -> tuple[str, ...]:
    """The columns of a relation that is loaded; nodes are told apart like sites."""
    known = BY_NAME.get(relation)
    if known is not None:
        return known.columns
    con = CONSTRUCTORS[relation.removeprefix(loaded_from(""))]
    return (Column.SITE, *(Column.SITE if column in SORTS else column for column in con.inputs))


# ---------------------------------------------------------------------------------- reading


class Bundle:
    """What is read of an e-graph with several members; it holds until rules are run again."""

    def __init__(self, graph: EGraph, numbers: Sequence[int]) -> None:
        self._graph = graph
        self._numbers = numbers
        self._known: dict[str, Mapping[int, list[tuple[Any, ...]]]] = {}
        self._whose: dict[Any, int] | None = None

    def members(self) -> list[Tables]:
        """What each member sees."""
        return [_Member(self, number) for number in self._numbers]

    def rows(self, name: str, number: int) -> list[tuple[Any, ...]]:
        """The rows of member ``number``, as it would have them alone."""
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._read(name)
        return known.get(number, [])

    def _read(self, name: str) -> Mapping[int, list[tuple[Any, ...]]]:
        columns = _read_columns(name)
        rows = self._graph.table(name).read(*[column if column == "strings" else kind_of(column) for column in columns])
        if not rows:
            return {}
        values = list(zip(*rows, strict=True))
        own = list(zip(*map(_stripped, columns, values), strict=True))
        whose = self._members_of(columns, values)
        if whose is None:
            return dict.fromkeys(self._numbers, own)
        found: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
        for number, row in zip(whose, own, strict=True):
            found[number].append(row)
        return found

    def _members_of(self, columns: Sequence[str], values: Sequence[Sequence[Any]]) -> list[int] | None:
        """Whose each row is; ``None`` where they are everybody's, like those of ops and constants."""
        for column, given in zip(columns, values, strict=True):
            if column == Column.VARIABLE:
                return [int(name[: _MARK - 1]) for name in given]
            if column in _NUMBERED:
                return [number // SPAN for number in given]
        if columns[0] not in _PLACES:
            return None
        whose = self._owners()
        return [whose.get(cls, 0) for cls in values[0]]

    def _owners(self) -> dict[Any, int]:
        """Whose the classes of places and uses are."""
        if self._whose is None:
            self._whose = {}
            for name in _KEYED:
                for number in self._numbers:
                    self._whose.update((row[-1], number) for row in self.rows(name, number))
        return self._whose


class _Member:
    """One member's view of a bundle."""

    def __init__(self, bundle: Bundle, number: int) -> None:
        self._bundle = bundle
        self._number = number

    def table(self, name: str) -> Readable:
        """The rows that it would have alone."""
        return _MemberTable(self._bundle.rows(name, self._number))


class _MemberTable:
    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self._rows = rows

    def read(self, *kinds: str) -> list[tuple[Any, ...]]:
        """The rows, which were read by what the relation declares."""
        assert not self._rows or len(self._rows[0]) == len(kinds)
        return self._rows


def _read_columns(name: str) -> tuple[str, ...]:
    """The columns of relation, function or term ``name``; reasons of a way stand where its class does."""
    if name in COLUMNS:
        return COLUMNS[name]
    of = name.removeprefix("why-")
    return (*(COLUMNS[of][:-1] if of in SORT_OF else COLUMNS[of]), "strings")


def _stripped(column: str, values: Sequence[Any]) -> Sequence[Any]:
    """``values`` without what tells members apart."""
    if column == Column.VARIABLE:
        return [intern(name[_MARK:]) for name in values]
    if column in _NUMBERED:
        return [number % SPAN for number in values]
    if column == Column.ORDER:
        return [number % (SPAN * SLOTS) for number in values]
    assert column != Column.OUTER, "nobody reads it"
    return values
