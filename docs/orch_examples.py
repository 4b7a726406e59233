"""Finds the programs that the page of rules shows for rules of orchestration: texts of the tests, and worked cases."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import tilesat
from tests.corpus import cases_of, kernel, kernel_names
from tilesat.bridge.orch import ORCH_PROPERTIES
from tilesat.diagnostics import errors
from tilesat.errors import TilesatError
from tilesat.ir.nodes import Program
from tilesat.ir.parser import parse_text
from tilesat.lab.catalogue import Entry, run_example
from tilesat.lab.firing import Firings
from tilesat.lab.reduce import reduced
from tilesat.rules.rule import RuleSet

TEXTS = (
    *("reuse", "strides", "gather", "windows", "window_sites", "regions", "aggregates", "hazards", "rare"),
    *("scope", "optimal", "names", "pipeline"),
)
"""Tests whose programs are written by hand."""
WIDER = 16
SHORT = 30
"""Lines of a program that needs no reduction."""


def orchestration_example(item: Entry, seconds: float) -> str | None:
    """The smallest program in which the rule changes the result, else the smallest in which it fires.

    For a rule that holds something back, one of which nothing else is made either comes first.
    """
    firing = [text for text in texts() if _fires(item, text)]
    if not firing:
        return None
    conditions = [_matters, _fires]
    if "-kept " in item.rule.text:
        conditions.insert(0, _prevents)
    text, wanted = next((text, wanted) for wanted in conditions for text in firing if wanted(item, text))
    if len(text.splitlines()) <= SHORT:
        return text
    return str(reduced(parse_text(text), lambda program: wanted(item, str(program)), seconds))


@lru_cache(maxsize=1)
def texts() -> tuple[str, ...]:
    """All programs, short ones first, each also with more columns: much pays off for wide tensors only."""
    found = [*_texts_of_tests(), *(str(case.before) for case in cases_of("O"))]
    found += [str(kernel(name, "orch_before")) for name in kernel_names()]
    found = list(dict.fromkeys(text for narrow in found for text in (narrow, _wider(narrow))))
    return tuple(sorted(filter(_is_valid, found), key=lambda text: len(text.splitlines())))


def _texts_of_tests() -> list[str]:
    """What the tests hand to the pass, in the order in which they do."""
    seen: list[str] = []
    run = tilesat.optimize_orch_tensors

    def recorded(program: Program, **options: Any) -> tilesat.PassResult:
        seen.append(str(program))
        return run(program, **options)

    tests = Path(__file__).parent.parent / "tests" / "orch"
    files = [str(tests / f"test_{name}.py") for name in TEXTS]
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as output:
        patch.setattr(tilesat, "optimize_orch_tensors", recorded)
        code = pytest.main(["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-p", "no:randomly", *files])
    assert code == 0, output.getvalue()
    return seen


def _wider(text: str) -> str:
    """``text`` with more columns where they are 16 or 32, as most of the tests have them."""
    return re.sub(r", (16|32)\]", lambda match: f", {WIDER * int(match[1])}]", text)


def _is_valid(text: str) -> bool:
    try:
        return not errors(tilesat.verify(parse_text(text), properties=ORCH_PROPERTIES))
    except TilesatError:
        return False


def _fires(item: Entry, text: str) -> bool:
    outcome = _run(item, text, item.rules())
    return outcome is not None and outcome[1].fired(item.rule.name)


def _matters(item: Entry, text: str) -> bool:
    """Whether the rule fires and the result is another one without it."""
    outcome = _run(item, text, item.rules())
    if outcome is None or not outcome[1].fired(item.rule.name):
        return False
    without = _run(item, text, item.rules().without(item.rule.name))
    return without is not None and without[0] != outcome[0]


def _prevents(item: Entry, text: str) -> bool:
    """Whether only the rule keeps the program as it is."""
    outcome = _run(item, text, item.rules())
    return outcome is not None and outcome[0] == text and _matters(item, text)


def _run(item: Entry, text: str, rules: RuleSet) -> tuple[str, Firings] | None:
    """What becomes of ``text`` and what fires, ``None`` where the pass fails."""
    key = rules.name, tuple(rule.name for rule in rules), text
    if key not in _OUTCOMES:
        try:
            program, found = run_example(item, parse_text(text), rules)
            _OUTCOMES[key] = str(program), found
        except (TilesatError, AssertionError, LookupError, ValueError):
            # Without a rule that others rely on.
            _OUTCOMES[key] = None
    return _OUTCOMES[key]


_OUTCOMES: dict[tuple[str, tuple[str, ...], str], tuple[str, Firings] | None] = {}
