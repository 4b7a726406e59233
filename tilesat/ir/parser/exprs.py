"""Expressions of the text as IR expressions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

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
from tilesat.ir.parser.scope import Scope
from tilesat.ir.parser.shorthand import expand_shorthand
from tilesat.ir.parser.source import Source, identifiers
from tilesat.ir.types import TileType

_BIN_OPS: dict[type, str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Div: "/",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
_COMPARE_OPS: dict[type, str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_SMALL_INTS = {value: Const(value) for value in range(-1, 1025)}
# How the peer's printer marks a use without a definition; carried, and reported by the verifier.
FREE_VAR = "__FREE_VAR"
_SCALAR_FNS = frozenset({"min", "max", "abs"})
_SUBMITS = {"submit": False, "spmd_submit": True}


class ExprParser:
    """Turns ``ast`` expressions into IR expressions, names resolved through a :class:`Scope`."""

    def __init__(self, source: Source, constants: dict[str, Const]) -> None:
        self.source = source
        self.constants = constants
        self.scope = Scope(())
        self._enums: dict[str, EnumConst] = {}

    def expr(self, node: ast.expr) -> Expr:
        handler = _HANDLERS.get(type(node))
        return self.opaque(node) if handler is None else handler(self, node)

    def exprs(self, nodes: list[ast.expr]) -> tuple[Expr, ...]:
        return tuple([self.expr(node) for node in nodes])

    def opaque(self, node: ast.expr) -> OpaqueExpr:
        """``node`` as text; names in it must keep their spelling, so renamed ones are refused."""
        text = self.source.segment(node)
        names = tuple(name for name in identifiers(text) if self.scope.lookup(name) is not None)
        for name in names:
            if not self.scope.is_same_name(name):
                raise self.source.error(
                    node,
                    f"'{text}' is not modelled and names '{name}', which is bound more than once",
                    "give the rebound variable a name of its own",
                )
        return OpaqueExpr(text, names)

    # ---------------------------------------------------------------------- leaves

    def _name(self, node: ast.Name) -> Expr:
        var = self.scope.lookup(node.id)
        if var is not None:
            return var
        constant = self.constants.get(node.id)
        if constant is not None:
            return constant
        if node.id.endswith(FREE_VAR):
            return Var(node.id)
        raise self.source.error(
            node,
            f"undefined variable '{node.id}'",
            "define it before this use, in this block or one around it",
        )

    def _constant(self, node: ast.Constant) -> Expr:
        value = node.value
        if type(value) is int:
            return _SMALL_INTS.get(value) or Const(value)
        if type(value) is float:
            return Const(value, "FP32")
        if type(value) is bool:
            return Const(value, "BOOL")
        if type(value) is str:
            quote = self.source.segment(node)[:1]
            return StrConst(value, quote if quote in ("'", '"') else "'")
        if value is None:
            return NoneConst()
        return self.opaque(node)

    def _attribute(self, node: ast.Attribute) -> Expr:
        dotted = dotted_name(node)
        if dotted is None or not dotted.startswith("pl."):
            return self.opaque(node)
        return self.enum(dotted[3:])

    def enum(self, path: str) -> EnumConst:
        known = self._enums.get(path)
        if known is None:
            canonical = "Mem." + path[12:] if path.startswith("MemorySpace.") else path
            known = self._enums[path] = EnumConst(canonical)
        return known

    # ----------------------------------------------------------------- combinations

    def _list(self, node: ast.List | ast.Tuple) -> Expr:
        return ListExpr(self.exprs(node.elts))

    def _dict(self, node: ast.Dict) -> Expr:
        items = self.named_items(node)
        return self.opaque(node) if items is None else DictExpr(items)

    def named_items(self, node: ast.expr) -> NamedExprs | None:
        """The items of a dict display with string keys, else ``None``."""
        if not isinstance(node, ast.Dict):
            return None
        items = []
        for key, value in zip(node.keys, node.values, strict=True):
            if not (isinstance(key, ast.Constant) and isinstance(key.value, str)):
                return None
            items.append((key.value, self.expr(value)))
        return tuple(items)

    def _binop(self, node: ast.BinOp) -> Expr:
        op = _BIN_OPS.get(type(node.op))
        return self.opaque(node) if op is None else BinOp(op, self.expr(node.left), self.expr(node.right))

    def _compare(self, node: ast.Compare) -> Expr:
        op = _COMPARE_OPS.get(type(node.ops[0]))
        if len(node.ops) != 1 or op is None:
            return self.opaque(node)
        return BinOp(op, self.expr(node.left), self.expr(node.comparators[0]))

    def _boolop(self, node: ast.BoolOp) -> Expr:
        op = "and" if isinstance(node.op, ast.And) else "or"
        result = self.expr(node.values[0])
        for value in node.values[1:]:
            result = BinOp(op, result, self.expr(value))
        return result

    def _unary(self, node: ast.UnaryOp) -> Expr:
        if isinstance(node.op, ast.Not):
            return UnaryOp("not", self.expr(node.operand))
        if isinstance(node.op, ast.Invert):
            return UnaryOp("~", self.expr(node.operand))
        operand = self.expr(node.operand)
        if isinstance(node.op, ast.UAdd):
            return operand
        is_literal = isinstance(node.operand, ast.Constant) and isinstance(operand, Const)
        if is_literal and isinstance(operand, Const) and operand.dtype != "BOOL":
            return Const(-operand.value, operand.dtype)
        return UnaryOp("-", operand)

    def _subscript(self, node: ast.Subscript) -> Expr:
        index = node.slice
        if isinstance(index, ast.Constant) and type(index.value) is int:
            return TupleGet(self.expr(node.value), index.value)
        return self.opaque(node)

    # ------------------------------------------------------------------------ calls

    def _call(self, node: ast.Call) -> Expr:
        dotted = dotted_name(node.func)
        if dotted is None:
            return self.opaque(node)
        root, _, rest = dotted.partition(".")
        if root == "pl":
            return self._language_call(node, rest)
        if root == "pld" and rest:
            return self._op_call(node, dotted)
        if root == "self" and rest and "." not in rest:
            kwargs, attrs = self._keywords(node)
            return FuncCall(rest, self.exprs(node.args), kwargs, attrs)
        if dotted == "float" and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
            return Const(float(node.args[0].value), "FP32")  # type: ignore[arg-type]
        return self.opaque(node)

    def _language_call(self, node: ast.Call, name: str) -> Expr:
        if "." in name:
            return self._op_call(node, name)
        if name == "const":
            return self._typed_const(node)
        if name in _SUBMITS:
            return self._submit(node, spmd=_SUBMITS[name])
        args = self.exprs(node.args)
        on_tile = bool(args) and isinstance(self.scope.type_of(args[0]), TileType)
        if name == "cast" and not on_tile and len(args) == 2 and isinstance(args[1], EnumConst):
            return Cast(args[0], args[1].path)
        if name in _SCALAR_FNS and not on_tile and not node.keywords:
            return ScalarFn(name, args)
        kwargs, attrs = self._keywords(node)
        return expand_shorthand(OpCall(name, args, kwargs, attrs), self.scope.type_of)

    def _op_call(self, node: ast.Call, name: str) -> Expr:
        op = name.rstrip("_") if name.endswith("_") else name
        kwargs, attrs = self._keywords(node) if node.keywords else ((), ())
        return OpCall(op, self.exprs(node.args), kwargs, attrs)

    def _keywords(self, node: ast.Call) -> tuple[NamedExprs, NamedExprs]:
        """Keywords and attrs of a call."""
        kwargs: list[tuple[str, Expr]] = []
        attrs: NamedExprs = ()
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.source.error(keyword, "'**' arguments are not supported", "name each keyword")
            items = self.named_items(keyword.value) if keyword.arg == "attrs" else None
            if items is not None:
                attrs = items
            else:
                kwargs.append((keyword.arg, self.expr(keyword.value)))
        return tuple(kwargs), attrs

    def _typed_const(self, node: ast.Call) -> Expr:
        args = self.exprs(node.args)
        if len(args) != 2 or not isinstance(args[0], Const) or not isinstance(args[1], EnumConst):
            raise self.source.error(node, "malformed constant", "write pl.const(value, pl.DTYPE)")
        return Const(args[0].value, args[1].path)

    def _submit(self, node: ast.Call, *, spmd: bool) -> Expr:
        callee = dotted_name(node.args[0]) if node.args else None
        if callee is None or not callee.startswith("self."):
            raise self.source.error(node, "a submit names no function", "write pl.submit(self.f, ...)")
        kwargs, attrs = self._keywords(node)
        return Submit(callee[5:], self.exprs(node.args[1:]), kwargs, attrs, spmd)


def dotted_name(node: ast.expr) -> str | None:
    """``a.b.c`` as written, or ``None`` for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    parts.append(node.id)
    return ".".join(reversed(parts))


_HANDLERS: dict[type, Callable[[ExprParser, Any], Expr]] = {
    ast.Name: ExprParser._name,
    ast.Constant: ExprParser._constant,
    ast.Attribute: ExprParser._attribute,
    ast.List: ExprParser._list,
    ast.Tuple: ExprParser._list,
    ast.Dict: ExprParser._dict,
    ast.BinOp: ExprParser._binop,
    ast.Compare: ExprParser._compare,
    ast.BoolOp: ExprParser._boolop,
    ast.UnaryOp: ExprParser._unary,
    ast.Subscript: ExprParser._subscript,
    ast.Call: ExprParser._call,
}


def as_dim(expr: Expr) -> int | Expr:
    """A shape entry: plain ``int`` for an index constant."""
    if isinstance(expr, Const) and expr.dtype == "INDEX" and isinstance(expr.value, int):
        return expr.value
    return expr
