"""The encoding is complete: a program comes back from the e-graph alone, before any rule has run."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.corpus import DATA
from tilesat.ir.nodes import Program
from tilesat.ir.parser import parse
from tilesat.ir_terms.decode import Decoder
from tilesat.ir_terms.egraph import EGraph
from tilesat.ir_terms.encode import Encoder
from tilesat.ir_terms.schema import CONSTRUCTORS, INGEST, SORTS, handle, syntax_program
from tilesat.lab.generate import GeneratorConfig, random_program


@cache
def syntax_graph() -> EGraph:
    """An e-graph that knows terms and no rules; used between push and pop."""
    return EGraph(syntax_program())


def entered(program: Program) -> Iterator[tuple[EGraph, int]]:
    """``program`` as the only one in the e-graph, and its number."""
    encoder = Encoder()
    number = encoder.program(program)
    graph = syntax_graph()
    graph.push()
    try:
        graph.load({f"in-{name}": rows for name, rows in encoder.rows.items()})
        graph.saturate(INGEST)
        yield graph, number
    finally:
        graph.pop()


def there_and_back(program: Program) -> Program:
    (found,) = [Decoder(graph).program(number) for graph, number in entered(program)]
    return found


TEXTS = sorted([*DATA.rglob("cases/*/*.py"), *DATA.rglob("kernels/*/*.py"), *DATA.rglob("constructs/*.py")])


def test_there_are_texts() -> None:
    assert len(TEXTS) > 180


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_text_of_the_corpus_comes_back(path: Path) -> None:
    """Expressions and statements, functions and what stands around them; equal and printed alike."""
    program = parse(path)
    found = there_and_back(program)
    # By representation: a NaN is not equal to itself, and 0.0 is to -0.0.
    assert repr(found) == repr(program)
    assert str(found) == str(program)


@pytest.mark.parametrize("seed", range(25))
def test_generated_programs_come_back(seed: int) -> None:
    program = random_program(seed, GeneratorConfig(max_statements=25, functions=2))
    assert there_and_back(program) == program


CORNERS = r'''
import pypto.language as pl

NB = pl.dynamic("NB")
import helpers


@pl.program
class Corners:
    @pl.function(type=pl.FunctionType.InCore)
    def f(x: pl.Tensor[[NB, 64], pl.FP32], n: pl.Scalar[pl.INDEX], s: pl.Scalar[pl.FP32]):
        # A comment with a tab	and a \ and "quotes".
        k: pl.Scalar[pl.INT64] = pl.const(-9223372036854775808, pl.INT64)
        u: pl.Scalar[pl.UINT64] = pl.const(18446744073709551615, pl.UINT64)
        z: pl.Scalar[pl.FP32] = -0.0
        y: pl.Scalar[pl.FP32] = 1e-45
        b: pl.Scalar[pl.BOOL] = True
        pl.announce('  blanks  ', "\\s", None, [], [[n]], {"a": {"b": -n}}, key=pl.Mem.Vec, attrs={"t": '\n'})
        assert n > 0, """
  left
        """
        v, *w = given(n)
        for i in pl.parallel(NB, stage=2, attrs={"a": 1}):
            pass
        if v:
            pl.announce(w[0])
        else:
            pass
        with pl.scope(mode=pl.ScopeMode.MANUAL):
            pl.announce((lambda q: q)(n) + 1)
        for (c,) in pl.while_(init_values=(n,)):
            pl.cond(c > 0 and not b)
            d = pl.yield_(c // 2)
        return
'''


def test_corners_come_back() -> None:
    """Numbers beyond 64 bits, the sign of zero, escapes, blanks, empty branches, unmodelled texts with their names."""
    program = parse(CORNERS)
    found = there_and_back(program)
    assert repr(found) == repr(program)
    assert str(found) == str(program)


def test_every_constructor_of_the_terms_is_used() -> None:
    """By some program of the tests: there is no term that these round trips do not cover."""
    used: set[str] = set()
    for path in TEXTS:
        encoder = Encoder()
        encoder.program(parse(path))
        used.update(encoder.rows)
    encoder = Encoder()
    encoder.program(parse(CORNERS))
    used.update(encoder.rows)
    assert used == {constructor.name for constructor in CONSTRUCTORS}


def test_equal_terms_share_a_class_and_effects_do_not() -> None:
    """Expressions are hash-consed; two equal statements are two effects."""
    program = parse(
        """
import pypto.language as pl

@pl.program
class Twice:
    @pl.function(type=pl.FunctionType.InCore)
    def f(n: pl.Scalar[pl.INDEX]):
        pl.announce(n + 1)
        pl.announce(n + 1)
"""
    )
    for graph, _ in entered(program):
        assert len(graph.table("Op")) == 1
        assert len(graph.table("Bin")) == 1
        assert len(graph.table("Eval")) == 2


def test_nothing_but_terms_is_needed_to_read_a_program() -> None:
    """The decoder looks at constructors and at the roots by number; rules and facts add other tables."""
    names = {constructor.name for constructor in CONSTRUCTORS} | {handle(sort) for sort in SORTS}
    (program,) = {parse(TEXTS[0])}
    for graph, number in entered(program):
        asked: list[str] = []
        table = graph.table

        def recording(name: str, table: object = table, asked: list[str] = asked) -> object:
            asked.append(name)
            return table(name)  # type: ignore[operator]

        graph.table = recording  # type: ignore[method-assign]
        try:
            Decoder(graph).program(number)
        finally:
            del graph.table
        assert set(asked) <= names
