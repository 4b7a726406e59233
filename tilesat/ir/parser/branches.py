"""Branches: ``if`` with and without results."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tilesat.ir.nodes import Block, Expr, If, Result, Var, Yield
from tilesat.ir.parser.scope import Place
from tilesat.ir.parser.yields import Body, Yielded, bind_results
from tilesat.ir.types import Type

if TYPE_CHECKING:
    from tilesat.ir.parser.stmts import StmtParser


class BranchParser:
    """Parses ``if`` statements."""

    def __init__(self, stmts: StmtParser) -> None:
        self.stmts = stmts
        self.exprs = stmts.exprs
        self.source = stmts.source

    def branch(self, node: ast.If, end: int) -> If:
        return self._branch(node, end)[0]

    def _branch(self, node: ast.If, end: int) -> tuple[If, list[str]]:
        """The branch, and the names of its results as written."""
        scope, place = self.exprs.scope, Place("branch", node.lineno)
        condition = self.exprs.scalar(node.test, "the condition")
        then_end = self._else_line(node) if node.orelse else end
        then = self.stmts.block(node.body, then_end, place)
        orelse = self._else(node, end, place, then.yielded is not None) if node.orelse else None
        scope.expire(then.rebound, place)
        if orelse is None:
            results = self._results(node, then, None)
            return If(condition, then.block, None, results), []
        scope.expire(orelse.rebound, place)
        results = self._results(node, then, orelse)
        return If(condition, then.block, orelse.block, results), then.yielded.names if then.yielded else []

    def _else_line(self, node: ast.If) -> int:
        """The line of ``else`` or ``elif``: comments before it belong to the first branch."""
        line = node.orelse[0].lineno
        while line > node.lineno and not self.source.lines[line - 1].lstrip().startswith(("else", "elif")):
            line -= 1
        return line

    def _else(self, node: ast.If, end: int, place: Place, yields: bool) -> Body:
        inner = node.orelse[0]
        is_elif = isinstance(inner, ast.If) and self.source.segment(inner).startswith("elif")
        if not (is_elif and yields and isinstance(inner, ast.If)):
            return self.stmts.block(node.orelse, end, place)
        return self._elif(inner, end, place)

    def _elif(self, inner: ast.If, end: int, place: Place) -> Body:
        """``elif`` is an if inside the else branch, which hands the results of the inner one on."""
        scope = self.exprs.scope
        mark = scope.enter()
        self.stmts.deeper([inner])
        branch, names = self._branch(inner, end)
        self.stmts.depth -= 1
        values: tuple[Expr, ...] = tuple(Var(result.name) for result in branch.results)
        block: Block = (branch, Yield(values)) if values else (branch,)
        yielded = Yielded(values, names, None, inner) if values else None
        return Body(block, yielded, scope.leave(mark, place))

    def _results(self, node: ast.If, then: Body, orelse: Body | None) -> tuple[Result, ...]:
        first, second = then.yielded, None if orelse is None else orelse.yielded
        if first is None and second is None:
            return ()
        if first is None or second is None:
            raise self.source.error(node, "only one branch of the if yields", "end both with pl.yield_")
        if first.names != second.names or len(first.values) != len(second.values):
            raise self.source.error(
                second.node,
                "the branches of the if yield different variables",
                "assign the same names in both",
            )
        if first.type is not None and second.type is not None and first.type != second.type:
            raise self.source.error(
                second.node,
                f"the branches of the if annotate '{first.names[0]}' differently",
                "state the same type in both",
            )
        stated = Yielded(first.values, first.names, first.type or second.type, first.node)
        types = [self._type(a, b, first.node) for a, b in zip(first.values, second.values, strict=True)]
        hints = [f"phi_{i}" for i in range(len(types))]
        return bind_results(stated, types, hints, self.exprs.scope, self.source)

    def _type(self, first: Expr, second: Expr, node: ast.stmt) -> Type | None:
        values = self.stmts.values
        return values.type_of(first, node) or values.type_of(second, node)
