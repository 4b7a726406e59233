"""Branches, with and without results."""

from __future__ import annotations

from collections.abc import Callable

from tilesat.ir.nodes import Expr, If, Result, Var, Yield
from tilesat.ir.types import MemorySpace as Mem
from tilesat.ir.types import TileType, Type
from tilesat.ir.walk import names_in_type
from tilesat.lab.blocks import finish, need_statement
from tilesat.lab.builder import Builder
from tilesat.lab.carries import may_flow, pass_on
from tilesat.lab.choices import Weighted
from tilesat.lab.matrix import can_accumulate, product_of
from tilesat.lab.pool import Scope, TensorVar, TileVar
from tilesat.lab.positions import condition
from tilesat.lab.sources import any_tile, load, new_tile

_MOST_RESULTS = 2


def branch(b: Builder) -> None:
    """An if: without results, with tiles, with new names of tensors."""
    test, outer = condition(b), b.scope
    count = Weighted([(0, 3), (1, 3), (_MOST_RESULTS, 1)]).pick(b.choices) if b.config.has("if_result") else 0
    names_tensors = b.config.has("if_tensor") and b.choices.chance(2)
    has_else = count > 0 or names_tensors or b.choices.chance(3)

    b.open().keeps_names = names_tensors
    b.fill(b.config.body_length)
    first = [_value(b, outer) for _ in range(count)]
    then = _closed(b, first)
    second: list[TileVar] = []
    orelse: Scope | None = None
    if has_else:
        b.open().keeps_names = names_tensors
        b.fill(b.config.body_length)
        second = [_counterpart(b, tile) for tile in first]
        orelse = _closed(b, second)
    tensors = _renamed(b, then, orelse) if names_tensors else []
    _add_if(b, test, then, orelse, first, second, tensors)


def _closed(b: Builder, values: list[TileVar]) -> Scope:
    """End a branch that gives ``values``."""
    finish(b)
    if not values:
        need_statement(b)
    return b.close()


def _value(b: Builder, outer: Scope) -> TileVar:
    """A tile that a branch may give: its type must mean something after the if."""

    def fits(t: TileVar) -> bool:
        return may_flow(b, t) and all(outer.sees(name) for name in names_in_type(t.type))

    return b.find(fits, lambda: any_tile(b))


def _counterpart(b: Builder, tile: TileVar) -> TileVar:
    """What the other branch gives for ``tile``: the same kind of values, perhaps in another memory."""
    type_ = tile.type

    def fits(t: TileVar) -> bool:
        is_same_space = t.space is type_.space or b.config.has("if_space")
        return is_same_space and may_flow(b, t) and t.has_values_like(type_)

    return b.find(fits, lambda: _made_like(b, tile))


def _made_like(b: Builder, tile: TileVar) -> TileVar:
    """A new tile with the kind of values of ``tile``; in its memory unless branches may differ in that."""
    type_ = tile.type
    if b.config.has("if_space"):
        return new_tile(b, type_.shape, type_.dtype, type_.valid_shape)
    if tile.space is Mem.Acc and can_accumulate(type_):
        return product_of(b, type_)
    return load(b, type_.shape, type_.dtype, type_.valid_shape, tile.space)


def _renamed(b: Builder, then: Scope, orelse: Scope | None) -> list[TensorVar]:
    """Tensors that got a new name in one of the branches."""
    numbers = set(then.names) | (set(orelse.names) if orelse is not None else set())
    return [tensor for tensor in b.tensors if tensor.number in numbers]


def _add_if(
    b: Builder,
    test: Expr,
    then: Scope,
    orelse: Scope | None,
    first: list[TileVar],
    second: list[TileVar],
    tensors: list[TensorVar],
) -> None:
    types: list[Type] = [*(tile.type for tile in first), *(tensor.type for tensor in tensors)]
    if types:
        assert orelse is not None
        for scope, tiles in ((then, first), (orelse, second)):
            names = [Var(scope.tensor_names(tensor)[0]) for tensor in tensors]
            scope.stmts.append(Yield((*(pass_on(b, tile) for tile in tiles), *names)))
    results = tuple([Result(b.name("f"), type_) for type_ in types])
    b.add(If(test, then.block, None if orelse is None else orelse.block, results))
    for result in results:
        b.bind(result.name, result.type)
    for result in results[: len(first)]:
        assert isinstance(result.type, TileType)
        b.add_result(result.name, result.type)
    for tensor, result in zip(tensors, results[len(first) :], strict=True):
        b.rename_tensor(tensor, result.name)


def chosen_tile(b: Builder, test: Expr, then: Callable[[], TileVar], orelse: Callable[[], TileVar]) -> TileVar:
    """The tile that one of two single-purpose branches makes; both make the same kind of values."""
    scopes, values = [], []
    for make in (then, orelse):
        b.open()
        values.append(make())
        scopes.append(b.close())
    _add_if(b, test, scopes[0], scopes[1], values[:1], values[1:], [])
    return b.scope.tiles[-1]
