"""What follows from the facts of the syntax at once: nesting of regions, what calls accept."""

from __future__ import annotations

from tilesat.rules.rule import Rule

FAMILY = "read"


def _rule(name: str, meaning: str, text: str) -> Rule:
    return Rule(name, FAMILY, "read", meaning, text)


RULES: tuple[Rule, ...] = (
    _rule(
        "read-regions",
        "a region lies in itself and in what its parent lies in",
        """
        (rule ((region r p d)) ((ancestor r r d)))
        (rule ((region r p d) (ancestor p a e)) ((ancestor r a e)))
        """,
    ),
    _rule(
        "read-slots",
        "what a call accepts for an argument is what its op accepts",
        "(rule ((op-at site op) (slot-mask op k m)) ((set (mask site k) m)))",
    ),
    _rule(
        "read-inherits",
        "the result of an inherit op goes with its first tile input",
        """
        (rule ((op-inherits op) (op-at site op) (binds site v) (= k (first-tile site)) (reads site k w))
              ((inherits v w)))
        """,
    ),
)
