"""What was worked out about functions, kept from one pattern to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from tilesat.ir.accesses import Accesses, Scalars
from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import Function, Program
from tilesat.ir_terms.orch_facts_origins import HandsBack, Origins

T = TypeVar("T")


class Workspace:
    """What was worked out about functions; a function that did not change is analysed once."""

    def __init__(self) -> None:
        self._indexes: dict[int, tuple[Function, FunctionIndex]] = {}
        self._scalars: dict[int, tuple[Function, Scalars]] = {}
        self._accesses: dict[int, tuple[Function, Accesses]] = {}
        self._derived: dict[tuple[str, int], tuple[Function, Any]] = {}
        self._origins: dict[tuple[int, str], tuple[Function, Origins]] = {}
        self.programs: dict[int, tuple[Program, Any]] = {}
        """Facts of the last programs, which :func:`tilesat.ir_terms.orch_facts.program_facts` keeps here."""
        self._same: dict[Function, Function] = {}
        self._shared: dict[int, tuple[Function, Function]] = {}

    def shared(self, function: Function) -> Function:
        """A function that differs from ``function`` in nothing but its name; the same one for all alike."""
        known = self._shared.get(id(function))
        if known is None:
            key = replace(function, name="")
            known = self._shared[id(function)] = (function, self._same.setdefault(key, function))
        return known[1]

    def index(self, function: Function) -> FunctionIndex:
        known = self._indexes.get(id(function))
        if known is None:
            known = self._indexes[id(function)] = (function, FunctionIndex(function))
        return known[1]

    def scalars(self, function: Function) -> Scalars:
        known = self._scalars.get(id(function))
        if known is None:
            known = self._scalars[id(function)] = (function, Scalars(self.index(function)))
        return known[1]

    def accesses(self, function: Function) -> Accesses:
        """What ``function``, or one just like it, does to its tensor parameters."""
        function = self.shared(function)
        known = self._accesses.get(id(function))
        if known is None:
            scalars = self.scalars(function)
            known = self._accesses[id(function)] = (function, Accesses(self.index(function), scalars))
        return known[1]

    def origins(self, function: Function, callees: Mapping[str, HandsBack]) -> Origins:
        """The chains of ``function``, whose calls hand back what ``callees`` say."""
        key = (id(function), repr(sorted((name, sorted(handed.items())) for name, handed in callees.items())))
        known = self._origins.get(key)
        if known is None:
            known = self._origins[key] = (function, Origins(self.index(function), callees))
        return known[1]

    def derived(self, what: str, function: Function, compute: Callable[[Function], T]) -> T:
        """What ``compute`` makes of ``function``, or of one just like it, found once."""
        function = self.shared(function)
        known = self._derived.get((what, id(function)))
        if known is None:
            known = self._derived[what, id(function)] = (function, compute(function))
        result: T = known[1]
        return result
