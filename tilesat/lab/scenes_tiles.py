"""Scenes of straight-line statements: strange ops, windows, moves, equal loads, writes in the wrong place."""

from __future__ import annotations

from tilesat.ir.deduce import deduce_type
from tilesat.ir.nodes import Const, EnumConst, TupleGet, Var
from tilesat.ir.types import Direction, Shape, TileType, TupleType
from tilesat.ir.types import MemorySpace as Mem
from tilesat.lab.builder import Builder
from tilesat.lab.choices import Weighted
from tilesat.lab.effects import store_tile
from tilesat.lab.matrix import accumulated, operands, product
from tilesat.lab.pool import TileVar, Window
from tilesat.lab.positions import offset
from tilesat.lab.sources import accumulator_dtype, create, load, load_window, space_kwarg, working_space


def strange_op(b: Builder) -> None:
    """Ops that the table lacks or says little about: what they give lives where a default says."""
    kind = b.choices.integer(0, 5)
    shape = b.shape()
    if kind == 0:
        left, right = operands(b)
        type_ = TileType((left.rows, right.columns), accumulator_dtype(left.type.dtype), Mem.Acc)
        made = b.tile(b.call("tile.matmul_mx_custom", left, right), type_=type_)
    elif kind == 1:
        made = b.tile(b.call("tile.tpop_from_aiv", split=Const(0)), type_=TileType(shape, b.vector_dtype))
    elif kind == 2:
        source = load(b, shape, b.vector_dtype, None, b.choices.pick((Mem.Vec, Mem.Mat)))
        made = b.tile(b.call("tile.move", source))
    elif kind == 3:
        made = _of_element(b)
    elif kind == 4:
        made = b.tile(b.call("custom.make_tile", Const(3)), type_=TileType(shape, b.vector_dtype, Mem.Vec))
    else:
        type_ = TileType(shape, b.vector_dtype, b.choices.pick((Mem.Vec, Mem.Mat)))
        made = b.tile(b.call("tile.tpop_from_aic", split=Const(0)), type_=type_)
    if b.choices.integer(0, 2):
        store_tile(b, made)


def _of_element(b: Builder) -> TileVar:
    """A view of an element of a tuple, which is no variable."""
    whole = load(b, (32, 32), "FP32", None, Mem.Vec)
    scratch = working_space(b, whole.type.shape, "UINT8")
    options = {"cmp_mode": Const(5), "offset": Const(0), "out_cols": Const(16)}
    call = b.call("tile.gather_compare", whole, Const(0.5, "FP32"), scratch, **options)
    type_ = deduce_type(call, b.types)
    assert isinstance(type_, TupleType)
    element = type_.elements[0]
    assert isinstance(element, TileType)
    found = b.assign("p", type_, call)
    view = b.call("tile.slice", TupleGet(Var(found), 0), element.shape, [Const(0), Const(0)])
    return b.tile(view, type_=TileType(element.shape, element.dtype))


def open_operand(b: Builder) -> None:
    """A load that names no space, read the other way round, which only Mat offers."""
    tile = load(b, b.shape(), b.matrix_dtype, None, None)
    b.transposed.add(tile.buffer)
    old = tile.type
    type_ = TileType((old.shape[1], old.shape[0]), old.dtype)
    turned = b.tile(b.call("tile.transpose_view", tile), type_=type_, shares=tile)
    if b.choices.integer(0, 1):
        other = load(b, (turned.columns, b.choices.pick(b.extents)), b.matrix_dtype, None, Mem.Mat)
        product(b, turned, other)
    else:
        b.tile(b.call("tile.move", turned, target_memory=space_kwarg(Mem.Vec)))


def window_of_window(b: Builder) -> None:
    """A slice of a slice at constant offsets, and what the outer one shows besides."""
    space = b.choices.pick((Mem.Vec, Mem.Mat))
    whole = load(b, (48, 48), b.vector_dtype, None, space) if b.choices.integer(0, 2) else product_like(b)
    outer = _slice(b, whole, (32, 32))
    inner = _slice(b, outer, (16, 16))
    direct = b.choices.integer(0, 2)
    if direct:
        _slice(b, whole, (16, 16))
    read = [tile for tile in (inner, outer) if b.choices.integer(0, 2) or tile is inner]
    for tile in read:
        use(b, tile)


def product_like(b: Builder) -> TileVar:
    """A product of 48 rows and columns, in Acc."""
    dtype = accumulator_dtype(b.matrix_dtype)
    return product(b, *operands(b, (48, 48), (48, 48), dtype))


