"""TypesConsistent and AssignTypeSymmetry: what is said about a value is one thing everywhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.ir.verifying import (
    ACC,
    CREATE_ACC,
    CREATE_VEC,
    LOAD_VEC,
    TENSOR,
    VEC,
    kernel,
    messages,
    orchestration,
    program,
    rewritten,
)
from tilesat.diagnostics import Severity
from tilesat.ir.nodes import For, If, Program, Stmt, Var
from tilesat.ir.types import MemorySpace, TileType, TileView, Type, tile_type
from tilesat.ir.verify import verify

LOOP = kernel(f"""
    t: {VEC} = {LOAD_VEC}
    z: {VEC} = {CREATE_VEC}
    for i, (acc,) in pl.range(4, init_values=(z,)):
        s: {VEC} = pl.tile.add(acc, t)
        total: {VEC} = pl.yield_(s)
    r: {TENSOR} = pl.tile.store(total, [0, 0], o)
    return r
""")
BRANCH = kernel(f"""
    t: {VEC} = {LOAD_VEC}
    if n < 4:
        a: {VEC} = pl.tile.exp(t)
        y: {VEC} = pl.yield_(a)
    else:
        b: {VEC} = pl.tile.neg(t)
        y: {VEC} = pl.yield_(b)
    r: {TENSOR} = pl.tile.store(y, [0, 0], o)
    return r
