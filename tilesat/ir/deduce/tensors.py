"""Ops on tensors in global memory, on scalar arrays, and ops that give a scalar.

A tensor that an op computes is dense: no view. Where the operand's own view would matter, the result is left
open.
"""

from __future__ import annotations

from collections.abc import Mapping

from tilesat.ir.deduce.operands import Operands, Rule, RuleFunction, Undeducible, differ, dim_of, scalar
from tilesat.ir.deduce.views import check_same_size, dropped_dims
from tilesat.ir.nodes import Const
from tilesat.ir.types import ArrayType, ScalarType, Shape, TensorType, Type


def _create(operands: Operands) -> Type:
    """``create(shape, dtype=..., layout=...)``, known for the plain layout ND."""
    shape, dtype = operands.shape(0), operands.dtype("dtype")
    if operands.member("layout") not in (None, "ND"):
        raise Undeducible
    return TensorType(shape, dtype)


def _generated(shape_at: int) -> RuleFunction:
    """A tensor of generated values."""

    def rule(operands: Operands) -> Type:
        return TensorType(operands.shape(shape_at), operands.dtype("dtype"))

    return rule


def _slice(operands: Operands) -> Type:
    """``slice(input, shape, offset, valid_shape, drop_dims)``: typed as dense; strides follow the parent."""
    tensor, shape, offsets = operands.tensor(0), operands.shape(1), operands.shape(2)
    if not len(shape) == len(offsets) == len(tensor.shape):
        raise operands.error(
            1,
            f"has {len(shape)} extents for {len(offsets)} offsets",
            f"{len(tensor.shape)} of each are needed",
        )
    _need_row_major(tensor)
    narrows = operands.has(3) and operands.shape(3) != shape
    if narrows or operands.is_set("pad_value") or operands.is_set("clamp"):
        raise Undeducible
    dropped = dropped_dims(operands, 4, len(shape))
    return TensorType(tuple([dim for i, dim in enumerate(shape) if i not in dropped]), tensor.dtype)


def _need_row_major(tensor: TensorType) -> None:
    view = tensor.view
    if view is not None and (view.valid_shape is not None or view.pad or view.layout not in (None, "ND")):
        raise Undeducible


def _reshape(operands: Operands) -> Type:
    """``reshape(input, shape)`` or ``view(input, shape)`` of a dense tensor."""
    tensor, shape = operands.tensor(0), operands.shape(1)
    check_same_size(operands, 1, shape, tensor.shape)
    if tensor.view is not None or operands.has(2) or operands.member("layout") not in (None, "ND"):
        raise Undeducible
    return TensorType(shape, tensor.dtype)


def _assemble(operands: Operands) -> Type:
    """``assemble(target, source, offset)``: the target, typed as dense whatever its strides (case O27)."""
    target = operands.tensor(0)
    operands.tensor(1)
    _need_row_major(target)
    return TensorType(target.shape, target.dtype, distributed=target.distributed)


def _read(operands: Operands) -> Type:
    """``read(tensor, indices)``: one element."""
    return scalar(operands.tensor(0).dtype)


def _index(_operands: Operands) -> Type:
    """An extent or a core number."""
    return scalar("INDEX")


def _dim(operands: Operands) -> Type:
    operands.tensor(0)
    return scalar("INDEX")


# ------------------------------------------------------------------------------- arithmetic


def _same(*others: int, scalars: tuple[int, ...] = ()) -> RuleFunction:
    """A dense tensor like the first argument; ``others`` are scalars or have the same shape and dtype."""

    def rule(operands: Operands) -> Type:
        first = operands.tensor(0)
        _need_row_major(first)
        for position in others:
            if isinstance(operands.types[position], ScalarType):
                continue
            other = operands.tensor(position)
            _need_row_major(other)
            if other.dtype != first.dtype or other.shape != first.shape:
                raise Undeducible
        for position in scalars:
            operands.check_scalar(position)
        return TensorType(first.shape, first.dtype)

    return rule


def _cast(operands: Operands) -> Type:
    tensor = operands.tensor(0)
    _need_row_major(tensor)
    return TensorType(tensor.shape, operands.dtype("target_type"))


def _like_first(operands: Operands) -> Type:
    """A dense tensor like the first of two, whatever the shape of the second."""
    tensor = operands.tensor(0)
    operands.tensor(1)
    _need_row_major(tensor)
    return TensorType(tensor.shape, tensor.dtype)


