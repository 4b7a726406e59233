"""Equal loads, moves of the user, what nobody needs, carried slots, and what a user may allow."""

from __future__ import annotations

import pytest

import tilesat
from tests.inference.texts import body_of, kernel
from tests.optimal.texts import OPERANDS, PLAIN, STAGED, becomes, place, stays

# ------------------------------------------------------------------------------- equal loads


def test_equal_loads_are_one() -> None:
    """Nobody writes in between."""
    becomes(
        """
first = pl.load(x, [0, 0], [16, 32])
again = pl.load(x, [0, 0], [16, 32])
e = pl.add(first, again)
r = pl.store(e, [0, 0], o)
return r
""",
        """
first = pl.load(x, [0, 0], [16, 32])
e = pl.add(first, first)
r = pl.store(e, [0, 0], o)
return r
""",
    )


def test_a_load_in_a_loop_uses_the_equal_one_before_it() -> None:
    body = """
first = pl.load(x, [0, 0], [16, 32])
pl.store(first, [0, 0], q)
for i in pl.range(4):
    again = pl.load(x, [0, 0], [16, 32])
    pl.store(again, [0, 0], o)
return o
"""
    # The stores may write what the load reads, for all that is known; then the loads differ.
    assert body_of(place(body)).count("tile.load") == 2
    assert body_of(place(body, hardware="910b", options=["assume_noalias"])).count("tile.load") == 1


@pytest.mark.parametrize(
    "between",
    ["o1 = pl.store(e, [0, 0], o)", "pl.store(e, [0, 0], x)", "pl.tile.write(first, [0, 0], s)", "pl.system.bar_all()"],
)
def test_a_write_or_barrier_between_keeps_both_loads(between: str) -> None:
    """To a tensor that may overlap, to the tensor itself, to the loaded tile; and whatever a barrier waits for."""
    body = f"""
first = pl.load(x, [0, 0], [16, 32])
e = pl.exp(first)
{between}
again = pl.load(x, [0, 0], [16, 32])
f = pl.add(e, again)
r = pl.store(f, [0, 0], o)
return r
"""
    assert body_of(place(body)).count("tile.load") == 2


def test_with_a_promise_only_writes_to_the_tensor_itself_count() -> None:
    """Option ``assume_noalias``: distinct parameters do not overlap."""
    body = """
first = pl.load(x, [0, 0], [16, 32])
e = pl.exp(first)
o1 = pl.store(e, [0, 0], {written})
again = pl.load(x, [0, 0], [16, 32])
f = pl.add(e, again)
r = pl.store(f, [0, 0], q)
return r
"""
    for written, loads in (("o", 1), ("x", 2)):
        result = tilesat.infer_tile_memory_space(
            kernel(body.format(written=written)), rules="optimal", options=["assume_noalias"]
        )
        assert body_of(result).count("tile.load") == loads


def test_different_windows_are_different_loads() -> None:
    stays(
        """
first = pl.load(x, [0, 0], [16, 16])
other = pl.load(x, [0, 16], [16, 16])
e = pl.add(first, other)
r = pl.store(e, [0, 0], o)
return r
"""
    )


def test_copies_of_equal_loads_are_one_too() -> None:
    becomes(
        OPERANDS
        + """
same = pl.load(a, [0, 0], [16, 64], target_memory=pl.Mem.Mat)
m = pl.matmul(at, bt)
k = pl.matmul(same, bt)
t = pl.add(m, k)
r = pl.store(t, [0, 0], o)
return r
""",
        OPERANDS
        + STAGED
        + f"""
m = pl.matmul(at_Left, bt_Right)
k = pl.matmul(at_Left, bt_Right)
m_Vec = pl.move(m, target_memory=pl.Mem.Vec, {PLAIN})
k_Vec = pl.move(k, target_memory=pl.Mem.Vec, {PLAIN})
t = pl.add(m_Vec, k_Vec)
r = pl.store(t, [0, 0], o)
return r
""",
    )


# ------------------------------------------------------------------- what the input has already


def test_the_users_move_serves_all_who_need_such_a_copy() -> None:
    becomes(
        OPERANDS
        + """
mine = pl.move(at, target_memory=pl.Mem.Left)
m = pl.matmul(at, bt)
k = pl.matmul(mine, bt)
r = pl.store(m, [0, 0], o)
z = pl.store(k, [0, 0], q)
return r, z
""",
        OPERANDS
        + """
mine = pl.move(at, target_memory=pl.Mem.Left)
bt_Right = pl.move(bt, target_memory=pl.Mem.Right)
m = pl.matmul(mine, bt_Right)
k = pl.matmul(mine, bt_Right)
r = pl.store(m, [0, 0], o)
z = pl.store(k, [0, 0], q)
return r, z
""",
    )


