"""Pattern 5: kernels that access a window of a tensor get that window (ORC-5-01 to ORC-5-08).

Only for kernels that ask for it. A kernel's outputs are windows by their final stores, or else by a loop that
aggregates; its inputs where all reads lie in one window. A launch gets all windows of its kernel or none.
"""

from __future__ import annotations

from tilesat.rules.rule import Rule

FAMILY = "windows"


def _rule(name: str, phase: str, meaning: str, text: str, *requirements: str) -> Rule:
    return Rule(name, FAMILY, phase, meaning, text, requirements)


def _bar(name: str, meaning: str, facts: str, why: str, *requirements: str) -> Rule:
    """A reason for which launch s of kernel k in c keeps whole tensors."""
    reason = why if why.isidentifier() else f'"{why}"'
    text = f"""
    (rule ((window-launch s) (launch s k c) {facts})
          ((decide (launch-kept s {reason})) (set (launch-bars s) 1)))
    """
    return _rule(name, "launch-bars", meaning, text, *requirements)


CALLEES: tuple[Rule, ...] = (
    _rule(
        "window-candidates",
        "callee-bars",
        "only kernels that ask for windows have any",
        """
        (rule ((opted-in k) (may-window k p f)) ((set (form-bars k p f) 0)))
        (rule ((opted-in k)) ((set (has-final k) 0) (set (has-output k) 0) (set (open-output k) 0)))
        (rule ((writes-out k p)) ((set (windowable k p) 0) (set (accounted k p) 0)))
        """,
        "ORC-5-01",
    ),
    _rule(
        "no-window-other-access",
        "callee-bars",
        "other accesses, a place that is not given by parameters, or a type that has no windows",
        """
        (rule ((opted-in k) (window-flaw k p f why))
              ((decide (window-kept k p f why)) (set (form-bars k p f) 1)))
        """,
        "ORC-5-04",
        "ORC-5-05",
    ),
    _rule(
        "no-window-whole",
        "callee-bars",
        "the whole tensor at zero is no window",
        """
        (rule ((opted-in k) (whole-window k p f))
              ((decide (window-kept k p f "it is the whole tensor")) (set (form-bars k p f) 1)))
        """,
        "ORC-5-04",
    ),
    _rule(
        "window-final-store",
        "callee-finals",
        "an output written by one final store is a window",
        """
        (rule ((opted-in k) (may-window k p "final") (= 0 (form-bars k p "final")))
              ((decide (out-window k p "final")) (set (has-final k) 1)))
        """,
        "ORC-5-02",
        "ORC-5-05",
    ),
    _rule(
        "window-aggregate",
        "callee-loops",
        "without final stores: an output that a loop writes part by part is a window, or several pieces",
        """
        (rule ((opted-in k) (= 0 (has-final k)) (may-window k p "loop") (= 0 (form-bars k p "loop")))
              ((decide (out-window k p "loop"))))
        """,
        "ORC-5-03",
        "ORC-5-05",
    ),
    _rule(
        "account-outputs",
        "callee-outputs",
        "an output is accounted for when it is a window, or stored as a whole",
        """
        (rule ((out-window k p f)) ((set (windowable k p) 1) (set (accounted k p) 1) (set (has-output k) 1)))
        (rule ((whole-window k p f) (writes-out k p)) ((set (accounted k p) 1)))
        """,
        "ORC-5-04",
    ),
    _rule(
        "open-outputs",
        "callee-inputs",
        "an output that is neither window nor whole",
        "(rule ((opted-in k) (writes-out k p) (= 0 (accounted k p))) ((set (open-output k) 1)))",
        "ORC-5-04",
    ),
    _rule(
        "window-input",
        "callee-choice",
        "an input read in one window, of a kernel that returns data, is a window",
        """
        (rule ((opted-in k) (hands-data k) (may-window k p "input") (= 0 (form-bars k p "input")) (= 1 (has-output k)))
              ((decide (in-window k p))))
        (rule ((opted-in k) (hands-data k) (may-window k p "input") (= 0 (form-bars k p "input")) (= 0 (open-output k)))
              ((decide (in-window k p))))
        """,
        "ORC-5-03",
        "ORC-5-04",
    ),
)

