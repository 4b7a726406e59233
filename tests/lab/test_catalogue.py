"""The catalogue knows every shipped rule, and the page of rules is what it says."""

from __future__ import annotations

import json
import os

import pytest
from click.testing import CliRunner

from docs.generate import PAGE, page, section
from tilesat import RuleError, preset
from tilesat.bridge.orch import ORCH_PROPERTIES
from tilesat.cli import main
from tilesat.diagnostics import errors
from tilesat.ir.parser import parse_text
from tilesat.ir.verify import verify
from tilesat.lab.catalogue import UNREACHABLE, _examples, entries, entry, run_example, source_of
from tilesat.rules.catalogue import options


def test_every_shipped_rule_is_listed_once() -> None:
    names = [item.rule.name for item in entries()]
    shipped = {rule.name for rules in (preset("reference"), preset("optimal"), options()) for rule in rules}
    assert len(names) == len(set(names))
    assert set(names) == shipped
    assert entry("move").presets == ("optimal",)
    assert entry("need-operand").presets == ("reference", "optimal")
    assert entry("retarget-loads").where == "on request"


NIGHTLY = os.environ.get("TILESAT_PROFILE") == "nightly"


@pytest.mark.parametrize("part", range(3))
def test_examples_make_their_rule_fire(part: int) -> None:
    for name, text in sorted(_examples().items())[part :: 3 if NIGHTLY else 24]:
        _, found = run_example(entry(name), parse_text(text))
        assert found.fired(name), name


def test_examples_are_programs_in_their_printed_form() -> None:
    for name, text in _examples().items():
        program = parse_text(text)
        assert str(program) == text, name
        assert not errors(verify(program, properties=ORCH_PROPERTIES)), name


def test_every_rule_that_can_fire_has_an_example() -> None:
    assert {item.rule.name for item in entries()} - set(_examples()) == set(UNREACHABLE)


@pytest.mark.parametrize("name", ["bar-later-use", "keep-read-between", "whole-overlap", "bar-unclear-parent"])
def test_a_rule_that_holds_back_shows_what_it_prevents(name: str) -> None:
    item = entry(name)
    before, after = item.example() or ("", "")
    assert before == after
    without = item.without()
    assert without is not None
    assert without != after
    assert item.text().endswith("without the rule:\n" + without.rstrip())
    assert "After: the same. Without the rule:" in section(item)


def test_the_page_of_rules_is_up_to_date(refresh_golden: bool) -> None:
    """Refresh with ``pytest --refresh-golden`` or ``python -m docs.generate``."""
    if refresh_golden:
        PAGE.write_text(page(), encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    if NIGHTLY:
        assert text == page()
    listed = entries()
    headings = [line.removeprefix("### ") for line in text.splitlines() if line.startswith("### ")]
    assert sorted(headings) == sorted(item.rule.name for item in listed)
    for item in listed[::9]:
        assert section(item) in text, f"{item.rule.name}: run python -m docs.generate"
    for item in listed:
        assert source_of(item.rule) in text, f"{item.rule.name}: run python -m docs.generate"


def test_the_command_lists_and_shows() -> None:
    listed = CliRunner().invoke(main, ["rules", "--family", "merge-loads", "--json"])
    assert [item["name"] for item in json.loads(listed.output)] == ["merge-loads", "share-copies-of-loads"]
    shown = CliRunner().invoke(main, ["rules", "merge-loads"])
    for part in ("a load uses the buffer of an equal load", "(last-equal-load v)", "before:", "after:"):
        assert part in shown.output
    wrong = CliRunner().invoke(main, ["rules", "hoist"])
    assert wrong.exit_code == 2
    assert "no rule is called 'hoist' (did you mean hoist-load" in wrong.output


def test_unknown_families_are_refused() -> None:
    with pytest.raises(RuleError, match="no rules are of family 'views2'"):
        entries("views2")
