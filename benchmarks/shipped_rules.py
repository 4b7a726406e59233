"""Every shipped rule under ``lab check``: how often it fired, on how many programs, and whether anything was wrong.

``python -m benchmarks.shipped_rules [--examples N] [--kind KIND] [--results FOLDER] [RUN...]`` does the runs one after
the other (all, those of a kind, or those named), keeps what each gave in ``shipped_rules.json`` and writes
``shipped_rules.md``, both in ``benchmarks/results`` or in another folder.

A run is named as its target. The rules that only the preset ``reference`` has, and those of each option, have runs of
their own.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tilesat.lab.catalogue import UNREACHABLE, entries
from tilesat.lab.checking import check
from tilesat.lab.target import KERNELS, ORCHESTRATION
from tilesat.lab.target_table import TARGET_OF
from tilesat.lab.targets import TARGETS, is_targeted
from tilesat.rules.catalogue import allow, optimal, options, reference
from tilesat.rules.rule import RuleSet

FOLDER = Path(__file__).parent / "results"
NAME = "shipped_rules"
OPTIONS = "options"
KINDS = (KERNELS, ORCHESTRATION, OPTIONS)

HEAD = """# Shipped rules under `lab check`

Written by `python -m benchmarks.shipped_rules`. All rules run on the programs of every target that is for them:
kernels, or whole programs for the rules of orchestration. *Fired in* is the share of programs of the best target for
the rule, *all* counts the programs of all targets together. Each program gives the documented, the cheapest and two
random results; every one has to be legal, to use transfers that exist, to compute the same as the program, and to state
the strides that tensors have. The rules of an option run on programs for which what it promises holds.

"""


@dataclass(frozen=True)
class Run:
    """Rules checked on the programs of a target; ``only`` some of them where it is not empty."""

    name: str
    kind: str
    target: str
    rules: RuleSet
    only: Sequence[str] = ()

    def report(self, examples: int, seed: int) -> dict[str, object]:
        """The report as data."""
        start = time.process_time()
        report = check(self.rules, examples=examples, seed=seed, targets=[self.target], only=self.only)
        return {**report.as_dict(), "cpu_seconds": round(time.process_time() - start, 1)}


def runs() -> dict[str, Run]:
    """All runs by name."""
    found = [Run(target.name, target.kind, target.name, optimal()) for target in TARGETS.values()]
    alone = [rule.name for rule in reference() if rule.name not in optimal()]
    by_target = {target: [name for name in alone if TARGET_OF[name] == target] for target in TARGETS}
    found += [Run(f"reference: {t}", TARGETS[t].kind, t, reference(), mine) for t, mine in by_target.items() if mine]
    for family in dict.fromkeys(rule.family for rule in options()):
        rules = allow(optimal(), (family,))
        targets = dict.fromkeys(TARGET_OF[rule.name] for rule in options().only(family))
        found += [Run(f"{family}: {target}", OPTIONS, target, rules) for target in targets]
    return {run.name: run for run in found}


def table(data: dict[str, dict[str, object]]) -> str:
    lines = ["| run | programs | refused | not interpreted | counterexample | processor seconds |"]
    lines.append("| --- | ---: | ---: | ---: | --- | ---: |")
    for name, found in data.items():
        bad = found["counterexample"]
        told = "none" if bad is None else str(bad["message"])[:80]  # type: ignore[index]
        numbers = f"{found['examples']} | {found['refused']} | {found['unjudged']}"
        lines.append(f"| {name} | {numbers} | {told} | {found['cpu_seconds']} |")
    lines += ["", "| rule | family | best run | programs | fired in | all | fired in all |"]
    lines.append("| --- | --- | --- | ---: | ---: | ---: | ---: |")
    fired = {name: {r["rule"]: r for r in found["rules"]} for name, found in data.items()}  # type: ignore[attr-defined]
    for rule in (item.rule for item in entries() if is_targeted(item.rule)):
        rows = {name: known[rule.name] for name, known in fired.items() if rule.name in known}
        if not rows:
            continue
        best = max(rows, key=lambda name: rows[name]["share"])
        examples, count = (sum(row[key] for row in rows.values()) for key in ("examples", "fired"))
        note = f" ({UNREACHABLE[rule.name]})" if rule.name in UNREACHABLE else ""
        lines.append(
            f"| {rule.name} | {rule.family} | {best} | {rows[best]['examples']} | {rows[best]['share']:.1%}{note} "
            f"| {examples} | {count} |"
        )
    return HEAD + "\n".join(lines) + "\n"


def main() -> None:
    known = runs()
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "runs", nargs="*", choices=[*known, []], metavar="RUN", help="targets, 'reference: TARGET', ..."
    )
    parser.add_argument("--kind", choices=KINDS, action="append", help="all runs of this kind")
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    names = chosen.runs or [name for name, run in known.items() if chosen.kind is None or run.kind in chosen.kind]
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"no run is called '{unknown[0]}'; there are {', '.join(known)}")
    chosen.results.mkdir(exist_ok=True, parents=True)
    path = chosen.results / f"{NAME}.json"
    for name in names:
        found = known[name].report(chosen.examples, chosen.seed)
        # Read after the run: others may go on side by side.
        data = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        data[name] = found
        print(name, data[name]["examples"], data[name]["counterexample"] is None, flush=True)
        ordered = {key: data[key] for key in [*known, *data] if key in data}
        path.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
        path.with_suffix(".md").write_text(table(ordered), encoding="utf-8")


if __name__ == "__main__":
    main()
