"""Element and scalar arithmetic."""

from __future__ import annotations

import keyword
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.ir.test_interp_helpers import T, V, out, run
from tilesat.errors import InterpretError
from tilesat.ir.dtypes import numpy_dtype
from tilesat.ir.interp.numerics import convert
from tilesat.ir.interp.scalars import binary, coerce, function, unary

BF16 = np.dtype(ml_dtypes.bfloat16)


def applied(op: str, dtype: str, *operands: list[float]) -> list[Any]:
    """``pl.tile.<op>`` of one-row tiles of ``dtype``."""
    count = len(operands[0])
    row, memory = f"pl.Tile[[1, {count}], pl.{dtype}, pl.Mem.Vec]", f"pl.Tensor[[1, {count}], pl.{dtype}]"
    loads = [
        f"t{i}: {row} = pl.tile.load(x{i}, [0, 0], [1, {count}], [1, {count}], target_memory=pl.Mem.Vec)"
        for i in range(len(operands))
    ]
    names = ", ".join(f"t{i}" for i in range(len(operands)))
    op += "_" if keyword.iskeyword(op) else ""
    body = "\n".join([*loads, f"r: {row} = pl.tile.{op}({names})", "return r"])
    arrays = {f"x{i}": np.array([values]).astype(numpy_dtype(dtype)) for i, values in enumerate(operands)}
    shown = run(body, ", ".join(f"{name}: {memory}" for name in arrays), **arrays)
    return [value.item() for value in shown.results[0][0].astype(np.float64)]


# ------------------------------------------------------------------------------------ floats


def test_bf16_is_computed_in_single_precision_and_rounded_once() -> None:
    """1 + 2**-8 is a tie: it goes to the even neighbour, which is 1."""
    assert applied("add", "BF16", [1.0, 1.0], [2**-8, 3 * 2**-8]) == [1.0, 1.015625]


def test_fp16_overflows_to_infinity() -> None:
    assert applied("mul", "FP16", [300.0], [300.0]) == [np.inf]


def test_division_by_zero_is_infinite() -> None:
    assert applied("div", "FP32", [1.0, -1.0], [0.0, 0.0]) == [np.inf, -np.inf]


def test_a_scalar_operand_has_the_dtype_of_the_tile() -> None:
    """0.1 in half precision is 0.0999755859375."""
    half = "pl.Tile[[1, 1], pl.FP16, pl.Mem.Vec]"
    shown = run(
        f"""
        a: {half} = pl.tile.full([1, 1], dtype=pl.FP16, value=1.0)
        b: {half} = pl.tile.muls(a, 0.1)
        return b
        """,
        "",
    )
    assert shown.results[0][0, 0] == np.float16(0.1)


def test_sums_do_not_depend_on_the_order_of_terms() -> None:
    """In single precision 1e8 + 1 - 1e8 is 0 or 1; here it is 1 whatever the order."""
    for order in ([1e8, 1, -1e8], [1e8, -1e8, 1], [1, 1e8, -1e8]):
        shown = run(
            """
            a: pl.Tile[[1, 3], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [1, 3], [1, 3], target_memory=pl.Mem.Vec)
            b: pl.Tile[[1, 1], pl.FP32, pl.Mem.Vec] = pl.tile.row_sum(a, a)
            return b
            """,
            "x: pl.Tensor[[1, 3], pl.FP32]",
            x=np.array([order], np.float32),
        )
        assert shown.results[0][0, 0] == 1


def test_an_accumulating_product_is_a_product_and_an_addition() -> None:
    """Bit for bit, on values whose sums are not exact."""
    left, right, acc = (
        f"pl.Tile[[16, 16], pl.{d}, pl.Mem.{m}]" for d, m in (("BF16", "Left"), ("BF16", "Right"), ("FP32", "Acc"))
    )
    memory = "pl.Tensor[[16, 16], pl.BF16]"
    window = "[0, 0], [16, 16], [16, 16]"
    values = np.random.default_rng(0).normal(size=(2, 16, 16)).astype(np.float32).astype(BF16)
    shown = run(
        f"""
        a: {left} = pl.tile.load(x, {window}, target_memory=pl.Mem.Left)
        b: {right} = pl.tile.load(y, {window}, target_memory=pl.Mem.Right)
        once: {acc} = pl.tile.matmul(a, b)
        again: {acc} = pl.tile.matmul(b, a)
        sum: {acc} = pl.tile.add(once, again)
        total: {acc} = pl.tile.matmul_acc(once, b, a)
        return sum, total
        """,
        f"x: {memory}, y: {memory}",
        x=values[0],
        y=values[1],
    )
    assert np.array_equal(shown.results[0], shown.results[1])


