"""Run-time values: tiles and tensors as buffers, and what else a variable may hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tilesat.errors import InterpretError
from tilesat.ir.nodes import EnumConst

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
Extents: TypeAlias = "tuple[int, ...]"
Scalar: TypeAlias = "int | float | bool | np.generic"


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value of a type that is not modelled; ``key`` identifies it."""

    key: bytes


@dataclass(slots=True, eq=False)
class ScalarArray:
    """``pl.Array``: a short array of scalars."""

    dtype: str
    array: Array


@dataclass(slots=True, eq=False)
class Tensor:
    """A tensor in global memory: a view of a buffer that others may share.

    ``array`` covers the leading part of ``shape``; it is smaller where a slice reaches beyond its parent.
    ``valid`` are the valid extents, at most ``shape``.
    """

    dtype: str
    array: Array
    shape: Extents
    valid: Extents

    def contents(self) -> Array:
        """All elements; see :meth:`part`."""
        return self.part(self.shape)

    def valid_contents(self) -> Array:
        """The elements of the valid region; see :meth:`part`."""
        return self.part(self.valid)

    def part(self, extents: Extents) -> Array:
        """The first ``extents`` elements, shared; raises :class:`InterpretError` beyond the buffer."""
        if any(e > have for e, have in zip(extents, self.array.shape, strict=True)) and 0 not in extents:
            raise InterpretError(
                f"extents {list(extents)} of a tensor slice are read, but its parent has only "
                f"{list(self.array.shape)} elements there"
            )
        return self.array[box(extents)]

    def write(self, where: tuple[slice, ...], values: Array) -> None:
        self.array[where] = values


@dataclass(slots=True, eq=False)
class Tile:
    """A tile: a flat ``storage`` that views share, and which of its elements the tile consists of.

    Exactly one of ``view`` (a strided window of ``storage``) and ``index`` (positions in ``storage``, for
    views that no strides describe) is set. ``valid`` are the valid extents, at most the shape.
    """

    dtype: str
    storage: Array
    view: Array | None
    index: Array | None
    valid: Extents

    @property
    def shape(self) -> Extents:
        shape: Extents = self._map().shape
        return shape

    def _map(self) -> Array:
        if self.view is not None:
            return self.view
        assert self.index is not None
        return self.index

    def contents(self) -> Array:
        """All elements. The result may share memory with the tile; callers do not write it."""
        return self.view if self.view is not None else self.storage[self._map()]

    def valid_contents(self) -> Array:
        """The elements of the valid region; as :meth:`contents`, not to be written."""
        return self.part(self.valid)

    def part(self, extents: Extents) -> Array:
        """The first ``extents`` elements; as :meth:`contents`, not to be written."""
        where = box(extents)
        return self.view[where] if self.view is not None else self.storage[self._map()[where]]

    def write(self, where: tuple[slice, ...], values: Array) -> None:
        """Overwrite the elements at ``where`` in the shared storage."""
        if self.view is not None:
            self.view[where] = values
        else:
            self.storage[self._map()[where]] = values

    def positions(self) -> Array:
        """For each element its position in ``storage``."""
        if self.view is None:
            return self._map()
        size = self.storage.itemsize
        start = (_address(self.view) - _address(self.storage)) // size
        index: Array = np.full((), start, np.intp)
        for extent, stride in zip(self.view.shape, self.view.strides, strict=True):
            index = index[..., None] + np.arange(extent, dtype=np.intp) * (stride // size)
        return index

    def alias(self, rearrange: Callable[[Array], Array], valid: Extents) -> Tile:
        """The tile whose elements are ``rearrange`` of this tile's, in the same storage."""
        if self.view is not None:
            moved = rearrange(self.view)
            if np.may_share_memory(moved, self.storage):
                return Tile(self.dtype, self.storage, moved, None, valid)
        return Tile(self.dtype, self.storage, None, rearrange(self.positions()), valid)

    def reinterpret(self, dtype: str, numpy_dtype: np.dtype[Any]) -> Tile:
        """The same bits read as ``dtype``, which must be as wide."""
        view = None if self.view is None else self.view.view(numpy_dtype)
        return Tile(dtype, self.storage.view(numpy_dtype), view, self.index, self.valid)


Region: TypeAlias = "Tile | Tensor"
Value: TypeAlias = "Tile | Tensor | ScalarArray | Opaque | Scalar | str | EnumConst | tuple[Any, ...] | None"


def _address(array: Array) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def box(extents: Extents, offsets: Extents | None = None) -> tuple[slice, ...]:
    """The slices of a region of ``extents`` at ``offsets`` (the origin when ``None``)."""
    if offsets is None:
        return tuple([slice(0, extent) for extent in extents])
    return tuple([slice(start, start + extent) for start, extent in zip(offsets, extents, strict=True)])


def new_tile(dtype: str, values: Array, valid: Extents | None = None) -> Tile:
    """A tile with a buffer of its own. ``values`` is contiguous and belongs to the caller alone."""
    assert values.flags.c_contiguous
    return Tile(dtype, values.reshape(-1), values, None, values.shape if valid is None else valid)


def new_tensor(dtype: str, array: Array, valid: Extents | None = None) -> Tensor:
    """A tensor that is ``array`` itself."""
    return Tensor(dtype, array, array.shape, array.shape if valid is None else valid)


def detached(value: Value) -> Value:
    """``value`` as a loop or branch passes it on: tiles and arrays are copied, tensors shared."""
    if isinstance(value, Tile):
        return new_tile(value.dtype, np.array(value.contents(), order="C", copy=True), value.valid)
    if isinstance(value, ScalarArray):
        return ScalarArray(value.dtype, value.array.copy())
    if isinstance(value, tuple):
        return tuple(detached(part) for part in value)
    return value


def reshaped_valid(shape: Extents, valid: Extents, target: Extents) -> Extents | None:
    """Valid extents after a row-major reshape, ``None`` when the region is no box any more."""
    if valid == shape:
        return target
    count = int(np.prod(valid))
    if count == 0:
        return (0,) * len(target)
    mask = np.zeros(shape, bool)
    mask[box(valid)] = True
    reshaped = mask.reshape(target)
    extents = tuple(int(np.max(axis)) + 1 for axis in np.nonzero(reshaped))
    return extents if int(np.prod(extents)) == count else None
