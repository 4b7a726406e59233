"""Counterexamples get small, with hypothesis and without."""

from __future__ import annotations

import pytest
from hypothesis import Phase, find, settings

from tilesat.errors import TilesatError
from tilesat.ir.nodes import Assign, EvalStmt, For, OpCall, Program, Return, Stmt, Var
from tilesat.ir.walk import reads, walk
from tilesat.lab.generate import GeneratorConfig, RandomChoices, generate_program, random_program
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
