"""Kernels in several variants: which launch calls which, what the copies are called."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from tilesat.bridge.names import Names
from tilesat.bridge.orch_edit import call_of, replace_functions, rewrite_block, with_call, with_clones
from tilesat.ir.nodes import FuncCall, Function, Program, Stmt, Submit
from tilesat.ir_terms.orch_facts import ProgramFacts

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Variants(Generic[V]):
    """What becomes of kernels: ``chosen`` gives the variant of every launch of every kernel concerned.

    ``make`` narrows a kernel to a variant, ``rewrite`` the call of a launch. A false variant is the kernel as it is.
    """

    chosen: Mapping[int, V]
    make: Callable[[Function, V], Function]
    rewrite: Callable[[FuncCall | Submit, V], FuncCall | Submit]
    suffix: str


def apply_variants(
    program: Program, facts: ProgramFacts, variants: Variants[V], gone: Mapping[str, set[str]]
) -> Program:
    """``program`` with every launch calling its variant; ``gone`` are variables of callers that nobody needs any more.

    A kernel whose launches all want one variant is rewritten in place; else copies stand behind it.
    """
    by_kernel: dict[str, dict[V, str]] = defaultdict(dict)
    taken = Names(function.name for function in program.functions)
    for launch in facts.launches:
        if launch.number in variants.chosen:
            by_kernel[launch.callee.name].setdefault(variants.chosen[launch.number], "")
    changed: dict[str, Function] = {}
    clones: dict[str, list[Function]] = defaultdict(list)
    for kernel, names in by_kernel.items():
        # The kernel as it is keeps its name; without it, the first variant takes the name over.
        for variant in sorted(names, key=bool):
            is_first = not any(names.values())
            names[variant] = kernel if is_first else taken.fresh(f"{kernel}{variants.suffix}")
            made = variants.make(facts.functions[kernel], variant) if variant else facts.functions[kernel]
            if is_first:
                changed[kernel] = made
            else:
                clones[kernel].append(replace(made, name=names[variant]))
    for caller in {launch.caller for launch in facts.launches if launch.number in variants.chosen}:
        if facts.functions[caller].name in by_kernel:
            # Launches of a kernel cannot be changed, so there is nothing to do in it.
            continue
        function = _caller(facts.functions[caller], facts, variants, by_kernel, gone.get(caller, set()))
        changed[caller] = function
    return with_clones(replace_functions(program, changed), clones)


def _caller(
    function: Function,
    facts: ProgramFacts,
    variants: Variants[V],
    names: Mapping[str, Mapping[V, str]],
    gone: set[str],
) -> Function:
    def rewrite(site: int, stmt: Stmt) -> list[Stmt] | None:
        if getattr(stmt, "name", None) in gone:
            return []
        call = call_of(stmt)
        variant = None if call is None else variants.chosen.get(facts.number(function.name, site))
        if call is None or not variant:
            return None
        new = replace(variants.rewrite(call, variant), callee=names[call.callee][variant])
        return [with_call(stmt, new)]

    return replace(function, body=rewrite_block(function.body, rewrite))
