"""A kind of programs that rules are checked on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from tilesat.ir.nodes import Program
from tilesat.lab.census import features_of
from tilesat.lab.choices import Choices, RandomChoices
from tilesat.lab.config import GeneratorConfig
from tilesat.lab.orch_programs import OrchConfig, orchestration_program
from tilesat.lab.program import generate_program
from tilesat.rules.rule import STAGES, Rule

KERNELS, ORCHESTRATION = "kernels", "orchestration"
"""What passes run on: kernels one by one, or whole programs."""

NO_ALIAS, NONZERO_TRIPS = "assume_noalias", "assume_nonzero_trips"
"""Options that promise something of the programs."""

_STAGES = {
    KERNELS: ("inference", "evidence", "residency", "placement"),
    ORCHESTRATION: ("reuse", "strides", "gather", "windows"),
}


@dataclass(frozen=True, slots=True)
class Target:
    """Programs of one kind: what ``config`` makes, compiled for ``hardware``."""

    name: str
    meaning: str
    config: GeneratorConfig | OrchConfig
    hardware: str | None = "910b"
    promises: frozenset[str] = frozenset()
    """What of the user's promises the programs keep on purpose."""

    @property
    def kind(self) -> str:
        """Which pass runs over the programs: :data:`KERNELS` or :data:`ORCHESTRATION`."""
        return ORCHESTRATION if isinstance(self.config, OrchConfig) else KERNELS

    def keeping(self, promises: Collection[str]) -> Target:
        """Programs of this kind for which ``promises`` of the user hold (see :func:`tilesat.rules.catalogue.options`).

        Those that are permissions hold for all programs.
        """
        config = self.config
        if not isinstance(config, GeneratorConfig):
            return self
        if NO_ALIAS in promises:
            config = config.without("overlapping_arguments")
        if NONZERO_TRIPS in promises:
            config = replace(config, least_trips=1)
        return replace(self, config=config, promises=frozenset(promises))

    def has(self, program: Program) -> bool:
        """Whether what the programs of this target keep holds for ``program``, which somebody has made smaller."""
        return NO_ALIAS not in self.promises or "overlapping_arguments" not in features_of(program)

    def program(self, seed: int) -> Program:
        """The program of ``seed``: equal seeds give equal programs."""
        return self.make(RandomChoices(seed))

    def make(self, choices: Choices) -> Program:
        """The program that ``choices`` make."""
        if isinstance(self.config, OrchConfig):
            return orchestration_program(choices, self.config)
        return generate_program(choices, self.config)


def kind_of(rule: Rule) -> str | None:
    """Which programs make ``rule`` fire: :data:`KERNELS`, :data:`ORCHESTRATION`, or ``None`` for no phase of either."""
    for kind, stages in _STAGES.items():
        if any(rule.phase in STAGES[stage] for stage in stages):
            return kind
    return None
