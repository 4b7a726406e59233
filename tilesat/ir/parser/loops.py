"""Loops: counted ones, and ``pl.while_``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tilesat.ir.nodes import Carry, Const, Expr, For, ListExpr, NamedExprs, Result, Stmt, Var, While
from tilesat.ir.parser.exprs import check_keywords, dotted_name
from tilesat.ir.parser.hazards import read_before_bound
from tilesat.ir.parser.opaque import NotModelled
from tilesat.ir.parser.scope import Place
from tilesat.ir.parser.source import counted
from tilesat.ir.parser.values import target_names
from tilesat.ir.parser.yields import Body, bind_results
from tilesat.ir.types import ScalarType

if TYPE_CHECKING:
    from tilesat.ir.parser.stmts import StmtParser

_KINDS = frozenset({"range", "parallel", "pipeline", "unroll", "split_aiv"})
_INDEX = ScalarType("INDEX")


class LoopParser:
    """Parses ``for`` statements."""

    def __init__(self, stmts: StmtParser) -> None:
        self.stmts = stmts
        self.exprs = stmts.exprs
        self.source = stmts.source

    def loop(self, node: ast.For, end: int) -> Stmt:
        call = node.iter
        if node.orelse or not isinstance(call, ast.Call):
            raise NotModelled
        name = dotted_name(call.func) or ""
        if name == "pl.while_":
            return self._while(node, call, end)
        kind = "range" if name == "range" else name.removeprefix("pl.")
        if kind not in _KINDS or name == kind != "range":
            raise NotModelled
        return self._for(node, call, kind, end)

    # ------------------------------------------------------------------------- counted

    def _for(self, node: ast.For, call: ast.Call, kind: str, end: int) -> For:
        scope, place = self.exprs.scope, Place("loop", node.lineno)
        index, names = self._target(node)
        start, stop, step = self._bounds(call)
        kwargs, attrs, inits = self._keywords(call)
        mark = scope.enter()
        unique_index = scope.bind(index, _INDEX)
        carries = self._carries(node, names, inits)
        body = self.stmts.block(node.body, end, place)
        self._close(node.body, body, {index, *names}, mark, place)
        results = self._results(node, carries, body)
        return For(kind, unique_index, start, stop, step, carries, body.block, results, kwargs, attrs)

    def _target(self, node: ast.For) -> tuple[str, list[str]]:
        target = node.target
        if isinstance(target, ast.Name):
            return target.id, []
        if isinstance(target, ast.Tuple) and len(target.elts) == 2:
            index, carried = target.elts
            names = target_names(carried)
            if isinstance(index, ast.Name) and names is not None:
                return index.id, names
        raise self.source.error(
            target, "malformed loop target", "write `for i in ...` or `for i, (a, b) in ...`; one carry is `(a,)`"
        )

    def _bounds(self, call: ast.Call) -> tuple[Expr, Expr, Expr]:
        if not 1 <= len(call.args) <= 3:
            raise self.source.error(call, "a loop takes one to three bounds", "write pl.range(start, stop, step)")
        start, stop, step = (*(self._bound(arg) for arg in call.args), None, None)[:3]
        if stop is None:
            return Const(0), start or Const(0), Const(1)
        return start or Const(0), stop, step or Const(1)

    def _bound(self, node: ast.expr) -> Expr:
        value = self.exprs.scalar(node, "a loop bound")
        if isinstance(value, Const) and (isinstance(value.value, bool) or not isinstance(value.value, int)):
            raise self.source.error(node, f"a loop bound is {self.source.quoted(node)}", "an integer is needed")
        return value

    def _keywords(self, call: ast.Call) -> tuple[NamedExprs, NamedExprs, tuple[Expr, ...]]:
        """Keywords other than attrs and init values, attrs, init values."""
        check_keywords(self.source, call.keywords)
        kwargs: list[tuple[str, Expr]] = []
        attrs: NamedExprs = ()
        inits: tuple[Expr, ...] = ()
        for keyword in call.keywords:
            name = keyword.arg or ""
            items = self.exprs.named_items(keyword.value) if name == "attrs" else None
            if items is not None:
                attrs = items
            elif name == "init_values":
                inits = self._init_values(keyword.value)
            else:
                kwargs.append((name, self.exprs.expr(keyword.value)))
        return tuple(kwargs), attrs, inits

    # --------------------------------------------------------------------------- while

    def _while(self, node: ast.For, call: ast.Call, end: int) -> While:
        scope, place = self.exprs.scope, Place("loop", node.lineno)
        names = target_names(node.target)
        if call.args or any(keyword.arg != "init_values" for keyword in call.keywords):
            raise NotModelled
        if not names or not call.keywords:
            raise self.source.error(node, "malformed while loop", "write `for (a,) in pl.while_(init_values=(x,)):`")
        inits = self._init_values(call.keywords[0].value)
        condition = self._condition(node.body[0])
        mark = scope.enter()
        carries = self._carries(node, names, inits)
        test = self.exprs.scalar(condition, "the condition")
        if len(node.body) == 1:
            raise self._yields_nothing(node, carries)
        body = self.stmts.block(node.body[1:], end, place)
        self._close(node.body, body, set(names), mark, place)
        return While(carries, test, body.block, self._results(node, carries, body))

    def _condition(self, first: ast.stmt) -> ast.expr:
        call = first.value if isinstance(first, ast.Expr) else None
        if isinstance(call, ast.Call) and dotted_name(call.func) == "pl.cond":
            if len(call.args) == 1 and not call.keywords:
                return call.args[0]
        raise self.source.error(first, "a while loop starts with its condition", "write pl.cond(...) first")

    # ----------------------------------------------------------------- carries, results

    def _init_values(self, node: ast.expr) -> tuple[Expr, ...]:
        value = self.exprs.expr(node)
        if not isinstance(value, ListExpr):
            raise self.source.error(node, "init_values is a tuple", "write init_values=(x,)")
        return value.items

    def _carries(self, node: ast.For, names: list[str], inits: tuple[Expr, ...]) -> tuple[Carry, ...]:
        """The iter-args, bound; those the loop does not name get names that the text cannot use."""
        if names and len(names) != len(inits):
            raise self.source.error(
                node.target,
                f"the loop binds {counted(len(names), 'iter-arg')} but has {counted(len(inits), 'init value')}",
                "name each init value once",
            )
        scope, carries = self.exprs.scope, []
        for position, init in enumerate(inits):
            hint = f"{init.name}_iter" if isinstance(init, Var) else f"iter_{position}"
            name = names[position] if names else hint
            type_ = self.stmts.values.type_of(init, node)
            if type_ is None:
                raise self.source.error(node, f"the type of iter-arg '{name}' cannot be deduced", "bind its init first")
            unique = scope.bind(name, type_) if names else scope.unnamed(name, type_)
            carries.append(Carry(unique, type_, init))
        return tuple(carries)

    def _close(self, nodes: list[ast.stmt], body: Body, own: set[str], mark: int, place: Place) -> None:
        """End the loop: what it bound again is unknown after it, and may not be read by its next round."""
        scope = self.exprs.scope
        hidden = scope.leave(mark, place)
        rebound = [name for name in body.rebound if name in scope.bound]
        for name in rebound:
            read = read_before_bound(nodes, name) if name not in own else None
            if read is not None:
                raise self.source.error(
                    read,
                    f"'{name}' is read here and bound again later in {place}: the next round would see the new value",
                    f"carry it: init_values=({name},), and end the body with {name} = pl.yield_(...)",
                )
        scope.expire([*rebound, *hidden], place)

    def _yields_nothing(self, node: ast.For, carries: tuple[Carry, ...]) -> Exception:
        count = counted(len(carries), "iter-arg")
        return self.source.error(node, f"the loop has {count} but yields nothing", "end its body with pl.yield_")

    def _results(self, node: ast.For, carries: tuple[Carry, ...], body: Body) -> tuple[Result, ...]:
        yielded = body.yielded
        if yielded is None:
            if carries:
                raise self._yields_nothing(node, carries)
            return ()
        count = len(yielded.values)
        if count != len(carries):
            raise self.source.error(
                yielded.node,
                f"the loop has {counted(len(carries), 'iter-arg')} but yields {counted(count, 'value')}",
                "yield one value for each iter-arg",
            )
        hints = [f"{carry.name}_out" for carry in carries]
        return bind_results(yielded, [c.type for c in carries], hints, self.exprs.scope, self.source)
