"""Random arguments, and the comparison of two programs on them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ir.test_interp_helpers import LOAD, T, V, function, program
from tilesat.errors import InterpretError
from tilesat.ir.interp import compare, interpret, random_arguments, runnable_arguments
from tilesat.ir.nodes import Program

ALL_KINDS = (
    "f: pl.Tensor[[64], pl.FP32], h: pl.Tensor[[N, 4], pl.BF16], i: pl.Tensor[[64], pl.INT32], "
    "q: pl.Tensor[[64], pl.INT8], k: pl.Scalar[pl.INDEX], s: pl.Scalar[pl.FP32], b: pl.Scalar[pl.BOOL]"
)


def kernel(body: str, params: str = f"x: {T}, o: pl.Out[{T}]") -> Program:
    return program(function(body, params))


COPY = f"a: {V} = {LOAD}\npl.tile.store(a, [0, 0], o)\n"


# -------------------------------------------------------------------------- random arguments


def test_random_arguments_are_small_and_exact() -> None:
    subject = program(function("return", ALL_KINDS), head='N = pl.dynamic("N")')
    drawn = random_arguments(subject, "f", seed=3)
    assert drawn["h"].shape == (128, 4), "the default of a dynamic dimension"
    for name in "fh":
        eighths = drawn[name].astype(np.float64) * 8
        assert np.array_equal(eighths, np.round(eighths))
        assert np.abs(eighths).max() <= 16
        assert np.all(eighths != 0)
    assert drawn["i"].min() == 0
    assert drawn["i"].max() == 4
    assert drawn["q"].min() == -4
    assert 0 <= drawn["k"] <= 4
    assert isinstance(drawn["s"], float)
    assert isinstance(drawn["b"], bool)


def test_random_arguments_depend_on_the_seed_only() -> None:
    subject = program(function("return", ALL_KINDS), head='N = pl.dynamic("N")')
    one, two, other = (random_arguments(subject, "f", seed, {"N": 3}) for seed in (5, 5, 6))
    assert one["h"].shape == (3, 4)
    assert all(np.array_equal(one[name], two[name]) for name in one)
    assert not np.array_equal(one["f"], other["f"])


def test_smaller_integers_are_tried_where_a_program_leaves_its_buffers() -> None:
    """A window at row 8 * k of 16 rows: k may be 0 or 1."""
    subject = kernel(
        f"a: {V} = pl.tile.load(x, [k * 8, 0], [4, 8], [4, 8], target_memory=pl.Mem.Vec)",
        "x: pl.Tensor[[16, 8], pl.FP32], k: pl.Scalar[pl.INDEX]",
    )
    limits = set()
    for seed in range(12):
        arguments, limit, _ = runnable_arguments(subject, "f", seed)
        assert 8 * arguments["k"] + 4 <= 16
        again = random_arguments(subject, "f", seed, limit=limit)
        assert again["k"] == arguments["k"]
        limits.add(limit)
    assert len(limits) > 1


def test_a_program_that_never_runs_is_an_error() -> None:
    subject = kernel(f"a: {V} = pl.tile.load(x, [1, 0], [4, 8], [4, 8], target_memory=pl.Mem.Vec)")
    with pytest.raises(InterpretError, match="elements 1 to 4"):
        compare(subject, subject, "f")


def test_without_arguments_a_function_runs_on_random_ones() -> None:
    subject = kernel(COPY)
    shown = interpret(subject, "f").arguments
    assert np.array_equal(shown["o"], shown["x"])
    assert np.array_equal(shown["x"], random_arguments(subject, "f", 0)["x"])


# --------------------------------------------------------------------------------- comparison


def test_programs_that_do_the_same_show_no_difference() -> None:
    """Another space, a copy in between, a dead load, a hoisted load."""
    before = kernel(f"for i in pl.range(2):\n    a: {V} = {LOAD}\n    pl.tile.store(a, [0, 0], o)")
    after = kernel(
        f"""
        a: {V.replace("Vec", "Mat")} = {LOAD.replace("Vec", "Mat")}
        dead: {V} = {LOAD}
        for i in pl.range(2):
            m: {V} = pl.tile.move(a, target_memory=pl.Mem.Vec)
            pl.tile.store(m, [0, 0], o)
        """
    )
    assert compare(before, after, "f") is None


def test_a_difference_names_element_values_and_inputs() -> None:
    after = kernel(COPY + "pl.tensor.write(o, [1, 2], 99.0)")
    found = compare(kernel(COPY), after, "f", seeds=(7,))
    assert found is not None
    arguments = random_arguments(after, "f", found.seed, limit=found.limit)
    assert (found.place, found.index, found.after) == ("argument 'o'", (1, 2), 99)
    assert found.before == arguments["x"][1, 2]
    assert str(found).startswith("function 'f', argument 'o'[1, 2]: ")
    assert "seed 7, limit 4" in str(found)


@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        ("return x", "y: {V} = {LOAD}\nreturn x, x", "results: number of values"),
        ("return 1", "return 2", "results 0"),
        ("return x", "return 2", "results 0"),
        ("return", "pl.system.bar_all()", "number of trace entries"),
        ("pl.system.bar_v()", "pl.system.bar_all()", "trace entry 0"),
        ("return", "pl.tensor.write(x, [0, 0], 77.0)", "argument 'x'"),
        ("return", "pl.tensor.write(x, [9, 0], 77.0)", "evaluation"),
    ],
)
def test_whatever_is_observable_counts(before: str, after: str, place: str) -> None:
    found = compare(kernel(before), kernel(after.format(V=V, LOAD=LOAD)), "f")
    assert found is not None
    assert found.place == place


def test_writes_to_inputs_may_be_left_out_of_the_comparison() -> None:
    before, after = kernel(COPY), kernel(COPY + "pl.tensor.write(x, [0, 0], 77.0)")
    assert compare(before, after, "f") is not None
    assert compare(before, after, "f", observe_inputs=False) is None


def test_nan_equals_nan_and_zeros_are_equal() -> None:
    zero = "pl.tile.muls(a, 0.0)"
    before = kernel(f"a: {V} = {LOAD}\nz: {V} = {zero}\nq: {V} = pl.tile.div(z, z)\nreturn z, q")
    after = kernel(
        f"a: {V} = {LOAD}\ny: {V} = {zero}\nz: {V} = pl.tile.neg(y)\nq: {V} = pl.tile.div(z, y)\nreturn z, q"
    )
    assert compare(before, after, "f") is None


def test_functions_with_other_parameters_are_not_compared() -> None:
    with pytest.raises(InterpretError, match=r"parameters of 'f' differ: \(x, o\) before, \(x\) after"):
        compare(kernel("return"), kernel("return", f"x: {T}"), "f")


# ------------------------------------------------------------------------------------- errors


def test_errors_say_where() -> None:
    inner = function(f"a: {V} = pl.tile.load(x, [k, 0], [4, 8], [4, 8])", f"x: {T}, k: pl.Scalar[pl.INDEX]", name="g")
    subject = program(inner, function("for i in pl.range(3):\n    self.g(x, i)", f"x: {T}", kind="Orchestration"))
    with pytest.raises(InterpretError) as caught:
        interpret(subject, "f")
    assert str(caught.value).startswith(
        "in function 'g': tile.load accesses elements 1 to 4 of dimension 0, which has 4"
    )
    assert "pl.tile.load(x, [k, 0], [4, 8], [4, 8])" in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "parameter 'x' has no argument"),
        ({"x": np.zeros((4, 8), np.float32), "z": 1}, "no parameter is called 'z'"),
        ({"x": np.zeros((4, 8))}, "parameter 'x' needs an array of float32, not float64"),
        ({"x": 5}, "parameter 'x' needs an array of float32, not int"),
        (
            {"x": np.zeros((8, 4), np.float32)},
            r"parameter 'x' of 'f' has type FP32 \[4, 8\], the argument FP32 \[8, 4\]",
        ),
    ],
)
def test_arguments_must_fit(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InterpretError, match=message):
        interpret(kernel("return"), "f", arguments)


def test_arguments_that_overlap_unknown_to_numpy_are_refused() -> None:
    """Two arrays over one ``bytearray`` have no common base that could be copied as a whole."""
    memory = bytearray(256)
    x, o = (np.frombuffer(memory, np.float32, 32, offset).reshape(4, 8) for offset in (0, 64))
    with pytest.raises(InterpretError, match="overlap without a common base array"):
        interpret(kernel(COPY), "f", {"x": x, "o": o})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("a: {V} = pl.tile.load(x, [0], [4, 8], [4, 8])", "differ in rank"),
        ("a: pl.Tile[[8, 8], pl.FP32] = {LOAD}", r"annotated as a tile of FP32 \[8, 8\], the value has FP32 \[4, 8\]"),
        ("a: pl.Tile[[8, 4], pl.FP32] = {LOAD}", r"annotated as a tile of FP32 \[8, 4\], the value has FP32 \[4, 8\]"),
        ("a: {V} = x", "annotated as a tile, the value is a Tensor"),
        ("a: {V} = {LOAD}\nb: {V} = pl.tile.slice(a, [4, 8], [1, 0])", "leaves the tile"),
        ("a: {V} = {LOAD}\nb: {V} = pl.tile.set_validshape(a, 5, 8)", "exceeds shape"),
        ("a: {V} = {LOAD}\nb: {V} = pl.tile.reshape(a, [4, 4])", "not as many elements"),
        ("a: {V} = {LOAD}\nb: {V} = pl.tile.matmul(a, a)", "is not defined"),
        ("a: {V} = {LOAD}\nb: {V} = pl.tile.exp(a, fast=True)", "keyword fast of tile.exp is not modelled"),
        ("a: {V} = pl.tile.exp(x0)", "'x0__FREE_VAR' has no value here"),
        ("w: {T} = pl.tensor.slice(x, [4, 4], [0, 2])\nv: {T} = pl.tensor.reshape(w, [16])", "without a copy"),
        ("self.g(x)", "no function 'g'"),
        ("for i in pl.range(0, 3, 0):\n    return", "step of the loop is 0"),
    ],
)
def test_programs_that_make_no_sense_are_errors(body: str, message: str) -> None:
    text = body.format(V=V, LOAD=LOAD, T="pl.Tensor[[4, 4], pl.FP32]").replace("x0", "x0__FREE_VAR")
    with pytest.raises(InterpretError, match=message):
        interpret(kernel(text), "f")


def test_an_unknown_function_is_an_error() -> None:
    with pytest.raises(InterpretError, match="no function 'g'"):
        interpret(kernel("return"), "g")
