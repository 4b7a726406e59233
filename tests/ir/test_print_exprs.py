"""Printing expressions and types: what is printed reads back as the same tree, whatever the tree."""

from __future__ import annotations

import keyword
import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ir.parsing import annotation, expression
from tilesat.ir.nodes import (
    BinOp,
    Cast,
    Const,
    DictExpr,
    EnumConst,
    Expr,
    FuncCall,
    ListExpr,
    NoneConst,
    OpaqueExpr,
    OpCall,
    ScalarFn,
    StrConst,
    Submit,
    TupleGet,
    UnaryOp,
    Var,
)
from tilesat.ir.printer import print_expr, print_type
from tilesat.ir.types import (
    ArrayType,
    MemorySpace,
    OpaqueType,
    ScalarType,
    TensorType,
    TensorView,
    TileView,
    TupleType,
    Type,
    tile_type,
)

# ------------------------------------------------------------------------------------ leaves

WORDS = st.from_regex(re.compile(r"[a-z][a-z_0-9]{0,5}", re.ASCII), fullmatch=True).filter(
    lambda word: not keyword.iskeyword(word) and not keyword.iskeyword(word.rstrip("_"))
)
DTYPES = st.sampled_from(["INDEX", "INT8", "INT32", "UINT64", "FP16", "BF16", "FP32", "TASK_ID", "BOOL"])
SCALARS = st.sampled_from([Var("a"), Var("b"), Var("c"), Var("p")])
INTEGERS = st.builds(Const, st.integers(-(1 << 63), (1 << 64) - 1), DTYPES)
FLOATS = st.builds(Const, st.floats().map(lambda v: math.nan if math.isnan(v) else v), DTYPES)
NUMBERS = st.one_of(INTEGERS, FLOATS, st.builds(Const, st.booleans(), st.just("BOOL")))
# Texts that only Python understands, at every level of precedence, and the variables in them.
OPAQUE = st.sampled_from(
    [
        OpaqueExpr("lambda v: v + a", ("a",)),
        OpaqueExpr("a if p else b", ("a", "p", "b")),
        OpaqueExpr("a < b < 3", ("a", "b")),
        OpaqueExpr("a in [1, 2]", ("a",)),
        OpaqueExpr("p is not None", ("p",)),
        OpaqueExpr("a @ b", ("a", "b")),
        OpaqueExpr("x[0:2, :]", ("x",)),
        OpaqueExpr("x.shape", ("x",)),
        OpaqueExpr("helper(a, key=b)", ("a", "b")),
        OpaqueExpr("[v for v in given if v > a]", ("a",)),
        OpaqueExpr("f'{a}'", ("a",)),
        OpaqueExpr("{1, 2}"),
        OpaqueExpr("1j"),
        OpaqueExpr("..."),
        OpaqueExpr("'word' % a", ("a",)),
        OpaqueExpr("a == 'word'", ("a",)),
        OpaqueExpr("not None"),
        OpaqueExpr("-[1]"),
        OpaqueExpr("None or a", ("a",)),
        OpaqueExpr("None ** None"),
    ]
)
ENUMS = st.sampled_from(["FP32", "Mem.Left", "TileLayout.row_major", "Novel.Member", "a.b.c"]).map(EnumConst)
STRINGS = st.builds(StrConst, st.text(max_size=6), st.sampled_from(["'", '"']))
ARITHMETIC = ["+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>"]
BINARY = st.sampled_from([*ARITHMETIC, "==", "!=", "<", "<=", ">", ">=", "and", "or"])
UNARY = st.sampled_from(["-", "~", "not"])
OPS = st.one_of(
    st.sampled_from(["tile.load", "tile.and", "tile.not", "pld.system.wait", "novel", "tile.while", "tile.swirl_"]),
    WORDS.map(lambda word: f"family.{word}"),
)


# -------------------------------------------------------------------------------------- trees


