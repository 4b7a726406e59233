"""Scenes of loads inside loops that may or may not leave them: panels of matrices and what keeps them in place."""

from __future__ import annotations

from collections.abc import Callable

from tilesat.ir.nodes import BinOp, Const, EnumConst, If, OpCall, Var
from tilesat.ir.types import Direction, Shape, TileType
from tilesat.ir.types import MemorySpace as Mem
from tilesat.lab.builder import Builder
from tilesat.lab.effects import store_tile
from tilesat.lab.loops import Bounds, constant_bounds, counted_loop, loop_kind, some_bounds
from tilesat.lab.matrix import product
from tilesat.lab.pool import ScalarVar, TensorVar, TileVar
from tilesat.lab.positions import condition
from tilesat.lab.sources import BRIDGE_MARKER, DYNAMIC_DIM, space_kwarg
from tilesat.lab.vector import unary_of

_MARK = ((BRIDGE_MARKER, Const(True, "BOOL")),)


def source(b: Builder, direction: Direction = Direction.In) -> TensorVar:
    """A tensor parameter of this direction for matrices: one that is there, or a new one."""
    found = [t for t in b.tensors if t.direction is direction and t.type.dtype == b.matrix_dtype and not t.is_index]
    return b.choices.select_or_none(found) or b.tensor_param(b.matrix_dtype, direction)


def marked_load(
    b: Builder,
    tensor: TensorVar,
    space: Mem,
    index: ScalarVar | None,
    shape: tuple[int, int] | None = None,
    *,
    sure: bool = False,
) -> TileVar:
    """A load such as the compiler makes from a tensor op, or one written by hand; perhaps of a new window per trip."""
    shape = shape or b.shape()
    varies = not sure and index is not None and index.high * 8 + shape[0] <= b.config.tensor_extent
    if varies and index is not None and b.choices.chance(5):
        offsets = [BinOp("*", Var(index.name), Const(8)), Const(0)]
    else:
        room = b.config.tensor_extent - shape[1]
        offsets = [Const(0), Const(b.choices.pick((0, 16)) if room >= 16 else 0)]
    name = b.tensor_name(tensor)
    call = b.call("tile.load", name, offsets, shape, shape, target_memory=space_kwarg(space))
    marked = sure or not b.choices.chance(6)
    return b.tile(OpCall(call.op, call.args, call.kwargs, _MARK if marked else ()))


def some_loop(b: Builder, body: Callable[[ScalarVar], None]) -> None:
    """One or two loops around ``body``, most often sequential and surely executed."""

    def around(inner: Callable[[ScalarVar], None]) -> None:
        bounds: Bounds = some_bounds(b) if b.choices.chance(4) else constant_bounds(b.choices.integer(1, 3))
        counted_loop(b, bounds, [], inner, loop_kind(b) if b.choices.chance(5) else "range")

    if b.scope.depth + 1 < b.config.max_depth and b.choices.chance(3):
        around(lambda index: around(body))
    else:
        around(body)


def staged(b: Builder, left: TileVar, right: TileVar) -> None:
    """The product of two panels, staged by explicit moves or left to inference, stored."""
    if b.choices.chance(2):
        left = b.tile(b.call("tile.move", left, target_memory=space_kwarg(Mem.Left)))
    if b.choices.chance(3):
        right = b.tile(b.call("tile.move", right, target_memory=space_kwarg(Mem.Right)))
    store_tile(b, product(b, left, right))


def pair(b: Builder, index: ScalarVar | None, tensor: TensorVar | None = None) -> tuple[TileVar, TileVar]:
    """Two panels that can be multiplied, the second sometimes read the other way round."""
    rows, depth, columns = (b.choices.pick(b.extents) for _ in range(3))
    left = marked_load(b, tensor or source(b), Mem.Mat, index, (rows, depth))
    if b.choices.chance(4):
        right = marked_load(b, source(b), Mem.Mat, index, (columns, depth))
        b.transposed.add(right.buffer)
        return left, b.tile(b.call("tile.transpose_view", right), shares=right)
    return left, marked_load(b, source(b), Mem.Mat, index, (depth, columns))


def panel(b: Builder) -> None:
    """Products of panels that are loaded in every trip, at the same place or another."""

    def body(index: ScalarVar) -> None:
        left, right = pair(b, index)
        staged(b, left, right)
        if b.choices.chance(4):
            store_tile(b, unary_of(b, left))
        if b.choices.chance(3):
            vector = marked_load(b, source(b), Mem.Vec, index)
            store_tile(b, unary_of(b, vector))

    some_loop(b, body)


def panel_in_branch(b: Builder) -> None:
    """Panels loaded in a branch of the loop."""

    def body(index: ScalarVar) -> None:
        test = condition(b)
        b.open()
        left, right = pair(b, index)
        staged(b, left, right)
        then = b.close()
        b.add(If(test, then.block, None, ()))

    some_loop(b, body)


def panel_after_effect(b: Builder) -> None:
    """Panels loaded after a store of the same trip."""

    def body(index: ScalarVar) -> None:
        left, right = pair(b, index)
        store_tile(b, product(b, left, right))
        late, other = pair(b, index)
        staged(b, late, other)

    some_loop(b, body)


