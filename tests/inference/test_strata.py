"""The order in which the rules of a phase run: each after what feeds it, in rounds only if it feeds itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesat.ir_terms.strata import Feeding, strata
from tilesat.rules.catalogue import preset
from tilesat.rules.rule import STAGES, Rule, RuleSet

TABLES = "abcdef"


def feeding(needs: str, makes: str) -> Feeding:
    return Feeding(frozenset(needs), frozenset(makes))


def cut(*rules: tuple[str, str]) -> list[tuple[tuple[int, ...], bool]]:
    return [(stratum.rules, stratum.in_rounds) for stratum in strata([feeding(*rule) for rule in rules])]


def test_a_rule_runs_after_what_feeds_it() -> None:
    assert cut(("b", "c"), ("a", "b"), ("", "a")) == [((2,), False), ((1,), False), ((0,), False)]


def test_rules_that_do_not_feed_each_other_run_together() -> None:
    assert cut(("a", "b"), ("a", "c"), ("bc", "d")) == [((0, 1), False), ((2,), False)]


def test_rules_that_feed_each_other_run_in_rounds() -> None:
    assert cut(("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("e", "e")) == [
        ((0,), False),
        ((4,), True),
        ((1, 2), True),
        ((3,), False),
    ]


def test_terms_that_become_one_are_news_for_all_that_they_are_in() -> None:
    """A copy makes two contents one: then places of them are, and whoever reads places has to look again."""
    unites = Feeding(frozenset({"copied-at"}), frozenset({"Of"}), frozenset({"Content"}))
    reads = Feeding(frozenset({"Take"}), frozenset({"made-in"}))
    assert [stratum.rules for stratum in strata([reads, unites])] == [(1,), (0,)]
    unknown = Feeding(frozenset({"copied-at"}), frozenset(), None)
    assert [stratum.rules for stratum in strata([reads, unknown])] == [(1,), (0,)]
    offers = Feeding(frozenset({"copied-at"}), frozenset({"Move"}))
    assert [stratum.rules for stratum in strata([reads, offers])] == [(0, 1)]


@given(st.lists(st.tuples(st.sets(st.sampled_from(TABLES)), st.sets(st.sampled_from(TABLES), min_size=1)), max_size=9))
def test_one_pass_over_the_strata_finds_all(drawn: list[tuple[set[str], set[str]]]) -> None:
    """Nobody is fed by a later stratum, nor its own unless in rounds."""
    rules = [Feeding(frozenset(needs), frozenset(makes)) for needs, makes in drawn]
    found = strata(rules)
    place = {number: position for position, stratum in enumerate(found) for number in stratum.rules}
    assert sorted(place) == list(range(len(rules)))
    for feeder, one in enumerate(rules):
        for fed, other in enumerate(rules):
            if one.feeds & other.needs:
                together = place[feeder] == place[fed]
                assert place[feeder] < place[fed] or (together and found[place[fed]].in_rounds)


def test_rules_that_nobody_has_vouched_for_are_not_cut() -> None:
    """They may feed each other through tables of their own; errors name the phase."""
    own = Rule("own", "mine", "resolve", "", "(rule ((tile v)) ((wanted v 1)))")
    rules: RuleSet = preset("reference") + own
    assert rules.stage_program("inference", frozenset({"own"})).rulesets("resolve") == ["phase-resolve"]


@pytest.mark.parametrize("stage", STAGES)
def test_phases_are_cut(stage: str) -> None:
    """Every rule is in a ruleset of its phase, which is declared and run."""
    program = preset("optimal").stage_program(stage)
    declared = {name for name in program.rulesets(*STAGES[stage]) if f"(ruleset {name})" in program.text}
    assert declared == set(program.rulesets(*STAGES[stage]))
    for rule in program.rules:
        names = [name for name in program.rulesets(rule.phase) if rule.text(name) in program.text]
        assert len(names) == 1
        assert f"{names[0]})" in program.schedule(rule.phase)


def test_what_feeds_rules_of_an_earlier_phase_is_known() -> None:
    """A call that is rewritten while structures are looked at is resolved anew."""
    program = preset("reference").stage_program("inference")
    back = program.feeding_back(("resolve", "structure"))
    assert {"rehome-written", "split-accumulate"} <= back
    assert back < {rule.label for rule in program.rules if rule.phase == "structure"}
    assert program.feeding_back(("resolve",)) == frozenset()
    assert program.feeding_back(("structure", "resolve")) > {"inherit-input"}
