"""Rules as named values, and immutable sets of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

from tilesat.errors import Location, RuleError
from tilesat.ir_terms.columns import SORT_OF
from tilesat.ir_terms.relations import BY_NAME, SPACE_NUMBERS, Role
from tilesat.ir_terms.relations.placement import WAYS
from tilesat.ir_terms.schema import CONSTRUCTORS, EXPRESSIONS
from tilesat.ir_terms.stage_program import RuleText, StageProgram, names_in, ruleset_of
from tilesat.rules import sexpr
from tilesat.rules.sexpr import Node

# The stages of a pass, and the phases of each in the order in which they run. A phase saturates before the
# next starts, so a rule may read what earlier phases derived as final.
STAGES = {
    "inference": ("read", "demand", "resolve", "structure", "flows", "needs", "layout"),
    "evidence": ("storage", "evidence"),
    "residency": ("read", "promises", "obstacles", "residency"),
    "placement": ("read", "contents", "placement"),
    "reuse": ("names", "buffers", "overlaps", "want", "first-want", "consider", "stale", "bars", "agree", "merge"),
    "strides": ("names", "shapes", "wanted-views", "view-bars", "view-gaps", "views"),
    "gather": ("buffers", "overlaps", "gather-bars", "gathers"),
    "windows": (
        *("names", "buffers", "overlaps", "callee-bars", "callee-finals", "callee-loops", "callee-outputs"),
        *("callee-inputs", "callee-choice", "launch-facts", "launch-loops", "launch-bars", "launch-choice"),
    ),
}
PHASES = tuple(dict.fromkeys(phase for phases in STAGES.values() for phase in phases))

# How firmly a variable's space is known, best last; the space code is rank * 16 + space.
RANKS = {
    "guess": 1,  # an iter-arg, from its init, before the body is known
    "joined-guess": 2,  # an if result whose branches are guesses that differ
    "real": 3,  # from the producer
    "joined": 4,  # an if result whose branches differ
    "grounded": 5,  # a carried slot that must keep its init's space
    "retargeted": 6,  # a producer told to produce this space
    "rehomed": 7,  # as readers see a variable that was moved for all of them
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One named rewrite or inference rule.

    ``text`` holds egglog ``(rule (facts) (actions))`` forms. Beside egglog's own syntax it may use ``$Acc``
    for the number of a space, ``(real s)`` and the other ranks for a space code, ``(space-of c)`` and
    ``(rank-of c)``, and in actions ``(decide (f args) value)`` or ``(decide (r args))``, which sets a function or
    adds to a relation, and ``(offer place way)``, which adds a way to make a place; both record this rule as a
    reason.
    """

    name: str
    family: str
    phase: str
    meaning: str
    text: str
    requirements: tuple[str, ...] = ()
    declares: str = ""
    """Egglog declarations that the rule needs besides the library's relations and terms."""
    sound: Callable[[random.Random], object] | None = field(default=None, compare=False)
    """An executable statement of why the rule is sound: called with a seeded generator, it returns whether it holds."""
    origin: Location | None = field(default=None, compare=False)
    """The file and line of a rule that a user's file brings."""

    def program(self) -> str:
        """The egglog text of this rule, macros expanded, named and placed in its ruleset."""
        return "\n".join(form.text(ruleset_of(self.phase)) for form in self.forms())

    def forms(self) -> tuple[RuleText, ...]:
        """The forms of :meth:`program`."""
        if self.phase not in PHASES:
            known = ", ".join(PHASES)
            raise RuleError(f"rule '{self.name}': unknown phase '{self.phase}'", hint=f"one of {known}")
        return _forms(self.name, self.phase, self.text)


# Rule sets are made anew for each run, mostly of the same rules.
@lru_cache(maxsize=2_000)
def _forms(name: str, phase: str, text: str) -> tuple[RuleText, ...]:
    try:
        forms = sexpr.read(text)
    except RuleError as error:
        raise RuleError(f"rule '{name}': {error.message}", hint=error.hint) from None
    return tuple(_form(name, phase, form, number) for number, form in enumerate(forms))


