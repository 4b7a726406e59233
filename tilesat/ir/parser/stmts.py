"""Statements of a function body."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tilesat.ir.deduce import deduce_type
from tilesat.ir.nodes import (
    Assign,
    BinOp,
    Block,
    Carry,
    Comment,
    Const,
    EvalStmt,
    Expr,
    For,
    If,
    ListExpr,
    NamedExprs,
    OpaqueStmt,
    Result,
    Return,
    Scope,
    Stmt,
    TupleGet,
    Var,
    While,
    Yield,
)
from tilesat.ir.parser.exprs import _BIN_OPS, ExprParser, dotted_name
from tilesat.ir.parser.source import identifiers
from tilesat.ir.parser.types import TypeParser
from tilesat.ir.types import ScalarType, TupleType, Type

_LOOPS = frozenset({"range", "parallel", "pipeline", "unroll", "split_aiv"})
_FAR = 1 << 60


@dataclass(slots=True)
class _YieldNames:
    """What a body's final yield assigns: names as written, the annotation, and where."""

    names: list[str]
    type: Type | None
    node: ast.stmt


class StmtParser:
    """Parses function bodies; one object serves all functions of a program."""

    def __init__(self, exprs: ExprParser, types: TypeParser) -> None:
        self.exprs = exprs
        self.types = types
        self.source = exprs.source
        self.memory: set[str] = types.memrefs

    # -------------------------------------------------------------------------- blocks

    def block(self, nodes: list[ast.stmt], end: int = _FAR) -> tuple[Block, _YieldNames | None]:
        """The statements ``nodes``, in a block of their own, and what its final yield assigns.

        ``end`` is the line where the text after the block begins, for the comments that close it.
        """
        mark = self.exprs.scope.enter()
        parsed = self._statements(nodes, end)
        self.exprs.scope.leave(mark)
        return parsed

    def _statements(self, nodes: list[ast.stmt], end: int) -> tuple[Block, _YieldNames | None]:
        stmts: list[Stmt] = []
        yielded: _YieldNames | None = None
        for position, node in enumerate(nodes):
            stmts += [Comment(c.text) for c in self.source.take_comments(node.lineno)]
            following = nodes[position + 1].lineno if position + 1 < len(nodes) else end
            call = _yield_call(node)
            if call is None:
                stmts += self.statement(node, following)
                continue
            if position + 1 < len(nodes):
                raise self.source.error(node, "pl.yield_ must end its block", "move it to the end")
            stmts.append(Yield(self.exprs.exprs(call.args)))
            yielded = self._yield_names(node)
        if nodes:
            stmts += [Comment(c.text) for c in self.source.take_comments(end, nodes[0].col_offset)]
        return tuple(stmts), yielded

    def _yield_names(self, node: ast.stmt) -> _YieldNames:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            return _YieldNames([node.target.id], self.types.type(node.annotation), node)
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            if all(isinstance(part, ast.Name) for part in parts):
                return _YieldNames([part.id for part in parts if isinstance(part, ast.Name)], None, node)
        return _YieldNames([], None, node)

    # ---------------------------------------------------------------------- statements

    def statement(self, node: ast.stmt, end: int) -> list[Stmt]:
        """The IR statements for ``node``; several where a form is unfolded."""
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            return [self._assign(node, node.target.id, self.exprs.expr(node.value), self.types.type(node.annotation))]
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            return self._plain_assign(node, node.targets[0])
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and type(node.op) in _BIN_OPS:
            old = self.exprs.expr(ast.copy_location(ast.Name(node.target.id, ast.Load()), node))
            value = BinOp(_BIN_OPS[type(node.op)], old, self.exprs.expr(node.value))
            return [self._assign(node, node.target.id, value, self.exprs.scope.type_of(old))]
        if isinstance(node, ast.Expr):
            return self._bare(node)
        if isinstance(node, ast.For) and not node.orelse:
            return self._loop(node, end)
        if isinstance(node, ast.If):
            return [self._if(node, end)]
        if isinstance(node, ast.With):
            return self._with(node, end)
        if isinstance(node, ast.Return):
            return [self._return(node)]
        if isinstance(node, ast.Pass):
            return []
        return [self._opaque(node)]

    def _opaque(self, node: ast.stmt) -> OpaqueStmt:
        lines = self.source.statement_lines(node)
        names = tuple(n for n in identifiers("\n".join(lines)) if self.exprs.scope.lookup(n) is not None)
        for name in names:
            if not self.exprs.scope.is_same_name(name):
                raise self.source.error(
                    node,
                    f"a statement that is not modelled names '{name}', which is bound more than once",
                    "give the rebound variable a name of its own",
                )
        if node.end_lineno is not None:
            self.source.skip_comments(node.end_lineno + 1)
        return OpaqueStmt(lines, names)

    def _assign(self, node: ast.stmt, name: str, value: Expr, type_: Type | None) -> Assign:
        if type_ is None:
            type_ = deduce_type(value, self.exprs.scope.types)
        if type_ is None:
            raise self.source.error(
                node, f"the type of '{name}' cannot be deduced", f"annotate it: {name}: pl.Tile[...] = ..."
            )
        return Assign(self.exprs.scope.bind(name, type_), type_, value)

    def _plain_assign(self, node: ast.Assign, target: ast.expr) -> list[Stmt]:
        if isinstance(target, ast.Name):
            return [self._assign(node, target.id, self.exprs.expr(node.value), None)]
        if not (isinstance(target, ast.Tuple) and all(isinstance(part, ast.Name) for part in target.elts)):
            return [self._opaque(node)]
        whole = self._assign(node, "_tuple_tmp", self.exprs.expr(node.value), None)
        if not isinstance(whole.type, TupleType) or len(whole.type.elements) != len(target.elts):
            raise self.source.error(node, "the value is no tuple of this many elements", "name each element")
        parts: list[Stmt] = [whole]
        for index, (part, type_) in enumerate(zip(target.elts, whole.type.elements, strict=True)):
            if isinstance(part, ast.Name):
                parts.append(self._assign(node, part.id, TupleGet(Var(whole.name), index), type_))
        return parts

    def _bare(self, node: ast.Expr) -> list[Stmt]:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return [Comment(f" {line.strip()}") for line in node.value.value.strip().splitlines()]
        return [EvalStmt(self.exprs.expr(node.value))]

    def _return(self, node: ast.Return) -> Return:
        if node.value is None:
            return Return(())
        if isinstance(node.value, ast.Tuple):
            return Return(self.exprs.exprs(node.value.elts))
        return Return((self.exprs.expr(node.value),))

    # ---------------------------------------------------------------------- structures

    def _if(self, node: ast.If, end: int) -> If:
        condition = self.exprs.expr(node.test)
        then_end = node.orelse[0].lineno if node.orelse else end
        then, then_yield = self.block(node.body, then_end)
        orelse: Block | None = None
        else_yield: _YieldNames | None = None
        if node.orelse:
            orelse, else_yield = self.block(node.orelse, end)
        results = self._if_results(node, then, orelse, then_yield, else_yield)
        return If(condition, then, orelse, results)

    def _if_results(
        self,
        node: ast.If,
        then: Block,
        orelse: Block | None,
        then_yield: _YieldNames | None,
        else_yield: _YieldNames | None,
    ) -> tuple[Result, ...]:
        if then_yield is None and else_yield is None:
            return ()
        if then_yield is None or else_yield is None or orelse is None:
            raise self.source.error(node, "only one branch of the if yields", "end both with pl.yield_")
        first, second = _final_yield(then), _final_yield(orelse)
        if then_yield.names != else_yield.names or len(first.values) != len(second.values):
            raise self.source.error(
                else_yield.node,
                "the branches of the if yield different variables",
                "assign the same names in both",
            )
        types = [self._value_type(value) for value in first.values]
        return self._results(then_yield, types, [f"phi_{i}" for i in range(len(types))])

    def _results(self, yielded: _YieldNames, types: list[Type | None], hints: list[str]) -> tuple[Result, ...]:
        """Bind what a yield assigns. Only a single value carries an annotation (section 2.2)."""
        names = yielded.names or hints
        if len(names) != len(types):
            raise self.source.error(
                yielded.node,
                f"the yield gives {len(types)} values to {len(names)} names",
                "name each value once",
            )
        results = []
        for name, type_ in zip(names, types, strict=True):
            stated = yielded.type if len(types) == 1 and yielded.type is not None else type_
            if stated is None:
                raise self.source.error(yielded.node, f"the type of '{name}' cannot be deduced", "annotate it")
            results.append(Result(self.exprs.scope.bind(name, stated), stated))
        return tuple(results)

    def _value_type(self, value: Expr) -> Type | None:
        return deduce_type(value, self.exprs.scope.types)

    def _loop(self, node: ast.For, end: int) -> list[Stmt]:
        call = node.iter if isinstance(node.iter, ast.Call) else None
        name = dotted_name(call.func) if call is not None else None
        if call is not None and name == "pl.while_":
            return [self._while(node, call, end)]
        if call is not None and name == "range":
            name = "pl.range"
        if call is None or name is None or not name.startswith("pl.") or name[3:] not in _LOOPS:
            return [self._opaque(node)]
        return [self._for(node, call, name[3:], end)]

    def _for(self, node: ast.For, call: ast.Call, kind: str, end: int) -> For:
        index, carry_names = self._loop_target(node)
        start, stop, step = self._loop_bounds(call)
        kwargs: list[tuple[str, Expr]] = []
        attrs: NamedExprs = ()
        inits: tuple[Expr, ...] = ()
        for keyword in call.keywords:
            items = self.exprs.named_items(keyword.value) if keyword.arg == "attrs" else None
            if items is not None:
                attrs = items
            elif keyword.arg == "init_values":
                inits = self._init_values(keyword.value)
            elif keyword.arg is not None:
                kwargs.append((keyword.arg, self.exprs.expr(keyword.value)))
        mark = self.exprs.scope.enter()
        unique_index = self.exprs.scope.bind(index, ScalarType("INDEX"))
        carries = self._carries(node, carry_names, inits)
        body, yielded = self.block(node.body, end)
        self.exprs.scope.leave(mark)
        results = self._loop_results(node, carries, body, yielded)
        return For(kind, unique_index, start, stop, step, carries, body, results, tuple(kwargs), attrs)

    def _loop_target(self, node: ast.For) -> tuple[str, list[str]]:
        target = node.target
        if isinstance(target, ast.Name):
            return target.id, []
        if isinstance(target, ast.Tuple) and len(target.elts) == 2:
            index, carried = target.elts
            parts = carried.elts if isinstance(carried, ast.Tuple) else []
            if isinstance(index, ast.Name) and all(isinstance(part, ast.Name) for part in parts):
                return index.id, [part.id for part in parts if isinstance(part, ast.Name)]
        raise self.source.error(node, "malformed loop target", "write `for i in ...` or `for i, (a, b) in ...`")

    def _loop_bounds(self, call: ast.Call) -> tuple[Expr, Expr, Expr]:
        args = self.exprs.exprs(call.args)
        if len(args) == 1:
            return Const(0), args[0], Const(1)
        if len(args) == 2:
            return args[0], args[1], Const(1)
        if len(args) == 3:
            return args[0], args[1], args[2]
        raise self.source.error(call, "a loop takes one to three bounds", "write pl.range(start, stop, step)")

    def _init_values(self, node: ast.expr) -> tuple[Expr, ...]:
        value = self.exprs.expr(node)
        if not isinstance(value, ListExpr):
            raise self.source.error(node, "init_values is a tuple", "write init_values=(x,)")
        return value.items

    def _carries(self, node: ast.For, names: list[str], inits: tuple[Expr, ...]) -> tuple[Carry, ...]:
        if len(names) != len(inits):
            raise self.source.error(
                node,
                f"the loop binds {len(names)} iter-args but has {len(inits)} init values",
                "name each init value once",
            )
        carries = []
        for name, init in zip(names, inits, strict=True):
            type_ = self._value_type(init)
            if type_ is None:
                raise self.source.error(node, f"the type of iter-arg '{name}' cannot be deduced", "bind its init first")
            carries.append(Carry(self.exprs.scope.bind(name, type_), type_, init))
        return tuple(carries)

    def _loop_results(
        self, node: ast.stmt, carries: tuple[Carry, ...], body: Block, yielded: _YieldNames | None
    ) -> tuple[Result, ...]:
        if yielded is None:
            if carries:
                raise self.source.error(
                    node,
                    f"the loop has {len(carries)} iter-args but yields nothing",
                    "end its body with pl.yield_",
                )
            return ()
        count = len(_final_yield(body).values)
        if count != len(carries):
            raise self.source.error(
                yielded.node,
                f"the loop has {len(carries)} iter-args but yields {count} values",
                "yield one value for each iter-arg",
            )
        return self._results(yielded, [carry.type for carry in carries], [f"{c.name}_out" for c in carries])

    def _while(self, node: ast.For, call: ast.Call, end: int) -> While:
        parts = node.target.elts if isinstance(node.target, ast.Tuple) else []
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        init = next((keyword.value for keyword in call.keywords if keyword.arg == "init_values"), None)
        if not names or len(names) != len(parts) or init is None:
            raise self.source.error(node, "malformed while loop", "write `for (a,) in pl.while_(init_values=(x,)):`")
        inits = self._init_values(init)
        mark = self.exprs.scope.enter()
        carries = self._carries(node, names, inits)
        first = node.body[0]
        condition = first.value if isinstance(first, ast.Expr) else None
        if not (
            isinstance(condition, ast.Call) and dotted_name(condition.func) == "pl.cond" and len(condition.args) == 1
        ):
            raise self.source.error(first, "a while loop starts with its condition", "write pl.cond(...) first")
        test = self.exprs.expr(condition.args[0])
        body, yielded = self.block(node.body[1:], end)
        self.exprs.scope.leave(mark)
        return While(carries, test, body, self._loop_results(node, carries, body, yielded))

    def _with(self, node: ast.With, end: int) -> list[Stmt]:
        item = node.items[0]
        call = item.context_expr
        is_scope = isinstance(call, ast.Call) and dotted_name(call.func) == "pl.scope"
        if not is_scope or not isinstance(call, ast.Call) or len(node.items) > 1 or item.optional_vars or call.args:
            return [self._opaque(node)]
        kwargs = tuple((k.arg, self.exprs.expr(k.value)) for k in call.keywords if k.arg is not None)
        # A runtime scope does not hide names: its contents count as a nested statement list.
        body, _ = self._statements(node.body, end)
        return [Scope(kwargs, body)]


def _yield_call(node: ast.stmt) -> ast.Call | None:
    """The ``pl.yield_`` call that ``node`` is, or assigns."""
    value = node.value if isinstance(node, (ast.AnnAssign, ast.Assign, ast.Expr)) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "yield_":
        return value
    return None


def _final_yield(block: Block) -> Yield:
    for stmt in reversed(block):
        if isinstance(stmt, Yield):
            return stmt
    raise AssertionError("a block whose yield was parsed has one")
