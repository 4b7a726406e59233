"""Elementwise ops on tiles and tensors, with scalars, and with row or column vectors.

The result has the dtype of the first operand that is a tile or tensor. It is valid where all operands
are, except that the partial ops (``part_*``) pass on what only one operand has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from tilesat.errors import InterpretError
from tilesat.ir.dtypes import bits, is_float
from tilesat.ir.interp.call import UNMODELLED, Call, Handler, Unmodelled
from tilesat.ir.interp.numerics import ROUNDINGS, convert, narrow, storage_dtype, widen
from tilesat.ir.interp.scalars import as_index, coerce
from tilesat.ir.interp.values import Array, Extents, Region, Tensor, Tile, Value, box
from tilesat.ir.types import TensorType, TileType

Function = Callable[..., Array]

# ------------------------------------------------------------------------- element functions


def _divide(a: Array, b: Array) -> Array:
    """Division; of integers rounded towards zero."""
    if a.dtype.kind == "f":
        return np.divide(a, b)
    quotient: Array = np.floor_divide(a, b)
    inexact: Array = (quotient * b != a) & ((a < 0) != (b < 0)) & (b != 0)
    truncated: Array = quotient + inexact.astype(quotient.dtype)
    return truncated


def _floating(function: Function) -> Function:
    def apply(a: Array) -> Array:
        return function(a if a.dtype == np.float32 else a.astype(np.float32))

    return apply


def _reciprocal(a: Array) -> Array:
    return np.divide(np.float32(1), a)


def _leaky(a: Array, slope: Array) -> Array:
    return np.where(a > 0, a, a * slope)


def _relu(a: Array) -> Array:
    positive: Array = np.maximum(a, a.dtype.type(0))
    return positive


_UNARY: Mapping[str, Function] = MappingProxyType(
    {
        "abs": np.abs,
        "neg": np.negative,
        "not": np.invert,
        "relu": _relu,
        "exp": _floating(np.exp),
        "log": _floating(np.log),
        "sqrt": _floating(np.sqrt),
        "sin": _floating(np.sin),
        "cos": _floating(np.cos),
        "recip": _floating(_reciprocal),
        "rsqrt": _floating(lambda a: _reciprocal(np.sqrt(a))),
    }
)
_BINARY: Mapping[str, Function] = MappingProxyType(
    {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "div": _divide,
        "maximum": np.maximum,
        "minimum": np.minimum,
        "rem": np.remainder,
        "fmod": np.fmod,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
        "shl": np.left_shift,
        "shr": np.right_shift,
    }
)
_INTEGRAL = frozenset({"not", "and", "or", "xor", "shl", "shr"})
_TERNARY: Mapping[str, Function] = MappingProxyType(
    {"addc": lambda a, b, c: a + b + c, "subc": lambda a, b, c: a - b + c}
)
_EXPANDS: Mapping[str, Function] = MappingProxyType(
    {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "div": _divide,
        "max": np.maximum,
        "min": np.minimum,
        "expdif": lambda a, b: np.exp(np.subtract(a, b)),
    }
)
_PARTIAL: Mapping[str, Function] = MappingProxyType(
    {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
)
# The order of the comparison codes 0 to 5.
_COMPARISONS: tuple[Function, ...] = (
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
)

# ------------------------------------------------------------------------------- evaluation


def _common_shape(regions: list[Region]) -> Extents:
    try:
        return np.broadcast_shapes(*(region.shape for region in regions))
    except ValueError:
        shapes = ", ".join(str(list(region.shape)) for region in regions)
        raise InterpretError(f"operands of shapes {shapes} do not fit together") from None


def _common_valid(regions: list[Region], shape: Extents) -> Extents:
    """Where all operands are valid; an extent of one is repeated along the result."""
    valid = list(shape)
    for region in regions:
        skipped = len(shape) - len(region.shape)
        for axis, (extent, own) in enumerate(zip(region.shape, region.valid, strict=True), start=skipped):
            repeated = extent == 1 and own == 1
            valid[axis] = valid[axis] if repeated else min(valid[axis], own)
    return tuple(valid)


def _read(region: Region, valid: Extents) -> Array:
    """The part of ``region`` that a result of ``valid`` extents reads."""
    skipped = len(valid) - len(region.shape)
    return region.part(tuple([min(v, e) for v, e in zip(valid[skipped:], region.shape, strict=True)]))


def _cut(region: Region, valid: Extents) -> Array:
    """:func:`_read`, in the dtype of computation."""
    return widen(_read(region, valid), region.dtype)


def _operand(value: Value, dtype: str, valid: Extents) -> Any:
    if isinstance(value, (Tile, Tensor)):
        return _cut(value, valid)
    return widen(np.array([coerce(value, dtype)], storage_dtype(dtype)), dtype)


def apply(call: Call, function: Function, operands: tuple[Value, ...]) -> Region:
    """``function`` of ``operands`` (tiles, tensors, scalars), element by element."""
    regions = [value for value in operands if isinstance(value, (Tile, Tensor))]
    if not regions:
        raise InterpretError(f"{call.node.op} has no tile or tensor operand")
    dtype = regions[0].dtype
    shape = _common_shape(regions)
    valid = _common_valid(regions, shape)
    computed = function(*[_operand(value, dtype, valid) for value in operands])
    return call.new(dtype, shape, narrow(np.broadcast_to(computed, valid), dtype), valid)


def _check_integral(call: Call, name: str) -> None:
    if name in _INTEGRAL and is_float(call.region(0).dtype):
        raise InterpretError(f"{call.node.op} needs integers, its operand has dtype {call.region(0).dtype}")


def _unary(name: str) -> Handler:
    function = _UNARY[name]

    def handle(call: Call) -> Value:
        _check_integral(call, name)
        negates = name == "not" and call.region(0).dtype == "BOOL"
        return apply(call, np.logical_not if negates else function, (call.region(0),))

    return handle


def _binary(name: str) -> Handler:
    function = _BINARY[name]

    def handle(call: Call) -> Value:
        lhs, rhs = call.arg(0), call.arg(1)
        if name in _INTEGRAL:
            _check_integral(call, name)
        if name in ("shl", "shr"):
            return apply(call, _shift(function, bits(call.region(0).dtype) or 64), (lhs, rhs))
        return apply(call, function, (lhs, rhs))

    return handle


def _shift(function: Function, width: int) -> Function:
    """Shifts by a negative count or by the width and more are no machine operation: clip the count."""
    return lambda a, count: function(a, np.clip(count, 0, width - 1).astype(a.dtype))


def _ternary(name: str) -> Handler:
    return lambda call: apply(call, _TERNARY[name], (call.arg(0), call.arg(1), call.arg(2)))


def _leaky_relu(call: Call) -> Value:
    return apply(call, _leaky, (call.region(0), call.arg(1)))


def _expand_with(name: str) -> Handler:
    return lambda call: apply(call, _EXPANDS[name], (call.region(0), call.region(1)))


def _expand(call: Call) -> Value:
    """The vector repeated over the shape of the target, whose contents do not matter."""
    target, vector = call.region(0), call.region(1)
    valid = _common_valid([target, vector], _common_shape([target, vector]))
    repeated = np.broadcast_to(_read(vector, valid), valid)
    return call.new(vector.dtype, target.shape, np.array(repeated), valid)


def _expands(call: Call) -> Value:
    target = call.region(0)
    element = coerce(call.scalar(1), target.dtype)
    return call.new(
        target.dtype, target.shape, np.full(target.valid, element, storage_dtype(target.dtype)), target.valid
    )


def _partial(name: str) -> Handler:
    function = _PARTIAL[name]

    def handle(call: Call) -> Value:
        a, b = call.region(0), call.region(1)
        shape = _common_shape([a, b])
        if a.shape != shape or b.shape != shape:
            raise InterpretError(f"{call.node.op} needs operands of one shape")
        valid = tuple([max(x, y) for x, y in zip(a.valid, b.valid, strict=True)])
        both = tuple([min(x, y) for x, y in zip(a.valid, b.valid, strict=True)])
        contents = np.array(call.new(a.dtype, shape, a.valid_contents(), a.valid).contents())
        outside = np.ones(shape, bool)
        outside[box(a.valid)] = False
        source = np.zeros(shape, bool)
        source[box(b.valid)] = True
        contents[outside & source] = convert(b.contents(), b.dtype, a.dtype)[outside & source]
        contents[box(both)] = narrow(function(_cut(a, both), _cut(b, both)), a.dtype)
        return call.adopt(a.dtype, contents, valid)

    return handle


def _cast(call: Call) -> Value:
    source = call.region(0)
    target = call.member("target_type")
    if target is None:
        raise InterpretError(f"{call.node.op} names no target_type")
    mode = call.keyword("mode")
    if mode is not None and not isinstance(mode, str):
        code = as_index(mode)
        if not 0 <= code < len(ROUNDINGS):
            raise InterpretError(f"unknown rounding mode {code}")
        mode = ROUNDINGS[code]
    values = convert(source.valid_contents(), source.dtype, target, mode or "rint")
    return call.new(target, source.shape, values, source.valid)


# -------------------------------------------------------------------- comparison and choice


def _compare(call: Call) -> Value | Unmodelled:
    """A mask of the operands' shape; masks packed into fewer elements have no model."""
    operands = (call.arg(0), call.arg(1))
    regions = [value for value in operands if isinstance(value, (Tile, Tensor))]
    shape = _common_shape(regions)
    code = call.keyword("cmp_type")
    position = 0 if code is None else as_index(code)
    if call.result_shape() not in (None, shape) or not 0 <= position < len(_COMPARISONS):
        return UNMODELLED
    dtype = call.result.dtype if isinstance(call.result, (TileType, TensorType)) else "BOOL"
    valid = _common_valid(regions, shape)
    values = [_operand(value, regions[0].dtype, valid) for value in operands]
    mask = np.broadcast_to(_COMPARISONS[position](*values), valid)
    return call.new(dtype, shape, mask.astype(storage_dtype(dtype)), valid)


