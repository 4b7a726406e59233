"""The catalogue: every shipped rule, where it is on, as egglog, and as a program before and after.

The programs are small ones in which the rule fires, kept in ``data/examples.json`` (``python -m docs.generate
--examples`` finds them); what comes out is computed when it is shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from tilesat.bridge.infer import infer_tile_memory_space
from tilesat.bridge.orch import optimize_orch_tensors
from tilesat.errors import RuleError, TilesatError
from tilesat.ir.nodes import Program
from tilesat.ir.parser import parse_text
from tilesat.lab.firing import Firings, firings
from tilesat.lab.targets import runs_on_kernels
from tilesat.rules import catalogue as shipped
from tilesat.rules.rule import Rule, RuleSet

EXAMPLE_HARDWARE = "910b"
UNREACHABLE = {
    "unresolved-inherits": "no op of the table leaves its output space open without being a load or create",
    "unresolved-vec": "no op of the table leaves its output space open without being a load or create",
}
"""Rules that are there for op tables other than the shipped one, and why no program makes them fire."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One rule and the rule sets that have it; ``option`` is set for what a user must allow."""

    rule: Rule
    presets: tuple[str, ...]
    option: bool = False

    @property
    def where(self) -> str:
        return "on request" if self.option else ", ".join(self.presets)

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.rule.name,
            "family": self.rule.family,
            "phase": self.rule.phase,
            "meaning": self.rule.meaning,
            "requirements": list(self.rule.requirements),
            "presets": list(self.presets),
            "option": self.option,
            "text": source_of(self.rule),
        }

    def rules(self) -> RuleSet:
        """A shipped rule set that has the rule."""
        if self.option:
            return shipped.allow(shipped.optimal(), (self.rule.family,))
        return shipped.preset("optimal" if "optimal" in self.presets else self.presets[0])

    def example(self) -> tuple[str, str] | None:
        """A program before and after, ``None`` for a rule that no program makes fire."""
        text = _examples().get(self.rule.name)
        if text is None:
            return None
        after, _ = run_example(self, parse_text(text))
        return text, str(after)

    def without(self) -> str | None:
        """What becomes of the example without the rule; ``None`` where it has none, or where others need the rule."""
        text = _examples().get(self.rule.name)
        if text is None:
            return None
        try:
            return str(run_example(self, parse_text(text), self.rules().without(self.rule.name))[0])
        except (TilesatError, AssertionError, LookupError, ValueError):
            return None

    def text(self) -> str:
        """All there is to say, for a terminal."""
        lines = [
            f"family {self.rule.family}, phase {self.rule.phase}; {self.where}",
            f"requirements: {', '.join(self.rule.requirements) or 'none'}",
            "",
            source_of(self.rule),
        ]
        found = self.example()
        if found is None:
            return "\n".join([*lines, "", f"no example: {UNREACHABLE.get(self.rule.name, 'none is kept')}"])
        before, after = (text.rstrip() for text in found)
        lines += ["", "before:", before]
        without = self.without() if before == after else None
        if without is None or without == found[1]:
            return "\n".join([*lines, "", "after:", after])
        return "\n".join([*lines, "", "after: the same", "", "without the rule:", without.rstrip()])


def source_of(rule: Rule) -> str:
    """The egglog text of ``rule`` as it was written, without its indentation."""
    lines = rule.text.strip("\n").rstrip().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] for line in lines)


def entries(family: str | None = None) -> list[Entry]:
    """All shipped rules in the order in which they run; with ``family`` only those of it.

    Raises :class:`tilesat.RuleError` for an unknown family.
    """
    listed = list(_entries())
    if family is None:
        return listed
    found = [item for item in listed if item.rule.family == family]
    if not found:
        known = ", ".join(dict.fromkeys(item.rule.family for item in listed))
        raise RuleError(f"no rules are of family '{family}'", hint=f"one of {known}")
    return found


def entry(name: str) -> Entry:
    """The rule called ``name``; raises :class:`tilesat.RuleError` when there is none."""
    listed = entries()
    for item in listed:
        if item.rule.name == name:
            return item
    near = [item.rule.name for item in listed if name in item.rule.name or item.rule.name in name][:5]
    raise RuleError(f"no rule is called '{name}'", hint=f"did you mean {', '.join(near)}?" if near else "tilesat rules")


def _entries() -> Iterator[Entry]:
    presets = {name: make() for name, make in shipped.PRESETS.items()}
    seen: set[str] = set()
    for rules in presets.values():
        for rule in rules:
            if rule.name not in seen:
                seen.add(rule.name)
                yield Entry(rule, tuple(name for name, other in presets.items() if rule.name in other))
    for rule in shipped.options():
        yield Entry(rule, (), option=True)


def run_example(item: Entry, program: Program, rules: RuleSet | None = None) -> tuple[Program, Firings]:
    """What the pass that ``item`` belongs to makes of ``program``, and the rules that fired."""
    chosen = item.rules() if rules is None else rules
    # What a rule says of programs for no chip in particular shows only there.
    chip = None if item.rule.name in ("capacity-open", "hold-no-hardware") else EXAMPLE_HARDWARE
    with firings() as found:
        if runs_on_kernels(item.rule):
            return infer_tile_memory_space(program, rules=chosen, hardware=chip, check=False).program, found
        return optimize_orch_tensors(program, rules=chosen, hardware=chip, check=False).program, found


@lru_cache(maxsize=1)
def _examples() -> dict[str, str]:
    text = files("tilesat.lab").joinpath("data", "examples.json").read_text(encoding="utf-8")
    found: dict[str, str] = json.loads(text)
    return found
