"""Loops: counted ones, ones around an accumulator, ones with a condition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tilesat.ir.nodes import BinOp, Block, Carry, Const, Expr, For, NamedExprs, Result, Var, While, Yield
from tilesat.lab.blocks import finish, need_statement
from tilesat.lab.branches import chosen_tile
from tilesat.lab.builder import INDEX, PARAMETER_HIGH, Builder
from tilesat.lab.carries import (
    Carried,
    any_init,
    counter_carry,
    current,
    may_flow,
    output_tensor,
    pass_on,
    tensor_carry,
    tile_carry,
)
from tilesat.lab.choices import Weighted
from tilesat.lab.matrix import accumulated, can_accumulate, new_accumulator, operands, product
from tilesat.lab.pool import ScalarVar, TileVar
from tilesat.lab.positions import bounded_index

_STEP = 16
_CARRIED = 2
"""How many times out of one more a loop gets a further iter-arg."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where a counted loop runs: its index lies in 0 to ``high``, it makes at most ``trips`` trips."""

    start: Expr
    stop: Expr
    step: Expr
    high: int
    trips: int


def some_bounds(b: Builder) -> Bounds:
    kinds = [("constant", 4), ("stepped", 2), ("shifted", 1), ("dynamic", 3 if b.config.has("dynamic_bounds") else 0)]
    kind = Weighted(kinds).pick(b.choices)
    scalar = _trip_scalar(b) if kind == "dynamic" else None
    if scalar is not None:
        high = scalar.high + b.config.least_trips
        return Bounds(Const(0), _at_least(b, scalar), Const(1), high - 1, high)
    trips = b.choices.integer(1, b.config.max_trips)
    if kind == "stepped":
        return Bounds(Const(0), Const(_STEP * trips), Const(_STEP), _STEP * (trips - 1), trips)
    if kind == "shifted":
        return Bounds(Const(1), Const(trips + 1), Const(1), trips, trips)
    return constant_bounds(trips)


def constant_bounds(trips: int) -> Bounds:
    return Bounds(Const(0), Const(trips), Const(1), trips - 1, trips)


def _trip_scalar(b: Builder) -> ScalarVar | None:
    """An index that is small enough to count trips."""
    return bounded_index(b, PARAMETER_HIGH) or b.index_param()


def _at_least(b: Builder, scalar: ScalarVar) -> Expr:
    """How often a loop runs that follows ``scalar``."""
    least = b.config.least_trips
    return BinOp("+", scalar.expr, Const(least)) if least else scalar.expr


# ---------------------------------------------------------------------------- counted loops


def counted_loop(
    b: Builder, bounds: Bounds, carried: Sequence[Carried], body: Callable[[ScalarVar], None], kind: str = "range"
) -> list[str]:
    """Add a loop around what ``body`` adds; the names of its results."""
    index = ScalarVar(b.name("i"), "INDEX", bounds.high)
    b.open_loop()
    b.bind(index.name, INDEX)
    b.scope.scalars.append(index)
    block = _body(b, carried, lambda: body(index))
    results = _results(b, carried)
    kwargs: NamedExprs = (("stage", Const(2)),) if kind == "pipeline" else ()
    carries = tuple([Carry(carry.name, carry.type, carry.init) for carry in carried])
    b.add(For(kind, index.name, bounds.start, bounds.stop, bounds.step, carries, block, results, kwargs))
    return _leave(b, carried, results)


def _body(b: Builder, carried: Sequence[Carried], body: Callable[[], None]) -> Block:
    """The statements of the open block: those of ``body``, then the yield. Closes the block."""
    for carry in carried:
        b.bind(carry.name, carry.type)
        carry.enter()
    body()
    finish(b)
    readers = [carry.update() for carry in carried]
    values = tuple([read() for read in readers])
    if values:
        b.add(Yield(values))
    else:
        need_statement(b)
    return b.close().block


def _results(b: Builder, carried: Sequence[Carried]) -> tuple[Result, ...]:
    return tuple([Result(b.name("f"), carry.type) for carry in carried])


def _leave(b: Builder, carried: Sequence[Carried], results: tuple[Result, ...]) -> list[str]:
    for carry, result in zip(carried, results, strict=True):
        b.bind(result.name, result.type)
        carry.leave(result.name)
    return [result.name for result in results]


def loop_kind(b: Builder) -> str:
    kinds = [
        ("range", 4),
        ("pipeline", 1 if b.config.has("pipeline") else 0),
        ("parallel", 1 if b.config.has("parallel") else 0),
    ]
    return Weighted(kinds).pick(b.choices)


def some_carries(b: Builder, trips: int) -> list[Carried]:
    has = b.config.has
    kinds = [
        ("tile", 4 if has("tile_carry") else 0),
        ("tensor", 2 if has("tensor_carry") else 0),
        ("scalar", 1 if has("scalar_carry") else 0),
    ]
    if not any(weight for _, weight in kinds):
        return []
    carried: list[Carried] = []
    if has("tile_carry") and has("swapped_carry") and b.config.max_carries > 1 and b.choices.chance(10):
        first = tile_carry(b, any_init(b))
        return [first, _tile_like(b, [first])]

    def one() -> bool:
        if b.choices.integer(0, _CARRIED) == 0 or len(carried) >= b.config.max_carries:
            return False
        carried.extend(_some_carry(b, Weighted(kinds).pick(b.choices), carried, trips))
        return True

    while b.choices.span(one):
        pass
    return carried


