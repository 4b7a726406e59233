"""All benchmarks, one after the other (``make bench``); each writes its table to ``benchmarks/results``."""

from __future__ import annotations

import subprocess
import sys

MODULES = ("scale", "gaps", "residency", "orch", "mutants", "shipped_rules")


def main() -> None:
    for module in MODULES:
        print(f"benchmarks.{module}", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{module}"], check=True)


if __name__ == "__main__":
    main()