def test_what_nobody_needs_is_left_out() -> None:
    """Moves, loads and pure computations without a reader, one behind the other."""
    becomes(
        OPERANDS
        + """
unused = pl.move(at, target_memory=pl.Mem.Left)
xt = pl.load(x, [0, 0], [16, 32])
dead = pl.exp(xt)
deader = pl.add(dead, xt)
m = pl.matmul(at, bt)
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


def test_effects_stay_whether_or_not_their_results_are_read() -> None:
    """A store's result may be unused; a write has none. Design, section 7."""
    stays(
        """
xt = pl.load(x, [0, 0], [16, 32])
pl.tile.write(xt, [0, 0], s)
unused = pl.store(xt, [0, 0], q)
return o
"""
    )


def test_a_move_that_changes_nothing_is_dropped() -> None:
    becomes(
        """
xt = pl.load(x, [0, 0], [16, 32])
same = pl.move(xt, target_memory=pl.Mem.Vec)
e = pl.exp(same)
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


def test_a_move_that_keeps_the_old_contents_is_not_dropped() -> None:
    """It is a snapshot: the tile is written afterwards, and both are read."""
    stays(
        """
xt = pl.load(x, [0, 0], [16, 32])
before = pl.move(xt, target_memory=pl.Mem.Vec)
pl.tile.write(xt, [0, 0], s)
e = pl.add(before, xt)
r = pl.store(e, [0, 0], o)
return r
"""
    )


# ------------------------------------------------------------------------------------- slots


def test_a_branch_result_lives_where_that_is_cheapest() -> None:
    """Both arms produce in Acc, the store reads Acc: nothing moves. INF-P1-12."""
    result = place(
        OPERANDS
        + """
if n == 0:
    m = pl.matmul(at, bt)
    w = pl.yield_(m)
else:
    k = pl.matmul(at, bt)
    w = pl.yield_(k)
r = pl.store(w, [0, 0], o)
return r
"""
    )
    assert "Mem.Vec" not in body_of(result)


def test_arms_that_differ_meet_where_both_can_be() -> None:
    """Case I13: Acc and Vec meet in Vec, by one move in the arm that computes on the cube."""
    result = place(
        OPERANDS
        + """
xt = pl.load(x, [0, 0], [16, 32])
if n == 0:
    m = pl.matmul(at, bt)
    w = pl.yield_(m)
else:
    e = pl.exp(xt)
    w = pl.yield_(e)
f = pl.exp(w)
r = pl.store(f, [0, 0], o)
return r
"""
    )
    body = body_of(result)
    assert body.count("target_memory=pl.Mem.Vec, blayout") == 1
    assert body.index("if n") < body.index("target_memory=pl.Mem.Vec, blayout") < body.index("else")


# ----------------------------------------------------------------------------------- options


WRITTEN_TARGETS = """
at = pl.load(a, [0, 0], [16, 64], target_memory=pl.Mem.Vec)
bt = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Vec)
m = pl.matmul(at, bt)
r = pl.store(m, [0, 0], o)
return r
"""


def test_what_the_text_says_of_a_load_is_respected() -> None:
    """Case I02: the loads stay in Vec, and the operands are pushed. INF-P1-04."""
    assert body_of(place(WRITTEN_TARGETS)).count("target_memory=pl.Mem.Vec)") == 2


def test_unless_the_user_allows_otherwise() -> None:
    """Option ``retarget_loads``: case I02 stays on the cube. INF-P3-04."""
    becomes(
        WRITTEN_TARGETS,
        OPERANDS + STAGED + "m = pl.matmul(at_Left, bt_Right)\nr = pl.store(m, [0, 0], o)\nreturn r",
        options=["retarget_loads"],
    )


def test_an_unknown_option_and_one_without_effect_are_refused() -> None:
    program = kernel(WRITTEN_TARGETS)
    with pytest.raises(tilesat.RuleError, match="unknown option 'retarget'"):
        tilesat.infer_tile_memory_space(program, rules="optimal", options=["retarget"])
    with pytest.raises(tilesat.RuleError, match="places nothing"):
        tilesat.infer_tile_memory_space(program, rules="reference", options=["retarget_loads"])
