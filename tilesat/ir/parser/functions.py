"""Functions of the text: decorator, parameters, results, attributes, body."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from tilesat.errors import ParseError
from tilesat.ir.nodes import Comment, DictExpr, EnumConst, Expr, Function, NamedExprs, Param
from tilesat.ir.parser.exprs import ExprParser, check_keywords, dotted_name
from tilesat.ir.parser.opaque import NotModelled
from tilesat.ir.parser.scope import Place, ReservedName, Scope, reserved
from tilesat.ir.parser.signatures import Signatures
from tilesat.ir.parser.stmts import StmtParser, docstring, docstring_comments
from tilesat.ir.parser.types import TypeParser
from tilesat.ir.parser.values import ValueParser
from tilesat.ir.types import Direction, Type

_DIRECTIONS = {"pl.Out": Direction.Out, "pl.InOut": Direction.InOut, "pl.In": Direction.In}
# What the language fills in when a function states only its type: (level, role).
_DEFAULTS = {
    "InCore": ("CHIP_DIE", "SubWorker"),
    "Orchestration": ("CHIP", "Orchestrator"),
    "Group": ("CORE_GROUP", "SubWorker"),
    "AIC": ("AIC", "SubWorker"),
    "AIV": ("AIV", "SubWorker"),
}


@dataclass(frozen=True, slots=True)
class Header:
    """A function without its body, and the scope that its body starts with."""

    node: ast.FunctionDef
    function: Function
    scope: Scope


class FunctionParser:
    """Parses functions: first all headers, because calls need the results of other functions, then bodies."""

    def __init__(self, exprs: ExprParser, memrefs: dict[str, str], dims: dict[str, str]) -> None:
        self.exprs = exprs
        self.source = exprs.source
        self.dims = dims
        self.types = TypeParser(exprs, memrefs)
        self.signatures = Signatures(dims.values())
        self.stmts = StmtParser(exprs, self.types, ValueParser(exprs, self.signatures))

    # --------------------------------------------------------------------------- header

    def header(self, node: ast.FunctionDef) -> Header:
        try:
            return self._header(node)
        except NotModelled:
            raise self._no_value(node) from None
        except ReservedName as error:
            raise self.source.error(node, *reserved(error)) from None

    def _no_value(self, node: ast.FunctionDef) -> ParseError:
        message = f"'{node.name}' has ':=', 'yield', 'await' or a generator where a value is needed"
        return self.source.error(node, message, "write a value, or a name bound to it")

    def _header(self, node: ast.FunctionDef) -> Header:
        scope = self.exprs.scope = Scope(self.dims, self.exprs.verbatim)
        options = self._decorator(node)
        kind = self._member(options, "type", "FunctionType") or "Opaque"
        level, role = self._member(options, "level", "Level"), self._member(options, "role", "Role")
        if level is None and role is None:
            level, role = _DEFAULTS.get(kind, (None, None))
        attrs = self._attrs(options)
        params, returns = self._params(node), self._returns(node)
        self.signatures.add(node.name, params, returns)
        rest = tuple((key, value) for key, (_, value) in options.items())
        return Header(node, Function(node.name, params, returns, (), kind, level, role, rest, attrs), scope)

    def _decorator(self, node: ast.FunctionDef) -> dict[str, tuple[ast.expr, Expr]]:
        """The keywords of the decorator, with the place of each."""
        if len(node.decorator_list) > 1:
            raise self.source.error(
                node.decorator_list[1], f"'{node.name}' has more than one decorator", "keep @pl.function only"
            )
        decorator = node.decorator_list[0] if node.decorator_list else None
        call = decorator if isinstance(decorator, ast.Call) else None
        name = call.func if call is not None else decorator
        if name is None or dotted_name(name) != "pl.function":
            raise self.source.error(node, f"'{node.name}' is no tile function", "decorate it with @pl.function(...)")
        if call is None:
            return {}
        if call.args:
            raise self.source.error(call.args[0], "a decorator has keywords only", "write type=pl.FunctionType.InCore")
        check_keywords(self.source, call.keywords)
        return {k.arg or "": (k.value, self.exprs.expr(k.value)) for k in call.keywords}

    def _member(self, options: dict[str, tuple[ast.expr, Expr]], key: str, enum: str) -> str | None:
        if key not in options:
            return None
        node, value = options.pop(key)
        head, _, member = value.path.rpartition(".") if isinstance(value, EnumConst) else ("", "", "")
        if head != enum:
            raise self.source.error(node, f"{self.source.quoted(node)} is no {enum}", f"write pl.{enum}.<member>")
        return member

    def _attrs(self, options: dict[str, tuple[ast.expr, Expr]]) -> NamedExprs:
        if "attrs" not in options:
            return ()
        node, value = options.pop("attrs")
        if not isinstance(value, DictExpr):
            raise self.source.error(node, "malformed function attributes", 'write attrs={"name": value}')
        return value.items

    def _params(self, node: ast.FunctionDef) -> tuple[Param, ...]:
        scope, arguments = self.exprs.scope, node.args
        special = (arguments.vararg, arguments.kwarg, arguments.kwonlyargs, arguments.posonlyargs, arguments.defaults)
        if any(special) or getattr(node, "type_params", None):
            raise self.source.error(
                node, f"'{node.name}' has parameters that are not plain", "write no defaults, *, **, / or [T]"
            )
        args = arguments.args
        if args and args[0].arg == "self" and args[0].annotation is None:
            args = args[1:]
        # All names first: a shape may depend on a scalar that comes later.
        uniques: dict[str, str] = {}
        for arg in args:
            if arg.arg in uniques:
                raise self.source.error(arg, f"parameter '{arg.arg}' is named twice", "rename one of them")
            uniques[arg.arg] = scope.bind(arg.arg, None)
        return tuple([self._param(arg, uniques[arg.arg]) for arg in args])

    def _param(self, arg: ast.arg, unique: str) -> Param:
        if arg.annotation is None:
            raise self.source.error(
                arg, f"parameter '{arg.arg}' has no type", f"annotate it: {arg.arg}: pl.Tensor[[16, 64], pl.FP32], say"
            )
        direction, annotation = Direction.In, arg.annotation
        if isinstance(annotation, ast.Subscript):
            stated = _DIRECTIONS.get(dotted_name(annotation.value) or "")
            if stated is not None:
                direction, annotation = stated, annotation.slice
        type_ = self.types.type(annotation)
        self.exprs.scope.types[unique] = type_
        return Param(unique, type_, direction)

    def _returns(self, node: ast.FunctionDef) -> tuple[Type, ...]:
        annotation = node.returns
        if annotation is None or (isinstance(annotation, ast.Constant) and annotation.value is None):
            return ()
        if isinstance(annotation, ast.Subscript) and dotted_name(annotation.value) == "tuple":
            inner = annotation.slice
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            if len(parts) == 1 and isinstance(parts[0], ast.Constant) and parts[0].value is None:
                return ()
            return tuple([self.types.type(part) for part in parts])
        return (self.types.type(annotation),)

    # ----------------------------------------------------------------------------- body

    def body(self, header: Header, end: int, *, is_last: bool) -> Function:
        """The whole function; ``end`` is the line where the text after it begins."""
        self.exprs.scope = header.scope
        try:
            return self._body(header, end, is_last)
        except NotModelled:
            raise self._no_value(header.node) from None

    def _body(self, header: Header, end: int, is_last: bool) -> Function:
        node, attrs = header.node, header.function.attrs
        nodes, comments = list(node.body), self._leading(node)
        comments += self._docstrings(nodes)
        if nodes and _is_func_attr(nodes[0]):
            attrs = (*attrs, *self._func_attr(nodes.pop(0)))
        # What is indented at all belongs to the last function; before others it belongs to the next one.
        indent = 1 if is_last else node.body[0].col_offset
        body = self.stmts.block(nodes, end, Place("function", node.lineno), indent)
        if body.yielded is not None:
            raise self.source.error(body.yielded.node, "pl.yield_ outside a loop or branch", "use return")
        return replace(header.function, body=(*comments, *body.block), attrs=attrs)

    def _leading(self, node: ast.FunctionDef) -> list[Comment]:
        """Comments above the function, and in its header."""
        header_end = max([node.lineno, *(part.end_lineno or 0 for part in _header_parts(node))])
        return [Comment(c.text) for c in self.source.take_comments(header_end + 1)]

    def _docstrings(self, nodes: list[ast.stmt]) -> list[Comment]:
        """The strings that ``nodes`` begin with, as comments; a ``pass`` between them says nothing."""
        comments: list[Comment] = []
        while nodes:
            text = docstring(nodes[0])
            if text is None and not isinstance(nodes[0], ast.Pass):
                break
            first = nodes.pop(0)
            comments += [Comment(c.text) for c in self.source.take_comments(first.lineno)]
            self.source.skip_comments((first.end_lineno or first.lineno) + 1)
            comments += docstring_comments(text or "")
        return comments

    def _func_attr(self, node: ast.stmt) -> NamedExprs:
        call = node.value if isinstance(node, ast.Expr) else None
        items = None
        if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:
            items = self.exprs.named_items(call.args[0])
        if items is None:
            raise self.source.error(node, "malformed function attributes", 'write pl.func_attr({"name": value})')
        return items


def _header_parts(node: ast.FunctionDef) -> list[ast.expr | ast.arg]:
    parts: list[ast.expr | ast.arg] = list(node.args.args)
    return [*parts, node.returns] if node.returns is not None else parts


def _is_func_attr(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and dotted_name(node.value.func) == "pl.func_attr"
    )
