"""What must hold of every program: generated ones, all plans, random plans.

200 programs in a quick run, 5,000 nightly (``TILESAT_PROFILE=nightly``); plans and random choices of a part of them.
Each program has its number, so that a failure can be repeated with ``random_program(number, USUAL)``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

import tilesat
from tilesat.bridge import placing
from tilesat.bridge.place import PlaceElaborator
from tilesat.diagnostics import errors
from tilesat.errors import ImpossibleError
from tilesat.extract.brute import cheapest, open_choices
from tilesat.extract.graph import ChoiceGraph
from tilesat.extract.places import PlaceGraph
from tilesat.extract.reduce import reduce
from tilesat.extract.sampling import sample
from tilesat.extract.solve import Solution, solve
from tilesat.ir.nodes import Function, Program
from tilesat.ir.verify import OUTPUT_PROPERTIES, verify
from tilesat.lab.generate import GeneratorConfig, random_program

NIGHTLY = os.environ.get("TILESAT_PROFILE") == "nightly"
BLOCKS = range(500) if NIGHTLY else range(20)
PER_BLOCK = 10
USUAL = GeneratorConfig() if NIGHTLY else GeneratorConfig(max_statements=12, length=8)
SMALL = GeneratorConfig(max_statements=8, length=6)
CHIPS = (None, "910b", "950")
COSTS = ("traffic", "moves")

Seen = list[tuple[Function, PlaceGraph]]


def chip_of(seed: int) -> str | None:
    return CHIPS[seed % len(CHIPS)]


def cost_of(seed: int) -> str:
    return COSTS[seed // len(CHIPS) % len(COSTS)]


def options_of(seed: int) -> tuple[str, ...]:
    """Every fifth program is placed with what a user may allow without promising anything."""
    return ("retarget_loads", "hoist_manual_loads") if seed % 5 == 0 else ()


def place(program: Program, seed: int, **more: object) -> tilesat.PassResult:
    return tilesat.infer_tile_memory_space(
        program,
        rules="optimal",
        cost=cost_of(seed),
        hardware=chip_of(seed),
        options=options_of(seed),
        **more,  # type: ignore[arg-type]
    )


def check_meaning(program: Program, result: Program, seed: int) -> None:
    found = errors(verify(result, properties=OUTPUT_PROPERTIES, hardware=chip_of(seed)))
    assert found == (), f"program {seed}: {found[0]}"
    validation = tilesat.validate(program, result, seeds=(0, 1) if NIGHTLY else (0,))
    assert validation.difference is None, f"program {seed}: {validation.difference}\n{result}"


@contextmanager
def bounds() -> Iterator[dict[int, tuple[ChoiceGraph, float]]]:
    """The lower bound of every choice graph that is searched, with all choices that it has at first."""
    found: dict[int, tuple[ChoiceGraph, float]] = {}
    search = placing.solve

    def noted(graph: ChoiceGraph, **options: Any) -> Solution:
        solution = search(graph, **options)
        found.setdefault(id(graph), (graph, solution.lower_bound))
        return solution

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placing, "solve", noted)
        yield found


@pytest.mark.parametrize("block", BLOCKS)
def test_the_input_is_among_the_choices(block: int) -> None:
    """Then the bound of a choice graph is one for the input too; a choice that is not offered shows as a higher one."""
    for seed in range(block * PER_BLOCK, (block + 1) * PER_BLOCK):
        with bounds() as found:
            result = placed_or_refused(random_program(seed, USUAL), seed)
        if result is not None:
            assert result.reference_cost is not None
            total = sum(bound for _, bound in found.values())
            assert total <= result.reference_cost * (1 + 1e-9), f"program {seed}"


@pytest.mark.parametrize("block", BLOCKS)
def test_generated_programs(block: int) -> None:
    """Verified, equal in meaning, bound <= exact <= local <= reference."""
    for seed in range(block * PER_BLOCK, (block + 1) * PER_BLOCK):
        program = random_program(seed, USUAL)
        local = placed_or_refused(program, seed)
        if local is None:
            continue
        check_meaning(program, local.program, seed)
        assert local.lower_bound is not None
        assert local.cost is not None
        assert local.reference_cost is not None
        assert local.lower_bound <= local.cost <= local.reference_cost, f"program {seed}"
        if local.status == "optimal":
            continue
        exact = place(program, seed, exact=True)
        assert exact.cost is not None
        assert exact.cost <= local.cost, f"program {seed}"
        assert local.lower_bound <= exact.cost, f"program {seed}: the bound of local search is none"
        assert exact.status == "optimal", f"program {seed}"
        if exact.cost < local.cost:
            check_meaning(program, exact.program, seed)


def placed_or_refused(program: Program, seed: int) -> tilesat.PassResult | None:
    """``None`` for input that no placement can make right: it reads what the hardware cannot bring there."""
    try:
        return place(program, seed)
    except ImpossibleError:
        return None


@contextmanager
def observed() -> Iterator[Seen]:
    """The choice graph of every function that is placed, as placement sees it."""
    seen: Seen = []

    def see(before: Function, _after: Function, places: PlaceGraph) -> None:
        seen.append((before, places))

    token = placing.OBSERVER.set(see)
    try:
        yield seen
    finally:
        placing.OBSERVER.reset(token)


MOST_OPEN = 12


@pytest.mark.parametrize("block", BLOCKS[::4])
def test_every_plan_of_small_programs(block: int) -> None:
    """Enumeration of all plans finds nothing cheaper than the exact search, and nothing else to be the cheapest."""
    compared = 0
    # A block by itself may have nothing but functions without a choice, or with too many.
    for seed in range(block * PER_BLOCK, (block + 4) * PER_BLOCK):
        with observed() as seen:
            placed_or_refused(random_program(seed, SMALL), seed)
        for _, places in seen:
            graph = places.choices
            if open_choices(graph) > MOST_OPEN:
                continue
            exact = solve(graph, exact=True)
            assert exact.status == "optimal"
            assert exact.cost == pytest.approx(graph.cost(cheapest(graph)), rel=1e-12), f"program {seed}"
            compared += 1
    assert compared


SAMPLED = range(200) if NIGHTLY else range(8)
DRAWS = 50 if NIGHTLY else 6


@pytest.mark.parametrize("seed", SAMPLED)
def test_random_plans_mean_the_same(seed: int) -> None:
    """Not only the cheapest program is right: whatever may be chosen is."""
    program = random_program(seed, USUAL)
    with observed() as seen:
        placed_or_refused(program, seed)
    for before, places in seen:
        for choice in sample(places.choices, seed, DRAWS):
            after = PlaceElaborator(places, choice).function()
            drawn = replace(program, functions=(after,))
            assert errors(verify(drawn, properties=OUTPUT_PROPERTIES, hardware=chip_of(seed))) == ()
            validation = tilesat.validate(replace(program, functions=(before,)), drawn, seeds=(0,))
            assert validation.difference is None, f"program {seed}: {validation.difference}\n{drawn}"


def test_parts_of_real_size_are_left_to_decide() -> None:
    """The tests above would mean little if reduction alone decided everything."""
    with observed() as seen:
        for seed in range(12):
            place(random_program(seed, USUAL), seed)
    assert sum(len(part.cls) for _, places in seen for part in reduce(places.choices).parts) > 100
