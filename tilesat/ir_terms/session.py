"""Running rules over functions: one e-graph per rule set, pushed and popped for each function."""

from __future__ import annotations

import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from tilesat.ir.hardware import Hardware
from tilesat.ir.index import FunctionIndex
from tilesat.ir.memory import MemorySSA
from tilesat.ir.nodes import Function
from tilesat.ir_terms.bounded import saturate_together
from tilesat.ir_terms.bundle import Bundle, Tables, bundled_lines
from tilesat.ir_terms.egraph import EGraph
from tilesat.ir_terms.encode import Encoder, Rows
from tilesat.ir_terms.facts import FactCollector
from tilesat.ir_terms.relations import BY_NAME
from tilesat.ir_terms.schema import BY_NAME as TERMS
from tilesat.ir_terms.schema import INGEST, loaded_from
from tilesat.ir_terms.stage_program import StageProgram
from tilesat.ir_terms.syntax_facts import syntax_facts

T = TypeVar("T")


@dataclass(frozen=True)
class Syntax:
    """One function read: its index and its memory. Stages that look at the same function share it."""

    index: FunctionIndex
    memory: MemorySSA

    @staticmethod
    def of(function: Function) -> Syntax:
        """The syntax of ``function``."""
        index = FunctionIndex(function)
        return Syntax(index, MemorySSA(index))

    @cached_property
    def facts(self) -> Rows:
        """What all stages know of it."""
        return syntax_facts(self.index)

    def terms(self, calls: frozenset[str] | None = None) -> Rows:
        """Its terms, by the relations that they are loaded from: all of them, or of assigned calls of these ops."""
        known = self._terms.get(calls)
        if known is None:
            encoder = Encoder()
            if calls is None:
                encoder.function(self.index.function)
            else:
                encoder.calls(self.index.sites, calls)
            known = self._terms[calls] = {loaded_from(name): tuples for name, tuples in encoder.rows.items()}
        return known

    @cached_property
    def _terms(self) -> dict[frozenset[str] | None, Rows]:
        return {}


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """One function ready for the e-graph: its syntax, and facts for one stage."""

    syntax: Syntax
    facts: Rows

    @property
    def index(self) -> FunctionIndex:
        return self.syntax.index

    def rows(self) -> Rows:
        """All facts."""
        return {**self.syntax.facts, **self.facts}


