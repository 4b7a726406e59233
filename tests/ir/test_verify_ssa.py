"""SSAForm: names are bound once and visible where they are used; yields and returns fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.ir.verifying import (
    CREATE_VEC,
    DATA,
    LOAD_VEC,
    TENSOR,
    VEC,
    kernel,
    messages,
    orchestration,
    program,
    rewritten,
    with_names,
)
from tilesat.ir.nodes import Assign, For, If, Program, Return, Stmt, Var, Yield
from tilesat.ir.parser import parse_text
from tilesat.ir.types import TileType, TileView, tile_type

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


def ssa(subject: Program) -> list[str]:
    return messages(subject, "SSAForm")


@pytest.mark.parametrize("text", [LOOP, BRANCH], ids=["loop", "branch"])
def test_clean(text: str) -> None:
    assert ssa(program(text)) == []


# ------------------------------------------------------------------------------- definitions


def test_a_name_is_bound_once() -> None:
    assert ssa(with_names(program(LOOP), {"s": "t"})) == ["'t' is bound more than once"]


def test_parameters_indices_iter_args_and_results_are_bindings_too() -> None:
    assert ssa(with_names(program(LOOP), {"t": "x"}))[0] == "'x' is bound more than once"
    assert ssa(with_names(program(LOOP), {"i": "n"})) == ["'n' is bound more than once"]
    assert ssa(with_names(program(LOOP), {"acc": "t"})) == ["'t' is bound more than once"]
    assert ssa(with_names(program(LOOP), {"total": "t"})) == ["'t' is bound more than once"]


def test_sibling_branches_do_not_share_names() -> None:
    assert ssa(with_names(program(BRANCH), {"b": "a"})) == ["'a' is bound more than once"]


def test_functions_have_names_of_their_own() -> None:
    subject = program(LOOP)
    twice = replace(subject, functions=(*subject.functions, replace(subject.functions[0])))
    assert ssa(twice)[0] == "function 'f' is defined more than once"


# --------------------------------------------------------------------------------------- uses


def using(text: str, name: str) -> Program:
    """The program of ``text``, its store made to read ``name``."""
    return with_names(
        program(text.replace("store(total", "store(q__FREE_VAR").replace("store(y", "store(q__FREE_VAR")),
        {"q__FREE_VAR": name},
    )


def test_what_a_loop_body_binds_ends_with_it() -> None:
    assert ssa(using(LOOP, "s")) == ["'s' is used outside the block that binds it"]
    assert ssa(using(LOOP, "acc")) == ["'acc' is used outside the block that binds it"]
    assert ssa(using(LOOP, "i")) == ["'i' is used outside the block that binds it"]


def test_what_a_branch_binds_ends_with_it() -> None:
    assert ssa(using(BRANCH, "a")) == ["'a' is used outside the block that binds it"]


def test_a_use_comes_after_its_definition() -> None:
    assert ssa(using(LOOP, "r")) == ["'r' is used before it is bound"]


def test_a_use_has_a_definition() -> None:
    assert ssa(using(LOOP, "nowhere")) == ["'nowhere' is used, but nothing defines it"]


@pytest.mark.parametrize(("case", "name"), [("O17", "buf__ssa_v0"), ("O36", "af_1")])
def test_the_printer_mark_of_a_lost_definition_is_reported(case: str, name: str) -> None:
    text = (DATA / "cases" / case / "peer_after.py").read_text()
    assert ssa(parse_text(text)) == [f"'{name}' is used, but nothing defines it"]


def test_types_use_names_too() -> None:
    """A valid extent that only the loop body knows."""

    def narrow(stmt: Stmt) -> Stmt:
        if isinstance(stmt, Assign) and stmt.name == "t" and isinstance(stmt.type, TileType):
            view = TileView(valid_shape=(Var("i"), 32))
            return replace(stmt, type=tile_type(stmt.type.shape, "FP32", stmt.type.space, view))
        return stmt

    assert ssa(rewritten(program(LOOP), narrow)) == ["'i' is used in a type, but nothing defines it"]


def test_symbolic_dimensions_are_visible_everywhere() -> None:
    text = "import pypto.language as pl\n\nNB = pl.dynamic('NB')\n\n@pl.program\nclass P:\n"
    function = """
    @pl.function(type=pl.FunctionType.InCore)
    def f(x: pl.Tensor[[NB, 32], pl.FP32]) -> pl.Scalar[pl.INDEX]:
        k: pl.Scalar[pl.INDEX] = NB // 2
        return k
    """
    assert ssa(parse_text(text + function)) == []


def test_a_runtime_scope_hides_nothing() -> None:
    main = orchestration(f"""
        with pl.scope(mode=pl.ScopeMode.MANUAL):
            y: {TENSOR} = self.f(x, n, o)
        return y
    """)
    assert ssa(program(LOOP, main)) == []


# -------------------------------------------------------------------------- yields and returns


def dropped(kind: type[Stmt], subject: Program) -> Program:
    return rewritten(subject, lambda stmt: None if isinstance(stmt, kind) else stmt)


def test_a_body_with_results_ends_with_a_yield() -> None:
    assert ssa(dropped(Yield, program(LOOP))) == ["the loop body does not end with a yield of 1 value"]
    assert ssa(dropped(Yield, program(BRANCH))) == [
        "the then branch does not end with a yield of 1 value",
        "the else branch does not end with a yield of 1 value",
    ]


def test_counts_of_iter_args_yields_and_results_agree() -> None:
    def more(stmt: Stmt) -> Stmt:
        return Yield((*stmt.values, *stmt.values)) if isinstance(stmt, Yield) else stmt

    def fewer(stmt: Stmt) -> Stmt:
        return replace(stmt, results=()) if isinstance(stmt, For) else stmt

    assert ssa(rewritten(program(LOOP), more)) == ["the loop body yields 2 values for 1 result"]
    assert ssa(rewritten(program(LOOP), fewer))[0] == "the loop has 1 iter-arg, but 0 results"


def test_an_if_with_results_has_both_branches() -> None:
    def one_armed(stmt: Stmt) -> Stmt:
        return replace(stmt, orelse=None) if isinstance(stmt, If) else stmt

    assert ssa(rewritten(program(BRANCH), one_armed)) == ["the if has 1 result, but no else branch"]


def test_a_yield_stands_nowhere_else() -> None:
    def forget(stmt: Stmt) -> Stmt:
        return replace(stmt, carries=(), results=()) if isinstance(stmt, For) else stmt

    assert "a yield that does not end a loop body or branch with results" in ssa(rewritten(program(LOOP), forget))


def test_a_return_ends_the_function() -> None:
    def early(stmt: Stmt) -> Stmt:
        return Return((Var("o"),)) if isinstance(stmt, Assign) and stmt.name == "t" else stmt

    assert "a return that does not end the function body" in ssa(rewritten(program(BRANCH), early))


def test_returned_and_declared_counts_agree() -> None:
    def void(stmt: Stmt) -> Stmt:
        return Return(()) if isinstance(stmt, Return) else stmt

    assert ssa(rewritten(program(LOOP), void)) == ["returns 0 values, but declares 1"]
    assert ssa(dropped(Return, program(LOOP))) == ["declares 1 result, but does not end with a return"]


def test_a_void_function_needs_no_return() -> None:
    assert ssa(program(kernel("pl.system.bar_all()", returns=""))) == []
