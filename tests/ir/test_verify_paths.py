"""HardwarePaths: transfers exist on the hardware, tiles fit its memories (peer behaviour, section 9)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.ir.verifying import LOAD_VEC, MAT, TENSOR, VEC, kernel, messages, program
from tilesat.diagnostics import Severity
from tilesat.ir.hardware import ASCEND_910B
from tilesat.ir.types import MemorySpace
from tilesat.ir.verify import verify

MOVE = """
    s: pl.Tile[[4, 32], pl.FP32, {memory}] = pl.tile.create([4, 32], dtype=pl.FP32, target_memory={memory})
    t: pl.Tile[[4, 32], pl.FP32, pl.Mem.{target}] = pl.tile.{op}(s{rest}, target_memory=pl.Mem.{target})
    return o
"""


def paths(body: str, **options: str) -> list[str]:
    return messages(program(kernel(body)), "HardwarePaths", **options)


def moved(source: str, target: str, op: str = "move", rest: str = "") -> str:
    return MOVE.format(memory=f"pl.Mem.{source}", target=target, op=op, rest=rest)


@pytest.mark.parametrize("chip", ["910b", "950"])
@pytest.mark.parametrize(
    ("source", "target"),
    [
        *(("Mat", "Left"), ("Mat", "Right"), ("Mat", "Bias"), ("Acc", "Mat")),  # copies inside the cube core
        *(("Mat", "Vec"), ("Acc", "Vec"), ("Vec", "Mat"), ("Vec", "Left"), ("Vec", "Right")),  # pushes
        ("Vec", "Vec"),  # a change of layout
    ],
)
def test_transfers_that_both_chips_have(source: str, target: str, chip: str) -> None:
    assert paths(moved(source, target), hardware=chip) == []


def test_a_chain_of_transfers_is_no_transfer() -> None:
    assert paths(moved("Acc", "Left"), hardware="910b") == [
        "'tile.move' from Acc to Left: no transfer of 910b connects them; go Acc -> Mat -> Left"
    ]


@pytest.mark.parametrize("source", ["Vec", "Mat", "Left"])
def test_nothing_reaches_the_accumulator(source: str) -> None:
    assert paths(moved(source, "Acc"), hardware="950") == [
        f"'tile.move' from {source} to Acc: no transfer of 950 connects them, nor does a chain of them"
    ]


def test_an_extract_is_a_transfer_too() -> None:
    rest = ", 0, 0, [4, 32]"
    assert paths(moved("Mat", "Left", "extract", rest)) == []
    assert paths(moved("Vec", "Vec", "extract", rest)) == []
    (message,) = paths(moved("Left", "Mat", "extract", rest))
    assert message.startswith("'tile.extract' from Left to Mat: no transfer of any chip connects them")


def test_without_a_chip_what_some_chip_can_do_is_possible() -> None:
    body = moved("Mat", "LeftScale")
    assert paths(body) == []
    assert paths(body, hardware="950") == []
    assert paths(body, hardware="910b") == [
        "'tile.move' from Mat to LeftScale: no transfer of 910b connects them, nor does a chain of them",
        "tile 't' is in LeftScale, a memory that 910b lacks",
    ]


def test_a_load_lands_in_vec_or_mat() -> None:
    acc = LOAD_VEC.replace("Vec", "Acc")
    assert paths(f"t: {VEC.replace('Vec', 'Acc')} = {acc}\nreturn o") == [
        "'tile.load' into Acc: global memory reaches only Vec and Mat"
    ]


def test_a_store_comes_from_vec_or_acc() -> None:
    create = "pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Mat)"
    assert paths(f"t: {MAT} = {create}\nr: {TENSOR} = pl.tile.store(t, [0, 0], o)\nreturn r") == [
        "'tile.store' from Mat: only Vec and Acc reach global memory"
    ]


def test_a_buffer_is_created_on_chip() -> None:
    create = "pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.DDR)"
    assert paths(f"t: {VEC.replace('Vec', 'DDR')} = {create}\nreturn o") == [
        "'tile.create' in DDR, which is no on-chip memory"
    ]


def test_a_tile_fits_its_memory() -> None:
    big = "pl.Tile[[256, 192], pl.FP32, pl.Mem.Vec]"
    body = f"t: {big} = pl.tile.create([256, 192], dtype=pl.FP32, target_memory=pl.Mem.Vec)\nreturn o"
    assert paths(body, hardware="910b") == ["tile 't' takes 196608 bytes, but Vec of 910b holds 188416"]
    assert paths(body, hardware="950") == []


def test_the_caller_decides_how_loud() -> None:
    subject = program(kernel(moved("Vec", "Acc")))

    def severities(**options: str) -> list[Severity]:
        return [f.severity for f in verify(subject, properties=["HardwarePaths"], **options)]

    assert severities() == [Severity.WARNING]
    assert severities(paths="error") == [Severity.ERROR]
    assert severities(paths="ignore") == []


def test_a_chip_of_ones_own() -> None:
    """A part with a direct copy that the two known chips lack."""
    part = replace(ASCEND_910B, name="part", edges=ASCEND_910B.edges | {(MemorySpace.Acc, MemorySpace.Left)})
    subject = program(kernel(moved("Acc", "Left")))
    assert verify(subject, properties=["HardwarePaths"], hardware=part) == ()
    (finding,) = verify(program(kernel(moved("Acc", "Right"))), properties=["HardwarePaths"], hardware=part)
    assert finding.message == "'tile.move' from Acc to Right: no transfer of part connects them"
