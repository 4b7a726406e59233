"""Where windows of tiles begin and end, as far as that decides how they can be had."""

from __future__ import annotations

from tilesat.ir.dtypes import byte_size
from tilesat.ir.index import FunctionIndex, int_value, trip_count
from tilesat.ir.nodes import Assign, BinOp, Const, Expr, For, ListExpr, OpCall, Var
from tilesat.ir.types import TileType, Type
from tilesat.ir.walk import names_in

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


def is_sure(call: OpCall, source: Type, index: FunctionIndex) -> bool:
    """Whether the view or copy ``call`` may be made wherever its names are bound, even where the program would not.

    Sizes that are computed may be out of range there, and so may windows at computed offsets; those are not where the
    ranges of loop counters keep them inside the source.
    """
    begins, rest = _offsets(call)
    if any(True for arg in rest for _ in names_in(arg)):
        return False
    if not any(True for arg in begins for _ in names_in(arg)):
        return True
    extents = next((arg.items for arg in rest if isinstance(arg, ListExpr)), ())
    assert isinstance(source, TileType)
    if not len(begins) == len(extents) == len(source.shape):
        return False
    return all(_is_inside(*dimension, index) for dimension in zip(begins, extents, source.shape, strict=True))


def _offsets(call: OpCall) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """Where the window of ``call`` begins, and its arguments besides that and the source; the shape comes first."""
    if call.op == "tile.extract":
        return call.args[1:3], call.args[3:]
    if call.op == "tile.slice" and len(call.args) >= PLAIN_SLICE and isinstance(call.args[2], ListExpr):
        return call.args[2].items, (call.args[1], *call.args[PLAIN_SLICE:])
    return (), call.args[1:]


def _is_inside(begin: Expr, extent: Expr, size: int | Expr, index: FunctionIndex) -> bool:
    between, width = extremes(begin, index), constant(extent)
    if between is None or width is None or not isinstance(size, int):
        return False
    return between[0] >= 0 and between[1] + width <= size


def extremes(expr: Expr, index: FunctionIndex) -> tuple[int, int] | None:
    """The least and the greatest value that the integer ``expr`` can have, as far as loop counters tell."""
    value = constant(expr)
    if value is not None:
        return value, value
    if isinstance(expr, Var):
        return _extremes_of(expr.name, index)
    if not isinstance(expr, BinOp) or expr.op not in ("+", "-", "*"):
        return None
    left, right = extremes(expr.lhs, index), extremes(expr.rhs, index)
    if left is None or right is None:
        return None
    if expr.op == "+":
        return left[0] + right[0], left[1] + right[1]
    if expr.op == "-":
        return left[0] - right[1], left[1] - right[0]
    corners = [a * b for a in left for b in right]
    return min(corners), max(corners)


def _extremes_of(name: str, index: FunctionIndex) -> tuple[int, int] | None:
    definition = index.definitions.get(name)
    stmt = index.sites[definition.site] if definition is not None and definition.site >= 0 else None
    if isinstance(stmt, Assign):
        return extremes(stmt.value, index)
    if not isinstance(stmt, For) or definition is None or definition.how != "index":
        return None
    start, step, trips = int_value(stmt.start), int_value(stmt.step), trip_count(stmt)
    if start is None or step is None or not trips:
        return None
    last = start + step * (trips - 1)
    return min(start, last), max(start, last)
