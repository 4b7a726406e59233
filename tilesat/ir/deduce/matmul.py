"""Matrix products: results in the accumulator."""

from __future__ import annotations

from collections.abc import Mapping

from tilesat.ir.deduce.operands import Operands, Rule, RuleFunction, Undeducible
from tilesat.ir.deduce.tiles import check_same_extent, need_rank, need_whole
from tilesat.ir.dtypes import is_integer
from tilesat.ir.types import Shape, TileType, TileView, Type, tile_type

_GEMV_ROWS = 16


def _product(lhs: int, rhs: int, *, acc: int | None = None, bias: int | None = None, mx: bool = False) -> RuleFunction:
    """``[M, K] x [K, N]``; the arguments give positions. MX operands are packed, so K is not compared."""

    def rule(operands: Operands) -> Type:
        left, right = operands.tile(lhs), operands.tile(rhs)
        need_rank(left, 2)
        need_rank(right, 2)
        if not mx:
            check_same_extent(operands, rhs, right.shape[0], left.shape[1], "rows")
        shape: Shape = (left.shape[0], right.shape[1])
        valid: Shape = (left.valid_shape[0], right.valid_shape[1])
        if bias is not None:
            _check_bias(operands, bias, right)
        if acc is None:
            return _narrowed(shape, _accumulator_dtype(left), operands, valid)
        # An accumulation is never marked compact, narrowed or not (cases I66, kernel chain_three).
        target = operands.tile(acc)
        _check_accumulator(operands, acc, target, shape)
        return tile_type(shape, target.dtype, operands.space(), TileView(valid_shape=valid))

    return rule


def _gemv(lhs: int, rhs: int, *, acc: int | None = None, bias: int | None = None) -> RuleFunction:
    """``[1, K] x [K, N]``: the accumulator has sixteen rows, of which the first is valid."""

    def rule(operands: Operands) -> Type:
        left, right = operands.tile(lhs), operands.tile(rhs)
        need_rank(left, 2)
        need_rank(right, 2)
        check_same_extent(operands, rhs, right.shape[0], left.shape[1], "rows")
        if bias is not None:
            _check_bias(operands, bias, right)
        dtype = _accumulator_dtype(left) if acc is None else operands.tile(acc).dtype
        view = TileView(valid_shape=(1, right.valid_shape[1]))
        return tile_type((_GEMV_ROWS, right.shape[1]), dtype, operands.space(), view)

    return rule


def _batch(lhs: int, rhs: int, *, acc: int | None = None) -> RuleFunction:
    """``[..., M, K] x [..., K, N]`` with equal leading extents and everything valid."""

    def rule(operands: Operands) -> Type:
        left, right = operands.tile(lhs), operands.tile(rhs)
        need_whole(left, right)
        if min(len(left.shape), len(right.shape)) < 2 or left.shape[:-2] != right.shape[:-2]:
            raise Undeducible
        check_same_extent(operands, rhs, right.shape[-2], left.shape[-1], "rows")
        dtype = _accumulator_dtype(left) if acc is None else operands.tile(acc).dtype
        return TileType((*left.shape[:-1], right.shape[-1]), dtype, operands.space())

    return rule


def _narrowed(shape: Shape, dtype: str, operands: Operands, valid: Shape) -> Type:
    if valid == shape:
        return TileType(shape, dtype, operands.space())
    return tile_type(shape, dtype, operands.space(), TileView(valid_shape=valid, compact="normal"))


def _accumulator_dtype(operand: TileType) -> str:
    return "INT32" if is_integer(operand.dtype) else "FP32"


def _check_bias(operands: Operands, position: int, right: TileType) -> None:
    bias = operands.tile(position)
    need_rank(bias, 2)
    check_same_extent(operands, position, bias.shape[-1], right.shape[1], "columns")


def _check_accumulator(operands: Operands, position: int, target: TileType, shape: Shape) -> None:
    need_rank(target, 2)
    check_same_extent(operands, position, target.shape[0], shape[0], "rows")
    check_same_extent(operands, position, target.shape[1], shape[1], "columns")


RULES: Mapping[str, Rule] = {
    "tile.matmul": Rule(_product(0, 1), 2),
    "tile.matmul_acc": Rule(_product(1, 2, acc=0), 3),
    "tile.matmul_bias": Rule(_product(0, 1, bias=2), 3),
    "tile.matmul_mx": Rule(_product(0, 2, mx=True), 4),
    "tile.matmul_mx_acc": Rule(_product(1, 3, acc=0, mx=True), 5),
    "tile.matmul_mx_bias": Rule(_product(0, 2, bias=4, mx=True), 5),
    "tile.gemv": Rule(_gemv(0, 1), 2),
    "tile.gemv_acc": Rule(_gemv(1, 2, acc=0), 3),
    "tile.gemv_bias": Rule(_gemv(0, 1, bias=2), 3),
    "tile.batch_matmul": Rule(_batch(0, 1), 2),
    "tile.batch_matmul_acc": Rule(_batch(1, 2, acc=0), 3),
}
