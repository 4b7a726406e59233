"""Which statement list each statement of a function stands in, and whether dependencies there are stated by hand."""

from __future__ import annotations

from tilesat.ir.nodes import EnumConst, Function, Scope, Stmt
from tilesat.ir.walk import blocks


class StatementLists:
    """``numbers`` has for each site the number of its list, ``manual`` the sites inside manual scopes."""

    def __init__(self, function: Function) -> None:
        self.numbers: list[int] = []
        self.manual: set[int] = set()
        self._count = 0
        self._visit(function.body, is_manual=False)

    def _visit(self, body: tuple[Stmt, ...], *, is_manual: bool) -> None:
        number, self._count = self._count, self._count + 1
        for stmt in body:
            if is_manual:
                self.manual.add(len(self.numbers))
            self.numbers.append(number)
            for inner in blocks(stmt):
                self._visit(inner, is_manual=is_manual or (isinstance(stmt, Scope) and is_manual_scope(stmt)))


def is_manual_scope(scope: Scope) -> bool:
    """Whether dependencies in ``scope`` are stated by hand alone."""
    return any(isinstance(value, EnumConst) and value.path.endswith(".MANUAL") for _, value in scope.kwargs)
