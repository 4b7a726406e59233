"""Whether a result is a legal program that computes what the original does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tilesat.bridge.validate import entry_functions
from tilesat.diagnostics import Diagnostic, errors
from tilesat.errors import InterpretError
from tilesat.ir.hardware import Hardware
from tilesat.ir.interp import Difference, Interpretation, difference, interpret, runnable_arguments
from tilesat.ir.interp.random_args import default_dims
from tilesat.ir.nodes import Assign, OpCall, Program
from tilesat.ir.verify import OUTPUT_PROPERTIES, verify
from tilesat.ir.walk import walk
from tilesat.lab.variants import Variants

_TRANSFERS = ("tile.move", "tile.extract")
WRONG_VALUE, ILLEGAL, NO_PATH, CRASH = "wrong value", "illegal program", "impossible transfer", "no result"


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a result: ``kind``, ``variant`` that has it, and what was seen."""

    kind: str
    variant: str
    message: str
    program: Program | None = None
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """What an entry function shows on the random arguments of a seed."""

    function: str
    seed: int
    limit: int
    arguments: dict[str, Any]
    shown: Interpretation


class Judge:
    """Judges results against ``program``, which is interpreted once per entry function and seed.

    Where an entry function cannot be evaluated, the kernels are evaluated on their own.
    """

    def __init__(self, program: Program, chip: Hardware | None, seeds: Sequence[int] = (0, 1)) -> None:
        self.program = program
        self.chip = chip
        self._paths = _transfers(program, chip)
        self._own_moves = _own_moves(program)
        self._runs = runs_of(program, seeds)
        self._known: dict[Program, Fault | None] = {}

    @property
    def can_judge(self) -> bool:
        """Whether anything of the program can be evaluated."""
        return bool(self._runs)

    def first_fault(self, variants: Variants) -> Fault | None:
        """The first thing wrong with any of the results; equal results are judged once."""
        for variant in variants.found:
            if variant.program not in self._known:
                self._known[variant.program] = self._fault(variant.program, variants.impossible)
            fault = self._known[variant.program]
            if fault is not None:
                return replace(fault, variant=variant.name, program=variant.program)
        return None

    def _fault(self, after: Program, impossible: int) -> Fault | None:
        found = errors(verify(after, properties=OUTPUT_PROPERTIES, hardware=self.chip))
        if found:
            return Fault(ILLEGAL, "", diagnostic_text(found[0]))
        paths = _transfers(after, self.chip)
        if not self._paths and not impossible:
            # Where the author's own moves lead is the author's affair.
            new = [text for name, text in paths.items() if name not in self._own_moves]
            if new:
                return Fault(NO_PATH, "", new[0])
        return self._wrong_value(after)

    def _wrong_value(self, after: Program) -> Fault | None:
        dims = default_dims(after, None)
        for run in self._runs:
            try:
                shown = interpret(after, run.function, run.arguments, dims=dims)
            except InterpretError as error:
                found: Difference | None = Difference(
                    run.function, "evaluation", None, "runs", str(error), run.seed, run.limit
                )
            else:
                found = difference(run.shown, shown)
            if found is not None:
                found = replace(found, function=run.function, seed=run.seed, limit=run.limit)
                return Fault(WRONG_VALUE, "", str(found), difference=found)
        return None


def runs_of(program: Program, seeds: Sequence[int], *, kernels_too: bool = True) -> list[Run]:
    """The entry functions of ``program`` on random arguments.

    Where one cannot be evaluated, the kernels take its place, with ``kernels_too``: passes that keep their interfaces
    can be judged on them.
    """
    found: list[Run] = []
    kernels = [function.name for function in program.functions if function.is_incore and kernels_too]
    pending = entry_functions(program)
    for name in pending:
        try:
            runs = [Run(name, seed, *_swapped(program, name, seed)) for seed in seeds]
        except InterpretError:
            pending += [kernel for kernel in kernels if kernel not in pending]
            continue
        found += runs
    return found


def _swapped(program: Program, function: str, seed: int) -> tuple[int, dict[str, Any], Interpretation]:
    arguments, limit, shown = runnable_arguments(program, function, seed)
    return limit, arguments, shown


def _transfers(program: Program, chip: Hardware | None) -> dict[str, str]:
    """Transfers that no hardware makes, by what they bind; tiles that are too large are another matter."""
    found = errors(verify(program, properties=("HardwarePaths",), hardware=chip, paths="error"))
    return {diagnostic.place.partition(":")[0]: diagnostic_text(diagnostic) for diagnostic in found}


def _own_moves(program: Program) -> frozenset[str]:
    """Names that moves and extracts of ``program`` bind."""
    return frozenset(
        stmt.name
        for function in program.functions
        for stmt in walk(function.body)
        if isinstance(stmt, Assign) and isinstance(stmt.value, OpCall) and stmt.value.op in _TRANSFERS
    )


def diagnostic_text(diagnostic: Diagnostic) -> str:
    """A diagnostic in one line."""
    where = f" at `{diagnostic.place}`" if diagnostic.place else ""
    return f"{diagnostic.check}: function '{diagnostic.function}': {diagnostic.message}{where}"
