"""Experiment 3: an ablation. Which rules of these families does a program owe its cost to?

python examples/experiments/ablation.py [PROGRAM]
"""

import sys
from pathlib import Path

from tilesat import lab

FAMILIES = ("operands", "placing", "hoist", "views", "merge-loads", "slots")
PROGRAM = Path(__file__).parent.parent / "programs" / "reloads.py"


def main(program: str | Path = PROGRAM) -> None:
    result = lab.compare([program], rules=["optimal"], ablate=FAMILIES, jobs=1)
    (whole,) = result.rows
    print(f"with all rules: {whole.cost:.0f}")
    for row in sorted(result.ablations, key=lambda row: -row.cost):
        if row.error:
            print(f"without {row.without:24} no result")
        elif row.cost != whole.cost:
            print(f"without {row.without:24} {row.cost:.0f} ({row.cost - whole.cost:+.0f})")


if __name__ == "__main__":
    main(*sys.argv[1:])
