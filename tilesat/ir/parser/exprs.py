"""Expressions of the text as IR expressions."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from typing import Any, NoReturn, TypeGuard

from tilesat.errors import ParseError
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
from tilesat.ir.parser.opaque import NotModelled, renames_in
from tilesat.ir.parser.scope import Scope, not_handed_out
from tilesat.ir.parser.shorthand import expand_shorthand, op_name
from tilesat.ir.parser.source import Source
from tilesat.ir.types import ArrayType, TensorType, TileType, TupleType

BIN_OPS: dict[type, str] = {
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
_UNARY_OPS: dict[type, str] = {ast.Not: "not", ast.Invert: "~", ast.UAdd: "+", ast.USub: "-"}
_NO_SCALARS: dict[type, str] = {
    TileType: "tile",
    TensorType: "tensor",
    TupleType: "tuple",
    ArrayType: "scalar array",
}
_NO_NUMBERS = (StrConst, NoneConst, ListExpr, DictExpr, EnumConst)
_SMALL_INTS = {value: Const(value) for value in range(-1, 1025)}
# One object, because a NaN equals nothing but itself.
_NAN = math.nan
# How the peer's printer marks a use without a definition; carried, and reported by the verifier.
FREE_VAR = "__FREE_VAR"
# Deep enough for any program, shallow enough for every recursive walk over the result.
MAX_DEPTH = 100
_SCALAR_FNS = frozenset({"min", "max", "abs"})
_SUBMITS = {"submit": False, "spmd_submit": True}
_FLOATS = {"inf", "-inf", "nan"}


class ExprParser:
    """Turns ``ast`` expressions into IR expressions, names resolved through a :class:`Scope`.

    ``constants`` are the module's named constants, which are replaced by their values; ``verbatim`` the
    other names of the module, which stay as they are; ``mentioned`` collects what carried texts name.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.constants: dict[str, Expr] = {}
        self.verbatim: set[str] = set()
        self.mentioned: set[str] = set()
        self.scope = Scope({})
        self.depth = 0
        self._enums: dict[str, EnumConst] = {}

    def expr(self, node: ast.expr) -> Expr:
        kind = type(node)
        if kind is ast.Name:
            return self.scope.bound.get(node.id) or self._name(node)  # type: ignore[attr-defined, arg-type]
        handler = _HANDLERS.get(kind)
        if handler is None:
            return self.opaque(node)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._too_deep(node)
        result = handler(self, node)
        self.depth -= 1
        return result

    def exprs(self, nodes: list[ast.expr]) -> tuple[Expr, ...]:
        return tuple([self.expr(node) for node in nodes])

    def deeper(self, node: ast.AST, levels: int = 1) -> None:
        """Count levels of nesting; the caller takes them back."""
        self.depth += levels
        if self.depth > MAX_DEPTH:
            raise self._too_deep(node)

    def _too_deep(self, node: ast.AST) -> ParseError:
        return self.source.error(node, "the expression is nested too deeply", "bind parts of it to names")

    def opaque(self, node: ast.expr) -> OpaqueExpr:
        """``node`` as its text."""
        text, names = self.spelled(node)
        if "\n" in text:
            self.source.drop_comments(node)
            if not isinstance(node, ast.Starred) and not _stands_alone(text):
                text = f"({text})"
        return OpaqueExpr(text, names)

    def spelled(self, node: ast.expr) -> tuple[str, tuple[str, ...]]:
        """The text of ``node``, verbatim but for renamed variables, and the variables in it."""
        names, renames = renames_in(node, self.scope, self.source, self.mentioned)
        text = "\n".join(self.source.region(node, renames)) if renames else self.source.segment(node)
        return text, names

    def _not_modelled(self, node: ast.expr) -> NoReturn:
        raise NotModelled

    # ---------------------------------------------------------------------- leaves

    def _name(self, node: ast.Name) -> Expr:
        name = node.id
        place = self.scope.ended(name)
        if place is not None:
            raise self.source.error(node, *not_handed_out(name, place))
        constant = self.constants.get(name)
        if constant is not None:
            return constant
        if name in self.verbatim:
            self.mentioned.add(name)
            return OpaqueExpr(name)
        if name.endswith(FREE_VAR):
            return Var(name)
        raise self.source.error(
            node, f"undefined variable '{name}'", "define it before this use, in this block or one around it"
        )

    def _constant(self, node: ast.Constant) -> Expr:
        value = node.value
        kind = type(value)
        if kind is int:
            return _SMALL_INTS.get(value) or self._integer(node, value)  # type: ignore[arg-type]
        if kind is float:
            return Const(value, "FP32")  # type: ignore[arg-type]
        if kind is bool:
            return Const(value, "BOOL")  # type: ignore[arg-type]
        if kind is str:
            if node.lineno != node.end_lineno:
                self.source.drop_comments(node)
            quote = self.source.segment(node)[:1]
            return StrConst(value, quote if quote in ("'", '"') else "'")  # type: ignore[arg-type]
        return NoneConst() if value is None else self.opaque(node)

    def _integer(self, node: ast.expr, value: int) -> Const:
        if not -(1 << 63) <= value < 1 << 64:
            raise self.source.error(node, "the integer does not fit into 64 bits", "write a smaller one")
        return Const(value)

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
        op = BIN_OPS.get(type(node.op))
        return self._binary(node, op, node.left, node.right)

    def _compare(self, node: ast.Compare) -> Expr:
        op = _COMPARE_OPS.get(type(node.ops[0])) if len(node.ops) == 1 else None
        return self._binary(node, op, node.left, node.comparators[0])

    def _binary(self, node: ast.expr, op: str | None, left: ast.expr, right: ast.expr) -> Expr:
        if op is None:
            return self.opaque(node)
        lhs, rhs = self._operand(left, op), self._operand(right, op)
        return self.opaque(node) if lhs is None or rhs is None else BinOp(op, lhs, rhs)

    def _boolop(self, node: ast.BoolOp) -> Expr:
        op = "and" if isinstance(node.op, ast.And) else "or"
        extra = len(node.values) - 2
        self.deeper(node, extra)
        operands = [self._operand(value, op) for value in node.values]
        self.depth -= extra
        result, *rest = operands
        for operand in rest:
            if result is None or operand is None:
                return self.opaque(node)
            result = BinOp(op, result, operand)
        return result or self.opaque(node)

    def _unary(self, node: ast.UnaryOp) -> Expr:
        op = _UNARY_OPS[type(node.op)]
        operand = self._operand(node.operand, op)
        if operand is None:
            return self.opaque(node)
        if op == "+":
            return operand
        is_literal = isinstance(node.operand, (ast.Constant, ast.Name))
        if op == "-" and is_literal and isinstance(operand, Const) and operand.dtype != "BOOL":
            return Const(-operand.value, operand.dtype)
        return UnaryOp(op, operand)

    def _operand(self, node: ast.expr, op: str) -> Expr | None:
        """An operand of a scalar operator, ``None`` for a value that only Python could compute with."""
        value = self.expr(node)
        if isinstance(value, Var):
            kind = _NO_SCALARS.get(type(self.scope.types.get(value.name)))
            if kind is not None:
                hint = "operators are for scalars: call an op, pl.add(a, b), say"
                raise self.source.error(node, f"{self.source.quoted(node)}, an operand of '{op}', is a {kind}", hint)
        return None if isinstance(value, _NO_NUMBERS) else value

    def scalar(self, node: ast.expr, what: str) -> Expr:
        """The expression ``node``, which must not be known to be anything but a number or truth value."""
        value = self.expr(node)
        kind = _NO_SCALARS.get(type(self.scope.type_of(value)))
        if kind is None and not isinstance(value, _NO_NUMBERS):
            return value
        found = f"a {kind}" if kind is not None else f"{self.source.quoted(node)}"
        raise self.source.error(node, f"{what} is {found}", "a scalar is needed")

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
        if root == "pl" and rest:
            return self._language_call(node, rest)
        if root == "pld" and rest:
            return self._op_call(node, dotted)
        if root == "self" and rest and "." not in rest:
            kwargs, attrs = self.keywords(node)
            return FuncCall(rest, self.exprs(node.args), kwargs, attrs)
        if dotted == "float":
            return self._float(node)
        return self.opaque(node)

    def _float(self, node: ast.Call) -> Expr:
        """``float("inf")``: how a float without literal is written."""
        arg = node.args[0] if len(node.args) == 1 and not node.keywords else None
        if isinstance(arg, ast.Constant) and isinstance(arg.value, str) and arg.value in _FLOATS:
            return Const(_NAN if arg.value == "nan" else float(arg.value), "FP32")
        return self.opaque(node)

    def _language_call(self, node: ast.Call, name: str) -> Expr:
        if "." in name:
            return self._op_call(node, name)
        if name == "const":
            return self._typed_const(node)
        if name in _SUBMITS:
            return self._submit(node, spmd=_SUBMITS[name])
        if name == "yield_":
            raise self.source.error(node, "pl.yield_ inside an expression", "make it the last statement of its block")
        args = self.exprs(node.args)
        on_data = bool(args) and isinstance(self.scope.type_of(args[0]), (TileType, TensorType))
        if not on_data and not node.keywords:
            if name == "cast" and len(args) == 2 and is_dtype(args[1]):
                return Cast(args[0], args[1].path)
            if name in _SCALAR_FNS:
                return ScalarFn(name, args)
        kwargs, attrs = self.keywords(node)
        return expand_shorthand(OpCall(op_name(name), args, kwargs, attrs), self.scope.type_of)

    def _op_call(self, node: ast.Call, name: str) -> Expr:
        kwargs, attrs = self.keywords(node) if node.keywords else ((), ())
        return OpCall(op_name(name) if name[-1] == "_" else name, self.exprs(node.args), kwargs, attrs)

    def keywords(self, node: ast.Call) -> tuple[NamedExprs, NamedExprs]:
        """Keywords and attrs of a call."""
        check_keywords(self.source, node.keywords)
        kwargs: list[tuple[str, Expr]] = []
        attrs: NamedExprs = ()
        for keyword in node.keywords:
            name = keyword.arg or ""
            items = self.named_items(keyword.value) if name == "attrs" else None
            if items is not None:
                attrs = items
            else:
                kwargs.append((name, self.expr(keyword.value)))
        return tuple(kwargs), attrs

    def _typed_const(self, node: ast.Call) -> Expr:
        args = self.exprs(node.args)
        if len(args) != 2 or node.keywords or not isinstance(args[0], Const) or not is_dtype(args[1]):
            raise self.source.error(node, "malformed constant", "write pl.const(value, pl.DTYPE)")
        value, dtype = args[0].value, args[1].path
        return Const(int(value) if isinstance(value, bool) and dtype != "BOOL" else value, dtype)

    def _submit(self, node: ast.Call, *, spmd: bool) -> Expr:
        callee = dotted_name(node.args[0]) if node.args else None
        if callee is None or not callee.startswith("self.") or callee.count(".") != 1:
            raise self.source.error(node, "a submit names no function", "write pl.submit(self.f, ...)")
        kwargs, attrs = self.keywords(node)
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


