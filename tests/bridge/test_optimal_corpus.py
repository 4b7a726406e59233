"""The optimal rules on the worked cases and kernels: never dearer, never different, better where that is known."""

from __future__ import annotations

import pytest

import tilesat
from tests.corpus import Case, case, cases_of, kernel, kernel_names
from tilesat.diagnostics import errors
from tilesat.extract.cost import cost_model
from tilesat.extract.count import Counts, count_program, function_cost
from tilesat.ir.hardware import hardware
from tilesat.ir.nodes import Program
from tilesat.ir.verify import OUTPUT_PROPERTIES, verify

COSTS = ("traffic", "moves")
CASES = cases_of("I") + cases_of("R")
# The peer's mix_steps leaves out a move that its branches need, so it counts fewer.
PEER_LEAVES_OUT_MOVES = {"seeded_mix"}


def hardware_of(case: Case) -> str | None:
    return case.hardware or ("910b" if case.name.startswith("R") else None)


def place(case: Case, cost: str = "traffic", **options: object) -> tilesat.PassResult:
    return tilesat.infer_tile_memory_space(
        case.before,
        rules="optimal",
        cost=cost,
        hardware=hardware_of(case),
        **options,  # type: ignore[arg-type]
    )


def placed(name: str, cost: str = "traffic") -> Counts:
    return count_program(place(case(name), cost).program)


def referenced(name: str) -> Counts:
    c = case(name)
    return count_program(tilesat.infer_tile_memory_space(c.before, hardware=hardware_of(c)).program)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_never_dearer_and_never_different(case: Case, cost: str) -> None:
    result = place(case, cost)
    assert result.cost is not None
    assert result.reference_cost is not None
    assert result.lower_bound is not None
    assert result.lower_bound <= result.cost <= result.reference_cost
    assert errors(verify(result.program, properties=OUTPUT_PROPERTIES)) == ()
    assert errors(verify(result.program, properties=("HardwarePaths",), paths="error")) == ()
    validation = tilesat.validate(case.before, result.program)
    assert validation.ok, validation


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("name", kernel_names())
def test_kernels_are_never_dearer_and_mean_the_same(name: str, cost: str) -> None:
    before = kernel(name, "infer_before")
    result = tilesat.infer_tile_memory_space(before, rules="optimal", cost=cost, hardware="910b")
    assert result.cost is not None
    assert result.reference_cost is not None
    assert result.cost <= result.reference_cost
    assert result.cost == total_cost(result.program, cost)
    assert errors(verify(result.program, properties=OUTPUT_PROPERTIES)) == ()
    validation = tilesat.validate(before, result.program)
    assert validation.ok, validation


def total_cost(program: Program, cost: str) -> float:
    """The cost of a finished program, counted over its statements."""
    model = cost_model(cost, hardware("910b"))
    return sum(function_cost(function, model) for function in program.functions if function.is_incore)


MEASURES = ("static_moves", "executed_moves", "moved_bytes", "cross_core_bytes", "loaded_bytes")


def against_peer(name: str) -> tuple[Counts, Counts]:
    result = tilesat.infer_tile_memory_space(kernel(name, "infer_before"), rules="optimal", hardware="910b")
    return count_program(result.program), count_program(kernel(name, "infer_peer"))


@pytest.mark.parametrize("name", [n for n in kernel_names() if n not in PEER_LEAVES_OUT_MOVES])
def test_kernels_never_transfer_more_than_the_peer(name: str) -> None:
    ours, peer = against_peer(name)
    for measure in MEASURES:
        assert getattr(ours, measure) <= getattr(peer, measure), measure


def test_at_least_six_kernels_transfer_less_than_the_peer() -> None:
    better = set()
    for name in kernel_names():
        ours, peer = against_peer(name)
        if any(getattr(ours, measure) < getattr(peer, measure) for measure in MEASURES):
            better.add(name)
    assert len(better) >= 6, better


# ------------------------------------------------------- the better results that the cases name


def test_i07_invariant_moves_leave_the_loop() -> None:
    """One pair before the loop serves the loop and what follows it."""
    assert placed("I07").static_moves == 4
    assert referenced("I07").static_moves == 6


def test_i08_and_i10_common_moves_stand_above_the_if() -> None:
    """One move of the operand that both arms use."""
    assert placed("I08").static_moves == referenced("I08").static_moves - 1
    assert placed("I10").static_moves == 2


def test_i17_invariant_moves_leave_two_loops_at_once() -> None:
    counts = placed("I17")
    assert counts.executed_moves == counts.static_moves


def test_i20_an_alias_needs_no_copy_of_its_own() -> None:
    assert placed("I20").static_moves == 2


def test_i59_one_move_serves_the_branch_and_what_follows() -> None:
    assert placed("I59").static_moves == referenced("I59").static_moves - 1


def test_i61_and_i80_a_store_reads_the_accumulator() -> None:
    for name in ("I61", "I80"):
        assert "store(m__ssa_v0," in str(place(case(name)).program)


def test_i64_open_loads_land_where_they_are_wanted() -> None:
    """Both loads go to Mat, the seed is created in Acc, nothing crosses the cores."""
    counts = placed("I64")
    assert counts.cross_core_bytes == 0
    assert counts.static_moves == 2


def test_i81_one_move_of_the_whole_where_that_is_cheaper() -> None:
    """Two windows of one accumulator: under both presets one transfer is cheaper than two."""
    assert placed("I81").static_moves == referenced("I81").static_moves - 1
