"""Type deduction: the type of every expression, and the result type of every op call.

Result types follow what the peer's registry answers when it rebuilds a call (peer behaviour, section 3.3):
shape, dtype, memory space and view. Memrefs are declared, never deduced. An op without a rule has no
deduced type, and neither has a call whose operands are not known well enough: ``None`` means "keep what is
declared", it is never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from tilesat.ir.deduce.operands import scalar
from tilesat.ir.deduce.registry import deduce_call
from tilesat.ir.deduce.scalars import element_type, scalar_dtype
from tilesat.ir.nodes import Expr, FuncCall, ListExpr, OpCall, Submit, TupleGet, Var
from tilesat.ir.types import TupleType, Type

__all__ = ["deduce_call", "deduce_type"]


def deduce_type(
    expr: Expr, types: Mapping[str, Type], signatures: Mapping[str, tuple[Type, ...]] | None = None
) -> Type | None:
    """The type of ``expr``, or ``None`` when it cannot be deduced.

    ``types`` gives the types of variables; ``signatures`` the declared results of functions, by name. A call
    of a function without result has type ``None``, with one result that type, with several a tuple; a submit
    has a tuple that ends with the task id (peer behaviour, section 2.4).

    In scalar arithmetic a variable that ``types`` lacks is a loop index or a symbolic dimension, since
    :func:`tilesat.ir.walk.variable_types` has all others, and counts as ``INDEX``.

    Raises :class:`tilesat.errors.TypeDeductionError` as :func:`deduce_call` does.
    """
    if isinstance(expr, Var):
        return types.get(expr.name)
    if isinstance(expr, OpCall):
        return deduce_call(expr, [_argument_type(arg, types, signatures) for arg in expr.args])
    if isinstance(expr, (FuncCall, Submit)):
        return _result_type(expr, signatures or _NO_SIGNATURES)
    if isinstance(expr, TupleGet):
        return element_type(deduce_type(expr.value, types, signatures), expr.index)
    if isinstance(expr, ListExpr):
        elements = [deduce_type(item, types, signatures) for item in expr.items]
        known = tuple([type_ for type_ in elements if type_ is not None])
        return TupleType(known) if len(known) == len(elements) else None
    dtype = scalar_dtype(expr, types)
    return None if dtype is None else scalar(dtype)


_NO_SIGNATURES: Mapping[str, tuple[Type, ...]] = MappingProxyType({})


def _argument_type(
    arg: Expr, types: Mapping[str, Type], signatures: Mapping[str, tuple[Type, ...]] | None
) -> Type | None:
    """The type of an op's argument; lists there are shapes and offsets, which have none."""
    if isinstance(arg, Var):
        return types.get(arg.name)
    return None if isinstance(arg, ListExpr) else deduce_type(arg, types, signatures)


def _result_type(call: FuncCall | Submit, signatures: Mapping[str, tuple[Type, ...]]) -> Type | None:
    results = signatures.get(call.callee)
    if results is None:
        return None
    if isinstance(call, Submit):
        return TupleType((*results, scalar("TASK_ID")))
    if len(results) > 1:
        return TupleType(results)
    return results[0] if results else None
