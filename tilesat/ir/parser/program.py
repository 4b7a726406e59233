"""Modules and functions of the text."""

from __future__ import annotations

import ast
import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tilesat.errors import Location, ParseError
from tilesat.ir.nodes import Const, EnumConst, Expr, Function, NamedExprs, Param, Program
from tilesat.ir.parser.exprs import ExprParser, dotted_name
from tilesat.ir.parser.scope import Scope
from tilesat.ir.parser.source import Source
from tilesat.ir.parser.stmts import StmtParser
from tilesat.ir.parser.types import TypeParser
from tilesat.ir.types import Direction, Type

if TYPE_CHECKING:
    from collections.abc import Iterator

_TITLE = "# pypto.program: "
_DIRECTIONS = {"pl.Out": Direction.Out, "pl.InOut": Direction.InOut, "pl.In": Direction.In}
# What the language fills in when a function states only its type: (level, role).
_DEFAULTS = {
    "InCore": ("CHIP_DIE", "SubWorker"),
    "Orchestration": ("CHIP", "Orchestrator"),
    "Group": ("CORE_GROUP", "SubWorker"),
    "AIC": ("AIC", "SubWorker"),
    "AIV": ("AIV", "SubWorker"),
}


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A syntax tree is one big live structure: collecting while it grows only costs time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def parse_text(text: str, file: str | None = None) -> Program:
    """The program in ``text``; ``file`` names it in errors.

    Raises :class:`tilesat.ParseError` with line and column for text that is no tile program.
    """
    with _collector_paused():
        try:
            module = ast.parse(text)
        except SyntaxError as error:
            raise ParseError(
                error.msg or "invalid syntax", location=Location(file, error.lineno, error.offset)
            ) from None
        return _ModuleParser(Source(text, file)).program(module)


