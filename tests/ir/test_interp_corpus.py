"""The interpreter as judge of the peer compiler's output on all cases and kernels."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest

from tests.ir.test_interp_helpers import DATA
from tilesat.ir.interp import Difference, compare, runnable_arguments
from tilesat.ir.nodes import INCORE, ORCHESTRATION, Program
from tilesat.ir.parser import parse_text

# Cases whose peer output is known to be wrong, or not to be a program of the target (spec/cases).
WRONG_INFERENCE = frozenset({"I11", "I13", "I14", "I16", "I17", "I26", "I28", "I29", "I41", "I60", "I63", "I66", "I67"})
# Wrong merges of outputs into inputs, dropped initial values and offsets (peer behaviour, sections 8.1 to 8.4).
WRONG_ORCHESTRATION = frozenset({"O05", "O07", "O14", "O15", "O17", "O31", "O32", "O36"})

CASES = sorted(path.name for path in (DATA / "cases").iterdir())
INFERENCE = [case for case in CASES if case.startswith("I") and case not in WRONG_INFERENCE]
ORCHESTRATED = [case for case in CASES if case.startswith("O")]
KERNELS = sorted(path.name for path in (DATA / "kernels").iterdir())


@lru_cache(maxsize=4)
def parsed(path: Path) -> Program:
    return parse_text(path.read_text(encoding="utf-8"), str(path))


def before_and_after(case: str) -> tuple[Program, Program]:
    folder = DATA / "cases" / case
    return parsed(folder / "before.py"), parsed(folder / "peer_after.py")


def first_difference(before: Program, after: Program, *kinds: str, observe_inputs: bool = True) -> Difference | None:
    """The first difference of the functions of that one of ``kinds`` which comes first and occurs."""
    present = {function.kind for function in before.functions}
    kind = next(kind for kind in kinds if kind in present)
    for function in before.functions:
        if function.kind != kind:
            continue
        found = compare(before, after, function.name, seeds=(0,), observe_inputs=observe_inputs)
        if found is not None:
            return found
    return None


@pytest.mark.parametrize("case", INFERENCE)
def test_inferring_spaces_changes_nothing_observable(case: str) -> None:
    assert first_difference(*before_and_after(case), INCORE, "AIC", "AIV") is None


def test_a_write_to_a_private_copy_shows() -> None:
    """Case I26: the peer moves the operand of ``tile.write``, and the product reads the original."""
    found = first_difference(*before_and_after("I26"), INCORE)
    assert found is not None
    assert found.place == "argument 'o__ssa_v0'"
    assert found.index == (3, 0), "the row that is written"


@pytest.mark.parametrize("case", ORCHESTRATED)
def test_merging_outputs_into_inputs(case: str) -> None:
    """From the entry, inputs given up: the peer's output is right except where it is known to be wrong."""
    before, after = before_and_after(case)
    found = first_difference(before, after, ORCHESTRATION, INCORE, observe_inputs=False)
    assert (found is not None) == (case in WRONG_ORCHESTRATION)


def test_a_merge_into_an_input_of_the_entry_shows_to_who_keeps_the_input() -> None:
    """Case O01: the carried state ends in the buffer of the initial state."""
    found = first_difference(*before_and_after("O01"), ORCHESTRATION)
    assert found is not None
    assert found.place == "argument 'init__ssa_v0'"


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_run_and_the_peer_keeps_their_meaning(kernel: str) -> None:
    """Whole programs, before and after inference, from the function that nobody calls."""
    folder = DATA / "kernels" / kernel
    before, after = parsed(folder / "infer_before.py"), parsed(folder / "infer_peer.py")
    assert first_difference(before, after, ORCHESTRATION) is None


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_keep_their_meaning_before_tensors_become_tiles(kernel: str) -> None:
    folder = DATA / "kernels" / kernel
    before, after = parsed(folder / "orch_before.py"), parsed(folder / "orch_peer.py")
    assert first_difference(before, after, ORCHESTRATION, observe_inputs=False) is None


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_function_runs_on_its_own(kernel: str) -> None:
    program = parsed(DATA / "kernels" / kernel / "infer_before.py")
    for function in program.functions:
        _, _, shown = runnable_arguments(program, function.name)
        assert shown.steps > 0
