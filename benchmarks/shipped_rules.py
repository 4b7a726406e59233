"""Every shipped rule under ``lab check``: how often it fired, on how many programs, and whether anything was wrong.

``python -m benchmarks.shipped_rules [--examples N] [TARGET...]`` runs the targets one after the other, keeps what each
gave in ``benchmarks/results/shipped_rules.json`` and writes ``benchmarks/results/shipped_rules.md``.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from tilesat.lab.catalogue import UNREACHABLE
from tilesat.lab.checking import check
from tilesat.lab.targets import TARGETS, is_targeted
from tilesat.rules.catalogue import optimal
from tilesat.rules.rule import RuleSet

FOLDER = Path(__file__).parent / "results"
DATA, TABLE = FOLDER / "shipped_rules.json", FOLDER / "shipped_rules.md"

HEAD = """# Shipped rules of kernels under `lab check`

Written by `python -m benchmarks.shipped_rules`. All rules run on the programs of every target; *fired in* is the share
of programs of the best target for the rule, *all* counts the programs of all targets together. Each program gives the
documented, the cheapest and two random results; every one has to be legal, to use transfers that exist, and to compute
the same as the program.

"""


def run(target: str, examples: int, seed: int) -> dict[str, object]:
    """The report of one target as data."""
    start = time.process_time()
    report = check(optimal(), examples=examples, seed=seed, targets=[target])
    data = report.as_dict()
    return {**data, "cpu_seconds": round(time.process_time() - start, 1)}


def table(data: dict[str, dict[str, object]], rules: RuleSet) -> str:
    lines = ["| target | programs | refused | not interpreted | counterexample | processor seconds |"]
    lines.append("| --- | ---: | ---: | ---: | --- | ---: |")
    for target, found in data.items():
        bad = found["counterexample"]
        told = "none" if bad is None else str(bad["message"])[:80]  # type: ignore[index]
        numbers = f"{found['examples']} | {found['refused']} | {found['unjudged']}"
        lines.append(f"| {target} | {numbers} | {told} | {found['cpu_seconds']} |")
    lines += ["", "| rule | family | target | programs | fired in | all | fired in all |"]
    lines.append("| --- | --- | --- | ---: | ---: | ---: | ---: |")
    shares = {target: {r["rule"]: r for r in found["rules"]} for target, found in data.items()}  # type: ignore[attr-defined]
    for rule in filter(is_targeted, rules):
        rows = {target: known[rule.name] for target, known in shares.items() if rule.name in known}
        if not rows:
            continue
        best = max(rows, key=lambda target: rows[target]["share"])
        examples, fired = (sum(row[key] for row in rows.values()) for key in ("examples", "fired"))
        note = f" ({UNREACHABLE[rule.name]})" if rule.name in UNREACHABLE else ""
        lines.append(
            f"| {rule.name} | {rule.family} | {best} | {rows[best]['examples']} | {rows[best]['share']:.1%}{note} "
            f"| {examples} | {fired} |"
        )
    return HEAD + "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("targets", nargs="*", default=list(TARGETS))
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    data = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    for target in options.targets:
        data[target] = run(target, options.examples, options.seed)
        print(target, data[target]["examples"], data[target]["counterexample"] is None, flush=True)
        DATA.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
        TABLE.write_text(table(data, optimal()), encoding="utf-8")


if __name__ == "__main__":
    main()
