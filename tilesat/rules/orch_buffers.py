"""Which buffers the tensors of a program may be: storage and aliases over all call sites.

A buffer is a parameter, a create, or what an iter-arg names at the moment. ``(same-buffer t u)`` says that two may be
one and the same while both can be reached. A buffer made in a loop body is a new one in every trip, so it is never the
same as what an iter-arg brings from the trip before. Different parameters of a function that nobody in the program
calls are taken to be different buffers (cases O01, O02s).
"""

from __future__ import annotations

from tilesat.rules.rule import Rule

FAMILY = "buffers"


def _rule(name: str, meaning: str, text: str, *requirements: str, phase: str = "buffers") -> Rule:
    return Rule(name, FAMILY, phase, meaning, text, requirements)


def _overlap(name: str, meaning: str, text: str, *requirements: str) -> Rule:
    return _rule(name, meaning, text, *requirements, phase="overlaps")


def _name(name: str, meaning: str, text: str, *requirements: str) -> Rule:
    return _rule(name, meaning, text, *requirements, phase="names")


RULES: tuple[Rule, ...] = (
    _rule(
        "buffer-origins",
        "a parameter and a create are buffers of their own, what is not followed may be any",
        """
        (rule ((tensor-param f j v)) ((holds v v) (plain v)))
        (rule ((makes v)) ((holds v v) (plain v)))
        (rule ((stray v)) ((holds v v) (plain v) (wild v)))
        """,
        "ORC-5-05",
    ),
    _rule(
        "buffer-alias",
        "aliases, slices, views, stores and assembles name their source's buffer",
        """
        (rule ((origin y x) (holds x t)) ((holds y t)))
        (rule ((alias-at u y x) (holds x t)) ((holds y t)))
        """,
        "ORC-5-05",
    ),
    _rule(
        "buffer-of-result",
        "a launch's result is the argument whose parameter the function hands back, or new",
        """
        (rule ((gives s i r) (launch s k c) (hands-back k i w) (holds w p) (tensor-param k j p) (given s j x)
               (holds x t))
              ((holds r t)))
        (rule ((gives s i r) (launch s k c) (hands-back k i w) (holds w p) (tensor-param k j p) (left-out s j))
              ((holds r r) (plain r)))
        (rule ((gives s i r) (launch s k c) (hands-back k i w) (holds w p) (tensor-param k j p) (given-other s j))
              ((holds r r) (plain r) (wild r)))
        (rule ((gives s i r) (launch s k c) (hands-back k i w) (holds w p) (makes p)) ((holds r r) (plain r)))
        (rule ((gives s i r) (launch s k c) (hands-back k i w) (holds w p) (wild p)) ((holds r r) (plain r) (wild r)))
        (rule ((gives s i r) (launch s k c) (hands-back-other k i)) ((holds r r) (plain r) (wild r)))
        """,
        "ORC-5-05",
    ),
    _rule(
        "buffer-of-carry",
        "an iter-arg's buffer is what it carries; a loop's result is what was yielded last, or the init without trips",
        """
        (rule ((moving-slot l i a)) ((holds a a)))
        (rule ((slot-open l i) (loop-slot l i a) (slot-result l i r)) ((wild a) (holds r r) (plain r) (wild r)))
        (rule ((slot-result l i r) (may-skip l) (slot-init l i x) (holds x t)) ((holds r t)))
        (rule ((slot-result l i r) (slot-yield l i x y) (holds x t) (born t n) (loop-from l f) (!= n (+ f 1)))
              ((holds r t)))
        (rule ((slot-result l i r) (slot-yield l i x y) (holds x a) (loop-slot l m a) (slot-init l m z) (holds z t))
              ((holds r t)))
        (rule ((slot-result l i r) (slot-yield l i x y) (holds x a) (loop-slot l m a) (slot-result l m q) (holds q t))
              ((holds r t)))
        """,
        "ORC-1-02",
        "ORC-5-05",
    ),
    _rule(
        "buffer-of-branch",
        "an if's result is what either branch yields",
        "(rule ((phi-result i k r) (phi-from i k x y) (holds x t)) ((holds r t)))",
        "ORC-1-02",
        "ORC-5-05",
    ),
    _rule(
        "buffers-passed",
        "what launches, inits and yields pass on, by buffer",
        """
        (rule ((given s j x) (holds x t)) ((given-buffer s j t)))
        (rule ((slot-init l i x) (holds x t)) ((init-buffer l i t)))
        (rule ((slot-yield l i x y) (holds x t)) ((yield-buffer l i t y)))
        """,
        "ORC-1-03",
    ),
    _overlap(
        "same-buffer-itself",
        "a buffer is itself; the relation has no direction",
        """
        (rule ((holds v t)) ((same-buffer t t)))
        (rule ((same-buffer t u)) ((same-buffer u t)))
        """,
    ),
    _overlap(
        "same-buffer-carried",
        "an iter-arg may be what its init or a yield brings from outside the loop",
        """
        (rule ((moving-slot l i a) (init-buffer l i t)) ((brings l a t)))
        (rule ((moving-slot l i a) (yield-buffer l i t y) (born t n) (loop-from l f) (< n f)) ((brings l a t)))
        (rule ((moving-slot l i a) (yield-buffer l i b y) (moving-slot l m b) (brings l b t)) ((brings l a t)))
        (rule ((brings l a t)) ((same-buffer a t)))
        (rule ((brings l a t) (same-buffer t u) (plain u)) ((same-buffer a u)))
        (rule ((brings l a t) (same-buffer t u) (moving-slot m k u) (loop-in l m)) ((same-buffer a u)))
        """,
        "ORC-1-02",
    ),
    _overlap(
        "same-buffer-side-by-side",
        "two iter-args of a loop may be one buffer when their inits or their yields may",
        """
        (rule ((moving-slot l i a) (moving-slot l m b) (!= i m) (init-buffer l i t) (init-buffer l m u)
               (same-buffer t u))
              ((same-buffer a b)))
        (rule ((moving-slot l i a) (moving-slot l m b) (!= i m) (yield-buffer l i t y) (yield-buffer l m u y)
               (same-buffer t u))
              ((same-buffer a b)))
        """,
        "ORC-1-02",
    ),
    _overlap(
        "same-buffer-arguments",
        "two parameters may be one buffer when some call site gives one for both",
        """
        (rule ((launch s k c) (given-buffer s i t) (given-buffer s j u) (!= i j) (same-buffer t u)
               (tensor-param k i p) (tensor-param k j q))
              ((same-buffer p q)))
        (rule ((launch s k c) (given-other s i) (tensor-param k i p) (tensor-param k j q)) ((same-buffer p q)))
        """,
        "ORC-1-03",
    ),
    _overlap(
        "same-buffer-wild",
        "what is not followed may be anything in its function",
        "(rule ((wild t) (in-function t f) (in-function v f) (holds v u)) ((same-buffer t u)))",
        "ORC-1-03",
    ),
    _name(
        "window-names",
        "a slice is a window of its source, and so is whatever follows it as a whole",
        """
        (rule ((window-alias y x)) ((windowed y)))
        (rule ((whole-origin y x) (windowed x)) ((windowed y)))
        (rule ((whole-alias y x) (windowed x)) ((windowed y)))
        (rule ((loop-slot l i a) (slot-init l i x) (windowed x)) ((windowed a)))
        (rule ((loop-slot l i a) (slot-yield l i x y) (windowed x)) ((windowed a)))
        (rule ((slot-result l i r) (loop-slot l i a) (windowed a)) ((windowed r)))
        (rule ((phi-result i k r) (phi-from i k x y) (windowed x)) ((windowed r)))
        (rule ((gives s i r) (launch s k c) (hands-back k i w) (whole-of w p) (tensor-param k j p) (given s j x)
               (windowed x))
              ((windowed r)))
        """,
        "ORC-4-01",
    ),
    _name(
        "whole-names",
        "what a function passes through stores, carries and branches is the parameter as a whole",
        """
        (rule ((tensor-param f j p)) ((whole-of p p)))
        (rule ((whole-origin y x) (whole-of x p)) ((whole-of y p)))
        (rule ((whole-alias y x) (whole-of x p)) ((whole-of y p)))
        (rule ((loop-slot l i a) (slot-init l i x) (whole-of x p)) ((whole-of a p)))
        (rule ((loop-slot l i a) (slot-yield l i x y) (whole-of x p)) ((whole-of a p)))
        (rule ((slot-result l i r) (loop-slot l i a) (whole-of a p)) ((whole-of r p)))
        (rule ((phi-result i k r) (phi-from i k x y) (whole-of x p)) ((whole-of r p)))
        """,
        "ORC-2-01",
    ),
)
