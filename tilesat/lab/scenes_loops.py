"""Scenes of loops and branches: what seeds an accumulator, what flows into slots, what the arms give."""

from __future__ import annotations

from collections.abc import Callable

from tilesat.ir.nodes import BinOp, Const, EnumConst, Expr, If, Var
from tilesat.ir.types import Direction
from tilesat.ir.types import MemorySpace as Mem
from tilesat.lab.branches import chosen_tile
from tilesat.lab.builder import Builder
from tilesat.lab.carries import Carried, tile_carry
from tilesat.lab.effects import store_tile
from tilesat.lab.loops import constant_bounds, counted_loop, loop_kind, some_bounds
from tilesat.lab.matrix import accumulated, operands, product, product_of
from tilesat.lab.pool import ScalarVar, TileVar
from tilesat.lab.positions import condition
from tilesat.lab.scenes_tiles import overwrite, some_window, use
from tilesat.lab.sources import accumulator_dtype, create, load, load_window, space_kwarg
from tilesat.lab.vector import binary_of, matching, unary_of


def _accumulator_type(b: Builder) -> tuple[tuple[int, int], str]:
    return b.shape(), accumulator_dtype(b.matrix_dtype)


def accumulate(b: Builder, seeds: list[TileVar], updates: list[Callable[[TileVar], TileVar]] | None = None) -> None:
    """A loop that carries ``seeds`` and by default adds a product to each; its results are stored."""
    chosen = updates or [lambda carry: accumulated(b, carry)] * len(seeds)
    carried = [tile_carry(b, seed, update) for seed, update in zip(seeds, chosen, strict=True)]
    for carry in carried:
        if carry.tile is not None:
            # Nothing but the update shall read it.
            carry.tile.is_read = not b.choices.chance(5)
    loop(b, carried)
    for result in b.scope.tiles[-len(seeds) :]:
        if b.choices.integer(0, 3):
            store_tile(b, result)


def loop(b: Builder, carried: list[Carried], body: Callable[[ScalarVar], None] = lambda index: None) -> None:
    """A loop of any kind, most often a sequential one of a known number of trips."""
    if b.choices.chance(3):
        counted_loop(b, some_bounds(b), carried, body, loop_kind(b))
    else:
        counted_loop(b, constant_bounds(b.choices.integer(1, 3)), carried, body)


def zero(b: Builder, shape: tuple[int, int], dtype: str) -> TileVar:
    """A tile filled with zeros."""
    number = Const(0, dtype) if dtype.startswith("INT") else Const(0.0, "FP32")
    return b.tile(b.call("tile.full", shape, dtype=EnumConst(dtype), value=number))


def zero_seed(b: Builder) -> None:
    """A loop that accumulates from zeros."""
    shape, dtype = _accumulator_type(b)
    seed = zero(b, shape, dtype)
    if b.choices.chance(5):
        use(b, seed)
    accumulate(b, [seed])


def created_seed(b: Builder) -> None:
    """A loop that accumulates in a tile created elsewhere, perhaps written before."""
    shape, dtype = _accumulator_type(b)
    seed = create(b, shape, dtype, b.choices.pick((Mem.Vec, None, Mem.Mat)))
    if b.choices.chance(3):
        value = Const(2, dtype) if dtype.startswith("INT") else Const(2.0, dtype)
        b.effect(b.call("tile.write", seed, [Const(0), Const(0)], value))
        b.wrote(seed, renamed=False)
        if b.choices.integer(0, 2):
            use(b, seed)
    accumulate(b, [seed])


def viewed_seed(b: Builder) -> None:
    """A loop that accumulates in a view or alias of a tile."""
    shape, dtype = _accumulator_type(b)
    source = _seed(b, shape, dtype)
    source.is_read = True
    kind = b.choices.integer(0, 2)
    if kind == 0:
        view = b.add_tile(b.assign("t", source.type, Var(source.name)), source.type, source)
    elif kind == 1:
        view = b.tile(b.call("tile.set_validshape", source, shape[0], shape[1]), shares=source)
    else:
        view = b.tile(b.call("tile.slice", source, shape, [Const(0), Const(0)]), shares=source)
    if b.choices.chance(3):
        use(b, b.choices.pick((view, source)))
    accumulate(b, [view])


