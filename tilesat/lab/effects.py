"""Statements with effects: stores, in-place writes, synchronisation, ops without a model."""

from __future__ import annotations

from tilesat.ir.deduce import deduce_type
from tilesat.ir.dtypes import is_float
from tilesat.ir.nodes import Const, EnumConst, TupleGet, Var
from tilesat.ir.types import Direction, TileType, TupleType
from tilesat.ir.types import MemorySpace as Mem
from tilesat.lab.builder import Builder
from tilesat.lab.pool import TensorVar, TileVar
from tilesat.lab.positions import offset, position, value
from tilesat.lab.sources import any_tile, load, new_tile, working_space
from tilesat.lab.vector import operand

# What the store of a product can convert to.
_CONVERSIONS = {"FP32": ("FP16", "BF16")}
_UNKNOWN_OPS = ("tile.custom_blend", "tile.custom_mix")
_UNKNOWN_SINK = "tile.custom_probe"
_COLUMNS_FOUND = 16


# ----------------------------------------------------------------------------------- stores


def is_storable(b: Builder, tile: TileVar) -> bool:
    feature = {Mem.Acc: "acc_store", Mem.Mat: "mat_store"}.get(tile.space) if tile.space else None
    return tile.is_free and (feature is None or b.config.has(feature))


def store(b: Builder) -> None:
    store_tile(b, b.find(lambda t: is_storable(b, t), lambda: load(b, b.shape(), b.vector_dtype, None, Mem.Vec)))


def store_tile(b: Builder, tile: TileVar) -> None:
    """``tile`` into a tensor; the result is the tensor's new name unless the store stands alone."""
    tensor = _target(b, tile)
    extent = b.config.tensor_extent
    offsets = [offset(b, extent - tile.rows), offset(b, extent - tile.columns)]
    call = b.call("tile.store", tile, offsets, b.tensor_name(tensor))
    tensor.is_stored = True
    is_bare = b.config.has("bare_store") and b.choices.chance(4)
    if is_bare or not (b.config.has("old_names") or b.scope.keeps_name(tensor)):
        b.effect(call)
    else:
        b.rename_tensor(tensor, b.assign("r", tensor.type, call))


def _target(b: Builder, tile: TileVar) -> TensorVar:
    """A tensor that can take ``tile``: of its dtype, or of one that a store of a product converts to."""
    dtypes = [tile.type.dtype]
    if _may_convert(b, tile):
        dtypes += _CONVERSIONS.get(tile.type.dtype, ())
    dtype = dtypes[0] if len(dtypes) == 1 or not b.choices.chance(4) else b.choices.pick(dtypes[1:])
    if dtype != tile.type.dtype:
        b.settled.add(tile.buffer)
    found = [t for t in reversed(b.tensors) if t.type.dtype == dtype and t.direction is not Direction.In]
    picked = b.choices.select_or_none(found)
    if picked is None and len(found) >= b.config.max_tensors:
        return found[-1]
    return picked or _new_output(b, dtype)


def _may_convert(b: Builder, tile: TileVar) -> bool:
    """Whether ``tile`` is a product and stays one: it must not be moved by a write or a loop."""
    is_product = tile.space is Mem.Acc and tile.buffer not in b.unsettled
    return is_product and b.config.has("converting_store")


def _new_output(b: Builder, dtype: str) -> TensorVar:
    is_both = b.config.has("inout") and b.choices.chance(4)
    return b.tensor_param(dtype, Direction.InOut if is_both else Direction.Out)


# ---------------------------------------------------------------------------------- writes


def is_writable(b: Builder, tile: TileVar) -> bool:
    if not tile.is_free or tile.buffer in b.settled:
        return False
    if tile.buffer in b.transposed and not b.config.has("transposed_write"):
        return False
    return tile.space is not Mem.Acc or b.config.has("write_acc")


def write(b: Builder) -> None:
    """One element overwritten, under whatever name the tile has."""
    tile = b.find(lambda t: is_writable(b, t) and t.is_static, lambda: any_tile(b))
    number = value(b, tile.type.dtype)
    b.effect(b.call("tile.write", tile, position(b, tile), number))
    b.wrote(tile, renamed=False)


