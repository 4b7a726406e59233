"""What residency saves: executed loads and moves under the reference, the optimal rules, and a promise.

``python -m benchmarks.residency`` writes ``benchmarks/results/residency.md``. All counts are read off the printed
programs, so they do not depend on the machine; every result is interpreted against its input.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import tilesat
from benchmarks.residency_programs import FAMILIES
from tilesat.extract.count import Counts, count_program
from tilesat.ir.nodes import Program

RESULTS = Path(__file__).parent / "results" / "residency.md"
CHIP = "910b"


@dataclass(frozen=True)
class Setting:
    """One column of the table."""

    name: str
    rules: str
    options: tuple[str, ...] = ()

    def run(self, program: Program) -> Program:
        """What this setting makes of ``program``, as its text says; raises when the meaning has changed."""
        result = tilesat.infer_tile_memory_space(program, rules=self.rules, options=self.options, hardware=CHIP)
        validation = tilesat.validate(program, result.program, seeds=(0,))
        if not validation.ok:
            raise AssertionError(f"{program.name} under {self.name}: {validation}")
        return tilesat.parse(str(result.program))


SETTINGS = (
    Setting("reference", "reference"),
    Setting("optimal", "optimal"),
    Setting("assume_noalias", "optimal", ("assume_noalias",)),
)
MEASURES: dict[str, Callable[[Counts], float]] = {
    "loaded KiB": lambda counts: counts.loaded_bytes / 1024,
    "loads": lambda counts: counts.loads,
    "moves": lambda counts: counts.executed_moves,
    "moved KiB": lambda counts: counts.moved_bytes / 1024,
}


def measure(family: str, seed: int) -> tuple[Counts, ...]:
    """What the kernel of ``seed`` transfers as written, then under each setting."""
    program = tilesat.parse(FAMILIES[family](seed))
    return (count_program(program), *(count_program(setting.run(program)) for setting in SETTINGS))


def row(name: str, counts: tuple[Counts, ...]) -> str:
    cells = [" / ".join(f"{measure(c):,.0f}" for c in counts) for measure in MEASURES.values()]
    return f"| {name} | {' | '.join(cells)} |"


def table(seeds: int) -> str:
    """The whole table, in Markdown."""
    columns = ["as written", *(setting.name for setting in SETTINGS)]
    lines = [
        "# Residency: executed loads and moves",
        "",
        f"Written by `python -m benchmarks.residency`. Each cell is {' / '.join(columns)},",
        "counted over the printed program by how often its loops run; every result computes what its input computes.",
        "Of the operands some are created by the caller, some come from outside the program: only a promise lets loads",
        "of those leave their loops.",
        "",
        f"| kernel | {' | '.join(MEASURES)} |",
        f"|---|{'---|' * len(MEASURES)}",
    ]
    totals = []
    for family in FAMILIES:
        found = [measure(family, seed) for seed in range(seeds)]
        lines += [row(f"{family} {seed}", counts) for seed, counts in enumerate(found)]
        total = tuple(sum(column, Counts()) for column in zip(*found, strict=True))
        totals.append(row(f"**{family}, all {seeds}**", total))
    return "\n".join([*lines, *totals]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=12, help="kernels of each family")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    arguments.output.parent.mkdir(exist_ok=True)
    arguments.output.write_text(table(arguments.seeds), encoding="utf-8")
    print(f"wrote {arguments.output}")


if __name__ == "__main__":
    main()
