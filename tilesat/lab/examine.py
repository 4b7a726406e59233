"""One program under a rule set: what came out, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass

from tilesat.errors import SolveError, TilesatError
from tilesat.ir.hardware import hardware
from tilesat.ir.nodes import Program
from tilesat.lab.firing import Firings, firings
from tilesat.lab.judge import CRASH, Fault, Judge
from tilesat.lab.orch_judge import OrchJudge
from tilesat.lab.orch_variants import orch_variants
from tilesat.lab.target import KERNELS, Target
from tilesat.lab.variants import Variants, variants
from tilesat.rules.rule import RuleSet


@dataclass(slots=True)
class Outcome:
    """``fault`` is what is wrong, ``refusal`` why there is no result, ``unjudged`` that nothing could be evaluated."""

    firings: Firings
    results: Variants | None = None
    fault: Fault | None = None
    refusal: str = ""
    unjudged: bool = False


def examine(program: Program, rules: RuleSet, target: Target, samples: int, seed: int) -> Outcome:
    """Run ``rules`` over ``program`` and judge all results.

    A pass that raises has no result. A refusal with a reason (:class:`tilesat.SolveError`) is no fault by itself;
    anything else that a pass raises is.
    """
    chip = hardware(target.hardware)
    results_of = variants if target.kind == KERNELS else orch_variants
    with firings() as found:
        try:
            results = results_of(program, rules, chip, samples=samples, seed=seed)
        except SolveError as error:
            return Outcome(found, refusal=str(error))
        except (TilesatError, AssertionError, LookupError, TypeError, ValueError, AttributeError) as error:
            text = f"{type(error).__name__}: {error}"
            return Outcome(found, fault=Fault(CRASH, "", text), refusal=text)
    judge = Judge(program, chip) if target.kind == KERNELS else OrchJudge(program)
    return Outcome(found, results, judge.first_fault(results), unjudged=not judge.can_judge)
