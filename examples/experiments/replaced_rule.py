"""Experiment 2: a replaced rule. Loads are merged within one block only; what does that give up?

python examples/experiments/replaced_rule.py
"""

from pathlib import Path

from tilesat import lab

HERE = Path(__file__).parent
PROGRAM = HERE.parent / "programs" / "reloads.py"


def main() -> None:
    rules = ["reference", "optimal", f"optimal,{HERE / 'near_merges.py'}", "optimal,-merge-loads"]
    result = lab.compare([PROGRAM], rules=rules, jobs=1)
    for row in result.rows:
        print(f"{Path(row.rules.split(',')[-1]).name:20} cost {row.cost:8.0f}, global bytes {row.global_bytes:7.0f}")


if __name__ == "__main__":
    main()
