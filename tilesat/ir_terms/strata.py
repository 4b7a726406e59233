"""The order within a phase: rules run when those that could feed them have found all they can.

A round of egglog's looks at every rule of a ruleset, once for each of its facts, whether there is anything for it or
not. So a phase is cut into rulesets that run one after the other, and only rules that feed each other run in rounds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tilesat.ir_terms.columns import COLUMNS, SORT_OF
from tilesat.ir_terms.schema import SORTS, handle

_TERM_SORTS = frozenset(SORT_OF.values())
_SORTS_IN = {
    **{name: _TERM_SORTS.intersection(columns) for name, columns in COLUMNS.items()},
    **{handle(sort): frozenset([sort]) for sort in SORTS},
}
"""The sorts in the columns of each table."""


@dataclass(frozen=True, slots=True)
class Feeding:
    """What counts of a rule here.

    The tables it ``needs``, those it ``makes`` rows of, the sorts whose classes it unites (``None`` if nobody knows).
    """

    needs: frozenset[str]
    makes: frozenset[str]
    unites: frozenset[str] | None = frozenset()

    @property
    def feeds(self) -> frozenset[str]:
        """The tables in which there may be something new after it."""
        return self.makes | _touched(_TERM_SORTS if self.unites is None else self.unites)


@dataclass(frozen=True, slots=True)
class Stratum:
    """Rules, by their numbers, that run together: once, or while something new comes, as they feed each other."""

    rules: tuple[int, ...]
    in_rounds: bool


def strata(rules: Sequence[Feeding]) -> list[Stratum]:
    """``rules`` cut into strata, in the order in which they run."""
    feeds = [rule.feeds for rule in rules]
    reach = _closure([_bits(other for other, one in enumerate(rules) if fed & one.needs) for fed in feeds])
    levels: list[int] = [0] * len(rules)
    # Who reaches more comes first, so that what feeds a rule has its level already.
    for number in sorted(range(len(rules)), key=lambda one: (-reach[one].bit_count(), reach[one] >> one & 1)):
        before = [other for other in range(len(rules)) if reach[other] >> number & 1 and not reach[number] >> other & 1]
        levels[number] = max((levels[other] + 1 for other in before), default=0)
    found: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number in range(len(rules)):
        group = [other for other in range(len(rules)) if reach[number] >> other & 1 and reach[other] >> number & 1]
        found[levels[number], min(group, default=-1)].append(number)
    return [Stratum(tuple(found[level, first]), first >= 0) for level, first in sorted(found)]


def _closure(fed: Sequence[int]) -> list[int]:
    """For each rule the set of those that it feeds, at once or through others, as bits."""
    reach = list(fed)
    for middle in range(len(reach)):
        for number in range(len(reach)):
            if reach[number] >> middle & 1:
                reach[number] |= reach[middle]
    return reach


def _bits(numbers: Iterable[int]) -> int:
    return sum(1 << number for number in numbers)


@lru_cache(maxsize=64)
def _touched(sorts: frozenset[str]) -> frozenset[str]:
    """The tables that change when classes of ``sorts`` are united: terms of equal arguments are equal as well."""
    while more := {SORT_OF[name] for name in SORT_OF if _SORTS_IN[name] & sorts} - sorts:
        sorts |= more
    return frozenset(name for name, its in _SORTS_IN.items() if its & sorts)
