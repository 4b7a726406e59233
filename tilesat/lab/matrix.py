"""Statements of the cube unit: products, accumulated and with bias, and their operands."""

from __future__ import annotations

from collections.abc import Callable

from tilesat.ir.types import MemorySpace as Mem
from tilesat.ir.types import Shape, TileType
from tilesat.lab.builder import Builder
from tilesat.lab.choices import Weighted
from tilesat.lab.pool import TileVar
from tilesat.lab.positions import offset
from tilesat.lab.sources import (
    accumulator_dtype,
    create,
    full,
    load,
    matrix_space,
    narrowed,
    space_kwarg,
    vector_space,
)

OPERAND_DTYPES = frozenset({"FP16", "BF16", "FP32", "INT8"})
ACCUMULATOR_DTYPES = frozenset({"FP32", "INT32"})
_LEAST = 16


def is_matrix(tile: TileVar) -> bool:
    return tile.rows >= _LEAST and tile.columns >= _LEAST


def _fits_slot(b: Builder, tile: TileVar, side: Mem) -> bool:
    if not (tile.is_free or tile.space is side) or not is_matrix(tile) or tile.type.dtype not in OPERAND_DTYPES:
        return False
    needed = {Mem.Acc: "product_operand", Mem.Vec: "vec_operands"}.get(tile.space) if tile.space else None
    return needed is None or b.config.has(needed)


# --------------------------------------------------------------------------------- operands


def new_operand(b: Builder, shape: Shape, dtype: str, side: Mem, valid: Shape | None = None) -> TileVar:
    """A tile for the slot ``side``: loaded, loaded the other way round, or cut out of a larger one."""
    is_whole = valid is None or valid == shape
    has_mat = b.config.has("mat_loads")
    kinds = [
        ("load", 6),
        ("transposed", 1 if has_mat and b.config.has("transpose_view") else 0),
        ("extracted", 1 if has_mat and is_whole and b.config.has("extract_cube") else 0),
    ]
    kind = Weighted(kinds).pick(b.choices)
    if kind == "transposed":
        turned = load(b, tuple(reversed(shape)), dtype, None if valid is None else tuple(reversed(valid)), Mem.Mat)
        return transposed(b, turned)
    if kind == "extracted":
        return extracted(b, shape, dtype, side)
    return load(b, shape, dtype, valid, matrix_space(b))


def transposed(b: Builder, tile: TileVar) -> TileVar:
    """``tile``, which is in Mat, read the other way round."""
    b.transposed.add(tile.buffer)
    return b.tile(b.call("tile.transpose_view", tile), shares=tile)


def extracted(b: Builder, shape: Shape, dtype: str, side: Mem) -> TileVar:
    """A window of a Mat tile in ``side``, which is Left or Right."""
    rows, columns = (extent for extent in shape if isinstance(extent, int))

    def contains(t: TileVar) -> bool:
        fits = t.rows >= rows and t.columns >= columns
        return fits and t.space is Mem.Mat and t.is_whole and t.type.dtype == dtype

    largest = max(b.config.extents)
    source = b.find(contains, lambda: load(b, (max(rows, largest), max(columns, largest)), dtype, None, Mem.Mat))
    row, column = offset(b, source.rows - rows), offset(b, source.columns - columns)
    return b.tile(b.call("tile.extract", source, row, column, shape, target_memory=space_kwarg(side)))


def operands(
    b: Builder, valid: Shape | None = None, shape: Shape | None = None, result: str | None = None
) -> tuple[TileVar, TileVar]:
    """Two tiles whose product has ``shape``, ``valid`` extents and the dtype ``result``, where these are given."""
    rows = None if shape is None else shape[0]
    columns = None if shape is None else shape[1]

    def is_left(t: TileVar) -> bool:
        if not _fits_slot(b, t, Mem.Left) or (rows is not None and t.type.shape[0] != rows):
            return False
        if result is not None and accumulator_dtype(t.type.dtype) != result:
            return False
        return valid is None or t.type.valid_shape[0] == valid[0]

    def make_left() -> TileVar:
        size = (b.choices.pick(b.extents) if rows is None else rows, b.choices.pick(b.extents))
        dtype = b.matrix_dtype if result is None else _operand_dtype(b, result)
        return new_operand(b, size, dtype, Mem.Left, _left_valid(b, size, valid))

    left = b.find(is_left, make_left)
    dtype, depth = left.type.dtype, left.columns

    def is_right(t: TileVar) -> bool:
        if not _fits_slot(b, t, Mem.Right) or t.rows != depth or t.type.dtype != dtype:
            return False
        if t is left and not b.config.has("same_operand"):
            return False
        if columns is not None and t.type.shape[1] != columns:
            return False
        return valid is None or t.type.valid_shape[1] == valid[1]

    def make_right() -> TileVar:
        size = (depth, b.choices.pick(b.extents) if columns is None else columns)
        return new_operand(b, size, dtype, Mem.Right, size if valid is None else (depth, valid[1]))

    return left, b.find(is_right, make_right)


