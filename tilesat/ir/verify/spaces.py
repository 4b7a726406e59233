"""TileMemoryInferred, CarrySpaces, ViewSpaces: every tile has one memory space, and it fits its uses."""

from __future__ import annotations

from collections.abc import Iterator

from tilesat.ir.hardware import CHIPS, Edge, Hardware
from tilesat.ir.nodes import Assign, Call, Expr, OpCall, Stmt
from tilesat.ir.ops import OpInfo, op_info
from tilesat.ir.printer import print_expr
from tilesat.ir.types import TileType, Type
from tilesat.ir.verify.facts import Facts, yielded
from tilesat.ir.verify.report import Report


def check_inferred(facts: Facts, report: Report) -> None:
    """TileMemoryInferred (INF-S-04, INF-S-05), in the words of peer behaviour, section 11.

    Iter-args and results of loops and branches count as variables and as operands.
    """
    if not facts.function.is_incore:
        return
    head = f"InCore function '{facts.function.name}'"
    for name, type_, stmt in _bound(facts):
        if isinstance(type_, TileType) and type_.space is None:
            report.error(f"{head}: TileType variable '{name}' has no memory_space set", stmt)
    for stmt, call, info in facts.op_calls:
        if info is not None and info.slots:
            _check_slots(facts, report, head, stmt, call, info)
    for stmt, nested in facts.nested:
        _check_nested(facts, report, head, stmt, nested)


def _bound(facts: Facts) -> Iterator[tuple[str, Type, Stmt]]:
    for assign in facts.assigns:
        yield assign.name, assign.type, assign
    for loop in facts.loops:
        for carry in loop.carries:
            yield carry.name, carry.type, loop
        for result in loop.results:
            yield result.name, result.type, loop
    for stmt in facts.ifs:
        for result in stmt.results:
            yield result.name, result.type, stmt


def _check_slots(facts: Facts, report: Report, head: str, stmt: Stmt, call: OpCall, info: OpInfo) -> None:
    for position, (arg, allowed) in enumerate(zip(call.args, info.slots, strict=False)):
        tile = facts.tile(arg) if allowed else None
        if tile is None or tile.space is None or tile.space in allowed:
            continue
        wanted = "/".join(allowed)
        operand = f"input {position} ('{print_expr(arg)}')"
        report.error(f"{head}: Op '{call.op}' {operand} requires {wanted} but is in {tile.space}", stmt)


def _check_nested(facts: Facts, report: Report, head: str, stmt: Stmt, call: Call) -> None:
    info = op_info(call.op) if isinstance(call, OpCall) else None
    if isinstance(call, OpCall) and info is not None:
        _check_slots(facts, report, head, stmt, call, info)


def check_carries(facts: Facts, report: Report) -> None:
    """CarrySpaces: init, iter-arg, yielded value and result of a loop live in one space (INF-P1-10),
    and so do the branch values and the result of an if (INF-P1-12).
    """
    for loop in facts.loops:
        values = yielded(loop.body)
        for position, carry in enumerate(loop.carries):
            if not isinstance(carry.type, TileType):
                continue
            what = f"iter-arg '{carry.name}'"
            _same_space(report, what, carry.type, "its init", carry.init, facts, loop)
            if position < len(values):
                _same_space(report, what, carry.type, "the yielded", values[position], facts, loop)
            if position < len(loop.results):
                result = loop.results[position]
                _compare(report, what, carry.type, f"the result '{result.name}'", result.type, loop)
    for stmt in facts.ifs:
        for branch, block in (("then", stmt.then), ("else", stmt.orelse)):
            for result, value in zip(stmt.results, yielded(block), strict=False):
                if isinstance(result.type, TileType):
                    what, other = f"result '{result.name}'", f"the {branch} branch's"
                    _same_space(report, what, result.type, other, value, facts, stmt)


def _same_space(report: Report, what: str, type_: TileType, other: str, value: Expr, facts: Facts, stmt: Stmt) -> None:
    _compare(report, what, type_, f"{other} '{print_expr(value)}'", facts.tile(value), stmt)


def _compare(report: Report, what: str, left: TileType, other: str, right: Type | None, stmt: Stmt) -> None:
    if not isinstance(right, TileType) or left.space is right.space:
        return
    if left.space is not None and right.space is not None:
        report.error(f"{what} is in {left.space}, but {other} is in {right.space}", stmt)


def check_views(facts: Facts, report: Report) -> None:
    """ViewSpaces: what shares a buffer shares its space, and an assemble can reach its target.

    Sharing are views, ``tile.assemble`` and ops that update an argument in place. The source of an
    assemble is written by a direct copy: the same space, or an edge of the chip (without a chip, one
    that every chip has). Cross-core pushes do not count, only ``tile.move`` makes those.
    """
    edges = _direct_edges(report.options.chip)
    for stmt, call, info in facts.op_calls:
        if info is None or not call.args:
            continue
        if isinstance(stmt, Assign) and isinstance(stmt.type, TileType):
            _check_shared(facts, report, stmt, call, info)
        if call.op == "tile.assemble" and len(call.args) > 1:
            _check_assemble(facts, report, stmt, call, edges)


def _check_shared(facts: Facts, report: Report, stmt: Assign, call: OpCall, info: OpInfo) -> None:
    position = _shared_argument(call, info)
    source = None if position is None else facts.tile(call.args[position])
    if position is None or source is None or not isinstance(stmt.type, TileType):
        return
    if source.space is None or stmt.type.space is None or source.space is stmt.type.space:
        return
    owner = f"'{print_expr(call.args[position])}', which is in {source.space}"
    report.error(f"'{stmt.name}' is in {stmt.type.space}, but shares the buffer of {owner}", stmt)


def _shared_argument(call: OpCall, info: OpInfo) -> int | None:
    """Position of the argument whose buffer is the result's."""
    if info.is_view or call.op == "tile.assemble":
        return 0
    reused = info.reuses_arg
    return reused if reused is not None and reused < len(call.args) else None


def _check_assemble(facts: Facts, report: Report, stmt: Stmt, call: OpCall, edges: frozenset[Edge]) -> None:
    target, source = facts.tile(call.args[0]), facts.tile(call.args[1])
    if target is None or source is None or target.space is None or source.space is None:
        return
    if source.space is not target.space and (source.space, target.space) not in edges:
        report.error(
            f"'tile.assemble' cannot copy '{print_expr(call.args[1])}' from {source.space} into "
            f"'{print_expr(call.args[0])}' in {target.space}",
            stmt,
        )


def _direct_edges(chip: Hardware | None) -> frozenset[Edge]:
    if chip is not None:
        return chip.edges
    return frozenset.intersection(*(chip.edges for chip in CHIPS.values()))
