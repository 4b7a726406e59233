"""Mistakes in rules that users write, told with the rule, the line and the cure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tilesat.errors import Location, RuleError
from tilesat.ir_terms.egraph import EGraph
from tilesat.ir_terms.relations import BY_NAME, relations_program
from tilesat.ir_terms.relations.placement import TERMS
from tilesat.ir_terms.schema import CONSTRUCTORS, syntax_program
from tilesat.ir_terms.stage_program import ruleset_of
from tilesat.rules.rule import STAGES, Rule, RuleSet

_DECLARED = re.compile(r"\((?:relation|function|constructor)\s+(\S+)")
_RESERVED = frozenset({"_"})


@dataclass(frozen=True, slots=True)
class Source:
    """The file that rules come from."""

    path: str
    text: str

    def line_of(self, rule: Rule, part: str = "") -> int | None:
        """The line of ``part`` in the text of ``rule``, of the rule itself where ``part`` is not found."""
        start = self.text.find(rule.text)
        if start < 0:
            named = self.text.find(f'"{rule.name}"')
            return None if named < 0 else self.text.count("\n", 0, named) + 1
        offset = _position(rule.text, part) if part else _position(rule.text, "(rule")
        return self.text.count("\n", 0, start + offset) + 1


def _position(text: str, part: str) -> int:
    """Where ``part`` stands in ``text``, blanks aside; the beginning where it does not."""
    words = re.findall(r'[()]|"(?:[^"\\]|\\.)*"|[^\s()"]+', part)
    if not words:
        return 0
    pattern = r"\s*".join(map(re.escape, words))
    if not part.startswith("("):
        pattern = rf"(?<![^\s()]){pattern}(?![^\s()])"
        actions = text.rfind("((")
        found = re.search(pattern, text[max(actions, 0) :])
        if found is not None:
            return max(actions, 0) + found.start()
    match = re.search(pattern, text)
    return 0 if match is None else match.start()


def check_rules(rules: RuleSet, names: Iterable[str], source: Source | None = None) -> None:
    """Load each of the named rules by itself into the e-graphs of its stages.

    Raises :class:`RuleError` for the first one that egglog does not take: which, at what line, and what would be right.
    """
    graphs: dict[str, EGraph] = {}
    for name in names:
        rule = rules[name]
        text = _program(rule, source)
        for stage in (stage for stage, phases in STAGES.items() if rule.phase in phases):
            graph = graphs.get(stage)
            if graph is None:
                graph = graphs[stage] = _empty(stage, rules)
            try:
                graph.run(text, what=f"rule '{name}'")
            except RuleError as error:
                raise _explained(rule, stage, error, source, rules) from None


def _program(rule: Rule, source: Source | None) -> str:
    try:
        return rule.program()
    except RuleError as error:
        raise RuleError(error.message, hint=error.hint, location=location_of(rule, source)) from None


def location_of(rule: Rule, source: Source | None, part: str = "") -> Location | None:
    """Where ``part`` of ``rule`` stands."""
    return None if source is None else Location(file=source.path, line=source.line_of(rule, part))


def _empty(stage: str, rules: RuleSet) -> EGraph:
    """The e-graph of ``stage`` with everything declared and no rule."""
    declared = dict.fromkeys(rule.declares for rule in rules if rule.declares and rule.phase in STAGES[stage])
    rulesets = [f"(ruleset {ruleset_of(phase)})" for phase in STAGES[stage]]
    program = "\n".join((syntax_program(), relations_program(stage), *rulesets, *declared))
    return EGraph(program, what="the declarations of the rules")


# ------------------------------------------------------------------------------ explanations


def _explained(rule: Rule, stage: str, error: RuleError, source: Source | None, rules: RuleSet) -> RuleError:
    text = error.message
    for pattern, explain in _PATTERNS.items():
        match = re.search(pattern, text)
        if match is not None:
            part, what, cure = explain(match, rule, stage, rules)
            break
    else:
        part, what, cure = "", re.sub(r"^egglog failed[^:]*: ", "", text).split("\n", 1)[0], "see docs/rules.md"
    return RuleError(f"rule '{rule.name}': {what}", hint=cure, location=location_of(rule, source, part))


Explained = tuple[str, str, str]


def _unknown(match: re.Match[str], rule: Rule, stage: str, rules: RuleSet) -> Explained:
    name = match["name"]
    part = f"({name}"
    elsewhere = sorted(other for other, known in _vocabularies().items() if name in known and other != stage)
    if elsewhere:
        phases = ", ".join(f"'{phase}'" for phase in STAGES[elsewhere[0]])
        cure = f"it belongs to the stage '{elsewhere[0]}'; a rule of its phases can use it: {phases}"
        return part, f"'{name}' is not known in the phase '{rule.phase}'", cure
    known = _vocabularies()[stage] | set(_DECLARED.findall("\n".join(r.declares for r in rules)))
    near = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.6)
    cure = f"did you mean {' or '.join(near)}?" if near else "declare it in the rule's 'declares'"
    return part, f"unknown term or relation '{name}'", cure


def _unbound(match: re.Match[str], rule: Rule, *_context: object) -> Explained:
    name = match["name"]
    bound = sorted(set(re.findall(r"(?<=\s)[a-z][\w-]*(?=[\s)])", rule.text)) - {name})
    near = difflib.get_close_matches(name, bound, n=1, cutoff=0.5)
    hint = f", or write '{near[0]}'" if near else ""
    return name, f"variable '{name}' is not bound by any fact", f"bind it in a fact of the rule{hint}"


def _sort(match: re.Match[str], rule: Rule, *_context: object) -> Explained:
    part, wanted, got = match["part"].strip(), match["wanted"], match["got"]
    used = _users(rule, part)
    cure = "; ".join(_signature(name) for name in used[:2]) or f"give it the sort {wanted}"
    return part, f"'{part}' is used as {wanted} but is {got}", cure


def _operator(match: re.Match[str], rule: Rule, *_context: object) -> Explained:
    found = re.search(r"In \S+ of [^:]*(?::[^:\n]*)?: (?P<part>[^\n]*)\n Expect expression .* type (?P<wanted>\S+), "
                      r"but get type (?P<got>\S+)", match.string)  # fmt: skip
    if found is None:
        return "", "an operator is applied to operands of the wrong sort", "numbers are i64, names are String"
    part = found["part"].strip()
    used = _users(rule, part)
    what = f"'{part}' is {found['got']}, and no operator takes it together with the other operand"
    return part, what, "; ".join(_signature(name) for name in used[:2]) or "numbers are i64, names are String"


def _arity(match: re.Match[str], *_context: object) -> Explained:
    part = match["part"].strip()
    name = part.strip("()").split()[0]
    what = f"'{name}' takes {match['count']} arguments, here {len(_arguments(part))}"
    return part, what, _signature(name)


def _set_relation(match: re.Match[str], *_context: object) -> Explained:
    name = match["name"]
    return f"(set ({name}", f"'{name}' has no value to set", f"write ({name} ...) as an action; {_signature(name)}"


_PATTERNS: Mapping[str, Callable[[re.Match[str], Rule, str, RuleSet], Explained]] = {
    r"All alternative definitions considered failed": _operator,
    r"Unbound (?:function|sort) (?P<name>\S+)": _unknown,
    r"Unbound symbol (?P<name>\S+)": _unbound,
    r"In \S+ of .*?: (?P<part>[^\n]*)\n Expect expression .* have type (?P<wanted>\S+), "
    r"but get type (?P<got>\S+)": _sort,
    r"(?P<part>\([^\n]*)\nArity mismatch, expected (?P<count>\d+) args": _arity,
    r"Cannot set constructor (?P<name>\S+?)\.": _set_relation,
}  # fmt: skip


def _arguments(call: str) -> list[str]:
    depth, found = 0, []
    for word in re.findall(r'[()]|"(?:[^"\\]|\\.)*"|[^\s()"]+', call):
        if word == "(":
            depth += 1
        if (depth == 1 and word not in "()") or (depth == 2 and word == "("):
            found.append(word)
        if word == ")":
            depth -= 1
    return found[1:]


def _users(rule: Rule, part: str) -> list[str]:
    """The relations and terms that take ``part`` as an argument, in order, those that can be explained."""
    found = []
    for name, arguments in re.findall(r"\(([\w-]+)((?:\s+[^\s()]+)*)\s*\)", rule.text):
        if part in arguments.split() and _signature(name):
            found.append(name)
    return list(dict.fromkeys(found))


def _signature(name: str) -> str:
    """What ``name`` takes and means; empty where nothing is known of it."""
    relation = BY_NAME.get(name)
    if relation is not None:
        output = f" -> {relation.output.type}" if relation.output else ""
        return f"({name} {' '.join(relation.args)}){output}: {relation.meaning}"
    known = [(term.name, term.args, term.sort) for term in TERMS]
    known += [(constructor.name, constructor.args, constructor.sort) for constructor in CONSTRUCTORS]
    return next((f"({term} {' '.join(args)}) is a {sort}" for term, args, sort in known if term == name), "")


@lru_cache(maxsize=1)
def _vocabularies() -> dict[str, frozenset[str]]:
    """The relations and terms of each stage."""
    common = set(_DECLARED.findall(syntax_program()))
    return {stage: frozenset(common | set(_DECLARED.findall(relations_program(stage)))) for stage in STAGES}
