"""Functions that differ in name only are found, whole functions being compared only where outlines agree."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from tilesat.bridge.alike import first_alike
from tilesat.ir.nodes import Assign, Const, Function, Return, Stmt
from tilesat.lab.generate import random_program
from tilesat.lab.scale import many_functions, straight_line


def first(functions: list[Function], asked: list[int] | None = None) -> list[int]:
    def key(number: int) -> Hashable:
        if asked is not None:
            asked.append(number)
        return replace(functions[number], name="")

    return first_alike(functions, key)


def test_the_first_of_equal_functions_stands_for_all() -> None:
    a, b = (random_program(seed).functions[0] for seed in (1, 2))
    assert first([a, replace(b, name="x"), replace(a, name="y"), replace(b, name="z"), a]) == [0, 1, 0, 1, 0]
    assert first([]) == []


def test_all_that_a_function_says_counts() -> None:
    """A value, what is returned, an option: also what outlines leave out."""
    (function,) = straight_line(20).functions
    others = [
        replace(function, body=(*function.body[:-1], Return((Const(1, "INT64"),)))),
        replace(function, level="AIC"),
    ]
    for site, stmt in enumerate(function.body):
        if isinstance(stmt, Assign):
            changed: Stmt = replace(stmt, value=Const(site, "INT64"))
            others.append(replace(function, body=(*function.body[:site], changed, *function.body[site + 1 :])))
    assert first([function, *others]) == list(range(len(others) + 1))


def test_functions_with_an_outline_of_their_own_are_not_compared() -> None:
    functions = list(many_functions(12, 40, 4).functions)
    asked: list[int] = []
    found = first(functions, asked)
    assert sorted(set(found)) == [0, 1, 2, 3]
    assert asked == list(range(12))
    alone = [random_program(seed).functions[0] for seed in range(30)]
    asked.clear()
    assert first(alone, asked) == list(range(30))
    assert len(asked) < 10, "generated functions soon differ"