def scalar_trees(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.one_of(
        st.builds(BinOp, BINARY, inner, inner),
        st.builds(UnaryOp, UNARY, inner),
        st.builds(ScalarFn, st.sampled_from(["min", "max", "abs"]), st.lists(inner, max_size=3).map(tuple)),
        st.builds(Cast, inner, DTYPES),
        st.builds(TupleGet, inner, st.integers(0, 9)),
        st.builds(OpCall, OPS, st.lists(inner, max_size=2).map(tuple)),
    )


SCALAR = st.recursive(st.one_of(SCALARS, NUMBERS, OPAQUE), scalar_trees, max_leaves=12)


def named(values: st.SearchStrategy[Expr], *more: str) -> st.SearchStrategy[tuple[tuple[str, Expr], ...]]:
    """Keywords with values; ``device`` is always printed last."""
    keys = st.one_of(WORDS, st.sampled_from(["deps", "predicate", "core_num", *more]))
    items = st.lists(st.tuples(keys, values), max_size=3, unique_by=lambda item: item[0])
    return items.map(lambda pairs: tuple(sorted(pairs, key=lambda pair: pair[0] == "device")))


def any_trees(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    args = st.lists(inner, max_size=3).map(tuple)
    items = st.lists(st.tuples(st.text(max_size=4), inner), max_size=3).map(tuple)
    return st.one_of(
        args.map(ListExpr),
        items.map(DictExpr),
        st.builds(OpCall, OPS.filter(lambda op: "." in op), args, named(inner, "device"), items),
        st.builds(FuncCall, WORDS, args, named(inner, "device"), items),
        st.builds(Submit, WORDS, args, named(inner, "device"), items, st.booleans()),
    )


ANY = st.recursive(st.one_of(SCALAR, STRINGS, ENUMS, st.just(NoneConst())), any_trees, max_leaves=8)


@settings(max_examples=400, deadline=None)
@given(SCALAR)
def test_a_scalar_expression_reads_back(expr: Expr) -> None:
    assert expression(print_expr(expr)) == expr


@settings(max_examples=300, deadline=None)
@given(ANY)
def test_any_expression_reads_back(expr: Expr) -> None:
    assert expression(print_expr(expr)) == expr


# -------------------------------------------------------------------------------------- types

DIMS = st.one_of(
    st.integers(0, 1 << 40),
    SCALARS,
    st.builds(BinOp, st.sampled_from(["+", "*", "//"]), SCALARS, st.integers(1, 99).map(Const)),
)
ENTRIES = st.one_of(DIMS, st.integers(-64, -1))
SHAPES = st.lists(DIMS, max_size=4).map(tuple)
MAYBE_NAME = st.one_of(st.none(), st.text(min_size=1, max_size=5))


def maybe(values: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.one_of(st.none(), values)


VIEWS = st.builds(
    TileView,
    maybe(SHAPES),
    maybe(st.lists(ENTRIES, max_size=3).map(tuple)),
    maybe(ENTRIES),
    maybe(st.sampled_from(["row_major", "col_major"])),
    maybe(st.sampled_from(["none_box", "row_major", "col_major"])),
    maybe(st.sampled_from([32, 512, 1024])),
    maybe(st.sampled_from(["null", "zero", "min", "max"])),
    maybe(st.sampled_from(["null", "normal"])),
)
TILES = st.one_of(
    st.builds(tile_type, SHAPES, DTYPES, maybe(st.sampled_from(MemorySpace)), maybe(VIEWS)),
    st.builds(tile_type, SHAPES, DTYPES, st.sampled_from(MemorySpace), maybe(VIEWS), MAYBE_NAME),
)
TENSOR_VIEWS = st.builds(
    TensorView,
    maybe(SHAPES),
    st.lists(ENTRIES, max_size=3).map(tuple),
    maybe(st.sampled_from(["ND", "DN", "NZ", "MX_A_ZZ", "MX_B_NN", "LATER"])),
    maybe(st.sampled_from(["zero", "min", "max"])),
)
TENSORS = st.builds(TensorType, SHAPES, DTYPES, maybe(TENSOR_VIEWS), MAYBE_NAME, st.booleans())
OTHER_TYPES = st.sampled_from(["pl.Ptr", "pl.Ptr[pl.FP32]", "None", "int", '"pl.Later"', "list[int]", "int | None"])
TYPES = st.recursive(
    st.one_of(
        TILES, TENSORS, st.builds(ScalarType, DTYPES), st.builds(ArrayType, DIMS, DTYPES), OTHER_TYPES.map(OpaqueType)
    ),
    lambda inner: st.lists(inner, max_size=3).map(tuple).map(TupleType),
    max_leaves=5,
)


@settings(max_examples=400, deadline=None)
@given(TYPES)
def test_a_type_reads_back(type_: Type) -> None:
    assert annotation(print_type(type_)) == type_


# ----------------------------------------------------------------------------------- spellings

A, B = Var("a"), Var("b")


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (BinOp("-", A, BinOp("-", B, A)), "a - (b - a)"),
        (BinOp("-", BinOp("-", A, B), A), "a - b - a"),
        (BinOp("**", BinOp("**", A, B), A), "(a ** b) ** a"),
        (BinOp("**", A, BinOp("**", B, A)), "a ** b ** a"),
        (BinOp("**", A, UnaryOp("-", B)), "a ** -b"),
        (BinOp("**", UnaryOp("-", A), B), "(-a) ** b"),
        (BinOp("**", A, Const(-2)), "a ** -2"),
        (BinOp("**", Const(-2), A), "(-2) ** a"),
        (BinOp("**", Const(-2, "INT32"), A), "pl.const(-2, pl.INT32) ** a"),
        (BinOp("<", BinOp("<", A, B), A), "(a < b) < a"),
        (UnaryOp("not", BinOp("==", A, B)), "not a == b"),
        (BinOp("==", UnaryOp("not", A), B), "(not a) == b"),
        (UnaryOp("-", Const(1)), "-pl.const(1, pl.INDEX)"),
        (Const(-1), "-1"),
        (BinOp("*", Const(0), Const(32)), "pl.const(0, pl.INDEX) * pl.const(32, pl.INDEX)"),
        (BinOp("+", OpaqueExpr("a if p else b"), A), "(a if p else b) + a"),
        (TupleGet(OpaqueExpr("lambda: a"), 0), "(lambda: a)[0]"),
        (BinOp("*", OpaqueExpr("a @ b"), A), "a @ b * a"),
        (BinOp("or", OpaqueExpr("None or a"), A), "(None or a) or a"),
        (BinOp("or", OpaqueExpr("None and a"), A), "None and a or a"),
        (BinOp("*", A, OpaqueExpr("a @ b")), "a * (a @ b)"),
        (OpCall("tile.and", (A, B)), "pl.tile.and_(a, b)"),
        (OpCall("and", (A, B)), "pl.and_(a, b)"),
        (OpCall("pld.tile.or", ()), "pld.tile.or_()"),
        (StrConst("it's"), r"'it\'s'"),
        (StrConst("it's", '"'), '"it\'s"'),
        (StrConst("a\\b\n\t\0"), r"'a\\b\n\t\x00'"),
        (DictExpr((('say "a"', A),)), r'{"say \"a\"": a}'),
        (Submit("f", (A,), (("predicate", ListExpr((A, B))),)), "pl.submit(self.f, a, predicate=(a, b))"),
        (Submit("f", (), (("predicate", ListExpr((A,))),)), "pl.submit(self.f, predicate=(a,))"),
        (Submit("f", (), (("predicate", BinOp("<", A, B)),)), "pl.submit(self.f, predicate=(a < b))"),
        (
            FuncCall("f", (A,), (("device", B), ("late", A)), (("n", B),)),
            'self.f(a, late=a, attrs={"n": b}, device=b)',
        ),
    ],
)
def test_spelling(expr: Expr, text: str) -> None:
    assert print_expr(expr) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (1e-05, "1.0000000000000001e-05"),
        (1e20, "1e+20"),
        (1e16, "10000000000000000.0"),
        (-0.0, "-0.0"),
        (float("inf"), 'float("inf")'),
        (float("-inf"), 'float("-inf")'),
        (math.nan, 'float("nan")'),
    ],
)
def test_spelling_of_floats(value: float, text: str) -> None:
    assert print_expr(Const(value, "FP32")) == text
    assert print_expr(expression(text)) == text


def test_spelling_of_an_empty_tuple_type() -> None:
    assert print_type(TupleType(())) == "pl.Tuple[()]"
