"""Experiment 1: a new algebraic rule. Is it sound, and what does it save?

python examples/experiments/new_rule.py [EXAMPLES]
"""

import sys
from pathlib import Path

import tilesat
from tilesat import lab
from tilesat.rules.loading import load_rules

HERE = Path(__file__).parent
RULE = HERE / "whole_slices.py"
PROGRAM = HERE.parent / "programs" / "slices.py"


def main(examples: int = 200) -> None:
    rules = load_rules(["optimal", str(RULE)]).rules
    report = lab.check(rules, examples=examples)
    (rule,) = report.rules
    print(f"{rule.name}: {report.examples} programs, fired in {rule.share:.0%}, sound: {report.ok}")
    if not report.ok:
        print(report.refutation or report.counterexample)

    program = tilesat.parse(PROGRAM)
    before = tilesat.infer_tile_memory_space(program, rules="optimal", hardware="910b")
    after = tilesat.infer_tile_memory_space(program, rules=rules, hardware="910b")
    assert tilesat.validate(program, after.program).ok
    print(f"cost of {PROGRAM.name}: {before.cost:.0f} without the rule, {after.cost:.0f} with it")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
