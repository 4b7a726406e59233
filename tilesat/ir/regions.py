"""Windows of tensors in loops: which instances overlap, in which order, and what they cover together.

A window is a box of affine offsets and extents. An access is a window inside loops whose counters run from 0 in steps
of 1. All answers are exact integers; where something is not known, or a bound on enumeration is hit, the answer is the
careful one and says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod

from tilesat.ir.affine import Affine, constant, substituted

MAX_PAIRS = 1 << 16
"""Pairs of instances that are compared one by one."""
MAX_BOXES = 1 << 12
"""Instances of writes that are laid out one by one."""

Box = tuple[tuple[int, int], ...]
"""Per dimension, first element and one past the last."""


@dataclass(frozen=True, slots=True)
class Counter:
    """A loop around an access: its counter, and how often it runs (``None`` when that is not known).

    Trips of an unordered loop may run in any order.
    """

    name: str
    trips: int | None
    ordered: bool = True


@dataclass(frozen=True, slots=True)
class Window:
    """A box: per dimension an offset and an extent."""

    offsets: tuple[Affine, ...]
    extents: tuple[Affine, ...]

    def is_whole(self, shape: Sequence[Affine]) -> bool:
        """Whether this is all of a tensor of ``shape``."""
        return self.extents == tuple(shape) and all(offset == constant(0) for offset in self.offsets)


@dataclass(frozen=True, slots=True)
class Access:
    """A window touched inside ``loops``, outermost first; ``order`` is its place in program order.

    ``window`` is ``None`` where nothing is known but the tensor.
    """

    loops: tuple[Counter, ...]
    window: Window | None
    order: int


Depths = Mapping[str, int]
"""Name -> how many loops lie around its definition; names from outside are missing."""


# --------------------------------------------------------------------------------- conflicts


@dataclass(frozen=True, slots=True)
class Conflict:
    """Why a later access may see an earlier one; ``bounded`` when only a limit kept the answer open."""

    text: str
    bounded: bool = False


def seen_later(first: Access, second: Access, depths: Depths) -> Conflict | None:
    """Whether an instance of ``second`` may run after an instance of ``first`` and overlap it; ``None`` if none can."""
    common = 0
    while common < min(len(first.loops), len(second.loops)) and first.loops[common] == second.loops[common]:
        common += 1
    levels = [d for d in range(common) if first.loops[d].trips is None or first.loops[d].trips > 1]  # type: ignore[operator]
    if first.order < second.order:
        levels.append(common)
    if any(loop.trips == 0 for loop in (*first.loops, *second.loops)):
        return None
    if first.window is None or second.window is None:
        return Conflict("a window is not known") if levels else None
    open_levels = [d for d in levels if not _apart(first, second, d, common, depths)]
    if not open_levels:
        return None
    return _enumerated(first, second, common, depths)


def _apart(first: Access, second: Access, level: int, common: int, depths: Depths) -> bool:
    """Whether instances whose first differing loop is ``level`` (``common``: none differs) never overlap."""
    assert first.window is not None
    assert second.window is not None
    if level < common and not first.loops[level].ordered:
        return all(_apart_in(first, second, level, common, depths, sign) for sign in (1, -1))
    return _apart_in(first, second, level, common, depths, 1)


def _apart_in(first: Access, second: Access, level: int, common: int, depths: Depths, sign: int) -> bool:
    """The same for one order of the trips of the loop at ``level``: ``second`` runs in a later one, or an earlier."""
    assert first.window is not None
    assert second.window is not None
    sides = zip(first.window.offsets, first.window.extents, second.window.offsets, second.window.extents, strict=True)
    for offset_a, extent_a, offset_b, extent_b in sides:
        low, high = _difference(first, second, offset_a, offset_b, level, common, depths, sign)
        if low is not None and extent_a.is_const and low >= extent_a.const:
            return True
        if high is not None and extent_b.is_const and high <= -extent_b.const:
            return True
    return False


_Range = tuple[int | None, int | None]


def _difference(
    first: Access, second: Access, a: Affine, b: Affine, level: int, common: int, depths: Depths, sign: int
) -> _Range:
    """Bounds of ``b - a`` over the instances that ``level`` and ``sign`` describe."""
    counters = {loop.name for loop in (*first.loops, *second.loops)}
    rest_a, rest_b = a, b
    total: _Range = (0, 0)
    for position in range(max(len(first.loops), len(second.loops))):
        loop_a = first.loops[position] if position < len(first.loops) else None
        loop_b = second.loops[position] if position < len(second.loops) else None
        if position < common:
            assert loop_a is not None
            factor_a, factor_b = rest_a.coefficient(loop_a.name), rest_b.coefficient(loop_a.name)
            rest_a, rest_b = rest_a.without(loop_a.name), rest_b.without(loop_a.name)
            if position < level:
                total = _plus(total, _times(factor_b - factor_a, (0, _last(loop_a))))
                continue
            if position == level:
                total = _plus(total, _times(sign * factor_b, (1, _last(loop_a))))
                total = _plus(total, _times(factor_b - factor_a, (0, _last(loop_a))))
                continue
            total = _plus(total, _times(-factor_a, (0, _last(loop_a))))
            total = _plus(total, _times(factor_b, (0, _last(loop_a))))
            continue
        if loop_a is not None:
            total = _plus(total, _times(-rest_a.coefficient(loop_a.name), (0, _last(loop_a))))
            rest_a = rest_a.without(loop_a.name)
        if loop_b is not None:
            total = _plus(total, _times(rest_b.coefficient(loop_b.name), (0, _last(loop_b))))
            rest_b = rest_b.without(loop_b.name)
    rest = rest_b - rest_a
    varying = {name for name in (*rest_a.names(), *rest_b.names()) if depths.get(name, 0) > level}
    if rest.terms or varying or counters & (rest_a.names() | rest_b.names()):
        return None, None
    return _plus(total, (rest.const, rest.const))


def _last(loop: Counter) -> int | None:
    return None if loop.trips is None else loop.trips - 1


def _times(factor: int, bounds: tuple[int, int | None]) -> _Range:
    low, high = bounds
    if factor == 0:
        return 0, 0
    far = None if high is None else factor * high
    return (factor * low, far) if factor > 0 else (far, factor * low)


def _plus(a: _Range, b: _Range) -> _Range:
    low = None if a[0] is None or b[0] is None else a[0] + b[0]
    high = None if a[1] is None or b[1] is None else a[1] + b[1]
    return low, high


def _enumerated(first: Access, second: Access, common: int, depths: Depths) -> Conflict | None:
    counts = [instance_count(access) for access in (first, second)]
    if counts[0] is None or counts[1] is None:
        return Conflict("the windows are not known to be apart")
    if counts[0] * counts[1] > MAX_PAIRS:
        return Conflict(f"more than {MAX_PAIRS} pairs of windows would have to be compared", bounded=True)
    names = {loop.name for loop in (*first.loops, *second.loops)}
    for access in (first, second):
        assert access.window is not None
        for offset in access.window.offsets:
            if any(depths.get(name, 0) > 0 and name not in names for name in offset.names()):
                return Conflict("an offset depends on data")
    later = list(_instances(second))
    for counters, window in _instances(first):
        for other_counters, other in later:
            if not _may_follow(first, second, counters[:common], other_counters[:common]):
                continue
            if _may_overlap(window, other):
                return Conflict(f"the windows {shown(window)} and {shown(other)} may overlap")
    return None


def _may_follow(first: Access, second: Access, a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether the instance of ``second`` in trips ``b`` may run after that of ``first`` in trips ``a``."""
    for loop, trip_a, trip_b in zip(first.loops, a, b, strict=False):
        if trip_a != trip_b:
            return trip_a < trip_b or not loop.ordered
    return first.order < second.order


