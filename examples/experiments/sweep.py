"""Experiment 6: a sweep over programs, rule sets and cost models, written as CSV.

    python examples/experiments/sweep.py [PROGRAMS [CSV]]

The same from the command line, in parallel and resumable:

    tilesat lab compare examples/programs --generate 200 --rules reference --rules optimal --rules optimal,-hoist \\
        --cost traffic,moves --csv sweep.csv --state sweep.jsonl
"""

import sys
from pathlib import Path

from tilesat import lab
from tilesat.lab.generate import GeneratorConfig


def main(programs: str = "6", csv: str = "sweep.csv") -> None:
    result = lab.compare(
        generate=int(programs),
        config=GeneratorConfig(max_statements=10),
        rules=["reference", "optimal", "optimal,-hoist"],
        costs=["traffic", "moves"],
        jobs=1,
    )
    result.write_csv(Path(csv))
    for title, columns, rows in result.tables()[:1]:
        print(title)
        for row in (columns, *rows):
            print("  ".join(f"{cell:>14}" for cell in row))
    print(f"{len(result.rows)} runs in {csv}")


if __name__ == "__main__":
    main(*sys.argv[1:])
