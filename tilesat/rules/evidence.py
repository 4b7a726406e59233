"""Caller evidence: which tensor parameters of a kernel surely overlap nothing that is written (phase 4).

Storage is a may-relation: a variable that may be one of several storages is safe only if all of them are.
"""

from __future__ import annotations

from tilesat.rules.rule import Rule

FAMILY = "evidence"


def _rule(name: str, phase: str, meaning: str, text: str, *requirements: str) -> Rule:
    return Rule(name, FAMILY, phase, meaning, text, requirements)


RULES: tuple[Rule, ...] = (
    _rule(
        "storage-origins",
        "storage",
        "a create and a parameter are storages of their own, what is not followed may be anything",
        """
        (rule ((created v f)) ((storage v v)))
        (rule ((external v)) ((storage v v)))
        (rule ((untraced v)) ((storage v v)))
        """,
        "INF-P4-08",
    ),
    _rule(
        "storage-through-alias",
        "storage",
        "aliases, slices, views, assembles, stores, carries and if results share storage",
        "(rule ((same-storage y x) (storage x r)) ((storage y r)))",
        "INF-P4-08",
    ),
    _rule(
        "storage-of-call-result",
        "storage",
        "a call's result is the argument whose parameter the callee returns, or what the callee made itself",
        """
        (rule ((call-result v n i) (call-from k c n) (returned k i w) (storage w p) (kernel-param k j p)
               (actual n j a) (storage a r))
              ((storage v r)))
        (rule ((call-result v n i) (submit-from k c n) (returned k i w) (storage w p) (kernel-param k j p)
               (actual n j a) (storage a r))
              ((storage v r)))
        (rule ((call-result v n i) (call-from k c n) (returned k i w) (storage w r) (created r f)) ((storage v r)))
        (rule ((call-result v n i) (submit-from k c n) (returned k i w) (storage w r) (created r f)) ((storage v r)))
        """,
        "INF-P4-08",
    ),
    _rule(
        "storage-not-followed",
        "storage",
        "a call's result of which that is not known may be anything",
        """
        (rule ((call-result v n i) (call-from k c n) (returned k i w) (storage w r) (untraced r)) ((storage v r)))
        (rule ((call-result v n i) (submit-from k c n) (returned k i w) (storage w r) (untraced r)) ((storage v r)))
        (rule ((call-result v n i) (call-from k c n) (returned-unnamed k i)) ((untraced v) (storage v v)))
        (rule ((call-result v n i) (submit-from k c n) (returned-unnamed k i)) ((untraced v) (storage v v)))
        (rule ((actual n j a)) ((set (followed a) 0)))
        (rule ((storage a r)) ((set (followed a) 1)))
        """,
        "INF-P4-08",
    ),
    _rule(
        "direct-root-call",
        "storage",
        "a root orchestration function calls the kernel directly",
        """
        (rule ((param-in k j)) ((set (direct-calls k) 0)))
        (rule ((call-from k c n) (root-function c)) ((set (direct-calls k) 1)))
        """,
        "INF-P4-07",
    ),
    _rule(
        "evidence-no-direct-call",
        "evidence",
        "without a direct call from a root orchestration function nothing is known about the arguments",
        """
        (rule ((param-in k j) (= 0 (direct-calls k)))
              ((decide (source-obstacle k j "no root orchestration function calls the kernel directly"))))
        """,
        "INF-P4-07",
    ),
    _rule(
        "evidence-submit",
        "evidence",
        "an asynchronous submit is no evidence",
        """
        (rule ((param-in k j) (submit-from k c n))
              ((decide (source-obstacle k j (+ c " submits the kernel asynchronously")))))
        """,
        "INF-P4-07",
    ),
    _rule(
        "evidence-indirect-call",
        "evidence",
        "a call from a wrapper, a helper or another kernel is no evidence",
        """
        (rule ((param-in k j) (call-from k c n) (other-function c))
              ((decide (source-obstacle k j (+ c " calls the kernel and is no root orchestration function")))))
        """,
        "INF-P4-07",
    ),
    _rule(
        "evidence-source-external",
        "evidence",
        "the argument comes from outside the program, where it may overlap anything",
        """
        (rule ((param-in k j) (call-from k c n) (actual n j a) (storage a r) (external r))
              ((decide (source-obstacle k j (+ c " passes it storage from outside the program")))))
        """,
        "INF-P4-08",
    ),
    _rule(
        "evidence-source-elsewhere",
        "evidence",
        "the argument was created by another function than the caller",
        """
        (rule ((param-in k j) (call-from k c n) (actual n j a) (storage a r) (created r f) (!= f c))
              ((decide (source-obstacle k j (+ c " passes it storage that " f " created")))))
        """,
        "INF-P4-08",
    ),
    _rule(
        "evidence-source-unknown",
        "evidence",
        "nobody knows what storage the argument is",
        """
        (rule ((param-in k j) (call-from k c n) (actual n j a) (storage a r) (untraced r))
              ((decide (source-obstacle k j (+ c " passes it storage that is not known")))))
        (rule ((param-in k j) (call-from k c n) (actual n j a) (= 0 (followed a)))
              ((decide (source-obstacle k j (+ c " passes it storage that is not known")))))
        (rule ((param-in k j) (call-from k c n) (actual-unnamed n j))
              ((decide (source-obstacle k j (+ c " passes it storage that is not known")))))
        """,
        "INF-P4-08",
    ),
    _rule(
        "evidence-writable-unknown",
        "evidence",
        "something the call may write is not known",
        """
        (rule ((param-in k j) (call-from k c n) (param-writable k i) (actual n i b) (storage b r) (untraced r))
              ((decide (source-obstacle k j (+ c " lets the kernel write storage that is not known")))))
        (rule ((param-in k j) (call-from k c n) (param-writable k i) (actual n i b) (= 0 (followed b)))
              ((decide (source-obstacle k j (+ c " lets the kernel write storage that is not known")))))
        (rule ((param-in k j) (call-from k c n) (param-writable k i) (actual-unnamed n i))
              ((decide (source-obstacle k j (+ c " lets the kernel write storage that is not known")))))
        """,
        "INF-P4-08",
    ),
    _rule(
        "evidence-overlap",
        "evidence",
        "something the call may write is the same storage",
        """
        (rule ((param-in k j) (call-from k c n) (param-writable k i) (!= i j) (actual n i b) (storage b r)
               (actual n j a) (storage a r))
              ((decide (source-obstacle k j (+ c " may let the kernel write the same storage")))))
        """,
        "INF-P4-08",
    ),
)