def panel_of_other_source(b: Builder) -> None:
    """Panels of a tensor that is not only read, or that goes by another name."""

    def body(index: ScalarVar) -> None:
        left, right = pair(b, index, source(b, Direction.InOut))
        staged(b, left, right)

    some_loop(b, body)


def written_panel(b: Builder) -> None:
    """Panels of a tensor that the kernel writes although its parameter says In."""
    tensor = source(b)
    extent = b.choices.pick(b.extents)

    def write() -> None:
        tile = b.tile(b.call("tile.full", (extent, extent), dtype=EnumConst(tensor.type.dtype), value=_one(tensor)))
        call = b.call("tile.store", tile, [Const(0), Const(0)], b.tensor_name(tensor))
        b.effect(call)

    def body(index: ScalarVar) -> None:
        left = marked_load(b, tensor, Mem.Mat, index, (extent, extent), sure=True)
        right = marked_load(b, source(b), Mem.Mat, index, (extent, extent), sure=True)
        staged(b, left, right)
        if b.choices.integer(0, 1):
            write()

    some_loop(b, body)
    if b.choices.chance(3):
        write()


def _one(tensor: TensorVar) -> Const:
    return Const(1, tensor.type.dtype) if tensor.type.dtype.startswith("INT") else Const(1.0, "FP32")


def sliced_panel(b: Builder) -> None:
    """A panel that stays the same, of which every trip cuts out another window."""
    side = b.choices.pick((Mem.Left, Mem.Right))

    def body(index: ScalarVar) -> None:
        whole = marked_load(b, source(b), Mem.Mat, index, (48, 48), sure=True)
        step = 16 if index.high <= 2 else 8 if index.high <= 4 else 0
        place = [BinOp("*", Var(index.name), Const(step)) if step else Const(0), Const(0)]
        cut = b.tile(b.call("tile.extract", whole, *place, (16, 16), target_memory=space_kwarg(side)))
        other = marked_load(b, source(b), Mem.Mat, index, (16, 16))
        store_tile(b, product(b, cut, other) if side is Mem.Left else product(b, other, cut))

    some_loop(b, body)


def same_panel(b: Builder) -> None:
    """A block loaded twice in every trip, multiplied with itself."""
    tensor = source(b)
    extent = b.choices.pick(b.extents)

    def body(index: ScalarVar) -> None:
        first, second = (marked_load(b, tensor, Mem.Mat, index, (extent, extent), sure=True) for _ in range(2))
        staged(b, first, second)

    some_loop(b, body)


def pipelined_panel(b: Builder) -> None:
    """Panels in a loop that is lowered to a pipeline."""

    def body(index: ScalarVar) -> None:
        staged(b, *pair(b, index))

    counted_loop(b, constant_bounds(b.choices.integer(1, 3)), [], body, "pipeline")


def odd_reader(b: Builder) -> None:
    """A panel staged for a product, which an op that nobody knows reads too."""

    def body(index: ScalarVar) -> None:
        left, right = pair(b, index)
        left = b.tile(b.call("tile.move", left, target_memory=space_kwarg(Mem.Left)))
        store_tile(b, product(b, left, right))
        b.effect(b.call("tile.custom_probe", left))

    some_loop(b, body)


def reserved_buffer(b: Builder) -> None:
    """Panels next to a buffer that is reserved outside the tiles."""
    b.effect(b.call("system.reserve_buffer", Const(1024)))
    panel(b)


def unsized_panel(b: Builder) -> None:
    """Panels next to a tile in Mat with as many rows as a tensor has."""
    rows, columns = Var(DYNAMIC_DIM), b.choices.pick(b.extents)
    shape: Shape = (rows, b.config.tensor_extent)
    tensor, target = (b.tensor_param(b.matrix_dtype, way, shape=shape) for way in (Direction.In, Direction.Out))
    call = b.call(
        "tile.load", Var(tensor.name), (0, 0), (rows, columns), (rows, columns), target_memory=space_kwarg(Mem.Mat)
    )
    tile = b.assign("t", TileType((rows, columns), b.matrix_dtype, Mem.Mat), call)
    b.effect(b.call("tile.store", Var(tile), (0, 0), Var(target.name)))
    panel(b)


def ordered_panel(b: Builder) -> None:
    """Panels in a loop with a barrier or an op that nobody knows."""

    def body(index: ScalarVar) -> None:
        left, right = pair(b, index)
        staged(b, left, right)
        if b.choices.integer(0, 2):
            b.effect(b.call("system.bar_all"))
        else:
            b.effect(b.call("tile.custom_probe", right))

    some_loop(b, body)


def rewritten_load(b: Builder) -> None:
    """A loaded tile that every trip changes in place."""

    def body(index: ScalarVar) -> None:
        tile = marked_load(b, source(b), b.choices.pick((Mem.Vec, Mem.Mat)), index, sure=True)
        dtype = tile.type.dtype
        value = Const(2, dtype) if dtype.startswith("INT") else Const(2.0, dtype)
        place = [Const(0), Const(0)]
        if b.choices.integer(0, 1):
            read = b.tile(b.call("tile.move", tile, target_memory=space_kwarg(Mem.Vec)))
            store_tile(b, unary_of(b, read))
        b.effect(b.call("tile.write", tile, place, value))
        b.wrote(tile, renamed=False)
        store_tile(b, tile)

    some_loop(b, body)
