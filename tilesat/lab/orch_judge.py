"""Whether a result of the orchestration pass is a legal program that computes what the original does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tilesat.bridge.orch import ORCH_PROPERTIES
from tilesat.diagnostics import Diagnostic, errors
from tilesat.errors import InterpretError
from tilesat.ir.interp import Difference, Interpretation, difference, interpret
from tilesat.ir.interp.random_args import default_dims
from tilesat.ir.nodes import Program
from tilesat.ir.types import Direction
from tilesat.ir.verify import verify
from tilesat.lab.judge import ILLEGAL, WRONG_VALUE, Fault, Run, diagnostic_text, runs_of
from tilesat.lab.orch_strides import watched
from tilesat.lab.variants import Variants

WRONG_STRIDES = "wrong strides"


class OrchJudge:
    """Judges results against ``program``, which is interpreted once per entry function and seed.

    A result must have :data:`tilesat.bridge.orch.ORCH_PROPERTIES`, show the same values, and its kernels must state the
    strides of the tensors that launches give them. What is wrong with ``program`` itself does not count. Where a result
    gives parameters In up, as the documents allow, their contents afterwards do not count. A function that writes its
    own parameters In is not judged.
    """

    def __init__(self, program: Program, seeds: Sequence[int] = (0, 1)) -> None:
        self.program = program
        self._flaws = {_key(found) for found in errors(verify(program, properties=ORCH_PROPERTIES))}
        with watched() as passed:
            # Launches get what belongs to them, so kernels cannot be judged on their own.
            runs = runs_of(program, seeds, kernels_too=False)
        self._runs = [run for run in runs if not _writes_inputs(program, run)]
        self._strides = set(passed.wrong())
        self._known: dict[tuple[Program, bool], Fault | None] = {}

    @property
    def can_judge(self) -> bool:
        """Whether anything of the program can be evaluated."""
        return bool(self._runs)

    def first_fault(self, variants: Variants) -> Fault | None:
        """The first thing wrong with any of the results; equal results are judged once."""
        for variant in variants.found:
            key = variant.program, variant.gives_up
            if key not in self._known:
                self._known[key] = self._fault(*key)
            fault = self._known[key]
            if fault is not None:
                return replace(fault, variant=variant.name, program=variant.program)
        return None

    def _fault(self, after: Program, gives_up: bool) -> Fault | None:
        found = [d for d in errors(verify(after, properties=ORCH_PROPERTIES)) if _key(d) not in self._flaws]
        if found:
            return Fault(ILLEGAL, "", diagnostic_text(found[0]))
        with watched() as passed:
            wrong = self._wrong_value(after, gives_up)
        strides = [text for text in passed.wrong() if text not in self._strides]
        if wrong is None and strides:
            return Fault(WRONG_STRIDES, "", strides[0])
        return wrong

    def _wrong_value(self, after: Program, gives_up: bool) -> Fault | None:
        dims = default_dims(after, None)
        for run in self._runs:
            hidden = _inputs(self.program, run.function) if gives_up else frozenset()
            try:
                shown = interpret(after, run.function, run.arguments, dims=dims)
            except InterpretError as error:
                found: Difference | None = Difference(
                    run.function, "evaluation", None, "runs", str(error), run.seed, run.limit
                )
            else:
                found = difference(_without(run.shown, hidden), _without(shown, hidden))
            if found is not None:
                found = replace(found, function=run.function, seed=run.seed, limit=run.limit)
                return Fault(WRONG_VALUE, "", str(found), difference=found)
        return None


def _key(found: Diagnostic) -> tuple[str, str, str]:
    return found.check, found.function, found.message


def _inputs(program: Program, function: str) -> frozenset[str]:
    params = program.function(function).params
    return frozenset(param.name for param in params if param.direction is Direction.In)


def _writes_inputs(program: Program, run: Run) -> bool:
    names = _inputs(program, run.function)
    return any(
        not np.array_equal(run.arguments[n], run.shown.arguments[n], equal_nan=True)
        for n in names
        if n in run.shown.arguments
    )


def _without(shown: Interpretation, names: frozenset[str]) -> Interpretation:
    kept = {name: array for name, array in shown.arguments.items() if name not in names}
    return replace(shown, arguments=kept)
