"""Executable statements of soundness: a function that a rule brings along, tried on random numbers."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tilesat.rules.rule import Rule


@dataclass(frozen=True, slots=True)
class Refutation:
    """A statement that does not hold."""

    rule: str
    seed: int
    what: str

    def __str__(self) -> str:
        return f"rule '{self.rule}': its statement of soundness {self.what} (random.Random({self.seed}))"


def refute(rule: Rule, tries: int, seed: int = 0) -> Refutation | None:
    """A try in which the statement of ``rule`` fails, ``None`` when there is none among ``tries``.

    The statement is called with a seeded :class:`random.Random`; it holds when it returns something true, and fails
    when it returns something false or raises.
    """
    assert rule.sound is not None
    for number in range(seed, seed + tries):
        try:
            holds = rule.sound(random.Random(number))
        except Exception as error:
            return Refutation(rule.name, number, f"raised {type(error).__name__}: {error}")
        if not holds:
            return Refutation(rule.name, number, "is false")
    return None
