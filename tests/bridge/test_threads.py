"""Passes may run in any thread: egglog ties an e-graph to the thread that made it, so each has its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import tilesat
from tests.corpus import kernel
from tilesat.ir.nodes import Program


def test_the_same_program_in_three_threads() -> None:
    program = kernel("gemm_bias_gelu", "infer_before")
    expected = str(tilesat.infer_tile_memory_space(program, hardware="910b").program)

    def run(one: Program) -> str:
        return str(tilesat.infer_tile_memory_space(one, hardware="910b").program)

    for _ in range(2):
        with ThreadPoolExecutor(3) as pool:
            assert list(pool.map(run, [program] * 6)) == [expected] * 6
