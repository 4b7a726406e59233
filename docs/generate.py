"""Makes ``docs/rules.md`` from the catalogue of rules; with ``--examples`` also finds the programs it shows.

``python -m docs.generate`` takes seconds, ``python -m docs.generate --examples [RULE...]`` some minutes.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

from docs.orch_examples import orchestration_example
from tests.residency.conditions import CONDITIONS
from tests.residency.programs import program as edited
from tilesat.errors import TilesatError
from tilesat.ir.nodes import Program
from tilesat.lab.catalogue import UNREACHABLE, Entry, entries, run_example, source_of
from tilesat.lab.reduce import reduced
from tilesat.lab.target_table import TARGET_OF
from tilesat.lab.targets import TARGETS, runs_on_kernels

PAGE = Path(__file__).parent / "rules.md"
EXAMPLES = Path(__file__).parent.parent / "tilesat" / "lab" / "data" / "examples.json"
TRIED, SECONDS = 40, 4.0
MOST_LINES = 30

HEAD = """# Rules

Every rule that tilesat ships, by family, in the order in which they run. This page is generated from the catalogue
(`python -m docs.generate`); `tilesat rules NAME` shows the same. To write a rule of your own: [tutorial](tutorial.md).

A rule is on in the rule sets named with it. *On request* is what a user must promise or allow
(`options=("assume_noalias",)`, `--allow assume_noalias`).

What they do is tested by `tilesat lab check`, whatever the pass: results of generated programs are interpreted and
compared ([how often each rule fired](../benchmarks/results/shipped_rules.md)).
"""


def page() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    listed = entries()
    for family in dict.fromkeys(item.rule.family for item in listed):
        mine = [item for item in listed if item.rule.family == family]
        parts.append(f"\n## {family}\n")
        parts.append("| rule | meaning | requirements | on in |\n| --- | --- | --- | --- |")
        parts += [
            f"| [{item.rule.name}](#{item.rule.name}) | {item.rule.meaning} "
            f"| {', '.join(item.rule.requirements)} | {item.where} |"
            for item in mine
        ]
        parts += map(section, mine)
    return "\n".join(parts) + "\n"


def section(item: Entry) -> str:
    """What the page says of one rule."""
    lines = [f"\n### {item.rule.name}\n", f"{item.rule.meaning[0].upper()}{item.rule.meaning[1:]}.\n"]
    lines.append(f"```lisp\n{source_of(item.rule)}\n```")
    found = item.example()
    if found is None:
        lines.append(f"\nNo program shows it: {UNREACHABLE.get(item.rule.name, 'none is kept yet')}.")
        return "\n".join(lines)
    before, after = found
    if len(before.splitlines()) > MOST_LINES:
        lines.append(f"\n`tilesat rules {item.rule.name}` shows it on a program of {len(before.splitlines())} lines.")
        return "\n".join(lines)
    lines += ["\nBefore:\n", f"```python\n{_body(before)}\n```"]
    if before != after:
        return "\n".join([*lines, "\nAfter:\n", f"```python\n{_body(after)}\n```"])
    without = item.without()
    if without is None or without == after:
        return "\n".join([*lines, "\nAfter: the same; the rule only says what holds."])
    changed = list(unified_diff(_body(after).split("\n"), _body(without).split("\n"), lineterm="", n=0))[2:]
    shown = "\n".join(line for line in changed if not line.startswith("@@"))
    return "\n".join([*lines, "\nAfter: the same. Without the rule:\n", f"```diff\n{shown}\n```"])


def _body(text: str) -> str:
    """The functions of a program, without what all programs begin with."""
    lines = text.rstrip().split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith("class "))
    return "\n".join(line[4:] if line.startswith("    ") else line for line in lines[start + 1 :])


# ---------------------------------------------------------------------------------- examples


def find_example(item: Entry, seconds: float = SECONDS) -> str | None:
    """A small program in which the rule fires; one that comes out differently without it where there is one."""
    if not runs_on_kernels(item.rule):
        return orchestration_example(item, seconds)
    fallback = None
    deadline = time.monotonic() + seconds
    for program in _kernels(item):
        if not _fires(item, program):
            continue
        fallback = fallback or program
        if _matters(item, program):
            small = reduced(program, lambda p: _matters(item, p), seconds)
            return str(small)
        if time.monotonic() > deadline:
            break
    return None if fallback is None else str(reduced(fallback, lambda p: _fires(item, p), seconds))


def _kernels(item: Entry) -> Iterator[Program]:
    """Programs made to order for the rule, then those of the tests of residency."""
    target = TARGETS[TARGET_OF.get(item.rule.name, "any")]
    yield from (target.program(seed) for seed in range(TRIED))
    yield from (edited(condition.text, *condition.edits) for condition in CONDITIONS)


def _fires(item: Entry, program: Program) -> bool:
    try:
        return run_example(item, program)[1].fired(item.rule.name)
    except TilesatError:
        return False


def _matters(item: Entry, program: Program) -> bool:
    """Whether the rule fires and the result is another one, or none, without it."""
    try:
        after, found = run_example(item, program)
    except TilesatError:
        return False
    if not found.fired(item.rule.name):
        return False
    try:
        without, _ = run_example(item, program, item.rules().without(item.rule.name))
    except (TilesatError, AssertionError, LookupError):
        return True
    return str(without) != str(after)


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--examples"]:
        known = json.loads(EXAMPLES.read_text(encoding="utf-8")) if EXAMPLES.exists() else {}
        for item in entries():
            if item.rule.name in UNREACHABLE or (arguments[1:] and item.rule.name not in arguments[1:]):
                continue
            found = find_example(item)
            print(item.rule.name, "NOTHING FOUND" if found is None else f"{len(found.splitlines())} lines", flush=True)
            if found is not None:
                known[item.rule.name] = found
                EXAMPLES.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
