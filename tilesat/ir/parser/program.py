"""Programs of the text."""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator
from contextlib import contextmanager

from tilesat.errors import Location, ParseError
from tilesat.ir.nodes import Function, Program
from tilesat.ir.parser.exprs import ExprParser, dotted_name
from tilesat.ir.parser.functions import FunctionParser, Header
from tilesat.ir.parser.module import ModuleParser
from tilesat.ir.parser.scope import Scope
from tilesat.ir.parser.source import Source, first_line
from tilesat.ir.parser.stmts import docstring
from tilesat.ir.parser.syntax import syntax_tree, too_deep
from tilesat.ir.parser.types import TypeParser
from tilesat.ir.types import Type


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
        # In a function of its own, so that the syntax tree is gone before the collector looks again.
        return _parsed(text.removeprefix("\ufeff"), file)


def _parsed(text: str, file: str | None) -> Program:
    module = syntax_tree(text, file)
    try:
        return _program(module, Source(text, file))
    except RecursionError:
        raise too_deep(text, file) from None


def _program(module: ast.Module, source: Source) -> Program:
    exprs = ExprParser(source)
    lines = ModuleParser(exprs)
    node = _program_class(module, source)
    lines.read([other for other in module.body if other is not node])
    functions = _functions(node, FunctionParser(exprs, lines.memrefs, lines.dims), module, source)
    return Program(
        node.name,
        functions,
        tuple(dict.fromkeys(lines.dims.values())),
        lines.preamble(module, node),
        final_newline=source.text.endswith(("\n", "\r")),
    )


def _program_class(module: ast.Module, source: Source) -> ast.ClassDef:
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    programs = [node for node in classes if any(map(_is_program, node.decorator_list))]
    if len(programs) != 1:
        place = programs[1] if programs else classes[0] if classes else None
        location = Location(source.file, 1, 1) if place is None else source.location(place)
        hint = "write exactly one class under @pl.program"
        raise ParseError(f"the text has {len(programs)} program classes", location=location, hint=hint)
    (node,) = programs
    if len(node.decorator_list) > 1 or isinstance(node.decorator_list[0], ast.Call):
        raise source.error(node, f"'{node.name}' has more than the plain decorator", "write @pl.program only")
    if node.bases or node.keywords:
        raise source.error(node, f"'{node.name}' has base classes", f"write class {node.name}:")
    return node


def _is_program(decorator: ast.expr) -> bool:
    return dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator) == "pl.program"


def _functions(node: ast.ClassDef, parser: FunctionParser, module: ast.Module, source: Source) -> tuple[Function, ...]:
    headers: list[Header] = []
    seen: set[str] = set()
    for child in node.body:
        if isinstance(child, ast.Pass) or docstring(child) is not None:
            continue
        if not isinstance(child, ast.FunctionDef):
            raise source.error(child, "a program holds only functions", "move this out of the class")
        if child.name in seen:
            raise source.error(child, f"function '{child.name}' is defined twice", "rename one of them")
        seen.add(child.name)
        headers.append(parser.header(child))
    source.skip_comments(first_line(node))
    ends = [first_line(header.node) for header in headers[1:]] + [_end(node, module)]
    last = len(headers) - 1
    return tuple(
        [
            parser.body(header, end, is_last=i == last)
            for i, (header, end) in enumerate(zip(headers, ends, strict=False))
        ]
    )


def _end(node: ast.ClassDef, module: ast.Module) -> int:
    position = module.body.index(node) + 1
    return first_line(module.body[position]) if position < len(module.body) else 1 << 60


class TypeReader:
    """Reads printed types on their own; names in them stand for themselves."""

    def __init__(self) -> None:
        self._known: dict[str, Type] = {}

    def read(self, text: str) -> Type:
        """The type printed as ``text``."""
        known = self._known.get(text)
        if known is None:
            exprs = ExprParser(Source(text, None))
            node = ast.parse(text, mode="eval").body
            names = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
            exprs.scope = Scope({name: name for name in sorted(names - {"pl", "pld"})})
            known = self._known[text] = TypeParser(exprs, {}).type(node)
        return known
