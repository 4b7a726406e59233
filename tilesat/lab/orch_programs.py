"""Random whole programs: kernels, and an orchestration function that launches them on shared buffers.

Driven by :class:`tilesat.lab.choices.Choices`: the lowest numbers give the simplest program.
"""

from __future__ import annotations

from dataclasses import dataclass

from tilesat.ir.nodes import Program
from tilesat.ir.parser import parse
from tilesat.lab.choices import Choices, RandomChoices
from tilesat.lab.orch_callers import MAIN, MAIN_NAME, PART, PART_NAME, Caller
from tilesat.lab.orch_kernels import KERNELS, KernelText
from tilesat.lab.orch_scenes import check_scenes, orchestration_scene


@dataclass(frozen=True, slots=True)
class OrchConfig:
    """What a random orchestration program contains.

    ``scenes`` are situations of :data:`tilesat.lab.orch_scenes.ORCH_SCENES` in which certain rules fire; with any,
    ``main`` is up to ``most_scenes`` of them among a few other statements. ``kernels`` bounds the number of random
    kernels besides, ``budget`` the number of random statements. ``has_parts`` lets another orchestration function be
    called once in a while.

    Raises :class:`tilesat.TilesatError` for an unknown scene.
    """

    scenes: tuple[str, ...] = ()
    most_scenes: int = 2
    kernels: int = 3
    budget: int = 12
    has_parts: bool = True

    def __post_init__(self) -> None:
        check_scenes(self.scenes)


_DEFAULT = OrchConfig()


def orchestration_text(choices: Choices, config: OrchConfig = _DEFAULT) -> str:
    """The text of a random program."""
    kinds = [choices.pick(KERNELS) for _ in range(choices.integer(1, config.kernels))]
    functions = [make(choices, f"k{number}") for number, make in enumerate(kinds)]
    if config.has_parts and choices.chance(4):
        functions.append(Caller(choices, PART_NAME, PART, list(functions), budget=4).text())
    main = Caller(choices, MAIN_NAME, MAIN, list(functions), config.budget)
    shown = _staged(main, config) if config.scenes else main.text()
    functions += [*main.added, shown]
    lines = ["# pypto.program: Random", "import pypto.language as pl", *main.heads, "", "@pl.program", "class Random:"]
    lines += [f"    {line}" for function in functions for line in function.lines]
    return "\n".join(lines) + "\n"


def _staged(main: Caller, config: OrchConfig) -> KernelText:
    """``main`` as scenes, with other statements before, between and after them."""
    choices = main.choices
    for _ in range(choices.integer(1, config.most_scenes)):
        main.statements(choices.integer(0, 1))
        choices.span(lambda: orchestration_scene(choices.pick(config.scenes))(main))
    main.statements(choices.integer(0, 1))
    return main.finished()


def orchestration_program(choices: Choices, config: OrchConfig = _DEFAULT) -> Program:
    """A random program of kernels and an orchestration function ``main``.

    It satisfies :data:`tilesat.bridge.orch.ORCH_PROPERTIES`, stays inside its buffers and never writes a parameter In.
    """
    return parse(orchestration_text(choices, config))


def random_orchestration(seed: int, config: OrchConfig | None = None) -> Program:
    """The program of ``seed``: equal seeds and configurations give equal programs."""
    return orchestration_program(RandomChoices(seed), config or _DEFAULT)
