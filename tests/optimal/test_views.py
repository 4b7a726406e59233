"""Algebra on views (family ``views``): windows and reshapes of copies, and copies of windows and reshapes."""

from __future__ import annotations

import pytest

from tests.inference.texts import body_of
from tests.optimal.texts import OPERANDS, PLAIN, STAGED, becomes, place, stays

PRODUCT = OPERANDS + STAGED + "m = pl.matmul(at_Left, bt_Right)\n"


def test_a_slice_of_a_slice_is_one_slice() -> None:
    becomes(
        """
xt = pl.load(x, [0, 0], [16, 32])
half = pl.tile.slice(xt, [16, 16], [0, 16])
part = pl.tile.slice(half, [8, 8], [8, 8])
e = pl.exp(part)
r = pl.store(e, [0, 0], o)
return r
""",
        """
xt = pl.load(x, [0, 0], [16, 32])
part = pl.tile.slice(xt, [8, 8], [8, 24])
e = pl.exp(part)
r = pl.store(e, [0, 0], o)
return r
""",
    )


def test_a_slice_of_a_slice_stays_two_where_something_else_reads_the_first() -> None:
    """Nothing is won by looking past it."""
    stays(
        """
xt = pl.load(x, [0, 0], [16, 32])
half = pl.tile.slice(xt, [16, 16], [0, 16])
part = pl.tile.slice(half, [8, 8], [8, 8])
e = pl.exp(part)
pl.store(half, [0, 0], q)
r = pl.store(e, [0, 0], o)
return r
"""
    )


def test_a_view_of_a_written_tile_is_not_made_early() -> None:
    """Both uses see different contents of one buffer; the views that show them stay."""
    stays(
        """
xt = pl.load(x, [0, 0], [16, 32])
half = pl.tile.slice(xt, [16, 16], [0, 16])
part = pl.tile.slice(half, [8, 8], [8, 8])
e = pl.exp(part)
pl.tile.write(xt, [8, 24], s)
f = pl.exp(part)
g = pl.add(e, f)
r = pl.store(g, [0, 0], o)
return r
"""
    )


def test_a_reshape_of_a_reshape_is_one_reshape() -> None:
    becomes(
        """
xt = pl.load(x, [0, 0], [8, 32])
tall = pl.tile.reshape(xt, [32, 8])
flat = pl.tile.reshape(tall, [16, 16])
e = pl.exp(flat)
r = pl.store(e, [0, 0], o)
return r
""",
        """
xt = pl.load(x, [0, 0], [8, 32])
flat = pl.tile.reshape(xt, [16, 16])
e = pl.exp(flat)
r = pl.store(e, [0, 0], o)
return r
""",
    )


def test_a_reshape_there_and_back_is_none() -> None:
    becomes(
        """
xt = pl.load(x, [0, 0], [16, 32])
tall = pl.tile.reshape(xt, [32, 16])
back = pl.tile.reshape(tall, [16, 32])
e = pl.exp(back)
r = pl.store(e, [0, 0], o)
return r
""",
        """
xt = pl.load(x, [0, 0], [16, 32])
e = pl.exp(xt)
r = pl.store(e, [0, 0], o)
return r
""",
    )


def test_transposed_twice_is_not_transposed() -> None:
    becomes(
        OPERANDS
        + """
once = pl.tile.transpose_view(bt)
twice = pl.tile.transpose_view(once)
m = pl.matmul(at, twice)
r = pl.store(m, [0, 0], o)
return r
""",
        OPERANDS
        + STAGED
        + """
m = pl.matmul(at_Left, bt_Right)
r = pl.store(m, [0, 0], o)
return r
""",
    )


def test_a_slice_is_cut_before_the_move_where_only_that_part_is_read() -> None:
    """1 KiB crosses to the vector core, not 2."""
    becomes(
        OPERANDS
        + f"""
m = pl.matmul(at, bt)
v = pl.move(m, target_memory=pl.Mem.Vec, {PLAIN})
part = pl.tile.slice(v, [16, 16], [0, 16])
e = pl.exp(part)
r = pl.store(e, [0, 0], o)
return r
""",
        PRODUCT
        + f"""
part = pl.tile.slice(m, [16, 16], [0, 16])
part_Vec = pl.move(part, target_memory=pl.Mem.Vec, {PLAIN})
e = pl.exp(part_Vec)
r = pl.store(e, [0, 0], o)
return r
""",
    )


