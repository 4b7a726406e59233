"""Seeded programs: repeatable, varied, of the size asked for."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tilesat.ir.interp import interpret, random_arguments
from tilesat.ir.nodes import ORCHESTRATION, For, Program, While, Yield
from tilesat.ir.walk import blocks, statements_in, walk
from tilesat.lab.generate import GeneratorConfig, random_program

SCRIPT = "import sys; from tilesat.lab.generate import random_program; sys.stdout.write(str(random_program(5)))"


def test_a_seed_makes_one_program() -> None:
    assert random_program(5) == random_program(5)
    assert random_program(5) != random_program(6)


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_a_seed_makes_one_program_in_every_process(hash_seed: str) -> None:
    """Nothing depends on the order of sets, which differs from process to process."""
    env = {**os.environ, "PYTHONHASHSEED": hash_seed}
    run = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True)
    assert run.stdout == str(random_program(5))


def test_functions_are_as_many_as_asked_for() -> None:
    program = random_program(2, GeneratorConfig(functions=4).without("orchestration"))
    assert [function.name for function in program.functions] == ["kernel0", "kernel1", "kernel2", "kernel3"]
    assert all(function.is_incore for function in program.functions)


def depth_of(program: Program) -> int:
    def depth(block: tuple[object, ...]) -> int:
        inner = [1 + max(map(depth, blocks(stmt)), default=0) for stmt in block if blocks(stmt)]  # type: ignore[arg-type]
        return max(inner, default=0)

    return max(depth(function.body) for function in program.functions)


def test_blocks_nest_as_deep_as_allowed() -> None:
    """One level more than allowed is the branch of a peeled accumulation, which counts as one statement."""
    config = GeneratorConfig().without("peeled")
    for most in (0, 1, 3):
        limited = GeneratorConfig(max_depth=most, features=config.features)
        depths = {depth_of(random_program(seed, limited.without("orchestration"))) for seed in range(150)}
        assert max(depths) == most


def test_more_statements_when_more_are_allowed() -> None:
    def size(most: int) -> int:
        config = GeneratorConfig(max_statements=most, length=100)
        return statements_in(*(random_program(seed, config).functions[0].body for seed in range(10)))

    assert size(5) < size(20) < size(80)


def test_bodies_of_one_statement_occur() -> None:
    """Such a body has no statement list in some compilers; inference must still insert moves there."""
    bodies = [
        stmt.body
        for seed in range(100)
        for function in random_program(seed).functions
        for stmt in walk(function.body)
        if isinstance(stmt, (For, While))
    ]
    lone = [body for body in bodies if len([stmt for stmt in body if not isinstance(stmt, Yield)]) == 1]
    assert len(lone) >= 10


def test_whole_programs_run_from_their_orchestration_function() -> None:
    ran = 0
    for seed in range(60):
        program = random_program(seed, GeneratorConfig(functions=2))
        for function in program.functions:
            if function.kind == ORCHESTRATION:
                interpret(program, function.name, random_arguments(program, function.name, seed))
                ran += 1
    assert ran >= 20


def test_most_kernels_show_what_they_compute() -> None:
    """What is not stored cannot be judged: nearly every kernel of some size stores something."""
    silent = [
        function
        for seed in range(200)
        for function in random_program(seed).functions
        if function.is_incore and len(function.body) > 4 and "tile.store" not in repr(function.body)
    ]
    assert len(silent) <= 10
