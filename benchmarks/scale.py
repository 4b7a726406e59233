"""How time and memory grow with the size of a kernel (``python -m benchmarks.scale``).

For straight-line kernels and nests of depth 3: seconds of each stage, the exponent fitted over the sizes, and the
peak memory of a process that does nothing else; then programs of many functions, and what an import costs. Times are
the best of several runs in a warm process. Writes ``benchmarks/results/scale.md``.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import tilesat
from benchmarks.machine import cpu_model
from tilesat.ir.nodes import Program
from tilesat.lab.scale import loop_nest, many_functions, straight_line

RESULTS = Path(__file__).parent / "results" / "scale.md"
SIZES = (100, 1_000, 10_000)
BUDGET = {100: 0.1, 1_000: 0.6, 10_000: 10.0}
KERNELS: dict[str, Callable[[int], Program]] = {"straight line": straight_line, "nest of depth 3": loop_nest}
STAGES = {
    "encode": ("encode",),
    "load": ("load terms",),
    "saturate": ("saturate", "residency"),
    "pull": ("pull",),
    "extract": ("extract",),
    "elaborate": ("elaborate",),
    "verify": ("verify input", "verify output"),
}
MANY = ((250, 100, 250), (250, 100, 25))
JOBS = (1, 2)


@dataclass(frozen=True)
class Run:
    """Seconds of one run of the pass, and of its stages."""

    total: float
    stages: Mapping[str, float]


def timed(program: Program, rules: str, jobs: int = 1) -> Run:
    start = time.perf_counter()
    result = tilesat.infer_tile_memory_space(program, rules=rules, hardware="910b", jobs=jobs)
    total = time.perf_counter() - start
    stages = {name: sum(result.timings.get(part, 0.0) for part in parts) for name, parts in STAGES.items()}
    return Run(total, stages)


def seconds_of(run: Callable[[], object], repeats: int) -> float:
    """The best of several runs, one after the other."""

    def once() -> float:
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    return min(once() for _ in range(repeats))


def fastest_first(program: Program, rules: str, repeats: int, jobs: int = 1) -> list[Run]:
    return sorted((timed(program, rules, jobs) for _ in range(repeats)), key=lambda run: run.total)


def runs_of(size: int, repeats: int) -> int:
    """Small kernels are run more often: what else the machine does concerns them more."""
    return 4 * repeats if size < 1_000 else repeats if size < 10_000 else min(repeats, 2)


def exponent(sizes: Mapping[int, float]) -> float:
    """The slope of log time over log size, by least squares."""
    points = [(math.log(size), math.log(seconds)) for size, seconds in sizes.items()]
    middle = [sum(column) / len(points) for column in zip(*points, strict=True)]
    upper = sum((x - middle[0]) * (y - middle[1]) for x, y in points)
    return upper / sum((x - middle[0]) ** 2 for x, _ in points)


def peak_memory(kernel: str, size: int, rules: str) -> int:
    """Peak resident megabytes of a fresh process that makes the program and runs the pass once."""
    arguments = [sys.executable, "-m", "benchmarks.scale", "--peak", kernel, str(size), rules]
    return int(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout)


def _report_peak(kernel: str, size: int, rules: str) -> None:
    tilesat.infer_tile_memory_space(KERNELS[kernel](size), rules=rules, hardware="910b")
    # Not ru_maxrss, which a process inherits from the one that started it.
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    print(int(line.split()[1]) // 1024)


def import_seconds(repeats: int) -> float:
    """Seconds that ``import tilesat`` adds to the start of a process."""

    def run(code: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - start

    return min(run("import tilesat") for _ in range(repeats)) - min(run("pass") for _ in range(repeats))


@dataclass(frozen=True)
class Measured:
    """A kernel of one size under one preset: the best run, the median, and seconds beside the pass."""

    run: Run
    median: float
    parse: float
    printing: float
    peak: int


def measured(kernel: str, rules: str, size: int, repeats: int) -> Measured:
    program = KERNELS[kernel](size)
    text = str(program)
    runs = fastest_first(program, rules, runs_of(size, repeats))
    parse = seconds_of(lambda: tilesat.parse(text), len(runs))
    printing = seconds_of(lambda: str(program), len(runs))
    return Measured(runs[0], runs[len(runs) // 2].total, parse, printing, peak_memory(kernel, size, rules))


def kernels_table(sizes: tuple[int, ...], repeats: int) -> list[str]:
    columns = ["parse", *STAGES, "print"]
    lines = [
        f"| kernel | rules | ops | pass, s | median, s | budget, s | {' | '.join(columns)} | peak, MB |",
        f"|---|---|---|---|---|---|{'---|' * len(columns)}---|",
    ]
    fits = []
    rows = [(kernel, rules) for kernel in KERNELS for rules in ("reference", "optimal")]
    # Small ones first: what large ones leave of the heap makes those that follow about a tenth slower.
    found = {(row, size): measured(*row, size, repeats) for size in sorted(sizes) for row in rows}
    for kernel, rules in rows:
        totals = {size: found[(kernel, rules), size].run.total for size in sizes}
        for size in sizes:
            one = found[(kernel, rules), size]
            cells = [f"{seconds:.3f}" for seconds in (one.parse, *one.run.stages.values(), one.printing)]
            shown = f"{one.run.total:.3f} | {one.median:.3f} | {BUDGET[size]}"
            lines.append(f"| {kernel} | {rules} | {size:,} | {shown} | {' | '.join(cells)} | {one.peak} |")
        fits.append(f"| {kernel} | {rules} | {exponent(totals):.2f} |")
    return [*lines, "", "| kernel | rules | exponent of the time over the sizes |", "|---|---|---|", *fits]


def functions_table(repeats: int, programs: Sequence[tuple[int, int, int]] = MANY) -> list[str]:
    lines = ["| functions | ops each | distinct | rules | jobs | pass, s |", "|---|---|---|---|---|---|"]
    for count, ops, distinct in programs:
        program = many_functions(count, ops, distinct)
        for rules in ("reference", "optimal"):
            for jobs in JOBS:
                # The first run starts the processes; at least one more finds them there.
                seconds = fastest_first(program, rules, max(2, min(repeats, 3)), jobs)[0].total
                lines.append(f"| {count} | {ops} | {distinct} | {rules} | {jobs} | {seconds:.2f} |")
    return lines


def report(sizes: tuple[int, ...], repeats: int) -> str:
    fastest_first(straight_line(100), "optimal", 2)  # Warm: rules are compiled once per process.
    counts = ", ".join(f"{runs_of(size, repeats)} of {size:,} ops" for size in sizes)
    lines = [
        "# Time and memory by size",
        "",
        f"Written by `python -m benchmarks.scale` on {cpu_model()}. The pass is `infer_tile_memory_space` for",
        "hardware 910b, verification included; the best of the runs in a warm process, and their median;",
        f"small kernels first, run after run: {counts}.",
        "",
        *kernels_table(sizes, repeats),
        "",
        "## Many functions",
        "",
        "`jobs` are processes, which are there already; with one, threads.",
        "",
        *functions_table(repeats),
        "",
        f"`import tilesat` takes {import_seconds(repeats):.2f} s.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--peak", nargs=3, metavar=("KERNEL", "SIZE", "RULES"), help=argparse.SUPPRESS)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if arguments.peak:
        kernel, size, rules = arguments.peak
        _report_peak(kernel, int(size), rules)
        return
    arguments.output.parent.mkdir(exist_ok=True)
    arguments.output.write_text(report(SIZES, arguments.repeats), encoding="utf-8")
    print(f"wrote {arguments.output}")


if __name__ == "__main__":
    main()
