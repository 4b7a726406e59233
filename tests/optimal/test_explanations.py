"""Why the result is as it is: decisions with their rules and alternatives, and where the savings come from."""

from __future__ import annotations

import json

import pytest

import tilesat
from tests.corpus import case
from tests.inference.texts import kernel as parsed
from tests.optimal.texts import OPERANDS, place
from tilesat.bridge.decisions import Decision
from tilesat.bridge.report import print_decisions, print_waterfall
from tilesat.extract.alternatives import Alternatives
from tilesat.extract.brute import all_choices
from tilesat.extract.graph import Choice, ChoiceGraph
from tilesat.extract.solve import solve

SIBLINGS = (
    OPERANDS
    + """
for i in pl.range(3):
    m = pl.matmul(at, bt)
    pl.store(m, [0, 0], o)
e = pl.matmul(at, bt)
f = pl.exp(e)
pl.store(e, [0, 0], q)
r = pl.store(f, [0, 0], o)
return r
"""
)


def decided(result: tilesat.PassResult, subject: str, kind: str) -> Decision:
    (found,) = [d for d in result.decisions if d.subject == subject and d.kind == kind and d.stage == "placement"]
    return found


def test_a_copy_says_who_made_it_and_what_it_rejects() -> None:
    """2112 for the move of 2 KiB, once; inside the loop it would be paid three times, beside the one after the loop."""
    found = decided(place(SIBLINGS, explain=True), "at_Left", "move")
    assert found.text == "at_Left = move of at to Left"
    assert found.rules == ("move", "keep-from-outside")
    assert found.cost == 16 * 64 * 2 + 64 + 1 / 64
    assert found.rejected == "move of at to Left in the loop over i"
    assert found.rejected_cost == 3 * (16 * 64 * 2 + 64) + 1 / 64
    assert found.place.startswith("for i in pl.range(3")


def test_an_operand_that_could_have_read_a_copy_says_so() -> None:
    """The store reads Acc; from Vec it would cost nothing more, had the copy for ``exp`` not to be made anyway."""
    result = place(SIBLINGS, explain=True)
    found = decided(result, "e", "operand")
    assert found.text == "operand 0 of tile.store reads e in Acc, where it is"
    assert found.rules == ("take-own",)
    assert found.rejected == "operand 0 of tile.store reads a copy of e in Vec"
    assert found.rejected_cost == 0.0


def test_what_the_input_has_and_nobody_needs_is_reported() -> None:
    """Copies that only inference had made in between are no news."""
    unused = "xt = pl.load(x, [0, 0], [16, 32])\nfree = pl.move(xt, target_memory=pl.Mem.Mat)\n"
    result = place(OPERANDS + unused + SIBLINGS.removeprefix(OPERANDS))
    assert [d.subject for d in result.decisions if d.kind == "dropped"] == ["xt", "free"]


def test_decisions_of_inference_that_no_longer_hold_are_left_out() -> None:
    """Case I64: the reference loads into Vec, placement into Mat; only the latter is said."""
    result = tilesat.infer_tile_memory_space(case("I64").before, rules="optimal", explain=True)
    found = [d for d in result.decisions if d.subject == "at__ssa_v0" and d.kind != "move"]
    assert [(d.stage, d.kind, d.text) for d in found] == [("placement", "target", "at__ssa_v0 is loaded into Mat")]
    assert "loaded into Vec" in found[0].rejected


def test_without_being_asked_nothing_is_searched_for() -> None:
    result = place(SIBLINGS)
    assert not any(decision.rejected for decision in result.decisions)
    assert result.waterfall == ()


@pytest.mark.parametrize("name", ["I07", "I10", "I61", "I67", "I81"])
def test_no_alternative_is_better_than_what_an_exact_search_chose(name: str) -> None:
    c = case(name)
    result = tilesat.infer_tile_memory_space(
        c.before, rules="optimal", exact=True, explain=True, hardware=c.hardware, cost="moves"
    )
    compared = [d for d in result.decisions if d.rejected_cost is not None]
    assert compared
    assert all(d.rejected_cost is not None and d.rejected_cost >= 0 for d in compared)
    for decision in result.decisions:
        assert decision.rules or decision.kind == "dropped", decision


def without(graph: ChoiceGraph, node: int) -> float | None:
    """The cheapest choice that does not use ``node``, by enumeration."""
    costs = [graph.cost(choice) for choice in all_choices(graph) if node not in choice.values()]
    return min(costs, default=None)


