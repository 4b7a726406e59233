"""Structural equality: one program up to the names of bound variables."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.effort import effort
from tilesat.ir.equal import StructuralDifference, first_difference, structural_equal
from tilesat.ir.nodes import (
    Assign,
    BinOp,
    Comment,
    Const,
    EvalStmt,
    Expr,
    For,
    Function,
    OpaqueExpr,
    OpCall,
    Param,
    Program,
    Return,
    Stmt,
    Var,
)
from tilesat.ir.parser import parse_text
from tilesat.ir.types import ScalarType
from tilesat.ir.walk import bindings, walk

DATA = Path(__file__).parent.parent / "data"
TENSOR = "pl.Tensor[[16, 32], pl.FP32]"
VEC = "pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec]"
ATTRS = 'attrs={"a": 1, "b": 2}'
TEXT = f"""\
# pypto.program: Sample
import pypto.language as pl

NB = pl.dynamic("NB")

@pl.program
class Sample:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def f(x: {TENSOR}, n: pl.Scalar[pl.INDEX], o: pl.Out[{TENSOR}]) -> {TENSOR}:
        pl.func_attr({{"windowize": True, "slot_num": 2}})
        t: {VEC} = pl.tile.load(x, [0, n], [16, 32], [16, 32], target_memory=pl.Mem.Vec, {ATTRS})
        z: {VEC} = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        for k, (acc,) in pl.range(4, init_values=(z,)):
            s: {VEC} = pl.tile.add(acc, t)
            total: {VEC} = pl.yield_(s)
        if n < 4:
            a: {VEC} = pl.tile.exp(total)
            y: {VEC} = pl.yield_(a)
        else:
            b: {VEC} = pl.tile.neg(total)
            y: {VEC} = pl.yield_(b)
        r: {TENSOR} = pl.tile.store(y, [0, 0], o)
        return r
    @pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)
    def main(self, x: {TENSOR}, big: pl.Tensor[[NB, 32], pl.FP32], o: pl.Out[{TENSOR}]) -> {TENSOR}:
        with pl.scope():
            q: {TENSOR} = self.f(x, 3, o)
        return q
