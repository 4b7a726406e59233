"""Every family of modelled ops against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ir.test_interp_helpers import LOAD, T, V, X, out, run
from tilesat.ir.interp import is_modelled
from tilesat.ir.ops import op_table

A: np.ndarray = X / 8 - 2
B: np.ndarray = np.roll(X, 5) / 4 + 1
COLUMN = "pl.Tile[[4, 1], pl.FP32, pl.Mem.Vec]"
ROW = "pl.Tile[[1, 8], pl.FP32, pl.Mem.Vec]"


def computed(value: str, type_: str = V) -> np.ndarray:
    """A value of tiles ``a`` and ``b``, column ``col`` = first of ``b``, row ``row`` = last of ``b``."""
    shown: np.ndarray = run(
        f"""
        a: {V} = {LOAD}
        b: {V} = pl.tile.load(y, [0, 0], [4, 8], [4, 8], target_memory=pl.Mem.Vec)
        col: {COLUMN} = pl.tile.slice(b, [4, 1], [0, 0])
        row: {ROW} = pl.tile.slice(b, [1, 8], [3, 0])
        r: {type_} = pl.tile.{value}
        return r
        """,
        f"x: {T}, y: {T}",
        x=A,
        y=B,
    ).results[0]
    return shown


F32 = np.float32
ELEMENTWISE = {
    "add(a, b)": A + B,
    "sub(a, b)": A - B,
    "mul(a, b)": A * B,
    "div(a, b)": A / B,
    "maximum(a, b)": np.maximum(A, B),
    "minimum(a, b)": np.minimum(A, B),
    "rem(a, b, b)": np.remainder(A, B),
    "fmod(a, b)": np.fmod(A, B),
    "adds(a, 1.5)": A + F32(1.5),
    "subs(a, 1.5)": A - F32(1.5),
    "muls(a, 1.5)": A * F32(1.5),
    "divs(a, 1.5)": A / F32(1.5),
    "divs(1.5, b)": F32(1.5) / B,
    "maximums(a, 0.0)": np.maximum(A, 0),
    "minimums(a, 0.0)": np.minimum(A, 0),
    "rems(a, 1.5, b)": np.remainder(A, F32(1.5)),
    "fmods(a, 1.5)": np.fmod(A, F32(1.5)),
    "addc(a, b, a)": A + B + A,
    "subc(a, b, a)": A - B + A,
    "addsc(a, 1.5, b)": A + F32(1.5) + B,
    "subsc(a, 1.5, b)": A - F32(1.5) + B,
    "neg(a)": -A,
    "abs(a)": np.abs(A),
    "exp(a)": np.exp(A),
    "log(b)": np.log(B),
    "sqrt(b)": np.sqrt(B),
    "rsqrt(b)": 1 / np.sqrt(B),
    "recip(b)": 1 / B,
    "sin(a)": np.sin(A),
    "cos(a)": np.cos(A),
    "relu(a)": np.maximum(A, 0),
    "lrelu(a, 0.25)": np.where(A > 0, A, A * F32(0.25)),
    "prelu(a, b, b)": np.where(A > 0, A, A * B),
    "expands(a, 2.5)": np.full((4, 8), 2.5, F32),
    "row_expand(a, col)": np.repeat(B[:, :1], 8, axis=1),
    "col_expand(a, row)": np.repeat(B[3:], 4, axis=0),
    "row_expand_add(a, col)": A + B[:, :1],
    "row_expand_sub(a, col)": A - B[:, :1],
    "row_expand_mul(a, col)": A * B[:, :1],
    "row_expand_div(a, col)": A / B[:, :1],
    "row_expand_max(a, col)": np.maximum(A, B[:, :1]),
    "row_expand_min(a, col)": np.minimum(A, B[:, :1]),
    "row_expand_expdif(a, col)": np.exp(A - B[:, :1]),
    "col_expand_add(a, row)": A + B[3:],
    "col_expand_sub(a, row)": A - B[3:],
    "col_expand_mul(a, row)": A * B[3:],
    "col_expand_div(a, row)": A / B[3:],
    "col_expand_max(a, row)": np.maximum(A, B[3:]),
    "col_expand_min(a, row)": np.minimum(A, B[3:]),
    "col_expand_expdif(a, row)": np.exp(A - B[3:]),
    "part_add(a, b)": A + B,
    "part_mul(a, b)": A * B,
    "part_max(a, b)": np.maximum(A, B),
    "part_min(a, b)": np.minimum(A, B),
}


@pytest.mark.parametrize("value", ELEMENTWISE)
def test_elementwise(value: str) -> None:
    shown = computed(value)
    assert shown.dtype == np.float32
    assert np.array_equal(shown, ELEMENTWISE[value])


REDUCED = {
    "row_sum(a, b)": A.sum(axis=1, keepdims=True),
    "row_max(a, b)": A.max(axis=1, keepdims=True),
    "row_min(a, b)": A.min(axis=1, keepdims=True),
    "row_prod(a, b)": A.astype(float).prod(axis=1, keepdims=True).astype(F32),
    "row_argmax(b, a)": B.argmax(axis=1, keepdims=True),
    "row_argmin(b, a)": B.argmin(axis=1, keepdims=True),
    "col_sum(a)": A.sum(axis=0, keepdims=True),
    "col_max(a)": A.max(axis=0, keepdims=True),
    "col_min(a)": A.min(axis=0, keepdims=True),
    "col_prod(a)": A.astype(float).prod(axis=0, keepdims=True).astype(F32),
    "col_argmax(b, a)": B.argmax(axis=0, keepdims=True),
    "col_argmin(b, a)": B.argmin(axis=0, keepdims=True),
}


@pytest.mark.parametrize("value", REDUCED)
def test_reductions(value: str) -> None:
    expected = REDUCED[value]
    dtype = "INT32" if "arg" in value else "FP32"
    shown = computed(value, f"pl.Tile[{list(expected.shape)}, pl.{dtype}, pl.Mem.Vec]")
    assert np.array_equal(shown, expected)


def test_reductions_over_nothing_give_the_neutral_element() -> None:
    narrow = "pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[4, 0])]"
    shown = run(f"""
        a: {narrow} = pl.tile.load(x, [0, 0], [4, 8], [4, 0], target_memory=pl.Mem.Vec)
        s: {COLUMN} = pl.tile.row_sum(a, a)
        p: {COLUMN} = pl.tile.row_prod(a, a)
        m: {COLUMN} = pl.tile.row_max(a, a)
        i: pl.Tile[[4, 1], pl.INT32, pl.Mem.Vec] = pl.tile.row_argmin(a, a)
        return s, p, m, i
        """)
    assert [result[0, 0] for result in shown.results] == [0, 1, -np.inf, 0]


def test_masks_and_choices() -> None:
    """The codes of comparisons are 0 to 5: ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``."""
    mask = "pl.Tile[[4, 8], pl.UINT8, pl.Mem.Vec]"
    assert np.array_equal(computed("cmp(a, b, cmp_type=2)", mask), A < B)
    assert np.array_equal(computed("cmps(a, 0.0, cmp_type=5)", mask), A >= 0)
    shown = run(
        f"""
        a: {V} = {LOAD}
        b: {V} = pl.tile.neg(a)
        m: {mask} = pl.tile.cmps(a, 5.0, cmp_type=4)
        s: {V} = pl.tile.sel(m, a, b, b)
        t: {V} = pl.tile.sels(m, a, b, 0.5)
        return s, t
        """
    )
    assert np.array_equal(shown.results[0], np.where(X > 5, X, -X))
    assert np.array_equal(shown.results[1], np.where(X > 5, X, F32(0.5)))


def test_integer_ops_with_scalars() -> None:
    tile = "pl.Tile[[1, 4], pl.INT32, pl.Mem.Vec]"
    shown = run(
        f"""
        a: {tile} = pl.tile.ci(5, [1, 4], dtype=pl.INT32, descending=False)
        d: {tile} = pl.tile.ci(5, [1, 4], dtype=pl.INT32, descending=True)
        b: {tile} = pl.tile.ands(a, 6)
        c: {tile} = pl.tile.ors(a, 8)
        e: {tile} = pl.tile.xors(a, 1, d)
        f: {tile} = pl.tile.shls(a, 2)
        g: {tile} = pl.tile.shrs(a, 1)
        h: {tile} = pl.tile.not_(a)
        return a, d, b, c, e, f, g, h
        """,
        "",
    )
    a = np.arange(5, 9)
    expected = [a, 10 - a, a & 6, a | 8, a ^ 1, a << 2, a >> 1, ~a]
    assert all(np.array_equal(shown[0], want) for shown, want in zip(shown.results, expected, strict=True))


def test_copies_of_other_shapes() -> None:
    shown = run(
        f"""
        a: {V} = {LOAD}
        t: pl.Tile[[8, 4], pl.FP32, pl.Mem.Vec] = pl.tile.transpose(a, 0, 1)
        c: pl.Tile[[4, 16], pl.FP32, pl.Mem.Vec] = pl.tile.concat(a, a)
        return t, c
        """
    )
    assert np.array_equal(shown.results[0], X.T)
    assert np.array_equal(shown.results[1], np.concatenate([X, X], axis=1))


def test_products_with_bias() -> None:
    shown = run(
        f"""
        a: pl.Tile[[4, 8], pl.FP32, pl.Mem.Left] = {LOAD}
        b: pl.Tile[[8, 4], pl.FP32, pl.Mem.Right] = pl.tile.transpose_view(a)
        s: pl.Tile[[1, 4], pl.FP32, pl.Mem.Bias] = pl.tile.slice(a, [1, 4], [0, 4])
        c: pl.Tile[[4, 4], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_bias(a, b, s)
        return c
        """
    )
    assert np.array_equal(shown.results[0], X @ X.T + X[:1, 4:])


def test_vector_products_fill_the_first_of_sixteen_rows() -> None:
    acc = "pl.Tile[[16, 4], pl.FP32, pl.Mem.Acc, pl.TileView(valid_shape=[1, 4])]"
    shown = run(
        f"""
        a: {V} = {LOAD}
        v: pl.Tile[[1, 8], pl.FP32, pl.Mem.Left] = pl.tile.slice(a, [1, 8], [1, 0])
        b: pl.Tile[[8, 4], pl.FP32, pl.Mem.Right] = pl.tile.transpose_view(a)
        s: pl.Tile[[1, 4], pl.FP32, pl.Mem.Bias] = pl.tile.slice(a, [1, 4], [0, 4])
        c: {acc} = pl.tile.gemv(v, b)
        d: {acc} = pl.tile.gemv_bias(v, b, s)
        e: {acc} = pl.tile.gemv_acc(c, v, b)
        return c, d, e
        """
    )
    product = X[1:2] @ X.T
    expected = (2 * product, product + X[:1, 4:], 2 * product)
    assert all(np.array_equal(a, b) for a, b in zip(shown.results, expected, strict=True))


def test_products_of_batches() -> None:
    shown = run(
        """
        a: pl.Tile[[2, 2, 4], pl.FP32] = pl.tile.load(x, [0, 0, 0], [2, 2, 4], [2, 2, 4])
        b: pl.Tile[[2, 4, 2], pl.FP32] = pl.tile.reshape(a, [2, 4, 2])
        c: pl.Tile[[2, 2, 2], pl.FP32] = pl.tile.batch_matmul(a, b)
        d: pl.Tile[[2, 2, 2], pl.FP32] = pl.tile.batch_matmul_acc(c, a, b)
        return d
        """,
        "x: pl.Tensor[[2, 2, 4], pl.FP32]",
        x=X[:2].reshape(2, 2, 4),
    )
    x = X[:2].reshape(2, 2, 4)
    assert np.array_equal(shown.results[0], 2 * x @ x.reshape(2, 4, 2))


def test_products_of_narrowed_batches_are_valid_where_both_operands_are() -> None:
    shown = run(
        """
        a: pl.Tile[[2, 2, 4], pl.FP32] = pl.tile.load(x, [0, 0, 0], [2, 2, 4], [1, 2, 4])
        b: pl.Tile[[2, 4, 2], pl.FP32] = pl.tile.full([2, 4, 2], dtype=pl.FP32, value=1.0)
        c: pl.Tile[[2, 2, 2], pl.FP32] = pl.tile.batch_matmul(a, b)
        return c
        """,
        "x: pl.Tensor[[2, 2, 4], pl.FP32]",
        x=X[:2].reshape(2, 2, 4),
    )
    assert np.array_equal(shown.results[0], X[:1].reshape(1, 2, 4) @ np.ones((4, 2)))


def test_bytes_become_scales_when_moved_to_scale_memory() -> None:
    """Exponents with bias 127 (peer behaviour, section 3.3)."""
    shown = run(
        """
        a: pl.Tile[[1, 2], pl.UINT8, pl.Mem.Mat] = pl.tile.full([1, 2], dtype=pl.UINT8, value=128)
        b: pl.Tile[[1, 2], pl.FP8E8M0, pl.Mem.LeftScale] = pl.tile.move(a, target_memory=pl.Mem.LeftScale)
        return b
        """,
        "",
    )
    assert shown.results[0].astype(float)[0, 0] == 2


# ---------------------------------------------------------------------------- global memory


def test_stores_convert_and_accumulate() -> None:
    shown = out(
        f"""
        a: {V} = {LOAD}
        pl.tile.store(a, [0, 0], o, atomic=pl.AtomicType.Add)
        pl.tile.store(a, [0, 0], o, atomic=1)
        """,
        f"x: {T}, o: pl.InOut[pl.Tensor[[4, 8], pl.BF16]]",
        o=np.ones((4, 8), np.float32).astype("bfloat16"),
    )
    assert np.array_equal(shown.astype(F32), 1 + 2 * X)


def test_loads_and_stores_of_other_ranks() -> None:
    """A load may merge leading dimensions, a store may lack them or have stated window extents."""
    shown = out(
        """
        a: pl.Tile[[4, 8], pl.FP32] = pl.tile.load(x, [1, 0, 0], [2, 2, 8], [2, 2, 8])
        b: pl.Tile[[2, 8], pl.FP32] = pl.tile.slice(a, [2, 8], [0, 0])
        pl.tile.store(a, [0, 0, 0], o, [2, 2, 8])
        pl.tile.store(b, [2, 0, 0], o)
        """,
        "x: pl.Tensor[[3, 2, 8], pl.FP32], o: pl.Out[pl.Tensor[[3, 2, 8], pl.FP32]]",
        x=np.arange(48, dtype=F32).reshape(3, 2, 8),
    )
    assert np.array_equal(shown.reshape(6, 8), np.concatenate([np.arange(16, 48), np.arange(16, 32)]).reshape(6, 8))


def test_tensor_ops() -> None:
    vector = "pl.Tensor[[8], pl.FP32]"
    shown = run(
        f"""
        w: {vector} = pl.tensor.slice(x, [1, 8], [2, 0], [], [0])
        n: {vector} = pl.tensor.neg(w)
        s: {vector} = pl.tensor.adds(n, 1.0)
        f: {T} = pl.tensor.full([4, 8], dtype=pl.FP32, value=2.0)
        m: {T} = pl.tensor.mul(x, f)
        p: pl.Tensor[[4, 4], pl.FP32] = pl.tensor.matmul(x, x, a_trans=False, b_trans=True, out_dtype=pl.FP32)
        q: pl.Tensor[[4, 4], pl.FP32] = pl.tensor.matmul_acc(p, x, x, a_trans=False, b_trans=True)
        r: pl.Tensor[[4], pl.FP32] = pl.tensor.row_sum(x, axis=-1, keep_dim=False)
        t: pl.Tensor[[8, 4], pl.FP32] = pl.tensor.transpose(x, 0, 1)
        d: pl.Scalar[pl.INDEX] = pl.tensor.dim(x, 1)
        z: pl.Tensor[[2], pl.FP32] = pl.tensor.create([2], dtype=pl.FP32, init_value=4.0)
        return s, m, p, q, r, t, d, z
        """,
        f"x: {T}",
    )
    gram = X @ X.T
    expected = (1 - X[2], 2 * X, gram, 2 * gram, X.sum(axis=1), X.T, 8, [4, 4])
    assert all(np.array_equal(a, b) for a, b in zip(shown.results, expected, strict=True))
    assert shown.results[2].shape == (4, 4), "tensor.matmul_acc does not write its accumulator"


def test_all_modelled_ops_exist() -> None:
    """Handlers are listed for the op table's ops only; what it lacks is an unknown op."""
    modelled = [op for op in op_table() if is_modelled(op)]
    assert len(modelled) > 200
    assert not is_modelled("tensor.relu")
    assert not is_modelled("tile.sort32")