def _seed(b: Builder, shape: tuple[int, int], dtype: str) -> TileVar:
    kind = b.choices.integer(0, 3)
    if kind == 0:
        return create(b, shape, dtype, Mem.Vec)
    if kind == 1:
        return zero(b, shape, dtype)
    return load(b, shape, dtype, None, Mem.Vec if kind == 2 else None)


def chosen_seed(b: Builder) -> None:
    """A loop that accumulates in what a branch gives."""
    shape, dtype = _accumulator_type(b)
    chosen = chosen_tile(b, condition(b), lambda: _seed(b, shape, dtype), lambda: _seed(b, shape, dtype))
    if b.choices.chance(3):
        use(b, chosen)
    accumulate(b, [chosen])


def shared_seed(b: Builder) -> None:
    """One empty tile that seeds several slots, which want it in different memories."""
    shape, dtype = _accumulator_type(b)
    seed = create(b, shape, dtype, b.choices.pick((Mem.Vec, None)))

    def one(carry: TileVar) -> TileVar:
        return accumulated(b, carry)

    def other(carry: TileVar) -> TileVar:
        return binary_of(b, carry, matching(b, carry)) if b.choices.integer(0, 1) else unary_of(b, carry)

    if b.choices.integer(0, 1):
        accumulate(b, [seed, seed], [one, other])
    else:
        accumulate(b, [seed], [one])
        accumulate(b, [seed], [other])


def loaded_seed(b: Builder) -> None:
    """A carried tile that starts as a load in one memory and goes on as something in another."""
    shape, dtype = b.shape(), b.matrix_dtype
    start = load(b, shape, dtype, None, b.choices.pick((Mem.Vec, Mem.Mat)))

    def following(carry: TileVar) -> TileVar:
        if b.choices.integer(0, 1):
            use(b, carry)
        return load(b, shape, dtype, None, b.choices.pick((Mem.Mat, Mem.Vec)))

    accumulate(b, [start], [following])


def kept_or_new(b: Builder) -> None:
    """A carry that one arm of a branch passes on and the other computes anew."""
    shape, dtype = _accumulator_type(b)
    space = b.choices.pick((Mem.Vec, Mem.Mat))
    start = load(b, shape, dtype, None, space)
    flipped = b.choices.integer(0, 1)

    def update(carry: TileVar) -> TileVar:
        def keep() -> TileVar:
            return carry

        def make() -> TileVar:
            if b.choices.integer(0, 1):
                return product_of(b, carry.type)
            return load(b, shape, dtype, None, b.choices.pick((Mem.Vec, Mem.Mat)))

        arms = (make, keep) if flipped else (keep, make)
        return chosen_tile(b, condition(b), *arms)

    accumulate(b, [start], [update])


def mixed_carries(b: Builder) -> None:
    """Two carries in different memories that the arms of a branch exchange."""
    shape, dtype = _accumulator_type(b)
    first = load(b, shape, dtype, None, Mem.Vec)
    second = load(b, shape, dtype, None, Mem.Mat) if b.choices.integer(0, 1) else product_like(b, shape, dtype)
    carried = [tile_carry(b, first, lambda carry: carry), tile_carry(b, second, lambda carry: carry)]
    tiles = [carry.tile for carry in carried]
    assert tiles[0] is not None
    assert tiles[1] is not None
    left, right = tiles[0], tiles[1]
    made: list[TileVar] = []

    def mix(_carry: TileVar) -> TileVar:
        made.append(chosen_tile(b, condition(b), lambda: left, lambda: right))
        return made[0]

    carried[0] = _with_update(carried[0], mix)
    loop(b, carried)
    for result in b.scope.tiles[-2:]:
        use(b, result)


def exchanged(b: Builder) -> None:
    """Two carries in memories that no move connects both ways, which every trip exchanges."""
    shape, dtype = _accumulator_type(b)
    first = product_like(b, shape, dtype)
    second = load(b, shape, dtype, None, b.choices.pick((Mem.Vec, Mem.Mat)))
    carried = [tile_carry(b, tile, lambda carry: carry) for tile in (first, second)]
    left, right = (carry.tile for carry in carried)
    assert left is not None
    assert right is not None
    carried = [_with_update(carried[0], lambda _carry: right), _with_update(carried[1], lambda _carry: left)]
    loop(b, carried)
    for result in b.scope.tiles[-2:]:
        use(b, result)


