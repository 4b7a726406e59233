"""Affine forms have the value of the expression they are the form of."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tilesat.ir.affine import Affine, affine, constant, folded, substituted, variable
from tilesat.ir.interp.scalars import binary, function, unary
from tilesat.ir.nodes import BinOp, Const, Expr, ScalarFn, UnaryOp, Var
from tilesat.ir.printer import print_expr

NAMES = ("i", "j", "n")


def expressions() -> st.SearchStrategy[Expr]:
    leaves = st.one_of(st.integers(-9, 9).map(Const), st.sampled_from(NAMES).map(Var))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.builds(BinOp, st.sampled_from(("+", "-", "*", "//", "%")), inner, inner),
            st.builds(lambda e: UnaryOp("-", e), inner),
            st.builds(lambda name, a, b: ScalarFn(name, (a, b)), st.sampled_from(("min", "max")), inner, inner),
        ),
        max_leaves=8,
    )


def value(expr: Expr, names: dict[str, int]) -> int | None:
    """The value of ``expr``, ``None`` where it divides by zero."""
    if isinstance(expr, Const):
        return int(expr.value)
    if isinstance(expr, Var):
        return names[expr.name]
    if isinstance(expr, BinOp):
        sides = [value(side, names) for side in (expr.lhs, expr.rhs)]
        if None in sides or (expr.op in ("//", "%") and sides[1] == 0):
            return None
        return int(binary(expr.op, *sides))  # type: ignore[arg-type]
    if isinstance(expr, UnaryOp):
        inner = value(expr.operand, names)
        return None if inner is None else int(unary("-", inner))
    assert isinstance(expr, ScalarFn)
    args = [value(arg, names) for arg in expr.args]
    return None if None in args else int(function(expr.name, tuple(args)))  # type: ignore[arg-type]


@given(expressions(), st.lists(st.integers(-20, 20), min_size=3, max_size=3))
def test_a_form_and_its_expression_have_one_value(expr: Expr, numbers: list[int]) -> None:
    names = dict(zip(NAMES, numbers, strict=True))
    expected = value(expr, names)
    if expected is None:
        return
    assert value(affine(expr).expr(), names) == expected, print_expr(expr)
    assert value(folded(expr), names) == expected, print_expr(expr)


@given(expressions(), expressions(), st.lists(st.integers(-20, 20), min_size=3, max_size=3))
def test_substitution_is_what_evaluation_does(expr: Expr, inner: Expr, numbers: list[int]) -> None:
    names = dict(zip(NAMES, numbers, strict=True))
    given_value = value(inner, names)
    if given_value is None or value(expr, {**names, "i": given_value}) is None:
        return
    form = substituted(affine(expr), {"i": affine(inner)})
    assert value(form.expr(), names) == value(expr, {**names, "i": given_value})


@given(expressions(), expressions())
def test_sums_do_not_depend_on_the_order(a: Expr, b: Expr) -> None:
    assert affine(a) + affine(b) == affine(b) + affine(a)
    assert affine(a) - affine(a) == constant(0)


def test_integers_never_overflow() -> None:
    """ORC-5-05: offsets beyond 64 bits stay exact."""
    far = BinOp("*", BinOp("*", Const(2**40), Const(2**40)), Var("i"))
    assert affine(far) == variable("i").scaled(2**80)
    assert affine(BinOp("-", far, BinOp("-", far, Const(1)))) == Affine(1)


def test_divisions_are_taken_apart_only_where_every_rounding_agrees() -> None:
    four_i = BinOp("*", Const(4), Var("i"))
    assert affine(BinOp("//", four_i, Const(2))) == variable("i").scaled(2)
    assert affine(BinOp("%", four_i, Const(2))) == constant(0)
    assert affine(BinOp("//", Const(7), Const(2))) == constant(3)
    # -7 // 2 is -4 or -3, depending on who divides: it stays as it is.
    assert not affine(BinOp("//", UnaryOp("-", Const(7)), Const(2))).is_const
    assert affine(BinOp("//", Var("i"), Const(2))).names_inside() == frozenset({"i"})


def test_expressions_are_short() -> None:
    shown = {
        "j * 4 + n - 3": BinOp("-", BinOp("+", Var("n"), BinOp("*", Const(4), Var("j"))), Const(3)),
        "0": BinOp("-", Var("n"), Var("n")),
        "-i": UnaryOp("-", Var("i")),
        "n - i": BinOp("+", UnaryOp("-", Var("i")), Var("n")),
    }
    for text, expr in shown.items():
        assert print_expr(affine(expr).expr()) == text
