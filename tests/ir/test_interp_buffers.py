"""Which names share a buffer, and which have one of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ir.test_interp_helpers import CREATE, LOAD, T, V, X, function, out, program, run
from tilesat.ir.interp import interpret
from tilesat.ir.interp.values import new_tile

STORE = "pl.tile.store(a, [0, 0], o)"


# ------------------------------------------------------------------------ tiles that share


@pytest.mark.parametrize(
    ("view", "type_", "position"),
    [
        ("a", V, "[1, 2]"),
        ("pl.tile.slice(a, [2, 4], [1, 2])", "pl.Tile[[2, 4], pl.FP32, pl.Mem.Vec]", "[0, 0]"),
        ("pl.tile.reshape(a, [8, 4])", "pl.Tile[[8, 4], pl.FP32, pl.Mem.Vec]", "[2, 2]"),
        ("pl.tile.transpose_view(a)", "pl.Tile[[8, 4], pl.FP32, pl.Mem.Vec]", "[2, 1]"),
        ("pl.tile.reinterpret_view(a, [4, 8], dtype=pl.INT32)", "pl.Tile[[4, 8], pl.INT32, pl.Mem.Vec]", "[1, 2]"),
        ("pl.tile.set_validshape(a, 2, 8)", V, "[1, 2]"),
    ],
)
def test_a_view_shares_the_buffer(view: str, type_: str, position: str) -> None:
    """Writing the view writes the tile: element [1, 2] in every case."""
    shown = out(f"""
        a: {V} = {LOAD}
        v: {type_} = {view}
        pl.tile.write(v, {position}, 0)
        {STORE}
        """)
    expected = X.copy()
    expected[1, 2] = 0
    assert np.array_equal(shown, expected)


def test_a_reshaped_window_shares_the_buffer() -> None:
    """No strides describe the columns 2 to 5 as one row; they alias all the same, in both directions."""
    shown = out(f"""
        a: {V} = {LOAD}
        w: pl.Tile[[4, 4], pl.FP32, pl.Mem.Vec] = pl.tile.slice(a, [4, 4], [0, 2])
        r: pl.Tile[[1, 16], pl.FP32, pl.Mem.Vec] = pl.tile.reshape(w, [1, 16])
        s: pl.Tile[[1, 2], pl.FP32, pl.Mem.Vec] = pl.tile.slice(r, [1, 2], [0, 5])
        pl.tile.write(s, [0, 0], -1.0)
        pl.tile.write(a, [1, 4], -2.0)
        e: pl.Scalar[pl.FP32] = pl.tile.read(s, [0, 1])
        pl.tile.write(a, [0, 0], e)
        {STORE}
        """)
    expected = X.copy()
    expected[1, 3], expected[1, 4], expected[0, 0] = -1, -2, -2
    assert np.array_equal(shown, expected)


def test_a_view_of_another_width_shares_the_buffer() -> None:
    """The upper half of a number is the second 16-bit element (little endian)."""
    shown = out(f"""
        a: {V} = {LOAD}
        v: pl.Tile[[4, 16], pl.INT16, pl.Mem.Vec] = pl.tile.reinterpret_view(a, [4, 16], dtype=pl.INT16)
        pl.tile.write(v, [0, 3], 16384)
        {STORE}
        """)
    assert shown[0, 1] == np.array([0x40000000], np.uint32).view(np.float32)[0]


def test_a_projection_of_a_tuple_shares_the_buffer() -> None:
    shown = out(f"""
        a: {V} = {LOAD}
        t: pl.Tuple[{V}, {V}] = [a, a]
        b: {V} = t[1]
        pl.tile.write(b, [0, 0], 7.0)
        {STORE}
        """)
    assert shown[0, 0] == 7


@st.composite
def view_chains(draw: st.DrawFn) -> list[tuple[str, tuple[int, ...]]]:
    """Steps that turn a [4, 6] tile into a view of a view of it: windows, reshapes, transposes."""
    shape, steps = (4, 6), []
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["window", "reshape", "transpose"]))
        if kind == "window":
            start = [draw(st.integers(0, extent - 1)) for extent in shape]
            size = [draw(st.integers(1, extent - first)) for extent, first in zip(shape, start, strict=True)]
            steps.append((kind, (*start, *size)))
            shape = (size[0], size[1])
        elif kind == "reshape":
            count = shape[0] * shape[1]
            rows = draw(st.sampled_from([n for n in range(1, count + 1) if count % n == 0]))
            shape = (rows, count // rows)
            steps.append((kind, shape))
        else:
            shape = (shape[1], shape[0])
            steps.append((kind, ()))
    return steps


def rearranged(array: np.ndarray, kind: str, how: tuple[int, ...]) -> np.ndarray:
    if kind == "window":
        return array[how[0] : how[0] + how[2], how[1] : how[1] + how[3]]
    return array.reshape(how) if kind == "reshape" else array.T


@given(view_chains())
def test_views_of_views_share_exactly_their_elements(steps: list[tuple[str, tuple[int, ...]]]) -> None:
    """Against the positions themselves: reading, and writing every second element, hits the same ones."""
    base = new_tile("FP32", np.arange(24, dtype=np.float32).reshape(4, 6))
    tile, positions = base, np.arange(24).reshape(4, 6)
    for kind, how in steps:
        positions = rearranged(positions, kind, how)
        tile = tile.alias(partial(rearranged, kind=kind, how=how), positions.shape)
    assert np.array_equal(tile.contents(), positions)
    assert np.array_equal(tile.positions(), positions)
    tile.write((slice(None), slice(0, None, 2)), np.array(-1, np.float32))
    expected = np.arange(24, dtype=np.float32)
    expected[positions[:, ::2].reshape(-1)] = -1
    assert np.array_equal(base.contents().reshape(-1), expected)


# ------------------------------------------------------------------------- tiles that do not


@pytest.mark.parametrize(
    "copy",
    [
        "pl.tile.move(a, target_memory=pl.Mem.Mat)",
        "pl.tile.extract(a, 0, 0, [4, 8], target_memory=pl.Mem.Left)",
        "pl.tile.fillpad(a)",
        "pl.tile.cast(a, target_type=pl.FP32)",
        "pl.tile.adds(a, 0.0)",
    ],
)
def test_a_copy_made_before_a_write_is_stale_after_it(copy: str) -> None:
    """And a write to the copy does not reach the original."""
    shown = run(
        f"""
        a: {V} = {LOAD}
        c: {V} = {copy}
        pl.tile.write(a, [0, 0], 7.0)
        pl.tile.write(c, [0, 1], 9.0)
        pl.tile.store(a, [0, 0], o)
        pl.tile.store(c, [0, 0], p)
        """,
        f"x: {T}, o: pl.Out[{T}], p: pl.Out[{T}]",
    )
    assert list(shown.arguments["o"][0, :2]) == [7, 1]
    assert list(shown.arguments["p"][0, :2]) == [0, 9]


def test_a_load_is_a_copy_of_the_tensor() -> None:
    shown = out(f"""
        a: {V} = {LOAD}
        pl.tensor.write(x, [0, 0], 9.0)
        {STORE}
        """)
    assert shown[0, 0] == 0


# --------------------------------------------------------------------------- ops that mutate


def test_matmul_acc_overwrites_its_accumulator() -> None:
    """The old name shows the new contents, because both are one buffer."""
    square = "pl.Tile[[4, 4], pl.FP32, pl.Mem.Acc]"
    shown = run(
        f"""
        a: pl.Tile[[4, 8], pl.FP32, pl.Mem.Left] = {LOAD}
        b: pl.Tile[[8, 4], pl.FP32, pl.Mem.Right] = pl.tile.transpose_view(a)
        first: {square} = pl.tile.matmul(a, b)
        second: {square} = pl.tile.matmul_acc(first, a, b)
        pl.tile.store(first, [0, 0], o)
        """,
        f"x: {T}, o: pl.Out[pl.Tensor[[4, 4], pl.FP32]]",
    )
    assert np.array_equal(shown.arguments["o"], 2 * X @ X.T)


@pytest.mark.parametrize("acc", ["False", "True"])
def test_matmul_acc_starts_over_when_told_to(acc: str) -> None:
    square = "pl.Tile[[4, 4], pl.FP32, pl.Mem.Acc]"
    shown = out(
        f"""
        a: pl.Tile[[4, 8], pl.FP32, pl.Mem.Left] = {LOAD}
        b: pl.Tile[[8, 4], pl.FP32, pl.Mem.Right] = pl.tile.transpose_view(a)
        zero: {square} = pl.tile.full([4, 4], dtype=pl.FP32, value=3.0)
        sum: {square} = pl.tile.matmul_acc(zero, a, b, {acc})
        pl.tile.store(sum, [0, 0], o)
        """,
        f"x: {T}, o: pl.Out[pl.Tensor[[4, 4], pl.FP32]]",
    )
    assert np.array_equal(shown, X @ X.T + (0 if acc == "True" else 3))


def test_assemble_overwrites_its_target() -> None:
    shown = out(f"""
        a: {V} = {LOAD}
        part: pl.Tile[[2, 2], pl.FP32, pl.Mem.Vec] = pl.tile.full([2, 2], dtype=pl.FP32, value=-1.0)
        b: {V} = pl.tile.assemble(a, part, [1, 3])
        {STORE}
        """)
    expected = X.copy()
    expected[1:3, 3:5] = -1
    assert np.array_equal(shown, expected)


def test_fillpad_inplace_overwrites_its_operand() -> None:
    shown = out(f"""
        a: {V} = {LOAD}
        n: pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec] = pl.tile.set_validshape(a, 2, 8)
        p: {V} = pl.tile.fillpad_inplace(n, pad_value=pl.PadValue.zero)
        {STORE}
        """)
    assert np.array_equal(shown[:2], X[:2])
    assert not shown[2:].any()


def test_a_scalar_array_is_mutated() -> None:
    shown = run(
        """
        a: pl.Array[3, pl.INT32] = pl.array.create(3, dtype=pl.INT32)
        b: pl.Array[3, pl.INT32] = pl.array.update_element(a, 1, 40)
        e: pl.Scalar[pl.INT32] = pl.array.get_element(a, 1)
        return e
        """,
        "",
    )
    assert shown.results == (40,)


# ------------------------------------------------------------------------ loops and branches


def test_an_iter_arg_is_a_copy_of_its_init() -> None:
    """The body mutates the iter-arg; the init stays, each round works on what the last one yielded."""
    shown = run(
        f"""
        a: {V} = {LOAD}
        for i, (c,) in pl.range(3, init_values=(a,)):
            s: pl.Scalar[pl.FP32] = pl.tile.read(c, [0, 0])
            pl.tile.write(c, [0, 0], s + 5.0)
            r: {V} = pl.yield_(c)
        pl.tile.store(a, [0, 0], o)
        pl.tile.store(r, [0, 0], p)
        """,
        f"x: {T}, o: pl.Out[{T}], p: pl.Out[{T}]",
    )
    assert shown.arguments["o"][0, 0] == 0
    assert shown.arguments["p"][0, 0] == 15


def test_yielding_one_tile_twice_gives_two_buffers() -> None:
    shown = run(
        f"""
        a: {V} = {LOAD}
        for i, (c, d) in pl.range(2, init_values=(a, a)):
            pl.tile.write(c, [0, 0], 5.0)
            r, s = pl.yield_(d, d)
        pl.tile.write(r, [0, 1], 9.0)
        pl.tile.store(s, [0, 0], o)
        """
    )
    assert list(shown.arguments["o"][0, :2]) == [0, 1]


def test_swapped_iter_args_do_not_run_into_each_other() -> None:
    shown = run(
        f"""
        a: {V} = {LOAD}
        b: {V} = pl.tile.neg(a)
        for i, (c, d) in pl.range(3, init_values=(a, b)):
            r, s = pl.yield_(d, c)
        pl.tile.store(r, [0, 0], o)
        pl.tile.store(s, [0, 0], p)
        """,
        f"x: {T}, o: pl.Out[{T}], p: pl.Out[{T}]",
    )
    assert np.array_equal(shown.arguments["o"], -X)
    assert np.array_equal(shown.arguments["p"], X)


def test_the_result_of_an_if_is_a_copy() -> None:
    shown = out(
        f"""
        a: {V} = {LOAD}
        if k < 1:
            r: {V} = pl.yield_(a)
        else:
            r: {V} = pl.yield_(a)
        pl.tile.write(r, [0, 0], 9.0)
        {STORE}
        """,
        f"x: {T}, k: pl.Scalar[pl.INDEX], o: pl.Out[{T}]",
        k=0,
    )
    assert shown[0, 0] == 0


# ----------------------------------------------------------------------------------- tensors


def test_tensors_are_carried_by_reference() -> None:
    """Initial value, iter-arg, result of the store and result of the loop are one buffer."""
    shown = run(
        f"""
        a: {V} = {LOAD}
        for i, (t,) in pl.range(2, init_values=(o,)):
            n: {T} = pl.tile.store(a, [0, 0], t)
            r: {T} = pl.yield_(n)
        pl.tensor.write(r, [0, 0], 9.0)
        e: pl.Scalar[pl.FP32] = pl.tensor.read(o, [0, 0])
        return r, e
        """
    )
    assert shown.results[1] == 9
    assert np.array_equal(shown.results[0], shown.arguments["o"])


def test_a_slice_of_a_tensor_sees_writes_to_it() -> None:
    shown = run(
        """
        w: pl.Tensor[[2, 4], pl.FP32] = pl.tensor.slice(x, [2, 4], [1, 2])
        v: pl.Tensor[[4, 4], pl.FP32] = pl.tensor.reshape(y, [4, 4])
        pl.tensor.write(x, [1, 2], 9.0)
        pl.tensor.write(w, [1, 1], 8.0)
        pl.tensor.write(v, [3, 3], 7.0)
        e: pl.Scalar[pl.FP32] = pl.tensor.read(w, [0, 0])
        return e
        """,
        f"x: {T}, y: pl.Tensor[[2, 8], pl.FP32]",
        y=np.zeros((2, 8), np.float32),
    )
    assert shown.results == (9,)
    assert shown.arguments["x"][2, 3] == 8
    assert shown.arguments["y"][1, 7] == 7


def test_a_callee_writes_the_buffer_it_is_given() -> None:
    """Out and InOut parameters share their argument's buffer, slices of it included."""
    subject = program(
        function(
            f"""
            a: {V} = {LOAD}
            pl.tile.store(a, [0, 0], o)
            return o
            """,
            f"x: {T}, o: pl.Out[{T}]",
            name="copy",
        ),
        function(
            f"""
            w: {T} = pl.tensor.slice(big, [4, 8], [2, 0])
            r: {T} = self.copy(x, w)
            pl.tensor.write(r, [0, 0], -1.0)
            """,
            f"x: {T}, big: pl.InOut[pl.Tensor[[6, 8], pl.FP32]]",
            kind="Orchestration",
        ),
    )
    shown = interpret(subject, "f", {"x": X, "big": np.zeros((6, 8), np.float32)}).arguments["big"]
    assert not shown[:2].any()
    assert shown[2, 0] == -1
    assert np.array_equal(shown[3:], X[1:])


