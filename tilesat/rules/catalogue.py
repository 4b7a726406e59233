"""The presets, by name."""

from __future__ import annotations

from functools import lru_cache

from tilesat.errors import RuleError
from tilesat.rules import carries, demand, evidence, legalize, moves, reading, residency, resolve
from tilesat.rules.rule import RuleSet


@lru_cache(maxsize=1)
def reference() -> RuleSet:
    """Decides as the documents say; does the sound thing where that would give a wrong program."""
    families = (reading, demand, resolve, carries, legalize, moves, evidence, residency)
    return RuleSet("reference", tuple(rule for family in families for rule in family.RULES))


PRESETS = {"reference": reference}


def preset(rules: str | RuleSet) -> RuleSet:
    """The rule set called ``rules``; a rule set stays as it is."""
    if isinstance(rules, RuleSet):
        return rules
    if rules not in PRESETS:
        raise RuleError(f"unknown rule set '{rules}'", hint="one of " + ", ".join(PRESETS))
    return PRESETS[rules]()
