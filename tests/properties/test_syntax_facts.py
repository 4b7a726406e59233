"""The facts that Python reads off a function are what rules over its terms find."""

from __future__ import annotations

from hypothesis import given

import tilesat.lab.strategies
from tilesat.ir.nodes import Program
from tilesat.ir_terms.egraph import EGraph
from tilesat.ir_terms.relations import BY_NAME, SPACE_NUMBERS, relations_program
from tilesat.ir_terms.relations.base import kind_of
from tilesat.ir_terms.schema import INGEST, syntax_program
from tilesat.ir_terms.session import Syntax

RULES = """
(ruleset read)
(relation yield-at (i64 i64 i64))
(relation tile (String))
(relation space-path (String i64))
(relation operands-from (i64 i64 Exprs))
(relation keywords-from (i64 Named))
(relation carries-from (i64 i64 Carries))
(relation results-from (i64 i64 Results))
(relation phis-from (i64 i64 Results))
(relation yields-from (i64 i64 i64 Exprs))
; An assigned or bare op call has a site, operands and keywords.
(rule ((= s (Assign site v type (Op op args kwargs attrs))))
      ((op-at site op) (binds site v) (operands-from site 0 args) (keywords-from site kwargs)) :ruleset read)
(rule ((= s (Eval site (Op op args kwargs attrs))))
      ((op-at site op) (operands-from site 0 args) (keywords-from site kwargs)) :ruleset read)
; Operands by position, tile variables among them, the first of those.
(rule ((operands-from site k (Cons x rest))) ((operands-from site (+ k 1) rest)) :ruleset read)
(rule ((operands-from site k (Cons (Var v) rest)) (tile v)) ((reads site k v) (set (first-tile site) k)) :ruleset read)
; The space that target_memory names.
(rule ((keywords-from site (Name n x rest))) ((keywords-from site rest)) :ruleset read)
(rule ((keywords-from site (Name "target_memory" (EnumC path) rest)) (space-path path s))
      ((target site s)) :ruleset read)
; A plain alias, a call's result, a tuple's element.
(rule ((= s (Assign site y type (Var x))) (tile y)) ((same-as y x)) :ruleset read)
(rule ((= s (Assign site v type (Invoke f args kwargs attrs))) (tile v)) ((called v)) :ruleset read)
(rule ((= s (Assign site v type (Get x i))) (tile v)) ((projected v)) :ruleset read)
; Iter-args with their inits, loop results, values yielded.
(rule ((= s (ForS site kind i bounds carries body results kwargs attrs)))
      ((carries-from site 0 carries) (results-from site 0 results)) :ruleset read)
(rule ((= s (WhileS site carries test body results)))
      ((carries-from site 0 carries) (results-from site 0 results)) :ruleset read)
(rule ((carries-from site k (Carry v type init rest))) ((carries-from site (+ k 1) rest)) :ruleset read)
(rule ((carries-from site k (Carry v type init rest)) (tile v)) ((iter-arg site k v)) :ruleset read)
(rule ((carries-from site k (Carry v type (Var u) rest)) (tile v)) ((starts-from site k u)) :ruleset read)
(rule ((results-from site k (Result v type rest))) ((results-from site (+ k 1) rest)) :ruleset read)
(rule ((results-from site k (Result v type rest)) (tile v)) ((loop-result site k v)) :ruleset read)
; If results, and the values that the arms yield.
(rule ((= s (IfS site test then orelse has-else results))) ((phis-from site 0 results)) :ruleset read)
(rule ((phis-from site k (Result v type rest))) ((phis-from site (+ k 1) rest)) :ruleset read)
(rule ((phis-from site k (Result v type rest)) (tile v)) ((if-result site k v)) :ruleset read)
(rule ((yield-at site arm y) (= s (YieldS y values))) ((yields-from site arm 0 values)) :ruleset read)
(rule ((yields-from site arm k (Cons x rest))) ((yields-from site arm (+ k 1) rest)) :ruleset read)
(rule ((yields-from site arm k (Cons (Var y) rest)) (tile y)) ((yielded site arm k y)) :ruleset read)
"""
READ = (
    *("op-at", "binds", "reads", "first-tile", "target", "same-as", "called", "projected"),
    *("iter-arg", "starts-from", "loop-result", "if-result", "yielded"),
)
GRAPH = EGraph("\n".join([syntax_program(), relations_program("inference", frozenset(READ)), RULES]))


@given(tilesat.lab.strategies.programs())
def test_facts_of_the_syntax_are_what_its_terms_say(program: Program) -> None:
    for function in program.functions:
        syntax = Syntax.of(function)
        GRAPH.push()
        GRAPH.load(syntax.terms())
        index = syntax.index
        GRAPH.load(
            {
                "tile": [(name,) for name in index.tile_names()],
                "yield-at": [(site, arm, end) for (site, arm), end in index.yields.items()],
                "space-path": [(f"Mem.{space.value}", number) for space, number in SPACE_NUMBERS.items()],
            }
        )
        GRAPH.saturate(INGEST, "read")
        for name in READ:
            found = GRAPH.table(name).read(*map(kind_of, BY_NAME[name].columns))
            assert sorted(found) == sorted(set(syntax.facts.get(name, []))), name
        GRAPH.pop()
