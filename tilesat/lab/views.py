"""Statements that see a tile differently or copy it: views, windows, valid extents, aliases, moves."""

from __future__ import annotations

from tilesat.ir.nodes import EnumConst, Expr, Var
from tilesat.ir.types import MemorySpace as Mem
from tilesat.lab.builder import Builder
from tilesat.lab.matrix import transposed
from tilesat.lab.pool import TileVar
from tilesat.lab.positions import bounded_index, offset
from tilesat.lab.sources import any_tile, load, narrowed, new_tile, space_kwarg
from tilesat.lab.vector import operand

_BOXES = ("row_major", "col_major")
# Where the author of a program may move a tile of each memory; what only one slot reads comes last.
_TARGETS: dict[Mem | None, tuple[Mem, ...]] = {
    Mem.Vec: (Mem.Vec, Mem.Mat, Mem.Left, Mem.Right),
    Mem.Mat: (Mem.Vec, Mem.Mat, Mem.Left, Mem.Right),
    Mem.Acc: (Mem.Vec, Mem.Mat, Mem.Acc),
    None: (Mem.Vec, Mem.Mat),
}


def alias(b: Builder) -> None:
    tile = b.find(lambda t: True, lambda: any_tile(b))
    tile.is_read = True
    b.add_tile(b.assign("t", tile.type, Var(tile.name)), tile.type, tile)


def transpose_view(b: Builder) -> None:
    def fits(t: TileVar) -> bool:
        layout = t.type.layout
        if t.buffer in b.unsettled and not b.config.has("transposed_write"):
            return False
        return t.space is Mem.Mat and layout.blayout in _BOXES and layout.slayout in _BOXES

    tile = b.find(fits, lambda: load(b, b.shape(), b.matrix_dtype, None, Mem.Mat))
    transposed(b, tile)


def slice_(b: Builder) -> None:
    """A window; of a flat tile it may be a single row."""
    tile = b.find(lambda t: t.is_free and t.is_whole and t.type.compact is None, lambda: any_tile(b))
    is_flat = tile.type.layout.slayout == "none_box"
    shape = (_window(b, tile.rows, single=is_flat), _window(b, tile.columns, single=False))
    place = (offset(b, tile.rows - shape[0], 5 if is_flat else 16), offset(b, tile.columns - shape[1]))
    b.tile(b.call("tile.slice", tile, shape, place), shares=tile)


def _window(b: Builder, extent: int, *, single: bool) -> int:
    """How much of an extent a window takes."""
    options = [size for size in (16, 32) if size <= extent] or [extent]
    return b.choices.pick([*options, 1] if single and extent > 1 else options)


def reshape(b: Builder) -> None:
    """The extents exchanged, of a flat tile."""
    tile = b.find(
        lambda t: t.space in (Mem.Vec, None) and t.is_whole,
        lambda: new_tile(b, b.shape(), b.vector_dtype),
    )
    b.tile(b.call("tile.reshape", tile, (tile.columns, tile.rows)), shares=tile)


def set_validshape(b: Builder) -> None:
    tile = b.find(lambda t: t.is_free and t.is_whole and t.rows > 1, lambda: any_tile(b))
    rows: list[int | Expr] = [tile.rows - 4]
    if b.config.has("dynamic_valid"):
        dynamic = bounded_index(b, tile.rows)
        rows += [] if dynamic is None else [dynamic.expr]
    b.tile(b.call("tile.set_validshape", tile, b.choices.pick(rows), tile.columns), shares=tile)


def fillpad(b: Builder) -> None:
    tile = b.find_existing(lambda t: t.is_free and not t.is_whole)
    if tile is None:
        shape = b.shape()
        tile = load(b, shape, b.vector_dtype, narrowed(b, shape), Mem.Vec)
    pad = EnumConst(f"PadValue.{b.choices.pick(('zero', 'min'))}")
    b.tile(b.call("tile.fillpad", tile, pad_value=pad))


def extract_vec(b: Builder) -> None:
    """A copy of a window, in Vec."""

    def fits(t: TileVar) -> bool:
        return t.space is Mem.Vec and t.is_whole and t.columns > 1 and t.type.layout.slayout == "none_box"

    tile = b.find(fits, lambda: load(b, b.shape(), b.vector_dtype, None, Mem.Vec))
    shape = (_window(b, tile.rows, single=False), _window(b, tile.columns, single=False))
    row, column = offset(b, tile.rows - shape[0], 5), offset(b, tile.columns - shape[1])
    b.tile(b.call("tile.extract", tile, row, column, shape, target_memory=space_kwarg(Mem.Vec)))


def move(b: Builder) -> None:
    """A move that the author wrote, needed or not."""
    tile = operand(b)
    targets = _TARGETS[tile.space]
    if tile.rows == 1 or tile.columns == 1:
        targets = targets[:1]
    b.tile(b.call("tile.move", tile, target_memory=space_kwarg(b.choices.pick(targets))))