def _some_carry(b: Builder, kind: str, carried: list[Carried], trips: int) -> list[Carried]:
    """A new iter-arg of ``kind``, or none where that would carry a tensor twice."""
    if kind == "tile":
        return [_tile_like(b, carried)]
    if kind == "scalar":
        return [counter_carry(b, trips)]
    tensor = output_tensor(b)
    name = b.scope.tensor_names(tensor)[0]
    return [] if any(carry.init == Var(name) for carry in carried) else [tensor_carry(b, tensor)]


def _tile_like(b: Builder, carried: list[Carried]) -> Carried:
    """A carried tile; sometimes one that can change places with one that is carried already."""
    first = next((carry.tile for carry in carried if carry.tile is not None), None)
    if first is not None and b.config.has("swapped_carry") and not b.choices.chance(3):
        type_ = first.type
        init = b.find_existing(lambda t: may_flow(b, t) and t.has_values_like(type_))
        if init is not None:
            return tile_carry(b, init)
    return tile_carry(b, any_init(b))


def _swap(b: Builder, carried: Sequence[Carried]) -> None:
    """Sometimes let two carried tiles that fit each other change places."""
    tiles = [(carry, carry.tile) for carry in carried if carry.tile is not None]
    if len(tiles) < 2 or not b.config.has("swapped_carry"):
        return
    (first, left), (second, right) = tiles[:2]
    if left.has_values_like(right.type) and not b.choices.chance(3):
        first.update = lambda: lambda: pass_on(b, current(b, right))
        second.update = lambda: lambda: pass_on(b, current(b, left))


def for_loop(b: Builder) -> None:
    bounds, kind = some_bounds(b), loop_kind(b)
    carried = some_carries(b, bounds.trips)

    def body(_index: ScalarVar) -> None:
        b.fill(b.config.body_length)
        _swap(b, carried)

    counted_loop(b, bounds, carried, body, kind)


# ---------------------------------------------------------------------- accumulating loops


def accumulating_loop(b: Builder) -> None:
    """A loop around ``matmul_acc``: the shape that most kernels have."""

    def fits(t: TileVar) -> bool:
        return may_flow(b, t) and can_accumulate(t.type)

    accumulate_into(b, b.find(fits, lambda: new_accumulator(b)))


def accumulate_into(b: Builder, init: TileVar) -> None:
    """A loop that adds a product to ``init`` in each trip, the innermost of up to two."""
    bounds, kind = some_bounds(b), loop_kind(b)
    is_nested = b.scope.depth + 1 < b.config.max_depth and b.choices.chance(5)
    is_peeled = all(map(b.config.has, ("peeled", "if", "if_result", "matmul"))) and b.choices.chance(3)
    loop: list[ScalarVar] = []

    def update(carry: TileVar) -> TileVar:
        if is_nested:
            accumulate_into(b, carry)
            return b.scope.tiles[-1]
        if is_peeled:
            return peeled(b, loop[0], bounds.start, carry)
        return accumulated(b, carry)

    def body(index: ScalarVar) -> None:
        loop.append(index)
        b.fill(1)

    counted_loop(b, bounds, [tile_carry(b, init, update)], body, kind)


def peeled(b: Builder, index: ScalarVar, start: Expr, carry: TileVar) -> TileVar:
    """The product in the first trip, the accumulated product in the others."""
    type_ = carry.type
    left, right = operands(b, type_.valid_shape, type_.shape, type_.dtype)

    def accumulate() -> TileVar:
        return b.rewritten(b.call("tile.matmul_acc", carry, left, right), carry)

    return chosen_tile(b, BinOp("==", index.expr, start), lambda: product(b, left, right), accumulate)


# ------------------------------------------------------------------------------ while loops


def while_loop(b: Builder) -> None:
    """A loop that counts up to a goal, with tiles carried along."""
    goal, high = _goal(b)
    counter = counter_carry(b, high)
    carried = [counter]
    if b.config.has("tile_carry") and b.config.max_carries and b.choices.chance(2):
        carried.append(tile_carry(b, any_init(b)))
    b.open_loop()
    block = _body(b, carried, lambda: b.fill(b.config.body_length))
    results = _results(b, carried)
    carries = tuple([Carry(carry.name, carry.type, carry.init) for carry in carried])
    b.add(While(carries, BinOp("<", Var(counter.name), goal), block, results))
    _leave(b, carried, results)


def _goal(b: Builder) -> tuple[Expr, int]:
    scalar = _trip_scalar(b) if b.config.has("dynamic_bounds") and b.choices.chance(3) else None
    if scalar is not None:
        return _at_least(b, scalar), scalar.high + b.config.least_trips
    trips = b.choices.integer(1, b.config.max_trips)
    return Const(trips), trips
