"""INF-P4-01, -02, -03 and -14 of the reference: what leaves its loop, before and after."""

from __future__ import annotations

from textwrap import dedent

import pytest

import tilesat
from tests.corpus import Case, cases_of
from tests.residency.programs import (
    CREATE,
    LOAD,
    LOOP,
    MARK,
    PRODUCT,
    STAGE,
    STATIONARY,
    WEIGHTS,
    Edit,
    after,
    before,
    body,
    depth_of,
    program,
    resident,
    unmarked,
)
from tests.residency.variants import IN_TWO_LOOPS, TWO_WINDOWS, retyped


def becomes(expected: str, *edits: Edit, text: str = STATIONARY) -> None:
    """The kernel of ``text`` has the statements ``expected`` afterwards, and means the same."""
    result = resident(text, *edits)
    assert body(result.program) == dedent(expected).strip("\n").splitlines()
    assert tilesat.validate(program(text, *edits), result.program).ok


def test_an_exact_chain_moves_as_a_whole() -> None:
    """INF-P4-01: load and move leave in order, the streamed operand stays."""
    becomes(
        """
        wm = pl.tile.load(w, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        wl = pl.tile.move(wm, target_memory=pl.Mem.Left)
        for n, (acc,) in pl.range(0, 64, 32, init_values=(o,)):
            sm = pl.tile.load(s, [0, n], [32, 32], [32, 32], target_memory=pl.Mem.Mat)
            sr = pl.tile.move(sm, target_memory=pl.Mem.Right)
            c = pl.tile.matmul(wl, sr)
            stored = pl.tile.store(c, [0, n], acc)
            result = pl.yield_(stored)
        return result
        """
    )


def test_a_window_that_does_not_change_moves_too() -> None:
    """INF-P4-01: an extract ends a chain as a move does."""
    becomes(
        """
        wm = pl.tile.load(w, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        wl = pl.tile.extract(wm, 0, 0, [16, 32], target_memory=pl.Mem.Left)
        for n, (acc,) in pl.range(0, 64, 32, init_values=(o,)):
            sm = pl.tile.load(s, [0, n], [32, 32], [32, 32], target_memory=pl.Mem.Mat)
            sr = pl.tile.move(sm, target_memory=pl.Mem.Right)
            c = pl.tile.matmul(wl, sr)
            stored = pl.tile.store(c, [0, n], acc)
            result = pl.yield_(stored)
        return result
        """,
        retyped(STAGE, "pl.move(wm,", "pl.tile.extract(wm, 0, 0, [16, 32],"),
    )


TRANSPOSED = (
    retyped(WEIGHTS, "[16, 32]", "[32, 16]"),
    retyped(CREATE, "[16, 32]", "[32, 16]"),
    retyped(LOAD, "[16, 32]", "[32, 16]"),
    (STAGE, "wt = pl.tile.transpose_view(wm)\n                wl = pl.move(wt, target_memory=pl.Mem.Left)"),
)


def test_a_transposed_chain_moves_as_a_whole() -> None:
    """INF-P4-01: any number of transposed views may stand between load and move."""
    becomes(
        """
        wm = pl.tile.load(w, [0, 0], [32, 16], [32, 16], target_memory=pl.Mem.Mat)
        wt = pl.tile.transpose_view(wm)
        wl = pl.tile.move(wt, target_memory=pl.Mem.Left)
        for n, (acc,) in pl.range(0, 64, 32, init_values=(o,)):
            sm = pl.tile.load(s, [0, n], [32, 32], [32, 32], target_memory=pl.Mem.Mat)
            sr = pl.tile.move(sm, target_memory=pl.Mem.Right)
            c = pl.tile.matmul(wl, sr)
            stored = pl.tile.store(c, [0, n], acc)
            result = pl.yield_(stored)
        return result
        """,
        *TRANSPOSED,
    )


