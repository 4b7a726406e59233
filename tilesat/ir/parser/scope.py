"""Names in scope while a function is parsed; a name bound again gets a fresh one (SSA)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from tilesat.ir.nodes import Expr, Var
from tilesat.ir.types import OpaqueType, Type

# Names that every text needs as they are.
_LANGUAGE = ("pl", "pld", "self")
# The type of a variable that a statement binds which is not modelled.
UNKNOWN = OpaqueType("")


class ReservedName(Exception):
    """A text binds ``pl``, ``pld`` or ``self``; the statement that does is the place to report."""


@dataclass(frozen=True, slots=True)
class Place:
    """A block of the text: what it belongs to, and the line where that begins."""

    kind: str
    line: int

    def __str__(self) -> str:
        return f"the {self.kind} of line {self.line}"


class Scope:
    """Maps names of the text to unique names of the program, block by block.

    A binding made in a block is forgotten when the block ends. A name that the block gave another
    value can then be *expired*: which value a later use means would depend on the block having run, so
    such a use is reported instead of silently reading the older value.
    """

    def __init__(self, dims: Mapping[str, str], reserved: Collection[str] = ()) -> None:
        """``dims`` are symbolic dimensions by name in the text; no name of ``reserved`` is made up."""
        self.bound: dict[str, Var] = {name: Var(symbol) for name, symbol in dims.items()}
        self.types: dict[str, Type] = {}
        """Types by unique name, of everything bound so far."""
        # In order of use, so that the latest can be given back.
        self._taken: dict[str, None] = dict.fromkeys([*_LANGUAGE, *dims.values()])
        self._reserved = reserved
        self._undo: list[tuple[str, Var | None]] = []
        self._ended: dict[str, Place] = {}

    # --------------------------------------------------------------------------- blocks

    def enter(self) -> int:
        """Open a block; give the mark back to :meth:`leave`."""
        return len(self._undo)

    def leave(self, mark: int, place: Place) -> list[str]:
        """Close the block; returns the names from outside that it bound again."""
        undo, bound, ended = self._undo, self.bound, self._ended
        rebound = []
        while len(undo) > mark:
            name, previous = undo.pop()
            if previous is None:
                bound.pop(name, None)
                ended[name] = place
            else:
                bound[name] = previous
                rebound.append(name)
        return [name for name in dict.fromkeys(rebound) if name in bound]

    def state(self) -> tuple[int, int]:
        """What :meth:`roll_back` needs to forget everything that happens from here on."""
        return len(self._undo), len(self._taken)

    def roll_back(self, state: tuple[int, int]) -> None:
        undo, taken = state
        while len(self._undo) > undo:
            name, previous = self._undo.pop()
            self.bound.pop(name, None)
            if previous is not None:
                self.bound[name] = previous
        while len(self._taken) > taken:
            self._taken.popitem()

    def expire(self, names: Iterable[str], place: Place) -> None:
        """Make ``names``, which ``place`` bound again, unusable until they are bound once more."""
        for name in names:
            previous = self.bound.pop(name, None)
            if previous is not None:
                self._undo.append((name, previous))
                self._ended[name] = place

    def ended(self, name: str) -> Place | None:
        """The last block that bound ``name`` and has ended."""
        return self._ended.get(name)

    # ------------------------------------------------------------------------- bindings

    def fresh(self, hint: str) -> str:
        """An unused name: ``hint``, or ``hint_1``, ``hint_2``, ..."""
        name, suffix = hint, 0
        while name in self._taken or (suffix and name in self._reserved):
            suffix += 1
            name = f"{hint}_{suffix}"
        self._taken[name] = None
        return name

    def bind(self, name: str, type: Type | None) -> str:
        """Bind ``name`` here; returns the unique name it stands for. Raises :class:`ReservedName`."""
        unique = self.fresh(name)
        if unique != name and name in _LANGUAGE:
            raise ReservedName(name)
        self._undo.append((name, self.bound.get(name)))
        self.bound[name] = Var(unique)
        if type is not None:
            self.types[unique] = type
        return unique

    def unnamed(self, hint: str, type: Type) -> str:
        """A unique name that no name of the text stands for."""
        unique = self.fresh(hint)
        self.types[unique] = type
        return unique

    def is_same_name(self, name: str) -> bool:
        """Whether ``name`` stands for itself here."""
        var = self.bound.get(name)
        return var is not None and var.name == name

    def type_of(self, expr: Expr) -> Type | None:
        """The type of a variable in scope, else ``None``."""
        return self.types.get(expr.name) if isinstance(expr, Var) else None


def not_handed_out(name: str, place: Place) -> tuple[str, str]:
    """Message and hint for a use of ``name`` after the block that bound it."""
    message = f"'{name}' is bound inside {place} and not handed out of it"
    if place.kind == "loop":
        return message, f"carry it: init_values=({name},), and end the body with {name} = pl.yield_(...)"
    return message, f"end both branches with {name} = pl.yield_(...)"


def reserved(error: ReservedName) -> tuple[str, str]:
    """Message and hint for a text that binds a name of the language."""
    return f"'{error}' is bound, but stands for the language", "give the variable another name"