def _operand_dtype(b: Builder, result: str) -> str:
    """A dtype whose products have dtype ``result``, the preferred one if possible."""
    if accumulator_dtype(b.matrix_dtype) == result:
        return b.matrix_dtype
    return "FP16" if result == "FP32" else "INT8"


def _left_valid(b: Builder, size: Shape, valid: Shape | None) -> Shape:
    return narrowed(b, size) if valid is None else (valid[0], size[1])


# --------------------------------------------------------------------------------- products


def product(b: Builder, left: TileVar, right: TileVar) -> TileVar:
    return b.tile(b.call("tile.matmul", left, right))


def product_of(b: Builder, type_: TileType) -> TileVar:
    """A product with the values of ``type_``: its shape, valid extents and dtype."""
    return product(b, *operands(b, type_.valid_shape, type_.shape, type_.dtype))


def can_accumulate(type_: TileType) -> bool:
    """Whether products can be added to a tile of ``type_``."""
    large = all(isinstance(extent, int) and extent >= _LEAST for extent in type_.shape)
    return large and type_.dtype in ACCUMULATOR_DTYPES


def is_accumulator(b: Builder, tile: TileVar) -> bool:
    """Whether a product can be added to ``tile`` in place."""
    if not tile.is_free or not can_accumulate(tile.type) or not b.may_rename(tile):
        return False
    needed = {Mem.Mat: "mat_accumulator", Mem.Acc: None}.get(tile.space, "vec_accumulator") if tile.space else None
    return needed is None or b.config.has(needed)


def accumulated(b: Builder, accumulator: TileVar) -> TileVar:
    """A product added to ``accumulator`` in place."""
    type_ = accumulator.type
    left, right = operands(b, type_.valid_shape, type_.shape, type_.dtype)
    return b.rewritten(b.call("tile.matmul_acc", accumulator, left, right), accumulator)


def new_accumulator(b: Builder) -> TileVar:
    """A tile to accumulate in, of one of the kinds that programs start from."""
    shape, dtype = b.shape(), accumulator_dtype(b.matrix_dtype)
    has = b.config.has
    makers: list[tuple[Callable[[], TileVar], int]] = [
        (lambda: product(b, *operands(b, shape, shape, dtype)), 2 if has("matmul") else 0),
        (lambda: create(b, shape, dtype, Mem.Vec), 2 if has("create") else 0),
        (lambda: full(b, shape, dtype), 2 if has("full") else 0),
        (lambda: create(b, shape, dtype, Mem.Acc), 2 if has("acc_create") else 0),
        (lambda: load(b, shape, dtype, None, _accumulator_space(b, shape)), 1),
        (lambda: create(b, shape, dtype, None), 1 if has("unset_space") else 0),
    ]
    return Weighted(makers).pick(b.choices)()


def new_cube_accumulator(b: Builder) -> TileVar:
    """A tile to accumulate in that is in Acc from the start, or may be."""
    shape, dtype = b.shape(), accumulator_dtype(b.matrix_dtype)
    if b.config.has("matmul"):
        return product(b, *operands(b, shape, shape, dtype))
    return create(b, shape, dtype, Mem.Acc if b.config.has("acc_create") else None)


def _accumulator_space(b: Builder, shape: Shape) -> Mem | None:
    return vector_space(b, shape) if b.config.has("mat_accumulator") else Mem.Vec


# ------------------------------------------------------------------------------- statements


def matmul(b: Builder) -> None:
    product(b, *operands(b))


def matmul_acc(b: Builder) -> None:
    make = new_accumulator if b.config.has("vec_accumulator") else new_cube_accumulator
    accumulated(b, b.find(lambda t: is_accumulator(b, t), lambda: make(b)))


def matmul_bias(b: Builder) -> None:
    left, right = operands(b)
    shape, dtype = (1, right.columns), accumulator_dtype(left.type.dtype)
    spaces = [
        (Mem.Mat, 2 if b.config.has("mat_loads") else 0),
        (Mem.Vec, 1 if b.config.has("vec_operands") or not b.config.has("mat_loads") else 0),
    ]

    def fits(t: TileVar) -> bool:
        is_row = t.type.shape == shape and t.is_whole and t.type.dtype == dtype
        return is_row and t.is_free and (t.space is Mem.Mat or b.config.has("vec_operands"))

    bias = b.find(fits, lambda: load(b, shape, dtype, None, Weighted(spaces).pick(b.choices)))
    b.tile(b.call("tile.matmul_bias", left, right, bias))


def extract_cube(b: Builder) -> None:
    """A window in Left or Right for a later product."""
    side = b.choices.pick((Mem.Left, Mem.Right))
    extracted(b, b.shape(), b.matrix_dtype, side)
