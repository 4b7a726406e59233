"""Ops that are not modelled: unknown functions, and a trace of the effects nobody models."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ir.test_interp_helpers import LOAD, T, V, X, run
from tilesat.ir.interp import TraceEvent
from tilesat.ir.interp.digest import digest
from tilesat.ir.interp.values import Value, new_tensor, new_tile

MAT = V.replace("Vec", "Mat")
NARROW = "pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[2, 8])]"


def results(body: str, params: str = f"x: {T}, o: pl.Out[{T}]", **arguments: np.ndarray) -> tuple[np.ndarray, ...]:
    return run(body, params, **arguments).results


def ops(trace: tuple[TraceEvent, ...]) -> list[str]:
    return [event.op for event in trace]


# ------------------------------------------------------------------------ pure but not modelled


def test_a_pure_op_without_a_model_is_a_function_of_what_it_reads() -> None:
    """Sorting is not modelled: equal operands give equal results, other operands others. Nothing is traced."""
    sorted_ = "pl.Tile[[4, 16], pl.FP32, pl.Mem.Vec]"
    shown = run(f"""
        a: {V} = {LOAD}
        b: {V} = {LOAD}
        c: {V} = pl.tile.adds(a, 1.0)
        r: {sorted_} = pl.tile.sort32(a, a)
        s: {sorted_} = pl.tile.sort32(b, b)
        t: {sorted_} = pl.tile.sort32(c, a)
        return r, s, t
        """)
    r, s, t = shown.results
    assert np.array_equal(r, s)
    assert not np.array_equal(r, t)
    assert shown.trace == ()


def test_where_operands_and_results_live_does_not_count() -> None:
    """Neither do layouts and attributes."""
    r, s = results(f"""
        a: {V} = {LOAD}
        b: {MAT} = pl.tile.move(a, target_memory=pl.Mem.Mat)
        r: {V} = pl.tile.mgather(x, a, target_memory=pl.Mem.Vec)
        s: {MAT} = pl.tile.mgather(x, b, target_memory=pl.Mem.Mat, attrs={{"note": 1}})
        return r, s
        """)
    assert np.array_equal(r, s)


def test_other_keywords_count() -> None:
    half = "pl.Tile[[4, 4], pl.FP32, pl.Mem.Vec]"
    r, s = results(f"""
        a: {V} = {LOAD}
        r: {half} = pl.tile.gather_mask(a, mask_pattern=1)
        s: {half} = pl.tile.gather_mask(a, mask_pattern=2)
        return r, s
        """)
    assert not np.array_equal(r, s)


def test_contents_that_are_not_valid_do_not_count() -> None:
    """The tiles differ in row 3 only, which is not valid."""
    r, s, t = results(f"""
        a: {V} = {LOAD}
        b: {V} = {LOAD}
        pl.tile.write(b, [3, 0], 99.0)
        m: {NARROW} = pl.tile.set_validshape(a, 2, 8)
        n: {NARROW} = pl.tile.set_validshape(b, 2, 8)
        r: {V} = pl.tile.gatherb(m, m)
        s: {V} = pl.tile.gatherb(n, n)
        t: {V} = pl.tile.gatherb(a, n)
        return r, s, t
        """)
    assert np.array_equal(r, s)
    assert not np.array_equal(r, t)


def test_working_space_does_not_count() -> None:
    """The third operand of a gather is scratch: any tile of its type will do."""
    index = "pl.Tile[[4, 8], pl.INT32, pl.Mem.Vec]"
    r, s = results(f"""
        a: {V} = {LOAD}
        i: {index} = pl.tile.full([4, 8], dtype=pl.INT32, value=0)
        j: {index} = pl.tile.full([4, 8], dtype=pl.INT32, value=1)
        r: {V} = pl.tile.gather(a, i, i)
        s: {V} = pl.tile.gather(a, i, j)
        return r, s
        """)
    assert np.array_equal(r, s)


def test_results_of_a_tuple_are_drawn_one_by_one() -> None:
    counts = "pl.Tile[[1, 4], pl.INT32, pl.Mem.Vec]"
    r, s = results(f"""
        a: {V} = {LOAD}
        t: pl.Tuple[{counts}, {counts}] = pl.tile.gather_compare(a, 1.0, a, cmp_mode=5, offset=0, out_cols=4)
        return t[0], t[1]
        """)
    assert r.dtype == np.int32
    assert r.min() >= 0, "drawn integers can serve as positions"
    assert not np.array_equal(r, s)


def test_a_form_of_a_modelled_op_may_have_no_model() -> None:
    """Masks that are packed into fewer elements than the operands have."""
    packed = "pl.Tile[[4, 1], pl.UINT8, pl.Mem.Vec]"
    r, s = results(f"""
        a: {V} = {LOAD}
        r: {packed} = pl.tile.cmps(a, 0.0, cmp_type=4)
        s: {packed} = pl.tile.cmps(a, 0.0, cmp_type=4)
        return r, s
        """)
    assert r.shape == (4, 1)
    assert np.array_equal(r, s)


# ------------------------------------------------------------------------------------ writes


def test_an_op_that_writes_overwrites_its_argument() -> None:
    """``scatter`` reads and writes its first operand: the result is that buffer, and twice is not once."""
    index = "pl.Tile[[4, 8], pl.INT32, pl.Mem.Vec]"
    shown = run(f"""
        a: {V} = {LOAD}
        i: {index} = pl.tile.full([4, 8], dtype=pl.INT32, value=0)
        d: {V} = pl.tile.scatter(a, a, i)
        once: {V} = pl.tile.move(a, target_memory=pl.Mem.Vec)
        e: {V} = pl.tile.scatter(a, a, i)
        return a, d, e, once
        """)
    a, d, e, once = shown.results
    assert np.array_equal(a, d)
    assert np.array_equal(a, e)
    assert not np.array_equal(a, once)
    assert not np.array_equal(once, X)
    assert ops(shown.trace) == ["tile.scatter", "tile.scatter"]


def test_an_op_that_only_writes_does_not_see_the_old_contents() -> None:
    """A transfer from another rank into ``o`` and ``p``, which differ before and agree after."""
    body = "pld.tensor.get({0}, 1, x, [0, 0], [0, 0], [4, 8])"
    shown = run(
        "\n".join(body.format(name) for name in "op"),
        f"x: {T}, o: pl.InOut[{T}], p: pl.InOut[{T}]",
        o=np.zeros_like(X),
        p=np.ones_like(X),
    )
    assert np.array_equal(shown.arguments["o"], shown.arguments["p"])
    assert shown.arguments["o"].any()


def test_an_atomic_transfer_adds_to_the_old_contents() -> None:
    body = "pld.tensor.put({0}, 1, x, [0, 0], [0, 0], [4, 8], atomic=1)"
    shown = run(
        "\n".join(body.format(name) for name in "op"),
        f"x: {T}, o: pl.InOut[{T}], p: pl.InOut[{T}]",
        o=np.zeros_like(X),
        p=np.ones_like(X),
    )
    assert not np.array_equal(shown.arguments["o"], shown.arguments["p"])


# ------------------------------------------------------------------------------------- trace


def test_effects_without_a_model_are_traced_in_order_with_what_they_saw() -> None:
    shown = run(f"""
        a: {V} = {LOAD}
        pl.tile.tpush_to_aic(a, split=0)
        pl.system.bar_all()
        pl.tile.tpush_to_aic(a, split=0)
        pl.tile.write(a, [0, 0], 9.0)
        pl.tile.tpush_to_aic(a, split=0)
        """)
    assert ops(shown.trace) == ["tile.tpush_to_aic", "system.bar_all", "tile.tpush_to_aic", "tile.tpush_to_aic"]
    first, _, second, third = shown.trace
    assert first == second
    assert first != third


def test_pops_differ_from_each_other() -> None:
    shown = run(f"""
        a: {V} = pl.tile.tpop_from_aic(split=0)
        b: {V} = pl.tile.tpop_from_aic(split=0)
        return a, b
        """)
    assert not np.array_equal(*shown.results)
    assert len(shown.trace) == 2


def test_an_op_the_table_lacks_is_traced_and_writes_nothing() -> None:
    shown = run(f"""
        a: {V} = {LOAD}
        b: {V} = pl.tile.frobnicate(a, 3)
        pl.tile.store(a, [0, 0], o)
        """)
    assert ops(shown.trace) == ["tile.frobnicate"]
    assert np.array_equal(shown.arguments["o"], X)


def test_statements_that_are_not_modelled_are_traced_with_the_values_they_name() -> None:
    """By value: the names do not matter."""
    text = "{0}: {1} = {2}\nwith magic({0}):\n    pass\n"
    one, two, other = (
        run(text.format(name, V, value)).trace
        for name, value in (("a", LOAD), ("b", LOAD), ("a", "pl.tile.full([4, 8], dtype=pl.FP32, value=0.0)"))
    )
    assert ops(one) == ["opaque statement"]
    assert one == two
    assert one != other


def test_expressions_that_are_not_modelled_are_functions_of_the_values_they_name() -> None:
    shown = run(
        """
        a: pl.Scalar[pl.INDEX] = magic[k]
        b: pl.Scalar[pl.INDEX] = magic[j]
        return a == b
        """,
        "k: pl.Scalar[pl.INDEX], j: pl.Scalar[pl.INDEX]",
        k=2,
        j=2,
    )
    assert shown.results == (True,)
    assert shown.trace == ()


# ------------------------------------------------------------------------------------ digests


@pytest.mark.parametrize(
    ("one", "other"), [(np.float32(0.0), np.float32(-0.0)), (np.float32(np.nan), -np.float32(np.nan)), (0.0, -0.0)]
)
def test_digests_know_one_zero_and_one_nan(one: np.float32, other: np.float32) -> None:
    assert digest(one) == digest(other)
    if isinstance(one, np.float32):
        assert digest(new_tile("FP32", np.full((2, 2), one))) == digest(new_tile("FP32", np.full((2, 2), other)))


def test_digests_tell_kinds_types_and_structure_apart() -> None:
    zeros = np.zeros((2, 2), np.float32)
    values: list[Value] = [
        new_tile("FP32", zeros),
        new_tensor("FP32", zeros),
        new_tile("INT32", zeros.astype(np.int32)),
        new_tile("FP32", zeros.reshape(1, 4)),
        0,
        False,
        0.0,
        "",
        None,
        (),
        ((),),
        (0, 0),
        ((0,), 0),
    ]
    assert len({digest(value) for value in values}) == len(values)
