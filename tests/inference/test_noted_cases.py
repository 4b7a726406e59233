"""The worked cases in which the peer is wrong: what is right in each, and that the result has it.

The whole results are golden files (tests/bridge/test_reference_corpus.py, which also verifies them and compares what
they compute). Here is the point of each case. Names are given without their SSA suffix.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

import tilesat
from tests.corpus import case, cases_of
from tests.inference.texts import body_of
from tilesat.ir.hardware import move_path
from tilesat.ir.interp import compare
from tilesat.ir.types import MemorySpace

PLAIN = "blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box"


@cache
def result(name: str) -> tilesat.PassResult:
    found = case(name)
    return tilesat.infer_tile_memory_space(found.before, hardware=found.hardware)


def body(name: str, function: str) -> str:
    """What function ``function`` of a case becomes."""
    return body_of(result(name), function).replace("__ssa_v0", "").replace("__rv_v0", "").replace("__idx_v0", "")


def spaces(text: str) -> dict[str, str]:
    """The space of every annotated tile."""
    return dict(re.findall(r"^ *(\w+): pl\.Tile\[.*?pl\.Mem\.(\w+)", text, flags=re.MULTILINE))


def moves(text: str) -> list[tuple[str, str]]:
    """(moved tile, target) of every move, in order."""
    return re.findall(r"pl\.tile\.move\((\w+), target_memory=pl\.Mem\.(\w+)", text)


def test_every_noted_case_is_here() -> None:
    covered = {name.split("_")[1].upper() for name in globals() if re.match(r"test_i\d\d_", name)}
    assert covered == {found.name for found in cases_of("I", right=False)}


def test_i11_a_fill_does_not_write_the_accumulator() -> None:
    """Create in Acc and a plain product in the first trip."""
    text = body("I11", "ksum_full")
    assert "tile.full" not in text
    assert spaces(text)["zero"] == spaces(text)["nxt"] == spaces(text)["fin"] == "Acc"
    first, rest = text.split("if k == 0:")[1].split("else:")
    assert "pl.tile.matmul(at_Left, bt_Right)" in first
    assert "pl.tile.matmul_acc(acc, at_Left, bt_Right)" in rest


def test_i13_both_branches_yield_in_vec() -> None:
    """One side moves; the sum reads the result where it is, without boxes."""
    text = body("I13", "cube_or_vec")
    then, orelse = text.split("else:")
    assert f"pl.tile.move(m0, target_memory=pl.Mem.Vec, {PLAIN})" in then
    assert "z: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.yield_(m0_Vec)" in then
    assert "z: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.yield_(v0)" in orelse
    assert "w: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.add(z, dt)" in orelse


def test_i14_a_seed_that_cannot_reach_acc_stays() -> None:
    """The branches are a load and a fill with ones: the sum is made in Vec, on every trip."""
    text = body("I14", "seeded")
    found = spaces(text)
    assert found["u"] == found["w"] == found["z"] == found["nxt"] == found["fin"] == "Vec"
    assert found["nxt_product"] == "Acc"
    assert "pl.tile.add(acc, nxt_product_Vec)" in text
    assert ("z", "Acc") not in moves(text)


def test_i16_a_carry_that_is_passed_through() -> None:
    """Its result is in Acc, so is a view of it; the vector op reads a copy of the view."""
    text = body("I16", "hold")
    assert spaces(text)["v"] == "Acc"
    assert "pl.tile.exp(v_Vec)" in text
    assert f"pl.tile.move(v, target_memory=pl.Mem.Vec, {PLAIN})" in text


def test_i17_nested_carries_and_the_views_between_them() -> None:
    """Everything that aliases the accumulator is in Acc; one pair of moves, in the innermost body."""
    for function, aliases in (("nest", ()), ("nest_mid", ("mid", "back"))):
        text = body("I17", function)
        found = spaces(text)
        assert {found[name] for name in ("z0", "nxt", "ir", "orr", *aliases)} == {"Acc"}
        assert moves(text) == [("at", "Left"), ("bt", "Right")]
        assert text.index("at_Left: ") > text.index("for j,")


def test_i26_a_written_element_reaches_the_product() -> None:
    """The product reads what was written: Left is made of the copy, after the write."""
    text = body_of(result("I26"), result("I26").program.functions[0].name).replace("__ssa_v0", "")
    (written,) = re.findall(r"pl\.tile\.write\((\w+),", text)
    assert spaces(text)[written] == "Vec"
    assert (written, "Left") in moves(text)
    assert text.index("tile.write(") < text.index("target_memory=pl.Mem.Left")


def test_i28_a_product_as_operand_goes_over_mat() -> None:
    """Two hops, both ways of the hardware."""
    text = body("I28", "abc")
    assert [move for move in moves(text) if move[0].startswith("ab")] == [("ab", "Mat"), ("ab_Mat", "Left")]


def test_i29_a_bias_goes_over_mat() -> None:
    """One hop from Mat, two from Vec."""
    assert [m for m in moves(body("I29", "affine")) if m[0].startswith("g")] == [("gm", "Bias")]
    assert [m for m in moves(body("I29", "affine_vec")) if m[0].startswith("g")] == [("gv", "Mat"), ("gv_Mat", "Bias")]


def test_i41_a_create_is_retargeted_and_a_load_is_not() -> None:
    """An explicit Vec create becomes Acc; nothing loads into Acc, so the other seed stays and sums are made in Vec."""
    explicit = body("I41", "explicit_vec")
    assert "z0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.create(" in explicit
    seeded = body("I41", "load_seed")
    assert spaces(seeded)["z0"] == spaces(seeded)["fin"] == "Vec"
    assert "target_memory=pl.Mem.Acc" not in seeded
    assert "pl.tile.add(acc, nxt_product_Vec)" in seeded


def test_i60_the_block_moves_to_the_side_of_its_target() -> None:
    """Before the assemble."""
    text = body("I60", "merge")
    assert moves(text) == [("bt", "Vec")]
    assert "pl.tile.assemble(at, bt_Vec, [0, 32])" in text


def test_i61_the_branch_that_only_stores_does_not_move() -> None:
    """One push to the vector core, in the branch that needs it."""
    function = result("I61").program.functions[0].name
    then, orelse = body("I61", function).split("else:")
    assert "pl.tile.store(m, " in then
    assert ("m", "Vec") not in moves(then)
    assert [move for move in moves(orelse) if move[0] == "m"] == [("m", "Vec")]


def test_i63_a_body_of_one_statement() -> None:
    """The write happens in Vec, on one tile over all trips, and the product sees it."""
    text = body("I63", "poke_loop")
    assert "    pl.tile.write(at_Vec, [i, 0], s)" in text
    assert moves(text) == [("at", "Vec"), ("at_Vec", "Left"), ("bt", "Right")]
    assert text.index("at_Vec: ") < text.index("for i")


def test_i66_the_valid_extent_survives() -> None:
    """Of the narrow load, which stays in Vec because nothing loads into Acc, and of all that follows."""
    text = body("I66", "narrow_seed")
    tiles = [line for line in text.splitlines() if re.match(r" *(z0|at|at_Left|nxt\w*|fin): pl\.Tile", line)]
    assert len(tiles) == 7
    assert all("valid_shape=[12, " in line for line in tiles)


def test_i67_one_seed_for_each_loop() -> None:
    """The create is duplicated: one in Acc for the cube loop, one in Vec for the vector loop."""
    text = body("I67", "shared")
    assert spaces(text)["z0"] == "Vec"
    assert spaces(text)["z0_Acc"] == "Acc"
    assert text.count("pl.tile.create(") == 2
    assert "init_values=(z0_Acc,)" in text.split("for i in")[0]
    assert "init_values=(z0,)" in text


def test_i80_a_store_in_a_loop_reads_the_accumulator() -> None:
    """No transfer per trip; one after the loop, for the vector op."""
    text = body("I80", "order")
    loop, after = text.split("rf: ")
    assert "pl.tile.store(m, [0, 0], oo)" in loop
    assert [move for move in moves(loop) if move[0] == "m"] == []
    assert [move for move in moves(after) if move[0] == "m"] == [("m", "Vec")]


@pytest.mark.parametrize("found", cases_of("I", right=False), ids=lambda c: c.name)
def test_all_of_them_move_only_where_hardware_can(found: object) -> None:
    """No result has a move that no chip can do, and each computes what its input does."""
    name = found.name  # type: ignore[attr-defined]
    assert [d for d in result(name).diagnostics if d.check in ("impossible-move", "HardwarePaths")] == []
    for function in case(name).before.functions:
        assert compare(case(name).before, result(name).program, function.name, seeds=(3,)) is None


def test_vec_does_not_reach_acc() -> None:
    """What several of the cases turn on."""
    assert move_path(None, MemorySpace.Vec, MemorySpace.Acc) is None
    assert move_path(None, MemorySpace.Vec, MemorySpace.Bias) == (MemorySpace.Vec, MemorySpace.Mat, MemorySpace.Bias)