# ---------------------------------------------------------------------------------- integers


@pytest.mark.parametrize(
    ("op", "dtype", "a", "b", "result"),
    [
        ("add", "INT8", 127, 1, -128),
        ("mul", "UINT8", 16, 17, 16),
        ("sub", "UINT32", 0, 1, 2**32 - 1),
        ("div", "INT32", -7, 2, -3),
        ("rem", "INT32", -7, 2, 1),
        ("fmod", "INT32", -7, 2, -1),
        ("and", "INT16", 12, 10, 8),
        ("or", "INT16", 12, 10, 14),
        ("xor", "INT16", 12, 10, 6),
        ("shl", "UINT8", 255, 4, 240),
        ("shr", "INT8", -8, 1, -4),
        ("shr", "INT8", -8, 100, -1),
    ],
)
def test_integer_ops_wrap(op: str, dtype: str, a: int, b: int, result: int) -> None:
    assert applied(op, dtype, [a], [b]) == [result]


def test_integer_products_are_exact() -> None:
    shown = run(
        """
        a: pl.Tile[[1, 300], pl.INT8, pl.Mem.Left] = pl.tile.full([1, 300], dtype=pl.INT8, value=-128)
        b: pl.Tile[[300, 1], pl.INT8, pl.Mem.Right] = pl.tile.full([300, 1], dtype=pl.INT8, value=-128)
        c: pl.Tile[[1, 1], pl.INT32, pl.Mem.Acc] = pl.tile.matmul(a, b)
        return c
        """,
        "",
    )
    assert shown.results[0][0, 0] == 300 * 128 * 128


# ------------------------------------------------------------------------------------- casts


@pytest.mark.parametrize(
    ("mode", "result"),
    [
        ("rint", [2, 2, -2, -3, 1]),
        ("none", [2, 2, -2, -3, 1]),
        ("round", [2, 3, -3, -3, 1]),
        ("trunc", [1, 2, -2, -2, 1]),
        ("floor", [1, 2, -3, -3, 1]),
        ("ceil", [2, 3, -2, -2, 2]),
        ("odd", [1, 3, -3, -3, 1]),
    ],
)
def test_casts_to_integers_round_as_told(mode: str, result: list[int]) -> None:
    values = np.array([1.5, 2.5, -2.5, -2.75, 1.25], np.float32)
    assert list(convert(values, "FP32", "INT32", mode)) == result


def test_casts_to_integers_saturate() -> None:
    values = np.array([300, -300, np.inf, -np.inf, np.nan], np.float32)
    assert list(convert(values, "FP32", "INT8", "rint")) == [127, -128, 127, -128, 0]
    assert list(convert(values, "FP32", "UINT8", "rint")) == [255, 0, 255, 0, 0]
    far = np.array([1e30, -1e30], np.float32)
    assert list(convert(far, "FP32", "INT64", "rint")) == [2**63 - 1, -(2**63)]
    assert list(convert(far, "FP32", "UINT64", "rint")) == [2**64 - 1, 0]


def test_casts_between_integers_wrap() -> None:
    assert list(convert(np.array([300, -1], np.int32), "INT32", "UINT8")) == [44, 255]
    assert list(convert(np.array([9, -9], np.int32), "INT32", "INT4").astype(int)) == [-7, 7]


