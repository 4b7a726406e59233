"""What verifiers and passes report about a program."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. ``check`` names the property or rule, ``place`` the statement as printed."""

    severity: Severity
    check: str
    function: str
    message: str
    place: str = ""

    def as_dict(self) -> dict[str, str]:
        """The finding as plain data, for JSON."""
        return {
            "severity": self.severity.value,
            "check": self.check,
            "function": self.function,
            "message": self.message,
            "place": self.place,
        }

    def __str__(self) -> str:
        where = f"\n    {self.place}" if self.place else ""
        return f"{self.severity.value}: {self.check}: function '{self.function}': {self.message}{where}"


def errors(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """Those of ``diagnostics`` that are errors."""
    return tuple(d for d in diagnostics if d.severity is Severity.ERROR)
