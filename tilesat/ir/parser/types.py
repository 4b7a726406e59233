"""Type annotations of the text as IR types."""

from __future__ import annotations

import ast
from typing import TypeVar

from tilesat.ir.nodes import ListExpr
from tilesat.ir.parser.exprs import ExprParser, dotted_name, is_dtype
from tilesat.ir.parser.opaque import NotModelled
from tilesat.ir.parser.views import ViewParser
from tilesat.ir.types import (
    ArrayType,
    MemorySpace,
    OpaqueType,
    ScalarType,
    Shape,
    TensorType,
    TensorView,
    TileType,
    TileView,
    TupleType,
    Type,
    tile_type,
)

_T = TypeVar("_T")
_TENSORS = {"pl.Tensor": False, "pld.DistributedTensor": True}
_BARE = frozenset({"pl.Tile", "pl.Scalar", "pl.Tuple", "pl.Array", *_TENSORS})
_SPACES = ("pl.Mem.", "pl.MemorySpace.")
_LANGUAGE = frozenset({"pl", "pld"})


class TypeParser:
    """Parses annotations; the type of a text that names no variable is remembered.

    ``memrefs`` are the allocations the module declares, by the name they have in the text.
    """

    def __init__(self, exprs: ExprParser, memrefs: dict[str, str]) -> None:
        self.exprs = exprs
        self.views = ViewParser(exprs)
        self.source = exprs.source
        self.memrefs = memrefs
        self._closed: dict[str, Type] = {}
        self._open: dict[str, tuple[Type, tuple[str, ...]]] = {}

    def type(self, node: ast.expr) -> Type:
        """The type written at ``node``."""
        text = self.source.segment(node)
        known = self._closed.get(text)
        if known is not None:
            return known
        scope = self.exprs.scope
        if text in self._open:
            type_, names = self._open[text]
            if all(map(scope.is_same_name, names)):
                return type_
        try:
            type_ = self._type(node)
        except NotModelled:
            message = f"{self.source.quoted(node)} has ':=', 'yield' or 'await' where a value is needed"
            raise self.source.error(node, message, "write a value, or a name bound to it") from None
        used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)} - _LANGUAGE
        if not used:
            self._closed[text] = type_
        elif all(map(scope.is_same_name, used)):
            self._open[text] = (type_, tuple(used))
        return type_

    def states_nothing(self, node: ast.expr) -> bool:
        """Whether ``node`` only says of what kind a value is: ``pl.Tensor``."""
        return isinstance(node, ast.Attribute) and dotted_name(node) in _BARE

    def _type(self, node: ast.expr) -> Type:
        if not isinstance(node, ast.Subscript):
            if self.states_nothing(node):
                spelled = self.source.segment(node)
                raise self.source.error(node, f"the type '{spelled}' is incomplete", f"write {spelled}[...] in full")
            return self._opaque(node)
        name = dotted_name(node.value)
        args = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "pl.Tile":
            return self._tile(node, args)
        if name in _TENSORS:
            return self._tensor(node, args, distributed=_TENSORS[name])
        if name == "pl.Scalar":
            return ScalarType(self._dtype(self._only(node, args, "a Scalar has one dtype")))
        if name == "pl.Tuple":
            return self._tuple(node, args)
        if name == "pl.Array":
            return self._array(node, args)
        return self._opaque(node)

    def _opaque(self, node: ast.expr) -> OpaqueType:
        if isinstance(node, ast.Tuple):
            raise self.source.error(node, "a type is expected, not several", "write pl.Tuple[...]")
        if isinstance(node, (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)):
            raise NotModelled
        return OpaqueType(self.exprs.opaque(node).text)

    def _only(self, node: ast.expr, args: list[ast.expr], message: str) -> ast.expr:
        if len(args) != 1:
            raise self.source.error(node, message, "write pl.Scalar[pl.INDEX], say")
        return args[0]

    def _tuple(self, node: ast.expr, args: list[ast.expr]) -> TupleType:
        exprs = self.exprs
        exprs.deeper(node)
        elements = tuple([self.type(arg) for arg in args])
        exprs.depth -= 1
        return TupleType(elements)

    def _array(self, node: ast.expr, args: list[ast.expr]) -> ArrayType:
        if len(args) != 2:
            raise self.source.error(node, "an Array has an extent and a dtype", "write pl.Array[8, pl.INT32], say")
        (extent,) = self.views.extents([args[0]])
        return ArrayType(extent, self._dtype(args[1]))

    def _dtype(self, node: ast.expr) -> str:
        value = self.exprs.expr(node)
        if not is_dtype(value):
            raise self.source.error(node, f"{self.source.quoted(node)} is not a dtype", "write pl.FP32, say")
        return value.path

    def _shape(self, node: ast.expr) -> Shape:
        if isinstance(node, (ast.List, ast.Tuple)):
            return self.views.extents(node.elts)
        value = self.exprs.expr(node)
        if not isinstance(value, ListExpr):
            raise self.source.error(node, "a shape is a list of extents", "write [16, 64], say")
        return self.views.checked([(node, item) for item in value.items])

    def _need(self, node: ast.expr, args: list[ast.expr], what: str) -> None:
        if len(args) < 2:
            raise self.source.error(node, f"a {what} needs a shape and a dtype", f"write pl.{what}[[16, 64], pl.FP32]")

    # ---------------------------------------------------------------------------- tiles

    def _tile(self, node: ast.expr, args: list[ast.expr]) -> TileType:
        self._need(node, args, "Tile")
        shape, dtype = self._shape(args[0]), self._dtype(args[1])
        space: MemorySpace | None = None
        view: TileView | None = None
        memref: str | None = None
        for arg in args[2:]:
            name = dotted_name(arg.func if isinstance(arg, ast.Call) else arg) or ""
            if name == "pl.TileView" and isinstance(arg, ast.Call):
                view = self._once(arg, view, self.views.tile_view(arg))
            elif name.startswith(_SPACES):
                space = self._once(arg, space, self._space(arg, name))
            else:
                memref = self._once(arg, memref, self._memref(arg, name, "Tile"))
        if memref is not None and space is None:
            raise self.source.error(node, f"tile with memref '{memref}' names no memory space", "add pl.Mem.Vec, say")
        return tile_type(shape, dtype, space, view, memref)

    def _once(self, node: ast.expr, old: _T | None, new: _T) -> _T:
        if old is not None:
            raise self.source.error(node, f"{self.source.quoted(node)} is the second of its kind in a type", "give one")
        return new

    def _space(self, node: ast.expr, name: str) -> MemorySpace:
        member = name.rpartition(".")[2]
        if member not in MemorySpace.__members__ or name.count(".") != 2 or isinstance(node, ast.Call):
            raise self.source.error(
                node, f"unknown memory space '{member}'", "one of " + ", ".join(MemorySpace.__members__)
            )
        return MemorySpace(member)

    def _memref(self, node: ast.expr, name: str, what: str) -> str:
        if name in self.memrefs and isinstance(node, ast.Name):
            return self.memrefs[name]
        if name != "pl.MemRef" or not isinstance(node, ast.Call):
            raise self.source.error(
                node,
                f"{self.source.quoted(node)} has no meaning in a {what} type",
                "give MemRef, space and view only" if what == "Tile" else "give view and MemRef only",
            )
        args = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        if len(args) != 1 or len(node.args) != 1 or node.keywords:
            raise self.source.error(node, "a MemRef has a name and nothing else", 'write pl.MemRef("slot")')
        return args[0]

    # -------------------------------------------------------------------------- tensors

    def _tensor(self, node: ast.expr, args: list[ast.expr], *, distributed: bool) -> TensorType:
        self._need(node, args, "Tensor")
        shape, dtype = self._shape(args[0]), self._dtype(args[1])
        view: TensorView | None = None
        memref: str | None = None
        for arg in args[2:]:
            name = dotted_name(arg.func if isinstance(arg, ast.Call) else arg) or ""
            if name == "pl.TensorView" and isinstance(arg, ast.Call):
                view = self._once(arg, view, self.views.tensor_view(arg))
            elif isinstance(arg, ast.Attribute) and name != "pl.MemRef" and name.startswith("pl."):
                view = self._once(arg, view, TensorView(layout=self.views.layout(arg, name)))
            else:
                memref = self._once(arg, memref, self._memref(arg, name, "Tensor"))
        return TensorType(shape, dtype, view, memref, distributed)
