"""What a relation is, and how spaces are numbered."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tilesat.ir.types import MemorySpace

SPACE_NUMBERS = {
    MemorySpace.DDR: 0,
    MemorySpace.Vec: 1,
    MemorySpace.Mat: 2,
    MemorySpace.Left: 3,
    MemorySpace.Right: 4,
    MemorySpace.Acc: 5,
    MemorySpace.Bias: 6,
    MemorySpace.ScalarLocal: 7,
    MemorySpace.LeftScale: 8,
    MemorySpace.RightScale: 9,
}
SPACES = {number: space for space, number in SPACE_NUMBERS.items()}


class Role(StrEnum):
    SEED = "seed"
    DERIVED = "derived"
    DECISION = "decision"


class Column(StrEnum):
    """What is in a column of the relations of inference and placement; the others only tell text from numbers.

    Names and numbers of one function mean nothing in another: where several functions share an e-graph, they are what
    keeps them apart.
    """

    TEXT = "text"
    NUMBER = "number"
    VARIABLE = "variable"
    SITE = "site"
    REGION = "region"
    OUTER = "outer region"
    """A region, or -1 around the outermost one."""
    MEMORY = "memory version"
    ORDER = "site and slot"
    """A site times ``SLOTS`` plus the number of a slot."""

    @property
    def type(self) -> str:
        """The egglog type of such a column."""
        return "String" if self in (Column.TEXT, Column.VARIABLE) else "i64"


SLOTS = 1 << 16
"""More than the slots of any statement."""


def type_of(column: str) -> str:
    """The egglog type of a column; sorts of terms stand for themselves."""
    return column.type if isinstance(column, Column) else column


def kind_of(column: str) -> str:
    """How tables read such a column: str, int, or class for terms."""
    if not isinstance(column, Column):
        return "class"
    return "str" if column.type == "String" else "int"


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation, or with ``output`` a function whose values ``merge`` combines."""

    name: str
    inputs: tuple[str, ...]
    role: Role
    meaning: str
    output: Column | None = None
    merge: str | None = None

    @property
    def args(self) -> tuple[str, ...]:
        """The egglog types of the arguments."""
        return tuple(map(type_of, self.inputs))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, the output last."""
        return self.inputs if self.output is None else (*self.inputs, self.output)

    def declaration(self) -> str:
        args = " ".join(self.args)
        if self.output is None:
            return f"(relation {self.name} ({args}))"
        merge = f":merge {self.merge}" if self.merge else ":no-merge"
        return f"(function {self.name} ({args}) {self.output.type} {merge})"

    def why_declaration(self) -> str:
        columns = " ".join(map(type_of, self.columns))
        return f"(function why-{self.name} ({columns}) Why :merge (set-union old new))"


V, T, N = Column.VARIABLE, Column.TEXT, Column.NUMBER
S, R = Column.SITE, Column.REGION
MIN, MAX, OR = "(min old new)", "(max old new)", "(| old new)"
SEED, DERIVED, DECISION = Role.SEED, Role.DERIVED, Role.DECISION
