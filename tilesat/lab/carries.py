"""What loops carry: tiles, tensors and scalars, and how a trip computes the next value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tilesat.ir.nodes import BinOp, Const, Expr, Var
from tilesat.ir.types import Direction, Type
from tilesat.ir.types import MemorySpace as Mem
from tilesat.lab.builder import INDEX, Builder
from tilesat.lab.choices import Weighted
from tilesat.lab.effects import assembled, is_assemblable
from tilesat.lab.matrix import accumulated, can_accumulate, is_accumulator, product_of
from tilesat.lab.pool import ScalarVar, TensorVar, TileVar
from tilesat.lab.sources import any_tile, load
from tilesat.lab.vector import binary_of, matching, unary_of


@dataclass(slots=True, eq=False)
class Carried:
    """One iter-arg under construction.

    ``enter`` makes the iter-arg known in the loop body, ``update`` computes what a trip yields for it and
    says how to read that when all of them are computed, ``leave`` makes the result known after the loop.
    """

    name: str
    type: Type
    init: Expr
    enter: Callable[[], None]
    update: Callable[[], Callable[[], Expr]]
    leave: Callable[[str], None]
    tile: TileVar | None = None


def pass_on(b: Builder, tile: TileVar) -> Var:
    """``tile`` as it flows into a loop or out of a block."""
    tile.is_read = True
    b.unsettled.add(tile.buffer)
    return Var(tile.name)


def may_flow(b: Builder, tile: TileVar) -> bool:
    """Whether ``tile`` may be carried or be the value of a branch: then its memory is open."""
    if not tile.is_free or tile.buffer in b.settled:
        return False
    if tile.buffer in b.transposed and not b.config.has("transposed_write"):
        return False
    return not (tile.space is Mem.Mat and can_accumulate(tile.type)) or b.config.has("mat_accumulator")


# ------------------------------------------------------------------------------------ tiles


def tile_carry(b: Builder, init: TileVar, update: Callable[[TileVar], TileVar] | None = None) -> Carried:
    """A carried tile that starts as ``init``; by default the generator decides what becomes of it."""
    name, type_ = b.name("c"), init.type
    inside = TileVar(name, type_, b.open_buffer())

    def next_value() -> Callable[[], Expr]:
        newest = current(b, inside)
        made = next_tile(b, newest) if update is None else update(newest)
        return lambda: pass_on(b, current(b, made))

    def leave(result: str) -> None:
        b.add_result(result, type_)

    return Carried(name, type_, pass_on(b, init), lambda: b.carry(inside), next_value, leave, inside)


def current(b: Builder, tile: TileVar) -> TileVar:
    """``tile``, or where its name is outdated, a name for its buffer that is not."""
    if not tile.is_retired:
        return tile
    found = b.find_existing(lambda t: t.buffer == tile.buffer and t.has_values_like(tile.type))
    return found or load(b, tile.type.shape, tile.type.dtype, tile.type.valid_shape, Mem.Vec)


def any_init(b: Builder) -> TileVar:
    return b.find(lambda t: may_flow(b, t), lambda: any_tile(b))


def next_tile(b: Builder, tile: TileVar) -> TileVar:
    """What follows ``tile`` in the next trip: something with its dtype, shape and valid extents."""
    has, type_ = b.config.has, tile.type
    takes_products, may_rename = can_accumulate(type_), b.may_rename(tile)
    ways: list[tuple[Callable[[], TileVar], int]] = [
        (lambda: tile, 1),
        (lambda: _existing(b, tile), 3),
        (lambda: unary_of(b, tile), 2 if has("unary") else 0),
        (lambda: binary_of(b, tile, matching(b, tile)), 3 if has("binary") else 0),
        (lambda: accumulated(b, tile), 4 if _accumulates(b, tile) else 0),
        (lambda: product_of(b, type_), 1 if has("matmul") and takes_products else 0),
        (lambda: assembled(b, tile), 2 if has("assemble") and may_rename and is_assemblable(b, tile) else 0),
    ]
    made = Weighted(ways).pick(b.choices)()
    return made if made.has_values_like(type_) else tile


def _accumulates(b: Builder, tile: TileVar) -> bool:
    """Whether a trip may add a product to ``tile``. An iter-arg may be in Vec: inference finds it a better place."""
    if not (b.config.has("matmul_acc") and b.config.has("accumulate")):
        return False
    is_open = tile.is_carried and tile.space is Mem.Vec
    return is_accumulator(b, tile) or (is_open and b.may_rename(tile) and can_accumulate(tile.type))


def _existing(b: Builder, tile: TileVar) -> TileVar:
    swaps = b.config.has("swapped_carry")

    def fits(t: TileVar) -> bool:
        return may_flow(b, t) and t.has_values_like(tile.type) and (swaps or not t.is_carried)

    return b.find_existing(fits) or tile


# --------------------------------------------------------------------------------- tensors


def tensor_carry(b: Builder, tensor: TensorVar) -> Carried:
    """A tensor that the body stores into, under its newest name."""
    name = b.name("c")

    def leave(result: str) -> None:
        b.rename_tensor(tensor, result)

    return Carried(
        name,
        tensor.type,
        Var(b.scope.tensor_names(tensor)[0]),
        lambda: b.rename_tensor(tensor, name),
        lambda: lambda: Var(b.scope.tensor_names(tensor)[0]),
        leave,
    )


def output_tensor(b: Builder) -> TensorVar:
    """A tensor that can be stored into."""
    found = [tensor for tensor in reversed(b.tensors) if tensor.direction is not Direction.In]
    return b.choices.select(found) if found else b.tensor_param(b.vector_dtype, Direction.Out)


# --------------------------------------------------------------------------------- scalars


def counter_carry(b: Builder, trips: int) -> Carried:
    """An index that counts up from 0 for at most ``trips`` trips."""
    name = b.name("c")

    def enter() -> None:
        b.scope.scalars.append(ScalarVar(name, "INDEX", max(trips - 1, 0)))

    def leave(result: str) -> None:
        b.scope.scalars.append(ScalarVar(result, "INDEX", trips))

    return Carried(name, INDEX, Const(0), enter, lambda: lambda: BinOp("+", Var(name), Const(1)), leave)
