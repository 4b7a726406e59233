"""Carried slots and if results: one space for everything that flows into one variable."""

from __future__ import annotations

from tilesat.rules.rule import Rule

FAMILY = "carries"


def _rule(name: str, phase: str, meaning: str, text: str, *requirements: str) -> Rule:
    return Rule(name, FAMILY, phase, meaning, text, requirements)


RULES: tuple[Rule, ...] = (
    _rule(
        "iter-arg-from-init",
        "resolve",
        "until the body says otherwise an iter-arg lives where its init does",
        "(rule ((starts-from l k u) (iter-arg l k a) (= c (seen u))) ((decide (space a) (guess (space-of c)))))",
        "INF-P1-11",
    ),
    _rule(
        "slot-from-yield",
        "resolve",
        "iter-arg and loop result live where the yielded value does, once that is known for sure",
        """
        (rule ((yielded l 0 k y) (iter-arg l k a) (= c (seen y)) (>= (rank-of c) 3))
              ((decide (space a) c)))
        (rule ((yielded l 0 k y) (loop-result l k r) (= c (seen y)) (>= (rank-of c) 3))
              ((decide (space r) c)))
        """,
        "INF-P1-10",
    ),
    _rule(
        "result-from-iter-arg",
        "resolve",
        "a loop result lives where its iter-arg does (a carry passed through unchanged)",
        "(rule ((iter-arg l k a) (loop-result l k r) (= c (space a))) ((decide (space r) c)))",
        "INF-P1-10",
    ),
    _rule(
        "grounded-slot",
        "resolve",
        "a slot whose init cannot follow keeps the space of its init",
        "(rule ((grounded l k s) (iter-arg l k a)) ((decide (space a) (grounded s))))",
        "INF-P1-10",
    ),
    _rule(
        "if-branches-agree",
        "resolve",
        "an if result lives where both branches yield it",
        """
        (rule ((if-result i k z) (yielded i 0 k x) (yielded i 1 k y) (= c (seen x)) (= d (seen y))
               (= (space-of c) (space-of d)))
              ((decide (space z) c) (decide (space z) d)))
        """,
        "INF-P1-12",
    ),
    _rule(
        "if-surer-branch",
        "resolve",
        "of a guess and a certainty the certainty counts",
        """
        (rule ((if-result i k z) (yielded i 0 k x) (yielded i 1 k y) (= c (seen x)) (= d (seen y))
               (>= (rank-of c) 3) (< (rank-of d) 3))
              ((decide (space z) c)))
        (rule ((if-result i k z) (yielded i 0 k x) (yielded i 1 k y) (= c (seen x)) (= d (seen y))
               (< (rank-of c) 3) (>= (rank-of d) 3))
              ((decide (space z) d)))
        """,
        "INF-P1-12",
    ),
    _rule(
        "if-reconcile",
        "resolve",
        "branches that differ meet in Vec, which every space reaches",
        """
        (rule ((if-result i k z) (yielded i 0 k x) (yielded i 1 k y) (= c (seen x)) (= d (seen y))
               (!= (space-of c) (space-of d)) (>= (rank-of c) 3) (>= (rank-of d) 3))
              ((decide (space z) (joined $Vec))))
        """,
        "INF-P1-12",
    ),
    _rule(
        "if-reconcile-guesses",
        "resolve",
        "branches that are both guesses and differ meet in Vec unless more is learnt",
        """
        (rule ((if-result i k z) (yielded i 0 k x) (yielded i 1 k y) (= c (seen x)) (= d (seen y))
               (!= (space-of c) (space-of d)) (< (rank-of c) 3) (< (rank-of d) 3))
              ((decide (space z) (joined-guess $Vec))))
        """,
        "INF-P1-12",
    ),
    _rule(
        "exchanged-slots",
        "resolve",
        "slots that only hand on each other's values, which no move brings to one of them, meet in Vec",
        """
        (rule ((yielded l 0 k y) (iter-arg l k a) (= c (space a)) (< (rank-of c) 3) (= d (seen y)) (< (rank-of d) 3)
               (no-path (space-of d) (space-of c)))
              ((decide (space a) (joined-guess $Vec))))
        """,
        "INF-P1-10",
    ),
    _rule(
        "want-init-in-slot",
        "structure",
        "a slot would like to find its init in the slot's own space",
        """
        (rule ((starts-from l k u) (iter-arg l k a) (= c (space a)) (= d (seen u)) (!= (space-of c) (space-of d)))
              ((wanted u (space-of c))))
        """,
        "INF-P1-10",
    ),
    _rule(
        "want-through-view",
        "structure",
        "where no move helps, the wish goes on to what a view or alias shows, if nothing else reads it",
        """
        (rule ((wanted v s) (uses v 1) (= c (space v)) (no-path (space-of c) s)
               (binds site v) (op-at site op) (op-view op) (= k (first-tile site)) (reads site k w))
              ((wanted w s)))
        (rule ((wanted y s) (uses y 1) (= c (space y)) (no-path (space-of c) s) (same-as y x))
              ((wanted x s)))
        """,
        "INF-P1-10",
    ),
    _rule(
        "want-through-if",
        "structure",
        "where no move helps, the wish goes on to both branches of an if result",
        """
        (rule ((wanted z s) (uses z 1) (= c (space z)) (no-path (space-of c) s) (if-result i k z) (yielded i arm k y))
              ((wanted y s)))
        """,
        "INF-P1-10",
    ),
    _rule(
        "retarget-create",
        "structure",
        "a create that only seeds one slot is made where the slot wants it, whatever its keyword says",
        """
        (rule ((wanted u s) (uses u 1) (binds site u) (op-at site op) (op-creates op))
              ((decide (retarget u s)) (decide (space u) (retargeted s))))
        """,
        "INF-P1-10",
        "INF-P3-04",
    ),
    _rule(
        "retarget-load",
        "structure",
        "a load that only seeds one slot lands where the slot wants it, if global memory reaches that",
        """
        (rule ((wanted u s) (uses u 1) (can-land s) (binds site u) (op-at site op) (op-loads op))
              ((decide (retarget u s)) (decide (space u) (retargeted s))))
        """,
        "INF-P1-10",
        "INF-P3-04",
    ),
    _rule(
        "retarget-untargeted",
        "structure",
        "a load or create that names no space is told the one it was given",
        """
        (rule ((binds site u) (untargeted site) (op-at site op) (op-loads op) (= c (space u)))
              ((decide (retarget u (space-of c)))))
        (rule ((binds site u) (untargeted site) (op-at site op) (op-creates op) (= c (space u)))
              ((decide (retarget u (space-of c)))))
        """,
        "INF-P3-04",
    ),
    _rule(
        "want-seed-in-place",
        "structure",
        "an empty tile that only seeds an in-place op is wanted where that op writes",
        """
        (rule ((writes-arg site k) (reads site k u) (uses u 1) (binds made u) (op-at made maker) (op-creates maker)
               (op-at site op) (slot-first op k t) (= c (seen u)) (= m (mask site k))
               (= 0 (& m (<< 1 (space-of c)))))
              ((wanted u t)))
        """,
        "INF-P3-04",
    ),
    _rule(
        "clone-create",
        "structure",
        "slots that want one empty tile in different spaces get one create each",
        """
        (rule ((wanted u s) (pristine u) (uses u n) (> n 1)) ((decide (clone u s))))
        """,
        "INF-P1-10",
    ),
)
