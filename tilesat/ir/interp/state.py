"""The state of a running interpretation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from tilesat.errors import InterpretError
from tilesat.ir.interp.values import Value
from tilesat.ir.nodes import Function, Program


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One evaluation of an op whose effect is not modelled: the op, and a digest of what it saw."""

    op: str
    digest: str


@dataclass(frozen=True, slots=True)
class Launch:
    """Which of the parallel instances of a kernel runs."""

    block: int = 0
    blocks: int = 1
    subblock: int = 0


@dataclass(slots=True)
class Run:
    """What all functions of one interpretation share."""

    program: Program
    dims: Mapping[str, int]
    max_steps: int
    steps: int = 0
    trace: list[TraceEvent] = field(default_factory=list)
    tasks: int = 0
    pops: Counter[str] = field(default_factory=Counter)
    depth: int = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps > self.max_steps:
            raise InterpretError(
                f"more than {self.max_steps} statements were executed",
                hint="raise max_steps, or bound the loops",
            )

    def next_task(self) -> int:
        self.tasks += 1
        return self.tasks

    def record(self, op: str, seen: bytes) -> None:
        self.trace.append(TraceEvent(op, seen.hex()))


@dataclass(slots=True)
class Frame:
    """One activation of a function: its variables by name, and the instance it runs as."""

    function: Function
    variables: dict[str, Value]
    launch: Launch = field(default_factory=Launch)

    def mark(self) -> int:
        """How many variables there are before a block is entered."""
        return len(self.variables)

    def leave(self, mark: int) -> None:
        """Forget what was bound since ``mark``: names bound in a block are not visible after it."""
        while len(self.variables) > mark:
            self.variables.popitem()
