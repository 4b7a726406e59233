"""The catalogue knows every shipped rule, and the page of rules is what it says."""

from __future__ import annotations

import json
import os

import pytest
from click.testing import CliRunner

from docs.generate import PAGE, page, section
from tilesat import RuleError, preset
from tilesat.cli import main
from tilesat.ir.parser import parse_text
from tilesat.lab.catalogue import UNREACHABLE, _examples, entries, entry, run_example, source_of
from tilesat.lab.targets import runs_on_kernels
from tilesat.rules.catalogue import options


def test_every_shipped_rule_is_listed_once() -> None:
    names = [item.rule.name for item in entries()]
    shipped = {rule.name for rules in (preset("reference"), preset("optimal"), options()) for rule in rules}
    assert len(names) == len(set(names))
    assert set(names) == shipped
    assert entry("move").presets == ("optimal",)
    assert entry("need-operand").presets == ("reference", "optimal")
    assert entry("retarget-loads").where == "on request"


def test_examples_make_their_rule_fire() -> None:
    for name, text in sorted(_examples().items())[::12]:
        _, found = run_example(entry(name), parse_text(text))
        assert found.fired(name), name


def test_every_rule_of_kernels_has_an_example() -> None:
    kernels = {item.rule.name for item in entries() if runs_on_kernels(item.rule)}
    assert kernels - set(_examples()) <= set(UNREACHABLE) | KNOWN_WITHOUT


# The generator's tiles have static sizes.
KNOWN_WITHOUT = {"hold-unknown-size"}


def test_the_page_of_rules_is_up_to_date(refresh_golden: bool) -> None:
    """Refresh with ``pytest --refresh-golden`` or ``python -m docs.generate``."""
    if refresh_golden:
        PAGE.write_text(page(), encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    if os.environ.get("TILESAT_PROFILE") == "nightly":
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
