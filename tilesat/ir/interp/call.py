"""What the evaluation of an op sees: operands, keywords, the annotated result type, the running state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np

from tilesat.errors import InterpretError
from tilesat.ir.interp.junk import junk
from tilesat.ir.interp.numerics import storage_dtype
from tilesat.ir.interp.scalars import as_index, as_scalar, is_scalar, truth
from tilesat.ir.interp.state import Frame, Run
from tilesat.ir.interp.values import (
    Array,
    Extents,
    Region,
    Scalar,
    ScalarArray,
    Tensor,
    Tile,
    Value,
    box,
    new_tensor,
    new_tile,
)
from tilesat.ir.nodes import EnumConst, OpCall
from tilesat.ir.types import Dim, Shape, TensorType, TileType, Type

# Keywords that say where or how a value is stored, or how precisely hardware computes it.
_REPRESENTATION = frozenset(
    {"target_memory", "blayout", "slayout", "layout", "space", "fractal", "flat_layout", "c_matrix_nz"}
    | {"high_precision", "acc_phase", "manual_dep", "pinned"}
)
_REPRESENTATION_ENUMS = ("Mem.", "TileLayout.", "TensorLayout.")


class Unmodelled:
    """The type of :data:`UNMODELLED`."""


UNMODELLED: Final = Unmodelled()
"""What a handler returns for a form of its op that it does not model."""


def is_representation(name: str, value: Value) -> bool:
    """Whether keyword ``name`` only says how a value is represented."""
    return name in _REPRESENTATION or (isinstance(value, EnumConst) and value.path.startswith(_REPRESENTATION_ENUMS))


@dataclass(slots=True)
class Call:
    """One evaluation of ``node``; ``result`` is the annotated type of what it defines, if any."""

    node: OpCall
    args: tuple[Value, ...]
    kwargs: dict[str, Value]
    result: Type | None
    run: Run
    frame: Frame
    extent: Callable[[Dim], int]
    used: set[str] = field(default_factory=set)

    # -------------------------------------------------------------------------- operands

    def arg(self, position: int) -> Value:
        if position >= len(self.args):
            raise InterpretError(f"{self.node.op} has no operand {position}")
        return self.args[position]

    def has(self, position: int) -> bool:
        """Whether operand ``position`` is given: present, not ``None`` and not an empty list."""
        return position < len(self.args) and self.args[position] is not None and self.args[position] != ()

    def region(self, position: int) -> Region:
        value = self.arg(position)
        if not isinstance(value, (Tile, Tensor)):
            raise self._wrong(position, "a tile or tensor", value)
        return value

    def tile(self, position: int) -> Tile:
        value = self.arg(position)
        if not isinstance(value, Tile):
            raise self._wrong(position, "a tile", value)
        return value

    def tensor(self, position: int) -> Tensor:
        value = self.arg(position)
        if not isinstance(value, Tensor):
            raise self._wrong(position, "a tensor", value)
        return value

    def array(self, position: int) -> ScalarArray:
        value = self.arg(position)
        if not isinstance(value, ScalarArray):
            raise self._wrong(position, "an array", value)
        return value

    def scalar(self, position: int) -> Scalar:
        return as_scalar(self.arg(position))

    def index(self, position: int) -> int:
        return as_index(self.arg(position))

    def indices(self, position: int) -> Extents:
        """A list of integers; a single integer counts as a list of one."""
        value = self.arg(position)
        if is_scalar(value):
            return (as_index(value),)
        if not isinstance(value, tuple):
            raise self._wrong(position, "a list of integers", value)
        return tuple([as_index(item) for item in value])

    def _wrong(self, position: int, wanted: str, value: Value) -> InterpretError:
        return InterpretError(
            f"operand {position} of {self.node.op} must be {wanted}, this is a {type(value).__name__}"
        )

    # -------------------------------------------------------------------------- keywords

    def keyword(self, name: str) -> Value:
        """The value of keyword ``name``, or ``None``; marks it as understood."""
        self.used.add(name)
        return self.kwargs.get(name)

    def flag(self, name: str) -> bool:
        value = self.keyword(name)
        return value is not None and truth(value)

    def member(self, name: str) -> str | None:
        """The last part of an enumeration keyword (``pl.PadValue.min`` gives ``min``)."""
        value = self.keyword(name)
        if value is None or isinstance(value, str):
            return value
        if not isinstance(value, EnumConst):
            raise InterpretError(f"keyword {name} of {self.node.op} must be a member of an enumeration")
        return value.path.rpartition(".")[2]

    def leftover(self) -> list[str]:
        """Keywords with a value that no one understood and that do matter."""
        return [
            name for name, value in self.kwargs.items() if name not in self.used and not is_representation(name, value)
        ]

    # --------------------------------------------------------------------------- results

    @property
    def on_tiles(self) -> bool:
        return self.node.op.startswith("tile.")

    def extents(self, shape: Shape) -> Extents:
        return tuple([self.extent(dim) for dim in shape])

    def result_shape(self) -> Extents | None:
        """The annotated shape when the result is annotated as one tile or tensor."""
        if isinstance(self.result, (TileType, TensorType)):
            return self.extents(self.result.shape)
        return None

    def new(self, dtype: str, shape: Extents, values: Array, valid: Extents | None = None) -> Region:
        """A fresh tile (``tile.*`` ops) or tensor with ``values`` in its valid region and junk elsewhere.

        ``values`` has the extents ``valid`` (``shape`` when ``None``) and must not share memory.
        """
        if valid is None or valid == shape:
            contents = np.ascontiguousarray(values)
        else:
            contents = junk(dtype, shape).copy()
            contents[box(valid)] = values
        return self.adopt(dtype, contents, valid)

    def adopt(self, dtype: str, contents: Array, valid: Extents | None = None) -> Region:
        """A fresh tile or tensor that is ``contents``, all of it, with ``valid`` extents."""
        assert contents.dtype == storage_dtype(dtype)
        if self.on_tiles:
            return new_tile(dtype, contents, valid)
        return new_tensor(dtype, contents, valid)


Handler: TypeAlias = "Callable[[Call], Value | Unmodelled]"


def clipped_valid(valid: Extents, shape: Extents, what: str) -> Extents:
    """``valid`` with negative extents as empty; raises where it exceeds ``shape``."""
    if len(valid) != len(shape):
        raise InterpretError(f"{what} {list(valid)} has another rank than shape {list(shape)}")
    if any(v > s for v, s in zip(valid, shape, strict=True)):
        raise InterpretError(f"{what} {list(valid)} exceeds shape {list(shape)}")
    return tuple([max(0, v) for v in valid])
