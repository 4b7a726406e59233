"""Generated programs as a hypothesis strategy; hypothesis comes with the extra ``tilesat[test]``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from tilesat.ir.nodes import Program
from tilesat.lab.choices import Choices
from tilesat.lab.config import GeneratorConfig
from tilesat.lab.orch_programs import OrchConfig, orchestration_program
from tilesat.lab.program import generate_program

T = TypeVar("T")


_integers = lru_cache(maxsize=1024)(st.integers)


class HypothesisChoices(Choices):
    """Decisions that hypothesis takes, replays and simplifies."""

    def __init__(self, draw: DrawFn) -> None:
        self.draw = draw
        self.body: Callable[[], Any] | None = None
        self._within = _within(self)

    def integer(self, low: int, high: int) -> int:
        return self.draw(_integers(low, high))

    def span(self, body: Callable[[], T]) -> T:
        # Drawing from a strategy is what tells hypothesis that the draws within belong together.
        self.body = body
        result: T = self.draw(self._within)
        return result


@st.composite
def _within(draw: DrawFn, choices: HypothesisChoices) -> Any:
    """What the body of ``choices`` returns, its decisions drawn here."""
    body, outer = choices.body, choices.draw
    assert body is not None
    choices.draw = draw
    try:
        return body()
    finally:
        choices.draw = outer


@st.composite
def _program(draw: DrawFn, config: GeneratorConfig) -> Program:
    return generate_program(HypothesisChoices(draw), config)


def programs(config: GeneratorConfig | None = None, **overrides: Any) -> SearchStrategy[Program]:
    """Well-typed programs as they stand before memory-space inference; they shrink to few statements.

    ``overrides`` are fields of :class:`tilesat.lab.config.GeneratorConfig` that differ from ``config``, by
    default that of :func:`tilesat.lab.program.generate_program`.

    Raises :class:`tilesat.TilesatError` for a configuration that makes no program.
    """
    return _program(replace(config or GeneratorConfig(), **overrides))


@st.composite
def _orchestration(draw: DrawFn, config: OrchConfig) -> Program:
    return orchestration_program(HypothesisChoices(draw), config)


def orchestrations(config: OrchConfig | None = None, **overrides: Any) -> SearchStrategy[Program]:
    """Whole programs as they stand before the orchestration pass: kernels and a function that launches them.

    ``overrides`` are fields of :class:`tilesat.lab.orch_programs.OrchConfig` that differ from ``config``.

    Raises :class:`tilesat.TilesatError` for a scene that does not exist.
    """
    return _orchestration(replace(config or OrchConfig(), **overrides))
