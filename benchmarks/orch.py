"""How long the orchestration pass takes on large programs (``python -m benchmarks.orch``).

Writes the best and the median of several runs to ``benchmarks/results/orch.md``. What the pass found to do is
listed too, so that a run which does nothing cannot pass for a fast one.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import tilesat
from benchmarks.machine import cpu_model
from benchmarks.orch_programs import grouped, single
from tilesat.ir.nodes import Program

RESULTS = Path(__file__).parent / "results" / "orch.md"
KINDS = ("merge", "strides", "stream", "window")
PROGRAMS: dict[str, Callable[[int, int], Program]] = {
    "one caller for each four kernels": grouped,
    "one caller for all kernels": single,
}
SIZES = ((50, 4_000), (250, 20_000))


def run(program: Program, rules: str, repeats: int) -> tuple[list[float], Counter[str]]:
    """Seconds of processor time of each run, and how many decisions of each kind were made."""
    seconds = []
    found: Counter[str] = Counter()
    for _ in range(repeats):
        start = time.process_time()
        result = tilesat.optimize_orch_tensors(program, rules=rules)
        seconds.append(time.process_time() - start)
        found = Counter(decision.kind for decision in result.decisions)
    return seconds, found


def table(repeats: int) -> str:
    lines = [
        "# Orchestration pass",
        "",
        f"{cpu_model()}, processor seconds of {repeats} runs in one process, verification before and after included.",
        "",
        "| program | functions | lines | rules | best | median | " + " | ".join(KINDS) + " |",
        "|---|---|---|---|---|---|" + "---|" * len(KINDS),
    ]
    for name, make in PROGRAMS.items():
        for functions, size in SIZES:
            program = make(functions, size)
            count = len(str(program).splitlines())
            for rules in ("reference", "optimal"):
                seconds, found = run(program, rules, repeats)
                numbers = f"{min(seconds):.2f} | {statistics.median(seconds):.2f}"
                kinds = " | ".join(str(found[kind]) for kind in KINDS)
                lines.append(f"| {name} | {len(program.functions)} | {count} | {rules} | {numbers} | {kinds} |")
                print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    text = table(arguments.repeats)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