class _ModuleParser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.dims: list[str] = []
        self.constants: dict[str, Const] = {}
        self.memrefs: set[str] = set()
        self.preamble: list[str] = []
        self.exprs = ExprParser(source, self.constants)
        self.types = TypeParser(self.exprs, self.memrefs)
        self.stmts = StmtParser(self.exprs, self.types)

    def program(self, module: ast.Module) -> Program:
        classes: list[ast.ClassDef] = []
        for node in module.body:
            if isinstance(node, ast.ClassDef):
                classes.append(node)
            elif not isinstance(node, (ast.Import, ast.ImportFrom)):
                self._module_statement(node)
        if len(classes) != 1:
            raise ParseError(
                f"the text has {len(classes)} program classes",
                location=Location(self.source.file, classes[1].lineno if classes else 1),
                hint="write exactly one class under @pl.program",
            )
        functions = tuple(self._function(node) for node in classes[0].body if not isinstance(node, ast.Pass))
        self._check_names(classes[0], functions)
        return Program(
            self._title(classes[0].name),
            functions,
            tuple(self.dims),
            tuple(self.preamble),
            final_newline=self.source.text.endswith("\n"),
        )

    def _title(self, default: str) -> str:
        first = self.source.lines[0] if self.source.lines else ""
        return first[len(_TITLE) :] if first.startswith(_TITLE) else default

    def _check_names(self, node: ast.ClassDef, functions: tuple[Function, ...]) -> None:
        seen: set[str] = set()
        for function, child in zip(functions, node.body, strict=False):
            if function.name in seen:
                raise self.source.error(child, f"function '{function.name}' is defined twice", "rename one of them")
            seen.add(function.name)

    def _module_statement(self, node: ast.stmt) -> None:
        """``NB = pl.dynamic("NB")``, ``slot = pl.MemRef()``, integer constants; the rest verbatim."""
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name):
            name = dotted_name(node.value.func) if isinstance(node.value, ast.Call) else None
            if name == "pl.dynamic":
                self.dims.append(target.id)
                return
            if name == "pl.MemRef":
                self.memrefs.add(target.id)
                return
            if isinstance(node.value, ast.Constant) and type(node.value.value) is int:
                self.constants[target.id] = Const(node.value.value)
                return
        self.preamble += self.source.statement_lines(node)

    # ---------------------------------------------------------------------- functions

    def _function(self, node: ast.stmt) -> Function:
        if not isinstance(node, ast.FunctionDef):
            raise self.source.error(node, "a program holds only functions", "move this out of the class")
        options = self._decorator(node)
        kind = _member(options.pop("type", None)) or "Opaque"
        default_level, default_role = _DEFAULTS.get(kind, (None, None))
        level, role = _member(options.pop("level", None)), _member(options.pop("role", None))
        if level is None and role is None:
            level, role = default_level, default_role
        attrs = self._attrs(node, options)
        self.exprs.scope = Scope(tuple(self.dims))
        params = self._params(node)
        returns = self._returns(node)
        self.source.skip_comments(node.body[0].lineno if node.body else 0)
        body_nodes = list(node.body)
        if body_nodes and _is_func_attr(body_nodes[0]):
            attrs = (*attrs, *self._func_attr(body_nodes.pop(0)))
        body, yielded = self.stmts.block(body_nodes, (node.end_lineno or node.lineno) + 1)
        if yielded is not None:
            raise self.source.error(yielded.node, "pl.yield_ outside a loop or branch", "use return")
        return Function(node.name, params, returns, body, kind, level, role, tuple(options.items()), attrs)

    def _decorator(self, node: ast.FunctionDef) -> dict[str, Expr]:
        for decorator in node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            if dotted_name(call.func if call is not None else decorator) == "pl.function":
                keywords = call.keywords if call is not None else []
                return {k.arg: self.exprs.expr(k.value) for k in keywords if k.arg is not None}
        raise self.source.error(node, f"'{node.name}' is no tile function", "decorate it with @pl.function(...)")

    def _attrs(self, node: ast.FunctionDef, options: dict[str, Expr]) -> NamedExprs:
        from tilesat.ir.nodes import DictExpr

        attrs = options.pop("attrs", None)
        return attrs.items if isinstance(attrs, DictExpr) else ()

    def _func_attr(self, node: ast.stmt) -> NamedExprs:
        assert isinstance(node, ast.Expr)
        assert isinstance(node.value, ast.Call)
        items = self.exprs.named_items(node.value.args[0]) if len(node.value.args) == 1 else None
        if items is None:
            raise self.source.error(node, "malformed function attributes", 'write pl.func_attr({"name": value})')
        return items

    def _params(self, node: ast.FunctionDef) -> tuple[Param, ...]:
        arguments = node.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.defaults:
            raise self.source.error(node, f"'{node.name}' has parameters that are not plain", "no defaults, * or **")
        params = []
        for position, arg in enumerate(arguments.args):
            if position == 0 and arg.arg == "self" and arg.annotation is None:
                continue
            if arg.annotation is None:
                raise self.source.error(arg, f"parameter '{arg.arg}' has no type", "annotate it")
            direction, type_ = self._param_type(arg.annotation)
            if self.exprs.scope.lookup(arg.arg) is not None and arg.arg not in self.dims:
                raise self.source.error(arg, f"parameter '{arg.arg}' is named twice", "rename one of them")
            params.append(Param(self.exprs.scope.bind(arg.arg, type_), type_, direction))
        return tuple(params)

    def _param_type(self, node: ast.expr) -> tuple[Direction, Type]:
        if isinstance(node, ast.Subscript):
            direction = _DIRECTIONS.get(dotted_name(node.value) or "")
            if direction is not None:
                return direction, self.types.type(node.slice)
        return Direction.In, self.types.type(node)

    def _returns(self, node: ast.FunctionDef) -> tuple[Type, ...]:
        annotation = node.returns
        if annotation is None or (isinstance(annotation, ast.Constant) and annotation.value is None):
            return ()
        if isinstance(annotation, ast.Subscript) and dotted_name(annotation.value) == "tuple":
            inner = annotation.slice
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            return tuple(self.types.type(part) for part in parts)
        return (self.types.type(annotation),)


class TypeReader:
    """Reads printed types on their own; names in them stand for themselves."""

    def __init__(self) -> None:
        self._known: dict[str, Type] = {}

    def read(self, text: str) -> Type:
        """The type printed as ``text``."""
        known = self._known.get(text)
        if known is None:
            exprs = ExprParser(Source(text, None), {})
            node = ast.parse(text, mode="eval").body
            names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            exprs.scope = Scope(tuple(sorted(names - {"pl", "pld"})))
            known = self._known[text] = TypeParser(exprs, set()).type(node)
        return known


def _is_func_attr(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and dotted_name(node.value.func) == "pl.func_attr"
    )


def _member(value: Expr | None) -> str | None:
    return value.path.rpartition(".")[2] if isinstance(value, EnumConst) else None
