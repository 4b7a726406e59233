"""Pattern 1: an output lives in the buffer of an input (ORC-1-01 to ORC-1-03).

The documents merge where an output comes back as the input of the next trip, or where a kernel takes an input as a
whole through a loop. A merge changes the kernel, so every launch of it must be able to follow: nobody may look at the
old contents after it, the kernel may not read what it has already overwritten, the output's own buffer must serve
nothing else.
"""

from __future__ import annotations

from tilesat.rules.rule import Rule

FAMILY = "reuse"
OFFERS_FAMILY = "offers"
"""Family of the rules that leave a choice to a cost model."""
LATER = "(within s r0 d0) (within u r0 e0) (< d0 e0)"
"""Statement ``u`` runs after ``s`` in the same pass through a statement list around both."""
AGAIN = "(in-loop s l0) (in-loop u l0) (born x n0) (loop-from l0 f0) (< n0 f0)"
"""``u`` runs in a later trip of a loop around both, where ``x`` from outside that loop is still the same."""


def _rule(name: str, phase: str, meaning: str, text: str, *requirements: str) -> Rule:
    return Rule(name, FAMILY, phase, meaning, text, requirements)


def _offer(name: str, phase: str, meaning: str, text: str, *requirements: str) -> Rule:
    return Rule(name, OFFERS_FAMILY, phase, meaning, text, requirements)


def _bar(name: str, meaning: str, facts: str, why: str, *requirements: str) -> Rule:
    """A reason that keeps the pair (s, j, o) apart; ``why`` is a string or a variable of ``facts``."""
    reason = why if why.isidentifier() else f'"{why}"'
    text = f"(rule ((mergeable s j o) {facts}) ((decide (pair-kept s j o {reason})) (set (pair-bars s j o) 1)))"
    return _rule(name, "bars", meaning, text, *requirements)


WANT: tuple[Rule, ...] = (
    _rule(
        "want-carried",
        "want",
        "in a loop body: an output made beside the call comes back as the iter-arg that is its input",
        """
        (rule ((loop-call s l) (launch s k c) (output-result k o i) (made-beside s o) (gives s i r)
               (slot-yield l p r y) (loop-slot l p a) (given s j a) (param-way k j "In"))
              ((wants-at s j o) (set (first-input s o) j) (set (loop-wanted k) 1)))
        """,
        "ORC-1-01",
    ),
    _rule(
        "want-whole-carry",
        "want",
        "outside loops: a kernel carries an input as a whole through a loop and stores it as an output",
        """
        (rule ((carried-whole k j o)) ((set (alone-bars k j o) 0) (set (loop-wanted k) 0)))
        (rule ((carried-whole k j o) (launch s k c) (out-of-loops s)) ((called-alone k)))
        (rule ((carried-whole k j o) (launch s k c) (out-of-loops s) (not-created s o)) ((set (alone-bars k j o) 1)))
        (rule ((carried-whole k j o) (launch s k c) (out-of-loops s) (given s j a) (used-again a))
              ((set (alone-bars k j o) 1)))
        """,
        "ORC-1-02",
    ),
    _rule(
        "first-call-decides",
        "first-want",
        "the first call of a kernel that wants merges decides for the kernel",
        """
        (rule ((wants-at s j o) (= j (first-input s o)) (launch s k c) (scan-order s n)) ((set (first-wanting k) n)))
        """,
        "ORC-1-01",
    ),
    _rule(
        "merge-carried",
        "consider",
        "the documents merge what comes back as an input of the next trip",
        """
        (rule ((wants-at s j o) (= j (first-input s o)) (launch s k c) (scan-order s n) (= n (first-wanting k)))
              ((decide (merge-wanted k j o))))
        """,
        "ORC-1-01",
    ),
    _rule(
        "merge-whole-carry",
        "consider",
        "the documents merge an input that goes through the kernel as a whole, unless a loop wants other merges",
        """
        (rule ((carried-whole k j o) (called-alone k) (= 0 (alone-bars k j o)) (= 0 (loop-wanted k)))
              ((decide (merge-wanted k j o))))
        """,
        "ORC-1-02",
    ),
    _rule(
        "check-every-launch",
        "consider",
        "a merge that the documents want is considered at every launch of the kernel",
        "(rule ((merge-wanted k j o) (launch s k c)) ((mergeable s j o) (set (documented s j o) 1)))",
        "ORC-1-02",
    ),
)

