"""Patterns 2 and 4: kernels learn the strides of the tensors that their parameters are windows of (ORC-2, ORC-4).

A slice has the strides of its source without the dimensions it drops; aliases, carries, branches and results keep
strides. A parameter states strides only if everything that any launch gives for it has them. An output counts as placed
where its buffer is made for one launch whose result is only assembled into a parent: then it has the parent's strides.
"""

from __future__ import annotations

from tilesat.rules.orch_reuse import OFFERS_FAMILY
from tilesat.rules.rule import Rule

FAMILY = "strides"


def _rule(name: str, phase: str, meaning: str, text: str, *requirements: str) -> Rule:
    return Rule(name, FAMILY, phase, meaning, text, requirements)


def _offer(name: str, phase: str, meaning: str, text: str, *requirements: str) -> Rule:
    return Rule(name, OFFERS_FAMILY, phase, meaning, text, requirements)


def _bar(name: str, meaning: str, facts: str, why: str, *requirements: str) -> Rule:
    """A reason for which parameter j of kernel k states no strides, found at launch s."""
    text = f"""
    (rule ((view-wanted k j) (launch s k c) {facts})
          ((decide (view-kept k j "{why}")) (set (view-bars k j) 1) (set (site-bars s j) 1)))
    """
    return _rule(name, "view-bars", meaning, text, *requirements)


SHAPES: tuple[Rule, ...] = (
    _rule(
        "strides-of-origins",
        "shapes",
        "a parameter or create has the strides of its type",
        """
        (rule ((own-stride v d t)) ((strided v d t)))
        (rule ((open-strides v)) ((unclear v)))
        (rule ((stray v)) ((unclear v)))
        (rule ((makes v) (typed-stride v d t)) ((strided v d t)))
        """,
        "ORC-2-01",
        "ORC-4-01",
    ),
    _rule(
        "strides-of-slices",
        "shapes",
        "a slice keeps its source's strides in the dimensions it does not drop",
        """
        (rule ((slice-dim y e x d) (strided x d t)) ((strided y e t)))
        (rule ((window-alias y x) (unclear x)) ((unclear y)))
        """,
        "ORC-4-01",
    ),
    _rule(
        "strides-of-aliases",
        "shapes",
        "aliases, stores and assembles keep strides; a tensor in another shape has none that are known",
        """
        (rule ((whole-origin y x) (strided x d t)) ((strided y d t)))
        (rule ((whole-origin y x) (unclear x)) ((unclear y)))
        (rule ((whole-alias y x) (strided x d t)) ((strided y d t)))
        (rule ((whole-alias y x) (unclear x)) ((unclear y)))
        (rule ((recast-alias y x)) ((unclear y)))
        """,
        "ORC-2-01",
        "ORC-4-01",
    ),
    _rule(
        "strides-of-carries",
        "shapes",
        "carries and branches keep strides",
        """
        (rule ((loop-slot l i a) (slot-init l i x) (strided x d t)) ((strided a d t)))
        (rule ((loop-slot l i a) (slot-yield l i x y) (strided x d t)) ((strided a d t)))
        (rule ((slot-result l i r) (loop-slot l i a) (strided a d t)) ((strided r d t)))
        (rule ((phi-result i k r) (phi-from i k x y) (strided x d t)) ((strided r d t)))
        (rule ((loop-slot l i a) (slot-init l i x) (unclear x)) ((unclear a)))
        (rule ((loop-slot l i a) (slot-yield l i x y) (unclear x)) ((unclear a)))
        (rule ((loop-slot l i a) (slot-open l i)) ((unclear a)))
        (rule ((slot-result l i r) (loop-slot l i a) (unclear a)) ((unclear r)))
        (rule ((phi-result i k r) (phi-from i k x y) (unclear x)) ((unclear r)))
        """,
        "ORC-2-01",
        "ORC-4-01",
    ),
    _rule(
        "strides-of-results",
        "shapes",
        "a launch's result has the strides of the argument that it is, else those of its type",
        """
        (rule ((gives s i r) (launch s k c) (hands-back k i w) (whole-of w p) (tensor-param k j p) (given s j x)
               (strided x d t))
              ((strided r d t)))
        (rule ((gives s i r) (launch s k c) (hands-back k i w) (whole-of w p) (tensor-param k j p) (given s j x)
               (unclear x))
              ((unclear r)))
        (rule ((gives s i r) (launch s k c) (hands-back k i w) (whole-of w p) (tensor-param k j p) (left-out s j)
               (typed-stride r d t))
              ((strided r d t)))
        (rule ((gives s i r) (launch s k c) (hands-back k i w) (makes w) (typed-stride r d t)) ((strided r d t)))
        (rule ((gives s i r) (launch s k c) (hands-back k i w) (whole-of w p) (tensor-param k j p) (given-other s j))
              ((unclear r)))
        (rule ((gives s i r) (launch s k c) (hands-back k i w) (windowed w)) ((unclear r)))
        (rule ((gives s i r) (launch s k c) (hands-back k i w) (recast-alias w x)) ((unclear r)))
        (rule ((gives s i r) (launch s k c) (hands-back-other k i)) ((unclear r)))
        """,
        "ORC-2-01",
        "ORC-4-01",
    ),
    _rule(
        "strides-of-parameters",
        "shapes",
        "what a function is given, its parameter has; one that states other strides than it gets is not relied on",
        """
        (rule ((launch s k c) (given s j x) (tensor-param k j p) (own-stride p e o) (strided x d t)) ((strided p d t)))
        (rule ((launch s k c) (given s j x) (tensor-param k j p) (own-stride p e o) (unclear x)) ((unclear p)))
        (rule ((launch s k c) (given-other s j) (tensor-param k j p) (own-stride p e o)) ((unclear p)))
        """,
        "ORC-2-01",
        "ORC-4-01",
    ),
    _rule(
        "strides-that-differ",
        "shapes",
        "what has different strides on different paths has none that are known",
        "(rule ((strided v d t) (strided v d u) (!= t u)) ((unclear v)))",
        "ORC-2-01",
        "ORC-4-01",
    ),
)

