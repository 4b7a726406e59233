"""Phase 1 over loops: one space for all that flows into one variable (INF-P1-10, -11)."""

from __future__ import annotations

import pytest

from tests.inference.cube import ACC, BACK, TILE, VEC, cube
from tests.inference.texts import annotations, becomes, body_of, infer, unchanged
from tilesat.extract.decided import Premises
from tilesat.ir_terms.egraph import EGraph
from tilesat.ir_terms.encode import Rows

# ------------------------------------------------------------------------------- INF-P1-10


@pytest.mark.parametrize("keyword", ["", ", target_memory=pl.Mem.Vec"], ids=["open", "Vec by default"])
def test_the_accumulator_pattern(keyword: str) -> None:
    """INF-P1-10, INF-P3-04: result, iter-arg, init variable and the create beneath it take the yielded space."""
    becomes(
        cube(
            f"""
            z: {TILE} = pl.tile.create([16, 32], dtype=pl.FP32{keyword})
            for i, (acc,) in pl.range(4, init_values=(z,)):
                m: {TILE} = pl.tile.matmul_acc(acc, lt, rt)
                last: {TILE} = pl.yield_(m)
            r = pl.store(last, [0, 0], o)
            return r
            """
        ),
        cube(
            f"""
            z: {ACC} = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
            for i, (acc,) in pl.range(4, init_values=(z,)):
                m: {ACC} = pl.tile.matmul_acc(acc, lt, rt)
                last: {ACC} = pl.yield_(m)
            r = pl.store(last, [0, 0], o)
            return r
            """
        ),
    )


@pytest.mark.parametrize("loop", ["pl.parallel(4", "pl.pipeline(4, stage=2", "pl.range(0, n, 2"])
def test_any_kind_of_loop(loop: str) -> None:
    """INF-P1-10."""
    found = annotations(
        infer(
            cube(
                f"""
                z: {TILE} = pl.tile.create([16, 32], dtype=pl.FP32)
                for i, (acc,) in {loop}, init_values=(z,)):
                    m: {TILE} = pl.tile.matmul_acc(acc, lt, rt)
                    last: {TILE} = pl.yield_(m)
                return o
                """
            )
        )
    )
    assert found["z"] == found["m"] == found["last"] == ACC


def test_a_while_loop() -> None:
    """INF-P1-10, design section 7: the peer leaves while loops alone; their carries need a space like others."""
    becomes(
        cube(
            f"""
            z: {TILE} = pl.tile.create([16, 32], dtype=pl.FP32)
            for (acc, k) in pl.while_(init_values=(z, n)):
                pl.cond(k > 0)
                m: {TILE} = pl.tile.matmul_acc(acc, lt, rt)
                j = k - 1
                last, rest = pl.yield_(m, j)
            e: {TILE} = pl.tile.exp(last)
            r = pl.store(e, [0, 0], o)
            return r
            """
        ),
        cube(
            f"""
            z: {ACC} = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
            for (acc, k) in pl.while_(init_values=(z, n)):
                pl.cond(k > 0)
                m: {ACC} = pl.tile.matmul_acc(acc, lt, rt)
                j = k - 1
                last, rest = pl.yield_(m, j)
            last_Vec: {VEC} = pl.tile.move(last, target_memory=pl.Mem.Vec, {BACK})
            e: {VEC} = pl.tile.exp(last_Vec)
            r = pl.store(e, [0, 0], o)
            return r
            """
        ),
    )


def test_nested_loops_carry_one_accumulator() -> None:
    """INF-P1-10, INF-P1-11: the outer iter-arg is the inner init (case I17)."""
    found = annotations(
        infer(
            cube(
                f"""
                z: {TILE} = pl.tile.create([16, 32], dtype=pl.FP32)
                for i, (outer,) in pl.range(2, init_values=(z,)):
                    for j, (acc,) in pl.range(2, init_values=(outer,)):
                        m: {TILE} = pl.tile.matmul_acc(acc, lt, rt)
                        inner: {TILE} = pl.yield_(m)
                    last: {TILE} = pl.yield_(inner)
                return o
                """
            )
        )
    )
    assert found["z"] == found["m"] == found["inner"] == found["last"] == ACC


def test_views_and_aliases_between_create_and_loop_follow() -> None:
    """INF-P1-10, design section 7: a view computed before the carry was promoted goes with it."""
    becomes(
        cube(
            f"""
            z: pl.Tile[[32, 16], pl.FP32] = pl.tile.create([32, 16], dtype=pl.FP32)
            v: {TILE} = pl.tile.reshape(z, [16, 32])
            v2: {TILE} = v
            for i, (acc,) in pl.range(4, init_values=(v2,)):
                m: {TILE} = pl.tile.matmul_acc(acc, lt, rt)
                last: {TILE} = pl.yield_(m)
            r = pl.store(last, [0, 0], o)
            return r
            """
        ),
        cube(
            f"""
            z: pl.Tile[[32, 16], pl.FP32, pl.Mem.Acc] = pl.tile.create(
                [32, 16], dtype=pl.FP32, target_memory=pl.Mem.Acc)
            v: {ACC} = pl.tile.reshape(z, [16, 32])
            v2: {ACC} = v
            for i, (acc,) in pl.range(4, init_values=(v2,)):
                m: {ACC} = pl.tile.matmul_acc(acc, lt, rt)
                last: {ACC} = pl.yield_(m)
            r = pl.store(last, [0, 0], o)
            return r
            """
        ),
    )