STALE: tuple[Rule, ...] = (
    _rule(
        "stale-names",
        "stale",
        "after a merge, every older name of the input's buffer shows the new contents",
        """
        (rule ((mergeable s j o)) ((set (pair-bars s j o) 0)))
        (rule ((mergeable s j o) (given-buffer s j t) (same-buffer t b) (firm x b) (born x n) (< n (* 2 s))
               (live-until x m) (> m (* 2 s)))
              ((stale s j x)))
        (rule ((mergeable s j o) (live-at s x) (holds x b) (same-buffer b t) (given-buffer s j t)) ((stale s j x)))
        (rule ((mergeable s j o) (given-buffer s j t) (same-buffer t b) (gives s i x) (holds x b)) ((stale s j x)))
        """,
        "ORC-1-03",
    ),
    _rule(
        "stale-passed-on",
        "stale",
        "a name that is bound to a stale one later is stale",
        f"""
        (rule ((stale s j x) (alias-at u y x) {LATER}) ((stale s j y)))
        (rule ((stale s j x) (phi-from i k x u) (phi-result i k y) {LATER}) ((stale s j y)))
        (rule ((stale s j x) (slot-init u i x) (loop-slot u i y) (slot-result u i z) {LATER})
              ((stale s j y) (stale s j z)))
        (rule ((stale s j x) (slot-yield l i x u) (loop-slot l i y) (slot-result l i z) {LATER})
              ((stale-again s j y) (stale-again s j z)))
        """,
        "ORC-1-03",
    ),
    _rule(
        "stale-next-trip",
        "stale",
        "a name from outside a loop is stale in the trips that follow, and so is what they bind to it",
        f"""
        (rule ((stale s j x) (alias-at u y x) {AGAIN}) ((stale-again s j y)))
        (rule ((stale s j x) (phi-from i k x u) (phi-result i k y) {AGAIN}) ((stale-again s j y)))
        (rule ((stale s j x) (slot-init u i x) (loop-slot u i y) (slot-result u i z) {AGAIN})
              ((stale-again s j y) (stale-again s j z)))
        (rule ((stale s j x) (slot-yield l i x u) (loop-slot l i y) (slot-result l i z) {AGAIN})
              ((stale-again s j y) (stale-again s j z)))
        (rule ((stale-again s j x) (alias-at u y x)) ((stale-again s j y)))
        (rule ((stale-again s j x) (phi-from i k x u) (phi-result i k y)) ((stale-again s j y)))
        (rule ((stale-again s j x) (slot-init u i x) (loop-slot u i y) (slot-result u i z))
              ((stale-again s j y) (stale-again s j z)))
        (rule ((stale-again s j x) (slot-yield l i x u) (loop-slot l i y) (slot-result l i z))
              ((stale-again s j y) (stale-again s j z)))
        """,
        "ORC-1-03",
    ),
    _rule(
        "clashing-inputs",
        "stale",
        "two inputs that may be one buffer cannot both take an output",
        """
        (rule ((mergeable s j o) (mergeable s q p) (!= j q) (given-buffer s j t) (given-buffer s q u)
               (same-buffer t u))
              ((clash s j q)))
        """,
        "ORC-1-03",
    ),
    _rule(
        "overwritten-inputs",
        "stale",
        "parameters of entry functions that a merge overwrites, as the documents do (cases O01, O37)",
        """
        (rule ((mergeable s j o) (given-buffer s j t) (same-buffer t p) (launch s k c) (tensor-param c q p)
               (param-way c q "In"))
              ((overwrites s j p)))
        """,
        "ORC-1-01",
    ),
)

