"""What is remembered of a statement is what its expressions say."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from dataclasses import replace

import pytest

import tilesat
from tests.corpus import kernel, kernel_names
from tilesat.ir.memory import called, is_barrier
from tilesat.ir.nodes import Assign, Expr, OpaqueExpr, OpaqueStmt, OpCall, Stmt, Var
from tilesat.ir.printer import print_head, print_stmt
from tilesat.ir.walk import (
    asks_again,
    children,
    has_call,
    has_opaque,
    inner_kinds,
    names_beside,
    own_exprs,
    reads,
    walk,
)
from tilesat.lab.generate import GeneratorConfig, random_program


def statements() -> Iterator[Stmt]:
    programs = [kernel(name, stage) for name in kernel_names() for stage in ("orch_before", "infer_peer")]
    programs += [random_program(seed, GeneratorConfig(max_statements=30)) for seed in range(20)]
    for program in programs:
        for function in program.functions:
            yield from walk(function.body)


def expressions(expr: Expr) -> Iterator[Expr]:
    yield expr
    for child in children(expr):
        yield from expressions(child)


def test_what_a_statement_reads_and_contains() -> None:
    for stmt in statements():
        every = [inner for expr in own_exprs(stmt) for inner in expressions(expr)]
        call = called(stmt)
        beside = [inner for inner in every if inner is not call]
        assert inner_kinds(stmt) == {type(inner) for inner in beside}
        assert has_opaque(stmt) == (isinstance(stmt, OpaqueStmt) or any(isinstance(e, OpaqueExpr) for e in every))
        assert asks_again(stmt) == has_call(*beside)
        own = [name for e in every for name in ([e.name] if isinstance(e, Var) else getattr(e, "names", ()))]
        assert sorted(reads(stmt)) == sorted([*own, *(stmt.names if isinstance(stmt, OpaqueStmt) else ())])
        assert print_stmt(stmt).startswith(print_head(stmt))


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lambda stmt: pickle.loads(pickle.dumps(stmt))])
def test_what_is_remembered_is_no_part_of_the_value(make: object) -> None:
    stmt = next(s for s in statements() if isinstance(s, Assign) and isinstance(s.value, OpCall) and reads(s))
    assert (is_barrier(stmt), print_head(stmt)) == (is_barrier(stmt), print_head(stmt))
    again = make(stmt)  # type: ignore[operator]
    assert again == stmt
    assert hash(again) == hash(stmt)
    assert reads(again) == reads(stmt)
    other = replace(stmt, value=Var("elsewhere"))
    assert reads(other) == ("elsewhere",)
    assert inner_kinds(other) == {Var}
    assert print_head(other).endswith("elsewhere")


NAMES_BESIDE = """
import pypto.language as pl

@pl.program
class Beside:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(
        self, x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
    ) -> pl.Tensor[[64, 64], pl.FP32]:
        a: pl.Tile[[64, 64], pl.FP32] = pl.tile.load(x, [n + n, 0], [64, 64])
        b: pl.Tile[[64, 64], pl.FP32] = a
        for i, (c,) in pl.range(0, n, 1, init_values=(b,)):
            d: pl.Tile[[64, 64], pl.FP32] = pl.tile.add(c, a)
            c_1 = pl.yield_(d)
        out_0 = pl.tile.store(c_1, [n, 0], out)
        return out_0
"""


def test_names_beside_operands() -> None:
    """Neither operands, nor aliases, nor what flows into slots; a return hands on what it names."""
    (function,) = tilesat.parse(NAMES_BESIDE).functions
    assert [names_beside(stmt) for stmt in walk(function.body)] == [("n",), (), (), (), (), ("n",), ("out_0",)]
    assert names_beside(OpaqueStmt(("f(a, b, a)",), ("a", "b", "a"))) == ("a", "b")
    for stmt in statements():
        assert set(names_beside(stmt)) <= set(reads(stmt))