def _slice(b: Builder, tile: TileVar, shape: tuple[int, int]) -> TileVar:
    rows, columns = tile.rows - shape[0], tile.columns - shape[1]
    place = [Const(b.choices.pick(range(0, rows + 1, 16))), Const(b.choices.pick(range(0, columns + 1, 16)))]
    return b.tile(b.call("tile.slice", tile, shape, place), shares=tile)


def use(b: Builder, tile: TileVar) -> None:
    """``tile`` read by something that shows it: a vector op that needs it in Vec, a product, a move, or a store."""
    kind = b.choices.integer(0, 3)
    if kind == 0 or not tile.is_free:
        shown = b.tile(b.call("tile.muls", tile, Const(2 if "INT" in tile.type.dtype else 2.0, tile.type.dtype)))
        store_tile(b, shown)
    elif kind == 1:
        store_tile(b, b.tile(b.call("tile.move", tile, target_memory=space_kwarg(Mem.Vec))))
    elif kind == 2 and tile.type.dtype in ("FP16", "FP32", "BF16", "INT8") and min(tile.rows, tile.columns) >= 16:
        other = load(b, (tile.columns, b.choices.pick(b.extents)), tile.type.dtype, None, Mem.Mat)
        store_tile(b, product(b, tile, other))
    else:
        store_tile(b, tile)


def whole_slice(b: Builder) -> None:
    """A slice at the origin, of the whole tile or of a part, read beside the tile itself."""
    rows, columns = b.shape()
    tile = load(b, (rows, columns), b.matrix_dtype, None, b.choices.pick((Mem.Vec, Mem.Mat)))
    shape = (rows, columns) if b.choices.integer(0, 2) else (16, 16)
    part = b.tile(b.call("tile.slice", tile, shape, [Const(0), Const(0)]), shares=tile)
    use(b, tile)
    if b.choices.chance(4):
        b.effect(b.call("tile.write", tile, [Const(0), Const(0)], _two(tile.type.dtype)))
        b.wrote(tile, renamed=False)
    use(b, part)


