"""Loops, branches, calls and launches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.ir.test_interp_helpers import LOAD, T, V, X, function, program, run
from tilesat.errors import InterpretError
from tilesat.ir.interp import interpret
from tilesat.ir.nodes import Program, Return, Var


@pytest.mark.parametrize(
    ("loop", "visited"),
    [
        ("pl.range(4)", [0, 1, 2, 3]),
        ("pl.range(k, 0, -2)", [5, 3, 1]),
        ("pl.parallel(2, k)", [2, 3, 4]),
        ("pl.pipeline(0, k, 2, stage=2)", [0, 2, 4]),
        ("pl.unroll(2)", [0, 1]),
        ("pl.range(k, k)", []),
    ],
)
def test_loops_of_all_kinds_run_in_order(loop: str, visited: list[int]) -> None:
    text = loop[:-1] + ", init_values=(0,))"
    shown = run(
        f"""
        for i, (c,) in {text}:
            r: pl.Scalar[pl.INDEX] = pl.yield_(c * 10 + i + 1)
        return r
        """,
        "k: pl.Scalar[pl.INDEX]",
        k=5,
    )
    assert shown.results == (int("0" + "".join(str(i + 1) for i in visited)),)


def test_a_loop_without_iter_args_runs_for_its_effects() -> None:
    shown = run("for i in pl.range(4):\n    pl.tensor.write(o, [i, i], 1.0)", f"o: pl.Out[{T}]", o=np.zeros_like(X))
    assert np.array_equal(shown.arguments["o"], np.eye(4, 8))


def test_while_loops_run_until_their_condition_fails() -> None:
    shown = run(
        f"""
        a: {V} = {LOAD}
        for (n, t) in pl.while_(init_values=(0, a)):
            pl.cond(n * n < k)
            d: {V} = pl.tile.add(t, t)
            m, r = pl.yield_(n + 1, d)
        return m, r
        """,
        f"x: {T}, k: pl.Scalar[pl.INDEX]",
        k=10,
    )
    assert shown.results[0] == 4
    assert np.array_equal(shown.results[1], 16 * X)


def test_only_the_taken_branch_runs() -> None:
    text = """
        if k > 2:
            pl.tensor.write(o, [0, 0], 1.0)
            r: pl.Scalar[pl.INDEX] = pl.yield_(k)
        else:
            pl.tensor.write(o, [0, 0], 2.0)
            r: pl.Scalar[pl.INDEX] = pl.yield_(0 - k)
        if k > 5:
            pl.tensor.write(o, [0, 1], 9.0)
        return r
        """
    params = f"k: pl.Scalar[pl.INDEX], o: pl.Out[{T}]"
    for k, result, written in ((1, -1, [2, 0]), (4, 4, [1, 0]), (7, 7, [1, 9])):
        shown = run(text, params, k=k, o=np.zeros_like(X))
        assert shown.results == (result,)
        assert list(shown.arguments["o"][0, :2]) == written


def test_scopes_do_not_hide_names() -> None:
    shown = run("with pl.scope():\n    a: pl.Scalar[pl.INDEX] = 3\nreturn a", "")
    assert shown.results == (3,)


@pytest.mark.parametrize(
    "block",
    [
        "if k < 9:\n    hidden: pl.Scalar[pl.INDEX] = 1",
        "for hidden in pl.range(2):\n    pl.system.bar_all()",
        "for (hidden,) in pl.while_(init_values=(k,)):\n    pl.cond(hidden < 3)\n    z = pl.yield_(hidden + 1)",
    ],
)
def test_names_bound_in_a_block_have_no_value_after_it(block: str) -> None:
    """The parser refuses such text; a pass that moves a statement must not produce it either."""
    subject = program(function(f"{block}\nreturn k", "k: pl.Scalar[pl.INDEX]"))
    f = subject.functions[0]
    broken = replace(subject, functions=(replace(f, body=(*f.body[:-1], Return((Var("hidden"),)))),))
    with pytest.raises(InterpretError, match="'hidden' has no value here"):
        interpret(broken, "f", {"k": 1})


def test_comments_do_nothing() -> None:
    assert run("# nothing\nreturn", "").results == ()


def test_endless_loops_are_stopped() -> None:
    subject = program(function("for i in pl.range(1000000000):\n    a: pl.Scalar[pl.INDEX] = i", ""))
    with pytest.raises(InterpretError, match="more than 500 statements"):
        interpret(subject, "f", {}, max_steps=500)


# -------------------------------------------------------------------------- calls and launches

SCALE = function(
    f"""
    a: {V} = {LOAD}
    b: {V} = pl.tile.muls(a, s)
    r: {T} = pl.tile.store(b, [0, 0], y)
    return r, s
    """,
    f"x: {T}, s: pl.Scalar[pl.FP32], y: pl.Out[{T}]",
    name="scale",
)
MARK = function(
    """
    i: pl.Scalar[pl.INDEX] = pl.tile.get_block_idx()
    n: pl.Scalar[pl.INDEX] = pl.tile.get_block_num()
    v: pl.Scalar[pl.INDEX] = i * 10 + n
    pl.tensor.write(y, [i], v)
    """,
    "y: pl.Out[pl.Tensor[[4], pl.INT32]]",
    name="mark",
)
MARKS = "y: pl.InOut[pl.Tensor[[4], pl.INT32]]"


def caller(body: str, params: str, *callees: str, **options: str) -> Program:
    return program(*callees, function(body, params, kind="Orchestration", **options))


def marks(subject: Program, name: str = "f") -> list[int]:
    return list(interpret(subject, name, {"y": np.full(4, -1, np.int32)}).arguments["y"])


def test_a_call_gives_what_the_callee_returns() -> None:
    subject = caller(
        f"""
        t: pl.Tuple[{T}, pl.Scalar[pl.FP32]] = self.scale(x, 2.0, o)
        a: {T} = t[0]
        s: pl.Scalar[pl.FP32] = t[1]
        return a, s
        """,
        f"x: {T}, o: pl.Out[{T}]",
        SCALE,
    )
    shown = interpret(subject, "f", {"x": X})
    assert np.array_equal(shown.results[0], 2 * X)
    assert np.array_equal(shown.arguments["o"], 2 * X)
    assert shown.results[1] == 2


def test_a_submit_allocates_missing_outputs_and_gives_a_task_id() -> None:
    result = f"pl.Tuple[{T}, pl.Scalar[pl.FP32], pl.Scalar[pl.TASK_ID]]"
    subject = caller(
        f"""
        t: {result} = pl.submit(self.scale, x, 2.0)
        d: pl.Scalar[pl.TASK_ID] = t[2]
        a: {T} = t[0]
        u: {result} = pl.submit(self.scale, a, 2.0, deps=[d])
        return t[0], u[0], t[2] == u[2]
        """,
        f"x: {T}",
        SCALE,
    )
    shown = interpret(subject, "f", {"x": X})
    assert np.array_equal(shown.results[0], 2 * X)
    assert np.array_equal(shown.results[1], 4 * X)
    assert shown.results[2] is False


def test_a_call_must_give_all_arguments() -> None:
    subject = caller("self.scale(x, 2.0)", f"x: {T}", SCALE)
    with pytest.raises(InterpretError, match=r"'scale' has 3 parameters, 2 arguments are given"):
        interpret(subject, "f", {"x": X})


@pytest.mark.parametrize(
    "launch",
    ["pl.spmd_submit(self.mark, y, core_num=3)", 'self.mark(y, attrs={"core_num": 3})', "self.lanes(y)"],
)
def test_a_launch_on_several_blocks_runs_once_for_each(launch: str) -> None:
    """Said by a submit, by a call, or by the attributes of an Spmd function."""
    lanes = function('pl.func_attr({"core_num": 3})\nself.mark(y)', f"self, {MARKS}", name="lanes", kind="Spmd")
    assert marks(caller(launch, f"self, {MARKS}", MARK, lanes)) == [3, 13, 23, -1]


def test_an_spmd_function_also_launches_when_it_is_the_entry() -> None:
    lanes = function('pl.func_attr({"core_num": 2})\nself.mark(y)', f"self, {MARKS}", name="lanes", kind="Spmd")
    assert marks(program(MARK, lanes), "lanes") == [2, 12, -1, -1]


def test_a_plain_call_is_the_only_block() -> None:
    assert marks(caller("self.mark(y)", f"self, {MARKS}", MARK)) == [1, -1, -1, -1]


def test_the_lanes_of_a_split_loop_see_their_number() -> None:
    shown = run(
        """
        for i in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            s: pl.Scalar[pl.INDEX] = pl.tile.get_subblock_idx()
            pl.tensor.write(y, [i], s + 5)
        z: pl.Scalar[pl.INDEX] = pl.tile.get_subblock_idx()
        return z
        """,
        MARKS,
        y=np.zeros(4, np.int32),
    )
    assert list(shown.arguments["y"][:2]) == [5, 6]
    assert shown.results == (0,)


def test_dynamic_dimensions_are_those_of_the_arguments() -> None:
    """In a callee they are those of its own arguments; ``dims`` gives what no argument shows."""
    tensor = "pl.Tensor[[N, 8], pl.FP32]"
    subject = program(
        function("d: pl.Scalar[pl.INDEX] = N\nreturn d", f"x: {tensor}", name="rows"),
        function(
            """
            w: pl.Tensor[[2, 8], pl.FP32] = pl.tensor.slice(x, [2, 8], [0, 0])
            d: pl.Scalar[pl.INDEX] = self.rows(w)
            return N, d, M
            """,
            f"x: {tensor}",
        ),
        head='N = pl.dynamic("N")\nM = pl.dynamic("M")',
    )
    assert interpret(subject, "f", {"x": X}, dims={"M": 3}).results == (4, 2, 3)


def test_recursion_is_stopped() -> None:
    with pytest.raises(InterpretError, match="nested more than"):
        interpret(program(function("self.f()", "self", kind="Orchestration")), "f", {})


def test_functions_in_another_language_are_unknown_functions() -> None:
    """Their outputs depend on their inputs, and each run of them is traced."""
    alien = function("return o", f"x: {T}, o: pl.Out[{T}]", name="alien").replace(
        "FunctionType.InCore", 'FunctionType.AIV, external_source="alien.cpp"'
    )
    subject = caller(
        f"a: {T} = self.alien(x, o)\nb: {T} = self.alien(x, p)\nc: {T} = self.alien(a, q)",
        f"x: {T}, o: pl.Out[{T}], p: pl.Out[{T}], q: pl.Out[{T}]",
        alien,
    )
    shown = interpret(subject, "f", {"x": X})
    assert np.array_equal(shown.arguments["o"], shown.arguments["p"])
    assert not np.array_equal(shown.arguments["o"], shown.arguments["q"])
    assert [event.op for event in shown.trace] == ["external alien"] * 3