BARS: tuple[Rule, ...] = (
    _bar(
        "bar-read-after-write",
        "the kernel may read the input where it has stored already",
        "(launch s k c) (sees-stored k o j why)",
        "why",
        "ORC-1-03",
    ),
    _bar(
        "bar-shared-input",
        "another input may be the same buffer, and the kernel may read it where it has stored already",
        """(given-buffer s j t) (given-buffer s q u) (!= j q) (same-buffer t u) (launch s k c)
        (param-way k q "In") (sees-stored k o q why)""",
        "why",
        "ORC-1-03",
    ),
    _bar(
        "bar-shared-output",
        "something else that the kernel writes may be the input's buffer",
        """(given-buffer s j t) (given-buffer s q u) (!= o q) (!= j q) (same-buffer t u) (launch s k c)
        (param-way k q way) (!= way "In")""",
        "the kernel writes the input's buffer through another parameter too",
        "ORC-1-03",
    ),
    _bar(
        "bar-unknown-argument",
        "an argument that is not followed may be the input's buffer",
        "(given-other s q)",
        "an argument of the launch is not followed",
        "ORC-1-03",
    ),
    _bar(
        "bar-later-use",
        "the old contents are used after the launch",
        "(stale s j x) (touched x u) (within s r0 d0) (within u r0 e0) (< d0 e0)",
        "the old contents of the input are used after the launch",
        "ORC-1-02",
        "ORC-1-03",
    ),
    _bar(
        "bar-use-in-next-trip",
        "the old contents are used in a later trip of a loop around the launch",
        f"(stale s j x) (touched x u) {AGAIN}",
        "the old contents of the input are used in a later trip of a loop around the launch",
        "ORC-1-02",
        "ORC-1-03",
    ),
    _bar(
        "bar-passed-on",
        "the old contents are carried on and used",
        "(stale-again s j x) (touched x u)",
        "the old contents of the input are carried on and used later",
        "ORC-1-02",
        "ORC-1-03",
    ),
    _bar(
        "bar-unknown-input",
        "the input's buffer is not followed, so nobody knows who else looks at it",
        "(given-buffer s j t) (wild t)",
        "the input's buffer is not followed",
        "ORC-1-03",
    ),
    _bar(
        "bar-leaked-input",
        "the input's buffer went into something that is not followed, which may show the old contents",
        "(given-buffer s j t) (same-buffer t u) (holds x u) (leaks x)",
        "the input went into something that is not followed",
        "ORC-1-03",
    ),
    _bar(
        "bar-seen-by-callers",
        "the input's buffer is a parameter whose contents the caller sees",
        "(given-buffer s j t) (same-buffer t p) (callers-see p)",
        "the input may be a parameter whose contents somebody sees afterwards",
        "ORC-1-03",
    ),
    _bar(
        "bar-window-input",
        "the input is a window of a bigger tensor, which the output would be written into",
        "(given s j a) (windowed a)",
        "the input is a window of a bigger tensor",
        "ORC-1-03",
    ),
    _bar(
        "bar-recast-input",
        "the input shows another tensor in another shape",
        "(given s j a) (recast-alias a x)",
        "the input is another tensor in another shape",
        "ORC-1-03",
    ),
    _bar(
        "bar-not-filled",
        "what the kernel does not write would keep the input's contents",
        "(launch s k c) (not-filled k o why)",
        "why",
        "ORC-1-03",
    ),
    _bar(
        "bar-output-read",
        "the kernel reads its output, which would hold the input",
        "(launch s k c) (output-read k o)",
        "the kernel reads its output",
        "ORC-1-03",
    ),
    _bar(
        "bar-unlike",
        "input and output have different types",
        "(launch s k c) (unlike-params k j o why)",
        "why",
        "ORC-1-02",
    ),
    _bar(
        "bar-unlike-given",
        "the tensors given for input and output have different types",
        "(unlike-given s j o why)",
        "why",
        "ORC-1-02",
    ),
    _bar(
        "bar-buffer-in-use",
        "the output's buffer is not made for this launch alone",
        "(not-fresh s o why)",
        "why",
        "ORC-1-02",
    ),
    _bar(
        "bar-fixed-launch",
        "the launch cannot be changed, or nothing orders it after earlier reads",
        "(fixed-launch s why)",
        "why",
        "ORC-1-02",
        "ORC-S-01",
    ),
)