def test_an_if_result_as_init_takes_its_arms_along() -> None:
    """INF-P1-10: the init is never assigned by a statement of its own; both arms create it in Acc."""
    becomes(
        cube(
            f"""
            if n > 0:
                z1: {TILE} = pl.tile.create([16, 32], dtype=pl.FP32)
                z: {TILE} = pl.yield_(z1)
            else:
                z2: {TILE} = pl.tile.create([16, 32], dtype=pl.FP32)
                z: {TILE} = pl.yield_(z2)
            for i, (acc,) in pl.range(4, init_values=(z,)):
                m: {TILE} = pl.tile.matmul_acc(acc, lt, rt)
                last: {TILE} = pl.yield_(m)
            r = pl.store(last, [0, 0], o)
            return r
            """
        ),
        cube(
            f"""
            if n > 0:
                z1: {ACC} = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
                z: {ACC} = pl.yield_(z1)
            else:
                z2: {ACC} = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
                z: {ACC} = pl.yield_(z2)
            for i, (acc,) in pl.range(4, init_values=(z,)):
                m: {ACC} = pl.tile.matmul_acc(acc, lt, rt)
                last: {ACC} = pl.yield_(m)
            r = pl.store(last, [0, 0], o)
            return r
            """
        ),
    )


def test_a_load_as_init_lands_where_the_slot_lives() -> None:
    """INF-P1-10, INF-P3-04: in Mat, which global memory reaches; the keyword says Vec and is rewritten."""
    becomes(
        """
        z = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
        for i, (c,) in pl.range(2, init_values=(z,)):
            g = pl.tile.load(y, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
            last: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.yield_(g)
        v = pl.tile.slice(last, [16, 16], [0, 0])
        return o
        """,
        """
        z = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        for i, (c,) in pl.range(2, init_values=(z,)):
            g = pl.tile.load(y, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
            last: pl.Tile[[16, 32], pl.FP32, pl.Mem.Mat] = pl.yield_(g)
        v = pl.tile.slice(last, [16, 16], [0, 0])
        return o
        """,
    )


def test_an_init_that_others_read_where_it_is_gets_a_copy() -> None:
    """INF-P1-10, INF-P2-01: the slot is in Vec, its init is a Mat tile that something else reads."""
    becomes(
        """
        z = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        for i, (c,) in pl.range(2, init_values=(z,)):
            g = pl.tile.load(y, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
            last: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.yield_(g)
        v = pl.tile.transpose_view(z)
        r = pl.store(last, [0, 0], o)
        return r
        """,
        """
        z = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        z_Vec = pl.tile.move(z, target_memory=pl.Mem.Vec)
        for i, (c,) in pl.range(2, init_values=(z_Vec,)):
            g = pl.tile.load(y, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
            last: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.yield_(g)
        v = pl.tile.transpose_view(z)
        r = pl.store(last, [0, 0], o)
        return r
        """,
    )


def test_a_carry_passed_through_keeps_its_space() -> None:
    """INF-P1-10, design section 7 (case I16)."""
    found = annotations(
        infer(
            cube(
                f"""
                m: {TILE} = pl.tile.matmul(lt, rt)
                for i, (c,) in pl.range(4, init_values=(m,)):
                    last: {TILE} = pl.yield_(c)
                v: {TILE} = pl.tile.reshape(last, [16, 32])
                r = pl.store(v, [0, 0], o)
                return r
                """
            )
        )
    )
    assert found["last"] == found["v"] == ACC


def test_slots_that_exchange_their_values_meet_in_vec() -> None:
    """INF-P1-10: neither slot knows its space from the body; nothing leads back to Acc, so the product moves once."""
    becomes(
        cube(
            f"""
            t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
            m: {TILE} = pl.tile.matmul(lt, rt)
            for i, (c, d) in pl.range(3, init_values=(t, m)):
                c1, d1 = pl.yield_(d, c)
            r = pl.store(c1, [0, 0], o)
            return r
            """
        ),
        cube(
            f"""
            t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
            m: {ACC} = pl.tile.matmul(lt, rt)
            m_Vec: {VEC} = pl.tile.move(m, target_memory=pl.Mem.Vec, {BACK})
            for i, (c, d) in pl.range(3, init_values=(t, m_Vec)):
                c1, d1 = pl.yield_(d, c)
            r = pl.store(c1, [0, 0], o)
            return r
            """
        ),
    )


