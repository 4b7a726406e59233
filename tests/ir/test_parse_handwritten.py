"""The spelling people write by hand, next to the printed form it stands for."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.ir.parsing import kernel, printed
from tilesat.ir.parser import parse_text

LOAD = "t = pl.load(x, [0, 0], [16, 64])"
LOADED = (
    "t: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)"
)
VEC = "pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec]"


def reads_as(body: str, expected: str) -> None:
    assert printed(body) == dedent(expected).strip("\n")


def reads_as_lines(body: str, *expected: str) -> None:
    assert printed(body).splitlines() == list(expected)


# -------------------------------------------------------------------------- whole programs


def test_the_general_example() -> None:
    """No import, no annotations, ``self``, short op names, long space names, a name bound again."""
    text = """
    @pl.program
    class Before:
        @pl.function(type=pl.FunctionType.InCore)
        def main_incore_0(
            self,
            x: pl.Tensor[[16, 128], pl.BF16],
            y: pl.Tensor[[128, 128], pl.BF16],
            out_0: pl.Out[pl.Tensor[[16, 128], pl.FP32]],
        ) -> pl.Tensor[[16, 128], pl.FP32]:
            x_tile = pl.load(x, [0, 0], [16, 128], target_memory=pl.MemorySpace.Mat)
            y_tile = pl.load(y, [0, 0], [128, 128])
            x_tile_L = pl.move(x_tile, target_memory=pl.MemorySpace.Left)
            y_tile_R: pl.Tile[[128, 128], pl.BF16, pl.MemorySpace.Right] = pl.move(
                y_tile, target_memory=pl.MemorySpace.Right
            )
            z_tile = pl.matmul(x_tile_L, y_tile_R)
            out_0 = pl.store(z_tile, [0, 0], out_0)
            return out_0
    """
    header = (
        "    def main_incore_0(x: pl.Tensor[[16, 128], pl.BF16], y: pl.Tensor[[128, 128], pl.BF16], "
        "out_0: pl.Out[pl.Tensor[[16, 128], pl.FP32]]) -> pl.Tensor[[16, 128], pl.FP32]:"
    )
    assert str(parse_text(dedent(text))).splitlines() == [
        "# pypto.program: Before",
        "import pypto.language as pl",
        "",
        "@pl.program",
        "class Before:",
        "    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)",
        header,
        "        x_tile: pl.Tile[[16, 128], pl.BF16, pl.Mem.Mat] = "
        "pl.tile.load(x, [0, 0], [16, 128], [16, 128], target_memory=pl.Mem.Mat)",
        "        y_tile: pl.Tile[[128, 128], pl.BF16, pl.Mem.Vec] = "
        "pl.tile.load(y, [0, 0], [128, 128], [128, 128], target_memory=pl.Mem.Vec)",
        "        x_tile_L: pl.Tile[[16, 128], pl.BF16, pl.Mem.Left] = pl.tile.move(x_tile, target_memory=pl.Mem.Left)",
        "        y_tile_R: pl.Tile[[128, 128], pl.BF16, pl.Mem.Right] = "
        "pl.tile.move(y_tile, target_memory=pl.Mem.Right)",
        "        z_tile: pl.Tile[[16, 128], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(x_tile_L, y_tile_R)",
        "        out_0_1: pl.Tensor[[16, 128], pl.FP32] = pl.tile.store(z_tile, [0, 0], out_0)",
        "        return out_0_1",
    ]


def test_calls_take_their_types_from_the_functions_called() -> None:
    """Also from one that is defined later, and in terms of the arguments of the call."""
    text = """
    import pypto.language as pl

    ROWS = pl.dynamic("ROWS")

    @pl.program
    class Graph:
        @pl.function(type=pl.FunctionType.Orchestration)
        def main(
            self,
            x: pl.Tensor[[ROWS, 64], pl.FP32],
            k: pl.Scalar[pl.INDEX],
            out: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]],
        ):
            whole = self.scale(x, out)
            some = self.head(whole, k + 1)
            low, high = self.halves(whole)
            again, task = pl.submit(self.scale, whole, out)
            (done,) = pl.submit(self.mark, deps=[task])
            self.mark()
        @pl.function(type=pl.FunctionType.InCore)
        def scale(
            x: pl.Tensor[[ROWS, 64], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]
        ) -> pl.Tensor[[ROWS, 64], pl.FP32]:
            return y
        @pl.function(type=pl.FunctionType.InCore)
        def head(x: pl.Tensor[[ROWS, 64], pl.FP32], n: pl.Scalar[pl.INDEX]) -> pl.Tensor[[n * 2, 64], pl.FP32]:
            return x
        @pl.function(type=pl.FunctionType.InCore)
        def halves(
            x: pl.Tensor[[ROWS, 64], pl.FP32]
        ) -> tuple[pl.Tensor[[8, 64], pl.FP32], pl.Tensor[[4, 64], pl.FP32]]:
            return x, x
        @pl.function(type=pl.FunctionType.InCore)
        def mark():
            pass
    """
    lines = str(parse_text(dedent(text))).splitlines()
    assert lines[9:18] == [
        "        whole: pl.Tensor[[ROWS, 64], pl.FP32] = self.scale(x, out)",
        "        some: pl.Tensor[[(k + 1) * 2, 64], pl.FP32] = self.head(whole, k + 1)",
        "        _tuple_tmp: pl.Tuple[pl.Tensor[[8, 64], pl.FP32], pl.Tensor[[4, 64], pl.FP32]] = self.halves(whole)",
        "        low: pl.Tensor[[8, 64], pl.FP32] = _tuple_tmp[0]",
        "        high: pl.Tensor[[4, 64], pl.FP32] = _tuple_tmp[1]",
        "        _submit_tmp: pl.Tuple[pl.Tensor[[ROWS, 64], pl.FP32], pl.Scalar[pl.TASK_ID]] = "
        "pl.submit(self.scale, whole, out)",
        "        again: pl.Tensor[[ROWS, 64], pl.FP32] = _submit_tmp[0]",
        "        task: pl.Scalar[pl.TASK_ID] = _submit_tmp[1]",
        "        _submit_tmp_1: pl.Tuple[pl.Scalar[pl.TASK_ID]] = pl.submit(self.mark, deps=[task])",
    ]


@pytest.mark.parametrize("params", ["self, a: pl.Scalar[pl.INDEX]", "a: pl.Scalar[pl.INDEX]", "self", ""])
def test_self_is_optional(params: str) -> None:
    without = params.removeprefix("self").removeprefix(", ")
    assert parse_text(kernel("pass", params)) == parse_text(kernel("pass", without))


def test_a_shape_may_depend_on_a_later_parameter() -> None:
    text = kernel("pass", "x: pl.Tensor[[n, 64], pl.FP32], n: pl.Scalar[pl.INDEX]")
    assert "def f(x: pl.Tensor[[n, 64], pl.FP32], n: pl.Scalar[pl.INDEX]):" in str(parse_text(text))


def test_old_attributes_of_the_decorator() -> None:
    text = kernel("pass").replace("InCore)", 'InCore, attrs={"windowize": True})')
    lines = str(parse_text(text)).splitlines()
    assert lines[5] == "    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)"
    assert lines[7] == '        pl.func_attr({"windowize": True})'


# ----------------------------------------------------------------------- names and values


def test_a_name_bound_again_gets_a_name_of_its_own() -> None:
    reads_as(
        f"""
        {LOAD}
        t = pl.exp(t)
        t = pl.add(t, t)
        """,
        f"""
        {LOADED}
        t_1: {VEC} = pl.tile.exp(t)
        t_2: {VEC} = pl.tile.add(t_1, t_1)
        """,
    )


def test_an_unmodelled_text_follows_the_new_name() -> None:
    reads_as(
        """
        t = a
        t = t + 1
        assert t > 0, f"{t} of {a}"
        r: pl.Scalar[pl.INDEX] = given(t) if t else t
        """,
        """
        t: pl.Scalar[pl.INDEX] = a
        t_1: pl.Scalar[pl.INDEX] = t + 1
        assert t_1 > 0, f"{t_1} of {a}"
        r: pl.Scalar[pl.INDEX] = given(t_1) if t_1 else t_1
        """,
    )


def test_augmented_assignment() -> None:
    reads_as(
        """
        n = a
        n += 1
        n <<= b
        m = c
        m -= 1
        """,
        """
        n: pl.Scalar[pl.INDEX] = a
        n_1: pl.Scalar[pl.INDEX] = n + 1
        n_2: pl.Scalar[pl.INDEX] = n_1 << b
        m: pl.Scalar[pl.INT32] = c
        m_1: pl.Scalar[pl.INT32] = m - 1
        """,
    )


def test_unpacking_binds_all_names_at_once() -> None:
    reads_as(
        """
        m, n = a, b
        m, n = n, m + 1
        [r, s] = [2.5, p]
        """,
        """
        m: pl.Scalar[pl.INDEX] = a
        n: pl.Scalar[pl.INDEX] = b
        m_1: pl.Scalar[pl.INDEX] = n
        n_1: pl.Scalar[pl.INDEX] = m + 1
        r: pl.Scalar[pl.FP32] = 2.5
        s: pl.Scalar[pl.BOOL] = p
        """,
    )


def test_an_annotation_that_states_no_shape_is_filled_in() -> None:
    reads_as_lines(LOAD.replace("t =", "t: pl.Tile ="), LOADED)


def test_the_stated_type_wins_over_the_deduced_one() -> None:
    stated = "t: pl.Tile[[16, 64], pl.FP32]"
    reads_as_lines(LOAD.replace("t =", f"{stated} ="), LOADED.replace(f"t: {VEC}", stated))


# ---------------------------------------------------------------------------- op spellings


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("pl.load(x, (0, 0), (16, 64))", f"{LOADED.partition(' = ')[2]}"),
        (
            "pl.load(tensor=x, offsets=[0, 0], shapes=[16, 64], valid_shape=[8, 64])",
            "pl.tile.load(x, [0, 0], [16, 64], [8, 64], target_memory=pl.Mem.Vec)",
        ),
        (
            "pl.load(x, [0, 0], [16, 64], target_memory=pl.MemorySpace.Mat)",
            "pl.tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)",
        ),
        ("pl.add(t, t)", "pl.tile.add(t, t)"),
        ("pl.add(t, 0.5)", "pl.tile.adds(t, 0.5)"),
        ("pl.mul(t, a)", "pl.tile.muls(t, a)"),
        ("pl.mul(x, x)", "pl.tensor.mul(x, x)"),
        ("pl.and_(t, t)", "pl.tile.and_(t, t)"),
        ("pl.abs(t)", "pl.tile.abs(t)"),
        ("pl.abs(x)", "pl.tensor.abs(x)"),
        ("pl.abs(a)", "pl.abs(a)"),
        ("pl.cast(t, pl.FP16, mode='rint')", "pl.tile.cast(t, target_type=pl.FP16, mode='rint')"),
        ("pl.cast(c, pl.INDEX)", "pl.cast(c, pl.INDEX)"),
        ("pl.cast(c, pl.INDEX, mode='rint')", "pl.cast(c, pl.INDEX, mode='rint')"),
        ("pl.full([16, 64], 0.0, dtype=pl.FP32)", "pl.tile.full([16, 64], dtype=pl.FP32, value=0.0)"),
        ("pl.full([16, 64], dtype=pl.FP32, value=0.0)", "pl.tile.full([16, 64], dtype=pl.FP32, value=0.0)"),
        (
            "pl.create_tensor([16, 64], dtype=pl.FP32)",
            "pl.tensor.create([16, 64], dtype=pl.FP32, layout=pl.TensorLayout.ND)",
        ),
        (
            "pl.create_tile([16, 64], dtype=pl.FP32)",
            "pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)",
        ),
        ("pl.dim(x, 0)", "pl.tensor.dim(x, 0)"),
        ("pl.slice(x, [16, 64], [0, 0])", "pl.tensor.slice(x, [16, 64], [0, 0])"),
        ("pl.slice(t, [8, 64], [0, 0])", "pl.tile.slice(t, [8, 64], [0, 0])"),
        ("pl.store(t, [0, 0], out)", "pl.tile.store(t, [0, 0], out)"),
        ("pl.novel(t)", "pl.novel(t)"),
    ],
)
def test_short_spelling(short: str, full: str) -> None:
    *_, line = printed(f"{LOAD}\nr: pl.Novel = {short}").splitlines()
    assert line == f"r: pl.Novel = {full}"


def test_full_spelling_is_left_alone() -> None:
    """A load without ``target_memory`` stays one: inference decides where it goes."""
    line = "t: pl.Tile[[16, 64], pl.FP32] = pl.tile.load(x, [0, 0], [16, 64], [16, 64])"
    reads_as_lines(line, line)


# ------------------------------------------------------------------------------ structures


def test_loops_with_carries() -> None:
    reads_as(
        f"""
        {LOAD}
        for i, (acc, n) in pl.range(4, init_values=[t, a]):
            acc = pl.add(acc, acc)
            acc, n = pl.yield_(acc, n + 1)
        for i, (acc,) in pl.pipeline(0, 8, 2, init_values=(acc,), stage=2):
            acc = pl.yield_(pl.exp(acc))
        out = pl.store(acc, [n, 0], out)
        """,
        f"""
        {LOADED}
        for i, (acc, n) in pl.range(4, init_values=(t, a)):
            acc_1: {VEC} = pl.tile.add(acc, acc)
            acc_2, n_1 = pl.yield_(acc_1, n + 1)
        for i_1, (acc_3,) in pl.pipeline(0, 8, 2, stage=2, init_values=(acc_2,)):
            acc_4: {VEC} = pl.yield_(pl.tile.exp(acc_3))
        out_1: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(acc_4, [n_1, 0], out)
        """,
    )


def test_carries_and_results_without_names() -> None:
    reads_as(
        """
        for i in pl.range(4, init_values=[a]):
            r = pl.yield_(b + i)
        for i, (s,) in range(4, init_values=(r,)):
            pl.yield_(s + i)
        """,
        """
        for i, (a_iter,) in pl.range(4, init_values=(a,)):
            r: pl.Scalar[pl.INDEX] = pl.yield_(b + i)
        for i_1, (s,) in pl.range(4, init_values=(r,)):
            s_out: pl.Scalar[pl.INDEX] = pl.yield_(s + i_1)
        """,
    )


def test_while_loops_need_no_brackets() -> None:
    reads_as(
        """
        for step, s in pl.while_(init_values=(0, a)):
            pl.cond(step < 3)
            step, s = pl.yield_(step + 1, s * 2)
        r = s
        """,
        """
        for (step, s) in pl.while_(init_values=(0, a)):
            pl.cond(step < 3)
            step_1, s_1 = pl.yield_(step + 1, s * 2)
        r: pl.Scalar[pl.INDEX] = s_1
        """,
    )


def test_elif_hands_results_on() -> None:
    reads_as(
        """
        if a > 1:
            r = pl.yield_(1)
        elif p:
            r = pl.yield_(a)
        else:
            r = pl.yield_(b)
        """,
        """
        if a > 1:
            r_1: pl.Scalar[pl.INDEX] = pl.yield_(1)
        else:
            if p:
                r: pl.Scalar[pl.INDEX] = pl.yield_(a)
            else:
                r: pl.Scalar[pl.INDEX] = pl.yield_(b)
            r_1: pl.Scalar[pl.INDEX] = pl.yield_(r)
        """,
    )


def test_a_name_of_one_branch_does_not_reach_the_other() -> None:
    reads_as(
        """
        t = a
        if p:
            t = b
            pl.announce(t)
        else:
            pl.announce(t)
        t = 3
        pl.announce(t)
        """,
        """
        t: pl.Scalar[pl.INDEX] = a
        if p:
            t_1: pl.Scalar[pl.INDEX] = b
            pl.announce(t_1)
        else:
            pl.announce(t)
        t_2: pl.Scalar[pl.INDEX] = 3
        pl.announce(t_2)
        """,
    )


def test_a_loop_may_use_a_name_of_its_own_again() -> None:
    """Bound before it is read in every round: nothing is carried, whatever it was before the loop."""
    reads_as(
        """
        t = a
        for i in pl.range(4):
            t = b + i
            pl.announce(t)
        """,
        """
        t: pl.Scalar[pl.INDEX] = a
        for i in pl.range(4):
            t_1: pl.Scalar[pl.INDEX] = b + i
            pl.announce(t_1)
        """,
    )


# ------------------------------------------------------------------- comments, module level


def test_docstrings_become_comments() -> None:
    reads_as(
        '''
        """What it does.

            # in detail
        """
        pl.announce(a)
        # Done.
        ''',
        """
        # What it does.
        #
        # # in detail
        pl.announce(a)
        # Done.
        """,
    )


def test_comments_above_a_function_move_into_it() -> None:
    text = kernel("# Inside.\npl.announce(a)").replace("    @pl.function", "    # Above.\n    @pl.function")
    *_, above, inside, _ = str(parse_text(text)).splitlines()
    assert (above, inside) == ("        # Above.", "        # Inside.")


def test_module_constants_are_replaced_by_their_values() -> None:
    head = "ROWS: int = 16\nCOLS = ROWS * 4\nSHAPE = [ROWS, COLS]\nDT = pl.FP32\nEPS = -1e-6\nMODE = 'rint'\n"
    body = "t = pl.load(x, [0, ROWS], SHAPE)\nt: pl.Tile[[ROWS, COLS], DT] = pl.novel(t, EPS, mode=MODE)"
    lines = str(parse_text(head + kernel(body))).splitlines()
    assert lines[:4] == ["# pypto.program: Snippet", "import pypto.language as pl", "", "@pl.program"]
    assert lines[-2:] == [
        f"        {LOADED.replace('[0, 0]', '[0, 16]')}",
        "        t_1: pl.Tile[[16, 64], pl.FP32] = pl.novel(t, -9.9999999999999995e-07, mode='rint')",
    ]


def test_a_parameter_hides_a_module_constant() -> None:
    text = "a = 16\n" + kernel("t: pl.Tensor[[a, 4], pl.FP32] = pl.novel()") + "    @pl.function\n"
    text += "    def g(self, b: pl.Tensor[[a, 4], pl.FP32]):\n        pass\n"
    first, second = parse_text(text).functions
    assert "pl.Tensor[[a, 4], pl.FP32] = " in str(parse_text(text))
    assert str(second.params[0].type.shape) == "(16, 4)"  # type: ignore[attr-defined]
    assert first.params[0].name == "a"


def test_declared_allocations() -> None:
    head = 'slot = pl.MemRef()\nring = pl.MemRef("circle")\n'
    body = "t: pl.Tile[[4, 4], pl.FP32, slot, pl.Mem.Vec] = pl.novel()\n"
    body += "u: pl.Tile[[4, 4], pl.FP32, ring, pl.Mem.Vec] = pl.novel()"
    lines = str(parse_text(head + kernel(body))).splitlines()
    assert lines[3] == "@pl.program"
    assert lines[-2:] == [
        '        t: pl.Tile[[4, 4], pl.FP32, pl.MemRef("slot"), pl.Mem.Vec] = pl.novel()',
        '        u: pl.Tile[[4, 4], pl.FP32, pl.MemRef("circle"), pl.Mem.Vec] = pl.novel()',
    ]


def test_a_dimension_goes_by_the_name_it_is_given() -> None:
    text = 'N = pl.dynamic("ROWS")\n' + kernel("assert N > 0", "y: pl.Tensor[[N, 4], pl.FP32]")
    printed_text = str(parse_text(text))
    assert 'ROWS = pl.dynamic("ROWS")\n' in printed_text
    assert "y: pl.Tensor[[ROWS, 4], pl.FP32]" in printed_text
    assert "assert ROWS > 0" in printed_text
