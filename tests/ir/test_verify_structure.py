"""NormalizedStmtStructure, SplitIncoreOrch, IncoreTileOps: what may stand where."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.ir.verifying import (
    LOAD_VEC,
    TENSOR,
    VEC,
    kernel,
    messages,
    orchestration,
    program,
    rewritten,
)
from tilesat.ir.nodes import Assign, EvalStmt, OpCall, Program, Stmt, Var

KERNEL = kernel(f"""
    t: {VEC} = {LOAD_VEC}
    e: {VEC} = pl.tile.exp(t)
    r: {TENSOR} = pl.tile.store(e, [0, 0], o)
    return r
""")
MAIN = orchestration(f"""
    y: {TENSOR} = self.f(x, n, o)
    return y
""")


@pytest.mark.parametrize("check", ["NormalizedStmtStructure", "SplitIncoreOrch", "IncoreTileOps"])
def test_clean(check: str) -> None:
    assert messages(program(KERNEL, MAIN), check) == []


# ---------------------------------------------------------------------- NormalizedStmtStructure


def test_a_call_is_the_whole_value_of_a_statement() -> None:
    nested = KERNEL.replace("pl.tile.exp(t)", "pl.tile.exp(pl.tile.neg(t))")
    assert messages(program(nested), "NormalizedStmtStructure") == [
        "the call of 'tile.neg' stands inside another expression"
    ]


def test_a_function_call_is_never_nested() -> None:
    nested = orchestration(f"y: {TENSOR} = self.f(self.f(x, n, o), n, o)\nreturn y")
    assert messages(program(KERNEL, nested), "NormalizedStmtStructure") == [
        "the call of function 'f' stands inside another expression"
    ]


def test_returned_yielded_and_initial_values_are_no_calls() -> None:
    direct = kernel(f"t: {VEC} = {LOAD_VEC}\nreturn pl.tile.store(t, [0, 0], o)")
    assert messages(program(direct), "NormalizedStmtStructure") == [
        "the call of 'tile.store' stands inside another expression"
    ]


def test_scalar_arithmetic_and_reads_without_effect_may_be_nested() -> None:
    offset = kernel(f"""
        t: {VEC} = {LOAD_VEC.replace("[0, 0]", "[pl.min(n * 2, pl.tensor.dim(x, 0) - 16), 0]")}
        k: pl.Scalar[pl.INDEX] = pl.cast(n, pl.INDEX) + pl.tile.get_block_idx()
        r: {TENSOR} = pl.tile.store(t, [k, 0], o)
        return r
    """)
    assert messages(program(offset), "NormalizedStmtStructure") == []


# ------------------------------------------------------------------------------ SplitIncoreOrch


def test_a_kernel_opens_no_runtime_scope_and_submits_nothing() -> None:
    body = f"""
        with pl.scope(mode=pl.ScopeMode.MANUAL):
            s: pl.Tuple[{TENSOR}, pl.Scalar[pl.TASK_ID]] = pl.submit(self.f, x, n, o)
            y: {TENSOR} = s[0]
        return y
    """
    assert messages(program(KERNEL, orchestration(body)), "SplitIncoreOrch") == []
    assert messages(program(KERNEL, kernel(body, name="g")), "SplitIncoreOrch") == [
        "InCore function 'g' opens a runtime scope",
        "InCore function 'g' submits 'f'",
    ]


def test_a_kernel_may_call_another_kernel() -> None:
    caller = kernel(f"y: {TENSOR} = self.f(x, n, o)\nreturn y", name="g")
    assert messages(program(KERNEL, caller), "SplitIncoreOrch") == []


def test_orchestration_holds_no_tiles() -> None:
    main = orchestration(f"t: {VEC} = {LOAD_VEC}\nreturn o")
    assert messages(program(main), "SplitIncoreOrch") == ["Orchestration function 'main' binds the tile 't'"]


# -------------------------------------------------------------------------------- IncoreTileOps


def test_a_kernel_takes_no_tile() -> None:
    """INF-S-02: the message names function and parameter."""
    refused = kernel("return o", params=f"p: {VEC}, o: pl.Out[{TENSOR}]")
    assert messages(program(refused), "IncoreTileOps") == [
        "InCore function 'f': parameter 'p' has a tile type, but kernels take tensors and scalars"
    ]


def test_other_functions_may_take_tiles() -> None:
    vector = kernel("return o", params=f"p: {VEC}, o: pl.Out[{TENSOR}]").replace("InCore", "AIV")
    assert messages(program(vector), "IncoreTileOps") == []


def with_op(op: str) -> Program:
    def change(stmt: Stmt) -> Stmt:
        call = OpCall(op, (Var("x"),))
        return replace(stmt, value=call) if isinstance(stmt, (Assign, EvalStmt)) and stmt.value == EXP else stmt

    return rewritten(program(KERNEL), change)


EXP = OpCall("tile.exp", (Var("t"),))


def test_a_kernel_computes_on_tiles() -> None:
    assert messages(with_op("tensor.exp"), "IncoreTileOps") == [
        "InCore function 'f' computes on tensors with 'tensor.exp'; kernels use 'tile.exp'"
    ]


@pytest.mark.parametrize("op", ["tensor.read", "tensor.write", "tensor.dim", "tensor.slice", "tensor.view"])
def test_a_kernel_may_access_and_view_tensors(op: str) -> None:
    assert messages(with_op(op), "IncoreTileOps") == []
