"""Copies made before branches and loops, and what keeps them inside (family ``hoist``).

Copies are keyed by the version of the buffer they were made of, so none is read after a write that it does not show.
"""

from __future__ import annotations

import pytest

from tests.corpus import case
from tests.inference.texts import body_of, kernel
from tests.optimal.texts import OPERANDS, STAGED, becomes, place
from tilesat.extract.count import count_program

BOTH = ("traffic", "moves")


@pytest.mark.parametrize("cost", BOTH)
def test_copies_for_both_arms_stand_above_the_if(cost: str) -> None:
    """Case I08: one copy of each instead of two. INF-P2-02."""
    arms = """
if n == 0:
    m = pl.matmul({left}, {right})
    r0 = pl.store(m, [0, 0], o)
    w = pl.yield_(r0)
else:
    k = pl.matmul({left}, {right})
    k2 = pl.matmul_acc(k, {left}, {right})
    r1 = pl.store(k2, [0, 0], o)
    w = pl.yield_(r1)
return w
"""
    becomes(
        OPERANDS + arms.format(left="at", right="bt"),
        OPERANDS + STAGED + arms.format(left="at_Left", right="bt_Right"),
        cost=cost,
    )


def test_a_copy_for_one_arm_stays_in_it() -> None:
    """Above the ``if`` it would be made twice as often."""
    body = OPERANDS + "if n == 0:\n    m = pl.matmul(at, bt)\n    pl.store(m, [0, 0], o)\nreturn o"
    result = body_of(place(body))
    assert result.index("if n") < result.index("tile.move")


@pytest.mark.parametrize("cost", BOTH)
def test_invariant_copies_leave_two_loops_at_once(cost: str) -> None:
    """Case I17: made once, not 16 times. INF-P4-14."""
    loops = """
zero = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
{staged}
for i, (acc,) in pl.range(4, init_values=(zero,)):
    for j, (inner,) in pl.range(4, init_values=(acc,)):
        nxt = pl.matmul_acc(inner, {left}, {right})
        fin = pl.yield_(nxt)
    out = pl.yield_(fin)
r = pl.store(out, [0, 0], o)
return r
"""
    becomes(
        OPERANDS + loops.format(staged="", left="at", right="bt"),
        OPERANDS + loops.format(staged=STAGED, left="at_Left", right="bt_Right"),
        cost=cost,
    )


