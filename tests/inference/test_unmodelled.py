"""Statements and lines that are not modelled: what they bind can be used, and they are carried through the pass."""

from __future__ import annotations

import pytest

import tilesat
from tests.inference.texts import body_of, function, infer, kernel, program
from tilesat.diagnostics import errors
from tilesat.ir.memory import is_barrier
from tilesat.ir.nodes import OpaqueStmt

BINDING = {
    "v, *w = given(n)": ("v", "w"),
    "v = w = n": ("v", "w"),
    "with given(n) as v:\n    w: pl.Scalar[pl.INDEX] = n": ("v", "w"),
    "import limits as v, other.w": ("other", "v"),
    "def v(k):\n    return k": ("v",),
    "for v in given(n):\n    pl.announce(v)": ("v",),
    "try:\n    pl.announce(n)\nexcept OSError as v:\n    pass": ("v",),
    "v: pl.Scalar[pl.INDEX] = (w := n)": ("v", "w"),
    "assert n": (),
    "x[0] = n": (),
}


@pytest.mark.parametrize("text", BINDING)
def test_names_are_read_off_the_text(text: str) -> None:
    (stmt,) = kernel(text).functions[0].body
    assert isinstance(stmt, OpaqueStmt)
    assert tuple(sorted(stmt.binds)) == tuple(sorted(BINDING[text]))
    assert is_barrier(stmt)


@pytest.mark.parametrize("text", [text for text, names in BINDING.items() if "v" in names])
def test_what_is_bound_is_defined(text: str) -> None:
    """The verifier knows it, inference takes the program, and the text comes out as it was."""
    body = f"{text}\npl.announce(v)"
    assert errors(tilesat.verify(kernel(body), properties=("SSAForm",))) == ()
    assert body_of(tilesat.infer_tile_memory_space(kernel(body))) == body


def test_a_name_that_nothing_binds_is_still_found() -> None:
    program_ = kernel("v, *w = given(n)\npl.announce(v)")
    (f,) = program_.functions
    (carried, after) = f.body
    assert isinstance(carried, OpaqueStmt)
    broken = tilesat.Program(
        program_.name,
        (tilesat.Function(f.name, f.params, f.returns, (OpaqueStmt(carried.lines, carried.names), after)),),
    )
    found = errors(tilesat.verify(broken, properties=("SSAForm",)))
    assert [d.message for d in found] == ["'v' is used, but nothing defines it"]


def test_a_name_bound_twice_is_found() -> None:
    (f,) = kernel("v, *w = given(n)\npl.announce(v)").functions
    twice = tilesat.Program("P", (tilesat.Function(f.name, f.params, f.returns, (f.body[0], *f.body)),))
    messages = [d.message for d in errors(tilesat.verify(twice, properties=("SSAForm",)))]
    assert "'v' is bound more than once" in messages


def test_values_that_an_unmodelled_text_makes_are_compared() -> None:
    """Two programs that hand its result on are equal; one that hands on another is not."""
    one = kernel("v, *w = given(n)\npl.announce(v)")
    other = kernel("v, *w = given(n)\npl.announce(w)")
    assert tilesat.validate(one, one).ok
    assert not tilesat.validate(one, other).ok
    assert tilesat.structural_equal(one, one)
    assert not tilesat.structural_equal(one, other)


def test_moves_do_not_cross_the_text() -> None:
    """It may write whatever it names: a copy made before is stale after it."""
    text = body_of(
        infer(
            """
            at = pl.load(a, [0, 0], [16, 64], target_memory=pl.Mem.Mat)
            bt = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
            m = pl.matmul(at, bt)
            assert at
            m2 = pl.matmul(at, bt)
            """
        )
    )
    assert text.count("tile.move(at, target_memory=pl.Mem.Left)") == 2
    assert text.count("tile.move(bt, target_memory=pl.Mem.Right)") == 1


def test_lines_after_the_class_are_carried() -> None:
    """Before it, where the printed form has room; the result of the pass has them as well."""
    text = program(function("pl.announce(n)")) + "\n\nENTRY = given(Snippet)\n"
    before = tilesat.parse(text)
    after = tilesat.infer_tile_memory_space(before).program
    assert "ENTRY = given(Snippet)\n" in str(after)
    assert str(tilesat.parse(str(after))) == str(after)


def test_a_return_after_the_class_is_refused() -> None:
    """With file, line and cure."""
    with pytest.raises(tilesat.ParseError, match=r"text>:\d+:1: a return outside a function"):
        tilesat.parse(program(function("pl.announce(n)")) + "\nreturn n\n")
