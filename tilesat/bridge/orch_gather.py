"""Pattern 3: gathering loops rewritten to store each block."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from tilesat.bridge.orch_edit import renamed_block, replace_functions, retyped_block, rewrite_block
from tilesat.bridge.orch_stage import OrchContext, Picked, place_at, total
from tilesat.extract.decided import read_reasons
from tilesat.extract.orch_choice import LaunchOptions, Option
from tilesat.extract.orch_cost import ProgramCost
from tilesat.ir.affine import folded
from tilesat.ir.nodes import Assign, BinOp, Const, Expr, For, Function, ListExpr, OpCall, Program, Stmt, Var
from tilesat.ir_terms.egraph import EGraph
from tilesat.ir_terms.orch_facts import ProgramFacts
from tilesat.ir_terms.orch_facts_gather import Gather, GatherFacts, gathers


def store_blocks(program: Program, context: OrchContext) -> Program:
    """Pattern 3 on ``program`` (ORC-3-01)."""
    facts = context.facts(program)
    start = time.perf_counter()
    found = GatherFacts(facts)
    context.clock.add("facts", start)
    if found.is_empty:
        return program
    with context.decided("gather", facts.rows) as graph:
        start = time.perf_counter()
        picked = _picked(graph, facts, context)
        chosen = [(kernel, gather) for kernel, gather, _ in picked]
        context.clock.add("choose", start)
        _report(graph, facts, context, picked)
    start = time.perf_counter()
    changed: dict[str, Function] = {}
    for name, gather in chosen:
        changed[name] = streamed(changed.get(name, facts.functions[name]), gather)
    context.clock.add("rewrite", start)
    return replace_functions(program, changed)


def _picked(graph: EGraph, facts: ProgramFacts, context: OrchContext) -> list[tuple[str, Gather, Picked]]:
    """The loops to rewrite: all that may be, or those that a search takes."""
    rows = sorted(graph.table("stream").read("str", "int", "int"))
    loops = {(kernel, facts.located(number)[1]) for kernel, number, _ in rows}
    kernels = dict.fromkeys(kernel for kernel, _, _ in rows)
    found = [(k, g) for k in kernels for g in gathers(facts.workspace, facts.functions[k]) if (k, g.loop) in loops]
    if context.search is None:
        return [(kernel, gather, Picked("stream")) for kernel, gather in found]
    cost = ProgramCost(facts, context.search.model)
    problems = []
    for number, (kernel, gather) in enumerate(found):
        function = facts.functions[kernel]
        options = [Option(None, cost.function(function)), Option("stream", cost.function(streamed(function, gather)))]
        problems.append(LaunchOptions(f"{kernel} loop {number}", options, 1))
    picked = context.search.pick(problems, kernel=0.0)
    return [(*loop, pick) for loop, pick in zip(found, picked, strict=True) if pick.variant is not None]


def _report(
    graph: EGraph, facts: ProgramFacts, context: OrchContext, chosen: Sequence[tuple[str, Gather, Picked]]
) -> None:
    why = read_reasons(graph, "stream")
    numbers = {(kernel, facts.number(kernel, gather.loop)): pick for kernel, gather, pick in chosen}
    for row in sorted(graph.table("stream").read("str", "int", "int")):
        kernel, loop, output = row
        if (kernel, loop) not in numbers:
            continue
        name = facts.functions[kernel].params[output].name
        text = f"each block is stored to '{name}'; the tile that gathered them is gone"
        pick = total([numbers[kernel, loop]])
        context.decide(kernel, "stream", name, text, place_at(facts, loop), why.get(row, ()), pick)
    kept = read_reasons(graph, "gather-kept")
    for row in sorted(graph.table("gather-kept").read("str", "int", "str")):
        kernel, loop, reason = row
        message = f"the loop keeps its tile: {reason}"
        context.decline(kernel, "gather", message, place_at(facts, loop), kept[row])


def streamed(function: Function, gather: Gather) -> Function:
    """``function`` with the blocks of ``gather`` stored as they come.

    Names identify statements, so several loops of a function can be rewritten one after the other.
    """
    output = function.params[gather.output]
    stored: str | None = None

    def rewrite(_site: int, stmt: Stmt) -> Sequence[Stmt] | None:
        nonlocal stored
        if isinstance(stmt, Assign) and isinstance(stmt.value, OpCall):
            call = stmt.value
            if call.op == "tile.store" and call.args[0] == Var(gather.tiles[0]) and call.args[2] == Var(output.name):
                stored = stmt.name
                return ()
            if stmt.name == gather.init and gather.inits == 1:
                return ()
            if call.op == "tile.assemble" and stmt.name in gather.tiles:
                offsets = call.args[2]
                assert isinstance(offsets, ListExpr)
                moved = [plus(offset, base) for offset, base in zip(offsets.items, gather.offsets, strict=True)]
                return (
                    replace(stmt, value=OpCall("tile.store", (call.args[1], ListExpr(tuple(moved)), call.args[0]))),
                )
        if isinstance(stmt, For) and stmt.results and stmt.results[0].name == gather.tiles[0]:
            return (replace(stmt, carries=(replace(stmt.carries[0], init=Var(output.name)),)),)
        return None

    body = rewrite_block(function.body, rewrite)
    assert stored is not None
    body = renamed_block(body, {stored: Var(gather.tiles[0])})
    return replace(function, body=retyped_block(body, dict.fromkeys(gather.tiles, output.type)))


def plus(offset: Expr, base: Expr) -> Expr:
    """``offset + base``, as short as it gets."""
    if base == Const(0):
        return offset
    if offset == Const(0):
        return base
    return folded(BinOp("+", offset, base))
