"""Several results of the orchestration pass: as documented, the cheapest, and random other legal ones."""

from __future__ import annotations

from tilesat.bridge.decisions import Decision
from tilesat.bridge.orch import documented, optimize_orch_tensors, run_patterns
from tilesat.bridge.orch_stage import OVERWRITTEN_INPUT, OrchContext, Search
from tilesat.diagnostics import Diagnostic
from tilesat.extract.orch_choice import RandomChoice
from tilesat.extract.orch_cost import orch_cost_model
from tilesat.ir.hardware import Hardware
from tilesat.ir.nodes import Program
from tilesat.lab.variants import CHEAPEST, DOCUMENTED, SEARCH_SECONDS, Variant, Variants
from tilesat.rules.orch_reuse import OFFERS_FAMILY
from tilesat.rules.rule import RuleSet

COST = "traffic"
_SEEDS = 1000
"""Random results of one program take seeds that no other program's take."""


def orch_variants(
    program: Program, rules: RuleSet, chip: Hardware | None, *, samples: int = 2, seed: int = 0
) -> Variants:
    """The results of ``rules`` on ``program`` by name, none of them verified.

    ``samples`` random results, each chosen from all that the rules offer, whatever it costs, are drawn with ``seed``.
    Rule sets that offer no choice have one result. Raises what :func:`tilesat.optimize_orch_tensors` raises, but for
    the errors of a wrong result.
    """
    result = optimize_orch_tensors(
        program, rules=rules, cost=COST, hardware=chip, time_limit=SEARCH_SECONDS, seed=seed, check=False
    )
    if not any(rule.family == OFFERS_FAMILY for rule in rules):
        return Variants((_variant(DOCUMENTED, result.program, result.decisions, result.diagnostics),), 0)
    baseline = OrchContext(documented(rules))
    found = [_ran(DOCUMENTED, program, baseline)]
    found.append(_variant(CHEAPEST, result.program, result.decisions, result.diagnostics))
    model = orch_cost_model(COST, chip)
    for number in range(samples):
        search = Search(model, RandomChoice(seed * _SEEDS + number))
        context = OrchContext(rules, search, workspace=baseline.workspace)
        found.append(_ran(f"random {number + 1}", program, context))
    return Variants(tuple(found), 0)


def _ran(name: str, program: Program, context: OrchContext) -> Variant:
    after = run_patterns(program, context, None)
    return _variant(name, after, tuple(context.decisions), tuple(context.diagnostics))


def _variant(
    name: str, program: Program, decisions: tuple[Decision, ...], diagnostics: tuple[Diagnostic, ...]
) -> Variant:
    gives_up = any(diagnostic.check == OVERWRITTEN_INPUT for diagnostic in diagnostics)
    return Variant(name, program, lambda: list(decisions), gives_up)
