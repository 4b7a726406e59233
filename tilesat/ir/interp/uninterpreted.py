"""Ops without a model: functions that are not known, except that equal operands give equal results.

The result is drawn from a digest of the op and of everything observable about its operands. Where the op
table says that an argument is written, that argument is overwritten in the same way. An op that is not a
pure function leaves a trace event; so does an op the table does not know, which is taken to write nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from tilesat.errors import InterpretError
from tilesat.ir.interp.call import Call, clipped_valid, is_representation
from tilesat.ir.interp.digest import digest, outline
from tilesat.ir.interp.junk import drawn
from tilesat.ir.interp.scalars import coerce
from tilesat.ir.interp.values import (
    Extents,
    Opaque,
    ScalarArray,
    Tensor,
    Tile,
    Value,
    box,
    new_tensor,
    new_tile,
)
from tilesat.ir.nodes import EnumConst, OpCall
from tilesat.ir.ops import Effect, OpInfo, op_info
from tilesat.ir.types import ArrayType, ScalarType, Shape, TensorType, TileType, TupleType, Type

# Arguments whose contents an op does not read: working space.
_SCRATCH = frozenset({"tmp", "tmp_tile", "scratch", "stage", "stage2"})
# Impure by category, but only telling what does not change while a program runs.
_OBSERVERS = frozenset(
    {"system.available_aiv_count", "system.available_cluster_count", "pld.system.get_comm_ctx", "tile.alloc"}
)


def evaluate(call: Call) -> Value:
    """The result of ``call`` as an unknown function, its writes and its trace event."""
    info = op_info(call.node.op)
    seen = _seen(call, info)
    if info is None or not (info.is_pure or info.name in _OBSERVERS):
        call.run.record(call.node.op, seen)
    written = () if info is None else info.written_args(call.node)
    for position in written:
        _overwrite(call.args[position], digest(seen, position))
    reused = _reused(info, written)
    if reused is not None and _has_kind(call.arg(reused), call.result):
        return call.args[reused]
    return draw(call.result, seen, call.extents)


def _reused(info: OpInfo | None, written: tuple[int, ...]) -> int | None:
    """The argument that the result is: the op table says so, or it is the only one written."""
    if info is not None and info.reuses_arg is not None:
        return info.reuses_arg
    return written[0] if len(written) == 1 else None


def _has_kind(value: Value, type_: Type | None) -> bool:
    if isinstance(type_, TileType):
        return isinstance(value, Tile)
    return isinstance(type_, TensorType) and isinstance(value, Tensor)


def _seen(call: Call, info: OpInfo | None) -> bytes:
    """Digest of the op, its keywords and operands; scratch and overwritten operands by outline only."""
    operands = tuple(_operand(call.node, info, position, value) for position, value in enumerate(call.args))
    keywords = tuple((name, value) for name, value in sorted(call.kwargs.items()) if not is_representation(name, value))
    pops = call.run.pops
    if info is not None and info.cross_core == "TPop":
        pops[info.name] += 1
        return digest(call.node.op, keywords, operands, pops[info.name])
    return digest(call.node.op, keywords, operands)


def _operand(node: OpCall, info: OpInfo | None, position: int, value: Value) -> Value:
    if isinstance(value, EnumConst) and is_representation("", value):
        return None
    if info is None or not isinstance(value, (Tile, Tensor)):
        return value
    is_scratch = position < len(info.args) and info.args[position] in _SCRATCH
    is_overwritten = position in info.written_args(node) and info.effect(position, node) is Effect.WRITE
    return outline(value) if is_scratch or is_overwritten else value


def _overwrite(value: Value, key: bytes) -> None:
    if isinstance(value, (Tile, Tensor)):
        shape = value.array.shape if isinstance(value, Tensor) else value.shape
        value.write(box(shape), drawn(key, value.dtype, shape))
    elif isinstance(value, ScalarArray):
        value.array[...] = drawn(key, value.dtype, value.array.shape)
    elif value is not None:
        raise InterpretError(f"a {type(value).__name__} is written, which is no buffer")


def draw(type_: Type | None, key: bytes, extents: Callable[[Shape], Extents]) -> Value:
    """A value of ``type_`` that is a function of ``key``; ``extents`` evaluates the shapes in the type."""
    if type_ is None:
        return None
    if isinstance(type_, TupleType):
        parts = enumerate(type_.elements)
        return tuple(draw(part, digest(key, position), extents) for position, part in parts)
    if isinstance(type_, TileType):
        shape = extents(type_.shape)
        valid = clipped_valid(extents(type_.valid_shape), shape, "valid shape")
        return new_tile(type_.dtype, drawn(key, type_.dtype, shape), valid)
    if isinstance(type_, TensorType):
        return new_tensor(type_.dtype, drawn(key, type_.dtype, extents(type_.shape)))
    if isinstance(type_, ScalarType):
        return coerce(drawn(key, type_.dtype, (1,))[0], type_.dtype)
    if isinstance(type_, ArrayType):
        return ScalarArray(type_.dtype, drawn(key, type_.dtype, extents((type_.extent,))))
    return Opaque(key)
