"""Statements of a function body."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeAlias

from tilesat.ir.nodes import Comment, EvalStmt, OpaqueStmt, Return, Scope, Stmt, Yield
from tilesat.ir.parser.branches import BranchParser
from tilesat.ir.parser.exprs import ExprParser, check_keywords, dotted_name
from tilesat.ir.parser.loops import LoopParser
from tilesat.ir.parser.opaque import NotModelled, bound_names, renames_in
from tilesat.ir.parser.scope import UNKNOWN, Place, ReservedName, reserved
from tilesat.ir.parser.source import RENAME, first_line
from tilesat.ir.parser.types import TypeParser
from tilesat.ir.parser.values import ValueParser
from tilesat.ir.parser.yields import Body, Yielded, yield_call, yielded_names
from tilesat.ir.types import Type

_Handler: TypeAlias = "Callable[[StmtParser, Any, int], list[Stmt]]"
# Python itself reads at most 100 levels of indentation, the class and its function included.
_MAX_BLOCKS = 90


class StmtParser:
    """Parses function bodies; one object serves all functions of a program."""

    def __init__(self, exprs: ExprParser, types: TypeParser, values: ValueParser) -> None:
        self.exprs = exprs
        self.types = types
        self.values = values
        self.source = exprs.source
        self.depth = 0
        self._loops = LoopParser(self)
        self._branches = BranchParser(self)

    # -------------------------------------------------------------------------- blocks

    def block(self, nodes: list[ast.stmt], end: int, place: Place, indent: int | None = None) -> Body:
        """The statements ``nodes``, in a block of their own.

        ``end`` is the line where the text after the block begins: comments before it that are indented as
        far as ``indent``, the block's own indentation by default, close the block.
        """
        mark = self.exprs.scope.enter()
        self.deeper(nodes)
        stmts, yielded = self._statements(nodes, end, indent)
        self.depth -= 1
        return Body(stmts, yielded, self.exprs.scope.leave(mark, place))

    def deeper(self, nodes: list[ast.stmt]) -> None:
        """Count a level of nesting; the caller takes it back."""
        self.depth += 1
        if self.depth > _MAX_BLOCKS:
            raise self.source.error(nodes[0], "the blocks are nested too deeply", "make functions of the inner ones")

    def _statements(
        self, nodes: list[ast.stmt], end: int, indent: int | None = None
    ) -> tuple[tuple[Stmt, ...], Yielded | None]:
        stmts: list[Stmt] = []
        yielded: Yielded | None = None
        for position, node in enumerate(nodes):
            stmts += [Comment(c.text) for c in self.source.take_comments(first_line(node))]
            following = first_line(nodes[position + 1]) if position + 1 < len(nodes) else end
            call = yield_call(node)
            if call is None:
                stmts += self.statement(node, following)
                continue
            if position + 1 < len(nodes):
                raise self.source.error(node, "pl.yield_ must end its block", "move it to the end")
            yielded = self._yield(node, call)
            stmts.append(Yield(yielded.values))
        if nodes:
            closing = self.source.take_comments(end, nodes[0].col_offset if indent is None else indent)
            stmts += [Comment(c.text) for c in closing]
        return tuple(stmts), yielded

    def _yield(self, node: ast.stmt, call: ast.Call) -> Yielded:
        if call.keywords:
            raise self.source.error(call.keywords[0], "pl.yield_ takes values only", "write pl.yield_(x, y)")
        values = self.exprs.exprs(call.args)
        names, stated = yielded_names(node, self.types)
        return Yielded(values, names, stated, node)

    # ---------------------------------------------------------------------- statements

    def statement(self, node: ast.stmt, end: int) -> list[Stmt]:
        """The IR statements for ``node``; several where a form is unfolded."""
        handler = _HANDLERS.get(type(node), StmtParser._unknown)
        state, depth = self.exprs.scope.state(), self.depth
        try:
            return handler(self, node, end)
        except NotModelled:
            self.exprs.scope.roll_back(state)
            self.exprs.depth, self.depth = 0, depth
            return [self._opaque(node)]
        except ReservedName as error:
            raise self.source.error(node, *reserved(error)) from None

    def _unknown(self, node: ast.stmt, end: int) -> list[Stmt]:
        return [self._opaque(node)]

    def _annotated(self, node: ast.AnnAssign, end: int) -> list[Stmt]:
        target, annotation = node.target, node.annotation
        if not isinstance(target, ast.Name) or node.value is None:
            raise NotModelled
        value = self.exprs.expr(node.value)
        stated = None if self.types.states_nothing(annotation) else self.types.type(annotation)
        return [self.values.assign(node, target.id, value, stated)]

    def _assign(self, node: ast.Assign, end: int) -> list[Stmt]:
        return self.values.plain(node)

    def _augmented(self, node: ast.AugAssign, end: int) -> list[Stmt]:
        return self.values.augmented(node)

    def _bare(self, node: ast.Expr, end: int) -> list[Stmt]:
        text = docstring(node)
        if text is not None:
            self.source.skip_comments((node.end_lineno or node.lineno) + 1)
            return list(docstring_comments(text))
        return [EvalStmt(self.exprs.expr(node.value))]

    def _return(self, node: ast.Return, end: int) -> list[Stmt]:
        if node.value is None:
            return [Return(())]
        if isinstance(node.value, ast.Tuple):
            return [Return(self.exprs.exprs(node.value.elts))]
        return [Return((self.exprs.expr(node.value),))]

    def _pass(self, node: ast.Pass, end: int) -> list[Stmt]:
        return []

    def _if(self, node: ast.If, end: int) -> list[Stmt]:
        return [self._branches.branch(node, end)]

    def _for(self, node: ast.For, end: int) -> list[Stmt]:
        return [self._loops.loop(node, end)]

    def _with(self, node: ast.With, end: int) -> list[Stmt]:
        item = node.items[0]
        call = item.context_expr
        if not isinstance(call, ast.Call) or dotted_name(call.func) != "pl.scope" or call.args:
            raise NotModelled
        if len(node.items) > 1 or item.optional_vars:
            raise NotModelled
        check_keywords(self.source, call.keywords)
        kwargs = tuple((k.arg or "", self.exprs.expr(k.value)) for k in call.keywords)
        self.deeper(node.body)
        # A runtime scope does not hide names: its contents count as a nested statement list.
        body, yielded = self._statements(node.body, end)
        self.depth -= 1
        if yielded is not None:
            raise self.source.error(yielded.node, "pl.yield_ inside a runtime scope", "put it behind the scope")
        return [Scope(kwargs, body)]

    # -------------------------------------------------------------------------- opaque

    def _opaque(self, node: ast.stmt) -> OpaqueStmt:
        """``node`` as its text; what it binds is known from then on, of unknown type."""
        reads, renames = renames_in(node, self.exprs.scope, self.source, self.exprs.mentioned)
        is_declaration = isinstance(node, ast.AnnAssign) and node.value is None
        bound = {} if is_declaration else bound_names(node)
        binds = tuple([self._bind_opaque(node, name, is_plain, renames) for name, is_plain in bound.items()])
        self.source.skip_comments((node.end_lineno or node.lineno) + 1)
        return OpaqueStmt(self.source.statement_lines(node, renames), reads, binds)

    def _bind_opaque(self, node: ast.stmt, name: str, is_plain: bool, renames: dict[str, str]) -> str:
        """The unique name that ``name`` has from here on."""
        scope = self.exprs.scope
        if name in scope.bound:
            message = f"a statement that is not modelled binds '{name}' again"
            raise self.source.error(node, message, "give the new value a name of its own")
        try:
            unique = scope.bind(name, self._stated(node, name))
        except ReservedName as error:
            raise self.source.error(node, *reserved(error)) from None
        if unique == name:
            return unique
        if not is_plain:
            raise self.source.error(node, f"a statement that is not modelled binds '{name}' again", RENAME)
        renames[name] = unique
        return unique

    def _stated(self, node: ast.stmt, name: str) -> Type:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return self.types.type(node.annotation)
        return UNKNOWN


def docstring(node: ast.stmt) -> str | None:
    """The string that ``node`` consists of, ``None`` for any other statement."""
    value = node.value if isinstance(node, ast.Expr) else None
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def docstring_comments(text: str) -> tuple[Comment, ...]:
    """A docstring as comment lines."""
    lines = [f" {line.strip()}".rstrip() for line in text.strip().splitlines()]
    return tuple(Comment("".join(c if c.isprintable() else repr(c)[1:-1] for c in line)) for line in lines)


_HANDLERS: dict[type, _Handler] = {
    ast.AnnAssign: StmtParser._annotated,
    ast.Assign: StmtParser._assign,
    ast.AugAssign: StmtParser._augmented,
    ast.Expr: StmtParser._bare,
    ast.For: StmtParser._for,
    ast.If: StmtParser._if,
    ast.With: StmtParser._with,
    ast.Return: StmtParser._return,
    ast.Pass: StmtParser._pass,
}
