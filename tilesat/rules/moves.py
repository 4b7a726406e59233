"""Needed moves and the copies that serve them (phases 2 and 3)."""

from __future__ import annotations

from tilesat.ir_terms.relations.base import SLOTS
from tilesat.rules.rule import Rule

FAMILY = "moves"

# Slots beyond the operands of calls: the init of carry k, and the k-th yielded value.
INIT_SLOT = 1000
YIELD_SLOT = 2000


def _rule(name: str, phase: str, meaning: str, text: str, *requirements: str) -> Rule:
    return Rule(name, FAMILY, phase, meaning, text, requirements)


RULES: tuple[Rule, ...] = (
    _rule(
        "have-where-seen",
        "flows",
        "a variable can be read where it is",
        "(rule ((= c (seen v))) ((set (have v) (<< 1 (space-of c)))))",
    ),
    _rule(
        "have-clone",
        "flows",
        "a cloned create can be read where its clone is",
        "(rule ((clone v s)) ((set (have v) (<< 1 s))))",
    ),
    _rule(
        "need-operand",
        "needs",
        "an operand outside the spaces its slot allows is copied to the first, the accumulator of a split call to Vec",
        """
        (rule ((op-at site op) (reads site k v) (= c (seen v)) (= m (mask site k))
               (= 0 (& m (<< 1 (space-of c)))) (slot-first op k t) (= 0 (* (& m (<< 1 $Vec)) (- t $Vec))))
              ((decide (need site k v t))))
        (rule ((was-split site s) (reads site 0 v) (= c (seen v)) (!= $Vec (space-of c)))
              ((decide (need site 0 v $Vec))))
        """,
        "INF-P2-01",
    ),
    _rule(
        "need-init",
        "needs",
        "the init of a slot is copied to the slot's space",
        f"""
        (rule ((starts-from l k u) (iter-arg l k a) (= c (space a)) (= m (have u)) (= 0 (& m (<< 1 (space-of c)))))
              ((decide (need l (+ {INIT_SLOT} k) u (space-of c)))))
        """,
        "INF-P2-01",
    ),
    _rule(
        "need-yield",
        "needs",
        "a yielded value is copied to the space of the slot or if result it flows into",
        f"""
        (rule ((yielded l 0 k y) (iter-arg l k a) (= c (space a)) (= d (seen y)) (!= (space-of c) (space-of d))
               (yield-at l 0 site))
              ((decide (need site (+ {YIELD_SLOT} k) y (space-of c)))))
        (rule ((yielded i arm k y) (if-result i k z) (= c (space z)) (= d (seen y)) (!= (space-of c) (space-of d))
               (yield-at i arm site))
              ((decide (need site (+ {YIELD_SLOT} k) y (space-of c)))))
        """,
        "INF-P1-12",
        "INF-P2-01",
    ),
    _rule(
        "need-assemble-source",
        "needs",
        "a block that is written into a tile from a space that cannot reach it is copied beside it",
        """
        (rule ((op-at site "tile.assemble") (reads site 0 v) (reads site 1 w) (= c (seen v)) (= d (seen w))
               (cannot-insert (space-of d) (space-of c)))
              ((decide (need site 1 w (space-of c)))))
        """,
        "INF-P2-01",
    ),
    _rule(
        "need-stops",
        "needs",
        "where no direct move exists a copy is needed at each stop of the shortest chain",
        """
        (rule ((need site k v t) (= c (seen v)) (hop (space-of c) t m) (!= m t)) ((need-via site k v m)))
        (rule ((need site k v t) (need-via site k v m) (hop m t h) (!= h t)) ((need-via site k v h)))
        """,
        "INF-P2-01",
    ),
    _rule(
        "first-consumer",
        "needs",
        "a copy stands before its first consumer in a statement list",
        f"""
        (rule ((need site k v t)) ((copy-wanted site k v t)))
        (rule ((need-via site k v t)) ((copy-wanted site k v t)))
        (rule ((copy-wanted site k v t) (version site v e) (site-region site r))
              ((set (first-need v e t r) (+ (* site {SLOTS}) k))))
        """,
        "INF-P2-02",
        "INF-P3-02",
    ),
    _rule(
        "serve-from-scope",
        "needs",
        "a consumer reads the outermost copy made before it in its own or a surrounding statement list",
        f"""
        (rule ((copy-wanted site k v t) (version site v e) (site-region site r) (ancestor r a d)
               (= p (first-need v e t a)) (<= (/ p {SLOTS}) site))
              ((decide (serve site k v t) d)))
        """,
        "INF-P2-02",
        "INF-P3-02",
    ),
    _rule(
        "layout-of-accumulator-copy",
        "layout",
        "a copy from Acc to Vec is row-major without boxes",
        """
        (rule ((= p (first-need v e $Vec r)) (= c (seen v)) (= $Acc (space-of c)))
              ((decide (row-major v e $Vec r))))
        """,
        "INF-P3-03",
    ),
    _rule(
        "layout-wish",
        "layout",
        "a copy has the layout that the backend wants for its first consumer",
        f"""
        (rule ((op-at site op) (wants-row-major op k) (copy-wanted site k v $Vec) (version site v e)
               (site-region site r) (= p (first-need v e $Vec r)) (= p (+ (* site {SLOTS}) k)))
              ((decide (row-major v e $Vec r))))
        """,
        "INF-P3-03",
    ),
)
