"""Assignments: what a name is bound to, and of which type that is."""

from __future__ import annotations

import ast

from tilesat.errors import ParseError, TypeDeductionError
from tilesat.ir.deduce import deduce_type
from tilesat.ir.nodes import Assign, BinOp, Expr, FuncCall, Stmt, Submit, TupleGet, Var
from tilesat.ir.parser.exprs import BIN_OPS, ExprParser
from tilesat.ir.parser.opaque import NotModelled
from tilesat.ir.parser.scope import UNKNOWN
from tilesat.ir.parser.signatures import Signatures
from tilesat.ir.parser.source import counted
from tilesat.ir.types import TupleType, Type


class ValueParser:
    """Parses assignments; deduces the types that the text leaves out."""

    def __init__(self, exprs: ExprParser, signatures: Signatures) -> None:
        self.exprs = exprs
        self.source = exprs.source
        self.signatures = signatures

    # ---------------------------------------------------------------------------- types

    def type_of(self, value: Expr, node: ast.AST) -> Type | None:
        """The deduced type of ``value``, ``None`` when it is open; errors are reported where ``node`` has its value."""
        known = {}
        if isinstance(value, (FuncCall, Submit)):
            results = self.signatures.results(value)
            if results is not None:
                known[value.callee] = results
        try:
            type_ = deduce_type(value, self.exprs.scope.types, known)
        except TypeDeductionError as error:
            place = getattr(node, "value", None) or node
            raise ParseError(error.message, location=self.source.location(place), hint=error.hint) from None
        return None if _is_open(type_) else type_

    def _undeduced(self, node: ast.AST, name: str, value: Expr) -> ParseError:
        message, hint = f"the type of '{name}' cannot be deduced", f"annotate it: {name}: pl.Tile[...] = ..."
        if isinstance(value, (FuncCall, Submit)):
            problem = self.signatures.problem(value)
            if problem is not None:
                message, hint = problem
        return self.source.error(node, message, hint)

    # ---------------------------------------------------------------------- assignments

    def assign(self, node: ast.stmt, name: str, value: Expr, type_: Type | None) -> Assign:
        """``name = value`` with its type, deduced unless ``type_`` states it."""
        if type_ is None:
            type_ = self.type_of(value, node)
            if type_ is None:
                raise self._undeduced(node, name, value)
        return Assign(self.exprs.scope.bind(name, type_), type_, value)

    def plain(self, node: ast.Assign) -> list[Stmt]:
        """An assignment without annotation; tuples are taken apart."""
        if len(node.targets) != 1:
            raise NotModelled
        target = node.targets[0]
        if isinstance(target, ast.Name):
            return [self.assign(node, target.id, self.exprs.expr(node.value), None)]
        names = target_names(target)
        if names is None:
            raise NotModelled
        if isinstance(node.value, (ast.Tuple, ast.List)) and len(node.value.elts) == len(names):
            return self._each(node, names, self.exprs.exprs(node.value.elts))
        return self._unpack(node, names, self.exprs.expr(node.value))

    def _each(self, node: ast.Assign, names: list[str], values: tuple[Expr, ...]) -> list[Stmt]:
        """``a, b = x, y``: all values are taken before any name is bound."""
        types = [self.type_of(value, node) for value in values]
        stmts: list[Stmt] = []
        for name, value, type_ in zip(names, values, types, strict=True):
            if type_ is None:
                raise self._undeduced(node, name, value)
            stmts.append(self.assign(node, name, value, type_))
        return stmts

    def _unpack(self, node: ast.Assign, names: list[str], value: Expr) -> list[Stmt]:
        hint = "_submit_tmp" if isinstance(value, Submit) else "_tuple_tmp"
        type_ = self.type_of(value, node)
        if type_ is None:
            raise self._undeduced(node, names[0] if names else hint, value)
        given = counted(len(names), "name")
        if not isinstance(type_, TupleType):
            raise self.source.error(node, f"{given} for a value that is no tuple", "give one name")
        if len(type_.elements) != len(names):
            needed = counted(len(type_.elements), "element")
            raise self.source.error(node, f"{given} for a tuple of {needed}", "give one name for each")
        whole = self.exprs.scope.unnamed(hint, type_)
        stmts: list[Stmt] = [Assign(whole, type_, value)]
        for index, (name, element) in enumerate(zip(names, type_.elements, strict=True)):
            stmts.append(self.assign(node, name, TupleGet(Var(whole), index), element))
        return stmts

    def augmented(self, node: ast.AugAssign) -> list[Stmt]:
        """``x += y`` as ``x = x + y``."""
        op = BIN_OPS.get(type(node.op))
        if op is None or not isinstance(node.target, ast.Name):
            raise NotModelled
        load = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        sum_ = ast.copy_location(ast.BinOp(load, node.op, node.value), node)
        value = self.exprs.expr(sum_)
        if not isinstance(value, BinOp):
            raise NotModelled
        # Bare constants and mixed dtypes keep the dtype of the variable.
        type_ = self.type_of(value, node) or self.type_of(value.lhs, node)
        return [self.assign(node, node.target.id, value, type_)]


def target_names(target: ast.expr) -> list[str] | None:
    """The names of ``a, b`` or ``[a, b]``, ``None`` for anything else."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return None
    names = [part.id for part in target.elts if isinstance(part, ast.Name)]
    return names if len(names) == len(target.elts) else None


def _is_open(type_: Type | None) -> bool:
    if isinstance(type_, TupleType):
        return any(map(_is_open, type_.elements))
    return type_ is None or type_ is UNKNOWN
