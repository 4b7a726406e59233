"""Which functions differ in name only: those are solved once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace

from tilesat.ir.nodes import Assign, Function, OpCall


def first_alike(functions: Sequence[Function], beside: Callable[[int], Hashable] = lambda number: ()) -> list[int]:
    """For each of ``functions`` the position of the first one that differs from it in name only.

    What ``beside`` says of the function at a position has to be equal as well. Whole functions take long to hash, so
    only those with equal outlines are looked at.
    """

    def key(number: int) -> Hashable:
        return replace(functions[number], name=""), beside(number)

    outlines = [_outline(function) for function in functions]
    times = Counter(outlines)
    first: dict[Hashable, int] = {}
    return [
        first.setdefault((outline, key(number)) if times[outline] > 1 else outline, number)
        for number, outline in enumerate(outlines)
    ]


def _outline(function: Function) -> Hashable:
    """Equal for functions that differ in name only, quick to find, and soon different for others."""
    names = [stmt.name if isinstance(stmt, Assign) else type(stmt) for stmt in function.body]
    ops = [stmt.value.op for stmt in function.body if isinstance(stmt, Assign) and isinstance(stmt.value, OpCall)]
    return len(function.params), tuple(names), tuple(ops)
