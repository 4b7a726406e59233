"""Valid extents: what is read, written and computed of a narrowed tile, and what lies outside."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ir.test_interp_helpers import LOAD, T, V, X, out, run
from tilesat.errors import InterpretError
from tilesat.ir.interp.junk import junk

NARROW = "pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[2, 3])]"
LOAD_NARROW = "pl.tile.load(x, [0, 0], [4, 8], [2, 3], target_memory=pl.Mem.Vec)"
JUNK = junk("FP32", (4, 8))
INSIDE = np.zeros((4, 8), bool)
INSIDE[:2, :3] = True


def widened(value: str) -> np.ndarray:
    """All of the tile ``value`` computes from the narrowed tile ``a``."""
    return out(f"""
        a: {NARROW} = {LOAD_NARROW}
        b: {NARROW} = {value}
        w: {V} = pl.tile.set_validshape(b, 4, 8)
        pl.tile.store(w, [0, 0], o)
        """)


def test_a_store_writes_only_valid_elements() -> None:
    before = np.full((4, 8), 5, np.float32)
    shown = out(
        f"""
        a: {NARROW} = {LOAD_NARROW}
        pl.tile.store(a, [1, 4], o)
        """,
        o=before,
    )
    expected = before.copy()
    expected[1:3, 4:7] = X[:2, :3]
    assert np.array_equal(shown, expected)


def test_a_narrowed_load_leaves_junk_outside() -> None:
    assert np.array_equal(widened("a"), np.where(INSIDE, X, JUNK))


def test_an_elementwise_op_leaves_junk_outside() -> None:
    assert np.array_equal(widened("pl.tile.muls(a, 2.0)"), np.where(INSIDE, 2 * X, JUNK))


def test_a_move_copies_valid_elements_and_others() -> None:
    """Setting the valid shape does not change elements, and a move copies them all."""
    shown = out(f"""
        a: {V} = {LOAD}
        n: {NARROW} = pl.tile.set_validshape(a, 2, 3)
        m: {NARROW} = pl.tile.move(n, target_memory=pl.Mem.Mat)
        w: {V} = pl.tile.set_validshape(m, 4, 8)
        pl.tile.store(w, [0, 0], o)
        """)
    assert np.array_equal(shown, X)


@pytest.mark.parametrize(("pad", "filler"), [("zero", 0), ("min", -np.inf), ("max", np.inf)])
def test_fillpad_fills_the_rest_and_makes_it_valid(pad: str, filler: float) -> None:
    shown = out(f"""
        a: {NARROW} = {LOAD_NARROW}
        b: {V} = pl.tile.fillpad(a, pad_value=pl.PadValue.{pad})
        pl.tile.store(b, [0, 0], o)
        """)
    assert np.array_equal(shown, np.where(INSIDE, X, np.float32(filler)))


def test_fillpad_expand_fills_a_larger_tile() -> None:
    shown = out(
        f"""
        a: {NARROW} = {LOAD_NARROW}
        b: pl.Tile[[5, 9], pl.FP32, pl.Mem.Vec] = pl.tile.fillpad_expand(a, [5, 9], pad_value=pl.PadValue.zero)
        pl.tile.store(b, [0, 0], o)
        """,
        f"x: {T}, o: pl.Out[pl.Tensor[[5, 9], pl.FP32]]",
    )
    assert shown.sum() == X[:2, :3].sum()


def test_reductions_read_only_valid_elements() -> None:
    shown = run(f"""
        a: {NARROW} = {LOAD_NARROW}
        t: {V} = pl.tile.create([4, 8], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        r: pl.Tile[[4, 1], pl.FP32, pl.Mem.Vec] = pl.tile.row_sum(a, t)
        c: pl.Tile[[1, 8], pl.FP32, pl.Mem.Vec] = pl.tile.col_max(a)
        return r, c
        """)
    assert np.array_equal(shown.results[0], X[:2, :3].sum(axis=1, keepdims=True))
    assert np.array_equal(shown.results[1], X[1:2, :3])


def test_products_contract_only_valid_elements() -> None:
    """[4, 8] valid [2, 3] times [8, 4] valid [3, 2]: a valid [2, 2] product over depth 3."""
    shown = run(f"""
        a: {NARROW} = {LOAD_NARROW}
        b: pl.Tile[[8, 4], pl.FP32, pl.Mem.Right] = pl.tile.transpose_view(a)
        c: pl.Tile[[4, 4], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(a, b)
        return c
        """)
    assert np.array_equal(shown.results[0], X[:2, :3] @ X[:2, :3].T)


def test_operands_with_other_extents_are_valid_where_both_are() -> None:
    shown = run(f"""
        a: {NARROW} = {LOAD_NARROW}
        b: {V} = pl.tile.load(x, [0, 0], [4, 8], [4, 2], target_memory=pl.Mem.Vec)
        c: {NARROW} = pl.tile.add(a, b)
        return c
        """)
    assert np.array_equal(shown.results[0], 2 * X[:2, :2])


def test_a_partial_op_passes_on_what_one_operand_has() -> None:
    shown = run(f"""
        a: {NARROW} = {LOAD_NARROW}
        b: {V} = {LOAD}
        c: {V} = pl.tile.part_add(a, b)
        return c
        """)
    assert np.array_equal(shown.results[0], np.where(INSIDE, 2 * X, X))


@pytest.mark.parametrize(
    "window",
    [
        "pl.tile.slice(a, [2, 4], [1, 1])",
        "pl.tile.extract(a, 1, 1, [2, 4], target_memory=pl.Mem.Vec)",
        "pl.tile.slice(a, [2, 4], [1, 1], [2, 2])",
    ],
)
def test_a_window_of_a_narrowed_tile_is_narrowed(window: str) -> None:
    shown = run(f"""
        a: {NARROW} = {LOAD_NARROW}
        b: pl.Tile[[2, 4], pl.FP32, pl.Mem.Vec] = {window}
        return b
        """)
    assert np.array_equal(shown.results[0], X[1:2, 1:3])


def test_an_extract_beyond_its_source_is_not_valid_there() -> None:
    shown = run(f"""
        a: {V} = {LOAD}
        b: pl.Tile[[4, 8], pl.FP32, pl.Mem.Left] = pl.tile.extract(a, 2, 6, [4, 8], target_memory=pl.Mem.Left)
        return b
        """)
    assert np.array_equal(shown.results[0], X[2:, 6:])


def test_assemble_copies_only_valid_elements() -> None:
    shown = out(f"""
        a: {NARROW} = {LOAD_NARROW}
        b: {V} = pl.tile.full([4, 8], dtype=pl.FP32, value=5.0)
        c: {V} = pl.tile.assemble(b, a, [2, 5])
        pl.tile.store(c, [0, 0], o)
        """)
    expected = np.full((4, 8), 5, np.float32)
    expected[2:, 5:] = X[:2, :3]
    assert np.array_equal(shown, expected)


def test_a_reshape_keeps_extents_that_stay_a_box() -> None:
    """The first three of a column are the first three of a row."""
    shown = run(
        """
        a: pl.Tile[[8, 1], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [8, 1], [3, 1], target_memory=pl.Mem.Vec)
        b: pl.Tile[[1, 8], pl.FP32, pl.Mem.Vec] = pl.tile.reshape(a, [1, 8])
        return b
        """,
        "x: pl.Tensor[[8, 1], pl.FP32]",
        x=np.arange(8, dtype=np.float32).reshape(8, 1),
    )
    assert np.array_equal(shown.results[0], [[0, 1, 2]])


def test_a_new_buffer_is_valid_as_annotated() -> None:
    """An allocation has no operands: losing the annotation of its valid shape shows."""
    shown = run(f"""
        a: {NARROW} = pl.tile.create([4, 8], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        b: {V} = pl.tile.create([4, 8], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        return a, b
        """)
    assert [result.shape for result in shown.results] == [(2, 3), (4, 8)]


def test_extents_may_be_computed_and_negative_ones_are_empty() -> None:
    subject = f"""
        live: pl.Scalar[pl.INDEX] = pl.min(k, 4)
        a: {V} = pl.tile.load(x, [0, 0], [4, 8], [live, 8], target_memory=pl.Mem.Vec)
        pl.tile.store(a, [0, 0], o)
        """
    params = f"x: {T}, k: pl.Scalar[pl.INDEX], o: pl.Out[{T}]"
    zeros = np.zeros((4, 8), np.float32)
    assert np.array_equal(out(subject, params, k=3, o=zeros)[:3], X[:3])
    assert not out(subject, params, k=-20, o=zeros).any()


# ------------------------------------------------------------------------------------- bounds


def test_a_load_may_reach_beyond_the_tensor_where_it_is_not_valid() -> None:
    shown = run(f"""
        a: {V} = pl.tile.load(x, [2, 0], [4, 8], [2, 8], target_memory=pl.Mem.Vec)
        return a
        """)
    assert np.array_equal(shown.results[0], X[2:])


def test_a_load_beyond_the_tensor_is_an_error_where_it_is_valid() -> None:
    with pytest.raises(InterpretError, match=r"elements 2 to 5 of dimension 0, which has 4"):
        run(f"a: {V} = pl.tile.load(x, [2, 0], [4, 8], [4, 8], target_memory=pl.Mem.Vec)")


def test_a_clamped_load_is_valid_only_inside_the_tensor() -> None:
    shown = run(f"""
        a: {V} = pl.tile.load(x, [2, 0], [4, 8], [4, 8], clamp=True, target_memory=pl.Mem.Vec)
        return a
        """)
    assert np.array_equal(shown.results[0], X[2:])


def test_a_store_beyond_the_tensor_is_an_error_where_the_tile_is_valid() -> None:
    with pytest.raises(InterpretError, match=r"elements 1 to 4 of dimension 0, which has 4"):
        run(f"a: {V} = {LOAD}\npl.tile.store(a, [1, 0], o)")


def test_a_slice_may_reach_beyond_its_parent_as_long_as_nothing_there_is_touched() -> None:
    tail = f"w: {T} = pl.tensor.slice(x, [4, 8], [3, 0], [k, 8])\n"
    load = f"a: {V} = pl.tile.load(w, [0, 0], [4, 8], [k, 8], target_memory=pl.Mem.Vec)\nreturn a"
    params = f"x: {T}, k: pl.Scalar[pl.INDEX]"
    assert np.array_equal(run(tail + load, params, k=1).results[0], X[3:])
    with pytest.raises(InterpretError, match="elements 0 to 1 of dimension 0, which has 1"):
        run(tail + load, params, k=2)