WANT: tuple[Rule, ...] = (
    _rule(
        "want-assembled",
        "wanted-views",
        "an output whose result is assembled into a parent should have the parent's strides",
        """
        (rule ((launch s k c) (kernel k) (assembled s o) (param-way k o "Out") (no-strides k o))
              ((decide (view-wanted k o))))
        """,
        "ORC-2-01",
    ),
    _rule(
        "want-sliced",
        "wanted-views",
        "an input for which a slice is given should have the strides of what it is a slice of",
        """
        (rule ((launch s k c) (kernel k) (given s j x) (windowed x) (param-way k j "In") (no-strides k j))
              ((decide (view-wanted k j))))
        """,
        "ORC-4-01",
    ),
    _rule(
        "strides-given",
        "view-bars",
        "the strides of what launches give: the parent's for a placed output, else the tensor's own",
        """
        (rule ((view-wanted k j)) ((set (view-bars k j) 0)))
        (rule ((view-wanted k j) (launch s k c)) ((set (site-bars s j) 0) (set (site-known s j) 0)))
        (rule ((view-wanted k j) (launch s k c) (site-stride s j 0 t)) ((set (site-known s j) 1)))
        (rule ((view-wanted k j) (param-way k j "In") (launch s k c) (given s j x) (strided x d t))
              ((site-stride s j d t)))
        (rule ((view-wanted k o) (launch s k c) (placed-at s o p) (place-dim s o e d) (strided p d t))
              ((site-stride s o e t)))
        (rule ((view-wanted k o) (launch s k c) (written-plain s o) (given s o x) (strided x d t))
              ((site-stride s o d t)))
        (rule ((site-stride s j d t) (launch s k c)) ((param-stride k j d t)))
        """,
        "ORC-2-01",
        "ORC-4-01",
    ),
)

BARS: tuple[Rule, ...] = (
    _bar(
        "bar-unclear-input",
        "the strides of something given are not known",
        '(param-way k j "In") (given s j x) (unclear x)',
        "the strides of a tensor given for it are not known",
        "ORC-4-01",
    ),
    _bar(
        "bar-unnamed-input",
        "something given is not followed",
        "(given-other s j)",
        "a tensor given for it is not followed",
        "ORC-4-01",
    ),
    _bar(
        "bar-unclear-parent",
        "the parent's strides are not known",
        "(placed-at s j p) (unclear p)",
        "the strides of the tensor it is assembled into are not known",
        "ORC-2-01",
    ),
    _bar(
        "bar-open-parent",
        "the parent has a dimension that is not constant",
        "(placed-at s j p) (open-shape p)",
        "the tensor it is assembled into has a dimension that is not constant",
        "ORC-2-01",
    ),
    _bar(
        "bar-used-otherwise",
        "the result is assembled, but its buffer is used as it is, too",
        "(assembled s j) (written-plain s j)",
        "its result is assembled, but the buffer has other uses",
        "ORC-2-01",
    ),
    _bar(
        "bar-unclear-output",
        "the strides of a buffer that is written as it is are not known",
        "(written-plain s j) (given s j x) (unclear x)",
        "the strides of a buffer given for it are not known",
        "ORC-2-01",
    ),
    _bar(
        "bar-rank",
        "tensor and parameter have different ranks",
        "(rank-differs s j)",
        "the rank of a tensor given for it differs",
        "ORC-2-01",
        "ORC-4-01",
    ),
    _bar(
        "bar-foreign-strides",
        "a stride names something that only the caller knows",
        "(site-stride s j d t) (foreign t)",
        "a stride depends on something that the kernel does not know",
        "ORC-4-01",
    ),
    _rule(
        "bar-conflicting-strides",
        "view-bars",
        "launches give tensors with different strides",
        """
        (rule ((param-stride k j d t) (param-stride k j d u) (!= t u))
              ((decide (view-kept k j "launches give tensors with different strides")) (set (view-bars k j) 1)))
        """,
        "ORC-2-01",
        "ORC-4-01",
    ),
)

GAPS: tuple[Rule, ...] = (
    _rule(
        "bar-no-strides",
        "view-gaps",
        "no strides are known of something that a launch gives",
        """
        (rule ((view-wanted k j) (launch s k c) (= 0 (site-known s j)))
              ((decide (view-kept k j "the strides of a tensor given for it are not known"))
               (set (view-bars k j) 1) (set (site-bars s j) 1)))
        """,
        "ORC-2-01",
        "ORC-4-01",
    ),
)

STATE: tuple[Rule, ...] = (
    _rule(
        "state-strides",
        "views",
        "the parameter states the strides that all launches give",
        "(rule ((view-wanted k j) (= 0 (view-bars k j))) ((decide (view k j))))",
        "ORC-2-01",
        "ORC-4-01",
    ),
)

RULES: tuple[Rule, ...] = (*SHAPES, *WANT, *BARS, *GAPS, *STATE)

OFFERS: tuple[Rule, ...] = (
    _offer(
        "state-strides-here",
        "views",
        "a copy of the kernel states the strides of one launch where others differ",
        "(rule ((view-wanted k j) (launch s k c) (= 0 (site-bars s j))) ((decide (view-here s j))))",
        "ORC-2-01",
        "ORC-4-01",
    ),
)
"""What the optimal rules add: strides launch by launch."""
