"""Whatever the text: it is parsed, and then comes back, or it is refused with one error that has a place."""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ir.parsing import CONSTRUCTS, DATA, kernel
from tilesat.errors import ParseError
from tilesat.ir.nodes import Program
from tilesat.ir.parser import parse_text

TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
PIECE_TEXT = """
x pl self None True 1 -1 1.5 1e400 9999999999999999999999 0x1f 1j "a" ' \\" b"" ( ) [ ] { } , : = := . ... @ * ** -
+= \\ # ; $ é if else elif for in not and lambda await async yield def class return pass break del global with try:
import match pl.yield_( pl.while_ pl.cond pl.scope pl.range pl.Tile pl.Tensor pl.Mem. pl.const( pl.submit( self.f(
[0] [0:1] *a **k x__FREE_VAR init_values= attrs= f"{x}"
"""
PIECES = [*PIECE_TEXT.split(), "\n", "\n        ", "\t", "\0", "\x0c", "\u2028", "#c\n", "not in ", '"""', "'''"]
EXPRESSION_TEXT = """
x|pl.FP32|[]|(1,)|None|"s"|-1|1.5|pl.yield_(1)|(yield)|(y := 2)|lambda: 0|a if b else c|not 1|{"a": 1}|{**x}|f"{x}"
pl.Mem.Vec|pl.Tensor|self.f(1)|pl.submit(self.f)|pl.tile.load(x, [0], [1])|pl.load(x, [0, 0], [16, 16])|1 < 2 < 3
x[0]|x[0:1]|x.y|pl.const(1, pl.INT8)|[i for i in x]|(i for i in x)|10**20|pl.MemRef("m")|pl.Tuple[pl.Scalar[pl.INDEX]]
pl.TileView(pad=pl.PadValue.zero)|pl.Tile[[1, 1], pl.FP32]|pl.min(1, 2)|float("inf")|pl.range(3)|pl.matmul(x, x)
"""
EXPRESSIONS = EXPRESSION_TEXT.strip().replace("\n", "|").split("|")
STATEMENT_TEXT = """
x = 1|pass|return x|break|x += 1|a, b = 1, 2|assert x|pl.yield_()|y = pl.yield_(x)|import os|del x|global g|x = y = 2
for i in pl.range(3): pass|if x: y = 2|with pl.scope(): pass|pl.func_attr({"a": 1})|def g(): return x|while x: x = 1
"""
STATEMENTS = STATEMENT_TEXT.strip().replace("\n", "|").split("|")
HAND = """
t = pl.load(x, [0, 0], [16, 64])
for i, (s,) in pl.range(4, init_values=(t,)):
    s = pl.exp(s)
    s = pl.yield_(s)
out = pl.store(s, [0, 0], out)
"""


@lru_cache(maxsize=1)
def corpus() -> tuple[str, ...]:
    cases = [DATA / "cases" / name / "before.py" for name in ("I05", "I17", "O36", "O56", "R04")]
    paths = [*sorted(CONSTRUCTS.glob("*.py")), *cases]
    return (*(path.read_text(encoding="utf-8") for path in paths), kernel(HAND))


texts = st.integers(0, 14).map(lambda number: corpus()[number % len(corpus())])
spots = st.integers(0, 1 << 16)


def mutated(parts: list[str], how: str, first: int, second: int, piece: str) -> list[str]:
    """``parts`` with one deleted, doubled, swapped with or replaced by another, or with ``piece`` put in."""
    i, j = first % len(parts), second % len(parts)
    if how == "delete":
        return parts[:i] + parts[i + 1 :]
    if how == "double":
        return [*parts[: i + 1], *parts[i:]]
    if how == "insert":
        return [*parts[:i], piece, *parts[i:]]
    changed = list(parts)
    if how == "swap":
        changed[i], changed[j] = parts[j], parts[i]
    else:
        changed[i] = piece if how == "piece" else parts[j]
    return changed


def outcome(text: str) -> Program | ParseError:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python's own, about odd literals.
        try:
            return parse_text(text, "mutant")
        except ParseError as error:
            return error


def check(text: str) -> None:
    result = outcome(text)
    if isinstance(result, Program):
        assert outcome(str(result)) == result
        assert str(outcome(str(result))) == str(result)
        return
    assert result.hint
    place = result.location
    assert place is not None
    assert place.file == "mutant"
    assert (place.line or 0) >= 1
    assert (place.column or 0) >= 1


