"""TypesConsistent and AssignTypeSymmetry: what is said about a value is one thing everywhere."""

from __future__ import annotations

from dataclasses import replace

from tilesat.errors import TypeDeductionError
from tilesat.ir.deduce import deduce_call, deduce_type
from tilesat.ir.nodes import (
    Assign,
    EvalStmt,
    Expr,
    FuncCall,
    Function,
    ListExpr,
    OpCall,
    Stmt,
    Submit,
    TupleGet,
    Var,
)
from tilesat.ir.printer import print_expr, print_type
from tilesat.ir.types import MemorySpace, ScalarType, TensorType, TileType, TupleType, Type
from tilesat.ir.verify.compare import Difference, difference
from tilesat.ir.verify.facts import Facts, yielded
from tilesat.ir.verify.report import Report

_TASK_ID = ScalarType("TASK_ID")
# What the store from the accumulator can convert to (peer behaviour, section 9).
_ACC_STORES = frozenset({"INT32", "FP32", "FP16", "BF16"})


def check_types(facts: Facts, report: Report) -> None:
    """TypesConsistent (peer behaviour, section 11, TypeChecked): kind, dtype, shape, valid shape, space.

    An error where the types differ for sure, a warning where symbolic extents only may differ.
    """
    _check_carries(facts, report)
    _check_branches(facts, report)
    for stmt, call, _ in facts.op_calls:
        _check_op_call(facts, report, stmt, call)
        if call.op == "tile.store":
            _check_store(facts, report, stmt, call)
    for stmt, launch in facts.launches:
        _check_launch(facts, report, stmt, launch)
    for assign in facts.assigns:
        _check_assign(facts, report, assign)
    _check_returns(facts, report)


def check_assign_symmetry(facts: Facts, report: Report) -> None:
    """AssignTypeSymmetry: an annotation is the type of its value, layout included (INF-P3-05)."""
    for assign in facts.assigns:
        value = assign.value
        if isinstance(value, OpCall):
            given = _deduced(facts, value)
        elif isinstance(value, (Var, TupleGet)):
            given = _type_of(facts, value)
        else:
            continue
        if isinstance(given, TypeDeductionError) or given is None:
            continue
        if _without_memref(given) != _without_memref(assign.type):
            text = f"'{assign.name}' is declared {print_type(assign.type)}, its value is {print_type(given)}"
            report.error(text, assign)


# ------------------------------------------------------------------- loops and branches


def _check_carries(facts: Facts, report: Report) -> None:
    for loop in facts.loops:
        values = yielded(loop.body)
        for position, carry in enumerate(loop.carries):
            what = f"iter-arg '{carry.name}'"
            _expect(facts, report, what, carry.type, f"its init {_text(carry.init)}", carry.init, loop)
            if position < len(values):
                value = values[position]
                _expect(facts, report, what, carry.type, f"the yielded {_text(value)}", value, loop)
            if position < len(loop.results):
                result = loop.results[position]
                found = difference(carry.type, result.type)
                _report(report, what, f"the result '{result.name}'", found, loop)


def _check_branches(facts: Facts, report: Report) -> None:
    for stmt in facts.ifs:
        for branch, block in (("then", stmt.then), ("else", stmt.orelse)):
            for result, value in zip(stmt.results, yielded(block), strict=False):
                other = f"{_text(value)} of the {branch} branch"
                _expect(facts, report, f"result '{result.name}'", result.type, other, value, stmt)


def _expect(facts: Facts, report: Report, what: str, type_: Type, other: str, value: Expr, stmt: Stmt) -> None:
    """Report when ``value`` has not ``type_``; of a computed scalar only the kind is certain."""
    given = _type_of(facts, value)
    if given is None:
        return
    if isinstance(given, ScalarType) and isinstance(type_, ScalarType) and not isinstance(value, Var):
        return
    _report(report, what, other, difference(type_, given), stmt)


def _report(report: Report, what: str, other: str, found: Difference | None, stmt: Stmt) -> None:
    if found is not None:
        report.add(found.severity, f"{what} and {other} differ: {found.text}", stmt)


# -------------------------------------------------------------------------- assignments


def _check_assign(facts: Facts, report: Report, assign: Assign) -> None:
    value = assign.value
    if isinstance(value, (OpCall, FuncCall, Submit)):
        return
    given = _type_of(facts, value)
    if given is None:
        return
    if isinstance(value, (Var, TupleGet)):
        found = difference(assign.type, given, spaces=True)
        _report(report, f"'{assign.name}'", _text(value), found, assign)
    elif isinstance(given, ScalarType) != isinstance(assign.type, ScalarType):
        _report(report, f"'{assign.name}'", "its value", difference(assign.type, given), assign)


