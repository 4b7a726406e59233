"""What the functions of a program return, for calls whose result the text does not annotate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tilesat.ir.nodes import Expr, FuncCall, Param, Submit
from tilesat.ir.types import Type
from tilesat.ir.walk import names_in_type, rename_type


class Signatures:
    """Parameters and declared results of every function, by name."""

    def __init__(self, dims: Iterable[str]) -> None:
        self._dims = dims
        self._known: dict[str, tuple[tuple[Param, ...], tuple[Type, ...]]] = {}

    def add(self, name: str, params: tuple[Param, ...], returns: tuple[Type, ...]) -> None:
        self._known[name] = params, returns

    def results(self, call: FuncCall | Submit) -> tuple[Type, ...] | None:
        """The types of what ``call`` gives, in terms of its arguments; ``None`` when they are open.

        Declared results may depend on scalar parameters, which only the callee knows by their names.
        """
        if call.callee not in self._known:
            return None
        params, returns = self._known[call.callee]
        names = {name for type_ in returns for name in names_in_type(type_)}.difference(self._dims)
        if not names:
            return returns
        given: Mapping[str, Expr] = {p.name: a for p, a in zip(params, call.args, strict=False)}
        if not names <= given.keys():
            return None
        return tuple([rename_type(type_, given) for type_ in returns])

    def problem(self, call: FuncCall | Submit) -> tuple[str, str] | None:
        """Why ``call`` has no type, and what to do about it."""
        if call.callee not in self._known:
            return f"the program has no function '{call.callee}'", "define it, or annotate the result"
        if not self._known[call.callee][1] and isinstance(call, FuncCall):
            return f"function '{call.callee}' returns nothing", "call it without assigning the result"
        return None