def assemble(b: Builder) -> None:
    target = b.find(lambda t: is_assemblable(b, t) and b.may_rename(t), lambda: any_tile(b))
    assembled(b, target)


def is_assemblable(b: Builder, tile: TileVar) -> bool:
    """Whether a part of ``tile`` can be overwritten by a copy; none leads into Acc."""
    return is_writable(b, tile) and tile.is_whole and tile.space is not Mem.Acc and tile.rows > 1 and tile.columns > 1


def assembled(b: Builder, target: TileVar) -> TileVar:
    """``target`` with a tile copied into it in place."""

    def fits(t: TileVar) -> bool:
        inside = t.rows <= target.rows and t.columns <= target.columns
        return inside and t.is_free and t.type.dtype == target.type.dtype and t.buffer != target.buffer

    source = b.find(fits, lambda: new_tile(b, (16, 16), target.type.dtype))
    place = [offset(b, target.rows - source.rows), offset(b, target.columns - source.columns)]
    return b.rewritten(b.call("tile.assemble", target, source, place), target)


def scatter(b: Builder) -> None:
    """A tile overwritten at positions that another one lists."""

    def is_target(t: TileVar) -> bool:
        return is_writable(b, t) and t.is_whole and t.space is not Mem.Acc and b.may_rename(t)

    target = b.find(is_target, lambda: any_tile(b))
    shape, dtype = target.type.shape, target.type.dtype

    def fits(t: TileVar) -> bool:
        return t.is_free and t.is_whole and t.type.shape == shape and t.buffer != target.buffer

    source = b.find(lambda t: fits(t) and t.type.dtype == dtype, lambda: new_tile(b, shape, dtype))
    places = b.find(lambda t: fits(t) and t.type.dtype == "INT32", lambda: new_tile(b, shape, "INT32"))
    b.rewritten(b.call("tile.scatter", target, source, places), target)


# ------------------------------------------------------------------ order, ops without model


def sync(b: Builder) -> None:
    kind = b.choices.integer(0, 2)
    if kind == 0:
        b.effect(b.call("system.bar_all"))
    elif kind == 1:
        b.effect(b.call("system.bar_v"))
    else:
        pipes = {"set_pipe": EnumConst("PipeType.V"), "wait_pipe": EnumConst("PipeType.MTE3"), "event_id": Const(1)}
        b.effect(b.call("system.sync_src", **pipes))
        b.effect(b.call("system.sync_dst", **pipes))


def unknown_op(b: Builder) -> None:
    """An op that nobody knows, with or without a result."""
    tile = operand(b)
    if b.choices.chance(3):
        b.effect(b.call(_UNKNOWN_SINK, tile))
        return
    second = operand(b)
    type_ = TileType(tile.type.shape, tile.type.dtype, Mem.Vec)
    b.tile(b.call(b.choices.pick(_UNKNOWN_OPS), tile, second), type_=type_)


def pipes(b: Builder) -> None:
    """A tile from the vector core for a product, or a tile for the cube core."""
    if b.choices.chance(3):
        b.effect(b.call("tile.tpush_to_aic", operand(b), split=Const(0)))
        return
    type_ = TileType(b.shape(), b.matrix_dtype, Mem.Mat)
    b.tile(b.call("tile.tpop_from_aiv", split=Const(0)), type_=type_)


def tuple_result(b: Builder) -> None:
    """Positions of matches and their number: two tiles at once."""

    def fits(t: TileVar) -> bool:
        return t.is_free and t.is_whole and t.rows > 1 and is_float(t.type.dtype)

    source = b.find(fits, lambda: new_tile(b, b.shape(), "FP32"))
    scratch = working_space(b, source.type.shape, "UINT8")
    options = {"cmp_mode": Const(5), "offset": Const(0), "out_cols": Const(_COLUMNS_FOUND)}
    call = b.call("tile.gather_compare", source, Const(0.5, "FP32"), scratch, **options)
    type_ = deduce_type(call, b.types)
    assert isinstance(type_, TupleType)
    whole = b.assign("p", type_, call)
    for number, element in enumerate(type_.elements):
        assert isinstance(element, TileType)
        b.add_tile(b.assign("t", element, TupleGet(Var(whole), number)), element)
