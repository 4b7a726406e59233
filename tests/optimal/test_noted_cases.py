"""Worked cases whose notes name a better result than the documents give: the optimal rules reach it.

Those about moves that stand further out, or are not needed, are in ``tests/bridge/test_optimal_corpus.py``.
"""

from __future__ import annotations

import re

import pytest

import tilesat
from tests.corpus import case
from tests.inference.texts import body_of
from tests.optimal.texts import place
from tilesat.extract.count import Counts, count_program

BOTH = ("traffic", "moves")


def better(name: str, cost: str, *options: str) -> tilesat.PassResult:
    c = case(name)
    return place(c.before, cost=cost, hardware=c.hardware, options=options)


def moves_of(result: tilesat.PassResult) -> list[str]:
    """Target of every move, in order."""
    return re.findall(r"tile\.move\(\w+, target_memory=pl\.Mem\.(\w+)", str(result.program))


def counts(result: tilesat.PassResult) -> Counts:
    return count_program(result.program)


@pytest.mark.parametrize("cost", BOTH)
def test_i02_operands_of_the_cube_are_loaded_there_if_that_is_allowed(cost: str) -> None:
    assert counts(better("I02", cost)).cross_core_bytes > 0
    assert counts(better("I02", cost, "retarget_loads")).cross_core_bytes == 0


@pytest.mark.parametrize("cost", BOTH)
def test_i25_a_tile_that_is_only_stored_is_loaded_where_stores_read(cost: str) -> None:
    """No chip has a way from Mat to global memory but over the other core."""
    assert moves_of(better("I25", cost)) == ["Vec"]
    assert moves_of(better("I25", cost, "retarget_loads")) == []


@pytest.mark.parametrize("cost", BOTH)
def test_i05_one_tile_in_both_slots_has_two_copies(cost: str) -> None:
    assert sorted(moves_of(better("I05", cost))) == ["Left", "Right"]


@pytest.mark.parametrize("cost", BOTH)
def test_i28_a_product_goes_to_the_next_one_over_mat(cost: str) -> None:
    """Acc -> Left does not exist."""
    found = moves_of(better("I28", cost))
    assert found.count("Mat") == 1
    assert counts(better("I28", cost)).cross_core_bytes == 0


@pytest.mark.parametrize("cost", BOTH)
def test_i29_a_bias_goes_over_mat(cost: str) -> None:
    """From Vec it takes a push to Mat and a move; Vec -> Bias does not exist. A load into Mat needs no push."""
    assert moves_of(better("I29", cost)).count("Mat") == 1
    assert "Mat" not in moves_of(better("I29", cost, "retarget_loads"))


@pytest.mark.parametrize("cost", BOTH)
def test_i13_branches_meet_in_vec(cost: str) -> None:
    result = better("I13", cost)
    assert moves_of(result).count("Vec") == 1


@pytest.mark.parametrize("cost", BOTH)
def test_i67_one_create_for_each_space(cost: str) -> None:
    body = body_of(better("I67", cost), "shared")
    assert re.findall(r"tile\.create\(.*target_memory=pl\.Mem\.(\w+)\)", body) in (["Acc", "Vec"], ["Vec", "Acc"])


@pytest.mark.parametrize("cost", BOTH)
def test_i17_views_between_the_levels_follow_the_accumulator(cost: str) -> None:
    body = body_of(better("I17", cost), "nest_mid")
    reshaped = [line for line in body.splitlines() if "tile.reshape" in line]
    assert all("pl.Mem.Acc" in line for line in reshaped)
    assert not [line for line in body.splitlines() if line.startswith(" ") and "tile.move" in line]


@pytest.mark.parametrize("cost", BOTH)
@pytest.mark.parametrize("name", ["I01", "I32", "I33", "I35", "I37", "I53", "I56", "I73", "I79"])
def test_where_nothing_is_better_the_result_is_that_of_the_reference(name: str, cost: str) -> None:
    c = case(name)
    reference = tilesat.infer_tile_memory_space(c.before, hardware=c.hardware)
    difference = tilesat.first_difference(better(name, cost).program, reference.program)
    assert difference is None, difference
