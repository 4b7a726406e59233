"""Structural equality: the same program up to the names of bound variables.

Parameters, assigned variables, iter-args, loop indices and results may have other names on the two
sides, one to one inside a function. Everything else counts, except the program's name, comments, and
the order of functions (they are matched by name), of symbolic dimensions, of keywords and attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tilesat.ir.equal_exprs import Differs, ExprMatch, Part, Path, StructuralDifference, by_name, numbered
from tilesat.ir.nodes import (
    Assign,
    Block,
    Carry,
    Comment,
    EvalStmt,
    For,
    Function,
    If,
    NamedExprs,
    OpaqueStmt,
    Program,
    Result,
    Return,
    Scope,
    Stmt,
    While,
    Yield,
)
from tilesat.ir.printer import print_stmt, print_type
from tilesat.ir.types import (
    Type,
)

__all__ = ["StructuralDifference", "first_difference", "structural_equal"]


def structural_equal(left: Program | Function, right: Program | Function, *, compare_types: bool = True) -> bool:
    """Whether both are one program up to names of bound variables; see :func:`first_difference`."""
    return first_difference(left, right, compare_types=compare_types) is None


def first_difference(
    left: Program | Function, right: Program | Function, *, compare_types: bool = True
) -> StructuralDifference | None:
    """Where ``left`` and ``right`` first differ, ``None`` when they are structurally equal.

    Without ``compare_types``, types of parameters, results and bound variables do not count.
    Raises ``TypeError`` unless both are programs or both are functions.
    """
    try:
        if isinstance(left, Program) and isinstance(right, Program):
            _match_programs(left, right, compare_types)
        elif isinstance(left, Function) and isinstance(right, Function):
            _FunctionMatch(compare_types).match(left, right)
        else:
            raise TypeError(f"cannot compare {type(left).__name__} with {type(right).__name__}")
    except Differs as found:
        return found.difference
    return None


def _match_programs(left: Program, right: Program, compare_types: bool) -> None:
    if set(left.dynamic_dims) != set(right.dynamic_dims):
        raise Differs(("symbolic dimensions",), str(left.dynamic_dims), str(right.dynamic_dims))
    if left.preamble != right.preamble:
        raise Differs(("preamble",), "\n".join(left.preamble), "\n".join(right.preamble))
    others = {function.name: function for function in right.functions}
    for function in left.functions:
        other = others.pop(function.name, None)
        if other is None:
            raise Differs((f"function '{function.name}'",), f"def {function.name}", None)
        _FunctionMatch(compare_types).match(function, other)
    for name in others:
        raise Differs((f"function '{name}'",), None, f"def {name}")


@dataclass(frozen=True, slots=True)
class _Body:
    """A pair of blocks under comparison."""

    path: Path
    pairs: Iterator[tuple[int, Stmt, Stmt]]


@dataclass(frozen=True, slots=True)
class _Results:
    """Results to bind once the bodies that give them are compared."""

    path: Path
    left: tuple[Result, ...]
    right: tuple[Result, ...]


class _FunctionMatch:
    """Compares two functions in program order while it learns which name stands for which."""

    def __init__(self, compare_types: bool) -> None:
        self.compare_types = compare_types
        self.exprs = ExprMatch()

    def match(self, left: Function, right: Function) -> None:
        path: Path = (f"function '{left.name}'",)
        _same_text((*path, "name"), left.name, right.name)
        _same_text((*path, "kind"), left.kind, right.kind)
        _same_text((*path, "level"), left.level, right.level)
        _same_text((*path, "role"), left.role, right.role)
        self._parameters(path, left, right)
        self._named(path, "option", left.options, right.options)
        self._named(path, "attribute", left.attrs, right.attrs)
        _same_count((*path, "declared results"), left.returns, right.returns)
        for number, (a, b) in enumerate(zip(left.returns, right.returns, strict=True), 1):
            self._types((*path, f"declared result {number}"), a, b)
        self._body(path, left.body, right.body)

    def _parameters(self, path: Path, left: Function, right: Function) -> None:
        _same_count((*path, "parameters"), left.params, right.params)
        for a, b in zip(left.params, right.params, strict=True):
            self.exprs.bind(a.name, b.name)
        for a, b in zip(left.params, right.params, strict=True):
            here = (*path, f"parameter '{a.name}'")
            _same_text((*here, "direction"), a.direction, b.direction)
            self._types(here, a.type, b.type)

    # ---------------------------------------------------------------------- statements

    def _body(self, path: Path, left: Block, right: Block) -> None:
        """Compare blocks with all inside them; the stack replaces recursion, programs may nest deeply."""
        stack: list[_Body | _Results] = [_Body(path, _pairs(path, left, right))]
        while stack:
            top = stack[-1]
            if isinstance(top, _Results):
                stack.pop()
                self._bind_results(top)
                continue
            step = next(top.pairs, None)
            if step is None:
                stack.pop()
                continue
            number, a, b = step
            if type(a) is Assign and type(b) is Assign and self._same_assign(a, b):
                continue
            stack += reversed(self._statement((*top.path, f"statement {number}"), a, b))

    def _same_assign(self, a: Assign, b: Assign) -> bool:
        """The common case without a path; on a difference nothing is bound and the long way names it."""
        if not self.exprs.same(a.value, b.value):
            return False
        if self.compare_types and not self.exprs.same_type(a.type, b.type):
            return False
        self.exprs.bind(a.name, b.name)
        return True

    def _statement(self, path: Path, a: Stmt, b: Stmt) -> list[_Body | _Results]:
        """Compare what the statements say themselves; the answer is what is left to compare."""
        if type(a) is not type(b):
            raise Differs(path, _head(a), _head(b))
        if isinstance(a, Assign) and isinstance(b, Assign):
            self._exprs(path, [("", a.value, b.value)])
            self._types((*path, "type"), a.type, b.type)
            self.exprs.bind(a.name, b.name)
        elif isinstance(a, EvalStmt) and isinstance(b, EvalStmt):
            self._exprs(path, [("", a.value, b.value)])
        elif isinstance(a, (Yield, Return)) and isinstance(b, (Yield, Return)):
            self._exprs(path, numbered("value", a.values, b.values))
        elif isinstance(a, For) and isinstance(b, For):
            return self._for(path, a, b)
        elif isinstance(a, While) and isinstance(b, While):
            return self._while(path, a, b)
        elif isinstance(a, If) and isinstance(b, If):
            return self._if(path, a, b)
        elif isinstance(a, Scope) and isinstance(b, Scope):
            here = (*path, "scope")
            self._named(here, "keyword", a.kwargs, b.kwargs)
            return [_Body(here, _pairs(here, a.body, b.body))]
        elif isinstance(a, OpaqueStmt) and isinstance(b, OpaqueStmt):
            if a.lines != b.lines or a.binds != b.binds or not self.exprs.unrenamed(a.names, b.names):
                raise Differs(path, "\n".join(a.lines), "\n".join(b.lines))
            for name in a.binds:
                self.exprs.bind(name, name)
        else:
            raise TypeError(f"not a statement: {a!r}")
        return []

    def _for(self, path: Path, a: For, b: For) -> list[_Body | _Results]:
        path = (*path, f"for {a.index}")
        _same_text((*path, "kind"), a.kind, b.kind)
        self._exprs(path, [("start", a.start, b.start), ("stop", a.stop, b.stop), ("step", a.step, b.step)])
        self._named(path, "keyword", a.kwargs, b.kwargs)
        self._named(path, "attribute", a.attrs, b.attrs)
        self._inits(path, a.carries, b.carries)
        self.exprs.bind(a.index, b.index)
        self._bind_carries(path, a.carries, b.carries)
        return [_Body(path, _pairs(path, a.body, b.body)), self._deferred(path, a.results, b.results)]

    def _while(self, path: Path, a: While, b: While) -> list[_Body | _Results]:
        path = (*path, "while")
        self._inits(path, a.carries, b.carries)
        self._bind_carries(path, a.carries, b.carries)
        self._exprs(path, [("condition", a.condition, b.condition)])
        return [_Body(path, _pairs(path, a.body, b.body)), self._deferred(path, a.results, b.results)]

    def _if(self, path: Path, a: If, b: If) -> list[_Body | _Results]:
        path = (*path, "if")
        self._exprs(path, [("condition", a.condition, b.condition)])
        if (a.orelse is None) != (b.orelse is None):
            raise Differs((*path, "else"), *(None if side is None else "else" for side in (a.orelse, b.orelse)))
        left, right = [("then", a.then)], [b.then]
        if a.orelse is not None and b.orelse is not None:
            left.append(("else", a.orelse))
            right.append(b.orelse)
        todo: list[_Body | _Results] = []
        for (name, block), other in zip(left, right, strict=True):
            todo.append(_Body((*path, name), _pairs((*path, name), block, other)))
        todo.append(self._deferred(path, a.results, b.results))
        return todo

    # --------------------------------------------------------------- carries and results

    def _inits(self, path: Path, left: tuple[Carry, ...], right: tuple[Carry, ...]) -> None:
        _same_count((*path, "iter-args"), left, right)
        inits = ([carry.init for carry in side] for side in (left, right))
        self._exprs(path, numbered("init", *inits))

    def _bind_carries(self, path: Path, left: tuple[Carry, ...], right: tuple[Carry, ...]) -> None:
        for a, b in zip(left, right, strict=True):
            self._types((*path, f"type of '{a.name}'"), a.type, b.type)
        for a, b in zip(left, right, strict=True):
            self.exprs.bind(a.name, b.name)

    def _deferred(self, path: Path, left: tuple[Result, ...], right: tuple[Result, ...]) -> _Results:
        _same_count((*path, "results"), left, right)
        return _Results(path, left, right)

    def _bind_results(self, task: _Results) -> None:
        for a, b in zip(task.left, task.right, strict=True):
            self._types((*task.path, f"type of '{a.name}'"), a.type, b.type)
        for a, b in zip(task.left, task.right, strict=True):
            self.exprs.bind(a.name, b.name)

    # -------------------------------------------------------------------------- pieces

    def _exprs(self, path: Path, parts: Iterable[Part]) -> None:
        for name, a, b in parts:
            if a is None or b is None or not self.exprs.same(a, b):
                raise self.exprs.located((*path, name) if name else path, a, b)

    def _named(self, path: Path, what: str, left: NamedExprs, right: NamedExprs) -> None:
        self._exprs(path, by_name(what, left, right))

    def _types(self, path: Path, a: Type, b: Type) -> None:
        if self.compare_types and not self.exprs.same_type(a, b):
            raise Differs(path, print_type(a), print_type(b))


def _pairs(path: Path, left: Block, right: Block) -> Iterator[tuple[int, Stmt, Stmt]]:
    """Statements of both blocks side by side, comments left out."""
    a = [stmt for stmt in left if type(stmt) is not Comment]
    b = [stmt for stmt in right if type(stmt) is not Comment]
    number = 0
    for number, (x, y) in enumerate(zip(a, b, strict=False), 1):
        yield number, x, y
    if len(a) != len(b):
        rest = [_head(side[number]) if number < len(side) else None for side in (a, b)]
        raise Differs((*path, f"statement {number + 1}"), *rest)


def _head(stmt: Stmt) -> str:
    return print_stmt(stmt).partition("\n")[0]


def _same_text(path: Path, left: str | None, right: str | None) -> None:
    if left != right:
        raise Differs(path, left, right)


def _same_count(path: Path, left: Sequence[object], right: Sequence[object]) -> None:
    _same_text(path, str(len(left)), str(len(right)))