def test_of_a_panel_only_the_load_moves() -> None:
    """INF-P4-02: two windows of it are staged, in the loop as before."""
    becomes(
        """
        wm = pl.tile.load(w, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        for n, (acc,) in pl.range(0, 64, 32, init_values=(o,)):
            wl = pl.tile.extract(wm, 0, 0, [16, 16], target_memory=pl.Mem.Left)
            wk = pl.tile.extract(wm, 0, 16, [16, 16], target_memory=pl.Mem.Left)
            sm = pl.tile.load(s, [0, n], [32, 32], [32, 32], target_memory=pl.Mem.Mat)
            sk = pl.tile.extract(sm, 0, 0, [16, 32], target_memory=pl.Mem.Right)
            sl = pl.tile.extract(sm, 16, 0, [16, 32], target_memory=pl.Mem.Right)
            b = pl.tile.matmul(wl, sk)
            c = pl.tile.matmul_acc(b, wk, sl)
            stored = pl.tile.store(c, [0, n], acc)
            result = pl.yield_(stored)
        return result
        """,
        text=TWO_WINDOWS,
    )


def test_of_a_transposed_panel_only_the_load_moves() -> None:
    """INF-P4-02: the view is used twice, so it makes no chain; what it shows is a panel all the same."""
    becomes(
        """
        wm = pl.tile.load(w, [0, 0], [32, 16], [32, 16], target_memory=pl.Mem.Mat)
        for n, (acc,) in pl.range(0, 64, 32, init_values=(o,)):
            wt = pl.tile.transpose_view(wm)
            wl = pl.tile.move(wt, target_memory=pl.Mem.Left)
            wk = pl.tile.move(wt, target_memory=pl.Mem.Left)
            sm = pl.tile.load(s, [0, n], [32, 32], [32, 32], target_memory=pl.Mem.Mat)
            sr = pl.tile.move(sm, target_memory=pl.Mem.Right)
            b = pl.tile.matmul(wk, sr)
            c = pl.tile.matmul_acc(b, wl, sr)
            stored = pl.tile.store(c, [0, n], acc)
            result = pl.yield_(stored)
        return result
        """,
        *TRANSPOSED,
        after(
            "wl = pl.move(wt, target_memory=pl.Mem.Left)", "wk = pl.move(wt, target_memory=pl.Mem.Left)", text=_turned()
        ),
        (PRODUCT, "b = pl.matmul(wk, sr)\n                c = pl.matmul_acc(b, wl, sr)"),
    )


def _turned() -> str:
    text = STATIONARY
    for old, new in TRANSPOSED:
        text = text.replace(old, new)
    return text


def test_a_panel_is_staged_in_a_loop_of_its_own() -> None:
    """INF-P4-02: the windows depend on an inner pipeline, which keeps its staging; nothing of it is in Mat."""
    text = """
    @pl.program
    class SplitDepth:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(
            w: pl.Tensor[[16, 64], pl.FP32], s: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]
        ) -> pl.Tensor[[16, 64], pl.FP32]:
            for n, (acc,) in pl.range(0, 64, 32, init_values=(o,)):
                wm = pl.load(w, [0, 0], [16, 64], target_memory=pl.Mem.Mat, MARK)
                sm = pl.load(s, [0, n], [64, 32], target_memory=pl.Mem.Mat, MARK)
                c = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
                for k, (sofar,) in pl.pipeline(0, 64, 16, stage=2, init_values=(c,)):
                    wl = pl.tile.extract(wm, 0, k, [16, 16], target_memory=pl.Mem.Left)
                    sr = pl.tile.extract(sm, k, 0, [16, 32], target_memory=pl.Mem.Right)
                    added = pl.matmul_acc(sofar, wl, sr)
                    total = pl.yield_(added)
                stored = pl.store(total, [0, n], acc)
                result = pl.yield_(stored)
            return result
        @pl.function(type=pl.FunctionType.Orchestration)
        def main(self, s: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
            w = pl.create_tensor([16, 64], dtype=pl.FP32)
            r = self.kernel(w, s, o)
    """
    result = resident(text)
    assert depth_of(result.program, "wm") == 0
    assert depth_of(result.program, "wl") == 2
    assert tilesat.validate(program(text), result.program).ok


