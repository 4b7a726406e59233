"""What is not modelled: which variables its text reads and binds, so that it can be carried verbatim."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tilesat.ir.parser.scope import Scope, not_handed_out
from tilesat.ir.parser.source import RENAME, Renames, Source

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NAMESPACES = (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef)


class NotModelled(Exception):
    """An expression that has no meaning apart from its statement, which is then carried as a whole."""


def used_names(node: ast.AST) -> list[str]:
    """The distinct names ``node`` mentions as variables, in order of the text."""
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    names.sort(key=lambda name: (name.lineno, name.col_offset))
    return list(dict.fromkeys(name.id for name in names))


def bound_names(node: ast.stmt) -> dict[str, bool]:
    """The names ``node`` binds in the block around it, and whether each is written as a plain variable."""
    found: dict[str, bool] = {}
    stack: list[ast.AST] = [node]
    while stack:
        part = stack.pop()
        for name, is_plain in _binds(part):
            found[name] = found.get(name, True) and is_plain
        if not isinstance(part, _NAMESPACES):
            stack.extend(ast.iter_child_nodes(part))
    return found


def _binds(node: ast.AST) -> Iterator[tuple[str, bool]]:
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Store):
            yield node.id, True
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name, False
    elif isinstance(node, ast.alias):
        yield (node.asname or node.name).partition(".")[0], False
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        if node.name is not None:
            yield node.name, False
    elif isinstance(node, ast.MatchMapping):
        if node.rest is not None:
            yield node.rest, False


def _inner_names(node: ast.AST) -> set[str]:
    """The names that functions and comprehensions inside ``node`` have for themselves."""
    names: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.arg):
            names.add(part.arg)
        elif isinstance(part, ast.comprehension):
            names.update(name.id for name in ast.walk(part.target) if isinstance(name, ast.Name))
    return names


def _check_ended(name: str, node: ast.expr | ast.stmt, scope: Scope, source: Source) -> None:
    """Raise when ``name`` means a variable of a block that has ended."""
    place = scope.ended(name)
    if place is None or name in _inner_names(node):
        return
    if not isinstance(node, ast.stmt) or name not in bound_names(node):
        raise source.error(node, *not_handed_out(name, place))


def renames_in(
    node: ast.expr | ast.stmt, scope: Scope, source: Source, others: set[str]
) -> tuple[tuple[str, ...], Renames]:
    """The variables in scope that ``node`` reads, by unique name, and those that need another spelling.

    The other names in it are added to ``others``.
    """
    used = used_names(node)
    for name in used:
        if name not in scope.bound:
            _check_ended(name, node, scope, source)
            others.add(name)
    pairs = [(name, scope.bound[name].name) for name in used if name in scope.bound]
    renames = {name: unique for name, unique in pairs if name != unique}
    clash = next(iter(renames.keys() & _inner_names(node)), None) if renames else None
    if clash is not None:
        raise source.error(node, f"'{clash}' is bound more than once and used in a text that is not modelled", RENAME)
    return tuple(dict.fromkeys(unique for _, unique in pairs)), renames
