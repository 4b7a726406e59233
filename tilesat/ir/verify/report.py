"""Where a check puts what it finds, and how it is configured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from tilesat.diagnostics import Diagnostic, Severity
from tilesat.ir.hardware import Hardware
from tilesat.ir.nodes import For, If, Scope, Stmt, While
from tilesat.ir.printer import print_stmt


class PathPolicy(StrEnum):
    """How a transfer that the hardware does not have is reported."""

    IGNORE = "ignore"
    WARN = "warn"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Options:
    """``chip`` is ``None`` when no hardware is configured."""

    chip: Hardware | None = None
    paths: PathPolicy = PathPolicy.WARN


class Report:
    """Collects the findings of one check in one function."""

    def __init__(self, check: str, function: str, options: Options) -> None:
        self.check = check
        self.function = function
        self.options = options
        self.found: list[Diagnostic] = []

    def error(self, message: str, stmt: Stmt | None = None) -> None:
        self.add(Severity.ERROR, message, stmt)

    def warning(self, message: str, stmt: Stmt | None = None) -> None:
        self.add(Severity.WARNING, message, stmt)

    def add(self, severity: Severity, message: str, stmt: Stmt | None = None) -> None:
        place = "" if stmt is None else place_of(stmt)
        self.found.append(Diagnostic(severity, self.check, self.function, message, place))


def place_of(stmt: Stmt) -> str:
    """``stmt`` as printed; of a structure only its header line."""
    if isinstance(stmt, (For, While, Scope)):
        stmt = replace(stmt, body=())
    elif isinstance(stmt, If):
        stmt = replace(stmt, then=(), orelse=None)
    return print_stmt(stmt).partition("\n")[0]
