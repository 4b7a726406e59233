"""What may stand where: calls at statement level, tiles in kernels, task graphs in orchestration."""

from __future__ import annotations

from tilesat.errors import TypeDeductionError
from tilesat.ir.deduce import deduce_type
from tilesat.ir.nodes import ORCHESTRATION, Call, OpCall, Submit
from tilesat.ir.ops import OpInfo, OutputRule, op_info
from tilesat.ir.types import ScalarType, TileType, TupleType, Type
from tilesat.ir.verify.facts import Facts
from tilesat.ir.verify.report import Report


def check_normalized(facts: Facts, report: Report) -> None:
    """NormalizedStmtStructure: a call is a statement's whole value (peer behaviour, section 1).

    Inside expressions only calls without effect that give a scalar may stand, such as ``tensor.dim``.
    """
    for stmt, call in facts.nested:
        if not _is_scalar_read(call, facts):
            report.error(f"the call of {_callee(call)} stands inside another expression", stmt)


def _is_scalar_read(call: Call, facts: Facts) -> bool:
    if not isinstance(call, OpCall):
        return False
    info = op_info(call.op)
    if info is None or info.effects or info.kwarg_effects or info.cross_core or info.no_duplicate:
        return False
    try:
        return isinstance(deduce_type(call, facts.types), ScalarType)
    except TypeDeductionError:
        return False


def _callee(call: Call) -> str:
    return f"'{call.op}'" if isinstance(call, OpCall) else f"function '{call.callee}'"


def check_split(facts: Facts, report: Report) -> None:
    """SplitIncoreOrch: kernels launch no tasks and open no scopes, orchestration holds no tiles."""
    function = facts.function
    if function.is_incore:
        for scope in facts.scopes:
            report.error(f"InCore function '{function.name}' opens a runtime scope", scope)
        for stmt, call in facts.launches:
            if isinstance(call, Submit):
                report.error(f"InCore function '{function.name}' submits '{call.callee}'", stmt)
        return
    if function.kind != ORCHESTRATION:
        return
    for param in function.params:
        if holds_tile(param.type):
            report.error(f"Orchestration function '{function.name}' has the tile parameter '{param.name}'")
    for assign in facts.assigns:
        if holds_tile(assign.type):
            report.error(f"Orchestration function '{function.name}' binds the tile '{assign.name}'", assign)


def check_incore_tile_ops(facts: Facts, report: Report) -> None:
    """IncoreTileOps: kernels take tensors and scalars and compute on tiles (INF-S-02)."""
    function = facts.function
    if not function.is_incore:
        return
    for param in function.params:
        if holds_tile(param.type):
            report.error(
                f"InCore function '{function.name}': parameter '{param.name}' has a tile type, "
                "but kernels take tensors and scalars"
            )
    for stmt, call, info in facts.op_calls:
        if _computes_on_tensors(call.op, info):
            report.error(
                f"InCore function '{function.name}' computes on tensors with '{call.op}'; "
                f"kernels use '{_tile_twin(call.op)}'",
                stmt,
            )


def holds_tile(type_: Type) -> bool:
    """Whether a value of ``type_`` is a tile or a tuple with one in it."""
    if isinstance(type_, TupleType):
        return any(map(holds_tile, type_.elements))
    return isinstance(type_, TileType)


def _tile_twin(op: str) -> str:
    return "tile." + op.removeprefix("tensor.")


def _computes_on_tensors(op: str, info: OpInfo | None) -> bool:
    """Access and views (``tensor.read``, ``write``, ``slice``, ``view``, ...) are no computation.

    An op computes when it makes a new value and its twin on tiles does so on chip, in a fixed space.
    """
    if info is None or info.category != "TensorOp" or info.effects or not op.startswith("tensor."):
        return False
    twin = op_info(_tile_twin(op))
    return twin is not None and twin.output_rule is OutputRule.FIXED