def instance_count(access: Access) -> int | None:
    """How often ``access`` runs, ``None`` when that is not known."""
    trips = [loop.trips for loop in access.loops]
    return prod(t for t in trips if t is not None) if None not in trips else None


def _instances(access: Access) -> Iterator[tuple[tuple[int, ...], Window]]:
    assert access.window is not None
    for counters in product(*[range(loop.trips or 0) for loop in access.loops]):
        yield counters, at(access, counters)


def at(access: Access, counters: Sequence[int]) -> Window:
    """The window of the instance of ``access`` with these loop counters."""
    assert access.window is not None
    if not counters:
        return access.window
    values = {loop.name: constant(value) for loop, value in zip(access.loops, counters, strict=True)}
    offsets = tuple([substituted(offset, values) for offset in access.window.offsets])
    extents = tuple([substituted(extent, values) for extent in access.window.extents])
    return Window(offsets, extents)


def instances(access: Access) -> list[Window]:
    """The windows of all instances, in order; only where :func:`instance_count` is known."""
    return [window for _, window in _instances(access)]


def _may_overlap(a: Window, b: Window) -> bool:
    for offset_a, extent_a, offset_b, extent_b in zip(a.offsets, a.extents, b.offsets, b.extents, strict=True):
        distance = offset_b - offset_a
        if not distance.is_const:
            continue
        if extent_a.is_const and distance.const >= extent_a.const:
            return False
        if extent_b.is_const and -distance.const >= extent_b.const:
            return False
    return True