def test_what_accumulates_before_a_load_does_not_keep_it() -> None:
    """INF-P4-05: ``matmul_acc`` writes its accumulator, and is no effect that a load may not cross."""
    edits = (
        (f"                {LOAD}\n                {STAGE}\n", ""),
        (
            PRODUCT,
            "\n                ".join(
                ("b = pl.matmul(zl, sr)", "d = pl.matmul_acc(b, zl, sr)", LOAD, STAGE, "c = pl.matmul_acc(d, wl, sr)")
            ),
        ),
        before(
            LOOP,
            "zm = pl.load(s, [0, 0], [16, 32], target_memory=pl.Mem.Mat)",
            "zl = pl.move(zm, target_memory=pl.Mem.Left)",
        ),
    )
    result = resident(STATIONARY, *edits)
    assert depth_of(result.program, "wm") == depth_of(result.program, "wl") == 0
    assert tilesat.validate(program(STATIONARY, *edits), result.program).ok


def test_only_the_mark_is_consumed() -> None:
    """INF-P4-03: from loads that leave, stay, or never were in a loop; other attributes stay."""
    edits = (
        retyped(LOAD, "MARK", MARK.replace("{", '{"author": 7, ')),
        before(LOOP, "xm = pl.load(s, [0, 0], [16, 32], target_memory=pl.Mem.Mat, MARK)"),
    )
    text = str(resident(STATIONARY, *edits).program)
    assert "bridge" not in text
    assert text.count('attrs={"author": 7}') == 1


def test_a_chain_leaves_one_loop_per_run() -> None:
    """INF-P4-14: with the mark gone, a second run leaves it where it is (INF-S-06)."""
    once = resident(IN_TWO_LOOPS).program
    assert depth_of(once, "wm") == depth_of(once, "wl") == 1
    assert str(tilesat.infer_tile_memory_space(once, hardware="910b").program) == str(once)


def test_every_loop_is_looked_at_by_itself() -> None:
    """Of two loops in a row, one is not sequential."""
    second = """\
            for k, (bcc,) in pl.parallel(0, 64, 32, init_values=(result,)):
                vm = pl.load(w, [0, 0], [16, 32], target_memory=pl.Mem.Mat, MARK)
                vl = pl.move(vm, target_memory=pl.Mem.Left)
                tm = pl.load(s, [0, k], [32, 32], target_memory=pl.Mem.Mat, MARK)
                tr = pl.move(tm, target_memory=pl.Mem.Right)
                d = pl.matmul(vl, tr)
                also = pl.store(d, [0, k], bcc)
                total = pl.yield_(also)
            return total
"""
    result = resident(STATIONARY, ("            return result\n", second))
    assert [depth_of(result.program, name) for name in ("wm", "wl", "vm", "vl")] == [0, 0, 1, 1]


def test_the_documented_example() -> None:
    """The residency example of the seed document: the stationary LHS leaves, the RHS that depends on n streams."""
    text = """
    @pl.program
    class Example:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(
            lhs: pl.Tensor[[16, 128], pl.BF16],
            rhs: pl.Tensor[[128, 256], pl.BF16],
            out: pl.Out[pl.Tensor[[16, 256], pl.FP32]],
        ) -> pl.Tensor[[16, 256], pl.FP32]:
            for n, (acc,) in pl.range(0, 256, 128, init_values=(out,)):
                lhs_mat = pl.load(lhs, [0, 0], [16, 128], target_memory=pl.Mem.Mat, MARK)
                rhs_mat = pl.load(rhs, [0, n], [128, 128], target_memory=pl.Mem.Mat, MARK)
                lhs_left = pl.move(lhs_mat, target_memory=pl.Mem.Left)
                rhs_right = pl.move(rhs_mat, target_memory=pl.Mem.Right)
                c_n = pl.matmul(lhs_left, rhs_right)
                stored = pl.store(c_n, [0, n], acc)
                result = pl.yield_(stored)
            return result
        @pl.function(type=pl.FunctionType.Orchestration)
        def main(self, rhs: pl.Tensor[[128, 256], pl.BF16], out: pl.Out[pl.Tensor[[16, 256], pl.FP32]]):
            fresh_lhs = pl.create_tensor([16, 128], dtype=pl.BF16)
            r = self.kernel(fresh_lhs, rhs, out)
    """
    becomes(
        """
        lhs_mat = pl.tile.load(lhs, [0, 0], [16, 128], [16, 128], target_memory=pl.Mem.Mat)
        lhs_left = pl.tile.move(lhs_mat, target_memory=pl.Mem.Left)
        for n, (acc,) in pl.range(0, 256, 128, init_values=(out,)):
            rhs_mat = pl.tile.load(rhs, [0, n], [128, 128], [128, 128], target_memory=pl.Mem.Mat)
            rhs_right = pl.tile.move(rhs_mat, target_memory=pl.Mem.Right)
            c_n = pl.tile.matmul(lhs_left, rhs_right)
            stored = pl.tile.store(c_n, [0, n], acc)
            result = pl.yield_(stored)
        return result
        """,
        text=text,
    )


