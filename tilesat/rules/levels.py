"""How far out a load may stand: past every loop around it that nothing holds it inside.

The reference moves a load over one loop and asks that it stands in the movable prefix and fits next to everything
else. Here only what would make the program wrong holds a load: where it is best executed, and what of it fits, is
up to the extraction. Three of the conditions can be given up by a promise (:data:`OPTIONS`).
"""

from __future__ import annotations

from tilesat.rules.rule import Rule

FAMILY = "levels"
# What a user may promise or allow, with what that means.
PROMISES = {
    "assume_noalias": "distinct tensor parameters do not overlap",
    "hoist_manual_loads": "loads written by hand may leave their loops",
    "assume_nonzero_trips": "loops whose bounds are not constant run at least once",
}


def _rule(name: str, phase: str, meaning: str, text: str, *requirements: str) -> Rule:
    return Rule(name, FAMILY, phase, meaning, text, requirements)


def _hold(name: str, meaning: str, facts: str, reason: str, *requirements: str) -> Rule:
    text = f"(rule ((around site l) {facts}) ((decide (held-because site l {reason})) (set (held site l) 1)))"
    return _rule(name, "obstacles", meaning, text, *requirements)


RULES: tuple[Rule, ...] = (
    _rule(
        "levels-no-promise",
        "promises",
        "without a promise every condition holds",
        "\n".join(f'(rule ((region 0 p d)) ((set (promised "{name}") 0)))' for name in PROMISES),
    ),
    _rule(
        "levels-around",
        "obstacles",
        "every loop around a load is looked at",
        """
        (rule ((tile-load site v) (site-region site r) (ancestor r b d) (loop-at l b o))
              ((around site l) (set (held site l) 0)))
        """,
        "INF-P4-14",
    ),
    _hold(
        "hold-without-mark",
        "a load written by hand stays where it was written",
        '(manual-load site) (= 0 (promised "hoist_manual_loads"))',
        '"the load does not carry the compiler\'s mark"',
        "INF-P4-03",
    ),
    _hold(
        "hold-unfit-loop",
        "the loop is not sequential, or surely never runs",
        "(unfit-loop l why)",
        "why",
        "INF-P4-04",
    ),
    _hold(
        "hold-uncertain-trips",
        "nobody knows that the loop runs at all",
        '(uncertain-trips l why) (= 0 (promised "assume_nonzero_trips"))',
        "why",
        "INF-P4-04",
    ),
    _hold(
        "hold-conditional",
        "a load in a branch of the loop is not unconditional",
        "(site-region site r) (ancestor r a n) (branch-region a) (ancestor a b m) (loop-at l b o)",
        '"the load is conditional"',
        "INF-P4-05",
    ),
    _hold(
        "hold-other-source",
        "the source is not a tensor parameter of direction In, used directly",
        "(load-source-other site why)",
        "why",
        "INF-P4-06",
    ),
    _hold(
        "hold-unsafe-source",
        "the callers do not prove that the source overlaps nothing written",
        '(load-source site j) (source-unsafe j why) (= 0 (promised "assume_noalias"))',
        "why",
        "INF-P4-07",
        "INF-P4-08",
    ),
    _hold(
        "hold-written-source",
        "the kernel writes the tensor itself",
        "(load-source site j) (source-written j)",
        '"the kernel writes the tensor itself"',
        "INF-P4-08",
    ),
    _hold(
        "hold-variant",
        "an offset or extent changes from trip to trip",
        "(varies-in site l x)",
        '(+ "it reads " x ", which is bound in the loop")',
        "INF-P4-09",
    ),
    _hold(
        "hold-ordered",
        "a call, a submit, a synchronisation or an unknown op in the loop orders memory",
        "(ordered-loop l)",
        '"the loop has a call, synchronisation or unknown effect"',
        "INF-P4-10",
    ),
    _hold(
        "hold-written-tile",
        "something writes the loaded tile, so every trip needs it afresh",
        "(tile-load site v) (written-tile v)",
        '"the loaded tile is written"',
        "INF-P4-12",
    ),
    _hold(
        "hold-no-hardware",
        "without hardware nobody knows what fits",
        "(space-open $Mat)",
        '"no hardware is given, so the capacity is not known"',
        "INF-P4-13",
    ),
    _hold(
        "hold-reserved",
        "nobody knows what room a buffer takes that is reserved outside the tiles",
        "(reserved s)",
        '"a buffer is reserved outside the tiles"',
        "INF-P4-13",
    ),
    _hold(
        "hold-unknown-size",
        "nobody knows what room an allocation of unknown size takes",
        "(space-unknown t)",
        '"an allocation has no static size"',
        "INF-P4-13",
    ),
    _rule(
        "stand-outside",
        "residency",
        "a load that nothing holds may be executed in front of the loop, and so on outwards",
        """
        (rule ((tile-load s v) (site-region s r) (loop-at l r o) (= 0 (held s l))) ((decide (may-stand s o))))
        (rule ((may-stand s r) (loop-at l r o) (= 0 (held s l))) ((decide (may-stand s o))))
        """,
        "INF-P4-14",
    ),
)

OPTIONS: tuple[Rule, ...] = tuple(
    Rule(name, name, "promises", meaning, f'(rule ((region 0 p d)) ((set (promised "{name}") 1)))', ("INF-P4-14",))
    for name, meaning in PROMISES.items()
)
