"""What a condition of residency is: a pair of programs that differ in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tests.residency.programs import STATIONARY, Edit


class Harm(Enum):
    """What goes wrong when the condition is not looked at."""

    VALUES = "main computes something else"
    ARGUMENTS = "main computes something else when its arguments overlap"
    ENTRY = "the kernel computes something else when its arguments overlap"
    INVALID = "the program is not valid any more"
    NONE = "nothing: the condition asks for more than the meaning needs"


@dataclass(frozen=True)
class Condition:
    """``text`` after ``edits`` keeps ``subject`` in its loop, without them it leaves.

    ``reason`` is part of what the explanation says, ``rules`` are the rules of the reference that look at the
    condition, ``hold`` the one of the optimal rules that does (none where those do without it).
    """

    name: str
    requirement: str
    edits: tuple[Edit, ...]
    reason: str
    rules: tuple[str, ...]
    hold: str | None = None
    harm: Harm = Harm.NONE
    subject: str = "wm"
    text: str = STATIONARY
    masked: str = ""
    """Why the optimal rules leave the load where it is, even without ``hold``."""
