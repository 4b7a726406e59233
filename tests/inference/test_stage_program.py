"""What of a stage is loaded for given facts: every rule that can fire, and what it mentions."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tilesat
from tilesat.errors import RuleError
from tilesat.ir.nodes import OpCall
from tilesat.ir_terms.egraph import EGraph, Table
from tilesat.ir_terms.relations import BY_NAME, Role
from tilesat.ir_terms.session import Session, Syntax
from tilesat.lab.generate import random_program
from tilesat.lab.targets import TARGETS
from tilesat.rules.catalogue import PRESETS, options, preset
from tilesat.rules.rule import STAGES, Rule, RuleSet


def rule(name: str, text: str, declares: str = "") -> Rule:
    return Rule(name, "mine", "read", "for a test", text, declares=declares)


CHAIN = RuleSet(
    "chain",
    (
        rule("second", "(rule ((binds site v)) ((reads site 0 v)))"),
        rule("third", "(rule ((reads site k v) (binds site w)) ((iter-arg site k w)))"),
        rule("other", "(rule ((iter-arg site k v) (if-result site k v)) ((binds site v)))"),
        rule("first", "(rule ((op-at site op)) ((binds site op)))"),
    ),
)


def served(rules: RuleSet, *given: str, kept: frozenset[str] = frozenset()) -> list[str]:
    """The names of the rules that are loaded where tables ``given`` have rows."""
    commands = rules.stage_program("inference", kept).serving(frozenset(given))
    return [command.partition(':name "')[2].rstrip('")') for command in commands if ":name" in command]


def test_a_rule_is_loaded_when_others_may_bring_all_it_needs() -> None:
    """In the order of the rule set, whatever the order in which they come to fire."""
    assert served(CHAIN) == []
    assert served(CHAIN, "reads") == []
    assert served(CHAIN, "binds") == ["second", "third"]
    assert served(CHAIN, "op-at") == ["second", "third", "first"]
    assert served(CHAIN, "iter-arg", "if-result") == ["second", "third", "other"]


def test_kept_rules_are_loaded_and_count_as_firing() -> None:
    assert served(CHAIN, kept=frozenset({"first"})) == ["second", "third", "first"]


def test_terms_are_needed_as_they_are_loaded() -> None:
    rules = RuleSet("terms", (rule("calls", "(rule ((= e (Op op args kwargs attrs))) ((op-at 0 op)))"),))
    assert served(rules, "in-Var") == []
    assert served(rules, "in-Op") == ["calls"]


def test_what_a_user_declares_may_have_rows_at_once() -> None:
    mine = rule("mine", '(rule ((marked s)) ((binds s "v")))', "(relation marked (i64)) (marked 3)")
    assert served(RuleSet("declaring", (mine, *CHAIN)), kept=frozenset()) == ["mine", "second", "third"]


def test_terms_are_loaded_where_a_rule_speaks_of_them() -> None:
    """Statements that no rule matches stay outside; expressions come together, as they contain each other."""
    inference, placement = (preset("optimal").stage_program(stage) for stage in ("inference", "placement"))
    assert inference.calls == frozenset()
    assert "(constructor" not in inference.text
    assert placement.calls == {"tile.extract", "tile.load", "tile.slice"}
    assert "(constructor Assign " in placement.text
    assert "(constructor Bin " in placement.text
    assert "(constructor ScopeS " not in placement.text
    scopes = rule("scopes", '(rule ((= s (ScopeS site kwargs body))) ((op-at site "scope")))')
    program = (preset("reference") + scopes).stage_program("inference")
    assert program.calls is None
    assert "(constructor ScopeS " in program.text
    assert "(constructor Bin " in program.text


@pytest.mark.parametrize(
    ("facts", "calls"),
    [
        ('(= s (Assign site v type (Op "tile.exp" args kwargs attrs)))', {"tile.exp"}),
        ("(= s (Assign site v type (Op op args kwargs attrs)))", None),
        ("(= s (Assign site v type value))", None),
        ('(= s (Eval site (Op "tile.store" args kwargs attrs)))', None),
        ('(= e (Op "tile.exp" args kwargs attrs)) (op-at site op)', set()),
    ],
)
def test_which_statements_a_rule_matches(facts: str, calls: set[str] | None) -> None:
    """Of a rule that somebody vouches for; others may conclude something of an expression wherever it stands."""
    rules = RuleSet("one", (rule("one", f'(rule ({facts}) ((binds 0 "v")))'),))
    assert rules.stage_program("inference").calls == calls
    assert rules.stage_program("inference", kept=frozenset({"one"})).calls is None


def test_terms_of_the_calls_that_matter() -> None:
    syntax = Syntax.of(random_program(5).functions[0])
    some, every = syntax.terms(frozenset({"tile.load"})), syntax.terms()
    loads = [row for row in every["in-Assign"] if isinstance(syntax.index.sites[row[1]].value, OpCall)]
    loads = [row for row in loads if syntax.index.sites[row[1]].value.op == "tile.load"]
    assert [row[1:4] for row in some["in-Assign"]] == [row[1:4] for row in loads] != []
    assert syntax.terms(frozenset()) == {}


def test_only_what_the_loaded_rules_mention_is_declared() -> None:
    terms = ("in-Op", "in-Var", "in-Cons", "in-Nil", "in-ListE", "in-NoName", "in-Assign")
    given = frozenset({*terms, "operand-at", "view-at"})
    commands = "\n".join(preset("optimal").stage_program("placement").serving(given))
    assert "(constructor Cons " in commands
    assert "(constructor Bin " not in commands
    assert "(relation flow-at" not in commands
    assert "(relation demand" not in commands


def test_a_place_needs_the_sorts_that_it_has_in_it() -> None:
    """Windows hold lists of expressions, whether or not the function has any."""
    mine = replace(rule("mine", "(rule ((= c (Window b offsets shape))) ((may-reach b 1)))"), phase="contents")
    commands = (preset("optimal") + mine).stage_program("placement", frozenset({"mine"})).serving(frozenset())
    assert "(sort Exprs)" in commands
    assert "(constructor Window (Content Exprs Exprs) Content)" in commands
    result = tilesat.infer_tile_memory_space(random_program(4), rules=preset("optimal") + mine, hardware="910b")
    assert (
        result.program == tilesat.infer_tile_memory_space(random_program(4), rules="optimal", hardware="910b").program
    )


@pytest.mark.parametrize("stage", STAGES)
def test_every_rule_loads_alone(stage: str) -> None:
    """Whatever is left out of a rule set, what is left is well-formed: all that a rule mentions is declared."""
    shipped = {r.name: r for make in PRESETS.values() for r in make()} | {r.name: r for r in options()}
    for one in (r for r in shipped.values() if r.phase in STAGES[stage]):
        program = RuleSet("one", (one,)).stage_program(stage, frozenset({one.name}))
        EGraph("\n".join(program.serving(frozenset())))


def test_what_was_given_is_never_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """An e-graph need not declare a fact that none of its rules matches, so nobody may look for one there."""
    asked: set[str] = set()
    table = EGraph.table

    def noted(graph: EGraph, name: str) -> Table:
        asked.add(name)
        return table(graph, name)

    monkeypatch.setattr(EGraph, "table", noted)
    for target in ("merges", "placed", "windows"):
        tilesat.optimize(TARGETS[target].program(3), rules="optimal", hardware="910b")
    for seed in range(4):
        tilesat.infer_tile_memory_space(random_program(seed), rules="optimal", hardware="910b")
    assert "space" in asked
    assert "Own" in asked
    assert "view-wanted" in asked
    assert [name for name in asked if name in BY_NAME and BY_NAME[name].role is Role.SEED] == []


@pytest.mark.parametrize(
    "stage", ["inference", "evidence", "residency", "placement", "reuse", "strides", "gather", "windows"]
)
def test_more_facts_mean_more_commands_in_the_same_order(stage: str) -> None:
    """So an e-graph grows by what is new, and ends with all of them."""
    program = preset("optimal").stage_program(stage)
    given: list[str] = []
    before = program.serving(frozenset())
    for name in sorted(program.inputs)[::5]:
        given.append(name)
        commands = program.serving(frozenset(given))
        assert [command for command in commands if command in set(before)] == before
        before = commands
    assert "\n".join(program.serving(program.inputs)) == program.text


def test_a_malformed_rule_is_refused_though_it_cannot_fire() -> None:
    rules = preset("optimal") + rule("odd", '(rule ((peeled l k) (no-such-fact l)) ((binds l "v")))')
    with pytest.raises(RuleError, match="no-such-fact"):
        Session(rules.stage_program("inference", kept=frozenset({"odd"})), what="test")
