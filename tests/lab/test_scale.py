"""Programs of a given size."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.effort import effort
from tilesat.errors import TilesatError
from tilesat.ir.interp import interpret
from tilesat.ir.nodes import Block, For, Function, OpCall, Program, While
from tilesat.ir.verify import INPUT_PROPERTIES, verify
from tilesat.ir.walk import blocks, own_exprs, walk
from tilesat.lab.generate import loop_nest, many_functions, straight_line


def op_calls(function: Function) -> int:
    return sum(isinstance(expr, OpCall) for stmt in walk(function.body) for expr in own_exprs(stmt))


def loop_depth(block: Block) -> int:
    depths = [isinstance(stmt, (For, While)) + max(map(loop_depth, blocks(stmt)), default=0) for stmt in block]
    return max(depths, default=0)


def check(program: Program) -> None:
    assert verify(program, properties=(*INPUT_PROPERTIES, "AssignTypeSymmetry")) == ()


@pytest.mark.parametrize("ops", [4, 5, 17, 100, 1000])
def test_a_straight_line_has_as_many_ops_as_asked_for(ops: int) -> None:
    program = straight_line(ops, seed=ops)
    assert op_calls(program.functions[0]) == ops
    assert loop_depth(program.functions[0].body) == 0
    check(program)
    interpret(program, "straight")


@pytest.mark.parametrize(("ops", "depth"), [(60, 1), (200, 3), (500, 5)])
def test_a_loop_nest_has_as_many_ops_and_loops_as_asked_for(ops: int, depth: int) -> None:
    program = loop_nest(ops, depth, seed=ops)
    assert op_calls(program.functions[0]) == ops
    assert loop_depth(program.functions[0].body) == depth
    check(program)
    interpret(program, "nest")


def test_many_functions_are_as_many_and_as_different_as_asked_for() -> None:
    program = many_functions(count=12, ops=30, distinct=5)
    assert [op_calls(function) for function in program.functions] == [30] * 12
    assert len({function.body for function in program.functions}) == 5
    assert len({function.name for function in program.functions}) == 12
    check(program)
    for function in program.functions[:5]:
        interpret(program, function.name)


@pytest.mark.parametrize("make", [straight_line, loop_nest])
def test_effort_grows_with_the_program_only(make: Callable[[int], Program]) -> None:
    """The pool of operands does not grow with the program."""
    assert effort(lambda: make(4000)) < 5 * effort(lambda: make(1000))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: straight_line(3), "ops is 3"),
        (lambda: loop_nest(20, depth=3), "ops is 20"),
        (lambda: loop_nest(1000, depth=0), "depth is 0"),
        (lambda: many_functions(2, 30, distinct=3), "count is 2"),
    ],
)
def test_sizes_that_cannot_be_are_refused(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(TilesatError, match=message):
        make()