def _form(rule: str, phase: str, form: Node, number: int) -> RuleText:
    if sexpr.head(form) != "rule" or not isinstance(form, list) or len(form) != 3:
        raise RuleError(
            f"rule '{rule}': not a rule: {sexpr.write(form)}",
            hint="write (rule (facts...) (actions...))",
        )
    expander = _Expander(rule)
    facts, actions = form[1], form[2]
    if not isinstance(facts, list) or not isinstance(actions, list):
        raise RuleError(f"rule '{rule}': facts and actions are lists", hint="(rule (facts...) (actions...))")
    new_facts: Node = [expander.expand(fact) for fact in facts]
    new_actions: Node = [part for action in actions for part in expander.action(action)]
    label = rule if number == 0 else f"{rule}#{number}"
    body = f"{sexpr.write(new_facts)} {sexpr.write(new_actions)}"
    return RuleText(
        rule,
        phase,
        body,
        label,
        needs=sexpr.heads(new_facts),
        makes=sexpr.heads(new_actions),
        names=names_in(body),
        calls=_matched_calls(new_facts),
        unites=_united(new_actions),
    )


def _united(actions: Sequence[Node]) -> frozenset[str] | None:
    """The sorts of which ``actions`` unite classes; ``None`` where that is not known.

    A way that is offered for a place is new, or has been offered before: it makes no two places one.
    """
    found: set[str] = set()
    for action in actions:
        if sexpr.head(action) != "union" or not isinstance(action, list):
            continue
        one, other = action[1:3]
        if sexpr.head(other) in WAYS and isinstance(other, list) and other[1:2] == [one]:
            continue
        heads = {sexpr.head(one), sexpr.head(other)}
        sorts = {sort for name, sort in SORT_OF.items() if name in heads}
        if not sorts:
            return None
        found |= sorts
    return frozenset(found)


_NO_EXPRESSIONS = frozenset(con.name for con in CONSTRUCTORS if con.sort not in EXPRESSIONS)


def _matched_calls(facts: Node) -> frozenset[str] | None:
    """The ops in ``(Assign site name type (Op "..." ...))``; ``None`` for any other statement."""
    found: set[str] = set()
    for node in sexpr.lists(facts):
        if sexpr.head(node) not in _NO_EXPRESSIONS:
            continue
        call = node[4] if node[0] == "Assign" and len(node) == 5 else None
        op = call[1] if isinstance(call, list) and sexpr.head(call) == "Op" and len(call) > 1 else None
        if not isinstance(op, str) or not op.startswith('"'):
            return None
        found.add(op.strip('"'))
    return frozenset(found)


class _Expander:
    def __init__(self, rule: str) -> None:
        self.rule = rule

    def expand(self, node: Node) -> Node:
        if isinstance(node, str):
            return self._space(node) if node.startswith("$") else node
        items = [self.expand(item) for item in node]
        head = sexpr.head(items)
        if len(items) == 2 and head in RANKS:
            return ["+", str(RANKS[head] * 16), items[1]]
        if len(items) == 2 and head == "space-of":
            return ["%", items[1], "16"]
        if len(items) == 2 and head == "rank-of":
            return ["/", items[1], "16"]
        return items

    def _space(self, atom: str) -> str:
        for space, number in SPACE_NUMBERS.items():
            if space.value == atom[1:]:
                return str(number)
        raise RuleError(
            f"rule '{self.rule}': unknown space '{atom}'",
            hint="one of " + ", ".join(f"${s}" for s in SPACE_NUMBERS),
        )

    def action(self, node: Node) -> list[Node]:
        if sexpr.head(node) == "offer":
            return self._offer(node)
        if sexpr.head(node) != "decide":
            return [self.expand(node)]
        assert isinstance(node, list)
        target = self.expand(node[1])
        name = sexpr.head(target)
        relation = BY_NAME.get(name or "")
        if relation is None or relation.role is not Role.DECISION or not isinstance(target, list):
            known = ", ".join(r.name for r in BY_NAME.values() if r.role is Role.DECISION)
            raise RuleError(f"rule '{self.rule}' decides '{name}', which is no decision", hint=f"one of {known}")
        value = [self.expand(part) for part in node[2:]]
        if len(value) != (1 if relation.output else 0):
            raise RuleError(f"rule '{self.rule}': wrong arguments for (decide ({name} ...))", hint=relation.meaning)
        act: Node = ["set", target, *value] if relation.output else target
        why: Node = ["set", [f"why-{name}", *target[1:], *value], ["set-of", f'"{self.rule}"']]
        return [act, why]

    def _offer(self, node: Node) -> list[Node]:
        """``(offer class way)``: one more way to make a place, with this rule as the reason."""
        items = self.expand(node)
        if not isinstance(items, list) or len(items) != 3 or sexpr.head(items[2]) not in WAYS:
            raise RuleError(
                f"rule '{self.rule}': malformed offer {sexpr.write(node)}",
                hint="write (offer place way) with a way among " + ", ".join(WAYS),
            )
        way = items[2]
        assert isinstance(way, list)
        way = [way[0], items[1], *way[1:]]
        why: Node = ["set", [f"why-{way[0]}", *way[1:]], ["set-of", f'"{self.rule}"']]
        return [["union", items[1], way], why]


