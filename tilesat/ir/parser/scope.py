"""Names in scope while a function is parsed; a name bound again gets a fresh one (SSA)."""

from __future__ import annotations

from tilesat.ir.nodes import Expr, Var
from tilesat.ir.types import Type


class Scope:
    """Maps names of the text to unique names of the program, block by block.

    A binding made in a block is forgotten when the block ends, so a use outside is reported as
    undefined instead of silently reading a value that does not dominate it.
    """

    def __init__(self, dims: tuple[str, ...]) -> None:
        self._bound: dict[str, Var] = {name: Var(name) for name in dims}
        self._types: dict[str, Type] = {}
        self._taken: set[str] = set(dims)
        self._undo: list[tuple[str, Var | None]] = []
        self.renamed = False

    def enter(self) -> int:
        """Open a block; give the mark back to :meth:`leave`."""
        return len(self._undo)

    def leave(self, mark: int) -> None:
        while len(self._undo) > mark:
            name, previous = self._undo.pop()
            if previous is None:
                del self._bound[name]
            else:
                self._bound[name] = previous

    def fresh(self, hint: str) -> str:
        """An unused name: ``hint``, or ``hint_1``, ``hint_2``, ..."""
        name, suffix = hint, 0
        while name in self._taken:
            suffix += 1
            name = f"{hint}_{suffix}"
        self._taken.add(name)
        return name

    def bind(self, name: str, type: Type | None) -> str:
        """Bind ``name`` here; returns the unique name it stands for."""
        unique = self.fresh(name)
        if unique != name:
            self.renamed = True
        self._undo.append((name, self._bound.get(name)))
        self._bound[name] = Var(unique)
        if type is not None:
            self._types[unique] = type
        return unique

    def lookup(self, name: str) -> Var | None:
        return self._bound.get(name)

    def is_same_name(self, name: str) -> bool:
        """Whether ``name`` stands for itself here."""
        var = self._bound.get(name)
        return var is not None and var.name == name

    def type_of(self, expr: Expr) -> Type | None:
        """The type of a variable in scope, else ``None``."""
        return self._types.get(expr.name) if isinstance(expr, Var) else None

    @property
    def types(self) -> dict[str, Type]:
        """Types by unique name, of everything bound so far."""
        return self._types
