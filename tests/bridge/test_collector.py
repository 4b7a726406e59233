"""The cycle collector rests during a pass and is afterwards as it was."""

from __future__ import annotations

import gc

import pytest

import tilesat
from tests.corpus import kernel
from tilesat.bridge.collector import collector_paused


def test_the_collector_runs_again_after_a_pass() -> None:
    states: list[bool] = []
    program = kernel("gemm_bias_gelu", "infer_before")
    tilesat.infer_tile_memory_space(program, progress=lambda _done, _name: states.append(gc.isenabled()))
    assert states
    assert not any(states)
    assert gc.isenabled()


def test_the_collector_runs_again_after_a_failure_in_a_nested_pass() -> None:
    with pytest.raises(tilesat.SolveError), collector_paused(), collector_paused():
        raise tilesat.SolveError("no")
    assert gc.isenabled()


def test_a_collector_that_rested_already_rests_on() -> None:
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
