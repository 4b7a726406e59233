"""What a rule set changes against the shipped one it is built on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilesat.rules.catalogue import optimal, options, reference
from tilesat.rules.rule import Rule, RuleSet


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: ``new`` is ``None`` for a rule that was removed, ``old`` for one that was added."""

    name: str
    old: Rule | None
    new: Rule | None

    @property
    def kind(self) -> str:
        if self.old is None:
            return "added"
        return "removed" if self.new is None else "replaced"


def base_of(rules: RuleSet) -> RuleSet:
    """The preset that ``rules`` is built on, with the options it has."""
    preset = optimal() if rules.has_stage("placement") else reference()
    chosen = [option for option in options() if option in tuple(rules)]
    return replace(preset, rules=(*preset.rules, *chosen)) if chosen else preset


def changes(rules: RuleSet, base: RuleSet) -> tuple[Change, ...]:
    """How ``rules`` differs from ``base``, rule by rule."""
    before = {rule.name: rule for rule in base}
    after = {rule.name: rule for rule in rules}
    found = [Change(name, before.get(name), rule) for name, rule in after.items() if _differs(before.get(name), rule)]
    found += [Change(name, rule, None) for name, rule in before.items() if name not in after]
    return tuple(found)


def _differs(old: Rule | None, new: Rule) -> bool:
    return old is None or (old.text, old.phase, old.declares) != (new.text, new.phase, new.declares)


def undone(rules: RuleSet, change: Change) -> RuleSet:
    """``rules`` without ``change``."""
    if change.old is None:
        return rules.without(change.name)
    if change.new is None:
        return rules + change.old
    return rules.replace(change.old)
