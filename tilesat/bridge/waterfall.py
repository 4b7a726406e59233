"""Where the savings come from: the cost as the families of placement rules join one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tilesat.rules import contents, levels, placement
from tilesat.rules.rule import Rule, RuleSet

# What a placement needs in order to exist at all; it offers, and saves, the least.
BASE = (contents.FAMILY, placement.OPERANDS, placement.MOVES)
MEANINGS = {
    placement.MOVES: "copies where they are needed, each consumer its own space, nothing that nobody needs",
    placement.HOIST: "copies made before loops and branches",
    levels.FAMILY: "loads that may leave several loops",
    placement.VIEWS: "views and windows of copies, and copies of views and windows",
    placement.LOADS: "one load for equal ones",
    placement.SLOTS: "carried slots and branch results elsewhere",
}


@dataclass(frozen=True, slots=True)
class Step:
    """``cost`` of the program once the rules of ``family`` have joined those before; ``saved`` by that.

    The first step is the reference, which saves nothing. A family saves what it adds to the families before it, so
    that the steps add up; in another order the shares would differ.
    """

    family: str
    meaning: str
    cost: float
    saved: float

    def as_dict(self) -> dict[str, object]:
        """The step as plain data, for JSON."""
        return {"family": self.family, "meaning": self.meaning, "cost": self.cost, "saved": self.saved}


PlacedCost = Callable[[RuleSet], float]


def waterfall(rules: RuleSet, reference_cost: float, cost: float, placed_cost: PlacedCost) -> tuple[Step, ...]:
    """From ``reference_cost`` to ``cost``, which all of ``rules`` reach, family by family.

    ``placed_cost`` places the program with a part of the rules and says what it costs then.
    """
    families = _families(rules)
    steps = [Step("reference", "as the documents decide", reference_cost, 0.0)]
    for count in range(len(families)):
        later = [family for _, names in families[count + 1 :] for family in names]
        found = cost if not later else placed_cost(rules.without(*later))
        # Every placement by fewer rules is one by more, so the best so far stands.
        best = max(cost, min(found, steps[-1].cost))
        name, names = families[count]
        steps.append(Step(name, _meaning(rules, names), best, steps[-1].cost - best))
    return tuple(steps)


def _families(rules: RuleSet) -> list[tuple[str, tuple[str, ...]]]:
    """Families that place, in order: what every placement needs, ours, then those of the user."""
    joined = dict.fromkeys(rule.family for rule in rules if _places(rule))
    base = tuple(family for family in BASE if family in joined)
    known = [family for family in MEANINGS if family in joined and family not in BASE]
    more = [family for family in joined if family not in base and family not in known]
    return [(placement.MOVES, base), *((family, (family,)) for family in (*known, *more))]


def _places(rule: Rule) -> bool:
    return rule.phase in ("contents", "placement") or rule.family == levels.FAMILY


def _meaning(rules: RuleSet, names: tuple[str, ...]) -> str:
    known = MEANINGS.get(names[-1])
    return known or next(rule.meaning for rule in rules if rule.family == names[-1])