def _select(call: Call) -> Value | Unmodelled:
    return _choose(call, call.arg(1), call.arg(2))


def _select_scalar(call: Call) -> Value | Unmodelled:
    return _choose(call, call.arg(1), call.arg(3))


def _choose(call: Call, chosen: Value, other: Value) -> Value | Unmodelled:
    mask = call.region(0)
    regions = [value for value in (chosen, other) if isinstance(value, (Tile, Tensor))]
    if not regions or _common_shape(regions) != mask.shape:
        return UNMODELLED
    dtype, shape = regions[0].dtype, mask.shape
    valid = _common_valid([mask, *regions], shape)
    condition = _cut(mask, valid) != 0
    picked = np.where(condition, _operand(chosen, dtype, valid), _operand(other, dtype, valid))
    return call.new(dtype, shape, narrow(picked, dtype), valid)


# ------------------------------------------------------------------------------------ table


def handlers() -> dict[str, Handler]:
    """Handlers by op name without its ``tile.`` or ``tensor.`` prefix."""
    table: dict[str, Handler] = {name: _unary(name) for name in _UNARY}
    for name in _BINARY:
        table[name] = table[name + "s"] = _binary(name)
    for name in _TERNARY:
        table[name] = _ternary(name)
    table["addsc"], table["subsc"] = _ternary("addc"), _ternary("subc")
    for name in _EXPANDS:
        table[f"row_expand_{name}"] = table[f"col_expand_{name}"] = _expand_with(name)
    for name in _PARTIAL:
        table[f"part_{name}"] = _partial(name)
    table |= {"row_expand": _expand, "col_expand": _expand, "expands": _expands, "cast": _cast}
    table |= {"cmp": _compare, "cmps": _compare, "sel": _select, "sels": _select_scalar}
    table |= {"lrelu": _leaky_relu, "prelu": _leaky_relu}
    return table
