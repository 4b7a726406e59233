"""Type annotations of the text as IR types."""

from __future__ import annotations

import ast

from tilesat.ir.nodes import Const, EnumConst, Expr, ListExpr
from tilesat.ir.parser.exprs import ExprParser, as_dim, dotted_name
from tilesat.ir.types import (
    ArrayType,
    Dim,
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

_TENSORS = {"pl.Tensor": False, "pld.DistributedTensor": True}


class TypeParser:
    """Parses annotations; the type of a text that names no variable is remembered."""

    def __init__(self, exprs: ExprParser, memrefs: set[str]) -> None:
        self.exprs = exprs
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
        type_ = self._type(node)
        names = tuple(
            part.id for part in ast.walk(node) if isinstance(part, ast.Name) and scope.lookup(part.id) is not None
        )
        if not names:
            self._closed[text] = type_
        elif all(map(scope.is_same_name, names)):
            self._open[text] = (type_, names)
        return type_

    def _type(self, node: ast.expr) -> Type:
        if not isinstance(node, ast.Subscript):
            return OpaqueType(self.source.segment(node))
        name = dotted_name(node.value)
        args = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "pl.Tile":
            return self._tile(node, args)
        if name in _TENSORS:
            return self._tensor(node, args, distributed=_TENSORS[name])
        if name == "pl.Scalar":
            return ScalarType(self._dtype(args[0]))
        if name == "pl.Tuple":
            return TupleType(tuple(self.type(arg) for arg in args))
        if name == "pl.Array" and len(args) == 2:
            return ArrayType(as_dim(self.exprs.expr(args[0])), self._dtype(args[1]))
        return OpaqueType(self.source.segment(node))

    def _dtype(self, node: ast.expr) -> str:
        name = dotted_name(node)
        if name is None or not name.startswith("pl.") or "." in name[3:]:
            raise self.source.error(node, f"'{self.source.segment(node)}' is not a dtype", "write pl.FP32, say")
        return name[3:]

    def _shape(self, node: ast.expr) -> Shape:
        value = self.exprs.expr(node)
        if not isinstance(value, ListExpr):
            raise self.source.error(node, "a shape is a list of extents", "write [16, 64], say")
        return tuple(map(as_dim, value.items))

    def _need(self, node: ast.expr, args: list[ast.expr], what: str) -> None:
        if len(args) < 2:
            raise self.source.error(node, f"a {what} needs a shape and a dtype", f"write pl.{what}[[16, 64], pl.FP32]")

    def _tile(self, node: ast.expr, args: list[ast.expr]) -> TileType:
        self._need(node, args, "Tile")
        shape, dtype = self._shape(args[0]), self._dtype(args[1])
        space: MemorySpace | None = None
        view: TileView | None = None
        memref: str | None = None
        for arg in args[2:]:
            name = dotted_name(arg.func if isinstance(arg, ast.Call) else arg)
            if name is None:
                raise self._unexpected(arg, "Tile")
            if name == "pl.TileView" and isinstance(arg, ast.Call):
                view = self._tile_view(arg)
            elif name == "pl.MemRef" and isinstance(arg, ast.Call):
                memref = self._memref(arg)
            elif name in self.memrefs:
                memref = name
            elif name.startswith(("pl.Mem.", "pl.MemorySpace.")):
                space = self._space(arg, name)
            else:
                raise self._unexpected(arg, "Tile")
        if memref is not None and space is None:
            raise self.source.error(node, f"tile with memref '{memref}' names no memory space", "add pl.Mem.Vec, say")
        return tile_type(shape, dtype, space, view, memref)

    def _unexpected(self, node: ast.expr, what: str) -> Exception:
        return self.source.error(
            node,
            f"'{self.source.segment(node)}' has no meaning in a {what} type",
            "give MemRef, space and view only",
        )

    def _space(self, node: ast.expr, name: str) -> MemorySpace:
        member = name.rpartition(".")[2]
        if member not in MemorySpace.__members__:
            raise self.source.error(
                node, f"unknown memory space '{member}'", "one of " + ", ".join(MemorySpace.__members__)
            )
        return MemorySpace(member)

    def _memref(self, node: ast.Call) -> str:
        if len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str):
            return node.args[0].value
        raise self.source.error(node, "a MemRef needs a name", 'write pl.MemRef("slot")')

    def _fields(self, node: ast.Call, known: frozenset[str]) -> dict[str, Expr]:
        fields: dict[str, Expr] = {}
        for keyword in node.keywords:
            if keyword.arg not in known:
                raise self.source.error(
                    keyword, f"unknown view field '{keyword.arg}'", "one of " + ", ".join(sorted(known))
                )
            fields[keyword.arg] = self.exprs.expr(keyword.value)
        return fields

    def _tile_view(self, node: ast.Call) -> TileView:
        fields = self._fields(node, _TILE_VIEW_FIELDS)
        fractal = fields.get("fractal")
        start = fields.get("start_offset")
        return TileView(
            valid_shape=_dims(fields.get("valid_shape")),
            stride=_dims(fields.get("stride")),
            start_offset=None if start is None else as_dim(start),
            blayout=_member(fields.get("blayout")),
            slayout=_member(fields.get("slayout")),
            fractal=int(fractal.value) if isinstance(fractal, Const) else None,
            pad=_member(fields.get("pad")),
            compact=_member(fields.get("compact")),
        )

    def _tensor(self, node: ast.expr, args: list[ast.expr], *, distributed: bool) -> TensorType:
        self._need(node, args, "Tensor")
        shape, dtype = self._shape(args[0]), self._dtype(args[1])
        view: TensorView | None = None
        memref: str | None = None
        for arg in args[2:]:
            name = dotted_name(arg.func if isinstance(arg, ast.Call) else arg)
            if name == "pl.TensorView" and isinstance(arg, ast.Call):
                view = self._tensor_view(arg)
            elif name == "pl.MemRef" and isinstance(arg, ast.Call):
                memref = self._memref(arg)
            elif name is not None and name in self.memrefs:
                memref = name
            elif name is not None and name.startswith("pl.") and isinstance(arg, ast.Attribute):
                view = TensorView(layout=name.rpartition(".")[2])
            else:
                raise self._unexpected(arg, "Tensor")
        return TensorType(shape, dtype, view, memref, distributed)

    def _tensor_view(self, node: ast.Call) -> TensorView:
        fields = self._fields(node, _TENSOR_VIEW_FIELDS)
        return TensorView(
            valid_shape=_dims(fields.get("valid_shape")),
            stride=_dims(fields.get("stride")) or (),
            layout=_member(fields.get("layout")),
            pad=_member(fields.get("pad")),
        )


_TILE_VIEW_FIELDS = frozenset(
    {"valid_shape", "stride", "start_offset", "blayout", "slayout", "fractal", "pad", "compact"}
)
_TENSOR_VIEW_FIELDS = frozenset({"valid_shape", "stride", "layout", "pad"})


def _dims(value: Expr | None) -> tuple[Dim, ...] | None:
    return tuple(map(as_dim, value.items)) if isinstance(value, ListExpr) else None


def _member(value: Expr | None) -> str | None:
    return value.path.rpartition(".")[2] if isinstance(value, EnumConst) else None
