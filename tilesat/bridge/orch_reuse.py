"""Pattern 1: in-place merges, decided by rules and carried out in kernels and at their launches."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection, Mapping
from itertools import combinations

from tilesat.bridge.orch_edit import merged_kernel, without_args
from tilesat.bridge.orch_stage import OVERWRITTEN_INPUT, OrchContext, Picked, local_name, place_at, total
from tilesat.bridge.orch_variants import Variants, apply_variants
from tilesat.extract.decided import read_reasons
from tilesat.extract.orch_choice import LaunchOptions, Option
from tilesat.extract.orch_cost import Frequencies, byte_count, left_out
from tilesat.ir.nodes import Program, Var
from tilesat.ir.types import Direction
from tilesat.ir_terms.egraph import EGraph
from tilesat.ir_terms.orch_facts import Launch, ProgramFacts
from tilesat.ir_terms.orch_facts_kernel import kernel_facts, tensors
from tilesat.ir_terms.orch_facts_reuse import ReuseFacts, created
from tilesat.ir_terms.orch_facts_strides import placed_in

Pair = tuple[int, int]
"""Input and output of a kernel, by position."""
Merge = frozenset[Pair]
"""All pairs that are merged at one launch."""

MAX_PAIRS = 6
"""Pairs of one launch of which all subsets are considered; of more, only the largest and single ones."""


def merge_buffers(program: Program, context: OrchContext) -> Program:
    """Pattern 1 on ``program`` (ORC-1-01 to ORC-1-03)."""
    facts = context.facts(program)
    start = time.perf_counter()
    reuse = ReuseFacts(facts)
    context.clock.add("facts", start)
    if reuse.is_empty:
        return program
    with context.decided("reuse", facts.rows) as graph:
        everywhere = _read_everywhere(graph)
        start = time.perf_counter()
        picked = _picked(graph, facts, context, everywhere)
        chosen = {number: _merge(pick) for number, pick in picked.items()}
        context.clock.add("choose", start)
        _report(graph, facts, context, everywhere, picked)
    start = time.perf_counter()
    result = _apply(program, facts, chosen)
    context.clock.add("rewrite", start)
    return result


def _read_everywhere(graph: EGraph) -> dict[str, Merge]:
    """Per kernel, what the documents merge at all of its launches."""
    pairs: dict[str, set[Pair]] = defaultdict(set)
    for kernel, given, output in sorted(graph.table("merge").read("str", "int", "int")):
        pairs[kernel].add((given, output))
    return {kernel: frozenset(found) for kernel, found in pairs.items()}


def _merge(picked: Picked) -> Merge:
    assert isinstance(picked.variant, frozenset)
    return picked.variant


def _picked(
    graph: EGraph, facts: ProgramFacts, context: OrchContext, everywhere: Mapping[str, Merge]
) -> dict[int, Picked]:
    """What is merged at each launch of every kernel that merges anything anywhere."""
    if context.search is None:
        return {n.number: Picked(everywhere[n.callee.name]) for n in facts.launches if n.callee.name in everywhere}
    offered: dict[int, set[Pair]] = defaultdict(set)
    for number, given, output in sorted(graph.table("merge-at").read("int", "int", "int")):
        offered[number].add((given, output))
    clashes = {(n, a, b) for n, a, b in graph.table("clash").read("int", "int", "int")}
    kernels = {n.callee.name for n in facts.launches if n.number in offered or n.callee.name in everywhere}
    launches = [launch for launch in facts.launches if launch.callee.name in kernels]
    frequencies = Frequencies(facts, context.search.model.frequency)
    problems = []
    for launch in launches:
        merges = [m for m in _subsets(offered.get(launch.number, set())) if _fits(launch.number, m, clashes)]
        first = everywhere.get(launch.callee.name, frozenset())
        if first not in merges:
            merges.append(first)
        options = [Option(m, _cost(launch, m, facts, frequencies, context)) for m in merges]
        problems.append(LaunchOptions(launch.callee.name, options, merges.index(first)))
    picked = context.search.pick(problems)
    result = {launch.number: pick for launch, pick in zip(launches, picked, strict=True)}
    merging = {launch.callee.name for launch in launches if result[launch.number].variant}
    return {launch.number: result[launch.number] for launch in launches if launch.callee.name in merging}


def _subsets(pairs: Collection[Pair]) -> list[Merge]:
    """Sets of pairs that take each output and each input at most once, the empty one first."""
    ordered = sorted(pairs)
    sizes = range(len(ordered) + 1) if len(ordered) <= MAX_PAIRS else (0, 1)
    found = [frozenset(chosen) for size in sizes for chosen in combinations(ordered, size)]
    if len(ordered) > MAX_PAIRS:
        greedy: set[Pair] = set()
        for pair in ordered:
            if all(pair[0] != given and pair[1] != output for given, output in greedy):
                greedy.add(pair)
        found.append(frozenset(greedy))
    return [m for m in found if len({g for g, _ in m}) == len({o for _, o in m}) == len(m)]


def _fits(number: int, merge: Merge, clashes: Collection[tuple[int, int, int]]) -> bool:
    """Whether no two inputs that would be overwritten may be one buffer."""
    return not any((number, a, b) in clashes for a, _ in merge for b, _ in merge if a != b)


def _cost(launch: Launch, merge: Merge, facts: ProgramFacts, frequencies: Frequencies, context: OrchContext) -> float:
    """The creates, and the widths of dependencies, that ``merge`` leaves of the launch's outputs."""
    assert context.search is not None
    model, costs = context.search.model, 0.0
    merged = {output for _, output in merge}
    outputs = {position for position, _ in tensors(launch.callee, Direction.Out)}
    frequency = frequencies.at(launch.caller, launch.site)
    results = kernel_facts(facts.workspace, launch.callee).results
    for position, size in left_out(launch.call, launch.callee):
        if position not in merged:
            costs += frequency * (model.price("allocation", size) + model.price("dependency", size))
    for position, arg in enumerate(launch.call.args):
        type_ = facts.type_of(launch.caller, arg.name) if isinstance(arg, Var) else None
        if type_ is None:
            continue
        if position in merged:
            if placed_in(facts, launch, position, results.get(position)) is not None:
                # What could have been written where it is assembled has to be copied there.
                costs += frequency * model.price("packing", byte_count(type_))
            continue
        costs += frequency * model.price("dependency", byte_count(type_))
        definition = created(facts.index(facts.functions[launch.caller]), arg)
        if definition is not None and position in outputs:
            costs += frequencies.at(launch.caller, definition.site) * model.price("allocation", byte_count(type_))
            costs += model.statement
    return costs


