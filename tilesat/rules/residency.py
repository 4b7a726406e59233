"""Loop-invariant residency of Mat loads (phase 4): what keeps a load in its loop, and what leaves.

Every condition that fails is recorded in ``stay``; a load without one moves in front of its loop, and
the single-use chain behind it follows as far as nothing keeps it.
"""

from __future__ import annotations

from tilesat.rules.rule import Rule

FAMILY = "residency"


def _rule(name: str, phase: str, meaning: str, text: str, *requirements: str) -> Rule:
    return Rule(name, FAMILY, phase, meaning, text, requirements)


def _stay(name: str, meaning: str, facts: str, reason: str, *requirements: str) -> Rule:
    text = f"(rule ({facts}) ((decide (stay site {reason})) (set (obstacles site) 1)))"
    return _rule(name, "obstacles", meaning, text, *requirements)


RULES: tuple[Rule, ...] = (
    _rule(
        "residency-candidate",
        "obstacles",
        "every load into Mat inside a loop is looked at, with the innermost loop around it",
        """
        (rule ((mat-load site v) (site-region site r) (loop-at l r o))
              ((candidate site l) (set (obstacles site) 0)))
        """,
        "INF-P4-14",
    ),
    _rule(
        "residency-prefix",
        "obstacles",
        "the movable prefix of a body ends at the first effect or control statement",
        "(rule ((ends-prefix s) (site-region s r)) ((set (prefix-end r) s)))",
        "INF-P4-05",
    ),
    _rule(
        "residency-ordering",
        "obstacles",
        "an ordering effect anywhere in a loop, or in its header, concerns the whole loop",
        "(rule ((ordering-at s) (site-region s r) (ancestor r b d) (loop-at l b o)) ((ordered-loop l)))",
        "INF-P4-10",
    ),
    _rule(
        "residency-variance",
        "obstacles",
        "what reads something bound inside a loop varies in it",
        "(rule ((uses-name s x) (name-region x q) (ancestor q b d) (loop-at l b o)) ((varies-in s l x)))",
        "INF-P4-09",
    ),
    _rule(
        "panel-staged",
        "obstacles",
        "a panel is read only through transposed views, and moves and extracts that stage an operand in Left or Right",
        """
        (rule ((mat-load s v)) ((panel v)))
        (rule ((panel v) (reads s 0 v) (binds s w) (op-at s "tile.transpose_view")) ((panel w)))
        (rule ((panel v) (reads s k v) (use-other s k) (op-at s op))
              ((decide (bad-panel v (+ op " reads " v " and does not stage it")))))
        """,
        "INF-P4-02",
        "INF-P4-11",
    ),
    _rule(
        "panel-escapes",
        "obstacles",
        "neither the panel nor what is made of it is yielded, carried, returned, passed on or given another name",
        """
        (rule ((mat-load s v) (escapes v why)) ((decide (bad-panel v why))))
        (rule ((reads s 0 v) (binds s w) (op-at s "tile.transpose_view") (escapes w why)) ((decide (bad-panel w why))))
        (rule ((reads s 0 v) (binds s w) (staged-in w $Left) (escapes w why)) ((decide (bad-panel v why))))
        (rule ((reads s 0 v) (binds s w) (staged-in w $Right) (escapes w why)) ((decide (bad-panel v why))))
        """,
        "INF-P4-11",
        "INF-P4-12",
    ),
    _rule(
        "panel-fed",
        "obstacles",
        "what is staged is read by products, each at the operand for its space",
        """
        (rule ((staged-in w t) (reads u k w)) ((reads-staged u k w t)))
        (rule ((reads-staged u k w t) (op-at u op) (not-fed op k t) (binds s w) (reads s 0 v))
              ((decide (bad-panel v (+ op " reads " w " at another place than a product's operand")))))
        """,
        "INF-P4-11",
    ),
    _rule(
        "panel-used",
        "obstacles",
        "every branch of a panel's uses ends in a product",
        """
        (rule ((mat-load s v) (use-count v 0)) ((decide (bad-panel v (+ "nothing reads " v)))))
        (rule ((reads s 0 v) (binds s w) (op-at s "tile.transpose_view") (use-count w 0))
              ((decide (bad-panel w (+ "nothing reads " w)))))
        (rule ((reads s 0 v) (binds s w) (staged-in w t) (use-count w 0))
              ((decide (bad-panel v (+ "nothing reads " w)))))
        """,
        "INF-P4-02",
    ),
    _rule(
        "panel-views",
        "obstacles",
        "what is wrong with a transposed view is wrong with the panel",
        """
        (rule ((reads s 0 v) (binds s w) (op-at s "tile.transpose_view") (bad-panel w why))
              ((decide (bad-panel v why))))
        """,
        "INF-P4-02",
    ),
    _rule(
        "capacity-sum",
        "obstacles",
        "the allocator-aligned sum of all allocations of a space exceeds it",
        """
        (rule ((space-total t n) (space-capacity t c) (> n c))
              ((decide (over-capacity t "the allocations of its memory together exceed it"))))
        """,
        "INF-P4-13",
    ),
    _rule(
        "capacity-unknown",
        "obstacles",
        "an allocation of unknown size, or a buffer reserved outside the tiles, may need the room",
        """
        (rule ((space-unknown t)) ((decide (over-capacity t "an allocation in its memory has no static size"))))
        (rule ((reserved s) (space-capacity t c)) ((decide (over-capacity t "a buffer is reserved outside the tiles"))))
        """,
        "INF-P4-13",
    ),
    _rule(
        "capacity-open",
        "obstacles",
        "without hardware nobody knows what fits",
        """
        (rule ((space-open t)) ((decide (over-capacity t "no hardware is given, so its capacity is not known"))))
        """,
        "INF-P4-13",
    ),
    _rule(
        "capacity-replicated",
        "obstacles",
        "lowering a pipeline replicates the allocations inside it",
        """
        (rule ((space-replicated t))
              ((decide (over-capacity t "a pipeline loop may replicate allocations in its memory"))))
        """,
        "INF-P4-13",
    ),
    _stay(
        "stay-without-mark",
        "a load written by hand stays where it was written",
        "(candidate site l) (manual-load site)",
        '"the load does not carry the compiler\'s mark"',
        "INF-P4-03",
    ),
    _rule(
        "stay-unfit-loop",
        "obstacles",
        "the loop is not sequential with a positive step, or never runs",
        "(rule ((candidate site l) (unfit-loop l why)) ((decide (stay site why)) (set (obstacles site) 1)))",
        "INF-P4-04",
    ),
    _rule(
        "stay-uncertain-trips",
        "obstacles",
        "the loop may not run at all",
        "(rule ((candidate site l) (uncertain-trips l why)) ((decide (stay site why)) (set (obstacles site) 1)))",
        "INF-P4-04",
    ),
    _rule(
        "stay-conditional",
        "obstacles",
        "a load in a branch is not unconditional",
        """
        (rule ((mat-load site v) (in-branch site)) ((decide (stay site "the load is conditional"))))
        """,
        "INF-P4-05",
    ),
    _stay(
        "stay-after-effect",
        "an effect or control statement comes before the load in the body",
        "(candidate site l) (site-region site r) (= e (prefix-end r)) (< e site)",
        '"an effect or control statement precedes the load"',
        "INF-P4-05",
    ),
    _rule(
        "stay-other-source",
        "obstacles",
        "the source is not a tensor parameter of direction In, used directly",
        "(rule ((candidate site l) (load-source-other site why)) ((decide (stay site why)) (set (obstacles site) 1)))",
        "INF-P4-06",
    ),
    _rule(
        "stay-unsafe-source",
        "obstacles",
        "the callers do not prove that the source overlaps nothing written",
        """
        (rule ((candidate site l) (load-source site j) (source-unsafe j why))
              ((decide (stay site why)) (set (obstacles site) 1)))
        """,
        "INF-P4-07",
        "INF-P4-08",
    ),
    _stay(
        "stay-written-source",
        "the kernel writes the tensor itself",
        "(candidate site l) (load-source site j) (source-written j)",
        '"the kernel writes the tensor itself"',
        "INF-P4-08",
    ),
    _stay(
        "stay-variant",
        "an offset or extent is bound in the loop, so it may change from trip to trip",
        "(candidate site l) (varies-in site l x)",
        '(+ "it reads " x ", which is bound in the loop")',
        "INF-P4-09",
    ),
    _stay(
        "stay-ordered",
        "a call, a submit, a synchronisation or an unknown op in the loop orders memory",
        "(candidate site l) (ordered-loop l)",
        '"the loop has a call, synchronisation or unknown effect"',
        "INF-P4-10",
    ),
    _rule(
        "stay-extra-use",
        "obstacles",
        "the panel has a use that does not stage a product's operand",
        """
        (rule ((candidate site l) (mat-load site v) (bad-panel v why))
              ((decide (stay site why)) (set (obstacles site) 1)))
        """,
        "INF-P4-11",
        "INF-P4-12",
    ),
    _rule(
        "stay-capacity",
        "obstacles",
        "all allocations of Mat together do not surely fit",
        "(rule ((candidate site l) (over-capacity $Mat why)) ((decide (stay site why)) (set (obstacles site) 1)))",
        "INF-P4-13",
    ),
    _rule(
        "chain-exact",
        "obstacles",
        "a chain is exact when everything from the load to the staged operand is used once",
        """
        (rule ((binds u w) (staged-in w t) (use-count w 1)) ((exact u)))
        (rule ((op-at s "tile.transpose_view") (binds s v) (use-count v 1) (reads u 0 v) (exact u)) ((exact s)))
        """,
        "INF-P4-01",
    ),
    _rule(
        "chain-link",
        "obstacles",
        "of an exact chain, what stands in the same block can move with the load",
        """
        (rule ((mat-load s v) (use-count v 1) (reads u 0 v) (exact u) (site-region s r) (site-region u r))
              ((chain-next s u) (set (obstacles u) 0)))
        (rule ((chain-next p s) (op-at s "tile.transpose_view") (binds s v) (reads u 0 v) (exact u)
               (site-region s r) (site-region u r))
              ((chain-next s u) (set (obstacles u) 0)))
        """,
        "INF-P4-01",
    ),
    _rule(
        "chain-obstacles",
        "obstacles",
        "a link stays when the prefix has ended, when an offset varies, or when its space has no room",
        """
        (rule ((chain-next p s) (site-region s r) (= e (prefix-end r)) (< e s))
              ((decide (link-kept s "an effect or control statement precedes it"))))
        (rule ((chain-next p s) (site-region s r) (loop-at l r o) (varies-in s l x))
              ((decide (link-kept s (+ "it reads " x ", which is bound in the loop")))))
        (rule ((chain-next p s) (binds s w) (staged-in w t) (over-capacity t why)) ((decide (link-kept s why))))
        (rule ((link-kept s why)) ((set (obstacles s) 1)))
        """,
        "INF-P4-01",
        "INF-P4-05",
        "INF-P4-09",
        "INF-P4-13",
    ),
    _rule(
        "chain-ends",
        "obstacles",
        "what makes no exact chain, or stands in another block, stays where it is",
        """
        (rule ((reads u 0 v) (binds u w) (staged-in w t) (use-count w n) (> n 1))
              ((inexact u (+ w " has several uses"))))
        (rule ((op-at u "tile.transpose_view") (binds u w) (use-count w n) (> n 1))
              ((inexact u (+ w " has several uses"))))
        (rule ((op-at s "tile.transpose_view") (binds s v) (reads u 0 v) (inexact u why)) ((inexact s why)))
        (rule ((mat-load s v) (use-count v n) (> n 1) (reads u 0 v)) ((inexact u (+ v " has several uses"))))
        (rule ((inexact u why)) ((decide (link-kept u why))))
        (rule ((binds s v) (reads u 0 v) (binds u w) (site-region s r) (site-region u q) (!= r q))
              ((decide (link-kept u (+ v " is made in another block")))))
        """,
        "INF-P4-01",
        "INF-P4-02",
    ),
    _rule(
        "hoist-load",
        "residency",
        "a load that nothing keeps moves in front of its loop, by one level",
        "(rule ((candidate s l) (= 0 (obstacles s))) ((decide (hoist s l))))",
        "INF-P4-01",
        "INF-P4-02",
        "INF-P4-14",
    ),
    _rule(
        "hoist-chain",
        "residency",
        "a link that nothing keeps follows what it reads",
        "(rule ((hoist p l) (chain-next p s) (= 0 (obstacles s))) ((decide (hoist s l))))",
        "INF-P4-01",
    ),
    _rule(
        "stay-behind",
        "residency",
        "what is kept of the chain behind a load that moves",
        """
        (rule ((hoist p l) (binds p v) (reads s 0 v) (binds s w) (staged-in w t) (link-kept s why))
              ((decide (stay s why))))
        (rule ((hoist p l) (binds p v) (reads s 0 v) (op-at s "tile.transpose_view") (link-kept s why))
              ((decide (stay s why))))
        """,
        "INF-P4-01",
    ),
)
