"""The machine that figures were measured on."""

from __future__ import annotations

import os
from pathlib import Path


def cpu_model() -> str:
    """The processor's name and the number of its cores, without anything else about the machine."""
    cores = os.cpu_count() or 1
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return f"{line.partition(':')[2].strip()}, {cores} cores"
    return f"an unknown processor, {cores} cores"