def check_keywords(source: Source, keywords: list[ast.keyword]) -> None:
    """Raise for ``**`` arguments and for a keyword given twice."""
    seen: set[str] = set()
    for keyword in keywords:
        if keyword.arg is None:
            raise source.error(keyword, "'**' arguments are not supported", "name each keyword")
        if keyword.arg in seen:
            raise source.error(keyword, f"keyword '{keyword.arg}' is given twice", "give it once")
        seen.add(keyword.arg)


def is_dtype(expr: Expr) -> TypeGuard[EnumConst]:
    return isinstance(expr, EnumConst) and "." not in expr.path


def as_dim(expr: Expr) -> int | Expr:
    """A shape entry: plain ``int`` for an index constant."""
    if isinstance(expr, Const) and expr.dtype == "INDEX" and isinstance(expr.value, int):
        return expr.value
    return expr


def _stands_alone(text: str) -> bool:
    """Whether a text of several lines is one expression without brackets around it."""
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


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
    # These bind names or suspend: they are no values that could be kept apart from their statement.
    ast.NamedExpr: ExprParser._not_modelled,
    ast.Yield: ExprParser._not_modelled,
    ast.YieldFrom: ExprParser._not_modelled,
    ast.Await: ExprParser._not_modelled,
    # Its brackets may be those of the call around it.
    ast.GeneratorExp: ExprParser._not_modelled,
}
