"""Patterns 2 and 4: types of kernel parameters follow the strides that rules found."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tilesat.bridge.orch_edit import retyped_block
from tilesat.bridge.orch_stage import OrchContext, Picked, place_at, total
from tilesat.bridge.orch_variants import Variants, apply_variants
from tilesat.errors import RuleError
from tilesat.extract.decided import read_reasons
from tilesat.extract.orch_choice import LaunchOptions, Option
from tilesat.extract.orch_cost import Frequencies, byte_count
from tilesat.ir.nodes import Function, Program
from tilesat.ir.printer import print_expr
from tilesat.ir.types import Dim, Direction, TensorType, TensorView, Type
from tilesat.ir_terms.egraph import EGraph
from tilesat.ir_terms.orch_facts import Launch, ProgramFacts
from tilesat.ir_terms.orch_facts_strides import StridesFacts, row_major

Strides = tuple[Dim, ...]
Stated = frozenset[tuple[int, Strides]]
"""Parameters of a kernel with the strides they state."""


@dataclass(slots=True)
class Found:
    """What the rules found, for parameters of one direction."""

    everywhere: dict[str, dict[int, Strides]] = field(default_factory=lambda: defaultdict(dict))
    """Kernel -> parameters that state the strides of all launches."""
    wanted: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Kernel -> parameters that should state strides."""
    given: dict[tuple[int, int], Strides] = field(default_factory=dict)
    """Launch, wanted parameter -> strides of what is given there, where they are known."""
    here: set[tuple[int, int]] = field(default_factory=set)
    """Launch, parameter: a copy of the kernel may state them."""
    wholes: dict[str, dict[str, set[str]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(set)))
    """Kernel -> parameter -> variables that are the parameter as a whole."""


def state_strides(program: Program, context: OrchContext, direction: Direction) -> Program:
    """Pattern 2 for ``direction`` Out, pattern 4 for In (ORC-2-01, ORC-4-01)."""
    facts = context.facts(program)
    start = time.perf_counter()
    strides = StridesFacts(facts)
    context.clock.add("facts", start)
    if strides.is_empty:
        return program
    with context.decided("strides", facts.rows) as graph:
        found = _read(graph, facts, strides.texts, direction)
        start = time.perf_counter()
        picked = _picked(facts, context, found)
        chosen = {number: _stated(pick) for number, pick in picked.items()}
        context.clock.add("choose", start)
        _report(graph, facts, context, found, picked, direction)
    start = time.perf_counter()
    variants: Variants[Stated] = Variants(
        chosen,
        lambda function, stated: with_strides(function, dict(stated), found.wholes[function.name]),
        lambda call, _: call,
        "__strided",
    )
    result = apply_variants(program, facts, variants, {}) if chosen else program
    context.clock.add("rewrite", start)
    return result


