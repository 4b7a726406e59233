"""Moves that the author wrote along an edge that no chip has: they stay, and nothing else is made to need them."""

from __future__ import annotations

import tilesat
from tilesat.ir.hardware import hardware
from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import Assign
from tilesat.ir.printer import print_stmt
from tilesat.lab.judge import Judge
from tilesat.lab.variants import variants
from tilesat.rules.catalogue import optimal

REWRITTEN = """
import pypto.language as pl

@pl.program
class Rewritten:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel0(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], z: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        a: pl.Tile[[16, 16], pl.FP32, pl.Mem.Mat] = pl.tile.load(x, [48, 16], [16, 16], [16, 16], target_memory=pl.Mem.Mat)
        s: pl.Tile[[16, 16], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_acc(a, a, a)
        r: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(s, [16, 16], y)
        for i, (c, d) in pl.range(2, init_values=(r, a)):
            m: pl.Tile[[16, 16], pl.FP32, pl.Mem.Acc] = pl.tile.move(s, target_memory=pl.Mem.Acc)
            u: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(m, [48, i * 16], z)
            v: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(d, [32, i * 16], u)
            f, g = pl.yield_(c, d)
        w: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(g, [48, 48], f)
"""  # noqa: E501
"""The accumulator is in Mat, so the sum is put back there, and the move within Acc starts from Mat now."""


def places_of_own_move(program: tilesat.Program) -> set[tuple[str, str]]:
    """Name and region of what goes to Acc by a move."""
    index = FunctionIndex(program.functions[0])
    return {
        (stmt.name, index.regions[index.region_of[site]].kind)
        for site, stmt in enumerate(index.sites)
        if isinstance(stmt, Assign) and "target_memory=pl.Mem.Acc" in print_stmt(stmt)
    }


def test_other_readers_do_not_use_it() -> None:
    """Of all legal results none has such a move but where the author put it (found by ``lab check``)."""
    before = tilesat.parse(REWRITTEN)
    chip = hardware("910b")
    found = variants(before, optimal(), chip, samples=30, seed=0)
    assert Judge(before, chip).first_fault(found) is None
    places = set().union(*(places_of_own_move(variant.program) for variant in found.found))
    assert places == {("m", "loop")}


def test_the_cheapest_result_does_without() -> None:
    result = tilesat.infer_tile_memory_space(tilesat.parse(REWRITTEN), rules="optimal", hardware="910b")
    assert not [d for d in result.diagnostics if d.check == "HardwarePaths"]
    assert "target_memory=pl.Mem.Acc" not in str(result.program)
