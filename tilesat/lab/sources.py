"""Where tiles come from: loads, fills, empty buffers, tiles made to order."""

from __future__ import annotations

from tilesat.ir.dtypes import is_float
from tilesat.ir.nodes import Assign, Const, EnumConst, Expr, OpCall, Var
from tilesat.ir.types import Direction, Shape, TileType
from tilesat.ir.types import MemorySpace as Mem
from tilesat.lab.builder import Builder
from tilesat.lab.choices import Weighted
from tilesat.lab.pool import TensorVar, TileVar, Window
from tilesat.lab.positions import bounded_index, offset

DYNAMIC_DIM = "ROWS"
BRIDGE_MARKER = "__compiler_tensor_to_tile_mat_bridge"

_NARROWED_BY = 4


def space_kwarg(space: Mem) -> EnumConst:
    return EnumConst(f"Mem.{space.value}")


# ------------------------------------------------------------------------------------ tiles


def any_tile(b: Builder) -> TileVar:
    """A tile of the function's preferred kind."""
    return new_tile(b, b.shape(), b.vector_dtype)


def new_tile(b: Builder, shape: Shape, dtype: str, valid: Shape | None = None) -> TileVar:
    """A tile of exactly this shape, dtype and valid extents, for vector ops."""
    kinds = [("load", 6)]
    if valid is None or valid == shape:
        kinds += [("full", 1 if b.config.has("full") else 0), ("create", 1 if b.config.has("create") else 0)]
    kind = Weighted(kinds).pick(b.choices)
    if kind == "full":
        return full(b, shape, dtype)
    if kind == "create":
        return create(b, shape, dtype, Mem.Vec)
    return load(b, shape, dtype, valid, vector_space(b, shape))


def vector_space(b: Builder, shape: Shape) -> Mem | None:
    """Where a tile for vector ops is loaded: mostly Vec."""
    has_boxes = all(isinstance(extent, int) and extent > 1 for extent in shape)
    options = [
        (Mem.Vec, 6),
        (Mem.Mat, 2 if has_boxes and b.config.has("mat_loads") else 0),
        (None, 1 if b.config.has("unset_space") else 0),
    ]
    return Weighted[Mem | None](options).pick(b.choices)


def matrix_space(b: Builder) -> Mem | None:
    """Where an operand of a product is loaded: mostly Mat."""
    options = [
        (Mem.Mat, 6 if b.config.has("mat_loads") else 0),
        (Mem.Vec, 2 if b.config.has("vec_operands") or not b.config.has("mat_loads") else 0),
        (None, 1 if b.config.has("unset_space") else 0),
    ]
    return Weighted[Mem | None](options).pick(b.choices)


def full(b: Builder, shape: Shape, dtype: str) -> TileVar:
    number = Const(b.choices.pick((0.0, 1.0)), "FP32") if is_float(dtype) else Const(b.choices.pick((0, 1)), dtype)
    return b.tile(b.call("tile.full", shape, dtype=EnumConst(dtype), value=number))


def create(b: Builder, shape: Shape, dtype: str, space: Mem | None) -> TileVar:
    """A tile without contents."""
    target = {} if space is None else {"target_memory": space_kwarg(space)}
    return _declared(b, b.tile(b.call("tile.create", shape, dtype=EnumConst(dtype), **target)))


def working_space(b: Builder, shape: Shape, dtype: str) -> Expr:
    """A buffer for an op to work in. What the op leaves there is open, so nothing else may read it."""
    call = b.call("tile.create", shape, dtype=EnumConst(dtype), target_memory=space_kwarg(Mem.Vec))
    return Var(b.assign("w", TileType(shape, dtype, Mem.Vec), call))


def load(b: Builder, shape: Shape, dtype: str, valid: Shape | None, space: Mem | None) -> TileVar:
    """A window of a tensor, valid all over when ``valid`` is ``None``."""
    if valid is not None and valid != shape and not b.config.has("narrowed"):
        whole = load(b, shape, dtype, None, space)
        return b.tile(b.call("tile.set_validshape", whole, *valid), shares=whole)
    tensor = readable_tensor(b, dtype)
    extent = b.config.tensor_extent
    offsets = tuple([offset(b, extent - size) for size in shape if isinstance(size, int)])
    window = Window(tensor, offsets, shape, shape if valid is None else valid)
    b.scope.windows.append(window)
    return load_window(b, window, space)


