"""E-graphs of a stage hold what its rules can read, and a function that comes again finds nothing left of before."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tilesat
from tests.inference.texts import function, program
from tilesat.ir_terms import session as module
from tilesat.ir_terms.egraph import LISTENER, EGraph
from tilesat.ir_terms.session import Encoded, Session, Syntax, encode_function
from tilesat.lab.generate import random_program
from tilesat.lab.scale import loop_nest
from tilesat.rules.catalogue import preset
from tilesat.rules.loading import unvouched
from tilesat.rules.rule import Rule, RuleSet

CHAINED = tilesat.parse(
    program(
        function(
            """
            t = pl.load(x, [0, 0], [16, 16])
            u = pl.exp(t)
            v = pl.exp(u)
            r = pl.store(v, [0, 0], o)
            return r
            """
        )
    )
).functions[0]
LOOPING = tilesat.parse(
    program(
        function(
            """
            t = pl.load(x, [0, 0], [16, 16])
            for i, (c,) in pl.range(4, init_values=(t,)):
                u = pl.exp(c)
                d = pl.yield_(u)
            r = pl.store(d, [0, 0], o)
            return r
            """
        )
    )
).functions[0]
WATCH = Rule(
    "watch-loops",
    "mine",
    "read",
    "a relation of the user's that marks the sites that a premise names and that a scope opens",
    """
    (rule ((grounded site k s)) ((marked site)))
    (rule ((= s (ScopeS site kwargs body))) ((marked site)))
    """,
    declares="(relation marked (i64))",
)


def tables(session: Session) -> dict[str, list[tuple[object, ...]]]:
    graph = session.graph
    kinds = {"op-at": ("int", "str"), "binds": ("int", "str"), "reads": ("int", "int", "str"), "marked": ("int",)}
    return {name: sorted(graph.table(name).read(*columns)) for name, columns in kinds.items()}


def opened(rules: RuleSet) -> Session:
    return Session(rules.stage_program("inference", unvouched(rules)), what="test")


def run(session: Session, encoded: Encoded, premises: dict[str, list[tuple[object, ...]]]) -> object:
    session.enter(encoded, premises, before=("read",))
    session.saturate("read", what="test")
    return tables(session)


@pytest.mark.parametrize("kept", [0, 1_000_000])
def test_a_function_that_comes_again_is_what_it_was(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Premises of one round are gone in the next, however often it comes and whatever was there in between."""
    monkeypatch.setattr(module, "KEPT_ROWS", kept)
    rules = preset("reference") + WATCH
    session = opened(rules)
    encoded, other = encode_function(CHAINED, None), encode_function(CHAINED, None)
    rounds = [{"grounded": [(7, 0, 1)]}, {}, {"grounded": [(8, 0, 1), (9, 0, 1)]}, {}]
    for one in (encoded, other, encoded):
        for premises in rounds:
            assert run(session, one, premises) == run(opened(rules), encode_function(CHAINED, None), premises)
    session.leave()
    assert all(not rows for rows in tables(session).values())


@pytest.mark.parametrize(("limit", "most"), [("MOST_PUSHES", 2), ("MOST_ROWS", 1)])
def test_a_session_outlives_its_e_graphs(limit: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Built anew between functions only, with the rules that nobody has vouched for still under watch."""
    monkeypatch.setattr(module, limit, most)
    rules = preset("reference") + WATCH
    session = opened(rules)
    first = session.graph
    encoded = encode_function(CHAINED, None)
    wanted = [run(opened(rules), encoded, premises) for premises in ({"grounded": [(7, 0, 1)]}, {})]
    assert [run(session, encoded, premises) for premises in ({"grounded": [(7, 0, 1)]}, {})] == wanted
    assert session.graph is first
    assert run(session, encode_function(CHAINED, None), {}) == wanted[1]
    assert session.graph is not first
    assert session.graph.suspects == {"watch-loops"}


def test_rules_that_cannot_fire_stay_outside_until_a_function_needs_them() -> None:
    """What was there before them stays as it is, and the function finds the same as in an e-graph with all rules."""
    rules = preset("optimal")
    session, looping = opened(rules), encode_function(LOOPING, None)
    run(session, encode_function(CHAINED, None), {})
    first, before = session.graph, session._commands.copy()
    assert not any(':name "carried-' in command or "(relation iter-arg" in command for command in before)
    assert run(session, looping, {}) == run(opened(rules), looping, {})
    assert session.graph is first
    assert before < session._commands
    assert any("(relation iter-arg" in command for command in session._commands)


def test_phases_that_run_in_turn_end_when_there_is_nothing_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """They end after a turn in which no rule found anything for one that had run before it."""
    turns: list[int] = []
    real = Session.saturate_together

    def run(self: Session, *phases: str, what: str) -> None:
        reports: list[Any] = []
        token = LISTENER.set(reports.extend)
        real(self, *phases, what=what)
        LISTENER.reset(token)
        turns.append(len(reports))
        (more,) = self.graph.run(f"(run-schedule {self._program.schedule(*phases)})", what=what)
        assert not more.report.updated

    monkeypatch.setattr(Session, "saturate_together", run)
    for program_ in (loop_nest(200), *map(random_program, range(25))):
        tilesat.infer_tile_memory_space(program_, rules="reference", hardware="910b")
    assert {1, 2, 3} <= set(turns)


def test_orchestration_has_no_terms() -> None:
    assert "(constructor" not in preset("optimal").stage_program("reuse").text


def test_facts_of_no_relation_are_a_mistake_of_ours() -> None:
    with pytest.raises(AssertionError, match="no-such-fact"):
        opened(preset("reference")).enter(Encoded(Syntax.of(CHAINED), {"no-such-fact": [(1,)]}))


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.text(st.characters(codec="utf-8"), max_size=4)), max_size=4, unique=True)
)
def test_every_text_comes_back(rows: list[tuple[int, str]]) -> None:
    """Blanks at the ends, tabs, line breaks, quotes and backslashes are part of a text."""
    graph = EGraph("(relation said (i64 String))")
    graph.load({"said": rows})
    assert sorted(graph.table("said").read("int", "str")) == sorted(rows)