@pytest.mark.parametrize(("shape", "offsets"), [("[16, 16]", "[0, 8]"), ("[8, 16]", "[0, 0]"), ("[16, 16]", "[0, n]")])
def test_a_slice_that_cuts_a_box_is_not_cut_in_a_boxed_layout(shape: str, offsets: str) -> None:
    """Accumulators are stored in boxes of 16 by 16; a window that begins inside one, or maybe, is cut in Vec."""
    result = place(
        OPERANDS
        + f"""
m = pl.matmul(at, bt)
v = pl.move(m, target_memory=pl.Mem.Vec, {PLAIN})
part = pl.tile.slice(v, {shape}, {offsets})
e = pl.exp(part)
r = pl.store(e, [0, 0], o)
return r
"""
    )
    assert "tile.slice(v, " in body_of(result)


def test_the_whole_is_moved_where_several_parts_of_it_are_read() -> None:
    """Case I81: two windows of one accumulator; one transfer of all costs less than two."""
    becomes(
        OPERANDS
        + """
m = pl.matmul(at, bt)
left = pl.tile.slice(m, [16, 16], [0, 0])
right = pl.tile.slice(m, [16, 16], [0, 16])
e = pl.add(left, right)
r = pl.store(e, [0, 0], o)
return r
""",
        PRODUCT
        + f"""
v = pl.move(m, target_memory=pl.Mem.Vec, {PLAIN})
left = pl.tile.slice(v, [16, 16], [0, 0])
right = pl.tile.slice(v, [16, 16], [0, 16])
e = pl.add(left, right)
r = pl.store(e, [0, 0], o)
return r
""",
    )


TWO_EXTRACTS = (
    OPERANDS
    + """
m = pl.matmul(at, bt)
left: pl.Tile[[16, 16], pl.FP32] = pl.tile.extract(m, 0, 0, [16, 16], target_memory=pl.Mem.Vec)
right: pl.Tile[[16, 16], pl.FP32] = pl.tile.extract(m, 0, {column}, [16, 16], target_memory=pl.Mem.Vec)
e = pl.add(left, right)
r = pl.store(e, [0, 0], o)
return r
"""
)


def test_extracts_become_one_move_and_slices_of_it() -> None:
    """Each extract is a transfer of its own; slices of a copy are free."""
    becomes(
        TWO_EXTRACTS.format(column=16),
        PRODUCT
        + f"""
v = pl.move(m, target_memory=pl.Mem.Vec, {PLAIN})
left = pl.tile.slice(v, [16, 16], [0, 0])
right = pl.tile.slice(v, [16, 16], [0, 16])
e = pl.add(left, right)
r = pl.store(e, [0, 0], o)
return r
""",
    )


def test_an_extract_inside_a_block_stays_a_copy() -> None:
    """Vector ops begin at 32 bytes; column 4 of FP32 does not, so that what is read there must be copied out."""
    body = body_of(place(TWO_EXTRACTS.format(column=4)))
    assert "0, 4, [16, 16]" in body


def test_one_extract_stays_the_cheapest_way() -> None:
    """The move of the whole would take more bytes."""
    body = OPERANDS + (
        """
cut = pl.tile.extract(at, 0, 32, [16, 32], target_memory=pl.Mem.Left)
under = pl.tile.extract(bt, 32, 0, [32, 32], target_memory=pl.Mem.Right)
m = pl.matmul(cut, under)
r = pl.store(m, [0, 0], o)
return r
"""
    )
    stays(body)


def test_a_view_leaves_the_loop_with_its_copy() -> None:
    """Nothing in the loop changes either."""
    body = (
        OPERANDS
        + """
m = pl.matmul(at, bt)
for i in pl.range(4):
    part = pl.tile.slice(m, [16, 16], [0, 0])
    e = pl.exp(part)
    pl.store(e, [0, 0], o)
return o
"""
    )
    lines = body_of(place(body)).splitlines()
    loop = next(number for number, line in enumerate(lines) if line.startswith("for"))
    assert all(number < loop for number, line in enumerate(lines) if "slice" in line or "move" in line)
