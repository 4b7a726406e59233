"""How far local search is from the optimum, and how often the optimum is proven.

Places generated programs by local search and exactly, and writes a table::

    python benchmarks/gaps.py --programs 2000 --sizes 100 300 1000 -o benchmarks/results/gaps.md

The gap of a program is what the local result costs above the exact one; where the exact search ends without proof,
above its lower bound. ``small`` are random programs as the property tests use them, with all features; the others are
straight lines and nests of depth 3 of so many ops. Counts do not depend on the machine, except where a time limit ends
a search.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import tilesat
from tilesat.errors import TilesatError
from tilesat.ir.nodes import Program
from tilesat.lab.generate import loop_nest, random_program, straight_line

COSTS = ("traffic", "moves")
CHIPS = (None, "910b", "950")


@dataclass
class Row:
    """What was measured for one set of programs under one model."""

    name: str
    cost: str
    gaps: list[float] = field(default_factory=list)
    proven: int = 0
    local_proven: int = 0
    refused: int = 0
    worst: str = ""

    def add(self, label: str, local: tilesat.PassResult, exact: tilesat.PassResult) -> None:
        assert local.cost is not None
        assert exact.cost is not None
        assert exact.lower_bound is not None
        is_proven = exact.status == "optimal"
        best = exact.cost if is_proven else exact.lower_bound
        gap = local.cost / best - 1 if best else 0.0
        if gap > max(self.gaps, default=0.0):
            self.worst = label
        self.gaps.append(gap)
        self.proven += is_proven
        self.local_proven += local.status == "optimal"

    def line(self) -> str:
        count = len(self.gaps)
        mean, worst = sum(self.gaps) / max(count, 1), max(self.gaps, default=0.0)
        off = sum(gap > 0 for gap in self.gaps)
        return (
            f"| {self.name} | {self.cost} | {count} | {mean:.4%} | {worst:.3%} | {off} | {self.worst} "
            f"| {self.local_proven / max(count, 1):.1%} | {self.proven / max(count, 1):.1%} |"
        )


HEAD = (
    "| programs | cost model | number | mean gap | worst gap | above optimum | worst program "
    "| proven by local search | proven exactly |\n|---|---|---:|---:|---:|---:|---|---:|---:|"
)


def small(count: int) -> Iterator[tuple[str, Program, str | None]]:
    for seed in range(count):
        yield f"seed {seed}", random_program(seed), CHIPS[seed % 3]


def sized(make: Callable[..., Program], ops: int, count: int) -> Iterator[tuple[str, Program, str | None]]:
    for seed in range(count):
        yield f"seed {seed}", make(ops, seed=seed), "910b"


def measure(
    name: str, programs: Iterator[tuple[str, Program, str | None]], cost: str, time_limit: float, row: Row
) -> None:
    """Place every program twice; what the rules refuse as input counts as refused."""
    for label, program, chip in programs:
        try:
            local = tilesat.infer_tile_memory_space(
                program, rules="optimal", cost=cost, hardware=chip, time_limit=time_limit
            )
            exact = tilesat.infer_tile_memory_space(
                program, rules="optimal", cost=cost, hardware=chip, exact=True, time_limit=time_limit
            )
        except TilesatError as error:
            row.refused += 1
            print(f"{name}, {label}: {error}", file=sys.stderr)
            continue
        row.add(label, local, exact)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=200, help="small programs per model")
    parser.add_argument("--sizes", type=int, nargs="*", default=[100], help="ops of the large ones")
    parser.add_argument("--large", type=int, default=10, help="large programs per size and shape")
    parser.add_argument("--time-limit", type=float, default=10.0)
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    rows: list[Row] = []
    for cost in COSTS:
        sets = [("small", small(options.programs))]
        for ops in options.sizes:
            sets.append((f"straight line, {ops} ops", sized(straight_line, ops, options.large)))
            sets.append((f"nest of depth 3, {ops} ops", sized(loop_nest, ops, options.large)))
        for name, programs in sets:
            row = Row(name, cost)
            measure(name, programs, cost, options.time_limit, row)
            rows.append(row)
            print(row.line(), file=sys.stderr)
    refused = sum(row.refused for row in rows)
    text = "\n".join([HEAD, *(row.line() for row in rows)]) + "\n"
    text += f"\n{refused} runs were refused as input. Time limit {options.time_limit:g} s.\n"
    if options.output is None:
        print(text, end="")
    else:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text("# Gap of local search\n\n" + text, encoding="utf-8")


if __name__ == "__main__":
    main()