def _check_op_call(facts: Facts, report: Report, stmt: Assign | EvalStmt, call: OpCall) -> None:
    given = _deduced(facts, call)
    if isinstance(given, TypeDeductionError):
        report.error(f"'{call.op}': {given.message}", stmt)
    elif given is not None and isinstance(stmt, Assign):
        found = difference(stmt.type, given, spaces=True)
        _report(report, f"the annotation of '{stmt.name}'", f"what '{call.op}' gives", found, stmt)


def _check_store(facts: Facts, report: Report, stmt: Stmt, call: OpCall) -> None:
    """A store keeps the dtype; only the one from the accumulator converts."""
    tile = facts.tile(call.args[0]) if len(call.args) > 2 else None
    tensor = None if tile is None else _type_of(facts, call.args[2])
    if tile is None or not isinstance(tensor, TensorType) or tile.dtype == tensor.dtype:
        return
    if tile.space is None or (tile.space is MemorySpace.Acc and tensor.dtype in _ACC_STORES):
        return
    report.error(f"'tile.store' of {tile.dtype} into a tensor of {tensor.dtype}", stmt)


def _check_launch(facts: Facts, report: Report, stmt: Assign | EvalStmt, launch: FuncCall | Submit) -> None:
    callee = facts.functions.get(launch.callee)
    if callee is None:
        report.error(f"calls '{launch.callee}', which the program does not define", stmt)
        return
    _check_arguments(facts, report, stmt, launch, callee)
    if isinstance(stmt, Assign):
        found = difference(stmt.type, _launch_type(launch, callee))
        if found is not None and found.certain:
            _report(report, f"the annotation of '{stmt.name}'", f"what '{callee.name}' gives", found, stmt)


def _check_arguments(facts: Facts, report: Report, stmt: Stmt, launch: FuncCall | Submit, callee: Function) -> None:
    """A submit may leave out trailing arguments; symbolic extents of a callee fit any extents."""
    given, wanted = len(launch.args), len(callee.params)
    if given > wanted or (given < wanted and isinstance(launch, FuncCall)):
        report.error(f"'{callee.name}' has {wanted} parameters, but gets {given} arguments", stmt)
        return
    for param, arg in zip(callee.params, launch.args, strict=False):
        type_ = _type_of(facts, arg)
        if type_ is None or (isinstance(type_, ScalarType) and isinstance(param.type, ScalarType)):
            continue
        found = difference(param.type, type_)
        if found is not None and found.certain:
            _report(report, f"parameter '{param.name}' of '{callee.name}'", _text(arg), found, stmt)


def _launch_type(launch: FuncCall | Submit, callee: Function) -> Type:
    if isinstance(launch, Submit):
        return TupleType((*callee.returns, _TASK_ID))
    return callee.returns[0] if len(callee.returns) == 1 else TupleType(callee.returns)


def _check_returns(facts: Facts, report: Report) -> None:
    for stmt in facts.returns:
        for position, (value, declared) in enumerate(zip(stmt.values, facts.function.returns, strict=False)):
            what = f"declared result {position}"
            if len(stmt.values) == len(facts.function.returns):
                _expect(facts, report, what, declared, f"the returned {_text(value)}", value, stmt)


# --------------------------------------------------------------------------------- types


def _type_of(facts: Facts, expr: Expr) -> Type | None:
    """The type of ``expr``, ``None`` when it cannot be told; a call is judged where it stands, not here."""
    if type(expr) is Var:
        return facts.types.get(expr.name)
    try:
        return deduce_type(expr, facts.types)
    except TypeDeductionError:
        return None


def _deduced(facts: Facts, call: OpCall) -> Type | TypeDeductionError | None:
    """What ``call`` gives, ``None`` when that cannot be told."""
    try:
        return deduce_call(call, [None if type(arg) is ListExpr else _type_of(facts, arg) for arg in call.args])
    except TypeDeductionError as error:
        return error


def _without_memref(type_: Type) -> Type:
    """Where a tile is allocated is declared, not computed."""
    if isinstance(type_, TileType) and type_.memref is not None:
        return replace(type_, memref=None)
    return type_


def _text(expr: Expr) -> str:
    return f"'{print_expr(expr)}'"