@pytest.mark.parametrize("op", ["matmul", "matmul_bias", "matmul_acc"])
@pytest.mark.parametrize("side", ["Left", "Right"])
def test_every_product_has_its_operand_places(op: str, side: str) -> None:
    """INF-P4-11: the places are those for Left and Right; the accumulator of ``matmul_acc`` shifts them by one."""
    square = "pl.load(w, [0, 0], [32, 32], target_memory=pl.Mem.Mat, MARK)"
    operands = "wl, sr" if side == "Left" else "sr, wl"
    call = {"matmul": f"pl.matmul({operands})", "matmul_bias": f"pl.tile.matmul_bias({operands}, bias)"}
    edits = (
        retyped(WEIGHTS, "16", "32"),
        retyped(CREATE, "16", "32"),
        (LOAD, f"wm = {square}"),
        (STAGE, f"wl = pl.move(wm, target_memory=pl.Mem.{side})"),
        (
            "sr = pl.move(sm, target_memory=pl.Mem.Right)",
            f"sr = pl.move(sm, target_memory=pl.Mem.{'Right' if side == 'Left' else 'Left'})",
        ),
        before(PRODUCT, "e = pl.tile.create([32, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)"),
        (PRODUCT, f"c = {call.get(op, f'pl.matmul_acc(e, {operands})')}"),
        before(
            LOOP,
            "bm = pl.load(s, [0, 0], [1, 32], target_memory=pl.Mem.Mat)",
            "bias = pl.move(bm, target_memory=pl.Mem.Bias)",
        ),
        (
            "            o: pl.Out[pl.Tensor[[16, 64], pl.FP32]],\n        ) -> pl.Tensor[[16, 64], pl.FP32]:",
            "            o: pl.Out[pl.Tensor[[32, 64], pl.FP32]],\n        ) -> pl.Tensor[[32, 64], pl.FP32]:",
        ),
        (
            "o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]\n        ) -> pl.Tensor[[16, 64], pl.FP32]:",
            "o: pl.Out[pl.Tensor[[32, 64], pl.FP32]]\n        ) -> pl.Tensor[[32, 64], pl.FP32]:",
        ),
    )
    result = resident(STATIONARY, *edits)
    assert depth_of(result.program, "wm") == depth_of(result.program, "wl") == 0


DECLINED = ("R04", "R05", "R07", "R08", "R13", "R16")


@pytest.mark.parametrize("worked", cases_of("R"), ids=lambda c: c.name)
def test_worked_cases_move_or_come_back_to_the_byte(worked: Case) -> None:
    """Against the peer they are compared in tests/bridge; what it declines differs in the mark only (INF-P4-03)."""
    result = tilesat.infer_tile_memory_space(worked.before, hardware="910b")
    moved = [decision for decision in result.decisions if decision.kind == "resident"]
    assert (not moved) == (worked.name in DECLINED)
    assert (str(result.program) == unmarked(worked.before)) == (not moved)


@pytest.mark.parametrize("given", ["", "tile=wm, "])
@pytest.mark.parametrize("rules", ["reference", "optimal"])
def test_a_stage_without_its_operand_is_an_error_of_ours(given: str, rules: str) -> None:
    """What is not positional is not there, whoever looks first."""
    call = f"pl.tile.move({given}target_memory=pl.Mem.Left)"
    wrong = program(STATIONARY, (STAGE, f"wl: pl.Tile[[16, 32], pl.FP32, pl.Mem.Left] = {call}"))
    with pytest.raises(tilesat.VerifyError, match=r"tile\.move takes 1 argument"):
        tilesat.infer_tile_memory_space(wrong, rules=rules, hardware="910b")