"""
SAMPLE = parse_text(TEXT)


def changed(old: str, new: str) -> Program:
    """The sample with one piece of its text replaced."""
    assert TEXT.count(old) == 1
    return parse_text(TEXT.replace(old, new))


def difference(old: str, new: str) -> str:
    found = first_difference(SAMPLE, changed(old, new))
    assert found is not None
    return f"{found.path}: {found.left} | {found.right}"


# --------------------------------------------------------------------------- what does not count


def renamed(text: str) -> str:
    """``text`` with another name for everything that it binds."""
    subject = parse_text(text)
    names = {param.name for function in subject.functions for param in function.params}
    for function in subject.functions:
        names |= {name for stmt in walk(function.body) for name, _ in bindings(stmt)}
    names -= set(subject.dynamic_dims)
    for function in subject.functions:
        names.discard(function.name)
    return re.sub(r"(?<![\w.'\"])[A-Za-z_]\w*(?![\w'\"=])", lambda m: f"w_{m[0]}" if m[0] in names else m[0], text)


def test_names_of_bound_variables() -> None:
    other = parse_text(renamed(TEXT))
    assert str(other) != str(SAMPLE)
    assert structural_equal(SAMPLE, other)
    assert structural_equal(other, SAMPLE)


@pytest.mark.parametrize("path", sorted(DATA.glob("kernels/*/infer_peer.py")), ids=lambda path: path.parent.name)
def test_names_of_bound_variables_in_kernels(path: Path) -> None:
    """Names occur in types, attributes and offsets too."""
    text = path.read_text()
    assert first_difference(parse_text(text), parse_text(renamed(text))) is None


@settings(max_examples=50, deadline=None)
@given(st.permutations(["t", "z", "k", "acc", "s", "total", "a", "y", "b", "r"]))
def test_any_renaming(names: list[str]) -> None:
    """Whatever the names are, as long as they differ from each other."""
    new = dict(zip(["t", "z", "k", "acc", "s", "total", "a", "y", "b", "r"], names, strict=True))
    text = re.sub(r"\b(t|z|k|acc|s|total|a|y|b|r)\b(?![\"'])", lambda m: new[m[0]], TEXT)
    assert structural_equal(SAMPLE, parse_text(text))


def test_comments_and_the_program_name() -> None:
    commented = parse_text(TEXT.replace("        r: pl", "        # put it away\n        r: pl"))
    assert any(isinstance(stmt, Comment) for stmt in walk(commented.functions[0].body))
    assert structural_equal(SAMPLE, commented)
    assert structural_equal(SAMPLE, replace(SAMPLE, name="Other"))


def test_order_of_functions_keywords_and_attributes() -> None:
    assert structural_equal(SAMPLE, replace(SAMPLE, functions=SAMPLE.functions[::-1]))
    assert structural_equal(
        SAMPLE,
        changed("dtype=pl.FP32, target_memory=pl.Mem.Vec", "target_memory=pl.Mem.Vec, dtype=pl.FP32"),
    )
    assert structural_equal(SAMPLE, changed('"a": 1, "b": 2', '"b": 2, "a": 1'))
    assert structural_equal(SAMPLE, changed('"windowize": True, "slot_num": 2', '"slot_num": 2, "windowize": True'))


# -------------------------------------------------------------------------------- what counts


def test_a_changed_operand_is_found() -> None:
    assert difference("pl.tile.add(acc, t)", "pl.tile.add(acc, acc)") == (
        "function 'f' / statement 3 / for k / statement 1 / argument 2: t | acc"
    )


def test_swapped_variables_are_not_equal() -> None:
    """The names fit any one use, but not all uses at once."""
    swapped = changed("pl.tile.add(acc, t)", "pl.tile.add(t, acc)")
    assert not structural_equal(SAMPLE, swapped)


def test_two_variables_do_not_become_one() -> None:
    twice = "for k, (acc,) in pl.range(4, init_values=(t,)):"
    found = first_difference(SAMPLE, changed("for k, (acc,) in pl.range(4, init_values=(z,)):", twice))
    assert found == StructuralDifference("function 'f' / statement 3 / for k / init 1", "z", "t")


def test_the_place_inside_a_branch() -> None:
    assert difference("pl.tile.neg(total)", "pl.tile.neg(z)") == (
        "function 'f' / statement 4 / if / else / statement 1 / argument 1: total | z"
    )


def test_the_place_inside_a_list() -> None:
    assert difference("[0, n]", "[0, n + 1]") == "function 'f' / statement 1 / argument 2 / item 2: n | n + 1"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "tile.exp",
            "tile.log",
            "statement 4 / if / then / statement 1: pl.tile.exp(total) | pl.tile.log(total)",
        ),
        ("n < 4", "n < 5", "statement 4 / if / condition / right operand: 4 | 5"),
        ("range(4,", "range(2, 4,", "statement 3 / for k / start: 0 | 2"),
        ("pl.range", "pl.parallel", "statement 3 / for k / kind: range | parallel"),
        ('"a": 1', '"a": 7', "statement 1 / attribute 'a': 1 | 7"),
        (", " + ATTRS, "", "statement 1 / attribute 'a': 1 | <nothing>"),
        ('"slot_num": 2', '"slot_num": 3', "attribute 'slot_num': 2 | 3"),
        ("CHIP_DIE", "CHIP", "level: CHIP_DIE | CHIP"),
        ("FunctionType.InCore", "FunctionType.AIV", "kind: InCore | AIV"),
    ],
)
def test_every_part_counts(old: str, new: str, expected: str) -> None:
    assert difference(old, new) == f"function 'f' / {expected}"


def test_scopes_and_calls_count() -> None:
    inside = "function 'main' / statement 1 / scope"
    assert difference("x, 3, o", "x, 4, o") == f"{inside} / statement 1 / argument 2: 3 | 4"
    assert difference("scope()", "scope(mode=pl.ScopeMode.MANUAL)") == (
        f"{inside} / keyword 'mode': <nothing> | pl.ScopeMode.MANUAL"
    )


def test_types_count_unless_told_otherwise() -> None:
    new = VEC.replace("Vec]", "Vec, pl.TileView(blayout=pl.TileLayout.col_major)]")
    other = changed(f"s: {VEC}", f"s: {new}")
    found = first_difference(SAMPLE, other)
    assert found == StructuralDifference("function 'f' / statement 3 / for k / statement 1 / type", VEC, new)
    assert structural_equal(SAMPLE, other, compare_types=False)


def test_variables_in_types_follow_the_renaming() -> None:
    narrow = "pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[{}, 32])]"
    head = TEXT.replace(f"a: {VEC}", f"a: {narrow.format('n')}")
    same, other = (
        head.replace("n:", "m:").replace("n]", "m]").replace("n <", "m <"),
        head.replace("[n, 32]", "[k2, 32]"),
    )
    same = same.replace("[n, 32]", "[m, 32]")
    other = other.replace("        if n <", "        k2: pl.Scalar[pl.INDEX] = n\n        if n <")
    assert structural_equal(parse_text(head), parse_text(same))
    assert not structural_equal(parse_text(head), parse_text(other))


def test_directions_of_parameters_count() -> None:
    found = first_difference(SAMPLE, parse_text(TEXT.replace("o: pl.Out[", "o: pl.InOut[")))
    assert found == StructuralDifference("function 'f' / parameter 'o' / direction", "Out", "InOut")


def test_functions_are_matched_by_name() -> None:
    less = replace(SAMPLE, functions=SAMPLE.functions[1:])
    assert str(first_difference(SAMPLE, less)) == "function 'f':\n  left:  def f\n  right: <nothing>"
    assert str(first_difference(less, SAMPLE)) == "function 'f':\n  left:  <nothing>\n  right: def f"


def test_symbolic_dimensions_keep_their_names() -> None:
    other = parse_text(TEXT.replace("NB", "NC"))
    found = first_difference(SAMPLE, other)
    assert found is not None
    assert found.path == "symbolic dimensions"


def test_a_missing_statement() -> None:
    line = f"        r: {TENSOR} = pl.tile.store(y, [0, 0], o)\n        return r\n"
    less = changed(line, "        return o\n")
    found = first_difference(SAMPLE, less)
    assert found == StructuralDifference(
        "function 'f' / statement 5", f"r: {TENSOR} = pl.tile.store(y, [0, 0], o)", "return o"
    )
    shorter = replace(SAMPLE.functions[0], body=SAMPLE.functions[0].body[:-1])
    assert first_difference(SAMPLE.functions[0], shorter) == StructuralDifference(
        "function 'f' / statement 6", "return r", "<nothing>"
    )


def test_an_if_with_and_without_else() -> None:
    text = TEXT.replace("        return r\n", "        if n < 2:\n            pl.system.bar_all()\n        return r\n")
    with_else = text.replace("bar_all()\n", "bar_all()\n        else:\n            pl.system.bar_v()\n")
    found = first_difference(parse_text(text), parse_text(with_else))
    assert found == StructuralDifference("function 'f' / statement 6 / if / else", "<nothing>", "else")


# ------------------------------------------------------------------------------- odd programs


def function(*body: Stmt) -> Function:
    return Function("f", (), (), tuple(body))


def scalar(name: str, value: Expr) -> Assign:
    return Assign(name, ScalarType("FP32"), value)


def test_constants_are_compared_as_printed() -> None:
    def with_value(value: float, dtype: str = "FP32") -> Function:
        return function(scalar("x", Const(value, dtype)))

    assert structural_equal(with_value(float("nan")), with_value(float("nan")))
    assert not structural_equal(with_value(0.0), with_value(-0.0))
    assert not structural_equal(with_value(1, "INDEX"), with_value(1, "INT32"))
    assert not structural_equal(with_value(1, "BOOL"), with_value(True, "BOOL"))


def test_text_that_is_not_modelled_keeps_its_names() -> None:
    def opaque(name: str) -> Function:
        return function(scalar(name, Const(1.0)), EvalStmt(OpaqueExpr(f"magic({name})", (name,))))

    def shadow() -> Function:
        return function(scalar("b", Const(1.0)), EvalStmt(OpaqueExpr("magic(a)", ("a",))))

    assert structural_equal(opaque("a"), opaque("a"))
    assert not structural_equal(opaque("a"), opaque("b"))
    assert not structural_equal(opaque("a"), shadow())


def test_a_program_and_a_function_cannot_be_compared() -> None:
    with pytest.raises(TypeError, match="cannot compare Program with Function"):
        structural_equal(SAMPLE, SAMPLE.functions[0])


def test_depth_is_no_limit() -> None:
    """Loops nested 1,500 deep, sums of 5,000 terms: no recursion."""
    total: Expr = Var("n")
    for _ in range(5000):
        total = BinOp("+", total, Const(1))
    body: tuple[Stmt, ...] = (EvalStmt(OpCall("system.bar_all", ())), scalar("x", total))
    for depth in range(1500):
        body = (For("range", f"i{depth}", Const(0), Const(2), Const(1), (), body, ()),)
    assert structural_equal(function(*body, Return(())), function(*body, Return(())))


def test_time_grows_with_the_program_only() -> None:
    """Four times the statements are four times the work."""

    def chain(name: str, length: int) -> Function:
        calls = (OpCall("tile.exp", (Var(f"{name}{i}"),)) for i in range(length))
        body = tuple(scalar(f"{name}{i + 1}", call) for i, call in enumerate(calls))
        return Function("f", (Param(f"{name}0", ScalarType("FP32")),), (), body)

    short, long = ([chain(name, length) for name in "ab"] for length in (1000, 4000))
    assert structural_equal(*short)
    assert structural_equal(*long)
    assert effort(lambda: structural_equal(*long)) < 4.2 * effort(lambda: structural_equal(*short))