LAUNCHES: tuple[Rule, ...] = (
    _rule(
        "window-launches",
        "launch-facts",
        "launches of kernels that have windows",
        """
        (rule ((launch s k c) (out-window k p f)) ((window-launch s) (set (launch-bars s) 0)))
        (rule ((launch s k c) (in-window k p)) ((window-launch s) (set (launch-bars s) 0)))
        """,
        "ORC-5-02",
    ),
    _rule(
        "surely-kept-buffers",
        "launch-facts",
        "what surely is a certain buffer: parameters, creates, and what only passes them on",
        """
        (rule ((tensor-param f j v)) ((keeps v v)))
        (rule ((makes v)) ((keeps v v)))
        (rule ((loop-slot l i a)) ((keeps a a)))
        (rule ((whole-origin y x) (keeps x t)) ((keeps y t)))
        (rule ((whole-alias y x) (keeps x t)) ((keeps y t)))
        (rule ((loop-slot l i a) (slot-yield l i x y) (keeps x a)) ((stays-in l i)))
        (rule ((stays-in l i) (slot-result l i r) (slot-init l i x) (keeps x t)) ((keeps r t)))
        (rule ((phi-result i k r) (phi-from i k x u) (phi-from i k z w) (!= u w) (keeps x t) (keeps z t)) ((keeps r t)))
        (rule ((gives s i r) (launch s k c) (hands-back k i w) (keeps w p) (tensor-param k j p) (given s j x)
               (keeps x t))
              ((keeps r t)))
        """,
        "ORC-5-06",
    ),
    _rule(
        "fully-written-buffers",
        "launch-facts",
        "buffers that some launch of the caller writes other than as a window",
        """
        (rule ((launch s k c) (writes-out k q) (= 0 (windowable k q)) (given-buffer s q t) (same-buffer t u))
              ((fully-written c u)))
        """,
        "ORC-5-05",
    ),
    _rule(
        "windows-apart",
        "launch-loops",
        "trips of a loop write parts that are apart, or always the same, or a tensor made in the trip",
        """
        (rule ((window-launch s) (launch s k c) (out-window k p f) (loop-around s l)) ((set (apart-in s p f l) 0)))
        (rule ((window-launch s) (apart s p f l)) ((set (apart-in s p f l) 1)))
        (rule ((window-launch s) (launch s k c) (out-window k p f) (loop-around s l) (given s p v) (keeps v m)
               (makes m) (born m n) (loop-from l b) (> n b))
              ((set (apart-in s p f l) 1)))
        """,
        "ORC-5-05",
    ),
    _rule(
        "folded-results",
        "launch-loops",
        "a loop's result that is the buffer the loop started from",
        """
        (rule ((window-launch s) (folds s p l i)) ((set (fold-kept s p l i) 0)))
        (rule ((window-launch s) (folds s p l i) (stays-in l i)) ((set (fold-kept s p l i) 1)))
        """,
        "ORC-5-06",
    ),
)

BARS: tuple[Rule, ...] = (
    _bar(
        "whole-by-place",
        "the launch stands where windows cannot be made",
        "(unwindowed s why)",
        "why",
        "ORC-5-05",
        "ORC-5-08",
    ),
    _bar(
        "whole-submit-inputs",
        "a submit without output windows keeps whole inputs, which may order more than they read",
        "(launch-submit s) (= 0 (has-output k))",
        "it is a submit without output windows",
        "ORC-5-07",
    ),
    _bar(
        "whole-assembled-result",
        "an input window alone is not worth it where the result is assembled anyway",
        "(= 0 (has-output k)) (result-assembled s)",
        "its result is assembled into another tensor",
        "ORC-5-04",
    ),
    _bar(
        "whole-overlap",
        "windows of different trips may overlap",
        "(out-window k p f) (loop-around s l) (= 0 (apart-in s p f l))",
        "windows of different trips of a loop around it may overlap",
        "ORC-5-05",
    ),
    _bar(
        "whole-sibling",
        "another launch writes the same tensor as a whole",
        "(out-window k p f) (given-buffer s p t) (fully-written c t)",
        "another launch writes the same tensor, and not as a window",
        "ORC-5-05",
    ),
    _bar(
        "whole-shared-parent",
        "two outputs of the launch are windows of one tensor",
        """(out-window k p f) (out-window k q g) (!= p q) (given-buffer s p t) (given-buffer s q u)
        (same-buffer t u)""",
        "two of its outputs may be the same tensor",
        "ORC-5-05",
    ),
    _bar(
        "whole-pieces-in-deps",
        "a submit depends by hand on a result that would fall into pieces",
        "(named-in-deps s) (out-window k p f) (many-pieces k p f)",
        "a dependency names a result that falls into pieces",
        "ORC-5-07",
    ),
    _bar(
        "whole-outside-risk",
        "a window of an output may lie outside its tensor",
        "(out-window k p f) (outside-risk s p f why)",
        "why",
        "ORC-5-05",
    ),
    _bar(
        "whole-input-outside-risk",
        "a window of an input may lie outside its tensor",
        '(in-window k p) (outside-risk s p "input" why)',
        "why",
        "ORC-5-05",
    ),
    _bar(
        "whole-unstated-strides",
        "an output that is given is a window itself, and the kernel does not state its strides",
        "(out-window k p f) (given s p x) (windowed x) (no-strides k p)",
        "a tensor that is given is a window, and its parameter states no strides",
        "ORC-5-05",
    ),
    _bar(
        "whole-unstated-input-strides",
        "the same for an input",
        "(in-window k p) (given s p x) (windowed x) (no-strides k p)",
        "a tensor that is given is a window, and its parameter states no strides",
        "ORC-5-04",
    ),
    _bar(
        "whole-new-buffer",
        "a loop's result that would be sliced is another buffer than what the loop started from",
        "(out-window k p f) (folds s p l i) (= 0 (fold-kept s p l i))",
        "a loop's result that is given is not the tensor the loop started from",
        "ORC-5-06",
    ),
    _bar(
        "whole-new-input-buffer",
        "the same for an input",
        "(in-window k p) (folds s p l i) (= 0 (fold-kept s p l i))",
        "a loop's result that is given is not the tensor the loop started from",
        "ORC-5-06",
    ),
)

CHOICE: tuple[Rule, ...] = (
    _rule(
        "windows-here",
        "launch-choice",
        "the launch slices its tensors, calls the narrowed kernel, and assembles the outputs",
        "(rule ((window-launch s) (= 0 (launch-bars s))) ((decide (window-here s))))",
        "ORC-5-02",
        "ORC-5-07",
    ),
)

RULES: tuple[Rule, ...] = (*CALLEES, *LAUNCHES, *BARS, *CHOICE)
