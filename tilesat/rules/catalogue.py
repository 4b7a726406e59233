"""The presets, by name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from tilesat.errors import RuleError
from tilesat.rules import (
    carries,
    contents,
    demand,
    evidence,
    legalize,
    levels,
    moves,
    orch_buffers,
    orch_gather,
    orch_reuse,
    orch_strides,
    orch_windows,
    placement,
    reading,
    residency,
    resolve,
)
from tilesat.rules.rule import RuleSet
from tilesat.rules.statements import stated


@lru_cache(maxsize=1)
def reference() -> RuleSet:
    """Decides as the documents say; does the sound thing where that would give a wrong program."""
    return stated(_inference() + _orchestration().rules).without("want-seed-in-place").renamed("reference")


def _inference() -> RuleSet:
    families = (reading, demand, resolve, carries, legalize, moves, evidence, residency)
    return RuleSet("inference", tuple(rule for family in families for rule in family.RULES))


def _orchestration() -> RuleSet:
    families = (orch_buffers, orch_reuse, orch_strides, orch_gather, orch_windows)
    return RuleSet("orchestration", tuple(rule for family in families for rule in family.RULES))


@lru_cache(maxsize=1)
def optimal() -> RuleSet:
    """Every sound placement besides what the reference decides; the cost model chooses."""
    rules = _inference() + levels.RULES + contents.RULES + placement.RULES
    orchestration = _orchestration().without(*orch_gather.DOCUMENTED_FORMS)
    return stated(rules + orchestration.rules + orch_reuse.OFFERS + orch_strides.OFFERS).renamed("optimal")


@lru_cache(maxsize=1)
def options() -> RuleSet:
    """What a user may allow or promise; each family is off in the presets."""
    return RuleSet("options", (*levels.OPTIONS, *placement.OPTIONS, *orch_reuse.OPTIONS))


def options_of_tensors(names: Iterable[str]) -> tuple[str, ...]:
    """Those of ``names`` that are options of the pass over tensors; others are about placing tiles."""
    families = {rule.family for rule in orch_reuse.OPTIONS}
    return tuple(name for name in names if name in families)


def allow(rules: RuleSet, names: Iterable[str], *, places: bool = True, tensors: bool = True) -> RuleSet:
    """``rules`` with the options of these names (see :func:`options`); a pass places tiles, shares tensors, or both.

    Raises :class:`tilesat.RuleError` for an unknown one, and for one that would change nothing.
    """
    known = list(dict.fromkeys(rule.family for rule in options()))
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        if name not in known:
            raise RuleError(f"unknown option '{name}'", hint="one of " + ", ".join(known))
        does, what = (tensors, "sharing tensors") if options_of_tensors((name,)) else (places, "placing tiles")
        if not does:
            raise RuleError(f"option '{name}' is about {what}, which this pass does not", hint="leave it out")
    of_tensors = options_of_tensors(chosen)
    if len(chosen) > len(of_tensors) and not rules.has_stage("placement"):
        raise RuleError(
            f"rule set '{rules.name}' places nothing, so it has no options of placement",
            hint="use the preset 'optimal'",
        )
    if of_tensors and not rules.has_stage("reuse"):
        raise RuleError(
            f"rule set '{rules.name}' merges no buffers, so option '{of_tensors[0]}' changes nothing",
            hint="use a preset, or leave the option out",
        )
    return rules + options().only(*chosen) if chosen else rules


PRESETS = {"reference": reference, "optimal": optimal}


def preset(rules: str | RuleSet) -> RuleSet:
    """The rule set that ``rules`` names (see :func:`tilesat.rules.loading.load_rules`); a set stays as it is."""
    if isinstance(rules, RuleSet):
        return rules
    if "," in rules or rules.endswith(".py"):
        from tilesat.rules.loading import load_rules

        return load_rules((rules,)).rules
    if rules not in PRESETS:
        known = ", ".join(PRESETS)
        raise RuleError(f"unknown rule set '{rules}'", hint=f"one of {known}, or a Python file with extend(rules)")
    return PRESETS[rules]()