def test_slots_that_exchange_values_of_one_space_stay() -> None:
    """INF-P1-10: the counterpart."""
    unchanged(
        cube(
            """
            m = pl.tile.matmul(lt, rt)
            k = pl.tile.matmul(lt, rt)
            for i, (c, d) in pl.range(3, init_values=(m, k)):
                c1, d1 = pl.yield_(d, c)
            r = pl.store(c1, [0, 0], o)
            return r
            """
        )
    )


def test_a_scalar_and_a_tensor_carry_are_left_alone() -> None:
    """INF-P1-10: only tiles have a space (case I53)."""
    unchanged(
        """
        t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
        for i, (k, c, out) in pl.range(4, init_values=(n, t, o)):
            e = pl.tile.exp(c)
            g = pl.store(e, [0, 0], out)
            j = k + 1
            k1, c1, o1 = pl.yield_(j, e, g)
        return o1
        """
    )


@pytest.mark.parametrize("other", ["e = pl.tile.exp(z)\nr = pl.store(e, [0, 0], o)", "r = pl.store(z, [0, 0], o)"])
def test_a_filled_seed_that_is_read_elsewhere_stays_where_it_is(other: str) -> None:
    """INF-P1-10: no move leads from Vec to Acc, so the product is added in Vec instead (case I14)."""
    result = infer(
        cube(
            f"""
            z: {TILE} = pl.tile.full([16, 32], dtype=pl.FP32, value=0.0)
            for i, (acc,) in pl.range(4, init_values=(z,)):
                m: {TILE} = pl.tile.matmul_acc(acc, lt, rt)
                last: {TILE} = pl.yield_(m)
            {other.replace(chr(10), chr(10) + " " * 12)}
            r2 = pl.store(last, [0, 0], q)
            return r, r2
            """
        )
    )
    assert annotations(result)["last"] == VEC
    assert [d.check for d in result.diagnostics if d.check == "split-accumulate"] == ["split-accumulate"]


@pytest.mark.parametrize("links", [1, 4])
def test_splits_that_follow_from_each_other_are_found_at_once(links: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """INF-P2-01: a sum in Vec is the accumulator of the next call; the analysis is repeated once, not once a link."""
    rounds: list[Premises] = []
    learn = Premises.learn

    def counted(premises: Premises, graph: EGraph, facts: Rows) -> bool:
        rounds.append(premises)
        return learn(premises, graph, facts)

    monkeypatch.setattr(Premises, "learn", counted)
    chain = [f"m{k + 1}: {TILE} = pl.tile.matmul_acc(m{k}, lt, rt)" for k in range(links)]
    seed = f"m0: {TILE} = pl.tile.full([16, 32], dtype=pl.FP32, value=1.0)"
    result = infer(cube("\n".join([seed, *chain, f"r = pl.store(m{links}, [0, 0], o)", "return r"])))
    assert [annotations(result)[f"m{k}"] for k in range(1, links + 1)] == [VEC] * links
    assert len(rounds) == 2


# ------------------------------------------------------------------------------- INF-P1-11


def test_an_iter_arg_lives_where_its_init_does_until_more_is_known() -> None:
    """INF-P1-11: what inherits from a carried Mat scratch stays in Mat (case I19), also nested."""
    unchanged(
        cube(
            """
            z = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Mat)
            for i, (outer,) in pl.range(2, init_values=(z,)):
                for j, (box,) in pl.range(0, 64, 32, init_values=(outer,)):
                    m = pl.tile.matmul(lt, rt)
                    put = pl.tile.assemble(box, m, [0, j])
                    inner = pl.yield_(put)
                last = pl.yield_(inner)
            v = pl.tile.slice(last, [16, 32], [0, 0])
            return o
            """
        )
    )


def test_a_view_of_an_iter_arg_follows_what_is_yielded() -> None:
    """INF-P1-11: once the yielded space is known, what was computed from the guess is computed again."""
    result = infer(
        cube(
            f"""
            z: {TILE} = pl.tile.create([16, 32], dtype=pl.FP32)
            for i, (acc,) in pl.range(4, init_values=(z,)):
                v: pl.Tile[[32, 16], pl.FP32] = pl.tile.reshape(acc, [32, 16])
                u: {TILE} = pl.tile.reshape(v, [16, 32])
                m: {TILE} = pl.tile.matmul_acc(u, lt, rt)
                last: {TILE} = pl.yield_(m)
            r = pl.store(last, [0, 0], o)
            return r
            """
        )
    )
    assert annotations(result)["u"] == ACC
    assert "pl.Mem.Acc" in annotations(result)["v"]
    assert "tile.move(u" not in body_of(result)
