"""One run of a pass as the command line asks for it: whether it makes sense, and the run."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tilesat.bridge import workers
from tilesat.bridge.infer import PassResult, Progress, infer_tile_memory_space
from tilesat.bridge.orch import PATTERNS, optimize_orch_tensors
from tilesat.bridge.pipeline import optimize
from tilesat.errors import TilesatError
from tilesat.extract.cost import PRESETS, Cost
from tilesat.ir.nodes import Program
from tilesat.ir.walk import statements_in
from tilesat.rules.catalogue import allow, preset
from tilesat.rules.orch_reuse import OFFERS_FAMILY
from tilesat.rules.rule import RuleSet

WORTH_PROCESSES = 10_000
"""Statements from which on more is saved by processes than it takes to start them."""
MOST_JOBS = 8
"""Processes that are started unasked; each takes the memory of an interpreter and its e-graphs."""


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for; ``None`` where the user said nothing."""

    pass_name: str
    rules: str | RuleSet
    hardware: str | None = None
    cost: Cost | None = None
    exact: bool = False
    time_limit: float | None = None
    seed: int | None = None
    options: tuple[str, ...] = ()
    explain: bool = False
    jobs: int | None = None

    def check(self) -> None:
        """Refuse what would have no effect, before anything is read.

        Raises :class:`tilesat.TilesatError` that names the option.
        """
        rules = preset(self.rules)
        if self.jobs is not None and self.pass_name == "orch":
            text = "--jobs is about functions solved one by one, and --pass orch solves them together"
            raise TilesatError(text, hint="--pass infer or all")
        allow(rules, self.options, places=self.pass_name != "orch", tensors=self.pass_name != "infer")
        if not self._chooses(rules):
            given = {
                "--cost": self.cost is not None,
                "--exact": self.exact,
                "--time-limit": self.time_limit is not None,
                "--seed": self.seed is not None,
            }
            useless = [name for name, is_given in given.items() if is_given]
            if useless:
                text = f"rule set '{rules.name}' leaves nothing to choose, so {useless[0]} has no effect"
                raise TilesatError(text, hint="use --rules optimal")
        if self.pass_name == "orch" and self.cost is not None and self.cost not in PRESETS:
            text = f"--pass orch has no cost model '{self.cost}'"
            raise TilesatError(text, hint=f"one of {', '.join(PRESETS)}; a file prices transfers of tiles")

    def _chooses(self, rules: RuleSet) -> bool:
        """Whether the pass has anything to search with ``rules``."""
        places = rules.has_stage("placement") and self.pass_name != "orch"
        return places or (self.pass_name != "infer" and any(rule.family == OFFERS_FAMILY for rule in rules))

    @property
    def cost_name(self) -> str:
        """The cost model as the user knows it."""
        if isinstance(self.cost, (str, Path)):
            return Path(self.cost).name
        return "traffic" if self.cost is None else str(getattr(self.cost, "name", type(self.cost).__name__))

    def steps(self, program: Program) -> int:
        """How many steps the run reports."""
        kernels = 0 if self.pass_name == "orch" else len(program.functions)
        return kernels + (0 if self.pass_name == "infer" else len(PATTERNS))

    def run(self, program: Program, progress: Progress | None = None) -> PassResult:
        """Run the pass on ``program``."""
        arguments: dict[str, Any] = {
            "rules": self.rules,
            "cost": self.cost or "traffic",
            "hardware": self.hardware,
            "exact": self.exact,
            "time_limit": 10.0 if self.time_limit is None else self.time_limit,
            "seed": self.seed or 0,
            "progress": progress,
        }
        if self.pass_name == "orch":
            return optimize_orch_tensors(program, options=self.options, **arguments)
        run = infer_tile_memory_space if self.pass_name == "infer" else optimize
        return run(program, options=self.options, explain=self.explain, jobs=self.jobs_for(program), **arguments)

    def jobs_for(self, program: Program) -> int:
        """How many processes solve ``program``: those asked for, or all processors where that saves time."""
        if self.jobs is not None:
            return self.jobs
        sendable = self.cost is None or isinstance(self.cost, (str, Path))
        if (
            not sendable
            or not preset(self.rules).has_stage("placement")
            or len(program.functions) < workers.FEWEST_TASKS
        ):
            return 1
        statements = statements_in(*(function.body for function in program.functions))
        return min(MOST_JOBS, processors()) if statements >= WORTH_PROCESSES else 1


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
