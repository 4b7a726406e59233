"""What a stage of a pass runs, as egglog text: all of it, or as much as can fire on given facts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tilesat.ir_terms.columns import COLUMNS
from tilesat.ir_terms.relations import BY_NAME, Role, relations_program
from tilesat.ir_terms.relations.placement import TERMS as PLACES
from tilesat.ir_terms.schema import CONSTRUCTORS, EXPRESSIONS, SORTS, loaded_from, syntax_program
from tilesat.ir_terms.strata import Feeding, Stratum, strata

_NAMES = re.compile(r'[^\s()"]+')
_LOADED = {loaded_from(con.name): con.name for con in CONSTRUCTORS}
_EXPRESSIONS = frozenset(loaded_from(con.name) for con in CONSTRUCTORS if con.sort in EXPRESSIONS)
_SORTS = frozenset(SORTS)
_SYNTAX = _SORTS | frozenset(con.name for con in CONSTRUCTORS)
_TABLES = frozenset(
    [
        *(relation.name for relation in BY_NAME.values()),
        *(f"why-{relation.name}" for relation in BY_NAME.values() if relation.role is Role.DECISION),
        *(con.name for con in CONSTRUCTORS),
        *(term.name for term in PLACES),
        *(f"why-{term.name}" for term in PLACES if term.way),
    ]
)
"""What has rows only where facts or rules bring them. Handles of nodes and what users declare may always have some."""

_COLUMNS = {name: _SORTS.intersection(COLUMNS[name]) for name in (*BY_NAME, *(term.name for term in PLACES))}
"""The sorts of syntax that relations and places have in them."""


def names_in(text: str) -> frozenset[str]:
    """All words of egglog text."""
    return frozenset(_NAMES.findall(text))


@dataclass(frozen=True, slots=True, eq=False)
class RuleText:
    """One form of a rule as egglog reads it.

    ``needs`` are the names that its facts apply: it cannot fire while a table among them is empty. ``makes`` is
    whatever its actions apply, ``names`` all that is written in it. ``calls`` are the ops of the calls that its facts
    match, each assigned to a name; ``None`` where it may match other statements. ``unites`` are the sorts of which it
    makes different classes one, ``None`` where that is not known.
    """

    rule: str
    phase: str
    body: str
    label: str
    needs: frozenset[str]
    makes: frozenset[str]
    names: frozenset[str]
    calls: frozenset[str] | None
    unites: frozenset[str] | None

    def text(self, ruleset: str) -> str:
        """The rule as egglog reads it, in ``ruleset``."""
        return f'(rule {self.body} :ruleset {ruleset} :name "{self.label}")'


def ruleset_of(phase: str) -> str:
    """The egglog ruleset that holds the rules of ``phase``, or the first part of its name where there are several."""
    return f"phase-{phase}"


@dataclass(frozen=True, slots=True)
class _Part:
    """A ruleset with its rules, and whether they run in rounds until nothing new comes."""

    ruleset: str
    rules: tuple[RuleText, ...]
    in_rounds: bool


@dataclass(frozen=True)
class StageProgram:
    """Declarations and rules of one stage.

    E-graphs cost what they declare, on every function anew. So :meth:`serving` leaves out rules that cannot fire, and
    terms and relations that no other rule mentions. Rules that are ``kept`` are loaded in any case: nobody has vouched
    for them, so egglog has to see whether they are well-formed, and saturation watches whether they end.
    """

    stage: str
    phases: tuple[str, ...]
    declares: tuple[str, ...]
    rules: tuple[RuleText, ...]
    kept: frozenset[str] = frozenset()

    @cached_property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self._commands(self.rules, None))

    @cached_property
    def calls(self) -> frozenset[str] | None:
        """The ops of all statements that rules match, calls assigned to a name; ``None`` where there may be others.

        Terms of other statements make no difference. Rules that are kept may speak of expressions alone.
        """
        if any(rule.rule in self.kept and not rule.names.isdisjoint(_SYNTAX) for rule in self.rules):
            return None
        found = [rule.calls for rule in self.rules]
        return None if None in found else frozenset[str]().union(*(ops for ops in found if ops is not None))

    @cached_property
    def inputs(self) -> frozenset[str]:
        """The tables of facts and terms that make a difference."""
        names = self._names(self.rules)
        own = {table for table, name in _LOADED.items() if name in names}
        speaks_of_syntax = own or not _SORTS.isdisjoint(names)
        return names & _TABLES | own | (_EXPRESSIONS if speaks_of_syntax else frozenset())

    def serving(self, given: frozenset[str]) -> list[str]:
        """The commands without what cannot fire where only the tables ``given`` have rows at first.

        For more tables there are more commands, among which these have the same order.
        """
        return self._commands(self._live(given), given)

    def schedule(self, *phases: str) -> str:
        """What runs ``phases`` one after the other, each until nothing new comes, for ``run-schedule``."""
        parts = [part for phase in phases for part in self._parts[phase]]
        return " ".join(f"(saturate {part.ruleset})" if part.in_rounds else f"(run {part.ruleset})" for part in parts)

    def rulesets(self, *phases: str) -> list[str]:
        """The rulesets of ``phases``, in the order in which they run."""
        return [part.ruleset for phase in phases for part in self._parts[phase]]

    def feeding_back(self, phases: tuple[str, ...]) -> frozenset[str]:
        """Labels of the rules that may find something for others which run before them, as ``phases`` come in turn."""
        known = self._feeding_back.get(phases)
        if known is None:
            parts = [part for phase in phases for part in self._parts[phase]]
            found: set[str] = set()
            needed: frozenset[str] = frozenset()
            for part in parts:
                earlier = needed
                needed = needed.union(*(self._feeding(rule).needs for rule in part.rules))
                # What runs in rounds has found all that it finds for itself.
                needs = earlier if part.in_rounds else needed
                found.update(rule.label for rule in part.rules if not needs.isdisjoint(self._feeding(rule).feeds))
            known = self._feeding_back[phases] = frozenset(found)
        return known

    @cached_property
    def _feeding_back(self) -> dict[tuple[str, ...], frozenset[str]]:
        return {}

    @cached_property
    def _tables(self) -> frozenset[str]:
        """Everything that has rows."""
        return _TABLES.union(*map(names_in, self.declares))

    def _feeding(self, rule: RuleText) -> Feeding:
        return Feeding(rule.needs & self._tables, rule.makes, rule.unites)

    @cached_property
    def _parts(self) -> dict[str, list[_Part]]:
        """For each phase its rulesets, in the order in which they run."""
        found = {}
        for phase in self.phases:
            rules = [rule for rule in self.rules if rule.phase == phase]
            if self.kept:
                # Rules that nobody has vouched for may feed each other through what they declare themselves.
                cut = [Stratum(tuple(range(len(rules))), in_rounds=True)]
            else:
                cut = strata([self._feeding(rule) for rule in rules])
            base = ruleset_of(phase)
            names = [base] if len(cut) == 1 else [f"{base}-{number}" for number in range(len(cut))]
            found[phase] = [
                _Part(name, tuple(rules[one] for one in stratum.rules), stratum.in_rounds)
                for name, stratum in zip(names, cut, strict=True)
            ]
        return found

    @cached_property
    def _ruleset_of(self) -> dict[RuleText, str]:
        return {rule: part.ruleset for parts in self._parts.values() for part in parts for rule in part.rules}

    def _live(self, given: frozenset[str]) -> list[RuleText]:
        """The rules that may find all they need, in order."""
        kept = [rule for rule in self.rules if rule.rule in self.kept]
        filled = {_LOADED.get(name, name) for name in given}
        filled.update(*map(names_in, self.declares), *(rule.makes for rule in kept))
        live, waiting = set(kept), [rule for rule in self.rules if rule.rule not in self.kept]
        while found := [rule for rule in waiting if rule.needs & _TABLES <= filled]:
            live.update(found)
            filled.update(*(rule.makes for rule in found))
            waiting = [rule for rule in waiting if rule not in live]
        return [rule for rule in self.rules if rule in live]

    def _commands(self, rules: Sequence[RuleText], given: frozenset[str] | None) -> list[str]:
        names = self._names(rules)
        terms = None if given is None else frozenset(_LOADED[name] for name in given if name in _LOADED)
        sorts = frozenset[str]().union(*(_COLUMNS[name] for name in names if name in _COLUMNS))
        declared = (syntax_program(names | sorts, terms), relations_program(self.stage, names))
        rulesets = [f"(ruleset {name})" for name in self.rulesets(*self.phases)]
        texts = [rule.text(self._ruleset_of[rule]) for rule in rules]
        return [*"\n".join(declared).split("\n"), *rulesets, *self.declares, *texts]

    def _names(self, rules: Iterable[RuleText]) -> frozenset[str]:
        return frozenset[str]().union(*map(names_in, self.declares), *(rule.names for rule in rules))
