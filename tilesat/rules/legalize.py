"""Where documented decisions would give a wrong program: stuck inits, in-place writes, accumulators.

Decisions of this family change what the analysis starts from; the run is repeated with them given. Where a decision is
taken, its results count at once: what else follows from them is then known before the repetition, not after it.
"""

from __future__ import annotations

from tilesat.rules.rule import Rule

FAMILY = "legalize"


def _rule(name: str, meaning: str, text: str, *requirements: str, phase: str = "structure") -> Rule:
    return Rule(name, FAMILY, phase, meaning, text, requirements)


RULES: tuple[Rule, ...] = (
    _rule(
        "stuck-producer",
        "a value whose producer fixes its space is stuck where no move leads",
        "(rule ((wanted u s) (pinned u) (= c (seen u)) (no-path (space-of c) s)) ((stuck u s)))",
    ),
    _rule(
        "stuck-load",
        "a load is stuck where neither global memory nor a move reaches",
        """
        (rule ((wanted u s) (binds site u) (op-at site op) (op-loads op) (cannot-land s)
               (= c (seen u)) (no-path (space-of c) s))
              ((stuck u s)))
        """,
    ),
    _rule(
        "stuck-create",
        "a create that is written under its own name cannot be had twice",
        """
        (rule ((wanted u s) (tainted u) (uses u n) (> n 1) (= c (seen u)) (no-path (space-of c) s))
              ((stuck u s)))
        """,
    ),
    _rule(
        "stuck-view",
        "a view or alias is stuck with its source, or when something else reads it where it is",
        """
        (rule ((stuck w s) (wanted v s) (binds site v) (op-at site op) (op-view op)
               (= k (first-tile site)) (reads site k w))
              ((stuck v s)))
        (rule ((stuck x s) (wanted y s) (same-as y x)) ((stuck y s)))
        (rule ((wanted v s) (uses v n) (> n 1) (binds site v) (op-at site op) (op-view op)
               (= c (seen v)) (no-path (space-of c) s))
              ((stuck v s)))
        (rule ((wanted y s) (uses y n) (> n 1) (same-as y x) (= c (seen y)) (no-path (space-of c) s))
              ((stuck y s)))
        """,
    ),
    _rule(
        "stuck-if",
        "an if result is stuck with either branch, or when something else reads it where it is",
        """
        (rule ((stuck y s) (if-result i k z) (wanted z s) (yielded i arm k y)) ((stuck z s)))
        (rule ((wanted z s) (if-result i k z) (uses z n) (> n 1) (= c (seen z)) (no-path (space-of c) s))
              ((stuck z s)))
        """,
    ),
    _rule(
        "keep-init-space",
        "a slot whose init is stuck keeps the init's space; what is yielded is moved there",
        """
        (rule ((starts-from l k u) (iter-arg l k a) (= c (space a)) (stuck u (space-of c)))
              ((blocked l k) (decide (remedy l k) 1)))
        """,
        "INF-P1-10",
    ),
    _rule(
        "peel-zero-fill",
        "an accumulator seeded with zeros starts from the first product instead",
        """
        (rule ((blocked l k) (starts-from l k u) (zero-fill u) (uses u 1) (iter-arg l k a) (uses a 1) (= c (space a))
               (= $Acc (space-of c)) (reads site 0 a) (op-at site op) (op-accumulates op base) (splittable site)
               (body-of l 0 r) (site-region site r) (trips l n) (>= n 1))
              ((decide (remedy l k) 2)))
        """,
        "INF-P1-10",
    ),
    _rule(
        "peeled-seed",
        "the seed of a peeled accumulator is an empty tile in Acc",
        """
        (rule ((peeled l k) (starts-from l k u)) ((decide (retarget u $Acc)) (decide (space u) (retargeted $Acc))))
        """,
        "INF-P3-04",
        phase="resolve",
    ),
    _rule(
        "split-accumulate",
        "an accumulator that cannot be had in Acc is kept where it is: product in Acc, sum in Vec",
        """
        (rule ((op-at site op) (op-accumulates op base) (splittable site) (reads site 0 v) (holds-data v)
               (= c (seen v)) (= m (mask site 0)) (= 0 (& m (<< 1 (space-of c))))
               (slot-first op 0 t) (no-path (space-of c) t))
              ((decide (split site) (space-of c))))
        (rule ((op-at site op) (op-accumulates op base) (splittable site) (reads site 0 v) (lingers site 0)
               (= c (seen v)) (= m (mask site 0)) (= 0 (& m (<< 1 (space-of c))))
               (slot-first op 0 t) (no-path (space-of c) t))
              ((decide (split site) (space-of c))))
        """,
        "INF-P2-01",
    ),
    _rule(
        "split-sum-in-vec",
        "a split call adds in Vec, and leaves its sum there or in the buffer that is read under its old name",
        """
        (rule ((= s (split site)) (binds site v)) ((decide (space v) (grounded $Vec))))
        (rule ((was-split site s)) ((set (mask site 0) (<< 1 $Vec))))
        (rule ((was-split site s) (binds site v)) ((decide (space v) (grounded $Vec))))
        (rule ((was-split site s) (lingers site 0) (binds site v)) ((decide (space v) (retargeted s))))
        """,
        "INF-P2-01",
        phase="resolve",
    ),
    _rule(
        "rehome-written",
        "a tile that is written in place in another space moves there once, for all its readers",
        """
        (rule ((lingers site k) (reads site k v) (movable v) (= c (seen v)) (= m (mask site k))
               (= 0 (& m (<< 1 (space-of c)))) (op-at site op) (slot-first op k t) (hop (space-of c) t h))
              ((decide (rehome v t))))
        """,
        "INF-P2-01",
    ),
    _rule(
        "rehome-viewed",
        "a tile that is written after a view of it was made in another space moves there once, for all its readers",
        """
        (rule ((shows-writes site v) (reads site k v) (= c (seen v)) (= m (mask site k))
               (= 0 (& m (<< 1 (space-of c)))) (op-at site op) (slot-first op k t) (hop (space-of c) t h))
              ((decide (rehome v t))))
        """,
        "INF-P2-01",
    ),
    _rule(
        "write-back",
        "a tile that cannot move for all its readers gets back what was written to a copy",
        """
        (rule ((lingers site k) (reads site k v) (anchored v) (= c (seen v)) (= m (mask site k))
               (= 0 (& m (<< 1 (space-of c)))) (op-at site op) (slot-first op k t) (hop (space-of c) t h))
              ((decide (write-back site k) (space-of c))))
        """,
        "INF-P2-01",
    ),
    _rule(
        "wrote-back",
        "the result of such a call is the old buffer",
        """
        (rule ((wrote-back site k s) (binds site v)) ((decide (space v) (retargeted s))))
        """,
        "INF-P2-01",
        phase="resolve",
    ),
    _rule(
        "rehome-source",
        "a re-homed view or alias takes what it shows along",
        """
        (rule ((rehome v t) (same-as v w)) ((decide (rehome w t))))
        (rule ((rehome v t) (binds site v) (op-at site op) (op-view op) (= k (first-tile site)) (reads site k w))
              ((decide (rehome w t))))
        """,
        "INF-P2-01",
    ),
)
