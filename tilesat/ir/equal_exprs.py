"""Structural equality of expressions and types, under the pairs of names bound so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeAlias

from tilesat.ir.nodes import (
    BinOp,
    Cast,
    Const,
    DictExpr,
    EnumConst,
    Expr,
    FuncCall,
    ListExpr,
    NamedExprs,
    NoneConst,
    OpaqueExpr,
    OpCall,
    ScalarFn,
    StrConst,
    Submit,
    TupleGet,
    UnaryOp,
    Var,
)
from tilesat.ir.printer import print_expr
from tilesat.ir.types import (
    ArrayType,
    Dim,
    Shape,
    TensorType,
    TensorView,
    TileType,
    TileView,
    TupleType,
    Type,
)
from tilesat.ir.walk import names_in_type

Path: TypeAlias = "tuple[str, ...]"
# How a part is called in a path, and what both sides have there.
Part: TypeAlias = "tuple[str, Expr | None, Expr | None]"


@dataclass(frozen=True, slots=True)
class StructuralDifference:
    """The first place where two programs differ; statements, arguments and the like count from 1.

    ``path`` reads ``function 'f' / statement 3 / for k / statement 1 / argument 2``; ``left`` and
    ``right`` are the texts found there, ``<nothing>`` where a side has none.
    """

    path: str
    left: str
    right: str

    def __str__(self) -> str:
        return f"{self.path}:\n  left:  {self.left}\n  right: {self.right}"


class Differs(Exception):
    """Carries the first difference out of the comparison."""

    def __init__(self, path: Path, left: str | None, right: str | None) -> None:
        texts = ["<nothing>" if side is None else side for side in (left, right)]
        self.difference = StructuralDifference(" / ".join(path), *texts)


@dataclass(frozen=True, slots=True)
class _Place:
    """A pair of parts under comparison, and what it is part of."""

    parent: _Place | None
    name: str
    left: Expr | None
    right: Expr | None

    def names(self) -> Path:
        """The way from the outermost pair, which has no name, to this one."""
        names: list[str] = []
        place = self
        while place.parent is not None:
            names.append(place.name)
            place = place.parent
        return tuple(reversed(names))


class ExprMatch:
    """Compares expressions and types under the pairs of names bound so far."""

    def __init__(self) -> None:
        self.to_right: dict[str, str] = {}
        self.to_left: dict[str, str] = {}
        self._closed: dict[int, bool] = {}
        self._equal: dict[tuple[int, int], bool] = {}

    def bind(self, left: str, right: str) -> None:
        self.to_right[left] = right
        self.to_left[right] = left

    def same_name(self, left: str, right: str) -> bool:
        """Whether the names are a bound pair, or one free name (a symbolic dimension)."""
        bound = self.to_right.get(left)
        if bound is None:
            return left == right and right not in self.to_left
        return bound == right and self.to_left[right] == left

    def unrenamed(self, left: tuple[str, ...], right: tuple[str, ...]) -> bool:
        """Whether names inside a text, which cannot be renamed, stand for the same variables."""
        return left == right and all(map(self.same_name, left, right))

    def same(self, left: Expr, right: Expr) -> bool:
        """Whether the expressions are equal; with a stack, since sums may be thousands of terms long."""
        stack = [(left, right)]
        while stack:
            a, b = stack.pop()
            kind = type(a)
            if kind is not type(b):
                return False
            if kind is Var:
                if not self.same_name(a.name, b.name):  # type: ignore[attr-defined]
                    return False
            elif kind is ListExpr:
                x, y = a.items, b.items  # type: ignore[attr-defined]
                if len(x) != len(y):
                    return False
                stack += zip(x, y, strict=True)
            elif not self._same_head(a, b):
                return False
            elif kind not in _LEAVES:
                for _, inner, other in _parts(a, b):
                    if inner is None or other is None:
                        return False
                    stack.append((inner, other))
        return True

    def _same_head(self, a: Expr, b: Expr) -> bool:
        """Whether two expressions of one kind agree, their operands left aside."""
        if isinstance(a, Const) and isinstance(b, Const):
            # By text: a NaN is itself, and 0.0 is not -0.0.
            return a is b or (a.dtype, repr(a.value)) == (b.dtype, repr(b.value))
        if isinstance(a, Var) and isinstance(b, Var):
            return self.same_name(a.name, b.name)
        if isinstance(a, OpaqueExpr) and isinstance(b, OpaqueExpr):
            return a.text == b.text and self.unrenamed(a.names, b.names)
        return _head_of(a) == _head_of(b)

    def located(self, path: Path, left: Expr | None, right: Expr | None) -> Differs:
        """The first innermost place at which ``left`` and ``right``, which are not equal, differ."""
        stack = [_Place(None, "", left, right)]
        while stack:
            place = stack.pop()
            a, b = place.left, place.right
            if a is None or b is None or type(a) is not type(b) or not self._same_head(a, b):
                return Differs((*path, *place.names()), *(None if x is None else print_expr(x) for x in (a, b)))
            if type(a) not in _LEAVES:
                parts = [_Place(place, *part) for part in _parts(a, b)]
                stack.extend(reversed(parts))
        raise AssertionError("located is asked about expressions that differ")

    # --------------------------------------------------------------------------- types

    def same_type(self, left: Type, right: Type) -> bool:
        if not self._is_closed(left):
            return self._same_open(left, right)
        if left is right:
            return True
        key = (id(left), id(right))
        known = self._equal.get(key)
        if known is None:
            known = self._equal[key] = left == right
        return known

    def _is_closed(self, type_: Type) -> bool:
        """Whether no extent names a variable or a symbolic dimension."""
        known = self._closed.get(id(type_))
        if known is None:
            known = self._closed[id(type_)] = next(names_in_type(type_), None) is None
        return known

    def _same_open(self, a: Type, b: Type) -> bool:
        if isinstance(a, TileType) and isinstance(b, TileType):
            rest = (a.dtype, a.space, a.memref) == (b.dtype, b.space, b.memref)
            return rest and self._same_shape(a.shape, b.shape) and self._same_tile_view(a.view, b.view)
        if isinstance(a, TensorType) and isinstance(b, TensorType):
            rest = (a.dtype, a.memref, a.distributed) == (b.dtype, b.memref, b.distributed)
            return rest and self._same_shape(a.shape, b.shape) and self._same_tensor_view(a.view, b.view)
        if isinstance(a, TupleType) and isinstance(b, TupleType):
            return len(a.elements) == len(b.elements) and all(map(self.same_type, a.elements, b.elements))
        if isinstance(a, ArrayType) and isinstance(b, ArrayType):
            return a.dtype == b.dtype and self._same_shape((a.extent,), (b.extent,))
        return False

    def _same_tile_view(self, a: TileView | None, b: TileView | None) -> bool:
        if a is None or b is None:
            return a is b
        starts = [None if view.start_offset is None else (view.start_offset,) for view in (a, b)]
        return (
            (a.blayout, a.slayout, a.fractal, a.pad, a.compact) == (b.blayout, b.slayout, b.fractal, b.pad, b.compact)
            and self._same_shape(a.valid_shape, b.valid_shape)
            and self._same_shape(a.stride, b.stride)
            and self._same_shape(*starts)
        )

    def _same_tensor_view(self, a: TensorView | None, b: TensorView | None) -> bool:
        if a is None or b is None:
            return a is b
        return (
            (a.layout, a.pad) == (b.layout, b.pad)
            and self._same_shape(a.valid_shape, b.valid_shape)
            and self._same_shape(a.stride, b.stride)
        )

    def _same_shape(self, a: Shape | None, b: Shape | None) -> bool:
        if a is None or b is None:
            return a is b
        return len(a) == len(b) and all(map(self._same_dim, a, b))

    def _same_dim(self, a: Dim, b: Dim) -> bool:
        if isinstance(a, int) or isinstance(b, int):
            return a == b
        return self.same(a, b)


_LEAVES = frozenset({Var, Const, StrConst, NoneConst, EnumConst, OpaqueExpr})


def _head_of(node: Expr) -> object:
    """What an expression says besides its operands."""
    if isinstance(node, OpCall):
        return node.op
    if isinstance(node, FuncCall):
        return node.callee
    if isinstance(node, Submit):
        return node.callee, node.spmd
    if isinstance(node, (BinOp, UnaryOp)):
        return node.op
    if isinstance(node, ScalarFn):
        return node.name
    if isinstance(node, Cast):
        return node.dtype
    if isinstance(node, TupleGet):
        return node.index
    if isinstance(node, StrConst):
        return node.value
    return node.path if isinstance(node, EnumConst) else None


def _parts(a: Any, b: Any) -> Iterator[Part]:
    """The operands of two expressions of one kind, side by side, each with what it is called in a path."""
    kind = type(a)
    if kind in _CALLS:
        yield from numbered("argument", a.args, b.args)
        if a.kwargs or b.kwargs:
            yield from by_name("keyword", a.kwargs, b.kwargs)
        if a.attrs or b.attrs:
            yield from by_name("attribute", a.attrs, b.attrs)
    elif kind is ListExpr:
        yield from numbered("item", a.items, b.items)
    elif kind is DictExpr:
        yield from by_name("entry", a.items, b.items)
    elif kind is ScalarFn:
        yield from numbered("argument", a.args, b.args)
    elif kind is BinOp:
        yield "left operand", a.lhs, b.lhs
        yield "right operand", a.rhs, b.rhs
    elif kind is TupleGet:
        yield "tuple", a.value, b.value
    else:
        yield "operand", a.operand, b.operand


_CALLS = frozenset({OpCall, FuncCall, Submit})


def numbered(what: str, left: Sequence[Expr], right: Sequence[Expr]) -> Iterator[Part]:
    for number, (a, b) in enumerate(zip_longest(left, right), 1):
        yield f"{what} {number}", a, b


def by_name(what: str, left: NamedExprs, right: NamedExprs) -> Iterator[Part]:
    """Items side by side by name; in which order they stand does not count."""
    others = dict(right)
    for name, a in left:
        yield f"{what} '{name}'", a, others.pop(name, None)
    for name, b in others.items():
        yield f"{what} '{name}'", None, b
