"""Dtypes of scalar expressions (peer behaviour, section 2.3)."""

from __future__ import annotations

from collections.abc import Mapping

from tilesat.ir.dtypes import is_float, is_integer
from tilesat.ir.nodes import BinOp, Cast, Const, Expr, ScalarFn, TupleGet, UnaryOp, Var
from tilesat.ir.types import ScalarType, TupleType, Type

_TRUTH_OPS = frozenset({"==", "!=", "<", "<=", ">", ">=", "and", "or"})


def scalar_dtype(expr: Expr, types: Mapping[str, Type]) -> str | None:
    """The dtype of a scalar expression that is not an op call, ``None`` when it is open."""
    if isinstance(expr, Var):
        type_ = types.get(expr.name)
        if type_ is None:
            return "INDEX"  # A loop index or a symbolic dimension: nothing else is bound without a type.
        return type_.dtype if isinstance(type_, ScalarType) else None
    if isinstance(expr, Const):
        return expr.dtype
    if isinstance(expr, Cast):
        return expr.dtype
    if isinstance(expr, BinOp):
        return _binary_dtype(expr, types)
    if isinstance(expr, UnaryOp):
        return "BOOL" if expr.op == "not" else scalar_dtype(expr.operand, types)
    if isinstance(expr, ScalarFn) and expr.args:
        first, *rest = expr.args
        dtype = scalar_dtype(first, types)
        for other in rest:
            dtype = _common(first, dtype, other, scalar_dtype(other, types))
        return dtype
    if isinstance(expr, TupleGet) and isinstance(expr.value, Var):
        element = element_type(types.get(expr.value.name), expr.index)
        return element.dtype if isinstance(element, ScalarType) else None
    return None


def element_type(whole: Type | None, index: int) -> Type | None:
    """The type of element ``index`` of a tuple."""
    if isinstance(whole, TupleType) and 0 <= index < len(whole.elements):
        return whole.elements[index]
    return None


def _binary_dtype(expr: BinOp, types: Mapping[str, Type]) -> str | None:
    if expr.op in _TRUTH_OPS:
        return "BOOL"
    dtype = _common(expr.lhs, scalar_dtype(expr.lhs, types), expr.rhs, scalar_dtype(expr.rhs, types))
    if expr.op == "/" and dtype is not None and not is_float(dtype):
        return None
    return dtype


def _common(lhs: Expr, left: str | None, rhs: Expr, right: str | None) -> str | None:
    """The dtype two operands agree on: programs cast explicitly, only bare constants adapt."""
    if left == right:
        return left
    if left is None or right is None:
        return None
    if _is_bare(rhs) and _adapts(right, left):
        return left
    if _is_bare(lhs) and _adapts(left, right):
        return right
    return None


def _is_bare(expr: Expr) -> bool:
    return isinstance(expr, Const) and expr.dtype in ("INDEX", "FP32")


def _adapts(constant: str, other: str) -> bool:
    return is_float(other) or (constant == "INDEX" and is_integer(other))
