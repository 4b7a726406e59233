"""Unsound mutants of shipped rules: what the rule lab must catch.

Each drops a guard or a whole rule, or takes the wrong space, epoch, region, operand or bound. ``old`` is a piece of the
rule's text (blanks do not count), ``new`` what stands there instead; without ``old`` the whole rule is gone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tilesat.rules.catalogue import optimal
from tilesat.rules.rule import RuleSet


@dataclass(frozen=True)
class Mutant:
    """One mutant. ``kind`` says what is wrong, ``target`` which programs show it."""

    rule: str
    kind: str
    target: str
    old: str = ""
    new: str = ""
    note: str = ""

    @property
    def name(self) -> str:
        return f"{self.rule}: {self.note or self.kind}"

    @property
    def key(self) -> str:
        """What tells this mutant from others."""
        return f"{self.rule}: {self.old or GONE} -> {self.new}"

    def rules(self) -> RuleSet:
        """The optimal rules with this mutant."""
        rules = optimal()
        if not self.old:
            return rules.without(self.rule).renamed(f"mutant {self.name}")
        rule = rules[self.rule]
        return rules.replace(replace(rule, text=_changed(rule.text, self.old, self.new))).renamed(f"mutant {self.name}")


def _changed(text: str, old: str, new: str) -> str:
    words = re.findall(r'[()]|"[^"]*"|[^\s()"]+', old)
    found = re.compile(r"\s*".join(map(re.escape, words)))
    changed, count = found.subn(lambda match: new, text)
    assert count, f"the rule no longer says {old!r}:\n{text}"
    return changed


DROPPED, GONE, SPACE, EPOCH = "dropped guard", "rule left out", "wrong space", "wrong epoch"
REGION, SWAPPED, BOUND = "wrong region", "swapped operands", "off by one"

MUTANTS: tuple[Mutant, ...] = (
    # What holds loads in their loops.
    Mutant("stay-variant", GONE, "panels"),
    Mutant("hold-variant", GONE, "panels"),
    Mutant("hold-written-source", GONE, "panels"),
    Mutant("hold-unsafe-source", GONE, "rooms"),
    Mutant("evidence-overlap", GONE, "panels"),
    Mutant("stand-outside", DROPPED, "panels", "(= 0 (held s l))", "(= kept (held s l))"),
    Mutant("hoist-load", DROPPED, "panels", "(= 0 (obstacles s))", "(= kept (obstacles s))"),
    # Where tiles live, and which copies that takes.
    Mutant("need-operand", GONE, "any"),
    Mutant("need-operand", SPACE, "any", "((decide (need site k v t)))", "((decide (need site k v $Vec)))"),
    Mutant("need-init", GONE, "slots"),
    Mutant("need-yield", GONE, "slots"),
    Mutant("need-stops", GONE, "any"),
    Mutant("need-assemble-source", GONE, "writes"),
    Mutant("serve-from-scope", BOUND, "any", "(<= (/ p 65536) site)", "(<= site (/ p 65536))"),
    Mutant("serve-from-scope", EPOCH, "writes", "(version site v e) (site-region site r)",
           "(version other v e) (site-region site r)"),
    Mutant("first-consumer", REGION, "any", "(site-region site r))", "(site-region other r))"),
    Mutant("inherit-input", SPACE, "views", "((decide (space v) c))", "((decide (space v) (real $Vec)))"),
    Mutant("alias", SPACE, "ops", "((decide (space y) c))", "((decide (space y) (real $Vec)))"),
    Mutant("target-keyword", SPACE, "any", "(real s)", "(real $Vec)"),
    Mutant("rehome-written", GONE, "writes"),
    Mutant("write-back", GONE, "writes"),
    Mutant("rehome-viewed", GONE, "writes"),
    Mutant("seen-where-it-went", GONE, "writes"),
    Mutant("split-sum-in-vec", GONE, "writes"),
    Mutant("peel-zero-fill", DROPPED, "seeds", "(zero-fill u)", ""),
    Mutant("peel-zero-fill", BOUND, "zeros", "(trips l n) (>= n 1)", "", "loops that may not run"),
    Mutant("retarget-load", SPACE, "seeds", "(can-land s)", ""),
    # What holds the same.
    Mutant("contents-of-copy", EPOCH, "copies", "((union (Of w f) (Of v e)))",
           "((union (Of w f) (Of v (+ e 1))))"),
    Mutant("contents-of-copy", SWAPPED, "copies", "(rule ((copied-at site w f v e)) ((union (Of w f) (Of v e))))",
           "(rule ((copied-at site w f v e) (copied-at other x g y h)) ((union (Of w f) (Of y h))))"),
    Mutant("contents-of-window", SWAPPED, "views", "(Cons row (Cons col (Nil)))", "(Cons col (Cons row (Nil)))"),
    Mutant("slice-of-slice", BOUND, "views", "(IntC (+ i m) d)", "(IntC i d)", "only the outer row"),
    Mutant("slice-of-slice", SWAPPED, "views", "(IntC (+ j n) d)", "(IntC (+ j m) d)"),
    Mutant("slice-of-slice", BOUND, "views", "(union c (Window b offsets inner))", "(union c (Window b offsets outer))",
           "the outer shape"),
    Mutant("view-back", DROPPED, "views", "(equal-type h x)", "(view-at site h x)"),
    Mutant("take-equal", DROPPED, "views", "(equal-type h x)", "(view-at at h x)"),
    Mutant("equal-loads", EPOCH, "loads", "(load-at q w g m)", "(load-at q w h m)"),
    Mutant("equal-standing-loads", SWAPPED, "panels", "(loads args o q w)", "(loads others o q w)", "other windows"),
    # Ways to have it.
    Mutant("take-own", SPACE, "any", "(accepts-space site k s)", ""),
    Mutant("take-copy", SPACE, "any", "(accepts-space site k t)", "(stop t)"),
    Mutant("read-in-place", REGION, "copies", "(ancestor r d n)", "(region r q n)"),
    Mutant("move", SPACE, "any", "(may-reach c s) (move-edge s t)", "(may-reach c s) (stop t)"),
    Mutant("keep-from-outside", DROPPED, "any", "(live r c)", ""),
    Mutant("live-view", DROPPED, "around", "(fixed-in site r)", ""),
    Mutant("look-at-copy", SPACE, "views", "(shown-in c s site d)", "(view-of c site d)"),
    Mutant("cut-window", SPACE, "views", "(may-reach d s) (cut-edge s t)", "(may-reach d s)"),
    Mutant("flow-own", SPACE, "slots", "(slot-may l k s) (owns v s)) ((offer (FlowOf site slot s)",
           "(slot-may l k t) (owns v s)) ((offer (FlowOf site slot t)"),
    Mutant("own-where-produced", SPACE, "any", "(owner v s)", "(owner v q) (carriable s)"),
    Mutant("own-view", SPACE, "views", "(own-view h m) (owns m s) (view-at site h m) (view-anywhere site)",
           "(own-view h m) (carriable s) (view-at site h m) (view-anywhere site)"),
    Mutant("merge-loads", DROPPED, "loads", "(= q (last-equal-load v))", "(load-at p v h m) (< q p)"),
)  # fmt: skip
