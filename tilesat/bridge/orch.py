"""The orchestration pass: five patterns in order, each on the result of the one before (ORC-S-01)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from tilesat.bridge.infer import STATUSES, PassResult
from tilesat.bridge.orch_gather import store_blocks
from tilesat.bridge.orch_reuse import merge_buffers
from tilesat.bridge.orch_search import program_cost
from tilesat.bridge.orch_stage import OVERWRITTEN_INPUT, OrchContext, Search
from tilesat.bridge.orch_strides import state_strides
from tilesat.bridge.orch_windows import externalize_windows
from tilesat.diagnostics import errors
from tilesat.errors import RuleError
from tilesat.extract.orch_choice import CheapestChoice
from tilesat.extract.orch_cost import OrchCostModel, orch_cost_model
from tilesat.ir.hardware import Hardware
from tilesat.ir.hardware import hardware as find_chip
from tilesat.ir.nodes import Program
from tilesat.ir.types import Direction
from tilesat.ir.verify import INPUT_PROPERTIES, require, verify
from tilesat.ir_terms.session import Clock
from tilesat.rules.catalogue import allow, preset
from tilesat.rules.loading import unvouched
from tilesat.rules.orch_reuse import OFFERS_FAMILY
from tilesat.rules.rule import STAGES, RuleSet

_MOST_NAMED = 4

__all__ = ["ORCH_PROPERTIES", "OVERWRITTEN_INPUT", "PATTERNS", "optimize_orch_tensors", "run_patterns"]

Progress = Callable[[int, str], None]
Pattern = Callable[[Program, OrchContext], Program]

ORCH_PROPERTIES = (*INPUT_PROPERTIES, "TypesConsistent")
"""What the pass keeps: what it requires of its input, and types that agree."""

PATTERNS: tuple[tuple[str, str, Pattern], ...] = (
    ("in-place merges", "reuse", merge_buffers),
    ("strides of outputs", "strides", lambda program, context: state_strides(program, context, Direction.Out)),
    ("gathering loops", "gather", store_blocks),
    ("strides of inputs", "strides", lambda program, context: state_strides(program, context, Direction.In)),
    ("windows", "windows", externalize_windows),
)
"""Name, stage of the rules, and rewriter of each pattern."""


def optimize_orch_tensors(
    program: Program,
    *,
    rules: str | RuleSet = "reference",
    cost: str | OrchCostModel = "traffic",
    hardware: str | Hardware | None = None,
    options: Iterable[str] = (),
    exact: bool = False,
    time_limit: float = 10.0,
    seed: int = 0,
    check: bool = True,
    progress: Progress | None = None,
) -> PassResult:
    """Reuse buffers, state strides, store blocks as they come, and make windows explicit.

    ``rules`` is a preset's name or a rule set, ``cost`` a preset's name or a model (it matters where the rules offer a
    choice, see :class:`tilesat.extract.orch_cost.OrchCostModel`), ``hardware`` a chip's name or ``None``. ``exact``
    proves the choices of each pattern with a solver, within ``time_limit`` seconds. ``check`` verifies the result.
    ``progress`` is called with the number of patterns done and the name of the next.

    A merge may overwrite an In parameter of a function that nobody in the program calls, as the documents do (cases
    O01, O37); a warning names it. ``options`` may have ``keep_inputs``, with which no merge does that.

    Raises :class:`tilesat.VerifyError` for input without a required property, :class:`tilesat.RuleError` when the rules
    fail or an option is unknown, and :class:`tilesat.CostModelError` when the model does.
    """
    chosen = allow(preset(rules), options, places=False)
    chip = find_chip(hardware)
    start = time.perf_counter()
    require(program, INPUT_PROPERTIES)
    clock = Clock()
    clock.add("verify input", start)
    if not any(rule.family == OFFERS_FAMILY for rule in chosen):
        context = OrchContext(chosen, clock=clock)
        result = run_patterns(program, context, progress)
        return _result(program, result, context, check)
    model = orch_cost_model(cost, chip)
    chooser = CheapestChoice(exact, time_limit, seed)
    context = OrchContext(chosen, Search(model, chooser), clock=clock)
    result = run_patterns(program, context, progress)
    reference = OrchContext(documented(chosen), workspace=context.workspace, clock=clock)
    baseline = run_patterns(program, reference, None)
    start = time.perf_counter()
    costs = program_cost(result, context, model), program_cost(baseline, context, model)
    clock.add("cost", start)
    if costs[0] > costs[1]:
        # Each pattern chose the best for itself; together the documented choices may still be better.
        result, context, costs = baseline, reference, (costs[1], costs[1])
    status = max(("heuristic", *chooser.statuses), key=STATUSES.index)
    outcome = _result(program, result, context, check)
    return replace(outcome, cost=costs[0], reference_cost=costs[1], status=status)


def documented(rules: RuleSet) -> RuleSet:
    """What of ``rules`` decides as the documents do: the preset ``reference`` with the changes that its user made."""
    reference, optimal = preset("reference"), preset("optimal")
    mine = {rule.name: rule for rule in rules}
    removed = {rule.name for rule in optimal} - mine.keys()
    kept = [mine.get(rule.name, rule) for rule in reference if rule.name not in removed]
    known = {rule.name for rule in (*reference, *optimal)}
    added = [rule for rule in rules if rule.name not in known and rule.family != OFFERS_FAMILY]
    return RuleSet(f"{rules.name}, as documented", (*kept, *added))


def run_patterns(program: Program, context: OrchContext, progress: Progress | None) -> Program:
    """All patterns that ``context`` has rules for, one after the other."""
    for done, (name, stage, pattern) in enumerate(PATTERNS):
        if progress is not None:
            progress(done, name)
        if context.rules.has_stage(stage):
            with _carried_out(name, stage, context.rules):
                program = pattern(program, context)
    return program


@contextmanager
def _carried_out(pattern: str, stage: str, rules: RuleSet) -> Iterator[None]:
    """Where the user's changes to the rules let a pattern decide what cannot be done, an error says which they are.

    With the shipped rules such a failure is our own and stays what it is.
    """
    try:
        yield
    except (AssertionError, LookupError, ValueError) as error:
        shipped = [rule for rule in preset("optimal") if rule in preset("reference").rules]
        left_out = [rule.name for rule in shipped if rule.phase in STAGES[stage] and rule.name not in rules]
        changed = [*(f"without '{name}'" for name in left_out), *(f"with '{n}'" for n in sorted(unvouched(rules)))]
        if not changed:
            raise
        text = f"the rules decide on {pattern} that cannot be carried out: {', '.join(changed[:_MOST_NAMED])}"
        raise RuleError(text, hint="a condition of the shipped rules is missing") from error


def _result(before: Program, after: Program, context: OrchContext, check: bool) -> PassResult:
    if check and after is not before:
        _check(before, after, context)
    return PassResult(after, tuple(context.decisions), tuple(context.diagnostics), context.clock.seconds)


def _check(before: Program, after: Program, context: OrchContext) -> None:
    start = time.perf_counter()
    # A program whose types disagree already may go on disagreeing.
    consistent = not errors(verify(before, properties=("TypesConsistent",)))
    require(after, ORCH_PROPERTIES if consistent else INPUT_PROPERTIES)
    context.clock.add("verify output", start)
