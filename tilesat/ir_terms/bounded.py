"""Saturation that notices when it will not end: for rule sets that are not ours.

egglog runs a schedule to its end and cannot be interrupted, so rules that nobody has vouched for run a few rounds at a
time; in between the graph is measured.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tilesat.errors import RuleError

if TYPE_CHECKING:
    from tilesat.ir_terms.egraph import EGraph

MOST_ROUNDS = 1500
"""Rounds of one phase beyond which it counts as endless, with one more for each row that the program has."""

MOST_GROWTH = 40
"""How many times larger than at its start the graph may get within one phase, and :data:`FREE_ROWS` on top."""

FREE_ROWS = 60_000
MOST_SECONDS = 0.5
"""Processor time of one phase beyond which it counts as endless, and :data:`SECONDS_A_ROW` for each row at its start.

The shipped rules need a hundredth of that. Rules that match each other's results take ever longer for a round, long
before the graph is large.
"""
SECONDS_A_ROW = 1e-3
_NAMED = 3


def saturate_bounded(graph: EGraph, rulesets: Sequence[str], suspects: Iterable[str], what: str) -> None:
    """Run ``rulesets`` one after the other, each until nothing new comes.

    Raises :class:`RuleError` when a phase goes on for too long or the graph grows too large; it names those of
    ``suspects``, the rules nobody has vouched for, that still find something.
    """
    for ruleset in rulesets:
        _Phase(graph, ruleset, frozenset(suspects), what).run()


def saturate_together(graph: EGraph, rulesets: Sequence[str], suspects: Iterable[str], what: str) -> None:
    """Run ``rulesets`` in turn until none of them finds anything new."""
    phases = [_Phase(graph, ruleset, frozenset(suspects), what) for ruleset in rulesets]
    while sum(phase.run() for phase in phases):
        pass


class _Phase:
    def __init__(self, graph: EGraph, ruleset: str, suspects: frozenset[str], what: str) -> None:
        self.graph = graph
        self.ruleset = ruleset
        self.suspects = suspects
        self.what = what
        self.rounds = 0
        self.seconds = 0.0
        self.fired: dict[str, None] = {}
        self.start = _rows(graph)

    def run(self) -> bool:
        """Run until nothing new comes; whether anything did."""
        was = self.rounds
        while True:
            begin = time.thread_time()
            # One at a time: when rules match each other's results, a round may take five times as long as the last.
            (output,) = self.graph.run(f"(run-schedule (run {self.ruleset}))", what=self.what)
            self.seconds += time.thread_time() - begin
            (report,) = [iteration.rule_set_report for iteration in output.report.iterations] or [None]
            if report is None or not report.changed:
                return self.rounds > was
            self.rounds += 1
            found = _matches(report)
            self.fired.update(dict.fromkeys(name for name in found if name in self.suspects))
            if self._is_endless(rows := _rows(self.graph)):
                raise self._error(found, rows)

    def _is_endless(self, rows: int) -> bool:
        too_large = self.rounds > MOST_ROUNDS + self.start or rows > MOST_GROWTH * self.start + FREE_ROWS
        return too_large or self.seconds > MOST_SECONDS + SECONDS_A_ROW * self.start

    def _error(self, found: Counter[str], rows: int) -> RuleError:
        firing = [name for name, _ in found.most_common()]
        # What a rule of the user's has done may show in later rounds, in which others find more and more.
        blamed = [name for name in firing if name in self.suspects] or list(self.fired) or firing
        names = ", ".join(f"'{name}'" for name in blamed[:_NAMED])
        who = f"rule {names} makes" if len(blamed) == 1 else f"rules {names} together make"
        return RuleError(
            f"{who} the graph grow without end: after {self.rounds} rounds of '{self.ruleset}' it has {rows} rows, "
            f"{self.start} at the start, and took {self.seconds:.0f} s",
            hint="a rule may not feed itself with ever new terms or numbers; add a fact that bounds it",
        )


def _matches(report: Any) -> Counter[str]:
    """How many matches each rule found in a round, those that found some."""
    found: Counter[str] = Counter()
    for label, parts in report.rule_reports.items():
        found[label.partition("#")[0]] += sum(part.num_matches for part in parts)
    return +found


def _rows(graph: EGraph) -> int:
    (output,) = graph.run("(print-size)", what="measuring")
    return sum(size for _, size in output.sizes)
