"""The space of if results, and of what branches hand on to slots (INF-P1-12): programs before and after."""

from __future__ import annotations

from tests.inference.cube import ACC, BACK, TILE, VEC, cube
from tests.inference.texts import annotations, becomes, body_of, infer, unchanged
from tests.inference.wishes import READS_ANYTHING_ACC, reference_with

# ------------------------------------------------------------------------------- INF-P1-12


def test_branches_that_agree() -> None:
    """INF-P1-12: also when the declared type says otherwise, and for an iter-arg in one arm."""
    becomes(
        cube(
            f"""
            z: {TILE} = pl.tile.create([16, 32], dtype=pl.FP32)
            for i, (acc,) in pl.range(4, init_values=(z,)):
                if i == 0:
                    m1: {TILE} = pl.tile.matmul(lt, rt)
                    m: {VEC} = pl.yield_(m1)
                else:
                    m2: {TILE} = pl.tile.matmul_acc(acc, lt, rt)
                    m: {VEC} = pl.yield_(m2)
                last: {VEC} = pl.yield_(m)
            r = pl.store(last, [0, 0], o)
            return r
            """
        ),
        cube(
            f"""
            z: {ACC} = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
            for i, (acc,) in pl.range(4, init_values=(z,)):
                if i == 0:
                    m1: {ACC} = pl.tile.matmul(lt, rt)
                    m: {ACC} = pl.yield_(m1)
                else:
                    m2: {ACC} = pl.tile.matmul_acc(acc, lt, rt)
                    m: {ACC} = pl.yield_(m2)
                last: {ACC} = pl.yield_(m)
            r = pl.store(last, [0, 0], o)
            return r
            """
        ),
    )


def test_a_branch_that_keeps_the_carry() -> None:
    """INF-P1-12: the arm with the product decides, the other only hands on the iter-arg."""
    found = annotations(
        infer(
            cube(
                f"""
                z: {TILE} = pl.tile.create([16, 32], dtype=pl.FP32)
                for i, (acc,) in pl.range(4, init_values=(z,)):
                    if i == n:
                        m: {TILE} = pl.yield_(acc)
                    else:
                        m1: {TILE} = pl.tile.matmul_acc(acc, lt, rt)
                        m: {TILE} = pl.yield_(m1)
                    last: {TILE} = pl.yield_(m)
                return o
                """
            )
        )
    )
    assert found["z"] == found["m"] == found["last"] == ACC


def test_branches_that_differ_meet_in_vec() -> None:
    """INF-P1-12: the peer leaves the result alone and its program falls apart; Vec is reached from everywhere."""
    becomes(
        cube(
            f"""
            t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
            if n > 0:
                m1: {TILE} = pl.tile.matmul(lt, rt)
                m: {TILE} = pl.yield_(m1)
            else:
                m: {TILE} = pl.yield_(t)
            r = pl.store(m, [0, 0], o)
            return r
            """
        ),
        cube(
            f"""
            t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
            if n > 0:
                m1: {ACC} = pl.tile.matmul(lt, rt)
                m1_Vec: {VEC} = pl.tile.move(m1, target_memory=pl.Mem.Vec, {BACK})
                m: {VEC} = pl.yield_(m1_Vec)
            else:
                m: {VEC} = pl.yield_(t)
            r = pl.store(m, [0, 0], o)
            return r
            """
        ),
    )


def test_branches_that_hand_on_different_carries_meet_in_vec() -> None:
    """INF-P1-12: both arms only hand on iter-args, of a slot in Vec and one in Acc."""
    becomes(
        cube(
            f"""
            t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
            m: {TILE} = pl.tile.matmul(lt, rt)
            for i, (c, d) in pl.range(2, init_values=(t, m)):
                if i == 0:
                    g: {TILE} = pl.yield_(c)
                else:
                    g: {TILE} = pl.yield_(d)
                c1, d1 = pl.yield_(g, d)
            r = pl.store(c1, [0, 0], o)
            return r
            """
        ),
        cube(
            f"""
            t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
            m: {ACC} = pl.tile.matmul(lt, rt)
            for i, (c, d) in pl.range(2, init_values=(t, m)):
                if i == 0:
                    g: {VEC} = pl.yield_(c)
                else:
                    d_Vec: {VEC} = pl.tile.move(d, target_memory=pl.Mem.Vec, {BACK})
                    g: {VEC} = pl.yield_(d_Vec)
                c1, d1 = pl.yield_(g, d)
            r = pl.store(c1, [0, 0], o)
            return r
            """
        ),
    )


def test_a_branch_without_values_has_nothing_to_agree_on() -> None:
    """INF-P1-12."""
    unchanged(
        """
        t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
        if n > 0:
            pl.tile.write(t, [0, 0], s)
        r = pl.store(t, [0, 0], o)
        return r
        """
    )


def test_a_seed_for_two_slots_is_created_twice() -> None:
    """INF-P1-10 (case I67): one empty tile cannot be in two spaces; nobody reads it before it is written."""
    result = infer(
        cube(
            f"""
            t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
            z: {TILE} = pl.tile.create([16, 32], dtype=pl.FP32)
            for i, (acc,) in pl.range(2, init_values=(z,)):
                m: {TILE} = pl.tile.matmul_acc(acc, lt, rt)
                last: {TILE} = pl.yield_(m)
            for j, (c,) in pl.range(2, init_values=(z,)):
                g: {TILE} = pl.tile.add(t, t)
                last2: {TILE} = pl.yield_(g)
            r = pl.store(last, [0, 0], o)
            r2 = pl.store(last2, [0, 0], q)
            return r, r2
            """
        )
    )
    assert body_of(result).count("pl.tile.create(") == 2
    assert annotations(result)["z_Acc"] == ACC
    assert annotations(result)["z"] == VEC


def test_a_reader_does_not_move_a_carry() -> None:
    """INF-P1-10: what is yielded counts, not who reads it; what no chip can do is said."""
    result = infer(
        f"""
        z: {VEC} = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
        for i, (c,) in pl.range(2, init_values=(z,)):
            e: {TILE} = pl.tile.exp(c)
            last: {TILE} = pl.yield_(e)
        u: {TILE} = pl.tile.sink(last)
        return o
        """,
        rules=reference_with(READS_ANYTHING_ACC),
    )
    assert annotations(result)["last"] == VEC
    assert [d.check for d in result.diagnostics if d.check == "impossible-move"] == ["impossible-move"]