@pytest.mark.parametrize(
    ("mode", "result"),
    [
        ("rint", [1.0, 1.015625, -1.0]),
        ("round", [1.0078125, 1.015625, -1.0078125]),
        ("trunc", [1.0, 1.0078125, -1.0]),
        ("floor", [1.0, 1.0078125, -1.0078125]),
        ("ceil", [1.0078125, 1.015625, -1.0]),
        ("odd", [1.0078125, 1.0078125, -1.0078125]),
    ],
)
def test_casts_to_narrower_floats_round_as_told(mode: str, result: list[float]) -> None:
    """Two ties: 1 + 1/256 between 1 and 1 + 1/128, 1 + 3/256 between 1 + 1/128 and 1 + 1/64."""
    values = np.array([1 + 2**-8, 1 + 3 * 2**-8, -1 - 2**-8], np.float32)
    assert list(convert(values, "FP32", "BF16", mode).astype(float)) == result


def test_a_cast_op_takes_its_mode_by_name_or_number() -> None:
    row = "pl.Tile[[1, 1], pl.INT32, pl.Mem.Vec]"
    shown = run(
        f"""
        a: pl.Tile[[1, 1], pl.FP32, pl.Mem.Vec] = pl.tile.full([1, 1], dtype=pl.FP32, value=2.5)
        b: {row} = pl.tile.cast(a, target_type=pl.INT32, mode='floor')
        c: {row} = pl.tile.cast(a, target_type=pl.INT32, mode=2)
        return b, c
        """,
        "",
    )
    assert [result[0, 0] for result in shown.results] == [2, 3]


# ----------------------------------------------------------------------------------- scalars


def test_indices_are_unbounded_and_typed_scalars_wrap() -> None:
    shown = run(
        """
        a: pl.Scalar[pl.INDEX] = k * 4294967296 * 4294967296
        b: pl.Scalar[pl.INT32] = n + 1
        c: pl.Scalar[pl.INT8] = pl.cast(300, pl.INT8)
        d: pl.Scalar[pl.UINT8] = pl.const(200, pl.UINT8) + pl.const(100, pl.UINT8)
        return a, b, c, d
        """,
        "k: pl.Scalar[pl.INDEX], n: pl.Scalar[pl.INT32]",
        k=2,
        n=2**31 - 1,
    )
    assert shown.results == (2**65, -(2**31), 44, 44)


def test_scalar_expressions() -> None:
    shown = run(
        """
        a: pl.Scalar[pl.INDEX] = pl.max(k // 2, pl.min(k % 3, 7)) + (k << 1) - pl.abs(-k) ** 2
        b: pl.Scalar[pl.BOOL] = k > 3 and not (k == 5 or k & 1 == 0)
        c: pl.Scalar[pl.FP32] = h * 0.5
        d: pl.Scalar[pl.INDEX] = pl.cast(h, pl.INDEX)
        return a, b, c, d
        """,
        "k: pl.Scalar[pl.INDEX], h: pl.Scalar[pl.FP16]",
        k=5,
        h=-2.75,
    )
    assert shown.results == (2 + 10 - 25, False, -1.375, -2)


def test_scalars_meet_in_the_wider_dtype() -> None:
    assert binary("+", np.int8(100), np.int16(100)) == 200
    assert isinstance(binary("*", np.int32(3), 0.5), np.float32)
    assert binary("<", np.float32(1.5), 2) is True
    assert function("max", (np.int32(3), 7)) == 7
    assert unary("~", np.uint8(1)) == 254
    assert coerce(np.nan, "INT32") == 0


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("k // 0", "division by zero"),
        ("k % 0", "division by zero"),
        ("1 << (0 - k)", "out of range"),
        ("k & 0.5", "needs integers"),
    ],
)
def test_undefined_scalar_expressions_are_errors(expression: str, message: str) -> None:
    with pytest.raises(InterpretError, match=message):
        run(f"a: pl.Scalar[pl.INDEX] = {expression}", "k: pl.Scalar[pl.INDEX]", k=3)


def test_ops_on_other_dtypes_than_they_have_are_errors() -> None:
    with pytest.raises(InterpretError, match=r"tile\.not needs integers"):
        out(f"""
            a: {V} = pl.tile.full([4, 8], dtype=pl.FP32, value=1.0)
            b: {V} = pl.tile.not_(a)
            """)
    with pytest.raises(InterpretError, match="dtype HF8 cannot be evaluated"):
        run("a: pl.Tile[[4, 8], pl.HF8] = pl.tile.create([4, 8], dtype=pl.HF8)", f"x: {T}")
