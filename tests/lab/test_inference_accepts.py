"""Generated programs are input for memory-space inference: it takes them and keeps what they compute."""

from __future__ import annotations

import pytest

from tilesat.bridge.infer import infer_tile_memory_space
from tilesat.ir.interp import compare
from tilesat.lab.generate import GeneratorConfig, random_program

CONFIG = GeneratorConfig(max_statements=12)


@pytest.mark.parametrize("seed", range(20))
def test_inference_takes_the_program_and_keeps_its_meaning(seed: int) -> None:
    program = random_program(seed, CONFIG)
    result = infer_tile_memory_space(program).program
    for function in program.functions:
        assert compare(program, result, function.name, seeds=(0,)) is None
