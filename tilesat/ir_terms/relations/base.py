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


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation, or with ``output`` a function whose values ``merge`` combines."""

    name: str
    args: tuple[str, ...]
    role: Role
    meaning: str
    output: str | None = None
    merge: str | None = None

    def declaration(self) -> str:
        args = " ".join(self.args)
        if self.output is None:
            return f"(relation {self.name} ({args}))"
        merge = f":merge {self.merge}" if self.merge else ":no-merge"
        return f"(function {self.name} ({args}) {self.output} {merge})"

    def why_declaration(self) -> str:
        columns = " ".join((*self.args, self.output) if self.output else self.args)
        return f"(function why-{self.name} ({columns}) Why :merge (set-union old new))"


V, N = "String", "i64"
MIN, MAX, OR = "(min old new)", "(max old new)", "(| old new)"
SEED, DERIVED, DECISION = Role.SEED, Role.DERIVED, Role.DECISION
