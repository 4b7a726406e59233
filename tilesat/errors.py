"""All errors the library raises on purpose; each says what, where and what would be right."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a program text (``line`` and ``column`` start at 1) or in a program (``function``)."""

    file: str | None = None
    line: int | None = None
    column: int | None = None
    function: str | None = None

    def __str__(self) -> str:
        parts: list[str] = []
        if self.line is not None:
            place = f"{self.file or '<text>'}:{self.line}"
            parts.append(place if self.column is None else f"{place}:{self.column}")
        elif self.file is not None:
            parts.append(self.file)
        if self.function is not None:
            parts.append(f"in function '{self.function}'")
        return " ".join(parts)


class TilesatError(Exception):
    """Base of every error the library raises for bad input or a request it cannot serve.

    ``message`` says what is wrong, ``location`` where, ``hint`` what would be right.
    """

    def __init__(self, message: str, *, location: Location | None = None, hint: str | None = None) -> None:
        self.message = message
        self.location = location
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        place = str(self.location) if self.location is not None else ""
        text = f"{place}: {self.message}" if place else self.message
        return f"{text} ({self.hint})" if self.hint else text


class ParseError(TilesatError):
    """The program text is not a tile program."""


class TypeDeductionError(TilesatError):
    """The operands of a call do not fit its op."""


class VerifyError(TilesatError):
    """A program violates an invariant that a pass requires or promises."""


class InterpretError(TilesatError):
    """A program cannot be evaluated on the given arguments."""


class RuleError(TilesatError):
    """A rewrite rule is malformed or misbehaves."""


class CostModelError(TilesatError):
    """A cost model raised, or returned something that is not a non-negative finite number."""


class SolveError(TilesatError):
    """No legal program could be extracted."""


class ImpossibleError(SolveError):
    """The program asks for something that no memory space and no copy can give."""