def test_assembling_a_window_into_its_own_parent_changes_nothing() -> None:
    shown = run(
        f"""
        w: pl.Tensor[[2, 8], pl.FP32] = pl.tensor.slice(x, [2, 8], [1, 0])
        pl.tensor.write(w, [0, 0], 9.0)
        y: {T} = pl.tensor.assemble(x, w, [1, 0])
        return y
        """
    )
    assert shown.results[0][1, 0] == 9


def test_overlapping_arguments_stay_overlapping() -> None:
    """What a user who promises disjoint tensors must keep: here the output starts inside the input."""
    whole = np.arange(40, dtype=np.float32)
    shown = run(
        f"""
        a: {V} = {LOAD}
        pl.tile.store(a, [0, 0], o)
        b: {V} = {LOAD}
        pl.tile.store(b, [0, 0], p)
        """,
        f"x: {T}, o: pl.Out[{T}], p: pl.Out[{T}]",
        x=whole[:32].reshape(4, 8),
        o=whole[8:].reshape(4, 8),
    )
    assert np.array_equal(shown.arguments["p"][1:], X[:3])
    assert np.array_equal(whole, np.arange(40)), "the caller's arrays stay as they are"


def test_created_buffers_hold_junk_that_depends_on_shape_and_dtype_only() -> None:
    shown = run(
        f"""
        a: {V} = {CREATE}
        b: pl.Tile[[4, 8], pl.FP32, pl.Mem.Acc] = pl.tile.create([4, 8], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        c: {T} = pl.tensor.create([4, 8], dtype=pl.FP32, layout=pl.TensorLayout.ND)
        return a, b, c
        """
    )
    assert np.array_equal(shown.results[0], shown.results[1])
    assert np.array_equal(shown.results[0], shown.results[2])
    assert np.all(np.isfinite(shown.results[0]))
    assert shown.results[0].any()
    assert np.array_equal(shown.results[0], shown.arguments["o"]), "an Out argument that is not given is no other"