def view_back(b: Builder) -> None:
    """A reshape there and back, or a tile transposed twice."""
    if b.choices.integer(0, 1):
        tile = load(b, b.shape(), b.matrix_dtype, None, Mem.Mat)
        views = [_turned(b, tile)]
        views.append(_turned(b, views[0]))
    else:
        rows, columns = b.shape()
        tile = load(b, (rows, columns), b.vector_dtype, None, Mem.Vec)
        flat = b.tile(b.call("tile.reshape", tile, (rows * columns // 16, 16)), shares=tile)
        views = [flat, b.tile(b.call("tile.reshape", flat, (rows, columns)), shares=tile)]
    if b.choices.chance(3):
        b.effect(b.call("tile.write", tile, [Const(0), Const(0)], _two(tile.type.dtype)))
        b.wrote(tile, renamed=False)
    use(b, views[1])
    if b.choices.chance(2):
        use(b, tile)


def _turned(b: Builder, tile: TileVar) -> TileVar:
    b.transposed.add(tile.buffer)
    return b.tile(b.call("tile.transpose_view", tile), shares=tile)


def _two(dtype: str) -> Const:
    return Const(2, dtype) if dtype.startswith(("INT", "UINT")) else Const(2.0, dtype)


def own_move(b: Builder) -> None:
    """Moves that change nothing, or that no chip makes; then what they give is read."""
    source_space, target = b.choices.pick(
        ((Mem.Vec, Mem.Vec), (Mem.Mat, Mem.Mat), (Mem.Mat, Mem.Acc), (Mem.Vec, Mem.Acc))
    )
    source = load(b, b.shape(), b.vector_dtype, None, source_space)
    copy = b.tile(b.call("tile.move", source, target_memory=space_kwarg(target)))
    if b.choices.chance(2):
        tile = b.choices.pick((source, copy))
        b.effect(b.call("tile.write", tile, [Const(0), Const(0)], _two(tile.type.dtype)))
        b.wrote(tile, renamed=False)
    use(b, copy)
    if b.choices.chance(2):
        use(b, source)


def copy_of_copy(b: Builder) -> None:
    """A copy, a write to one of the two, and readers of both."""
    source = load(b, b.shape(), b.vector_dtype, None, b.choices.pick((Mem.Vec, Mem.Mat)))
    copy = b.tile(b.call("tile.move", source, target_memory=space_kwarg(Mem.Vec)))
    use(b, b.choices.pick((copy, source)))
    for _ in range(b.choices.integer(0, 2)):
        tile = b.choices.pick((source, copy))
        b.effect(b.call("tile.write", tile, [Const(0), Const(0)], _two(tile.type.dtype)))
        b.wrote(tile, renamed=False)
    use(b, copy)
    use(b, source)


def cut_windows(b: Builder) -> None:
    """Windows cut out of a tile in Mat or Vec, and the same windows sliced."""
    space = b.choices.pick((Mem.Mat, Mem.Vec))
    target = Mem.Vec if space is Mem.Vec else b.choices.pick((Mem.Left, Mem.Right))
    whole = load(b, (32, 32), b.matrix_dtype, None, space)
    row, column = offset(b, 16), offset(b, 16)
    cut = b.tile(b.call("tile.extract", whole, row, column, (16, 16), target_memory=space_kwarg(target)))
    if b.choices.chance(2):
        again = b.tile(b.call("tile.slice", whole, (16, 16), [row, column]), shares=whole)
        use(b, again)
    if target is Mem.Vec:
        use(b, cut)
        return
    other = load(b, (16, 16), b.matrix_dtype, None, Mem.Mat)
    store_tile(b, product(b, cut, other) if target is Mem.Left else product(b, other, cut))


def equal_loads(b: Builder) -> None:
    """One window loaded twice, with or without something in between that writes."""
    spaces = (Mem.Vec, Mem.Mat)
    window = some_window(b, b.shape())
    first = load_window(b, window, b.choices.pick(spaces))
    if b.choices.chance(2):
        use(b, first)
    if b.choices.chance(3):
        b.effect(b.call("tile.write", first, [Const(0), Const(0)], _two(first.type.dtype)))
        b.wrote(first, renamed=False)
    if window.tensor.direction is not Direction.In and b.choices.integer(0, 2):
        overwrite(b, window)
    second = load_window(b, window, b.choices.pick(spaces))
    use(b, second)
    use(b, first)


def some_window(b: Builder, shape: Shape) -> Window:
    """The first block of a tensor that is only read, or of one that is written too."""
    direction = b.choices.pick((Direction.In, Direction.InOut))
    found = [t for t in b.tensors if t.direction is direction and t.type.dtype == b.vector_dtype and not t.is_index]
    tensor = b.choices.select_or_none(found) or b.tensor_param(b.vector_dtype, direction)
    return Window(tensor, (Const(0), Const(0)), shape, shape)


def overwrite(b: Builder, window: Window) -> None:
    """A store into what ``window`` shows."""
    dtype = window.tensor.type.dtype
    number = Const(3, dtype) if dtype.startswith("INT") else Const(3.0, "FP32")
    tile = b.tile(b.call("tile.full", (16, 16), dtype=EnumConst(dtype), value=number))
    call = b.call("tile.store", tile, [Const(0), Const(0)], b.tensor_name(window.tensor))
    window.tensor.is_stored = True
    b.effect(call)


def equal_fills(b: Builder) -> None:
    """Two tiles filled alike, perhaps one of them written, read where they are not."""
    shape = b.shape()
    dtype = b.matrix_dtype if b.matrix_dtype != "INT8" else "FP16"
    number = Const(b.choices.pick((1.0, 0.0)), "FP32")
    tiles = [b.tile(b.call("tile.full", shape, dtype=EnumConst(dtype), value=number)) for _ in range(2)]
    if b.choices.chance(3):
        tile = b.choices.pick(tiles)
        b.effect(b.call("tile.write", tile, [Const(0), Const(0)], _two(dtype)))
        b.wrote(tile, renamed=False)
    for tile in tiles:
        use(b, tile)


# ------------------------------------------------------------- writes in the wrong place


def seed_in_place(b: Builder) -> None:
    """An empty tile that is accumulated in, elsewhere than it was created."""
    shape, dtype = b.shape(), accumulator_dtype(b.matrix_dtype)
    space = Weighted[Mem | None]([(Mem.Vec, 3), (None, 1), (Mem.Mat, 1)]).pick(b.choices)
    seed = create(b, shape, dtype, space)
    store_tile(b, accumulated(b, seed))
    if b.choices.chance(4):
        use(b, seed)


def written_elsewhere(b: Builder) -> None:
    """A tile in Vec or Mat that a product is added to, read again under its old name or an alias."""
    shape, dtype = b.shape(), accumulator_dtype(b.matrix_dtype)
    tile = load(b, shape, dtype, None, b.choices.pick((Mem.Mat, Mem.Vec)))
    named = tile
    if b.choices.integer(0, 2):
        tile.is_read = True
        named = b.add_tile(b.assign("t", tile.type, Var(tile.name)), tile.type, tile)
    summed = accumulated(b, named)
    use(b, summed)
    for old in (tile, named):
        if b.choices.integer(0, 2):
            use(b, old)


def scattered(b: Builder) -> None:
    """A tile outside of Vec that a scatter overwrites, read again under its old name, an alias or a view."""
    extent = b.choices.pick(b.extents)
    shape = (extent, extent)
    if b.choices.integer(0, 1):
        left, right = (load(b, shape, "FP16", None, Mem.Mat) for _ in range(2))
        tile = product(b, left, right)
    else:
        tile = load(b, shape, "FP32", None, Mem.Mat)
    named, views = tile, [tile]
    if tile.space is Mem.Mat and b.choices.integer(0, 1):
        views.append(_turned(b, tile))
    if b.choices.integer(0, 1):
        tile.is_read = True
        named = b.add_tile(b.assign("t", tile.type, Var(tile.name)), tile.type, tile)
    if b.choices.chance(3):
        use(b, tile)
    source = load(b, shape, "FP32", None, Mem.Vec)
    places = load(b, shape, "INT32", None, Mem.Vec)
    made = b.rewritten(b.call("tile.scatter", named, source, places), named)
    for read in (*reversed(views), named, made):
        if b.choices.integer(0, 1):
            use(b, read)


def anchored_write(b: Builder) -> None:
    """A tile in Mat with a transposed view that a product is added to."""
    extent = b.choices.pick(b.extents)
    dtype = accumulator_dtype(b.matrix_dtype)
    if dtype != "FP32":
        return seed_in_place(b)
    tile = load(b, (extent, extent), dtype, None, Mem.Mat)
    turned = _turned(b, tile)
    early = b.choices.chance(2)
    if early:
        use(b, turned)
    summed = accumulated(b, tile)
    use(b, b.choices.pick((summed, tile)))
    use(b, turned)
    return None


def shown_write(b: Builder) -> None:
    """A tile in Vec with a transposed view, which only Mat has; one of them is written, the other read."""
    shape, dtype = b.shape(), b.matrix_dtype
    if b.choices.integer(0, 1):
        call = b.call("tile.muls", load(b, shape, dtype, None, Mem.Vec), _two(dtype))
    else:
        call = b.call("tile.full", shape, dtype=EnumConst(dtype), value=_two(dtype))
    # Its author leaves the space open, as that of the view is not what the producer gives.
    open_type = TileType(shape, dtype)
    tile = b.add_tile(b.assign("t", open_type, call), open_type)
    b.transposed.add(tile.buffer)
    turned = b.tile(b.call("tile.transpose_view", tile), type_=TileType((shape[1], shape[0]), dtype), shares=tile)
    if b.choices.chance(3):
        use(b, turned)
    written, read = (tile, turned) if b.choices.integer(0, 1) else (turned, tile)
    b.effect(b.call("tile.write", written, [Const(0), Const(0)], _two(dtype)))
    b.wrote(written, renamed=False)
    use(b, read)


def block_from_elsewhere(b: Builder) -> None:
    """A block assembled into a tile of another memory."""
    target = load(b, (32, 32), "FP32", None, b.choices.pick((Mem.Vec, Mem.Mat)))
    if b.choices.integer(0, 1):
        source = load(b, (16, 16), "FP32", None, b.choices.pick((Mem.Mat, Mem.Vec)))
    else:
        left, right = (load(b, (16, 16), "FP16", None, Mem.Mat) for _ in range(2))
        source = product(b, left, right)
    place = [offset(b, 16), offset(b, 16)]
    use(b, b.rewritten(b.call("tile.assemble", target, source, place), target))


def alias_read(b: Builder) -> None:
    """Second names for a tile, all of them read from where it is not."""
    tile = load(b, b.shape(), b.matrix_dtype, None, b.choices.pick((Mem.Vec, Mem.Mat)))
    last = tile
    for _ in range(b.choices.integer(1, 2)):
        last.is_read = True
        last = b.add_tile(b.assign("t", last.type, Var(last.name)), last.type, last)
    use(b, last)
    use(b, tile)
