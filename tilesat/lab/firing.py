"""Which rules fired while something ran, how often, and how long each took: read off egglog's run reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tilesat.ir_terms.egraph import LISTENER


@dataclass(slots=True)
class Firings:
    """``matches`` counts how often the facts of each rule were found, ``seconds`` what searching and applying took.

    A rule of several forms counts as one. A match that tells nothing new is counted too: egglog does not say.
    """

    matches: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)

    def fired(self, rule: str) -> bool:
        return self.matches[rule] > 0

    def listen(self, outputs: list[Any]) -> None:
        for output in outputs:
            report = getattr(output, "report", None)
            if report is None:
                continue
            for label, count in report.num_matches_per_rule.items():
                if count and is_rule(label):
                    self.matches[rule_of(label)] += count
            for label, spent in report.search_and_apply_time_per_rule.items():
                if not is_rule(label):
                    continue
                rule = rule_of(label)
                self.seconds[rule] = self.seconds.get(rule, 0.0) + spent.total_seconds()


def is_rule(label: str) -> bool:
    """Whether ``label`` is the name of a rule of ours; those that load terms have none, egglog shows their text."""
    return not label.startswith("(")


def rule_of(label: str) -> str:
    """The rule that a form with this label belongs to."""
    return label.partition("#")[0]


@contextmanager
def firings() -> Iterator[Firings]:
    """Collect the firings of everything that runs in the block, in this thread."""
    found = Firings()
    token = LISTENER.set(found.listen)
    try:
        yield found
    finally:
        LISTENER.reset(token)