def _report(
    graph: EGraph,
    facts: ProgramFacts,
    context: OrchContext,
    everywhere: Mapping[str, Merge],
    picked: Mapping[int, Picked],
) -> None:
    chosen = {number: _merge(pick) for number, pick in picked.items()}
    wanted, why, here = (read_reasons(graph, name) for name in ("merge-wanted", "merge", "merge-at"))
    done: set[tuple[str, Pair]] = set()
    by_kernel: dict[str, list[Launch]] = defaultdict(list)
    for launch in facts.launches:
        if launch.number in chosen:
            by_kernel[launch.callee.name].append(launch)
    for launch in facts.launches:
        kernel = launch.callee
        for given, output in sorted(chosen.get(launch.number, ())):
            names = kernel.params[output].name, kernel.params[given].name
            text = f"'{names[0]}' lives in the buffer of '{names[1]}', which becomes InOut"
            if (given, output) in everywhere.get(kernel.name, ()):
                if (kernel.name, (given, output)) not in done:
                    done.add((kernel.name, (given, output)))
                    key = (kernel.name, given, output)
                    rules = (*wanted.get(key, ()), *why.get(key, ()))
                    of_kernel = [
                        picked[n.number] for n in by_kernel[kernel.name] if (given, output) in chosen[n.number]
                    ]
                    context.decide(kernel.name, "merge", names[0], text, f"def {kernel.name}", rules, total(of_kernel))
                continue
            rules = here.get((launch.number, given, output), ())
            pick = picked[launch.number]
            context.decide(launch.caller, "merge", names[0], text, place_at(facts, launch.number), rules, total([pick]))
    _report_kept(graph, facts, context, chosen)
    _report_overwritten(graph, facts, context, chosen)


def _report_kept(graph: EGraph, facts: ProgramFacts, context: OrchContext, chosen: Mapping[int, Merge]) -> None:
    """What the documents would merge and nothing merges, with the launches that forbid it."""
    why = read_reasons(graph, "pair-kept")
    kept: dict[tuple[str, int, int], list[tuple[int, str]]] = defaultdict(list)
    callee = {launch.number: launch.callee.name for launch in facts.launches}
    for number, given, output, reason in sorted(graph.table("pair-kept").read("int", "int", "int", "str")):
        kept[callee[number], given, output].append((number, reason))
    merged = {(callee[number], pair) for number, pairs in chosen.items() for pair in pairs}
    for kernel, given, output, reason in sorted(graph.table("merge-kept").read("str", "int", "int", "str")):
        function = facts.functions[kernel]
        names = function.params[output].name, function.params[given].name
        places = [number for number, text in kept[kernel, given, output] if text == reason]
        rules = {r for number in places for r in why.get((number, given, output, reason), ())}
        place = place_at(facts, places[0]) if places else f"def {kernel}"
        somewhere = (kernel, (given, output)) in merged
        message = (
            f"'{names[0]}' does not share the buffer of '{names[1]}'{' everywhere' if somewhere else ''}: {reason}"
        )
        context.decline(kernel, "merge", message, place, sorted(rules) or ("clashing-merges",))


def _report_overwritten(graph: EGraph, facts: ProgramFacts, context: OrchContext, chosen: Mapping[int, Merge]) -> None:
    launches = {launch.number: launch for launch in facts.launches}
    for number, given, param in sorted(graph.table("overwrites").read("int", "int", "str")):
        launch = launches[number]
        if any(pair[0] == given for pair in chosen.get(number, ())):
            message = f"the parameter '{local_name(param)}' (In) is overwritten by the merge in '{launch.callee.name}'"
            context.warn(launch.caller, OVERWRITTEN_INPUT, message, place_at(facts, number))


# --------------------------------------------------------------------------------- rewriting


def _apply(program: Program, facts: ProgramFacts, chosen: Mapping[int, Merge]) -> Program:
    gone: dict[str, set[str]] = defaultdict(set)
    for launch in facts.launches:
        for _, output in chosen.get(launch.number, ()):
            arg = launch.call.args[output] if output < len(launch.call.args) else None
            if isinstance(arg, Var):
                gone[launch.caller].add(arg.name)
    variants: Variants[Merge] = Variants(
        chosen, merged_kernel, lambda call, merge: without_args(call, {o for _, o in merge}), "__inplace"
    )
    return apply_variants(program, facts, variants, gone) if chosen else program
