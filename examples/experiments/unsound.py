"""Experiment 5: a deliberately unsound rule, and the program that shows it.

python examples/experiments/unsound.py
"""

from pathlib import Path

from tilesat import lab

RULE = Path(__file__).parent / "unsound_rule.py"


def main() -> None:
    report = lab.check(str(RULE), examples=200, targets=["writes"], shrink_seconds=10)
    assert not report.ok, "the lab must notice"
    print(report.counterexample)


if __name__ == "__main__":
    main()