def _read(graph: EGraph, facts: ProgramFacts, texts: Mapping[str, Dim], direction: Direction) -> Found:
    found = Found()

    def rank(kernel: str, position: int) -> int:
        type_ = facts.functions[kernel].params[position].type
        assert isinstance(type_, TensorType)
        return len(type_.shape)

    for kernel, position in sorted(graph.table("view-wanted").read("str", "int")):
        if facts.functions[kernel].params[position].direction is direction:
            found.wanted[kernel].add(position)
    callee = {launch.number: launch.callee.name for launch in facts.launches}
    dims: dict[tuple[int, int], dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for number, position, dimension, text in graph.table("site-stride").read("int", "int", "int", "str"):
        if position in found.wanted[callee[number]]:
            dims[number, position][dimension].add(text)
    for (number, position), known in dims.items():
        if len(known) == rank(callee[number], position) and all(len(t) == 1 for t in known.values()):
            found.given[number, position] = tuple([texts[min(known[d])] for d in range(len(known))])
    first = _first_launches(facts)
    for kernel, position in sorted(graph.table("view").read("str", "int")):
        if position in found.wanted[kernel]:
            if (first[kernel], position) not in found.given:
                raise RuleError(
                    f"the rules state strides for parameter {position} of '{kernel}', but know none",
                    hint="derive (view k j) only where (site-stride s j d t) has one stride per dimension",
                )
            found.everywhere[kernel][position] = found.given[first[kernel], position]
    found.here = {(n, p) for n, p in graph.table("view-here").read("int", "int") if (n, p) in found.given}
    for variable, param in graph.table("whole-of").read("str", "str"):
        kernel, _, name = variable.partition(":")
        found.wholes[kernel][param.partition(":")[2]].add(name)
    return found


def _first_launches(facts: ProgramFacts) -> dict[str, int]:
    """Per function that is launched, its first launch."""
    first: dict[str, int] = {}
    for launch in facts.launches:
        first.setdefault(launch.callee.name, launch.number)
    return first


# ----------------------------------------------------------------------------------- choice


def _stated(picked: Picked) -> Stated:
    assert isinstance(picked.variant, frozenset)
    return picked.variant


def _picked(facts: ProgramFacts, context: OrchContext, found: Found) -> dict[int, Picked]:
    """What the kernel of each launch states, for kernels of which any launch states anything."""
    everywhere = {kernel: frozenset(stated.items()) for kernel, stated in found.everywhere.items()}
    if context.search is None:
        return {n.number: Picked(everywhere[n.callee.name]) for n in facts.launches if n.callee.name in everywhere}
    kernels = {kernel for kernel, wanted in found.wanted.items() if wanted}
    launches = [launch for launch in facts.launches if launch.callee.name in kernels]
    frequencies = Frequencies(facts, context.search.model.frequency)
    stated_by_kernel = _signatures(launches, found, everywhere)
    problems = []
    for launch in launches:
        kernel = launch.callee.name
        first = everywhere.get(kernel, frozenset())
        fitting = [s for s in stated_by_kernel[kernel] if _fits(launch, s, found)]
        options = [Option(s, _packing(launch, s, found, frequencies, context)) for s in fitting]
        problems.append(LaunchOptions(kernel, options, fitting.index(first)))
    picked = context.search.pick(problems)
    result = {launch.number: pick for launch, pick in zip(launches, picked, strict=True)}
    stating = {launch.callee.name for launch in launches if result[launch.number].variant}
    return {launch.number: result[launch.number] for launch in launches if launch.callee.name in stating}


def _signatures(launches: Iterable[Launch], found: Found, everywhere: Mapping[str, Stated]) -> dict[str, list[Stated]]:
    """Per kernel: nothing, what all launches agree on, and all that each launch knows."""
    signatures: dict[str, dict[Stated, None]] = defaultdict(dict)
    for launch in launches:
        kernel = launch.callee.name
        listed = signatures[kernel]
        listed.setdefault(frozenset())
        listed.setdefault(everywhere.get(kernel, frozenset()))
        known = {p: found.given[launch.number, p] for p in found.wanted[kernel] if (launch.number, p) in found.here}
        listed.setdefault(frozenset(known.items()))
    return {kernel: list(listed) for kernel, listed in signatures.items()}


def _fits(launch: Launch, stated: Stated, found: Found) -> bool:
    """Whether the kernel of ``launch`` may state ``stated``: the rules say so of all its launches, or of this one."""
    everywhere = found.everywhere.get(launch.callee.name, {})
    return all(
        everywhere.get(position) == strides
        or ((launch.number, position) in found.here and found.given[launch.number, position] == strides)
        for position, strides in stated
    )


def _packing(launch: Launch, stated: Stated, found: Found, frequencies: Frequencies, context: OrchContext) -> float:
    """What it costs that the kernel takes strided tensors of this launch to be dense."""
    assert context.search is not None
    total = 0.0
    known = {position for position, _ in stated}
    for position in found.wanted[launch.callee.name] - known:
        type_ = launch.callee.params[position].type
        assert isinstance(type_, TensorType)
        if found.given.get((launch.number, position)) != row_major(type_.shape):
            price = context.search.model.price("packing", byte_count(type_))
            total += price * frequencies.at(launch.caller, launch.site)
    return total


# --------------------------------------------------------------------------------- rewriting


def with_strides(function: Function, strides: Mapping[int, Strides], wholes: Mapping[str, Iterable[str]]) -> Function:
    """``function`` whose parameters, and what they are passed on as, state ``strides``.

    The declared result types stay as they are (case O20).
    """
    params = list(function.params)
    types: dict[str, Type] = {}
    for position, found in strides.items():
        param = params[position]
        assert isinstance(param.type, TensorType)
        view = replace(param.type.view or TensorView(), stride=found, layout="ND")
        new = replace(param.type, view=view)
        params[position] = replace(param, type=new)
        types.update((name, new) for name in wholes.get(param.name, ()))
    return replace(function, params=tuple(params), body=retyped_block(function.body, types))


# ---------------------------------------------------------------------------------- reports


def _report(
    graph: EGraph,
    facts: ProgramFacts,
    context: OrchContext,
    found: Found,
    picked: Mapping[int, Picked],
    direction: Direction,
) -> None:
    chosen = {number: _stated(pick) for number, pick in picked.items()}
    wanted, why, here = (read_reasons(graph, name) for name in ("view-wanted", "view", "view-here"))
    done: set[tuple[str, int]] = set()
    launched: dict[str, list[int]] = defaultdict(list)
    for launch in facts.launches:
        if launch.number in chosen:
            launched[launch.callee.name].append(launch.number)
    for launch in facts.launches:
        kernel = launch.callee.name
        for position, strides in sorted(chosen.get(launch.number, ()), key=lambda item: item[0]):
            name = launch.callee.params[position].name
            text = f"'{name}' has the strides [{', '.join(map(_text, strides))}]"
            asked = wanted.get((kernel, position), ())
            if position not in found.everywhere[kernel]:
                rules = (*asked, *here.get((launch.number, position), ()))
                place = place_at(facts, launch.number)
                context.decide(launch.caller, "strides", name, text, place, rules, total([picked[launch.number]]))
            elif (kernel, position) not in done:
                done.add((kernel, position))
                rules = (*asked, *why.get((kernel, position), ()))
                of_kernel = [picked[n] for n in launched[kernel] if (position, strides) in chosen[n]]
                context.decide(kernel, "strides", name, text, f"def {kernel}", rules, total(of_kernel))
    kept = read_reasons(graph, "view-kept")
    first = _first_launches(facts)
    stated = {(n.callee.name, p) for n in facts.launches for p, _ in chosen.get(n.number, ())}
    for kernel, position, reason in sorted(graph.table("view-kept").read("str", "int", "str")):
        param = facts.functions[kernel].params[position]
        if param.direction is direction:
            where = "not everywhere the same" if (kernel, position) in stated else "no"
            message = f"'{param.name}' states {where} strides: {reason}"
            rules = kept.get((kernel, position, reason), ())
            context.decline(kernel, "strides", message, place_at(facts, first[kernel]), rules)


def _text(stride: Dim) -> str:
    return str(stride) if isinstance(stride, int) else print_expr(stride)
