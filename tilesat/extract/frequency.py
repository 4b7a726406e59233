"""How often code is taken to run where that is not constant."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Frequency:
    """Trips of a loop whose bounds are not constant, and the share of runs in which a branch arm is taken."""

    dynamic_trips: float = 8.0
    branch: float = 0.5
