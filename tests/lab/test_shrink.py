"""Counterexamples get small, with hypothesis and without."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import Phase, find, settings

import tilesat
from tilesat.errors import TilesatError
from tilesat.ir.nodes import Assign, EvalStmt, For, OpCall, Program, Return, Stmt, Var, Yield
from tilesat.ir.verify import INPUT_PROPERTIES, require
from tilesat.ir.walk import reads, walk
from tilesat.lab.dropper import without_slot
from tilesat.lab.generate import GeneratorConfig, RandomChoices, generate_program, random_program
from tilesat.lab.reduce import reduced
from tilesat.lab.shrink import ReplayedChoices, simplest
from tilesat.lab.strategies import programs

FEW = 8
# Explaining why an example fails takes hypothesis many more runs, and has nothing to do with its size.
SETTINGS = settings(max_examples=2000, phases=(Phase.generate, Phase.shrink))
SMALL = programs(max_statements=12)


def statements(program: Program) -> list[Stmt]:
    return [stmt for function in program.functions for stmt in walk(function.body)]


def writes_after_use(program: Program) -> bool:
    """Whether a tile is read, then overwritten in place, then read again."""
    for function in program.functions:
        read: set[str] = set()
        overwritten: set[str] = set()
        for stmt in walk(function.body):
            if not overwritten.isdisjoint(reads(stmt)):
                return True
            call = stmt.value if isinstance(stmt, EvalStmt) else None
            if isinstance(call, OpCall) and call.op == "tile.write" and isinstance(call.args[0], Var):
                overwritten |= read & {call.args[0].name}
            else:
                read.update(reads(stmt))
    return False


def multiplies_in_a_loop(program: Program) -> bool:
    return any(
        isinstance(inner, Assign) and isinstance(inner.value, OpCall) and inner.value.op == "tile.matmul_acc"
        for stmt in statements(program)
        if isinstance(stmt, For)
        for inner in walk(stmt.body)
    )


def test_hypothesis_finds_a_write_after_a_use_in_a_handful_of_statements() -> None:
    program = find(SMALL, writes_after_use, settings=SETTINGS)
    assert len(program.functions) == 1
    assert len(statements(program)) <= FEW, str(program)


def test_hypothesis_finds_a_product_in_a_loop_in_a_handful_of_statements() -> None:
    program = find(SMALL, multiplies_in_a_loop, settings=SETTINGS)
    assert len(statements(program)) <= FEW, str(program)


@pytest.mark.parametrize("condition", [writes_after_use, multiplies_in_a_loop])
def test_a_random_program_is_simplified_without_hypothesis(condition: object) -> None:
    assert callable(condition)
    seed = next(seed for seed in range(1000) if condition(random_program(seed)))
    found = simplest(seed, condition)
    assert condition(found.program)
    assert len(statements(found.program)) <= FEW, str(found.program)
    assert found.program == generate_program(ReplayedChoices(found.decisions)), "the decisions make the program"


def test_a_seed_without_the_condition_is_refused() -> None:
    with pytest.raises(TilesatError, match="seed 3 does not satisfy"):
        simplest(3, lambda program: False)


def test_the_simplest_decisions_make_an_empty_kernel() -> None:
    program = generate_program(ReplayedChoices(()))
    assert [function.body for function in program.functions] == [()]


def test_replaying_what_a_random_source_decided_makes_the_same_program() -> None:
    config = GeneratorConfig(functions=2)
    recorded = ReplayedChoices((), RandomChoices(11))
    program = generate_program(recorded, config)
    assert program == random_program(11, config)
    assert program == generate_program(ReplayedChoices(recorded.taken), config)


def test_a_return_needs_a_store() -> None:
    """Kernels without stores return nothing: there is no tensor to name."""
    for seed in range(20):
        for function in random_program(seed, GeneratorConfig().without("orchestration")).functions:
            stores = any(
                isinstance(s, (Assign, EvalStmt)) and "tile.store" in repr(s.value) for s in walk(function.body)
            )
            assert stores or not any(isinstance(stmt, Return) for stmt in function.body)


PAIRS = """# pypto.program: Pairs
import pypto.language as pl