HOW = st.sampled_from(["delete", "double", "swap", "other", "piece", "insert"])


@settings(max_examples=120, deadline=None)
@given(texts, st.lists(st.tuples(HOW, spots, spots, st.sampled_from(PIECES)), min_size=1, max_size=3))
def test_tokens_out_of_place(text: str, changes: list[tuple[str, int, int, str]]) -> None:
    for how, first, second, piece in changes:
        text = "".join(mutated(TOKEN.findall(text), how, first, second, piece))
    check(text)


@settings(max_examples=120, deadline=None)
@given(texts, st.lists(st.tuples(HOW, spots, spots, st.sampled_from(STATEMENTS)), min_size=1, max_size=3))
def test_lines_out_of_place(text: str, changes: list[tuple[str, int, int, str]]) -> None:
    for how, first, second, stmt in changes:
        lines = text.split("\n")
        indent = re.match(" *", lines[first % len(lines)])
        text = "\n".join(mutated(lines, how, first, second, (indent[0] if indent else "") + stmt))
    check(text)


def exchanged(text: str, first: int, second: int | str) -> str:
    """``text`` with one of its expressions replaced by another of them, or by a given one."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return text
    lines = text.split("\n")
    spans = [
        (node.lineno - 1, node.col_offset, node.end_col_offset or 0)
        for node in ast.walk(tree)
        if isinstance(node, ast.expr) and node.lineno == node.end_lineno and lines[node.lineno - 1].isascii()
    ]
    if not spans:
        return text
    row, start, end = spans[first % len(spans)]
    if isinstance(second, int):
        other, from_, to = spans[second % len(spans)]
        second = lines[other][from_:to]
    lines[row] = lines[row][:start] + second + lines[row][end:]
    return "\n".join(lines)


@settings(max_examples=200, deadline=None)
@given(texts, st.lists(st.tuples(spots, st.one_of(spots, st.sampled_from(EXPRESSIONS))), min_size=1, max_size=3))
def test_expressions_out_of_place(text: str, changes: list[tuple[int, int | str]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for first, second in changes:
            text = exchanged(text, first, second)
    check(text)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_any_body(body: str) -> None:
    check(kernel("pass").replace("pass", body))


LEVELS = [90, 101, 1000, 30_000]
NESTED = {
    "signs": lambda n: f"r = {'-' * n}a",
    "sum": lambda n: "r = " + " + ".join(["a"] * n),
    "conjunction": lambda n: "r = " + " and ".join(["p"] * n),
    "power": lambda n: "r = " + " ** ".join(["a"] * n),
    "brackets": lambda n: f"r = {'(' * n}a{')' * n}",
    "calls": lambda n: f"r = {'pl.abs(' * n}a{')' * n}",
    "lists": lambda n: f"r = {'[' * n}a{']' * n}",
    "elements": lambda n: f"r: pl.Ptr = x{'[0]' * n}",
    "members": lambda n: f"r: pl.Ptr = x{'.y' * n}",
    "choices": lambda n: f"r: pl.Ptr = {'a if p else ' * n}b",
    "functions": lambda n: f"r: pl.Ptr = {'lambda: ' * n}a",
    "tuple types": lambda n: f"r: {'pl.Tuple[' * n}pl.Ptr{']' * n} = given()",
    "extents": lambda n: f"r: pl.Tensor[[{'-' * n}a], pl.FP32] = given()",
    "unknown statement": lambda n: f"assert {'not ' * n}p",
    "lines": lambda n: "r = (a" + "\n + a" * n + ")",
    "branches": lambda n: "\n".join([" " * i + "if p:" for i in range(min(n, 200))] + [" " * min(n, 200) + "pass"]),
    "loops": lambda n: "\n".join(
        [" " * i + "for i in pl.range(2):" for i in range(min(n, 200))] + [" " * min(n, 200) + "pass"]
    ),
    "alternatives": lambda n: "if p: pass\n" + "elif p: pass\n" * n,
}


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("name", NESTED)
def test_deep_nesting(name: str, levels: int) -> None:
    check(kernel(NESTED[name](levels)))
