"""Pattern 3: a loop that gathers blocks into a tile stores each block instead (ORC-3-01)."""

from __future__ import annotations

from tilesat.rules.rule import Rule

FAMILY = "gather"


def _rule(name: str, phase: str, meaning: str, text: str, *requirements: str) -> Rule:
    return Rule(name, FAMILY, phase, meaning, text, requirements)


def _bar(name: str, meaning: str, facts: str, why: str) -> Rule:
    reason = why if why.isidentifier() else f'"{why}"'
    text = f"""
    (rule ((gather k l o) {facts}) ((decide (gather-kept k l {reason})) (set (gather-bars k l) 1)))
    """
    return _rule(name, "gather-bars", meaning, text, "ORC-3-01")


RULES: tuple[Rule, ...] = (
    _rule(
        "gathering-loops",
        "gather-bars",
        "loops whose tile is stored to an output afterwards",
        "(rule ((gather k l o)) ((set (gather-bars k l) 0)))",
        "ORC-3-01",
    ),
    _bar(
        "keep-other-use",
        "the tile, the output or the store is used in another way",
        "(gather-flaw k l why)",
        "why",
    ),
    _bar(
        "keep-filled-start",
        "the tile starts with data that the blocks may not replace",
        '(gather-start k l "data") (gather-gap k l why)',
        "the tile starts with data, and its blocks may not cover it",
    ),
    _bar(
        "keep-uncovered-start",
        "what the blocks leave would be stored undefined, and must not show what the tensor held before",
        '(gather-start k l "empty") (gather-gap k l why)',
        "the blocks may not cover the tile",
    ),
    _bar(
        "keep-read-between",
        "a parameter that may be the output's buffer is read after a block would have been stored",
        """(block-seen k l q why) (tensor-param k q p) (tensor-param k o r) (same-buffer p r)""",
        "an input that may be the same buffer is read after a block would be stored",
    ),
    _bar(
        "keep-written-between",
        "a parameter that may be the output's buffer is written before the tile is stored",
        """(stores-too k l q) (tensor-param k q p) (tensor-param k o r) (same-buffer p r)""",
        "a parameter that may be the same buffer is written before the tile is stored",
    ),
    _bar(
        "keep-nested",
        "the documents know one loop with its blocks directly in it",
        '(gather-form k l "nested")',
        "the blocks are gathered in nested loops",
    ),
    _bar(
        "keep-guarded",
        "the documents know blocks that are assembled in every trip",
        '(gather-form k l "guarded")',
        "a block is assembled under a condition",
    ),
    _rule(
        "store-blocks",
        "gathers",
        "each block is stored where the whole would be; the tile goes",
        "(rule ((gather k l o) (= 0 (gather-bars k l))) ((decide (stream k l o))))",
        "ORC-3-01",
    ),
)
DOCUMENTED_FORMS = ("keep-nested", "keep-guarded")
"""Rules that keep to what the documents describe; the optimal rules go without."""