@pl.program
class Pairs:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(x: pl.Tensor[[8, 16], pl.FP32], y: pl.Tensor[[8, 16], pl.FP32], o: pl.Out[pl.Tensor[[8, 16], pl.FP32]], p: pl.Out[pl.Tensor[[8, 16], pl.FP32]]) -> tuple[pl.Tensor[[8, 16], pl.FP32], pl.Tensor[[8, 16], pl.FP32]]:
        a: pl.Tile[[8, 16], pl.FP32] = pl.tile.load(x, [0, 0], [8, 16])
        b: pl.Tile[[8, 16], pl.FP32] = pl.tile.load(y, [0, 0], [8, 16])
        m: pl.Tile[[8, 16], pl.FP32] = pl.tile.add(a, b)
        for i, (c, d) in pl.range(4, init_values=(m, a)):
            e: pl.Tile[[8, 16], pl.FP32] = pl.tile.exp(c)
            f: pl.Tile[[8, 16], pl.FP32] = pl.tile.neg(d)
            u, v = pl.yield_(e, f)
        r: pl.Tensor[[8, 16], pl.FP32] = pl.tile.store(u, [0, 0], o)
        q: pl.Tensor[[8, 16], pl.FP32] = pl.tile.store(v, [0, 0], p)
        return r, q
"""  # noqa: E501


def ops(program: Program) -> list[str]:
    return [s.value.op for s in statements(program) if isinstance(s, Assign) and isinstance(s.value, OpCall)]


@pytest.mark.parametrize(
    ("wanted", "left"),
    [
        # The other slot, what is only computed for it, and the result that it gives are left out.
        ("tile.exp", ["tile.load", "tile.exp"]),
        # One load stands for both operands.
        ("tile.add", ["tile.load", "tile.add"]),
        ("tile.store", ["tile.load", "tile.store"]),
    ],
)
def test_what_a_condition_does_not_need_is_left_out(wanted: str, left: list[str]) -> None:
    found = reduced(tilesat.parse(PAIRS), lambda program: wanted in ops(program), seconds=60.0)
    assert ops(found) == left


def test_slots_and_results_are_left_out_one_by_one() -> None:
    def carries_and_returns(program: Program) -> bool:
        loops = [stmt for stmt in statements(program) if isinstance(stmt, For)]
        return any(len(loop.carries) >= 1 for loop in loops) and len(program.functions[0].returns) >= 1

    found = reduced(tilesat.parse(PAIRS), carries_and_returns, seconds=60.0)
    (loop,) = [stmt for stmt in statements(found) if isinstance(stmt, For)]
    assert len(loop.carries) == len(loop.results) == 1
    assert len(found.functions[0].returns) == 1
    assert [len(stmt.values) for stmt in statements(found) if isinstance(stmt, (Yield, Return))] == [1, 1]


def test_a_slot_of_a_branch_takes_along_what_reads_it() -> None:
    text = PAIRS.replace("for i, (c, d) in pl.range(4, init_values=(m, a)):", "if n == 0:").replace("exp(c)", "exp(m)")
    text = text.replace("neg(d)", "neg(a)").replace("x: pl.Tensor", "n: pl.Scalar[pl.INDEX], x: pl.Tensor", 1)
    text = text.replace("        r: pl", "        else:\n            u, v = pl.yield_(m, a)\n        r: pl")
    program = tilesat.parse(text)
    require(program, INPUT_PROPERTIES)
    first = without_slot(program.functions[0], 3, 0)
    assert first is not None
    assert first.body[-1] == Return((Var("o"), Var("q"))), "the tensor itself stands for what was stored into it"
    assert [len(stmt.values) for stmt in walk(first.body) if isinstance(stmt, Yield)] == [1, 1]
    assert "tile.exp" in ops(replace(program, functions=(first,))), "it is left out in a step of its own"
