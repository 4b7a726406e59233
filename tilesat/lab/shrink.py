"""Small counterexamples without hypothesis: the decisions behind a program, dropped and lowered.

A program is what a list of decisions makes. Fewer and lower decisions make a simpler program, so the
search works on the list and never has to know what a program is.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from tilesat.errors import TilesatError
from tilesat.ir.nodes import Program
from tilesat.lab.choices import Choices, RandomChoices
from tilesat.lab.config import GeneratorConfig
from tilesat.lab.program import generate_program

T = TypeVar("T")
Span = tuple[int, int]
Maker = Callable[[Choices], Program]
"""A generator: the program that some choices make."""

_CHUNKS = (8, 4, 2, 1)
_LOW = 4
_MOST_SIMPLE = 6


class ReplayedChoices(Choices):
    """Takes the decisions of a list, each as its distance from the simplest; then the simplest ones.

    ``taken`` are the decisions as they came out, ``spans`` the parts of it that belong together.
    """

    def __init__(self, decisions: Sequence[int], then: Choices | None = None) -> None:
        self._decisions = decisions
        self._then = then
        self.taken: list[int] = []
        self.spans: list[Span] = []

    def integer(self, low: int, high: int) -> int:
        if len(self.taken) < len(self._decisions):
            number = low + min(self._decisions[len(self.taken)], high - low)
        else:
            number = low if self._then is None else self._then.integer(low, high)
        self.taken.append(number - low)
        return number

    def span(self, body: Callable[[], T]) -> T:
        start = len(self.taken)
        result = body()
        self.spans.append((start, len(self.taken)))
        return result


@dataclass(frozen=True, slots=True)
class Found:
    """A program that satisfies a condition, the decisions that make it, and how many were tried."""

    program: Program
    decisions: tuple[int, ...]
    spans: tuple[Span, ...]
    tries: int


def simplest(
    seed: int,
    condition: Callable[[Program], bool],
    config: GeneratorConfig | Maker | None = None,
    *,
    most_tries: int = 2000,
    seconds: float = math.inf,
) -> Found:
    """The simplest program found that satisfies ``condition``, starting from the random one of ``seed``.

    ``config`` is that of :func:`tilesat.lab.program.generate_program`, or another generator altogether. The search
    ends after ``most_tries`` programs or ``seconds``, whichever comes first.

    Raises :class:`tilesat.TilesatError` when that one does not satisfy it.
    """
    make = config if callable(config) else partial(generate_program, config=config or GeneratorConfig())
    search = _Search(condition, make, most_tries, time.monotonic() + seconds)
    if not search.accepts((), RandomChoices(seed)):
        raise TilesatError(f"the program of seed {seed} does not satisfy the condition", hint="take another seed")
    return search.run()


class _Search:
    def __init__(self, condition: Callable[[Program], bool], make: Maker, most_tries: int, deadline: float) -> None:
        self.condition = condition
        self.make = make
        self.most_tries = most_tries
        self.deadline = deadline
        self.tries = 0
        self.best: Found | None = None
        self.seen: set[tuple[int, ...]] = set()

    @property
    def is_over(self) -> bool:
        return self.tries >= self.most_tries or time.monotonic() > self.deadline

    @property
    def found(self) -> Found:
        assert self.best is not None
        return self.best

    def accepts(self, decisions: tuple[int, ...], then: Choices | None = None) -> bool:
        """Try ``decisions``; keep what they make when it is simpler and satisfies the condition."""
        if then is None and decisions in self.seen:
            return False
        self.seen.add(decisions)
        choices = ReplayedChoices(decisions, then)
        program = self.make(choices)
        taken = tuple(choices.taken)
        if self.best is not None and _size(taken) >= _size(self.best.decisions):
            return False
        self.tries += 1
        if not self.condition(program):
            return False
        self.best = Found(program, taken, tuple(choices.spans), self.tries)
        return True

    def run(self) -> Found:
        """Simplify until nothing helps any more or the tries are used up."""
        while True:
            before = self.found
            for simplify in self._passes():
                simplify()
            if self.found is before or self.is_over:
                return Found(self.found.program, self.found.decisions, self.found.spans, self.tries)

    def _passes(self) -> tuple[Callable[[], None], ...]:
        """Ways to simplify, those that change most first."""
        return self._drop_spans, self._drop_chunks, self._lower, self._drop_and_lower, self._replace_spans

    def _try_all(self, candidates: Callable[[], Iterator[tuple[int, ...]]]) -> None:
        """Try candidates, made anew whenever one is accepted."""
        progress = True
        while progress:
            progress = False
            for candidate in candidates():
                if self.is_over:
                    return
                if self.accepts(candidate):
                    progress = True
                    break

    def _drop_spans(self) -> None:
        def candidates() -> Iterator[tuple[int, ...]]:
            found = self.found
            for start, end in sorted(found.spans, key=lambda span: span[0] - span[1]):
                if start < end:
                    yield found.decisions[:start] + found.decisions[end:]

        self._try_all(candidates)

    def _drop_chunks(self) -> None:
        for size in _CHUNKS:
            position = len(self.found.decisions) - size
            while position >= 0 and not self.is_over:
                decisions = self.found.decisions
                self.accepts(decisions[:position] + decisions[position + size :])
                position = min(position - 1, len(self.found.decisions) - size)

    def _replace_spans(self) -> None:
        """A span's first decision, a lower second one, which for a statement is its family, and simple ones."""

        def candidates() -> Iterator[tuple[int, ...]]:
            found = self.found
            for start, end in found.spans:
                if end - start > 2:
                    for kind in range(found.decisions[start + 1]):
                        for rest in range(min(_MOST_SIMPLE, end - start - 2)):
                            head = (*found.decisions[: start + 1], kind, *(0,) * rest)
                            yield head + found.decisions[end:]

        self._try_all(candidates)

    def _drop_and_lower(self) -> None:
        """A span dropped and a later decision lowered by one: what referred past the span follows."""

        def candidates() -> Iterator[tuple[int, ...]]:
            found = self.found
            for start, end in found.spans:
                if start < end:
                    shorter = found.decisions[:start] + found.decisions[end:]
                    for position in range(start, len(shorter)):
                        if shorter[position]:
                            yield (*shorter[:position], shorter[position] - 1, *shorter[position + 1 :])

        self._try_all(candidates)

    def _lower(self) -> None:
        position = len(self.found.decisions) - 1
        while position >= 0 and not self.is_over:
            decisions = self.found.decisions
            value = decisions[position]
            for lower in dict.fromkeys((*range(min(value, _LOW)), value // 2, value - 1)):
                if 0 <= lower < value and self.accepts((*decisions[:position], lower, *decisions[position + 1 :])):
                    break
            position = min(position - 1, len(self.found.decisions) - 1)


def _size(decisions: tuple[int, ...]) -> tuple[int, int]:
    return len(decisions), sum(decisions)
