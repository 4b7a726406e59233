"""The hand-written spelling of ops: ``pl.load(...)`` for ``pl.tile.load(...)`` and the like."""

from __future__ import annotations

import keyword
from collections.abc import Callable

from tilesat.ir.nodes import BinOp, Cast, Const, EnumConst, Expr, ListExpr, OpCall, ScalarFn, UnaryOp
from tilesat.ir.ops import op_table
from tilesat.ir.types import ScalarType, TensorType, TileType, Type

_ALIASES = {
    "create_tensor": "tensor.create",
    "create_tile": "tile.create",
    "dim": "tensor.dim",
}
_TILE_ALWAYS = frozenset({"load", "store"})
_WITH_SCALAR = frozenset(
    {"add", "sub", "mul", "div", "rem", "fmod", "maximum", "minimum", "and", "or", "xor", "shl", "shr", "cmp"}
)
_SCALAR_TOO = frozenset({"cast", "min", "max", "abs"})
# Declared arguments that the printed form gives by keyword all the same (peer behaviour, section 4).
_BY_KEYWORD = {"tile.full": "value", "tensor.full": "value", "tile.cast": "target_type", "tensor.cast": "target_type"}
# Keywords that the language's wrappers always write (sections 1 and 4).
_WRITTEN = {
    "tile.load": ("target_memory", EnumConst("Mem.Vec")),
    "tile.create": ("target_memory", EnumConst("Mem.Vec")),
    "tensor.create": ("layout", EnumConst("TensorLayout.ND")),
}


def op_name(spelled: str) -> str:
    """The op called as ``spelled``: ``tile.and_`` is ``tile.and``, for ``and`` is a keyword of Python."""
    if spelled.endswith("_") and keyword.iskeyword(spelled.rpartition(".")[2][:-1]):
        return spelled[:-1]
    return spelled


def expand_shorthand(call: OpCall, type_of: Callable[[Expr], Type | None]) -> OpCall:
    """``call`` under the full name of its op; a name the op table lacks stays as written.

    A name that both families have goes by the operands: with a tile among them it is the tile op,
    with a tensor first it is the tensor op. The call gets the arguments and the defaults that the
    language's wrappers write (peer behaviour, section 1). With a scalar second operand ``pl.add`` is
    ``tile.adds``.
    """
    op = _full_name(call, type_of)
    if op is None:
        return call
    call = _keyword_last(_positional(OpCall(op, call.args, call.kwargs, call.attrs)))
    if op == "tile.load" and len(call.args) == 3 and isinstance(call.args[2], ListExpr):
        call = OpCall(op, (*call.args, call.args[2]), call.kwargs, call.attrs)
    written = _WRITTEN.get(op)
    if written is None or call.kwarg(written[0]) is not None:
        return call
    return OpCall(op, call.args, (*call.kwargs, written), call.attrs)


def _full_name(call: OpCall, type_of: Callable[[Expr], Type | None]) -> str | None:
    table, name = op_table(), call.op
    if name in _ALIASES:
        return _ALIASES[name]
    tile, tensor = f"tile.{name}", f"tensor.{name}"
    if name in _TILE_ALWAYS:
        return tile
    types = [type_of(arg) for arg in call.args]
    if name in _WITH_SCALAR and len(types) > 1 and _is_scalar(call.args[1], types[1]):
        tile, tensor = tile + "s", tensor + "s"
    if tile in table and any(isinstance(type_, TileType) for type_ in types):
        return tile
    if tensor in table and types and isinstance(types[0], TensorType):
        return tensor
    if name in _SCALAR_TOO and types and isinstance(types[0], ScalarType):
        return None
    if tile in table:
        return tile
    return tensor if tensor in table else None


def _is_scalar(arg: Expr, type_: Type | None) -> bool:
    return isinstance(type_, ScalarType) or isinstance(arg, (Const, BinOp, UnaryOp, Cast, ScalarFn))


def _positional(call: OpCall) -> OpCall:
    """Declared arguments that were given by keyword, moved to their positions."""
    declared = op_table()[call.op].args
    args, kwargs = list(call.args), list(call.kwargs)
    for name in declared[len(args) :]:
        given = next((item for item in kwargs if item[0] == name), None)
        if given is None or _BY_KEYWORD.get(call.op) == name:
            break
        args.append(given[1])
        kwargs.remove(given)
    return OpCall(call.op, tuple(args), tuple(kwargs), call.attrs)


def _keyword_last(call: OpCall) -> OpCall:
    """A last argument that the printed form gives by keyword, moved there if it was given by position."""
    name = _BY_KEYWORD.get(call.op)
    if name is None or len(call.args) != 2:
        return call
    first = name == "target_type"
    kwargs = ((name, call.args[1]), *call.kwargs) if first else (*call.kwargs, (name, call.args[1]))
    return OpCall(call.op, call.args[:1], kwargs, call.attrs)