@dataclass(slots=True)
class Clock:
    """Seconds spent per stage."""

    seconds: dict[str, float] = field(default_factory=dict)

    def add(self, stage: str, since: float) -> float:
        """Add the time since ``since`` to ``stage``; returns now."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - since
        return now

    def merge(self, other: Clock) -> None:
        """Add what ``other`` counted, in another thread."""
        for stage, seconds in other.seconds.items():
            self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds


def encode_function(function: Function, chip: Hardware | None) -> Encoded:
    """Terms and seed facts of ``function``."""
    syntax = Syntax.of(function)
    return Encoded(syntax, FactCollector(syntax.index, syntax.memory, chip).rows)


_DECLARED = re.compile(r"^\((?:relation|function) (\S+)", re.MULTILINE)


class _Idle(threading.local):
    """E-graphs at rest, by what they run; egglog ties each to the thread that made it."""

    def __init__(self) -> None:
        self.sessions: dict[tuple[str, frozenset[str]], list[Session]] = {}


_idle = _Idle()
MOST_IDLE = 8
"""Stages whose e-graphs are kept for the next run; building one takes longer than most functions."""
KEPT_ROWS = 4_000
"""Facts above which a copy of the e-graph costs less than loading them again."""
MOST_PUSHES = 96
"""Pushes after which an e-graph is built anew: egglog forgets no string, and copies all of them with every push."""
MOST_ROWS = 60_000
"""Facts after which it is as well."""


@contextmanager
def session(program: StageProgram, *, what: str) -> Iterator[Session]:
    """A session for ``program``, taken from those at rest or new.

    It goes back when the block ends well; after an exception it is thrown away.
    """
    key = program.text, program.kept
    waiting = _idle.sessions.get(key)
    found = waiting.pop() if waiting else None
    graph = found or Session(program, what=what)
    yield graph
    graph.leave()
    _idle.sessions.setdefault(key, []).append(graph)
    while len(_idle.sessions) > MOST_IDLE:
        _idle.sessions.pop(next(iter(_idle.sessions)))


class Session:
    """An e-graph with the rules of one stage; functions come and go.

    Rules that cannot fire on any function so far stay outside, and so do facts that none of the others could read.
    :attr:`graph` is another one from time to time when a function is entered.
    """

    def __init__(self, program: StageProgram, *, what: str) -> None:
        self._program = program
        self._what = what
        self._given: frozenset[str] = frozenset()
        self._members = 0
        self._build()

    def _build(self) -> None:
        """Start with an e-graph that has seen nothing."""
        self.graph = EGraph(what=self._what)
        self.graph.suspects = self._program.kept
        self._commands: set[str] = set()
        self._declared: frozenset[str] = frozenset()
        self._depth = 0
        self._pushes = 0
        self._rows = 0
        self._encoded: Encoded | None = None
        self._inputs: list[Any] = []
        self._is_large = False
        self._extend()

    def _extend(self) -> None:
        """Bring in what can fire on the tables that have had rows."""
        new = [command for command in self._program.serving(self._given) if command not in self._commands]
        if not new:
            return
        self.leave()
        text = "\n".join(new)
        self.graph.declare(text, what=self._what)
        self._commands.update(new)
        self._declared |= frozenset(_DECLARED.findall(text))
        if not self._program.kept:
            self._run(self._program.phases, self._what)

    def enter(
        self,
        encoded: Encoded,
        more: Mapping[str, list[tuple[object, ...]]] | None = None,
        before: tuple[str, ...] = (),
    ) -> None:
        """Make ``encoded`` the only function in the graph; ``more`` adds facts.

        ``before`` are phases that these facts do not concern. When a large function comes again, with other facts, it
        is kept below them as these phases leave it, so that it need not be loaded for a third time.
        """
        rows = {**encoded.syntax.terms(self._program.calls), **encoded.rows()}
        added = {name: tuples for name, tuples in (more or {}).items() if tuples}
        self._serve(rows, added, renew=self._encoded is not encoded)
        again = self._encoded is encoded
        if not again:
            wanted = self._wanted(rows)
            self._inputs = self.graph.laid_out(wanted)
            self._is_large = _size(wanted) > KEPT_ROWS
            self._encoded = encoded
        keeps = again and self._is_large
        if keeps and self._depth > 1:
            self._pop()
        else:
            self._fill(self._inputs)
            self.graph.saturate(INGEST, what="loading terms")
            if keeps:
                self.saturate(*before, what="loading terms")
        if keeps:
            self._push()
        self.graph.enter(self.graph.laid_out(self._wanted(added), "more-"))

    def enter_all(self, members: Sequence[tuple[Encoded, Rows]], before: tuple[str, ...] = ()) -> None:
        """Make ``members`` the only functions in the graph, each with more facts; see :meth:`enter`."""
        self._members = len(members)
        if len(members) == 1:
            self.enter(*members[0], before)
            return
        calls = self._program.calls
        given = [{**encoded.syntax.terms(calls), **encoded.rows(), **more} for encoded, more in members]
        parts: dict[str, dict[int, list[tuple[object, ...]]]] = defaultdict(dict)
        for number, rows in enumerate(given, 1):
            for name, tuples in rows.items():
                if tuples:
                    parts[name][number] = tuples
        self._encoded = None
        self._serve(*given, renew=True)
        lines = {name: bundled_lines(name, part) for name, part in self._wanted(parts).items()}
        self._fill(self.graph.laid_out(lines))
        self.graph.saturate(INGEST, what="loading terms")

    def saturate(self, *phases: str, what: str) -> None:
        """Run ``phases`` one after the other, each until nothing new comes."""
        if self._program.kept:
            self.graph.saturate(*self._program.rulesets(*phases), what=what)
        else:
            self._run(phases, what)

    def saturate_together(self, *phases: str, what: str) -> None:
        """Run ``phases`` in turn until none of them finds anything new."""
        if self._program.kept:
            saturate_together(self.graph, self._program.rulesets(*phases), self._program.kept, what)
            return
        feeding_back = self._program.feeding_back(phases)
        while True:
            if feeding_back.isdisjoint(self._run(phases, what)):
                # There is nothing new for what ran before.
                return

    def _run(self, phases: tuple[str, ...], what: str) -> set[str]:
        """Run ``phases``, one after the other; the labels of the rules that found something."""
        outputs = self.graph.run(f"(run-schedule {self._program.schedule(*phases)})", what=what)
        return {label for output in outputs for label, found in output.report.num_matches_per_rule.items() if found}

    def tables(self) -> list[Tables]:
        """What can be read of each function that was entered last; it holds until rules are run again."""
        if self._members == 1:
            return [self.graph]
        return Bundle(self.graph, range(1, self._members + 1)).members()

    def leave(self) -> None:
        """Forget the function in the graph."""
        self._encoded, self._inputs = None, []
        self._clear()

    def enter_rows(self, rows: Rows) -> None:
        """Make ``rows`` the only facts in the graph."""
        self._encoded = None
        self._serve(rows, renew=True)
        self._fill(self.graph.laid_out(self._wanted(rows)))

    def _serve(self, *given: Rows, renew: bool) -> None:
        """Have the rules that may fire on ``given``; ``renew`` an e-graph that has seen much."""
        filled = (name for rows in given for name, tuples in rows.items() if tuples)
        new = self._program.inputs.intersection(filled) - self._given
        self._given |= new
        if renew and (self._pushes >= MOST_PUSHES or self._rows >= MOST_ROWS):
            self._build()
        elif new:
            self._extend()
        self._rows += sum(map(_size, given))

    def _clear(self) -> None:
        while self._depth:
            self._pop()

    def _pop(self) -> None:
        self.graph.pop()
        self._depth -= 1

    def _push(self) -> None:
        self.graph.push()
        self._depth += 1
        self._pushes += 1

    def _wanted(self, rows: Mapping[str, T]) -> dict[str, T]:
        """What of ``rows``, by table, some rule may read."""
        unknown = [name for name in rows if name not in BY_NAME and name.removeprefix("in-") not in TERMS]
        assert not unknown, f"facts of no relation: {unknown}"
        return {name: tuples for name, tuples in rows.items() if name in self._declared}

    def _fill(self, inputs: list[Any]) -> None:
        self._clear()
        self._push()
        self.graph.enter(inputs)


def _size(rows: Rows) -> int:
    """How many there are in all tables."""
    return sum(map(len, rows.values()))
