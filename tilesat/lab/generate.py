"""The generator's public face: programs from choices or seeds, of random or given size."""

from __future__ import annotations

from tilesat.ir.nodes import Program
from tilesat.lab.choices import Choices, RandomChoices
from tilesat.lab.config import ALL_FEATURES, FEATURES, GeneratorConfig
from tilesat.lab.program import generate_program
from tilesat.lab.scale import loop_nest, many_functions, straight_line

__all__ = [
    "ALL_FEATURES",
    "FEATURES",
    "Choices",
    "GeneratorConfig",
    "RandomChoices",
    "generate_program",
    "loop_nest",
    "many_functions",
    "random_program",
    "straight_line",
]


def random_program(seed: int, config: GeneratorConfig | None = None) -> Program:
    """The program of ``seed``: equal seeds and configurations give equal programs."""
    return generate_program(RandomChoices(seed), config or GeneratorConfig())
