"""What holds for every program: generated ones, 200 in the profile ci and 5,000 in nightly.

The generator makes what the issue lists: nested loops with carries, ifs with results, views, aliases, in-place writes,
several consumers, chains of products, bias, transfers between the cores, unknown ops; :mod:`tilesat.lab.census` counts.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.claims import wrong_result, wrong_text
from tests.properties.mutants import MUTANTS, Mutant
from tilesat.ir.nodes import Program
from tilesat.ir_terms.decode import Decoder
from tilesat.ir_terms.egraph import EGraph
from tilesat.ir_terms.encode import Encoder
from tilesat.ir_terms.schema import INGEST, syntax_program
from tilesat.lab.generate import random_program
from tilesat.lab.strategies import programs

NIGHTLY = os.environ.get("TILESAT_PROFILE") == "nightly"
SMALL = programs(max_statements=12)
CHIPS = st.sampled_from((None, "910b", "950"))
GRAPH = EGraph(syntax_program())
MOST_SEEDS = 400 if NIGHTLY else 60
"""Programs that are tried on a mutant."""


@given(program=programs(max_statements=20, functions=2))
def test_text_in_text_out(program: Program) -> None:
    """Print, parse, print is the identity (INF-P3-05)."""
    assert wrong_text(program) is None


@given(program=SMALL, hardware=CHIPS)
def test_inference_keeps_its_promises(program: Program, hardware: str | None) -> None:
    """INF-S-01, INF-S-04, INF-S-05, INF-S-06, INF-P3-05, and the interpreter: nothing observable changes."""
    assert wrong_result(program, hardware=hardware) is None


@given(program=programs(max_statements=20, functions=2))
def test_programs_come_back_from_the_e_graph(program: Program) -> None:
    """``decode(encode(p)) == p``, before any rule has run."""
    encoder = Encoder()
    number = encoder.program(program)
    GRAPH.push()
    try:
        GRAPH.load({f"in-{name}": rows for name, rows in encoder.rows.items()})
        GRAPH.saturate(INGEST)
        assert Decoder(GRAPH).program(number) == program
    finally:
        GRAPH.pop()


def caught(mutant: Mutant, seed: int) -> str | None:
    """What the properties say about the mutant's result for one program; ``None`` if nothing."""
    assert mutant.config is not None
    program = random_program(seed, mutant.config)
    with mutant.applied() as rules:
        return wrong_result(program, rules=rules, again=False)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_mutants_are_caught(mutant: Mutant) -> None:
    """Without a guard some program goes wrong, and the properties see it; with it the same program is right."""
    seed = next((seed for seed in range(MOST_SEEDS) if caught(mutant, seed) is not None), None)
    assert seed is not None, f"nothing shows that {mutant.trap}"
    assert mutant.config is not None
    assert wrong_result(random_program(seed, mutant.config)) is None
