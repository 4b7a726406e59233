"""Reading facts off the terms: calls, operands, keywords, carried slots."""

from __future__ import annotations

from tilesat.rules.rule import Rule

FAMILY = "read"


def _rule(name: str, meaning: str, text: str) -> Rule:
    return Rule(name, FAMILY, "read", meaning, text)


RULES: tuple[Rule, ...] = (
    _rule(
        "read-call",
        "an assigned or bare op call has a site, operands and keywords",
        """
        (rule ((= s (Assign site v type (Op op args kwargs attrs))))
              ((op-at site op) (binds site v) (operands-from site 0 args) (keywords-from site kwargs)))
        (rule ((= s (Eval site (Op op args kwargs attrs))))
              ((op-at site op) (operands-from site 0 args) (keywords-from site kwargs)))
        """,
    ),
    _rule(
        "read-operands",
        "operands by position, tile variables among them, the first of those",
        """
        (rule ((operands-from site k (Cons x rest))) ((operand site k x) (operands-from site (+ k 1) rest)))
        (rule ((operand site k (Var v)) (tile v)) ((reads site k v) (set (first-tile site) k)))
        """,
    ),
    _rule(
        "read-target",
        "the space that target_memory names",
        """
        (rule ((keywords-from site (Name n x rest))) ((keywords-from site rest)))
        (rule ((keywords-from site (Name "target_memory" (EnumC path) rest)) (space-path path s))
              ((target site s)))
        """,
    ),
    _rule(
        "read-alias",
        "a plain alias, a call's result, a tuple's element",
        """
        (rule ((= s (Assign site y type (Var x))) (tile y)) ((same-as y x)))
        (rule ((= s (Assign site v type (Invoke f args kwargs attrs))) (tile v)) ((called v)))
        (rule ((= s (Assign site v type (Get x i))) (tile v)) ((projected v)))
        """,
    ),
    _rule(
        "read-carries",
        "iter-args with their inits, loop results, values yielded",
        """
        (rule ((= s (ForS site kind i bounds carries body results kwargs attrs)))
              ((carries-from site 0 carries) (results-from site 0 results)))
        (rule ((= s (WhileS site carries test body results)))
              ((carries-from site 0 carries) (results-from site 0 results)))
        (rule ((carries-from site k (Carry v type init rest))) ((carries-from site (+ k 1) rest)))
        (rule ((carries-from site k (Carry v type init rest)) (tile v)) ((iter-arg site k v)))
        (rule ((carries-from site k (Carry v type (Var u) rest)) (tile v)) ((starts-from site k u)))
        (rule ((results-from site k (Result v type rest))) ((results-from site (+ k 1) rest)))
        (rule ((results-from site k (Result v type rest)) (tile v)) ((loop-result site k v)))
        """,
    ),
    _rule(
        "read-branches",
        "if results, and the values that the arms yield",
        """
        (rule ((= s (IfS site test then orelse has-else results))) ((phis-from site 0 results)))
        (rule ((phis-from site k (Result v type rest))) ((phis-from site (+ k 1) rest)))
        (rule ((phis-from site k (Result v type rest)) (tile v)) ((if-result site k v)))
        (rule ((yield-at site arm y) (= s (YieldS y values))) ((yields-from site arm 0 values)))
        (rule ((yields-from site arm k (Cons x rest))) ((yields-from site arm (+ k 1) rest)))
        (rule ((yields-from site arm k (Cons (Var y) rest)) (tile y)) ((yielded site arm k y)))
        """,
    ),
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
)