def load_window(b: Builder, window: Window, space: Mem | None) -> TileVar:
    kwargs = {} if space is None else {"target_memory": space_kwarg(space)}
    is_marked = space is Mem.Mat and b.config.has("bridge_marker")
    attrs = ((BRIDGE_MARKER, Const(True, "BOOL")),) if is_marked else ()
    name = b.tensor_name(window.tensor)
    call = b.call("tile.load", name, window.offsets, window.shape, window.valid, **kwargs)
    call = OpCall(call.op, call.args, call.kwargs, attrs)
    return _declared(b, b.tile(call))


def _declared(b: Builder, tile: TileVar) -> TileVar:
    """``tile``, sometimes with the allocation that its author declared for it."""
    if tile.space is None or not b.config.has("memrefs") or not b.choices.chance(24):
        return tile
    old = tile.type
    tile.type = TileType(old.shape, old.dtype, old.space, old.view, b.name("m"))
    last = b.scope.stmts[-1]
    assert isinstance(last, Assign)
    b.scope.stmts[-1] = Assign(last.name, tile.type, last.value)
    b.types[tile.name] = tile.type
    return tile


def narrowed(b: Builder, shape: Shape) -> Shape:
    """Valid extents for a tile of ``shape``: most often all of it."""
    if not b.config.has("narrowed") or not b.choices.chance(_NARROWED_BY):
        return shape
    rows, columns = shape
    options: list[Shape] = []
    for axis, size in enumerate(shape):
        assert isinstance(size, int)
        if size < 2:
            continue
        cut: list[int | Expr] = [size - 4]
        dynamic = bounded_index(b, size) if b.config.has("dynamic_valid") and axis == 0 else None
        if dynamic is not None:
            cut.append(dynamic.expr)
        options += [(c, columns) if axis == 0 else (rows, c) for c in cut]
    return b.choices.pick(options) if options else shape


# ---------------------------------------------------------------------------------- tensors


def readable_tensor(b: Builder, dtype: str) -> TensorVar:
    """A tensor to load from: input, input and output, or output that was stored into."""
    found = [tensor for tensor in reversed(b.tensors) if _is_readable(b, tensor, dtype)]
    picked = b.choices.select_or_none(found)
    if picked is None and len(found) >= b.config.max_tensors:
        return found[-1]
    return picked or _new_input(b, dtype)


def _is_readable(b: Builder, tensor: TensorVar, dtype: str) -> bool:
    if tensor.type.dtype != dtype or tensor.is_index:
        return False
    if tensor.is_stored:
        return b.config.has("load_after_store")
    return tensor.direction is not Direction.Out


def _new_input(b: Builder, dtype: str) -> TensorVar:
    if b.config.has("dynamic_dims") and b.choices.chance(12):
        return b.tensor_param(dtype, Direction.In, shape=(Var(DYNAMIC_DIM), b.config.tensor_extent))
    return b.tensor_param(dtype, Direction.In)


# ------------------------------------------------------------------------------- statements


def load_statement(b: Builder) -> None:
    """A load for later statements: in the preferred dtypes, or another one."""
    dtype = b.choices.pick((b.vector_dtype, b.matrix_dtype, b.vector_dtype, b.matrix_dtype, "INT32"))
    shape = b.shape()
    space = matrix_space(b) if dtype == b.matrix_dtype else vector_space(b, shape)
    load(b, shape, dtype, narrowed(b, shape), space)


def reload_statement(b: Builder) -> None:
    """The window of an earlier load again, perhaps into another memory."""
    windows = b.scope.visible_windows(4)
    if not windows:
        load_statement(b)
        return
    window = b.choices.select(windows)
    load_window(b, window, vector_space(b, window.shape))


def create_statement(b: Builder) -> None:
    """A buffer for later statements to fill or to accumulate in."""
    spaces = [
        (Mem.Vec, 3 if b.config.has("create") else 0),
        (Mem.Acc, 2 if b.config.has("acc_create") else 0),
        (Mem.Mat, 2 if b.config.has("mat_create") else 0),
        (None, 1 if b.config.has("unset_space") else 0),
    ]
    if not any(weight for _, weight in spaces):
        load_statement(b)
        return
    space = Weighted[Mem | None](spaces).pick(b.choices)
    dtype = accumulator_dtype(b.matrix_dtype) if space is Mem.Acc else b.vector_dtype
    create(b, b.shape(), dtype, space)


def full_statement(b: Builder) -> None:
    full(b, b.shape(), b.vector_dtype)


def accumulator_dtype(operand: str) -> str:
    """The dtype of a product of operands of this dtype."""
    return "FP32" if is_float(operand) else "INT32"
