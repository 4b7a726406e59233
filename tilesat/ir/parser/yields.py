"""``pl.yield_``: what the end of a loop body or branch hands out."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tilesat.ir.nodes import Block, Expr, Result
from tilesat.ir.parser.exprs import dotted_name
from tilesat.ir.parser.scope import Scope
from tilesat.ir.parser.source import Source, counted
from tilesat.ir.parser.types import TypeParser
from tilesat.ir.parser.values import target_names
from tilesat.ir.types import Type


@dataclass(frozen=True, slots=True)
class Yielded:
    """A final yield: its values, the names it assigns as written, the annotation, and where it stands."""

    values: tuple[Expr, ...]
    names: list[str]
    type: Type | None
    node: ast.stmt


@dataclass(frozen=True, slots=True)
class Body:
    """A parsed block: its statements, its final yield, and the names from outside that it bound again."""

    block: Block
    yielded: Yielded | None
    rebound: list[str]


def yield_call(node: ast.stmt) -> ast.Call | None:
    """The ``pl.yield_`` call that ``node`` is, or assigns."""
    value = node.value if isinstance(node, (ast.AnnAssign, ast.Assign, ast.Expr)) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "yield_":
        return value if dotted_name(value.func) == "pl.yield_" else None
    return None


def yielded_names(node: ast.stmt, types: TypeParser) -> tuple[list[str], Type | None]:
    """What a yield assigns: names, and the annotation of a single one."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        stated = None if types.states_nothing(node.annotation) else types.type(node.annotation)
        return [node.target.id], stated
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        names = [target.id] if isinstance(target, ast.Name) else target_names(target)
        if names:
            return names, None
    if isinstance(node, ast.Expr):
        return [], None
    raise types.source.error(node, "malformed yield", "write a, b = pl.yield_(x, y)")


def bind_results(
    yielded: Yielded, types: list[Type | None], hints: list[str], scope: Scope, source: Source
) -> tuple[Result, ...]:
    """Bind what a yield assigns. Only a single value carries an annotation (peer behaviour, section 2.2)."""
    names = yielded.names or hints
    if len(names) != len(types):
        message = f"the yield gives {counted(len(types), 'value')} to {counted(len(names), 'name')}"
        raise source.error(yielded.node, message, "name each value once")
    results = []
    for name, type_ in zip(names, types, strict=True):
        stated = yielded.type or type_
        if stated is None:
            raise source.error(
                yielded.node, f"the type of '{name}' cannot be deduced", "yield a variable whose type is known"
            )
        unique = scope.bind(name, stated) if yielded.names else scope.unnamed(name, stated)
        results.append(Result(unique, stated))
    return tuple(results)
