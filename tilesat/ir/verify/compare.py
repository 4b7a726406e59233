"""How two types that should agree differ, said in words."""

from __future__ import annotations

from dataclasses import dataclass

from tilesat.diagnostics import Severity
from tilesat.ir.printer import Printer, print_type
from tilesat.ir.types import ArrayType, Shape, TensorType, TileType, TupleType, Type


@dataclass(frozen=True, slots=True)
class Difference:
    """``text`` names the field and both sides; ``certain`` says that no run can make them equal."""

    text: str
    certain: bool = True

    @property
    def severity(self) -> Severity:
        """Extents that only may differ, because they are symbolic, are worth a warning."""
        return Severity.ERROR if self.certain else Severity.WARNING


def difference(left: Type, right: Type, *, spaces: bool = False) -> Difference | None:
    """The first of kind, dtype, shape, valid shape (and, if asked, memory space) in which they differ.

    Layouts, strides and declared allocations are not looked at. A memory space that is not decided yet
    agrees with any.
    """
    if left is right or left == right:
        return None
    if isinstance(left, TileType) and isinstance(right, TileType):
        shaped = _shaped_difference(left, right, left.valid_shape, right.valid_shape)
        return _first(shaped, _space_difference(left, right) if spaces else None)
    if isinstance(left, TensorType) and isinstance(right, TensorType):
        return _shaped_difference(left, right, tensor_valid_shape(left), tensor_valid_shape(right))
    if isinstance(left, TupleType) and isinstance(right, TupleType):
        return _tuple_difference(left, right, spaces)
    if isinstance(left, ArrayType) and isinstance(right, ArrayType):
        extent = _shape_difference("extent", (left.extent,), (right.extent,))
        return _first(_dtype_difference(left.dtype, right.dtype), extent)
    return Difference(f"{print_type(left)} against {print_type(right)}")


def tensor_valid_shape(tensor: TensorType) -> Shape:
    if tensor.view is None or tensor.view.valid_shape is None:
        return tensor.shape
    return tensor.view.valid_shape


def _shaped_difference(
    left: TileType | TensorType, right: TileType | TensorType, left_valid: Shape, right_valid: Shape
) -> Difference | None:
    return _first(
        _dtype_difference(left.dtype, right.dtype),
        _shape_difference("shape", left.shape, right.shape),
        _shape_difference("valid shape", left_valid, right_valid),
    )


def _first(*candidates: Difference | None) -> Difference | None:
    """The first certain difference, else the first possible one."""
    found = [candidate for candidate in candidates if candidate is not None]
    return next((candidate for candidate in found if candidate.certain), found[0] if found else None)


def _dtype_difference(left: str, right: str) -> Difference | None:
    return None if left == right else Difference(f"dtype {left} against {right}")


def _shape_difference(what: str, left: Shape, right: Shape) -> Difference | None:
    if left == right:
        return None
    both_static = [(a, b) for a, b in zip(left, right, strict=False) if isinstance(a, int) and isinstance(b, int)]
    certain = len(left) != len(right) or any(a != b for a, b in both_static)
    printer = Printer()
    return Difference(f"{what} {printer.dims(left)} against {printer.dims(right)}", certain)


def _space_difference(left: TileType, right: TileType) -> Difference | None:
    if left.space is None or right.space is None or left.space is right.space:
        return None
    return Difference(f"memory space {left.space} against {right.space}")


def _tuple_difference(left: TupleType, right: TupleType, spaces: bool) -> Difference | None:
    if len(left.elements) != len(right.elements):
        return Difference(f"{len(left.elements)} elements against {len(right.elements)}")
    found = []
    for position, (a, b) in enumerate(zip(left.elements, right.elements, strict=True)):
        inner = difference(a, b, spaces=spaces)
        if inner is not None:
            found.append(Difference(f"element {position}: {inner.text}", inner.certain))
    return _first(*found)