MERGE: tuple[Rule, ...] = (
    _rule(
        "every-launch-follows",
        "agree",
        "a kernel's output merges only if every launch of the kernel can follow",
        """
        (rule ((merge-wanted k j o)) ((set (merge-bars k j o) 0)))
        (rule ((merge-wanted k j o) (launch s k c) (pair-kept s j o why))
              ((decide (merge-kept k j o why)) (set (merge-bars k j o) 1)))
        """,
        "ORC-1-02",
    ),
    _rule(
        "clashing-merges",
        "agree",
        "two inputs that may be one buffer are not both overwritten",
        """
        (rule ((merge-wanted k j o) (merge-wanted k q p) (launch s k c) (clash s j q))
              ((decide (merge-kept k j o "another input that is overwritten too may be the same buffer"))
               (set (merge-bars k j o) 1)))
        """,
        "ORC-1-03",
    ),
    _rule(
        "merge-everywhere",
        "merge",
        "the output becomes the input, at every launch",
        "(rule ((merge-wanted k j o) (= 0 (merge-bars k j o))) ((decide (merge k j o))))",
        "ORC-1-01",
    ),
)

RULES: tuple[Rule, ...] = (*WANT, *STALE, *BARS, *MERGE)

OFFERS: tuple[Rule, ...] = (
    _offer(
        "consider-every-launch",
        "consider",
        "any output made for one launch may live in an input of the same type",
        """
        (rule ((launch s k c) (kernel k) (param-way k j "In") (param-way k o "Out") (fresh-for s o v))
              ((mergeable s j o) (set (documented s j o) 0)))
        (rule ((launch s k c) (kernel k) (param-way k j "In") (param-way k o "Out") (omitted s o))
              ((mergeable s j o) (set (documented s j o) 0)))
        (rule ((wants-at s j o)) ((set (documented s j o) 1)))
        (rule ((carried-whole k j o) (launch s k c)) ((set (documented s j o) 1)))
        """,
        "ORC-1-01",
    ),
    _offer(
        "bar-undocumented-overwrite",
        "bars",
        "an input of an entry function is overwritten only where the documents do it",
        """
        (rule ((mergeable s j o) (overwrites s j p) (= 0 (documented s j o)))
              ((decide (pair-kept s j o "it would overwrite an input of a function that nobody in the program calls"))
               (set (pair-bars s j o) 1)))
        """,
        "ORC-1-02",
    ),
    _offer(
        "merge-here",
        "merge",
        "the output may become the input at this launch, in a copy of the kernel where others cannot follow",
        "(rule ((mergeable s j o) (= 0 (pair-bars s j o))) ((decide (merge-at s j o))))",
        "ORC-1-01",
        "ORC-1-02",
    ),
)
"""What the optimal rules add: a choice at every launch instead of one for the kernel."""

OPTIONS: tuple[Rule, ...] = (
    Rule(
        "keep-entry-inputs",
        "keep_inputs",
        "bars",
        "no merge overwrites an In parameter of a function that nobody in the program calls",
        """
        (rule ((overwrites s j p) (mergeable s j o))
              ((decide (pair-kept s j o "it would overwrite an input of a function that nobody in the program calls"))
               (set (pair-bars s j o) 1)))
        """,
        ("ORC-1-03",),
    ),
)
"""Opt-in, for callers who want their inputs back."""
