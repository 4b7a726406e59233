"""Whether a program is well formed: named properties, checked one by one or together.

:func:`verify` lists what it finds, :func:`require` refuses a program that lacks a property.
"""

from tilesat.ir.verify.run import (
    DEFAULT_PROPERTIES,
    INPUT_PROPERTIES,
    OUTPUT_PROPERTIES,
    PROPERTIES,
    refuse,
    require,
    verify,
)

__all__ = [
    "DEFAULT_PROPERTIES",
    "INPUT_PROPERTIES",
    "OUTPUT_PROPERTIES",
    "PROPERTIES",
    "refuse",
    "require",
    "verify",
]