@pytest.mark.parametrize("seed", range(12))
def test_alternatives_are_those_of_the_whole_graph(seed: int) -> None:
    """Only the island around a decision is solved again; enumeration of everything gives the same."""
    from tests.extract.graphs import wild_graph

    try:
        graph = wild_graph(seed, 9)
        chosen: Choice = solve(graph, exact=True).choice
    except tilesat.SolveError:
        pytest.skip("no legal choice")
    alternatives = Alternatives(graph, chosen, time_limit=60.0)
    for node in chosen.values():
        expected, found = without(graph, node), alternatives.without(node)
        if expected is None:
            assert found is None
        else:
            assert found is not None
            assert graph.cost(chosen) + found.more == pytest.approx(expected)


def test_alternatives_stop_when_their_time_is_over() -> None:
    from tests.extract.graphs import program_graph

    graph = program_graph(3, 40)
    chosen = solve(graph).choice
    alternatives = Alternatives(graph, chosen, time_limit=1e-9)
    opened = [n for n in chosen.values() if alternatives.is_open(graph.nodes[n].cls)]
    with pytest.raises(tilesat.SolveError, match="no time left"):
        alternatives.without(opened[0])


# ------------------------------------------------------------------------------------- waterfall


@pytest.mark.parametrize("cost", ["traffic", "moves"])
@pytest.mark.parametrize("name", ["I07", "I17", "I61", "I64", "I81", "R01"])
def test_the_waterfall_leads_from_the_reference_to_the_result(name: str, cost: str) -> None:
    c = case(name)
    chip = c.hardware or ("910b" if name.startswith("R") else None)
    result = tilesat.infer_tile_memory_space(c.before, rules="optimal", cost=cost, hardware=chip, explain=True)
    assert result.reference_cost is not None
    first, *rest = result.waterfall
    assert (first.family, first.cost) == ("reference", result.reference_cost)
    assert rest[-1].cost == result.cost
    assert all(step.saved >= 0 for step in rest)
    assert result.reference_cost - sum(step.saved for step in rest) == pytest.approx(result.cost)


def test_each_family_is_credited_with_what_it_brings() -> None:
    saved = {step.family: step.saved for step in place(SIBLINGS, explain=True).waterfall}
    # The reference moves both operands in each of three trips and again after the loop.
    each = 16 * 64 * 2 + 64 + 64 * 32 * 2 + 64
    assert saved["hoist"] == 3 * each + 2 / 64
    assert saved["slots"] == saved["merge-loads"] == 0.0


def test_a_family_of_the_user_has_a_step_of_its_own() -> None:
    rules = tilesat.preset("optimal") + tilesat.Rule(
        "mine", "my-family", "placement", "nothing at all", "(rule ((tile v) (owns v 99)) ((content-own (Of v 0) 99)))"
    )
    result = place(SIBLINGS, explain=True, rules=rules)
    assert result.waterfall[-1].family == "my-family"
    assert result.waterfall[-1].meaning == "nothing at all"


def test_every_part_of_the_rules_still_places() -> None:
    """What the waterfall relies on: families beside those that every placement needs can be missing."""
    optimal = tilesat.preset("optimal")
    families = ["hoist", "views", "merge-loads", "slots"]
    parts = [optimal.without(*families), *(optimal.without(family) for family in families)]
    programs = [(case(name).before, case(name).hardware) for name in ("I07", "I10", "I57", "I67", "I81")]
    for rules in parts:
        for program, chip in programs:
            result = tilesat.infer_tile_memory_space(program, rules=rules, hardware=chip)
            assert result.cost is not None
            assert result.reference_cost is not None
            assert result.cost <= result.reference_cost


# ---------------------------------------------------------------------------------------- output


def test_decisions_and_waterfall_are_plain_data() -> None:
    data = json.loads(json.dumps(place(SIBLINGS, explain=True).as_dict()))
    move = next(d for d in data["decisions"] if d["subject"] == "at_Left")
    assert move["rules"] == ["move", "keep-from-outside"]
    assert move["rejected_cost"] == 3 * 2112 + 1 / 64
    assert data["waterfall"][0]["family"] == "reference"


def test_the_tables_show_them(capsys: pytest.CaptureFixture[str]) -> None:
    result = tilesat.infer_tile_memory_space(parsed(SIBLINGS), rules="optimal", explain=True)
    print_decisions(result.decisions)
    print_waterfall(result.waterfall)
    shown = capsys.readouterr().out
    for part in ("function f", "at_Left = move of at to Left", "keep-from-outside", "2,112", "6,336", "reference"):
        assert part in shown