def _with_update(carried: Carried, update: Callable[[TileVar], TileVar]) -> Carried:
    tile = carried.tile
    assert tile is not None

    def next_value() -> Callable[[], Expr]:
        made = update(tile)
        made.is_read = True
        return lambda: Var(made.name)

    carried.update = next_value
    return carried


def product_like(b: Builder, shape: tuple[int, int], dtype: str) -> TileVar:
    """A product of this shape and dtype."""
    return product(b, *operands(b, shape, shape, dtype))


def operand_carry(b: Builder) -> None:
    """A product that a loop goes on with as an ordinary tile, or the other way round."""
    shape, dtype = _accumulator_type(b)
    start = product_like(b, shape, dtype) if b.choices.integer(0, 1) else load(b, shape, dtype, None, Mem.Mat)

    def update(carry: TileVar) -> TileVar:
        return unary_of(b, carry) if b.choices.integer(0, 2) else product_of(b, carry.type)

    accumulate(b, [start], [update])
    if b.choices.chance(3):
        use(b, start)


def views_around(b: Builder) -> None:
    """A tile from outside a loop, whose views and windows are read inside."""
    whole = load(b, (32, 32), b.matrix_dtype, None, b.choices.pick((Mem.Mat, Mem.Vec)))
    views = [whole]
    if b.choices.integer(0, 1):
        views.append(b.tile(b.call("tile.slice", whole, (16, 16), [Const(0), Const(16)]), shares=whole))
    if b.choices.chance(3) and whole.space is Mem.Vec:
        views.append(b.tile(b.call("tile.reshape", whole, (16, 64)), shares=whole))
    written = b.choices.chance(3)

    def body(index: ScalarVar) -> None:
        place = [BinOp("*", Var(index.name), Const(8)) if b.choices.chance(2) else Const(0), Const(16)]
        if index.high * 8 <= 16 and b.choices.integer(0, 1):
            views.append(b.tile(b.call("tile.slice", whole, (16, 16), place), shares=whole))
        use(b, b.choices.pick(tuple(reversed(views))))
        if written:
            value = Const(2, whole.type.dtype) if whole.type.dtype.startswith("INT") else Const(2.0, whole.type.dtype)
            b.effect(b.call("tile.write", whole, [Const(0), Const(16)], value))
            b.wrote(whole, renamed=False)

    loop(b, [], body)
    if b.choices.chance(2):
        use(b, views[0])


def two_arms(b: Builder) -> None:
    """A tile that both arms of a branch, or an arm and what follows, read in the same other memory."""
    tile = load(b, b.shape(), b.matrix_dtype, None, b.choices.pick((Mem.Vec, Mem.Mat)))

    def arm() -> TileVar:
        shown = b.tile(b.call("tile.move", tile, target_memory=space_kwarg(Mem.Vec)))
        return unary_of(b, shown)

    def load_like() -> TileVar:
        return load(b, (tile.rows, tile.columns), b.matrix_dtype, None, Mem.Vec)

    store_tile(b, chosen_tile(b, condition(b), arm, arm if b.choices.integer(0, 1) else load_like))
    if b.choices.chance(2):
        use(b, tile)


def loads_apart(b: Builder) -> None:
    """One window loaded in a branch or loop, and again after it."""
    window = some_window(b, b.shape())

    def inside() -> None:
        use(b, load_window(b, window, b.choices.pick((Mem.Vec, Mem.Mat))))
        if window.tensor.direction is not Direction.In and b.choices.chance(3):
            overwrite(b, window)

    if b.choices.integer(0, 1):
        test = condition(b)
        b.open()
        inside()
        b.add(If(test, b.close().block, None, ()))
    else:
        loop(b, [], lambda _index: inside())
    use(b, load_window(b, window, b.choices.pick((Mem.Vec, Mem.Mat))))
