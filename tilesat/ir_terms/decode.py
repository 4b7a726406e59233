"""A program read back from the e-graph alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilesat.errors import TilesatError
from tilesat.ir.nodes import (
    Assign,
    BinOp,
    Block,
    Carry,
    Cast,
    Comment,
    Const,
    DictExpr,
    EnumConst,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    Function,
    If,
    ListExpr,
    NamedExprs,
    NoneConst,
    OpaqueExpr,
    OpaqueStmt,
    OpCall,
    Param,
    Program,
    Result,
    Return,
    ScalarFn,
    Scope,
    Stmt,
    StrConst,
    Submit,
    TupleGet,
    UnaryOp,
    Var,
    While,
    Yield,
)
from tilesat.ir.parser import TypeReader
from tilesat.ir.types import Direction, Type
from tilesat.ir_terms.bundle import Tables
from tilesat.ir_terms.encode import SEPARATOR
from tilesat.ir_terms.relations.base import kind_of
from tilesat.ir_terms.schema import CONSTRUCTORS, handle


class Decoder:
    """Reads terms out of ``graph``; only the syntax layer is looked at, nothing Python remembers."""

    def __init__(self, graph: Tables) -> None:
        self._graph = graph
        self._nodes: dict[str, dict[Any, tuple[str, tuple[Any, ...]]]] = {}
        """Terms by sort and class; those of a sort are read when the first of them is needed."""
        self._types = TypeReader()
        self._exprs: dict[Any, Expr] = {}

    def program(self, number: int) -> Program:
        """The program entered under ``number``."""
        name, dims, preamble, newline, functions = self._args("Prog", self._root("Prog", number))
        return Program(
            name,
            tuple(self._list("Funcs", functions, lambda args: self._function(args[0]))),
            _split(dims),
            _split(preamble),
            bool(newline),
        )

    def function(self, number: int) -> Function:
        """The function entered under ``number``."""
        return self._function(self._root("Func", number))

    def _root(self, sort: str, number: int) -> Any:
        """The class of what was entered under ``number``."""
        return dict(self._graph.table(handle(sort)).read("int", "class"))[number]

    def _args(self, sort: str, cls: Any) -> tuple[Any, ...]:
        return self._node(sort, cls)[1]

    def _node(self, sort: str, cls: Any) -> tuple[str, tuple[Any, ...]]:
        known = self._nodes.get(sort)
        if known is None:
            known = self._nodes[sort] = self._read(sort)
        node = known.get(cls)
        if node is None:
            raise TilesatError(f"the e-graph has a {sort} class without a term")
        return node

    def _read(self, sort: str) -> dict[Any, tuple[str, tuple[Any, ...]]]:
        found: dict[Any, tuple[str, tuple[Any, ...]]] = {}
        for con in CONSTRUCTORS:
            if con.sort == sort:
                rows = self._graph.table(con.name).read(*map(kind_of, con.columns))
                found.update((row[-1], (con.name, row[:-1])) for row in rows)
        return found

    def _list(self, sort: str, cls: Any, item: Callable[[tuple[Any, ...]], Any]) -> list[Any]:
        """Items of a linked list whose last argument is the rest."""
        items = []
        _, args = self._node(sort, cls)
        while args:
            items.append(item(args))
            _, args = self._node(sort, args[-1])
        return items

    # --------------------------------------------------------------------- expressions

    def _expr(self, cls: Any) -> Expr:
        known = self._exprs.get(cls)
        if known is None:
            name, args = self._node("Expr", cls)
            known = self._exprs[cls] = _EXPRS[name](self, args)
        return known

    def items(self, cls: Any) -> tuple[Expr, ...]:
        """The expressions of list class ``cls``."""
        return self._items(cls)

    def _items(self, cls: Any) -> tuple[Expr, ...]:
        return tuple(self._list("Exprs", cls, lambda args: self._expr(args[0])))

    def _named(self, cls: Any) -> NamedExprs:
        return tuple(self._list("Named", cls, lambda args: (args[0], self._expr(args[1]))))

    # ---------------------------------------------------------------------- statements

    def _type(self, text: str) -> Type:
        return self._types.read(text)

    def _block(self, cls: Any) -> Block:
        return tuple(self._list("Block", cls, lambda args: self._stmt(args[0])))

    def _stmt(self, cls: Any) -> Stmt:
        name, args = self._node("Stmt", cls)
        return _STMTS[name](self, args)

    def _carries(self, cls: Any) -> tuple[Carry, ...]:
        return tuple(self._list("Carries", cls, lambda a: Carry(a[0], self._type(a[1]), self._expr(a[2]))))

    def _results(self, cls: Any) -> tuple[Result, ...]:
        return tuple(self._list("Results", cls, lambda a: Result(a[0], self._type(a[1]))))

    def _for(self, args: tuple[Any, ...]) -> Stmt:
        _, kind, index, bounds, carries, body, results, kwargs, attrs = args
        start, stop, step = self._items(bounds)
        return For(
            kind,
            index,
            start,
            stop,
            step,
            self._carries(carries),
            self._block(body),
            self._results(results),
            self._named(kwargs),
            self._named(attrs),
        )

    def _while(self, args: tuple[Any, ...]) -> Stmt:
        _, carries, condition, body, results = args
        return While(self._carries(carries), self._expr(condition), self._block(body), self._results(results))

    def _if(self, args: tuple[Any, ...]) -> Stmt:
        _, condition, then, orelse, has_else, results = args
        other = self._block(orelse) if has_else else None
        return If(self._expr(condition), self._block(then), other, self._results(results))

    def _function(self, cls: Any) -> Function:
        name, kind, level, role, params, returns, body, options, attrs = self._args("Func", cls)
        return Function(
            name,
            tuple(self._list("Params", params, lambda a: Param(a[0], self._type(a[2]), Direction(a[1])))),
            tuple(self._list("Types", returns, lambda a: self._type(a[0]))),
            self._block(body),
            kind,
            level or None,
            role or None,
            self._named(options),
            self._named(attrs),
        )


def _split(text: str) -> tuple[str, ...]:
    return tuple(text.split(SEPARATOR)) if text else ()


_EXPRS: dict[str, Callable[[Decoder, tuple[Any, ...]], Expr]] = {
    "Var": lambda self, a: Var(a[0]),
    "IntC": lambda self, a: Const(a[0], a[1]),
    "BigC": lambda self, a: Const(int(a[0]), a[1]),
    "FloatC": lambda self, a: Const(float(a[0]), a[1]),
    "BoolC": lambda self, a: Const(bool(a[0]), a[1]),
    "StrC": lambda self, a: StrConst(a[0], a[1]),
    "NoneC": lambda self, a: NoneConst(),
    "EnumC": lambda self, a: EnumConst(a[0]),
    "ListE": lambda self, a: ListExpr(self._items(a[0])),
    "DictE": lambda self, a: DictExpr(self._named(a[0])),
    "Bin": lambda self, a: BinOp(a[0], self._expr(a[1]), self._expr(a[2])),
    "Un": lambda self, a: UnaryOp(a[0], self._expr(a[1])),
    "Fn": lambda self, a: ScalarFn(a[0], self._items(a[1])),
    "CastE": lambda self, a: Cast(self._expr(a[0]), a[1]),
    "Get": lambda self, a: TupleGet(self._expr(a[0]), a[1]),
    "OpaqueE": lambda self, a: OpaqueExpr(a[0], _split(a[1])),
    "Op": lambda self, a: OpCall(a[0], self._items(a[1]), self._named(a[2]), self._named(a[3])),
    "Invoke": lambda self, a: FuncCall(a[0], self._items(a[1]), self._named(a[2]), self._named(a[3])),
    "SubmitE": lambda self, a: Submit(a[0], self._items(a[1]), self._named(a[2]), self._named(a[3]), bool(a[4])),
}
_STMTS: dict[str, Callable[[Decoder, tuple[Any, ...]], Stmt]] = {
    "Assign": lambda self, a: Assign(a[1], self._type(a[2]), self._expr(a[3])),
    "Eval": lambda self, a: EvalStmt(self._expr(a[1])),
    "ForS": Decoder._for,
    "WhileS": Decoder._while,
    "IfS": Decoder._if,
    "ScopeS": lambda self, a: Scope(self._named(a[1]), self._block(a[2])),
    "YieldS": lambda self, a: Yield(self._items(a[1])),
    "ReturnS": lambda self, a: Return(self._items(a[1])),
    "CommentS": lambda self, a: Comment(a[1]),
    "OpaqueS": lambda self, a: OpaqueStmt(_split(a[1]), _split(a[2]), _split(a[3])),
}
