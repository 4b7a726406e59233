"""Scalar expressions: bare integers are unbounded, everything else has the width of its dtype.

A bare number takes the dtype of the typed scalar it meets. ``//`` and ``%`` round towards minus infinity.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from tilesat.errors import InterpretError
from tilesat.ir.dtypes import is_float
from tilesat.ir.interp.numerics import convert, storage_dtype
from tilesat.ir.interp.values import Scalar, Value

_UNBOUNDED = frozenset({"INDEX", "TASK_ID"})
_MAX_SHIFT = 4096

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
}
_INTEGRAL = frozenset({"&", "|", "^", "<<", ">>"})


def is_scalar(value: Value) -> bool:
    return isinstance(value, (bool, int, float, np.generic))


def as_scalar(value: Value) -> Scalar:
    """``value``, which must be a scalar."""
    if not is_scalar(value):
        raise InterpretError(f"a scalar is needed, this is a {type(value).__name__}")
    return cast("Scalar", value)


def as_index(value: Value) -> int:
    """``value`` as a Python integer; it must be an integral scalar."""
    scalar = as_scalar(value)
    if isinstance(scalar, float) or (isinstance(scalar, np.generic) and scalar.dtype.kind not in "iub"):
        raise InterpretError(f"an integer is needed, this is {scalar!r}")
    return int(scalar)


def truth(value: Value) -> bool:
    return bool(as_scalar(value))


def coerce(value: Value, dtype: str) -> Scalar:
    """``value`` as a scalar of ``dtype``: floats are truncated and saturated to integers, integers wrap."""
    scalar = as_scalar(value)
    if dtype == "BOOL":
        return bool(scalar)
    if dtype in _UNBOUNDED:
        return _whole(scalar)
    target = storage_dtype(dtype)
    if isinstance(scalar, np.generic) and scalar.dtype == target:
        return scalar
    if _is_floating(scalar):
        single = np.array([scalar], np.float64).astype(np.float32)
        return cast("np.generic", convert(single, "FP32", dtype, "rint" if is_float(dtype) else "trunc")[0])
    if is_float(dtype):
        return cast("np.generic", np.array([float(scalar)], np.float32).astype(target)[0])
    wrapped = (int(scalar) + (1 << 63)) % (1 << 64) - (1 << 63)
    return cast("np.generic", convert(np.array([wrapped], np.int64), "INT64", dtype)[0])


def _is_floating(value: Scalar) -> bool:
    return isinstance(value, float) or (isinstance(value, np.generic) and value.dtype.kind not in "iub")


def _whole(value: Scalar) -> int:
    if not _is_floating(value):
        return int(value)
    if not math.isfinite(float(value)):
        raise InterpretError(f"{value!r} is no index")
    return int(float(value))


def binary(op: str, lhs: Value, rhs: Value) -> Scalar:
    """``lhs op rhs`` for every operator except ``and`` and ``or``."""
    a, b = _common(as_scalar(lhs), as_scalar(rhs))
    if op in _COMPARISONS:
        return bool(_COMPARISONS[op](a, b))
    function = _ARITHMETIC.get(op)
    if function is None:
        raise InterpretError(f"unknown operator '{op}'")
    if op in _INTEGRAL and (_is_floating(a) or _is_floating(b)):
        raise InterpretError(f"'{op}' needs integers, not {a!r} and {b!r}")
    if not _has_sane_count(op, b):
        raise InterpretError(f"'{a!r} {op} {b!r}' is out of range")
    if op in ("/", "//", "%") and b == 0 and not _is_floating(a):
        raise InterpretError(f"division by zero in '{a!r} {op} {b!r}'")
    return _computed(function, a, b)


def _has_sane_count(op: str, count: Scalar) -> bool:
    if op in ("<<", ">>"):
        return 0 <= int(count) <= _MAX_SHIFT
    return op != "**" or abs(float(count)) <= _MAX_SHIFT


def _computed(function: Callable[[Any, Any], Any], a: Scalar, b: Scalar) -> Scalar:
    if not isinstance(a, np.generic):
        try:
            return cast("Scalar", function(a, b))
        except (ZeroDivisionError, OverflowError) as error:
            raise InterpretError(f"{error} for {a!r} and {b!r}") from None
    with np.errstate(all="ignore"):
        if a.dtype.kind in "iub":
            return cast("Scalar", function(a, b))
        return cast("Scalar", a.dtype.type(function(np.float32(a), np.float32(b))))


def _common(a: Scalar, b: Scalar) -> tuple[Scalar, Scalar]:
    """Both operands in one dtype: that of the typed one, the wider one of two typed ones."""
    if not isinstance(a, np.generic) and not isinstance(b, np.generic):
        return a, b
    if isinstance(a, np.generic) and isinstance(b, np.generic):
        wide = np.promote_types(a.dtype, b.dtype)
    else:
        typed, bare = (a, b) if isinstance(a, np.generic) else (b, a)
        assert isinstance(typed, np.generic)
        wide = np.dtype(np.float32) if _is_floating(bare) and not _is_floating(typed) else typed.dtype
    return _typed(a, wide), _typed(b, wide)


def _typed(value: Scalar, dtype: np.dtype[Any]) -> np.generic:
    if isinstance(value, np.generic):
        return cast("np.generic", value.astype(dtype))
    if dtype.kind in "iu":
        return cast("np.generic", np.array([int(value) & ((1 << 64) - 1)], np.uint64).astype(dtype)[0])
    return cast("np.generic", np.array([float(value)], np.float64).astype(dtype)[0])


def unary(op: str, operand: Value) -> Scalar:
    """``-x``, ``~x`` or ``not x``."""
    value = as_scalar(operand)
    if op == "not":
        return not bool(value)
    if op == "-":
        return _negative(value)
    if op == "~" and not _is_floating(value):
        inverted: Any = int(value) if isinstance(value, bool) else value
        return cast("Scalar", ~inverted)
    raise InterpretError(f"'{op}' does not apply to {value!r}")


def _negative(value: Scalar) -> Scalar:
    with np.errstate(all="ignore"):
        return cast("Scalar", -(int(value) if isinstance(value, bool) else value))  # type: ignore[operator]


def function(name: str, operands: tuple[Value, ...]) -> Scalar:
    """``pl.min``, ``pl.max`` or ``pl.abs``."""
    scalars = [as_scalar(operand) for operand in operands]
    if name == "abs" and len(scalars) == 1:
        with np.errstate(all="ignore"):
            return cast("Scalar", abs(scalars[0]))  # type: ignore[arg-type]
    if name not in ("min", "max") or not scalars:
        raise InterpretError(f"pl.{name} of {len(scalars)} operands is not defined")
    best = scalars[0]
    for scalar in scalars[1:]:
        a, b = _common(best, scalar)
        best = a if (a <= b if name == "min" else a >= b) else b  # type: ignore[operator]
    return best
