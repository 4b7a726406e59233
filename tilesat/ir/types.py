"""Types of values: tiles in on-chip memory, tensors in global memory, scalars and the rest.

Everything is immutable and hashable. Dimensions are ``int`` where static and an expression where
they depend on a dynamic dimension or a scalar. A tile or tensor view stores only what differs from
the implicit view of (shape, space), so "no view" and "explicit default view" are one type
(peer behaviour, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tilesat.ir.nodes import Expr

Dim: TypeAlias = "int | Expr"
Shape: TypeAlias = "tuple[Dim, ...]"


class MemorySpace(StrEnum):
    """Where a tile lives. ``DDR`` is global memory; the rest is on chip."""

    DDR = "DDR"
    Vec = "Vec"
    Mat = "Mat"
    Left = "Left"
    Right = "Right"
    Acc = "Acc"
    Bias = "Bias"
    ScalarLocal = "ScalarLocal"
    LeftScale = "LeftScale"
    RightScale = "RightScale"


class Direction(StrEnum):
    """How a function uses a parameter."""

    In = "In"
    Out = "Out"
    InOut = "InOut"


@dataclass(frozen=True, slots=True)
class Layout:
    """Physical order of a tile: block layout, layout inside a block, bytes of a fractal."""

    blayout: str
    slayout: str
    fractal: int


@dataclass(frozen=True, slots=True)
class TileView:
    """What of a tile's view differs from the implicit one; ``None`` means implicit."""

    valid_shape: Shape | None = None
    stride: Shape | None = None
    start_offset: Dim | None = None
    blayout: str | None = None
    slayout: str | None = None
    fractal: int | None = None
    pad: str | None = None
    compact: str | None = None


@dataclass(frozen=True, slots=True)
class TensorView:
    """View of a tensor: valid shape, strides in elements, layout tag, pad value."""

    valid_shape: Shape | None = None
    stride: Shape = ()
    layout: str | None = None
    pad: str | None = None


@dataclass(frozen=True, slots=True)
class Type:
    """Base of all types."""


@dataclass(frozen=True, slots=True)
class ScalarType(Type):
    """``pl.Scalar[pl.DT]``; task ids are scalars of dtype ``TASK_ID``."""

    dtype: str


@dataclass(frozen=True, slots=True)
class TileType(Type):
    """``pl.Tile[[d0, d1], pl.DT, <MemRef>, <space>, <view>]``. Build with :func:`tile_type`."""

    shape: Shape
    dtype: str
    space: MemorySpace | None = None
    view: TileView | None = None
    memref: str | None = None

    @property
    def valid_shape(self) -> Shape:
        """The valid extents, equal to ``shape`` unless narrowed."""
        if self.view is None or self.view.valid_shape is None:
            return self.shape
        return self.view.valid_shape

    @property
    def layout(self) -> Layout:
        """The effective layout: what the view states, else the implicit one."""
        base = implicit_layout(self.shape, self.space)
        if self.view is None:
            return base
        return Layout(
            self.view.blayout or base.blayout,
            self.view.slayout or base.slayout,
            base.fractal if self.view.fractal is None else self.view.fractal,
        )

    @property
    def pad(self) -> str | None:
        return None if self.view is None else self.view.pad

    @property
    def compact(self) -> str | None:
        return None if self.view is None else self.view.compact


@dataclass(frozen=True, slots=True)
class TensorType(Type):
    """``pl.Tensor[...]`` or, when ``distributed``, ``pld.DistributedTensor[...]``."""

    shape: Shape
    dtype: str
    view: TensorView | None = None
    memref: str | None = None
    distributed: bool = False


@dataclass(frozen=True, slots=True)
class TupleType(Type):
    elements: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class ArrayType(Type):
    """``pl.Array[n, pl.DT]``: a scalar array with functional update."""

    extent: Dim
    dtype: str


@dataclass(frozen=True, slots=True)
class OpaqueType(Type):
    """A type that is not modelled (``pl.Ptr``, ``pl.MemRefType``, ...), kept as its text."""

    text: str


_FLAT = {None, MemorySpace.DDR, MemorySpace.Vec, MemorySpace.Bias, MemorySpace.ScalarLocal}
_ROW_FLAT = Layout("row_major", "none_box", 512)
_COL_FLAT = Layout("col_major", "none_box", 512)
_BOXED = {
    MemorySpace.Mat: Layout("col_major", "row_major", 512),
    MemorySpace.Left: Layout("col_major", "row_major", 512),
    MemorySpace.Right: Layout("row_major", "col_major", 512),
    MemorySpace.Acc: Layout("col_major", "row_major", 1024),
    MemorySpace.LeftScale: Layout("row_major", "row_major", 32),
    MemorySpace.RightScale: Layout("col_major", "col_major", 32),
}


def is_flat(space: MemorySpace | None) -> bool:
    """Whether tiles of ``space`` are stored without boxes (Vec, Bias, DDR, undecided)."""
    return space in _FLAT


def implicit_layout(shape: Shape, space: MemorySpace | None) -> Layout:
    """The layout a tile of ``shape`` has in ``space`` when its type names none (section 3.1)."""
    if space is not None and space in _BOXED:
        return _BOXED[space]
    is_column = len(shape) == 2 and shape[1] == 1 and isinstance(shape[0], int) and shape[0] > 1
    return _COL_FLAT if is_column else _ROW_FLAT


def tile_type(
    shape: Shape,
    dtype: str,
    space: MemorySpace | None = None,
    view: TileView | None = None,
    memref: str | None = None,
) -> TileType:
    """A tile type in canonical form: view fields equal to the implicit view are dropped."""
    if view is None:
        return TileType(shape, dtype, space, None, memref)
    base = implicit_layout(shape, space)
    kept = TileView(
        valid_shape=None if view.valid_shape == shape else view.valid_shape,
        stride=view.stride or None,
        start_offset=None if view.start_offset == 0 else view.start_offset,
        blayout=None if view.blayout == base.blayout else view.blayout,
        slayout=None if view.slayout == base.slayout else view.slayout,
        fractal=None if view.fractal == base.fractal else view.fractal,
        pad=None if view.pad == "null" else view.pad,
        compact=None if view.compact == "null" else view.compact,
    )
    return TileType(shape, dtype, space, None if kept == _NO_VIEW else kept, memref)


_NO_VIEW = TileView()


def with_layout(tile: TileType, layout: Layout) -> TileType:
    """``tile`` with another layout; every other view field stays."""
    view = replace(tile.view or _NO_VIEW, blayout=layout.blayout, slayout=layout.slayout, fractal=layout.fractal)
    return tile_type(tile.shape, tile.dtype, tile.space, view, tile.memref)


def in_space(tile: TileType, space: MemorySpace) -> TileType:
    """``tile`` relabelled to ``space``: implicit layout of the new space, other view fields survive.

    A tile already in ``space`` comes back as it is (INF-P3-01).
    """
    if tile.space == space:
        return tile
    moved = TileType(tile.shape, tile.dtype, space, tile.view, tile.memref)
    return with_layout(moved, implicit_layout(tile.shape, space))