def _reduction(from_end: int) -> RuleFunction:
    """A reduction that states whether it keeps the dimension, of an axis counted from the end."""

    def rule(operands: Operands) -> Type:
        tensor = operands.tensor(0)
        _need_row_major(tensor)
        keep, axis = operands.call.kwarg("keep_dim"), operands.integer("axis")
        rank = len(tensor.shape)
        if not isinstance(keep, Const) or rank < from_end or axis not in (None, -from_end, rank - from_end):
            raise Undeducible
        shape = list(tensor.shape)
        shape[-from_end : rank - from_end + 1] = [1] if keep.value else []
        return TensorType(tuple(shape), tensor.dtype)

    return rule


def _matmul(operands: Operands) -> Type:
    """``matmul(lhs, rhs, out_dtype=..., a_trans=..., b_trans=...)`` over the last two dimensions."""
    lhs, rhs = operands.tensor(0), operands.tensor(1)
    dtype = operands.optional_dtype("out_dtype")
    _need_row_major(lhs)
    _need_row_major(rhs)
    if dtype is None or operands.is_set("c_matrix_nz") or min(len(lhs.shape), len(rhs.shape)) < 2:
        raise Undeducible
    m, k = _matrix(lhs.shape, transposed=operands.is_set("a_trans"))
    inner, n = _matrix(rhs.shape, transposed=operands.is_set("b_trans"))
    if differ(k, inner):
        raise operands.error(1, f"has {inner} rows", f"{k} are needed, as many as 'lhs' has columns")
    if lhs.shape[:-2] != rhs.shape[:-2]:
        raise Undeducible
    return TensorType((*lhs.shape[:-2], m, n), dtype)


def _matrix(shape: Shape, *, transposed: bool) -> Shape:
    rows, columns = shape[-2:]
    return (columns, rows) if transposed else (rows, columns)


# ----------------------------------------------------------------------------------- arrays


def _array_create(operands: Operands) -> Type:
    operands.check_scalar(0)
    return ArrayType(dim_of(operands.call.args[0]), operands.dtype("dtype"))


def _array_get(operands: Operands) -> Type:
    return scalar(operands.array(0).dtype)


def _array_update(operands: Operands) -> Type:
    return operands.array(0)


_UNARY = ("abs", "cos", "exp", "log", "neg", "not", "recip", "rsqrt", "sin", "sqrt")
_BINARY = (
    *("add", "sub", "mul", "div", "fmod", "maximum", "minimum"),
    *("and", "or", "xor", "shl", "shr"),
    *("part_add", "part_max", "part_min", "part_mul"),
)
_WITH_SCALAR = ("adds", "subs", "muls", "divs", "fmods", "ands", "ors", "xors", "shls", "shrs", "expands")
_ARITHMETIC = ("", "_add", "_div", "_expdif", "_max", "_min", "_mul", "_sub")
_REDUCTIONS = ("max", "min", "sum", "prod")

RULES: Mapping[str, Rule] = {
    "tensor.create": Rule(_create, 1),
    "tensor.full": Rule(_generated(0), 1),
    "tensor.ci": Rule(_generated(1), 2),
    "tensor.random": Rule(_generated(6), 7),
    "tensor.slice": Rule(_slice, 3),
    "tensor.reshape": Rule(_reshape, 2),
    "tensor.view": Rule(_reshape, 2),
    "tensor.assemble": Rule(_assemble, 3),
    "tensor.read": Rule(_read, 2),
    "tensor.dim": Rule(_dim, 2),
    "tensor.cast": Rule(_cast, 1),
    "tensor.matmul": Rule(_matmul, 2),
    "tensor.matmul_acc": Rule(_like_first, 3),
    **{f"tensor.{name}": Rule(_same(), 1) for name in _UNARY},
    **{f"tensor.{name}": Rule(_same(1), 2) for name in _BINARY},
    **{f"tensor.{name}": Rule(_same(scalars=(1,)), 2) for name in _WITH_SCALAR},
    **{f"tensor.row_expand{name}": Rule(_like_first, 2) for name in _ARITHMETIC},
    **{f"tensor.col_expand{name}": Rule(_like_first, 2) for name in _ARITHMETIC},
    **{f"tensor.row_{name}": Rule(_reduction(1), 1) for name in _REDUCTIONS},
    **{f"tensor.col_{name}": Rule(_reduction(2), 1) for name in _REDUCTIONS},
    **{
        f"{family}.get_{name}": Rule(_index, 0)
        for family in ("tile", "tensor")
        for name in ("block_idx", "block_num", "subblock_idx")
    },
    "array.create": Rule(_array_create, 1),
    "array.get_element": Rule(_array_get, 2),
    "array.update_element": Rule(_array_update, 3),
}
