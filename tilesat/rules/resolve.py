"""Forward resolution: the space in which each producer leaves its tile (phase 1)."""

from __future__ import annotations

from tilesat.rules.rule import Rule

FAMILY = "resolve"


def _rule(name: str, meaning: str, text: str, *requirements: str) -> Rule:
    return Rule(name, FAMILY, "resolve", meaning, text, requirements)


RULES: tuple[Rule, ...] = (
    _rule(
        "unknown-cube-op",
        "a scaled matmul that the table lacks leaves its result in Acc",
        """
        (rule ((binds site v) (tile v) (op-at site op) (op-unknown-cube op)) ((decide (space v) (real $Acc))))
        """,
        "INF-P1-01",
    ),
    _rule(
        "unknown-op",
        "any other tile op that the table lacks leaves its result in Vec",
        "(rule ((binds site v) (tile v) (op-at site op) (op-unknown op)) ((decide (space v) (real $Vec))))",
        "INF-P1-01",
    ),
    _rule(
        "annotated-op",
        "an op without an output rule: the space annotated on the call's result",
        """
        (rule ((binds site v) (tile v) (op-at site op) (op-annotated op) (declared v s))
              ((decide (space v) (real s))))
        """,
        "INF-P1-02",
    ),
    _rule(
        "unannotated-op",
        "an op without an output rule and without an annotation: Vec",
        """
        (rule ((binds site v) (tile v) (op-at site op) (op-annotated op) (undeclared v))
              ((decide (space v) (real $Vec))))
        """,
        "INF-P1-02",
    ),
    _rule(
        "fixed-output",
        "an op with a fixed output space",
        "(rule ((binds site v) (tile v) (op-at site op) (op-fixed op s)) ((decide (space v) (real s))))",
        "INF-P1-03",
    ),
    _rule(
        "target-keyword",
        "an op with target_memory: the space it names, never overridden here",
        """
        (rule ((binds site v) (tile v) (op-at site op) (op-target op) (target site s))
              ((decide (space v) (real s))))
        """,
        "INF-P1-04",
    ),
    _rule(
        "target-default",
        "target_memory is absent and the op has a default",
        """
        (rule ((binds site v) (tile v) (op-at site op) (untargeted site) (op-default op s))
              ((decide (space v) (real s))))
        """,
        "INF-P1-04",
    ),
    _rule(
        "inherit-input",
        "an inherit op leaves its result where its first tile input is",
        "(rule ((inherits v w) (tile v) (= c (seen w))) ((decide (space v) c)))",
        "INF-P1-05",
    ),
    _rule(
        "inherit-nothing",
        "an inherit op without a tile input: Vec",
        """
        (rule ((binds site v) (tile v) (op-at site op) (op-inherits op) (without-tile site))
              ((decide (space v) (real $Vec))))
        """,
        "INF-P1-05",
    ),
    _rule(
        "retargetable-demand",
        "a load or create that names no space is made where it is asked for, in Vec or Mat",
        """
        (rule ((binds site v) (op-at site op) (op-loads op) (untargeted site)
               (= c (demand v)) (can-land (space-of c)))
              ((decide (space v) (real (space-of c)))))
        (rule ((binds site v) (op-at site op) (op-creates op) (untargeted site)
               (= c (demand v)) (can-land (space-of c)))
              ((decide (space v) (real (space-of c)))))
        """,
        "INF-P1-06",
    ),
    _rule(
        "retargetable-default",
        "a load or create that names no space and is not asked into Mat goes to Vec",
        """
        (rule ((binds site v) (tile v) (op-at site op) (op-loads op) (untargeted site))
              ((decide (space v) (real $Vec))))
        (rule ((binds site v) (tile v) (op-at site op) (op-creates op) (untargeted site))
              ((decide (space v) (real $Vec))))
        """,
        "INF-P1-06",
    ),
    _rule(
        "unresolved-inherits",
        "any other tile op whose rule names no space: where its first tile input is",
        """
        (rule ((binds site v) (tile v) (op-at site op) (op-unresolved op)
               (= k (first-tile site)) (reads site k w) (= c (seen w)))
              ((decide (space v) c)))
        """,
        "INF-P1-07",
    ),
    _rule(
        "unresolved-vec",
        "any other tile op whose rule names no space, without a tile input: Vec",
        """
        (rule ((binds site v) (tile v) (op-at site op) (op-unresolved op) (without-tile site))
              ((decide (space v) (real $Vec))))
        """,
        "INF-P1-07",
    ),
    _rule(
        "foreign-call",
        "a tile from a function call, or from an op outside the tile family: Vec",
        """
        (rule ((called v)) ((decide (space v) (real $Vec))))
        (rule ((binds site v) (tile v) (op-at site op) (op-foreign op)) ((decide (space v) (real $Vec))))
        """,
        "INF-P1-08",
    ),
    _rule(
        "alias",
        "y = x: y lives where x does",
        "(rule ((same-as y x) (= c (seen x))) ((decide (space y) c)))",
        "INF-P1-09",
    ),
    _rule(
        "projection",
        "a tile taken out of a tuple keeps its annotation",
        """
        (rule ((projected v) (declared v s)) ((decide (space v) (real s))))
        (rule ((projected v) (undeclared v)) ((decide (space v) (real $Vec))))
        """,
        "INF-S-04",
    ),
    _rule(
        "seen-where-it-is",
        "readers see a variable where its producer left it",
        "(rule ((= c (space v))) ((set (seen v) c)))",
    ),
    _rule(
        "seen-where-it-went",
        "readers see a re-homed variable where it went",
        """
        (rule ((rehomed v t)) ((set (seen v) (rehomed t))))
        (rule ((rehome v t)) ((set (seen v) (rehomed t))))
        """,
    ),
)
