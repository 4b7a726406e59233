"""The lines around the program class: symbolic dimensions, allocations, constants, and whatever else."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from operator import add, floordiv, mod, mul, sub

from tilesat.errors import ParseError
from tilesat.ir.nodes import BinOp, Const, EnumConst, Expr, ListExpr, StrConst
from tilesat.ir.parser.exprs import ExprParser, dotted_name
from tilesat.ir.parser.opaque import NotModelled, bound_names, used_names
from tilesat.ir.parser.source import first_line
from tilesat.ir.parser.stmts import docstring, docstring_comments

TITLE = "pypto.program:"
_FOLDED = {"+": add, "-": sub, "*": mul, "//": floordiv, "%": mod}
_LANGUAGE = frozenset({"pl", "pld"})


class ModuleParser:
    """Reads module-level statements.

    Imports of the language, ``NB = pl.dynamic("NB")``, ``slot = pl.MemRef()`` and named constants have a
    meaning. All other lines are carried verbatim, and so are those that a carried text needs.
    """

    def __init__(self, exprs: ExprParser) -> None:
        self.exprs = exprs
        self.source = exprs.source
        self.dims: dict[str, str] = {}
        self.memrefs: dict[str, str] = {}
        # The name whose meaning makes a statement superfluous; "" if nothing will ever need it.
        self._superfluous: dict[ast.stmt, str] = {}
        self._title = TITLE

    def read(self, nodes: list[ast.stmt]) -> None:
        """Learn from the statements around the program class."""
        for node in nodes:
            if isinstance(node, ast.Return):
                raise self.source.error(node, "a return outside a function", "indent it as far as the function's body")
            meaning = self._meaning(node)
            if meaning is not None:
                self._superfluous[node] = meaning
                continue
            names = bound_names(node)
            self.exprs.verbatim.update(names)
            for name in names.keys() & self.exprs.constants.keys():
                del self.exprs.constants[name]

    # --------------------------------------------------------------------------- meaning

    def _meaning(self, node: ast.stmt) -> str | None:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return "" if all((alias.asname or alias.name) in _LANGUAGE for alias in node.names) else None
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target: ast.expr = node.targets[0]
        elif isinstance(node, ast.AnnAssign):
            target = node.target
        else:
            return None
        if not isinstance(target, ast.Name) or node.value is None:
            return None
        return self._defined(target.id, node.value)

    def _defined(self, name: str, value: ast.expr) -> str | None:
        callee = dotted_name(value.func) if isinstance(value, ast.Call) else None
        if isinstance(value, ast.Call) and callee == "pl.dynamic":
            self.dims[name] = self._given_name(value, name, "a dynamic dimension")
            return ""
        if isinstance(value, ast.Call) and callee == "pl.MemRef":
            self.memrefs[name] = self._given_name(value, name, "a MemRef")
            return name
        constant = self._constant(value)
        if constant is None:
            return None
        self.exprs.constants[name] = constant
        return name

    def _given_name(self, call: ast.Call, default: str, what: str) -> str:
        """The name that ``pl.dynamic("NB")`` or ``pl.MemRef("slot")`` gives, by default that of its variable."""
        if not call.args and not call.keywords:
            return default
        given = call.args[0] if len(call.args) == 1 and not call.keywords else None
        if isinstance(given, ast.Constant) and isinstance(given.value, str) and given.value.isidentifier():
            return given.value
        raise self.source.error(call, f"{what} has one name and nothing else", f'write "{default}"')

    def _constant(self, node: ast.expr) -> Expr | None:
        try:
            return _folded(self.exprs.expr(node))
        except (ParseError, NotModelled):
            # No constant: the line is carried, and the name stands for itself.
            self.exprs.depth = 0
            return None

    # --------------------------------------------------------------------------- carried

    def preamble(self, module: ast.Module, program: ast.ClassDef) -> tuple[str, ...]:
        """The carried lines: those before the class, its docstring, those after it."""
        position = module.body.index(program)
        needed = self._needed([node for node in module.body if node is not program])
        start, end = first_line(program), (program.end_lineno or 0) + 1
        self._title = f"{TITLE} {program.name}"
        lines = self._carried(module.body[:position], 1, start, needed)
        lines += _docstring_lines(program.body[0])
        after = self._carried(module.body[position + 1 :], end, len(self.source.lines) + 1, needed)
        while after and not after[-1]:
            after.pop()
        return (*lines, *after)

    def _needed(self, nodes: list[ast.stmt]) -> set[ast.stmt]:
        """The statements to keep: without meaning of their own, or named by one that is kept."""
        names = set(self.exprs.mentioned)
        kept: set[ast.stmt] = set()
        found = True
        while found:
            found = False
            for node in nodes:
                if node not in kept and self._superfluous.get(node) in (None, *names):
                    kept.add(node)
                    names.update(used_names(node))
                    found = True
        return kept

    def _carried(self, nodes: list[ast.stmt], start: int, end: int, kept: set[ast.stmt]) -> list[str]:
        """Lines ``start`` to ``end`` without what is superfluous; blank ones where they follow a carried one."""
        owner = {line: node for node in nodes for line in _span(node) if node in kept}
        owned = {line for node in nodes for line in _span(node)}
        comments = {c.line for c in self.source.comments if c.text.strip() != self._title}
        lines: list[str] = []
        is_before, keeps_blank = start == 1, False
        for number in range(start, end):
            text = self.source.lines[number - 1]
            if number in owner:
                node = owner[number]
                if docstring(node) is None:
                    lines.append(text)
                elif number == node.lineno:
                    lines += _docstring_lines(node)
                keeps_blank = True
            elif number in owned:
                keeps_blank = False
            elif number in comments:
                # What is indented after the class has ended its last function.
                keeps_blank = is_before or text.startswith("#")
                lines += [text] if keeps_blank else []
            elif text.strip():
                keeps_blank = False
            elif keeps_blank:
                lines.append("")
        return lines


def _span(node: ast.stmt) -> Iterator[int]:
    return iter(range(first_line(node), (node.end_lineno or node.lineno) + 1))


def _docstring_lines(node: ast.stmt) -> list[str]:
    text = docstring(node)
    return [] if text is None else [f"#{comment.text}" for comment in docstring_comments(text)]


def _folded(expr: Expr) -> Expr | None:
    """``expr`` if it is a constant, arithmetic of integers done, else ``None``."""
    if isinstance(expr, (Const, EnumConst, StrConst)):
        return expr
    if isinstance(expr, ListExpr):
        items = [_folded(item) for item in expr.items]
        known = tuple([item for item in items if item is not None])
        return ListExpr(known) if len(known) == len(items) else None
    if not isinstance(expr, BinOp) or expr.op not in _FOLDED:
        return None
    lhs, rhs = _folded(expr.lhs), _folded(expr.rhs)
    if not (_is_index(lhs) and _is_index(rhs)) or (expr.op in ("//", "%") and rhs == Const(0)):
        return None
    assert isinstance(lhs, Const)
    assert isinstance(rhs, Const)
    value = _FOLDED[expr.op](lhs.value, rhs.value)
    return Const(value) if abs(value) < 1 << 63 else None


def _is_index(expr: Expr | None) -> bool:
    return isinstance(expr, Const) and expr.dtype == "INDEX" and type(expr.value) is int
