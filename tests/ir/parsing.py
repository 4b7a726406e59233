"""Short spellings for the tests of text in and out."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from textwrap import dedent, indent

import pytest

from tilesat.errors import ParseError
from tilesat.ir.nodes import Assign, Expr, Function, Program, Stmt
from tilesat.ir.parser import parse_text
from tilesat.ir.types import Type

DATA = Path(__file__).parent.parent / "data"
CONSTRUCTS = DATA / "constructs"

HEAD = """\
import pypto.language as pl

@pl.program
class Snippet:
    @pl.function(type=pl.FunctionType.InCore)
    def f({params}){returns}:
"""
PARAMS = ", ".join(
    [
        "a: pl.Scalar[pl.INDEX]",
        "b: pl.Scalar[pl.INDEX]",
        "c: pl.Scalar[pl.INT32]",
        "p: pl.Scalar[pl.BOOL]",
        "x: pl.Tensor[[64, 64], pl.FP32]",
        "out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]",
    ]
)
FIRST_LINE = 7
"""The line of a body's first statement in :func:`kernel`; its column is 9."""


def kernel(body: str, params: str = PARAMS, returns: str = "") -> str:
    """A program with one kernel ``f`` of this body."""
    spelled = f" -> {returns}" if returns else ""
    return HEAD.format(params=params, returns=spelled) + indent(dedent(body).strip("\n"), " " * 8) + "\n"


def function(body: str, **header: str) -> Function:
    (parsed,) = parse_text(kernel(body, **header), "snippet").functions
    return parsed


def statements(body: str, **header: str) -> tuple[Stmt, ...]:
    return function(body, **header).body


@lru_cache(maxsize=4096)
def expression(text: str) -> Expr:
    """The expression spelled ``text``, over the parameters of :data:`PARAMS`."""
    *_, stmt = statements(f"r: pl.Scalar[pl.INDEX] = {text}")
    assert isinstance(stmt, Assign)
    return stmt.value


@lru_cache(maxsize=4096)
def annotation(text: str) -> Type:
    """The type spelled ``text``, over the parameters of :data:`PARAMS`."""
    *_, stmt = statements(f"r: {text} = given()")
    assert isinstance(stmt, Assign)
    return stmt.type


def printed(body: str, **header: str) -> str:
    """The body of ``f`` as it prints."""
    lines = str(parse_text(kernel(body, **header), "snippet")).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("    def "))
    return dedent("\n".join(lines[start + 1 :]))


def failure(text: str) -> ParseError:
    """The error that parsing ``text`` as ``bad.py`` ends in."""
    with pytest.raises(ParseError) as caught:
        parse_text(text, "bad.py")
    return caught.value


def refused(text: str, place: str, message: str, hint: str) -> None:
    """Assert that ``text`` is refused at ``line:column`` with exactly this message and hint."""
    assert str(failure(text)) == f"bad.py:{place}: {message} ({hint})"


def refused_body(body: str, place: str, message: str, hint: str) -> None:
    """The same for the body of a kernel; lines count from its first."""
    line, column = map(int, place.split(":"))
    refused(kernel(body), f"{line + FIRST_LINE - 1}:{column}", message, hint)


def parsed(path: Path) -> Program:
    return parse_text(path.read_text(encoding="utf-8"), path.name)
