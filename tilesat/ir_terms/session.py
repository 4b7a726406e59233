"""Running rules over functions: one e-graph per rule set, pushed and popped for each function."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from tilesat.ir.hardware import Hardware
from tilesat.ir.index import FunctionIndex
from tilesat.ir.memory import MemorySSA
from tilesat.ir.nodes import Function
from tilesat.ir_terms.egraph import EGraph
from tilesat.ir_terms.encode import Encoder, Rows
from tilesat.ir_terms.facts import FactCollector
from tilesat.ir_terms.relations import relations_program
from tilesat.ir_terms.schema import INGEST, syntax_program


@dataclass(slots=True)
class Encoded:
    """One function ready for the e-graph."""

    function: Function
    index: FunctionIndex
    memory: MemorySSA
    rows: Rows
    number: int


@dataclass(slots=True)
class Clock:
    """Seconds spent per stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    def add(self, stage: str, since: float) -> float:
        """Add the time since ``since`` to ``stage``; returns now."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - since
        return now


def encode_function(function: Function, chip: Hardware | None) -> Encoded:
    """Terms and seed facts of ``function``."""
    index = FunctionIndex(function)
    memory = MemorySSA(index)
    encoder = Encoder()
    number = encoder.function(function)
    rows: Rows = {f"in-{name}": tuples for name, tuples in encoder.rows.items()}
    rows.update(FactCollector(index, memory, chip).rows)
    return Encoded(function, index, memory, rows, number)


class Session:
    """An e-graph with the schema and one rule set loaded; functions come and go."""

    def __init__(self, rules_program: str, *, what: str) -> None:
        self.graph = EGraph("\n".join((syntax_program(), relations_program(), rules_program)), what=what)
        self._open = False

    def enter(self, encoded: Encoded, more: Mapping[str, list[tuple[object, ...]]] | None = None) -> None:
        """Make ``encoded`` the only function in the graph; ``more`` adds facts."""
        self.enter_rows({**encoded.rows, **{name: list(tuples) for name, tuples in (more or {}).items() if tuples}})
        self.graph.saturate(INGEST, what="loading terms")

    def enter_rows(self, rows: Rows) -> None:
        """Make ``rows`` the only facts in the graph."""
        if self._open:
            self.graph.pop()
        self.graph.push()
        self._open = True
        self.graph.load(rows)
