"""The hand-written spelling of ops: ``pl.load(...)`` for ``pl.tile.load(...)`` and the like."""

from __future__ import annotations

from collections.abc import Callable

from tilesat.ir.nodes import EnumConst, Expr, ListExpr, OpCall
from tilesat.ir.ops import op_table
from tilesat.ir.types import TensorType, TileType, Type

_ALIASES = {
    "create_tensor": "tensor.create",
    "create_tile": "tile.create",
    "dim": "tensor.dim",
}
_TILE_ALWAYS = frozenset({"load", "store"})


def expand_shorthand(call: OpCall, type_of: Callable[[Expr], Type | None]) -> OpCall:
    """``call`` under the full name of its op; a name the op table lacks stays as written.

    A name that both families have goes by the operands: with a tile among them it is the tile op,
    with a tensor first it is the tensor op. ``pl.load`` gets the arguments and the default
    ``target_memory`` that the language's wrapper writes (peer behaviour, section 1).
    """
    op = _full_name(call, type_of)
    if op is None:
        return call
    call = _positional(OpCall(op, call.args, call.kwargs, call.attrs))
    return _complete_load(call) if op == "tile.load" else call


def _full_name(call: OpCall, type_of: Callable[[Expr], Type | None]) -> str | None:
    table = op_table()
    name = call.op.rstrip("_")
    if name in _ALIASES:
        return _ALIASES[name]
    tile, tensor = f"tile.{name}", f"tensor.{name}"
    if name in _TILE_ALWAYS:
        return tile
    types = [type_of(arg) for arg in call.args]
    if tile in table and any(isinstance(type_, TileType) for type_ in types):
        return tile
    if tensor in table and types and isinstance(types[0], TensorType):
        return tensor
    if tile in table:
        return tile
    return tensor if tensor in table else None


def _positional(call: OpCall) -> OpCall:
    """Declared arguments that were given by keyword, moved to their positions."""
    declared = op_table()[call.op].args
    args, kwargs = list(call.args), list(call.kwargs)
    for name in declared[len(args) :]:
        given = next((item for item in kwargs if item[0] == name), None)
        if given is None:
            break
        args.append(given[1])
        kwargs.remove(given)
    return OpCall(call.op, tuple(args), tuple(kwargs), call.attrs)


def _complete_load(call: OpCall) -> OpCall:
    args = call.args
    if len(args) == 3 and isinstance(args[2], ListExpr):
        args = (*args, args[2])
    kwargs = call.kwargs
    if call.kwarg("target_memory") is None:
        kwargs = (*kwargs, ("target_memory", EnumConst("Mem.Vec")))
    return OpCall(call.op, args, kwargs, call.attrs)
