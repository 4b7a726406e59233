"""Small functions share an e-graph, and each comes out as it does alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tilesat
from tests.bridge.asking import kernels
from tilesat.bridge import bundles
from tilesat.bridge.bundles import MOST_TOGETHER, bundled
from tilesat.ir.hardware import CHIPS
from tilesat.ir.nodes import Function, Program
from tilesat.ir_terms.bundle import MOST_MEMBERS
from tilesat.ir_terms.columns import COLUMNS
from tilesat.ir_terms.relations import BY_NAME
from tilesat.ir_terms.relations.base import Column, Role, kind_of
from tilesat.ir_terms.session import Session, encode_function
from tilesat.rules import sexpr
from tilesat.rules.catalogue import options, preset
from tilesat.rules.rule import STAGES, Rule

FEW = settings.default.max_examples // 5 if settings.default else 20
SHARED = ("inference", "placement")
"""The stages in which functions share an e-graph."""


# ------------------------------------------------------------------------------- who goes with whom


def test_functions_go_together_up_to_a_size() -> None:
    half = MOST_TOGETHER // 2
    assert list(bundled([half, half, 1, MOST_TOGETHER, 2, 3], lambda size: size)) == [
        [half, half],
        [1],
        [MOST_TOGETHER],
        [2, 3],
    ]
    assert list(bundled([], lambda size: 1)) == []


def test_there_are_names_for_so_many_members_only() -> None:
    assert list(map(len, bundled(range(2 * MOST_MEMBERS + 1), lambda size: 1))) == [MOST_MEMBERS, MOST_MEMBERS, 1]


# ------------------------------------------------------------------------------- each as if alone


def outcome(program: Program, rules: str, chip: str) -> tuple[object, ...]:
    try:
        result = tilesat.infer_tile_memory_space(program, rules=rules, hardware=chip)
    except tilesat.TilesatError as error:
        return (str(error),)
    return str(result.program), result.decisions, result.diagnostics, result.cost, result.lower_bound


@pytest.mark.parametrize("rules", ["reference", "optimal"])
@settings(max_examples=FEW)
@given(
    seeds=st.lists(st.integers(0, 1 << 32), min_size=2, max_size=6),
    chip=st.sampled_from(("910b", "950")),
)
def test_kernels_together_come_out_as_alone(rules: str, seeds: list[int], chip: str) -> None:
    """Text, decisions in order, costs and errors."""
    program = kernels(seeds)
    together = outcome(program, rules, chip)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bundles, "MOST_TOGETHER", 1)
        assert outcome(program, rules, chip) == together


def test_kernels_go_together_unless_one_of_them_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """No function is solved twice; where one fails, the others are."""
    again: list[BaseException] = []
    monkeypatch.setattr(bundles, "let_go", again.append)
    for seed in range(0, 40, 4):
        for rules in ("reference", "optimal"):
            result = outcome(kernels(range(seed, seed + 4)), rules, "910b")
            assert len(again) == (1 if len(result) == 1 else 0), (seed, result)
            again.clear()


ALONE, TOGETHER = (Session(preset("optimal").stage_program("inference"), what="test") for _ in range(2))
KEYS = frozenset({Column.VARIABLE, Column.SITE, Column.REGION})
READABLE = [
    relation
    for relation in BY_NAME.values()
    # A demand is a number with a site in it, for rules only.
    if not KEYS.isdisjoint(relation.columns) and relation.role is not Role.SEED and relation.name != "demand"
]


def rows_in(session: Session, functions: Sequence[Function]) -> list[dict[str, list[tuple[object, ...]]]]:
    """What each function has in the tables that rules fill with names or sites."""
    session.enter_all([(encode_function(function, CHIPS["910b"]), {}) for function in functions])
    session.saturate(*STAGES["inference"], what="test")
    return [
        {
            relation.name: sorted(tables.table(relation.name).read(*map(kind_of, relation.columns)))
            for relation in READABLE
        }
        for tables in session.tables()
    ]


@settings(max_examples=FEW)
@given(st.lists(st.integers(0, 1 << 32), min_size=2, max_size=6))
def test_each_member_has_the_rows_that_it_has_alone(seeds: list[int]) -> None:
    functions = kernels(seeds).functions
    assert rows_in(TOGETHER, functions) == [rows for function in functions for rows in rows_in(ALONE, [function])]


# ------------------------------------------------------------------- why that is so: rules hang together

SHARED_SORTS = frozenset({"Expr", "Exprs", "Named"})
"""Two members may have the same constant."""


def is_key(column: str) -> bool:
    if isinstance(column, Column):
        return column in KEYS or column in (Column.OUTER, Column.MEMORY, Column.ORDER)
    return column not in SHARED_SORTS


def atoms(fact: sexpr.Node) -> Iterator[frozenset[str]]:
    """For each application in ``fact`` the words in it that tell members apart; what nests hangs together."""
    if not isinstance(fact, list):
        return
    if fact[0] == "=":
        sides = [side for side in fact[1:] if isinstance(side, list)]
        names = [side for side in fact[1:] if isinstance(side, str)]
        for side in sides:
            sort = COLUMNS.get(str(side[0]))
            for found in atoms(side):
                yield found | (frozenset(names) if sort and is_key(sort[-1]) else frozenset())
        return
    columns = COLUMNS.get(str(fact[0]))
    if columns is None:
        return
    found: set[str] = set()
    for column, argument in zip(columns, fact[1:], strict=False):
        if is_key(column):
            found |= words(argument)
        elif isinstance(argument, list):
            # A term inside: its keys are those of what it stands in.
            found |= frozenset().union(*atoms(argument))
    yield frozenset(found)


def words(node: sexpr.Node) -> frozenset[str]:
    """The variables in ``node``."""
    if isinstance(node, str):
        return frozenset([node]) if node[0].isalpha() else frozenset()
    return frozenset().union(*map(words, node[1:]))


def strangers(rule: Rule) -> list[frozenset[str]]:
    """Parts of the facts of ``rule`` that share no name, site, region or class; one part is as it should be."""
    worst: list[frozenset[str]] = []
    for form in sexpr.read(rule.text):
        assert isinstance(form, list)
        parts: list[frozenset[str]] = []
        for one in (keys for fact in form[1] for keys in atoms(fact) if keys):
            near = [part for part in parts if part & one]
            parts = [part for part in parts if not part & one] + [one.union(*near)]
        worst = max(worst, parts, key=len)
    return worst


SHIPPED = [rule for rule in (*preset("optimal"), *options()) if any(rule.phase in STAGES[stage] for stage in SHARED)]


@pytest.mark.parametrize("rule", SHIPPED, ids=lambda rule: rule.name)
def test_no_rule_brings_strangers_together(rule: Rule) -> None:
    assert len(strangers(rule)) <= 1


def test_strangers_are_noticed() -> None:
    meet = Rule("meet", "mine", "resolve", "", "(rule ((tile v) (tile w) (!= v w)) ((wanted v 1)))")
    assert strangers(meet) == [frozenset({"v"}), frozenset({"w"})]
