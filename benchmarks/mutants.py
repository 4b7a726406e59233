"""How long the rule lab takes to catch each unsound mutant, and how small it makes the proof.

``python -m benchmarks.mutants [FIRST LAST]`` runs all mutants, or those of these numbers, keeps what it sees in
``benchmarks/results/mutants.json`` and writes ``benchmarks/results/mutants.md``.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from tests.lab.mutants import MUTANTS, Mutant
from tests.lab.orch_mutants import ORCH_MUTANTS
from tilesat.lab.checking import CheckReport, check

RESULTS = Path(__file__).parent / "results" / "mutants.md"
DATA = RESULTS.with_suffix(".json")
LIMIT = 60.0
"""Seconds of processor time in which a mutant has to be caught."""

PATIENCE = 5.0
"""How much longer that may take by the clock: other work may share the machine."""

SHRINK_SHARE = 0.4
EXAMPLES = 2000
ALL = (*MUTANTS, *ORCH_MUTANTS)


def catch(mutant: Mutant) -> tuple[CheckReport, float]:
    """The report on ``mutant``, the processor seconds until it was caught, shrinking included."""
    start = time.process_time()
    rules = mutant.rules()
    wait = LIMIT * PATIENCE
    report = check(
        rules,
        examples=EXAMPLES,
        targets=[mutant.target],
        seconds=wait * (1 - SHRINK_SHARE),
        shrink_seconds=wait * SHRINK_SHARE,
    )
    return report, time.process_time() - start


def row(mutant: Mutant, report: CheckReport, seconds: float) -> str:
    found = report.counterexample
    if found is None:
        what = f"| {mutant.rule} | {mutant.note or mutant.kind} | {mutant.target} | NOT CAUGHT"
        return f"{what} | {report.examples} | | {seconds:.1f} |"
    return (
        f"| {mutant.rule} | {mutant.note or mutant.kind} | {mutant.target} | {found.fault.kind} | {report.examples} "
        f"| {found.statements} | {seconds:.1f} |"
    )


HEAD = """# Unsound mutants of shipped rules

Written by `python -m benchmarks.mutants`. *programs* were tried until the mutant was caught, *statements* are those of
the counterexample after shrinking, *seconds* are processor seconds, shrinking and loading the rules included.

| rule | what is wrong | target | caught as | programs | statements | seconds |
| --- | --- | --- | --- | ---: | ---: | ---: |
"""


def main(bounds: list[str]) -> None:
    first, last = map(int, bounds) if bounds else (0, len(ALL))
    for mutant in ALL[first:last]:
        report, seconds = catch(mutant)
        line = row(mutant, report, seconds)
        print(line, flush=True)
        RESULTS.parent.mkdir(exist_ok=True)
        known = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
        known[mutant.key] = line
        DATA.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
        lines = [known[m.key] for m in ALL if m.key in known]
        RESULTS.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