def test_a_copy_leaves_only_the_loops_that_do_not_change_it() -> None:
    """The window moves with ``i``: out of the inner loop, not out of the outer one."""
    result = place(
        """
bt = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
for i in pl.range(4):
    at = pl.load(a, [0, 16 * i], [16, 16], target_memory=pl.Mem.Mat)
    for j in pl.range(4):
        bj = pl.load(b, [16 * j, 0], [16, 32], target_memory=pl.Mem.Mat)
        m = pl.matmul(at, bj)
        pl.store(m, [0, 0], o)
return o
"""
    )
    lines = [line for line in body_of(result).splitlines() if "tile.move" in line or line.strip().startswith("for")]
    assert [(len(line) - len(line.lstrip())) // 4 for line in lines] == [0, 1, 1, 2]
    assert "at_Left" in lines[1]


def test_sibling_loops_share_one_copy() -> None:
    """It is made before the first: a copy of one loop's body never serves the other. INF-P2-02."""
    loops = """
for i in pl.range(2):
    m = pl.matmul({left}, {right})
    pl.store(m, [0, 0], o)
for j in pl.range(2):
    k = pl.matmul({left}, {right})
    pl.store(k, [0, 0], q)
return o
"""
    becomes(
        OPERANDS + loops.format(left="at", right="bt"),
        OPERANDS + STAGED + loops.format(left="at_Left", right="bt_Right"),
    )


@pytest.mark.parametrize("cost", BOTH)
def test_a_peeled_accumulator_loop_makes_each_copy_once_a_trip(cost: str) -> None:
    """Case I10: both arms of ``if k == 0`` read both operands; one copy of each stands above the ``if``."""
    loop = """
zero = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
for k, (acc,) in pl.range(2, init_values=(zero,)):
    ak = pl.load(a, [0, 32 * k], [16, 32], target_memory=pl.Mem.Mat)
    bk = pl.load(b, [32 * k, 0], [32, 32], target_memory=pl.Mem.Mat)
    {staged}
    if k == 0:
        first = pl.matmul({left}, {right})
        nxt = pl.yield_(first)
    else:
        more = pl.matmul_acc(acc, {left}, {right})
        nxt = pl.yield_(more)
    fin = pl.yield_(nxt)
r = pl.store(fin, [0, 0], o)
return r
"""
    staged = "ak_Left = pl.move(ak, target_memory=pl.Mem.Left)\n    bk_Right = pl.move(bk, target_memory=pl.Mem.Right)"
    becomes(
        loop.format(staged="", left="ak", right="bk"),
        loop.format(staged=staged, left="ak_Left", right="bk_Right"),
        cost=cost,
    )


@pytest.mark.parametrize("name", ["I07", "I08", "I10", "I17", "I59"])
def test_fewer_moves_than_the_peer(name: str) -> None:
    """Where the peer's own result is legal, and moves in each arm or trip."""
    ours = count_program(place(case(name).before).program)
    peer = count_program(case(name).peer)
    assert ours.executed_moves <= peer.executed_moves
    assert ours.static_moves < peer.static_moves or name == "I17"


# ----------------------------------------------------------------------------- in-place writes


def test_a_write_between_two_uses_forces_a_fresh_copy() -> None:
    """The copy made before the write is stale after it. Design, section 7."""
    body = """
at = pl.load(a, [0, 0], [16, 64])
bt = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
{first}
m = pl.matmul({one}, {right})
pl.tile.write(at, [0, 0], h)
{second}
k = pl.matmul({two}, {right})
r = pl.store(m, [0, 0], o)
z = pl.store(k, [0, 0], q)
return r, z
"""
    becomes(
        body.format(first="", second="", one="at", two="at", right="bt"),
        body.format(
            first="at_Left = pl.move(at, target_memory=pl.Mem.Left)\n"
            "bt_Right = pl.move(bt, target_memory=pl.Mem.Right)",
            second="again = pl.move(at, target_memory=pl.Mem.Left)",
            one="at_Left",
            two="again",
            right="bt_Right",
        ),
    )


def test_a_write_in_a_loop_keeps_the_copy_inside() -> None:
    """Each trip reads what the trip before wrote; what nobody writes leaves."""
    body = """
at = pl.load(a, [0, 0], [16, 64])
bt = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
for i in pl.range(3):
    m = pl.matmul(at, bt)
    pl.store(m, [0, 0], o)
    pl.tile.write(at, [0, i], h)
return o
"""
    lines = body_of(place(body)).splitlines()
    assert [line.startswith(" ") for line in lines if "tile.move(at" in line] == [True]
    assert [line.startswith(" ") for line in lines if "tile.move(bt" in line] == [False]


def test_a_write_in_one_arm_makes_the_copies_after_it_fresh() -> None:
    """After the ``if`` the tile may hold either; a copy from before it does not do."""
    body = """
at = pl.load(a, [0, 0], [16, 64])
bt = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
m = pl.matmul(at, bt)
pl.store(m, [0, 0], o)
if n == 0:
    pl.tile.write(at, [0, 0], h)
k = pl.matmul(at, bt)
r = pl.store(k, [0, 0], q)
return r
"""
    assert body_of(place(body)).count("tile.move(at") == 2


def test_what_a_view_writes_counts_for_its_source() -> None:
    """A slice and its source share the buffer."""
    body = """
at = pl.load(a, [0, 0], [16, 64])
bt = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
m = pl.matmul(at, bt)
pl.store(m, [0, 0], o)
part = pl.tile.slice(at, [8, 16], [0, 0])
pl.tile.write(part, [0, 0], h)
k = pl.matmul(at, bt)
r = pl.store(k, [0, 0], q)
return r
"""
    assert body_of(place(body)).count("tile.move(at") == 2


def test_an_accumulator_that_grows_is_copied_anew() -> None:
    """``matmul_acc`` writes its first operand in place: the second ``exp`` sees more than the first."""
    body = (
        OPERANDS
        + """
m = pl.matmul(at, bt)
e = pl.exp(m)
pl.store(e, [0, 0], o)
more = pl.matmul_acc(m, at, bt)
f = pl.exp(more)
r = pl.store(f, [0, 0], q)
return r
"""
    )
    assert body_of(place(body)).count("target_memory=pl.Mem.Vec") == 2


@pytest.mark.parametrize("cost", BOTH)
@pytest.mark.parametrize("kind", ["range", "parallel"])
def test_an_extract_before_a_loop_that_may_not_run_stays_before_it(cost: str, kind: str) -> None:
    """Its offset is only known at run time, so it must not be made where it was not; before the loop it was."""
    body = f"""
k = pl.tensor.read(row, [0, 0])
c: pl.Scalar[pl.INDEX] = pl.cast(k, pl.INDEX)
at = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
left = pl.tile.extract(at, 0, c, [16, 64], target_memory=pl.Mem.Left)
right = pl.move(bt, target_memory=pl.Mem.Right)
for i, (z,) in pl.{kind}(c, init_values=(o,)):
    m = pl.tile.matmul(left, right)
    r = pl.tile.store(m, [0, 0], z)
    w = pl.yield_(r)
return w
"""
    params = (
        "a: pl.Tensor[[16, 64], pl.BF16], b: pl.Tensor[[64, 32], pl.BF16], row: pl.Tensor[[1, 1], pl.INT32], "
        "o: pl.Out[pl.Tensor[[16, 32], pl.FP32]]"
    )
    result = place(kernel(body, params=params), cost=cost)
    text = body_of(result)
    assert text.index("tile.extract") < text.index("pl." + kind)
    assert result.status == "optimal"
    assert result.cost == result.reference_cost
