"""Extents and view fields of the text."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tilesat.ir.nodes import Const, EnumConst, Expr, ListExpr
from tilesat.ir.parser.exprs import ExprParser, check_keywords
from tilesat.ir.types import Dim, Shape, TensorView, TileView

_LAYOUTS = ("ND", "DN", "NZ", "MX_A_ZZ", "MX_B_NN")
_TILE_VIEW_FIELDS = (
    "valid_shape",
    "stride",
    "start_offset",
    "blayout",
    "slayout",
    "fractal",
    "pad",
    "compact",
)
_TENSOR_VIEW_FIELDS = ("valid_shape", "stride", "layout", "pad")


class ViewParser:
    """Parses what stands inside ``pl.TileView(...)``, ``pl.TensorView(...)`` and lists of extents."""

    def __init__(self, exprs: ExprParser) -> None:
        self.exprs = exprs
        self.source = exprs.source

    # -------------------------------------------------------------------------- extents

    def extents(self, nodes: list[ast.expr]) -> Shape:
        """Extents of a shape: integers that are not negative, and scalar expressions."""
        return self.checked([(node, self.exprs.scalar(node, "an extent")) for node in nodes])

    def checked(self, items: Sequence[tuple[ast.expr, Expr]]) -> Shape:
        dims = tuple([self._dim(node, value) for node, value in items])
        for (node, _), dim in zip(items, dims, strict=True):
            if isinstance(dim, int) and dim < 0:
                raise self.source.error(node, f"the extent {dim} is negative", "extents count elements")
        return dims

    def _dim(self, node: ast.expr, value: Expr) -> Dim:
        if not isinstance(value, Const):
            return value
        if not isinstance(value.value, int) or isinstance(value.value, bool):
            raise self.source.error(node, f"{self.source.quoted(node)} is no integer", "write an integer expression")
        return value.value if value.dtype == "INDEX" else value

    def _dims(self, node: ast.expr | None) -> tuple[Dim, ...] | None:
        if node is None:
            return None
        if isinstance(node, (ast.List, ast.Tuple)):
            return tuple([self._dim(part, self.exprs.scalar(part, "an entry of a view")) for part in node.elts])
        value = self.exprs.expr(node)
        if not isinstance(value, ListExpr):
            raise self.source.error(node, f"{self.source.quoted(node)} is no list", "write [16, 64], say")
        return tuple([self._dim(node, item) for item in value.items])

    # ---------------------------------------------------------------------------- views

    def tile_view(self, node: ast.Call) -> TileView:
        fields = self._fields(node, _TILE_VIEW_FIELDS)
        start, fractal = fields.get("start_offset"), fields.get("fractal")
        return TileView(
            valid_shape=self._dims(fields.get("valid_shape")),
            stride=self._dims(fields.get("stride")),
            start_offset=None if start is None else self._dim(start, self.exprs.scalar(start, "the start offset")),
            blayout=self._member(fields.get("blayout"), "TileLayout"),
            slayout=self._member(fields.get("slayout"), "TileLayout"),
            fractal=None if fractal is None else self._fractal(fractal),
            pad=self._member(fields.get("pad"), "PadValue"),
            compact=self._member(fields.get("compact"), "CompactMode"),
        )

    def tensor_view(self, node: ast.Call) -> TensorView:
        fields = self._fields(node, _TENSOR_VIEW_FIELDS)
        return TensorView(
            valid_shape=self._dims(fields.get("valid_shape")),
            stride=self._dims(fields.get("stride")) or (),
            layout=self._member(fields.get("layout"), "TensorLayout"),
            pad=self._member(fields.get("pad"), "PadValue"),
        )

    def layout(self, node: ast.expr, name: str) -> str:
        """The layout of a tensor in short form: ``pl.NZ``."""
        member = name.removeprefix("pl.").removeprefix("TensorLayout.")
        if member not in _LAYOUTS:
            raise self.source.error(
                node, f"'{name}' is no layout of a tensor", "one of " + ", ".join(f"pl.{one}" for one in _LAYOUTS)
            )
        return member

    def _fields(self, node: ast.Call, known: tuple[str, ...]) -> dict[str, ast.expr]:
        if node.args:
            raise self.source.error(node.args[0], "a view has named fields only", "one of " + ", ".join(known))
        check_keywords(self.source, node.keywords)
        fields: dict[str, ast.expr] = {}
        for keyword in node.keywords:
            if keyword.arg not in known:
                raise self.source.error(keyword, f"unknown view field '{keyword.arg}'", "one of " + ", ".join(known))
            fields[keyword.arg] = keyword.value
        return fields

    def _fractal(self, node: ast.expr) -> int:
        dim = self._dim(node, self.exprs.expr(node))
        if not isinstance(dim, int):
            raise self.source.error(node, "the fractal of a view is a constant", "write fractal=512, say")
        return dim

    def _member(self, node: ast.expr | None, enum: str) -> str | None:
        if node is None:
            return None
        value = self.exprs.expr(node)
        head, _, member = value.path.rpartition(".") if isinstance(value, EnumConst) else ("", "", "")
        if head != enum:
            raise self.source.error(node, f"{self.source.quoted(node)} is no {enum}", f"write pl.{enum}.<member>")
        return member
