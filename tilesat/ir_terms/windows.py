"""Where windows of tiles begin and end, as far as that decides how they can be had."""

from __future__ import annotations

from tilesat.ir.dtypes import byte_size
from tilesat.ir.nodes import Const, Expr, ListExpr, OpCall
from tilesat.ir.types import TileType, Type

# Boxes of boxed layouts are 16 rows by 32 bytes, at least 16 columns in accumulators; vector ops begin at 32 bytes.
BOX_ROWS, BLOCK_BYTES = 16, 32
PLAIN_SLICE = 3
"""Arguments of a slice that neither narrows nor drops dimensions."""


def keeps_boxes(result: Type, slice_call: OpCall) -> bool:
    """Whether a slice begins and ends between the boxes of a boxed layout, so that it can be cut there as well."""
    assert isinstance(result, TileType)
    if len(slice_call.args) != PLAIN_SLICE or slice_call.kwargs or result.valid_shape != result.shape:
        return False
    width = byte_size(1, result.dtype)
    if not isinstance(slice_call.args[2], ListExpr) or width is None:
        return False
    begins = [constant(item) for item in slice_call.args[2].items]
    boxes = (BOX_ROWS, max(BOX_ROWS, BLOCK_BYTES // width))
    if not len(begins) == len(result.shape) == len(boxes):
        return False
    edges = zip((*begins, *result.shape), (*boxes, *boxes), strict=True)
    return all(isinstance(edge, int) and edge % box == 0 for edge, box in edges)


def begins_on_block(extract: OpCall, source: Type) -> bool:
    """Whether a slice could show what ``extract`` copies: of a whole tile, columns from a block of 32 bytes on."""
    assert isinstance(source, TileType)
    row, column = (constant(arg) for arg in extract.args[1:3])
    width = byte_size(1, source.dtype)
    if row is None or column is None or width is None:
        return False
    return source.valid_shape == source.shape and column * width % BLOCK_BYTES == 0


def constant(expr: Expr) -> int | None:
    """The integer that ``expr`` is."""
    return expr.value if isinstance(expr, Const) and isinstance(expr.value, int) else None
