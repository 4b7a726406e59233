"""What the library relies on egglog for, by the faults that some release of it had."""

from __future__ import annotations

from tilesat.ir_terms.egraph import EGraph

# `a` and `b` are in space 1 and can be moved to 2; nothing that flows is in space 2 itself, only `x`, a stranger.
CYCLIC = """
(ruleset r)
(sort Content)
(constructor Of (String) Content)
(relation lives (String i64))
(relation copied (String String))
(relation own (Content i64))
(relation reach (Content i64))
(relation edge (i64 i64))
(relation flow (i64 i64 String))
(relation slot-flow (i64 i64))
(relation found (i64 i64))
(rule ((copied w v)) ((union (Of w) (Of v))) :ruleset r)
(rule ((lives v s) (= c (Of v))) ((own c s)) :ruleset r)
(rule ((own c s)) ((reach c s)) :ruleset r)
(rule ((reach c s) (edge s t)) ((reach c t)) :ruleset r)
(rule ((flow p k v)) ((Of v)) :ruleset r)
(rule ((slot-flow l p) (slot-flow l q) (flow p i v) (flow q j w) (own (Of v) s) (reach (Of w) s))
      ((found l s)) :ruleset r)
(edge 1 2)
(lives "x" 2)
(copied "y" "x")
(lives "a" 1)
(lives "b" 1)
(slot-flow 0 10)
(slot-flow 0 11)
(flow 10 0 "a")
(flow 11 0 "b")
"""


def test_a_body_with_a_cycle_matches_what_there_is() -> None:
    """egglog 13.2 also finds space 2, in which neither `a` nor `b` is."""
    graph = EGraph(CYCLIC)
    graph.saturate("r")
    assert graph.table("found").read("int", "int") == [(0, 1)]
