"""What is proved about windows holds in every execution: checked against running the loops."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilesat.ir.affine import Affine, constant, variable
from tilesat.ir.regions import (
    MAX_BOXES,
    Access,
    Box,
    Counter,
    Window,
    are_apart,
    as_box,
    covers,
    instances,
    seen_later,
    tiles_exactly,
    uncovered,
)

COMMON = (Counter("%0", 3), Counter("%1", 2))


def form(const: int, factors: dict[str, int]) -> Affine:
    total = constant(const)
    for name, factor in factors.items():
        total += variable(name).scaled(factor)
    return total


@st.composite
def accesses(draw: st.DrawFn, order: int, common: tuple[Counter, ...]) -> Access:
    own = tuple(Counter(f"%{order}_{k}", draw(st.integers(0, 3))) for k in range(draw(st.integers(0, 1))))
    loops = (*common, *own)
    offsets = [
        form(draw(st.integers(-3, 6)), {loop.name: draw(st.integers(-3, 3)) for loop in loops}) for _ in range(2)
    ]
    extents = [constant(draw(st.integers(1, 3))) for _ in range(2)]
    return Access(loops, Window(tuple(offsets), tuple(extents)), order)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Access, Access]:
    count = draw(st.integers(0, 2))
    common = tuple(Counter(loop.name, draw(st.integers(0, 3)), draw(st.booleans())) for loop in COMMON[:count])
    first, second = draw(st.permutations((10, 20)))
    return draw(accesses(first, common)), draw(accesses(second, common))


def executions(access: Access) -> list[tuple[tuple[int, ...], Box]]:
    counters = product(*[range(loop.trips or 0) for loop in access.loops])
    boxes = [as_box(window) for window in instances(access)]
    return [(c, box) for c, box in zip(counters, boxes, strict=True) if box is not None]


def sees(first: Access, second: Access) -> bool:
    """Whether some instance of ``second`` may run after one of ``first`` and overlap it, found by running both."""
    common = [a for a, b in zip(first.loops, second.loops, strict=False) if a == b]
    for a, box_a in executions(first):
        for b, box_b in executions(second):
            differing = next((d for d in range(len(common)) if a[d] != b[d]), None)
            if differing is None:
                later = first.order < second.order
            else:
                later = a[differing] < b[differing] or not common[differing].ordered
            if later and not are_apart(box_a, box_b):
                return True
    return False


@given(pairs())
def test_windows_said_to_be_apart_are_apart_in_every_execution(pair: tuple[Access, Access]) -> None:
    """ORC-1-03, ORC-5-05: and with static loops the answer is exact, not only careful."""
    first, second = pair
    assert (seen_later(first, second, {}) is not None) == sees(first, second)


def block(loop: Counter, factor: int, base: int = 0, extent: int = 4, order: int = 1) -> Access:
    window = Window((form(base, {loop.name: factor}),), (constant(extent),))
    return Access((loop,), window, order)


def test_windows_of_a_dynamic_loop() -> None:
    """ORC-1-03: how often the loop runs does not matter where the stride clears the window."""
    loop = Counter("%0", None)
    assert seen_later(block(loop, 4), block(loop, 4, order=0), {}) is None
    found = seen_later(block(loop, 3), block(loop, 3, order=0), {})
    assert found is not None
    assert not found.bounded


def test_an_offset_that_depends_on_data() -> None:
    """ORC-1-03"""
    loop = Counter("%0", 4)
    where = Window((variable("k"),), (constant(4),))
    first, second = Access((loop,), where, 1), Access((loop,), where, 0)
    # One k for all trips: the same window again, in a later trip. Read anew in every trip: anything.
    assert seen_later(first, second, {}) is not None
    assert seen_later(first, second, {"k": 1}) is not None
    # Without a later trip, nothing comes after.
    once = Counter("%0", 1)
    assert seen_later(Access((once,), where, 1), Access((once,), where, 0), {"k": 1}) is None


def test_too_many_pairs_are_not_enumerated_and_said_so() -> None:
    """ORC-1-03: the bound gives the careful answer with its reason, in no time."""
    # Even elements are written, odd ones read: bounds alone do not tell.
    evens, odds = Counter("%0", 10**9), Counter("%1", 10**9)
    first = Access((evens,), Window((form(0, {"%0": 2}),), (constant(1),)), 1)
    second = Access((odds,), Window((form(1, {"%1": 2}),), (constant(1),)), 2)
    found = seen_later(first, second, {})
    assert found is not None
    assert found.bounded
    assert "would have to be compared" in found.text


def test_too_many_boxes_are_not_laid_out_and_said_so() -> None:
    """ORC-3-01"""
    loop = Counter("%0", MAX_BOXES + 1)
    found = uncovered([block(loop, 4)], [constant(4 * (MAX_BOXES + 1))])
    assert found is not None
    assert found.bounded
    assert "would have to be laid out" in found.text


boxes_2d = st.lists(
    st.tuples(*[st.tuples(st.integers(0, 3), st.integers(1, 4)).filter(lambda r: r[0] < r[1]) for _ in range(2)]),
    max_size=6,
)


def cells(box: Box) -> set[tuple[int, ...]]:
    return set(product(*[range(low, high) for low, high in box]))


@given(boxes_2d)
def test_covering_is_exact(boxes: list[Box]) -> None:
    whole: Box = ((0, 3), (0, 4))
    filled = {cell for box in boxes for cell in cells(box)}
    assert covers(boxes, whole) == (cells(whole) <= filled)


@given(boxes_2d)
def test_exact_tilings_are_found(boxes: list[Box]) -> None:
    found = tiles_exactly(boxes)
    listed = [cell for box in boxes for cell in cells(box)]
    if found is None:
        low = [min((box[axis][0] for box in boxes), default=0) for axis in range(2)]
        high = [max((box[axis][1] for box in boxes), default=0) for axis in range(2)]
        bounds = cells(tuple(zip(low, high, strict=True)))
        assert not boxes or set(listed) != bounds or len(listed) != len(bounds)
    else:
        assert sorted(listed) == sorted(cells(found))


@pytest.mark.parametrize(
    ("writes", "is_covered"),
    [
        ([block(Counter("%0", 4), 4)], True),
        ([block(Counter("%0", 3), 4)], False),
        ([block(Counter("%0", 4), 5)], False),
        ([block(Counter("%0", None), 4)], False),
        ([block(Counter("%0", 3), 4), block(Counter("%1", 1), 0, base=12)], True),
        ([], False),
    ],
)
def test_what_is_written_together(writes: list[Access], is_covered: bool) -> None:
    """ORC-1-03, ORC-3-01: 16 elements, written in blocks of 4."""
    assert (uncovered(writes, [constant(16)]) is None) == is_covered