def shown(window: Window) -> str:
    """``window`` for a message."""
    parts = [f"{offset}:+{extent}" for offset, extent in zip(window.offsets, window.extents, strict=True)]
    return f"[{', '.join(parts)}]"


# ---------------------------------------------------------------------------------- coverage


def uncovered(writes: Sequence[Access], shape: Sequence[Affine]) -> Conflict | None:
    """Why ``writes``, all of which are executed, may leave elements of a tensor of ``shape`` untouched."""
    if not writes:
        return Conflict("nothing is sure to be written")
    if any(w.window is not None and w.window.is_whole(shape) and _runs(w) for w in writes):
        return None
    if not all(extent.is_const for extent in shape):
        return Conflict("the tensor's shape is not static")
    boxes: list[Box] = []
    for write in writes:
        count = instance_count(write)
        if count is None or write.window is None:
            continue
        if len(boxes) + count > MAX_BOXES:
            return Conflict(f"more than {MAX_BOXES} windows would have to be laid out", bounded=True)
        boxes += [box for window in instances(write) if (box := as_box(window)) is not None]
    whole = tuple([(0, extent.const) for extent in shape])
    return None if covers(boxes, whole) else Conflict("what is written is not known to be the whole tensor")


def _runs(access: Access) -> bool:
    count = instance_count(access)
    return count is not None and count > 0


def as_box(window: Window) -> Box | None:
    """``window`` in numbers, ``None`` when an offset or extent is no constant."""
    if not all(form.is_const for form in (*window.offsets, *window.extents)):
        return None
    pairs = zip(window.offsets, window.extents, strict=True)
    return tuple([(offset.const, offset.const + extent.const) for offset, extent in pairs])


def covers(boxes: Sequence[Box], whole: Box) -> bool:
    """Whether ``boxes`` together contain all of ``whole``."""
    return _covers(frozenset(boxes), whole, 0, {})


def _covers(boxes: frozenset[Box], whole: Box, axis: int, known: dict[tuple[frozenset[Box], int], bool]) -> bool:
    if axis == len(whole):
        return bool(boxes)
    if not boxes:
        return False
    if (boxes, axis) in known:
        return known[boxes, axis]
    low, high = whole[axis]
    cuts = sorted({low, high} | {edge for box in boxes for edge in box[axis] if low < edge < high})
    answer = all(
        _covers(frozenset(b for b in boxes if b[axis][0] <= left and right <= b[axis][1]), whole, axis + 1, known)
        for left, right in pairwise(cuts)
    )
    known[boxes, axis] = answer
    return answer


def volume(box: Box) -> int:
    return prod(high - low for low, high in box)


def are_apart(a: Box, b: Box) -> bool:
    """Whether two boxes share no element."""
    return any(high_a <= low_b or high_b <= low_a for (low_a, high_a), (low_b, high_b) in zip(a, b, strict=True))


def tiles_exactly(boxes: Sequence[Box]) -> Box | None:
    """The box that ``boxes`` fill without gap or overlap, ``None`` when they do not fill one."""
    if not boxes:
        return None
    bounds = tuple(
        [(min(box[axis][0] for box in boxes), max(box[axis][1] for box in boxes)) for axis in range(len(boxes[0]))]
    )
    if sum(map(volume, boxes)) != volume(bounds) or not covers(boxes, bounds):
        return None
    return bounds
