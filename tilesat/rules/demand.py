"""Backward demand: what the consumers of a tile would like (phase 0 of the inference)."""

from __future__ import annotations

from tilesat.rules.rule import Rule

FAMILY = "demand"

# A demand is site * 16 + space, the smallest counts: the first consumer's. Vec is the permissive
# default and comes after every other space.
_LATE = 1 << 40

RULES: tuple[Rule, ...] = (
    Rule(
        "demand-first-allowed",
        FAMILY,
        "demand",
        "a constrained operand is wanted in the first space its slot allows",
        """
        (rule ((op-at site op) (reads site k v) (slot-first op k s) (!= s $Vec))
              ((set (demand v) (+ (* site 16) s))))
        """,
        ("INF-P0-01",),
    ),
    Rule(
        "demand-vec-last",
        FAMILY,
        "demand",
        "a demand for Vec gives way to any other",
        f"""
        (rule ((op-at site op) (reads site k v) (slot-first op k $Vec))
              ((set (demand v) (+ {_LATE} (+ (* site 16) $Vec)))))
        """,
        ("INF-P0-01", "INF-P0-03"),
    ),
    Rule(
        "demand-through-view",
        FAMILY,
        "demand",
        "what is asked of an inherit op's result is asked of its first tile input",
        "(rule ((= c (demand v)) (inherits v w)) ((set (demand w) c)))",
        ("INF-P0-02",),
    ),
)
