"""Texts in the printed form come back byte by byte, and programs come back equal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ir.parsing import CONSTRUCTS, DATA, kernel
from tilesat.ir.parser import parse_text

FIXTURES = sorted(CONSTRUCTS.glob("*.py"))
EXAMPLES = sorted(path for path in DATA.rglob("*.py") if path.parent != CONSTRUCTS)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_every_construct_comes_back(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    program = parse_text(text, path.name)
    assert str(program) == text
    assert parse_text(str(program)) == program


@pytest.mark.parametrize("kind", ["cases", "kernels"])
def test_every_example_program_comes_back(kind: str) -> None:
    for path in EXAMPLES:
        if kind in path.parts:
            text = path.read_text(encoding="utf-8")
            assert str(parse_text(text, path.name)) == text, path


def test_there_are_example_programs() -> None:
    assert len(EXAMPLES) > 250
    assert len(FIXTURES) >= 9


@pytest.mark.parametrize("end", ["", "\n"])
def test_whether_the_text_ends_with_a_line_break_is_kept(end: str) -> None:
    text = FIXTURES[0].read_text(encoding="utf-8").rstrip("\n") + end
    assert str(parse_text(text)) == text


def test_the_end_of_the_text_does_not_tell_programs_apart() -> None:
    text = kernel("pass")
    assert parse_text(text) == parse_text(text.rstrip("\n"))


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_line_ends_of_other_systems_are_read(line_end: str) -> None:
    text = FIXTURES[0].read_text(encoding="utf-8")
    assert str(parse_text(text.replace("\n", line_end))) == text


def test_a_byte_order_mark_is_skipped() -> None:
    assert parse_text("\ufeff" + kernel("pass")) == parse_text(kernel("pass"))


def test_the_distributed_language_is_imported_where_it_is_used() -> None:
    line = "import pypto.language.distributed as pld\n"
    assert line in str(parse_text(kernel("pld.system.wait(x)")))
    assert line in str(parse_text("RANKS = pld.given()\n" + kernel("pass")))
    assert line not in str(parse_text(kernel("# Not with pld.system.wait.\npl.announce(a)")))


def test_separators_that_end_no_line_in_python_do_not_shift_lines() -> None:
    """Unicode has more line separators than Python's grammar: none of them may move what follows."""
    body = 'pl.announce("a\u2028b\x0cc\x85d")\nassert a > 0  # é\n# comment\npl.announce("end")'
    text = str(parse_text(kernel(body)))
    assert "        assert a > 0  # é\n        # comment\n" in text
    assert str(parse_text(text)) == text