@dataclass(frozen=True)
class RuleSet:
    """An immutable collection of rules with distinct names, in order."""

    name: str
    rules: tuple[Rule, ...]

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for rule in self.rules:
            if rule.name in seen:
                raise RuleError(
                    f"rule '{rule.name}' is already in '{self.name}'", hint="use replace(), or another name"
                )
            seen.add(rule.name)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __contains__(self, name: object) -> bool:
        return any(rule.name == name for rule in self.rules)

    def __getitem__(self, name: str) -> Rule:
        for rule in self.rules:
            if rule.name == name:
                return rule
        raise self._unknown(name)

    def _unknown(self, name: str) -> RuleError:
        near = [rule.name for rule in self.rules if name in rule.name or rule.name in name]
        hint = f"did you mean {', '.join(near)}?" if near else "see RuleSet.rules for the names"
        return RuleError(f"'{self.name}' has no rule '{name}'", hint=hint)

    def __add__(self, other: RuleSet | Rule | Iterable[Rule]) -> RuleSet:
        """Both; a name that both have is an error."""
        more = (other,) if isinstance(other, Rule) else tuple(other)
        return replace(self, rules=(*self.rules, *more))

    def __sub__(self, other: str | RuleSet | Iterable[str]) -> RuleSet:
        """Without the rules of ``other``, given by name or as a set."""
        names = [other] if isinstance(other, str) else [r.name if isinstance(r, Rule) else r for r in other]
        return self.without(*names)

    def without(self, *names: str) -> RuleSet:
        """Without the named rules or families; an unknown name is an error."""
        known = {rule.name for rule in self.rules} | {rule.family for rule in self.rules}
        for name in names:
            if name not in known:
                raise self._unknown(name)
        return replace(self, rules=tuple(r for r in self.rules if r.name not in names and r.family not in names))

    def only(self, *names: str) -> RuleSet:
        """Only the named rules or families."""
        return replace(self, rules=tuple(r for r in self.rules if r.name in names or r.family in names))

    def replace(self, rule: Rule) -> RuleSet:
        """With ``rule`` in place of the one of the same name."""
        old = self[rule.name]
        return replace(self, rules=tuple(rule if r is old else r for r in self.rules))

    def renamed(self, name: str) -> RuleSet:
        return replace(self, name=name)

    def stage_program(self, stage: str, kept: frozenset[str] = frozenset()) -> StageProgram:
        """Everything that ``stage`` may run; the rules ``kept`` are loaded even where they cannot fire.

        Raises :class:`tilesat.RuleError` for a malformed rule.
        """
        known = self._stage_programs.get((stage, kept))
        if known is None:
            phases = STAGES[stage]
            rules = [rule for rule in self.rules if rule.phase in phases]
            declared = tuple(dict.fromkeys(rule.declares for rule in rules if rule.declares))
            forms = tuple(form for rule in rules for form in rule.forms())
            known = StageProgram(stage, phases, declared, forms, kept)
            self._stage_programs[stage, kept] = known
        return known

    @cached_property
    def _stage_programs(self) -> dict[tuple[str, frozenset[str]], StageProgram]:
        return {}

    def has_stage(self, stage: str) -> bool:
        """Whether any rule belongs to ``stage`` alone."""
        own = [p for p in STAGES[stage] if sum(p in phases for phases in STAGES.values()) == 1]
        return any(rule.phase in own for rule in self.rules)
