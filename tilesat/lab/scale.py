"""Programs of a given size, for benchmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tilesat.errors import TilesatError
from tilesat.ir.nodes import Function, Program
from tilesat.lab.blocks import finish
from tilesat.lab.builder import Builder
from tilesat.lab.carries import tile_carry
from tilesat.lab.choices import RandomChoices
from tilesat.lab.config import ALL_FEATURES, GeneratorConfig
from tilesat.lab.effects import store_tile
from tilesat.lab.kinds import emit
from tilesat.lab.loops import constant_bounds, counted_loop
from tilesat.lab.matrix import accumulated, new_accumulator
from tilesat.lab.pool import ScalarVar, TileVar
from tilesat.lab.program import assembled_program
from tilesat.lab.sources import any_tile
from tilesat.lab.vector import unary_of

# What benchmarks leave out: what no compiler of tile programs would produce, and what has no model.
_UNUSUAL = frozenset(
    {
        "dynamic_dims",
        "mat_accumulator",
        "memrefs",
        "old_names",
        "pipes",
        "sync",
        "unknown_op",
        "vec_accumulator",
        "void",
        "write_acc",
    }
)
_CONFIG = GeneratorConfig(features=ALL_FEATURES - _UNUSUAL, max_tensors=8)
_TRIPS = 2
# The most op calls that one statement without blocks can take, operands included, with room to spare.
_MOST_PER_STATEMENT = 12
_LEAST_OPS = 4


def straight_line(ops: int, seed: int = 0) -> Program:
    """One kernel of exactly ``ops`` op calls (four or more) without loops and branches."""
    _check("ops", ops, _LEAST_OPS)
    return assembled_program("StraightLine", [_kernel("straight", seed, ops, _straight)])


def loop_nest(ops: int, depth: int = 3, seed: int = 0) -> Program:
    """One kernel of exactly ``ops`` op calls spread over ``depth`` nested loops, each with an accumulator.

    Each level takes some ops of its own, so that there is a least size for a depth.
    """
    _check("depth", depth, 1)
    _check("ops", ops, _LEAST_OPS + depth * 2 * _MOST_PER_STATEMENT)
    return assembled_program("LoopNest", [_kernel("nest", seed, ops, lambda b, left: _nest(b, left, depth))])


def many_functions(count: int, ops: int, distinct: int, seed: int = 0) -> Program:
    """``count`` kernels of exactly ``ops`` op calls; ``distinct`` of them differ in more than the name."""
    _check("distinct", distinct, 1)
    _check("count", count, distinct)
    _check("ops", ops, _LEAST_OPS)
    bodies = [_kernel("kernel", seed * distinct + number, ops, _straight) for number in range(distinct)]
    return assembled_program(
        "ManyFunctions", [replace(bodies[number % distinct], name=f"kernel{number}") for number in range(count)]
    )


def _check(name: str, value: int, least: int) -> None:
    if value < least:
        raise TilesatError(f"{name} is {value}", hint=f"at least {least} is needed")


def _kernel(name: str, seed: int, ops: int, fill: Callable[[Builder, int], None]) -> Function:
    """A kernel of exactly ``ops`` op calls: those of ``fill``, one op repeated up to the size, a store."""
    b = Builder(RandomChoices(seed), _CONFIG, emit)
    b.extents = b.config.extents[:2]
    fill(b, ops - 1)
    tile = _last_tile(b)
    while b.ops < ops - 1:
        tile = unary_of(b, tile)
    store_tile(b, tile)
    return b.kernel(name).function


def _straight(b: Builder, ops: int) -> None:
    """Statements up to about ``ops`` op calls in all, never more."""
    b.left = 0  # No statement may open a block.
    while b.ops + _MOST_PER_STATEMENT <= ops:
        b.emit(b)


def _last_tile(b: Builder) -> TileVar:
    tile = b.find_existing(lambda t: t.is_free and t.buffer not in b.settled)
    return tile or any_tile(b)


def _nest(b: Builder, ops: int, depth: int) -> None:
    """About a third of ``ops`` before the inner loop, the inner loop, the rest after it."""
    if depth == 0:
        _straight(b, ops)
        return
    left = ops - b.ops
    _straight(b, b.ops + left // (2 * depth + 1))
    end = ops - left // (2 * depth + 1)

    def body(_index: ScalarVar) -> None:
        _nest(b, end - 2 * _MOST_PER_STATEMENT, depth - 1)
        finish(b)

    init = new_accumulator(b)
    counted_loop(b, constant_bounds(_TRIPS), [tile_carry(b, init, lambda tile: accumulated(b, tile))], body)
    _straight(b, ops)