""")
NARROW_VIEW = "pl.TileView(valid_shape=[12, 32])"
NARROW = f"pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, {NARROW_VIEW}]"


def types(subject: Program) -> list[str]:
    return messages(subject, "TypesConsistent")


@pytest.mark.parametrize("text", [LOOP, BRANCH], ids=["loop", "branch"])
def test_clean(text: str) -> None:
    assert types(program(text)) == []


# --------------------------------------------------------------------- what calls give


def test_an_annotation_is_what_the_call_gives() -> None:
    wrong = LOOP.replace(f"s: {VEC}", "s: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec]")
    assert types(program(wrong))[-1] == (
        "the annotation of 's' and what 'tile.add' gives differ: shape [16, 64] against [16, 32]"
    )


def test_dtypes_count() -> None:
    wrong = BRANCH.replace(f"a: {VEC}", f"a: {VEC.replace('FP32', 'FP16')}")
    assert types(program(wrong))[-1] == (
        "the annotation of 'a' and what 'tile.exp' gives differ: dtype FP16 against FP32"
    )


def test_spaces_count_once_they_are_decided() -> None:
    """A fill in the accumulator: ``tile.full`` always fills Vec."""
    full = "pl.tile.full([16, 32], dtype=pl.FP32, value=0.0)"
    assert types(program(kernel(f"z: {VEC} = {full}\nreturn o"))) == []
    assert types(program(kernel(f"z: pl.Tile[[16, 32], pl.FP32] = {full}\nreturn o"))) == []
    assert types(program(kernel(f"z: {ACC} = {full}\nreturn o"))) == [
        "the annotation of 'z' and what 'tile.full' gives differ: memory space Acc against Vec"
    ]


def test_a_kept_valid_shape_is_declared() -> None:
    """INF-P3-01: retargeting a narrow load must not lose its valid shape."""
    load = LOAD_VEC.replace("[16, 32], target", "[12, 32], target")
    assert types(program(kernel(f"t: {NARROW} = {load}\nreturn o"))) == []
    assert types(program(kernel(f"t: {VEC} = {load}\nreturn o"))) == [
        "the annotation of 't' and what 'tile.load' gives differ: valid shape [16, 32] against [12, 32]"
    ]


def test_layouts_do_not_count_here() -> None:
    boxed = VEC.replace("Vec]", "Vec, pl.TileView(blayout=pl.TileLayout.col_major)]")
    subject = program(kernel(f"t: {VEC} = {LOAD_VEC}\ne: {boxed} = pl.tile.exp(t)\nreturn o"))
    assert types(subject) == []
    assert messages(subject, "AssignTypeSymmetry") == [f"'e' is declared {boxed}, its value is {VEC}"]


def test_a_declared_allocation_is_no_disagreement() -> None:
    placed = VEC.replace("pl.FP32, ", 'pl.FP32, pl.MemRef("slot"), ')
    subject = program(kernel(f"t: {placed} = {LOAD_VEC}\nreturn o"))
    assert messages(subject, "AssignTypeSymmetry") == []


def test_operands_that_do_not_fit_are_reported() -> None:
    body = f"t: {VEC} = {LOAD_VEC}\nm: {VEC} = pl.tile.add(t, x)\nreturn o"
    (message,) = types(program(kernel(body)))
    assert message.startswith("'tile.add': ")


def test_a_store_keeps_the_dtype() -> None:
    """The store from the accumulator converts (peer behaviour, section 9)."""
    half = TENSOR.replace("FP32", "FP16")
    params = f"o: pl.Out[{half}]"
    store = f"r: {half} = pl.tile.store(t, [0, 0], o)\nreturn r"
    vec, acc = f"t: {VEC} = {CREATE_VEC}\n{store}", f"t: {ACC} = {CREATE_ACC}\n{store}"
    assert types(program(kernel(acc, params=params, returns=half))) == []
    assert types(program(kernel(vec, params=params, returns=half))) == ["'tile.store' of FP32 into a tensor of FP16"]


def test_an_alias_is_its_source() -> None:
    assert types(program(kernel(f"t: {VEC} = {LOAD_VEC}\nu: {VEC} = t\nreturn o"))) == []
    assert types(program(kernel(f"t: {VEC} = {LOAD_VEC}\nu: {ACC} = t\nreturn o"))) == [
        "'u' and 't' differ: memory space Acc against Vec"
    ]


def test_a_tuple_element_is_what_the_tuple_says() -> None:
    pair = f"p: pl.Tuple[{TENSOR}, pl.Scalar[pl.TASK_ID]] = pl.submit(self.f, x, n, o)"
    main = orchestration(f"{pair}\ny: {TENSOR} = p[1]\nreturn y")
    assert types(program(LOOP, main)) == [f"'y' and 'p[1]' differ: {TENSOR} against pl.Scalar[pl.TASK_ID]"]


# -------------------------------------------------------------------- loops and branches


def with_type(subject: Program, name: str, type_: Type) -> Program:
    """``subject`` with the iter-arg or result ``name`` declared to be of ``type_``."""

    def change(stmt: Stmt) -> Stmt:
        if isinstance(stmt, For):
            carries = tuple(replace(c, type=type_) if c.name == name else c for c in stmt.carries)
            stmt = replace(stmt, carries=carries)
        if isinstance(stmt, (For, If)):
            results = tuple(replace(r, type=type_) if r.name == name else r for r in stmt.results)
            stmt = replace(stmt, results=results)
        return stmt

    return rewritten(subject, change)


HALF = TileType((16, 32), "FP16", MemorySpace.Vec)
VALID_12 = tile_type((16, 32), "FP32", MemorySpace.Vec, TileView(valid_shape=(12, 32)))
VALID_N = tile_type((16, 32), "FP32", MemorySpace.Vec, TileView(valid_shape=(Var("n"), 32)))


def test_init_iter_arg_yield_and_result_agree() -> None:
    assert types(with_type(program(LOOP), "acc", HALF))[:3] == [
        "iter-arg 'acc' and its init 'z' differ: dtype FP16 against FP32",
        "iter-arg 'acc' and the yielded 's' differ: dtype FP16 against FP32",
        "iter-arg 'acc' and the result 'total' differ: dtype FP16 against FP32",
    ]
    assert types(with_type(program(LOOP), "total", VALID_12)) == [
        "iter-arg 'acc' and the result 'total' differ: valid shape [16, 32] against [12, 32]"
    ]


def test_both_branches_give_what_the_result_says() -> None:
    assert types(with_type(program(BRANCH), "y", HALF))[:2] == [
        "result 'y' and 'a' of the then branch differ: dtype FP16 against FP32",
        "result 'y' and 'b' of the else branch differ: dtype FP16 against FP32",
    ]


def test_symbolic_extents_that_may_agree_are_a_warning() -> None:
    """Whether ``n`` is 16 shows only at run time."""
    found = verify(with_type(program(LOOP), "total", VALID_N), properties=["TypesConsistent"])
    assert [(f.severity, f.message) for f in found] == [
        (
            Severity.WARNING,
            "iter-arg 'acc' and the result 'total' differ: valid shape [16, 32] against [n, 32]",
        )
    ]


# ------------------------------------------------------------------- calls of functions


def test_a_callee_is_part_of_the_program() -> None:
    main = orchestration(f"y: {TENSOR} = self.g(x, n, o)\nreturn y")
    assert types(program(LOOP, main)) == ["calls 'g', which the program does not define"]


def test_a_call_passes_every_argument() -> None:
    main = orchestration(f"y: {TENSOR} = self.f(x, n)\nreturn y")
    assert types(program(LOOP, main)) == ["'f' has 3 parameters, but gets 2 arguments"]


def test_a_submit_may_leave_out_trailing_arguments() -> None:
    """The runtime allocates them (peer behaviour, section 2.4)."""
    pair = f"pl.Tuple[{TENSOR}, pl.Scalar[pl.TASK_ID]]"
    less = orchestration(f"p: {pair} = pl.submit(self.f, x, n)\ny: {TENSOR} = p[0]\nreturn y")
    more = less.replace("x, n)", "x, n, o, o)")
    assert types(program(LOOP, less)) == []
    assert types(program(LOOP, more)) == ["'f' has 3 parameters, but gets 4 arguments"]


def test_arguments_fit_the_parameters() -> None:
    wide = "pl.Tensor[[16, 64], pl.FP32]"
    params = f"x: {wide}, n: pl.Scalar[pl.INDEX], o: pl.Out[{TENSOR}]"
    main = orchestration(f"y: {TENSOR} = self.f(x, n, o)\nreturn y", params=params)
    assert types(program(LOOP, main)) == ["parameter 'x' of 'f' and 'x' differ: shape [16, 32] against [16, 64]"]


def test_a_call_gives_what_the_callee_declares() -> None:
    main = orchestration("y: pl.Tensor[[16, 32], pl.FP16] = self.f(x, n, o)\nreturn o")
    assert types(program(LOOP, main)) == ["the annotation of 'y' and what 'f' gives differ: dtype FP16 against FP32"]


def test_a_function_returns_what_it_declares() -> None:
    subject = program(kernel("return n"))
    assert types(subject) == [f"declared result 0 and the returned 'n' differ: {TENSOR} against pl.Scalar[pl.INDEX]"]
