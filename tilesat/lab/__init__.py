"""The laboratory: programs made to order, to test and to measure everything else on.

``check(rules)`` looks for a program that a rule set spoils, ``assert_sound(rules)`` is the same as an assertion for a
test suite; ``compare(files, rules=...)`` says what rule sets are worth. :mod:`tilesat.lab.generate` makes programs from
seeds, :mod:`tilesat.lab.strategies` for hypothesis; :mod:`tilesat.lab.census` says what is in a program,
:mod:`tilesat.lab.shrink` makes a counterexample small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tilesat.lab.checking import CheckReport, check
    from tilesat.lab.comparing import Comparison, compare
    from tilesat.lab.testing import assert_sound

__all__ = ["CheckReport", "Comparison", "assert_sound", "check", "compare"]

_HOMES = {
    "CheckReport": "tilesat.lab.checking",
    "Comparison": "tilesat.lab.comparing",
    "assert_sound": "tilesat.lab.testing",
    "check": "tilesat.lab.checking",
    "compare": "tilesat.lab.comparing",
}


def __getattr__(name: str) -> Any:
    """The functions of the laboratory, imported when they are used: most users want one part of it."""
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
