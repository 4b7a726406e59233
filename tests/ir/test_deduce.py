"""Type deduction, rule by rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.ir.deducing import (
    BOXED,
    BOXED_OTHER_WAY,
    BY_ROWS,
    INDEX,
    N,
    acc,
    check,
    deduced,
    mat,
    parsed,
    tensor,
    tile,
    vec,
)
from tilesat.ir.deduce import deduce_call, deduce_type
from tilesat.ir.nodes import Const, FuncCall, ListExpr, OpCall, Submit, TupleGet, Var
from tilesat.ir.types import ArrayType, OpaqueType, ScalarType, TupleType, Type
from tilesat.ir.types import MemorySpace as Mem


class TestElementwise:
    def test_a_boxed_operand_makes_a_boxed_result(self) -> None:
        """The block layouts survive; the accumulator's fractal of 1024 bytes does not."""
        check("pl.tile.exp(x)", vec(16, 32, **BOXED), x=acc(16, 32))

    def test_the_first_operand_gives_the_layout(self) -> None:
        check("pl.tile.add(x, y)", vec(16, 32, **BOXED), x=acc(16, 32), y=vec(16, 32))
        check("pl.tile.add(x, y)", vec(16, 32), x=vec(16, 32), y=acc(16, 32))

    def test_a_column_keeps_how_it_is_stored(self) -> None:
        """By columns is what a column in Vec is by default; tile.full stores it by rows."""
        by_rows = vec(16, 1, blayout="row_major")
        check("pl.tile.maximum(x, y)", by_rows, x=by_rows, y=vec(16, 1))

    def test_the_first_operand_gives_the_valid_shape(self) -> None:
        narrow, whole = vec(40, valid=(33,)), vec(40)
        check("pl.tile.add(x, y)", narrow, x=narrow, y=whole)
        check("pl.tile.add(x, y)", whole, x=whole, y=narrow)

    def test_a_valid_shape_may_be_an_expression(self) -> None:
        x = vec(24, 512, valid=(24, N))
        check("pl.tile.muls(x, 2.0)", x, x=x)

    def test_pad_and_compact_mode_survive(self) -> None:
        x = acc(16, 32, valid=(12, 32), compact="normal", pad="zero")
        expected = vec(16, 32, dtype="BF16", valid=(12, 32), compact="normal", pad="zero", **BOXED)
        check("pl.tile.cast(x, target_type=pl.BF16, mode='rint')", expected, x=x)

    def test_a_selection_is_like_the_selected(self) -> None:
        check(
            "pl.tile.sel(m, x, y, t)",
            vec(16, 64),
            m=vec(16, 8, dtype="UINT8"),
            x=vec(16, 64),
            y=vec(16, 64),
            t=INDEX,
        )

    def test_expansion_of_a_vector_is_like_the_matrix(self) -> None:
        matrix = vec(16, 32, pad="min", **BOXED)
        check("pl.tile.row_expand_sub(x, v)", matrix, x=matrix, v=vec(16, 1))
        check("pl.tile.col_expand_mul(x, v)", matrix, x=matrix, v=vec(1, 32))

    def test_declared_memory_does_not_carry_over(self) -> None:
        named = replace(vec(16, 32), memref="scratch")
        check("pl.tile.exp(x)", vec(16, 32), x=named)
        check("pl.tile.assemble(x, y, [0, 0])", vec(16, 32), x=named, y=vec(16, 16))

    def test_broadcasting_between_tiles_stays_open(self) -> None:
        assert deduced("pl.tile.add(x, y)", x=vec(16, 32), y=vec(16, 1)) is None


class TestReductions:
    def test_rows_reduce_to_a_column_stored_by_columns(self) -> None:
        check("pl.tile.row_max(x, t)", vec(16, 1), x=vec(16, 96, pad="min", **BOXED), t=vec(16, 128))
        check("pl.tile.row_sum(x, t)", vec(1, 1, blayout="col_major"), x=vec(1, 8), t=vec(1, 128))

    def test_columns_reduce_to_a_row(self) -> None:
        check("pl.tile.col_sum(x)", vec(1, 64), x=vec(64, 64, **BOXED))

    def test_narrowed_rows_stay_narrowed(self) -> None:
        check("pl.tile.row_sum(x, t)", vec(16, 1, valid=(N, 1)), x=vec(16, 64, valid=(N, 60)), t=vec(16, 64))
        check("pl.tile.col_sum(x)", vec(1, 64, valid=(1, 60)), x=vec(16, 64, valid=(N, 60)))


class TestMatmul:
    @pytest.mark.parametrize(("operand", "result"), [("FP16", "FP32"), ("BF16", "FP32"), ("INT8", "INT32")])
    def test_accumulates_in_32_bits(self, operand: str, result: str) -> None:
        lhs, rhs = tile(Mem.Left, 16, 64, dtype=operand), tile(Mem.Right, 64, 32, dtype=operand)
        check("pl.tile.matmul(a, b)", acc(16, 32, dtype=result), a=lhs, b=rhs)

    def test_a_narrowed_product_is_compact(self) -> None:
        expected = acc(16, 32, valid=(12, 32), compact="normal")
        check("pl.tile.matmul(a, b)", expected, a=mat(16, 64, valid=(12, 64)), b=mat(64, 32))

    def test_an_accumulation_is_never_compact(self) -> None:
        types = {"c": acc(16, 32, valid=(12, 32)), "a": mat(16, 64, valid=(12, 64)), "b": mat(64, 32)}
        check("pl.tile.matmul_acc(c, a, b)", acc(16, 32, valid=(12, 32)), **types)

    def test_an_accumulation_is_valid_as_far_as_its_factors(self) -> None:
        types = {"c": acc(16, 32), "a": mat(16, 64, valid=(12, 64)), "b": mat(64, 32)}
        check("pl.tile.matmul_acc(c, a, b)", acc(16, 32, valid=(12, 32)), **types)

    def test_bias(self) -> None:
        types = {"a": mat(16, 32, dtype="FP16"), "b": mat(32, 64, dtype="FP16"), "c": tile(Mem.Bias, 1, 64)}
        check("pl.tile.matmul_bias(a, b, c)", acc(16, 64), **types)

    def test_gemv_fills_one_row_of_sixteen(self) -> None:
        call = "pl.tile.gemv(a, b, acc_phase='unspecified')"
        check(call, acc(16, 32, valid=(1, 32)), a=tile(Mem.Left, 1, 64), b=tile(Mem.Right, 64, 32))

    def test_batch(self) -> None:
        check("pl.tile.batch_matmul(a, b)", acc(4, 16, 32), a=mat(4, 16, 64), b=mat(4, 64, 32))

    def test_mx(self) -> None:
        types = {
            "a": tile(Mem.Left, 16, 64, dtype="FP8E4M3FN"),
            "s": tile(Mem.LeftScale, 16, 2, dtype="FP8E8M0"),
            "b": tile(Mem.Right, 64, 32, dtype="FP8E4M3FN"),
            "t": tile(Mem.RightScale, 2, 32, dtype="FP8E8M0"),
        }
        check("pl.tile.matmul_mx(a, s, b, t)", acc(16, 32), **types)


class TestLoadAndStore:
    def test_into_vec_it_is_flat_and_into_mat_boxed(self) -> None:
        check(
            "pl.tile.load(t, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)",
            vec(16, 64),
            t=tensor(96, 64),
        )
        check(
            "pl.tile.load(t, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)",
            mat(16, 64),
            t=tensor(96, 64),
        )

    def test_without_target_memory_the_space_is_open(self) -> None:
        check("pl.tile.load(t, [0, 0], [16, 64], [16, 64])", tile(None, 16, 64), t=tensor(96, 64))

    def test_a_dn_tensor_swaps_the_boxes(self) -> None:
        call = "pl.tile.load(t, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)"
        check(call, mat(64, 32, **BOXED_OTHER_WAY), t=tensor(64, 32, layout="DN"))

    def test_a_single_row_in_mat_is_flat(self) -> None:
        call = "pl.tile.load(t, [0, 0], [1, 64], [1, 64], target_memory=pl.Mem.Mat)"
        check(call, mat(1, 64, **BY_ROWS), t=tensor(1, 64))

    def test_the_valid_shape_is_kept(self) -> None:
        call = "pl.tile.load(t, [0, 0], [16, 64], [n, 64], target_memory=pl.Mem.Mat)"
        check(call, mat(16, 64, valid=(N, 64)), t=tensor(12, 64), n=INDEX)

    def test_clamping_and_scale_layouts_stay_open(self) -> None:
        call = "pl.tile.load(t, [0, 0], [16, 64], [16, 64], clamp=True, target_memory=pl.Mem.Vec)"
        assert deduced(call, t=tensor(12, 64)) is None
        call = "pl.tile.load(t, [0, 0], [16, 2], [16, 2], target_memory=pl.Mem.Mat)"
        assert deduced(call, t=tensor(16, 2, layout="MX_A_ZZ")) is None

    def test_a_store_gives_the_tensor_with_its_view(self) -> None:
        target = tensor(16, 24, stride=(96, 1), layout="ND")
        check("pl.tile.store(x, [0, 0], t)", target, x=acc(16, 24), t=target)


class TestMove:
    def test_into_a_boxed_space_the_layout_is_the_implicit_one(self) -> None:
        transposed = mat(64, 32, dtype="FP16", **BOXED_OTHER_WAY)
        check("pl.tile.move(x, target_memory=pl.Mem.Left)", tile(Mem.Left, 64, 32, dtype="FP16"), x=transposed)
        check("pl.tile.move(x, target_memory=pl.Mem.Right)", tile(Mem.Right, 64, 32, dtype="FP16"), x=transposed)
        check("pl.tile.move(x, target_memory=pl.Mem.Acc)", acc(16, 32), x=vec(16, 32))

    def test_into_a_flat_space_the_block_layouts_stay(self) -> None:
        check("pl.tile.move(x, target_memory=pl.Mem.Vec)", vec(32, 96, **BOXED), x=mat(32, 96))
        check("pl.tile.move(x, target_memory=pl.Mem.Bias)", tile(Mem.Bias, 1, 64), x=mat(1, 64, **BY_ROWS))

    def test_keywords_decide_the_layout_of_a_flat_target(self) -> None:
        keywords = "blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box"
        check(f"pl.tile.move(x, target_memory=pl.Mem.Vec, {keywords})", vec(16, 32), x=acc(16, 32))

    def test_valid_shape_and_pad_go_along_and_compact_does_not(self) -> None:
        x = vec(16, 32, valid=(N, 32), pad="min", compact="normal")
        expected = tile(Mem.Left, 16, 32, valid=(N, 32), pad="min")
        check("pl.tile.move(x, target_memory=pl.Mem.Left)", expected, x=x)

    def test_the_default_target_is_vec(self) -> None:
        check("pl.tile.move(x)", vec(16, 32, **BOXED), x=mat(16, 32))

    def test_scales_become_exponents(self) -> None:
        rows = {"blayout": "row_major", "slayout": "row_major"}
        columns = {"blayout": "col_major", "slayout": "col_major"}
        left, right = mat(16, 2, dtype="UINT8", **rows), mat(2, 32, dtype="UINT8", **columns)
        check(
            "pl.tile.move(s, target_memory=pl.Mem.LeftScale)",
            tile(Mem.LeftScale, 16, 2, dtype="FP8E8M0"),
            s=left,
        )
        check(
            "pl.tile.move(s, target_memory=pl.Mem.RightScale)",
            tile(Mem.RightScale, 2, 32, dtype="FP8E8M0"),
            s=right,
        )


class TestExtract:
    def test_left_is_stored_by_rows_of_boxes(self) -> None:
        expected = tile(Mem.Left, 16, 64, blayout="row_major")
        check("pl.tile.extract(x, 0, k, [16, 64], target_memory=pl.Mem.Left)", expected, x=mat(16, 256), k=INDEX)

    def test_right_is_as_always(self) -> None:
        expected = tile(Mem.Right, 64, 32)
        check(
            "pl.tile.extract(x, k, 0, [64, 32], target_memory=pl.Mem.Right)",
            expected,
            x=mat(256, 32),
            k=INDEX,
        )

    def test_the_pad_of_a_vec_tile_is_left_behind(self) -> None:
        call = "pl.tile.extract(x, 0, 32, [32, 32], target_memory=pl.Mem.Vec)"
        check(call, vec(32, 32), x=vec(32, 96, pad="zero"))

    def test_a_window_of_a_narrowed_tile_is_narrowed_and_compact(self) -> None:
        expected = tile(Mem.Left, 32, 64, valid=(16, 64), blayout="row_major", compact="normal")
        call = "pl.tile.extract(x, 32, k, [32, 64], target_memory=pl.Mem.Left)"
        check(call, expected, x=mat(64, 256, valid=(48, 256)), k=INDEX)

    def test_a_moving_window_of_a_narrowed_tile_stays_open(self) -> None:
        call = "pl.tile.extract(x, k, 0, [16, 64], target_memory=pl.Mem.Left)"
        assert deduced(call, x=mat(64, 64, valid=(48, 64)), k=INDEX) is None


class TestViews:
    def test_slice_keeps_space_layout_and_pad(self) -> None:
        check("pl.tile.slice(x, [16, 16], [0, 16])", acc(16, 16), x=acc(16, 32))
        check("pl.tile.slice(x, [32, 32], [0, 0])", vec(32, 32, pad="zero"), x=vec(32, 96, pad="zero"))
        check("pl.tile.slice(x, [16, 1], [0, 0])", vec(16, 1, blayout="row_major"), x=vec(16, 32))

    def test_slice_with_valid_shape_and_dropped_dimensions(self) -> None:
        check("pl.tile.slice(x, [16, 32], [0, 0], [n, 32])", vec(16, 32, valid=(N, 32)), x=vec(16, 64), n=INDEX)
        check("pl.tile.slice(x, [16, 1, 32], [0, 3, 0], [], [1])", vec(16, 32), x=vec(16, 8, 32))

    def test_slice_of_a_narrowed_tile_is_known_where_all_of_it_is_valid(self) -> None:
        check("pl.tile.slice(x, [16, 32], [0, 0])", vec(16, 32), x=vec(64, 32, valid=(48, 32)))
        assert deduced("pl.tile.slice(x, [32, 32], [32, 0])", x=vec(64, 32, valid=(48, 32))) is None

    def test_reshape_is_plain(self) -> None:
        check("pl.tile.reshape(x, [16, 32])", vec(16, 32), x=vec(32, 16, pad="min", **BOXED))
        check("pl.tile.reshape(x, [1, 16])", vec(1, 16), x=vec(16, 1, blayout="row_major"))
        check("pl.tile.reshape(x, [32, 16])", acc(32, 16), x=acc(16, 32))

    def test_transpose_view_swaps_extents_and_boxes(self) -> None:
        expected = mat(64, 32, valid=(60, 32), **BOXED_OTHER_WAY)
        check("pl.tile.transpose_view(x)", expected, x=mat(32, 64, valid=(32, 60)))
        check("pl.tile.transpose_view(x)", mat(32, 64), x=mat(64, 32, **BOXED_OTHER_WAY))

    def test_transpose_swaps_extents_of_a_flat_tile(self) -> None:
        check("pl.tile.transpose(x, 0, 1)", vec(64, 16, valid=(64, 12)), x=vec(16, 64, valid=(12, 64)))
        assert deduced("pl.tile.transpose(x, 0, 1)", x=vec(64, 16, **BOXED)) is None

    def test_set_validshape_changes_nothing_else(self) -> None:
        boxed = vec(32, 48, compact="normal", pad="min", **BOXED)
        narrowed = vec(32, 48, valid=(N, 40), compact="normal", pad="min", **BOXED)
        check("pl.tile.set_validshape(x, n, 40)", narrowed, x=boxed, n=INDEX)
        check("pl.tile.set_validshape(x, 32, 48)", boxed, x=narrowed)

    def test_fillpad_makes_all_valid_and_records_the_pad(self) -> None:
        narrowed = vec(32, 16, valid=(32, N), **BOXED)
        check("pl.tile.fillpad(x, pad_value=pl.PadValue.min)", vec(32, 16, pad="min", **BOXED), x=narrowed)
        check(
            "pl.tile.fillpad_expand(x, [32, 64], pad_value=pl.PadValue.zero)",
            vec(32, 64, pad="zero"),
            x=vec(32, 16),
        )

    def test_assemble_gives_the_target(self) -> None:
        check("pl.tile.assemble(x, y, [0, 32])", mat(32, 96), x=mat(32, 96), y=acc(32, 48))

    def test_concat_puts_columns_side_by_side(self) -> None:
        check("pl.tile.concat(x, y)", vec(16, 96), x=vec(16, 32), y=vec(16, 64))


class TestCreation:
    def test_create_has_the_layout_of_its_space(self) -> None:
        check("pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)", acc(16, 32))
        check("pl.tile.create([16, 32], dtype=pl.FP32)", tile(None, 16, 32))

    def test_full_stores_a_column_by_rows(self) -> None:
        check("pl.tile.full([16, 1], dtype=pl.FP32, value=0.0)", vec(16, 1, blayout="row_major"))
        check("pl.tile.full([16, 32], dtype=pl.INT32, value=0)", vec(16, 32, dtype="INT32"))

    def test_ci(self) -> None:
        call = "pl.tile.ci(pl.const(0, pl.UINT32), [1, 128], dtype=pl.UINT32, descending=False)"
        check(call, vec(1, 128, dtype="UINT32"))


class TestGatherAndSort:
    def test_gather_is_shaped_like_the_indices(self) -> None:
        indices = vec(1, 8, dtype="INT32")
        check("pl.tile.gather(x, i, t)", vec(1, 8), x=vec(1, 128), i=indices, t=indices)

    def test_gather_mask_takes_every_second_element(self) -> None:
        check("pl.tile.gather_mask(x, mask_pattern=1)", vec(4, 80), x=vec(4, 160))
        call = "pl.tile.gather_mask(x, mask_pattern=2, output_dtype=pl.INT32)"
        check(call, vec(1, 8, dtype="INT32"), x=vec(1, 16))
        assert deduced("pl.tile.gather_mask(x, mask_pattern=7)", x=vec(4, 160)) is None

    def test_gather_compare_gives_positions_and_counts(self) -> None:
        expected = TupleType((vec(16, 8, dtype="INT32"), vec(1, 16, dtype="INT32")))
        call = "pl.tile.gather_compare(x, 1.0, t, cmp_mode=5, offset=0, out_cols=8)"
        check(call, expected, x=vec(16, 64), t=vec(16, 64, dtype="UINT8"))

    def test_sort32_pairs_values_with_indices(self) -> None:
        check("pl.tile.sort32(x, i)", vec(1, 256), x=vec(1, 128), i=vec(1, 128, dtype="UINT32"))
        check("pl.tile.mrgsort_format1(x, pl.const(64, pl.INT32))", vec(1, 256), x=vec(1, 256))


class TestTensors:
    def test_create_and_full(self) -> None:
        call = "pl.tensor.create([n, 64], dtype=pl.BF16, layout=pl.TensorLayout.ND)"
        check(call, tensor(N, 64, dtype="BF16"), n=INDEX)
        check("pl.tensor.full([16, 64], dtype=pl.FP32, value=0.0)", tensor(16, 64))

    def test_slice_is_typed_as_dense(self) -> None:
        check("pl.tensor.slice(x, [16, 24], [n, 0])", tensor(16, 24), x=tensor(96, 40, stride=(80, 1)), n=INDEX)
        check("pl.tensor.slice(x, [16, 1, 24], [0, 3, 0], [], [1])", tensor(16, 24), x=tensor(32, 8, 24))

    def test_assemble_is_typed_as_the_dense_target(self) -> None:
        strided = tensor(64, 96, stride=(128, 1), layout="ND")
        check("pl.tensor.assemble(x, y, [0, 0])", tensor(64, 96), x=strided, y=tensor(16, 24))

    def test_reshape(self) -> None:
        check("pl.tensor.reshape(x, [256, 64])", tensor(256, 64), x=tensor(4, 64, 64))

    def test_arithmetic(self) -> None:
        check("pl.tensor.add(x, y)", tensor(16, 64), x=tensor(16, 64), y=tensor(16, 64))
        check("pl.tensor.muls(x, 2.0)", tensor(16, 64), x=tensor(16, 64))
        check(
            "pl.tensor.cast(x, target_type=pl.BF16, mode='rint')",
            tensor(16, 64, dtype="BF16"),
            x=tensor(16, 64),
        )
        check("pl.tensor.row_max(x, axis=-1, keep_dim=True)", tensor(16, 1), x=tensor(16, 64))
        assert deduced("pl.tensor.add(x, y)", x=tensor(16, 64), y=tensor(1, 64)) is None

    def test_matmul(self) -> None:
        call = "pl.tensor.matmul(a, b, b_trans=True, out_dtype=pl.FP32)"
        check(call, tensor(16, 32), a=tensor(16, 64, dtype="BF16"), b=tensor(32, 64, dtype="BF16"))

    def test_scalars_read_from_memory(self) -> None:
        check("pl.tensor.read(x, [0, 0])", ScalarType("INT32"), x=tensor(8, 8, dtype="INT32"))
        check("pl.tile.read(x, [0, 0])", ScalarType("FP32"), x=acc(16, 32))
        check("pl.tensor.dim(x, 0)", INDEX, x=tensor(N, 8))
        check("pl.tile.get_block_idx()", INDEX)

    def test_arrays(self) -> None:
        array = ArrayType(8, "INT32")
        check("pl.array.create(8, dtype=pl.INT32)", array)
        check("pl.array.update_element(a, 0, n)", array, a=array, n=INDEX)
        check("pl.array.get_element(a, 0)", ScalarType("INT32"), a=array)


class TestOpsWithoutResultType:
    @pytest.mark.parametrize("call", ["pl.system.bar_all()", "pl.tile.tpop_from_aiv(split=0)", "pl.nothing.known(x)"])
    def test_have_none(self, call: str) -> None:
        assert deduced(call, x=vec(16, 32)) is None

    def test_and_neither_has_a_call_with_an_unknown_operand(self) -> None:
        assert deduce_call(OpCall("tile.exp", (Var("x"),)), [None]) is None
        assert deduce_call(OpCall("tile.exp", (Var("x"),)), [OpaqueType("pl.Ptr")]) is None


class TestScalars:
    @pytest.mark.parametrize(
        ("text", "dtype"),
        [
            ("7", "INDEX"),
            ("0.5", "FP32"),
            ("True", "BOOL"),
            ("n * 2 + 1", "INDEX"),
            ("pl.min(n, 64)", "INDEX"),
            ("-f", "FP16"),
            ("f * 2", "FP16"),
            ("0.5 * f", "FP16"),
            ("n < 4 and n != 2", "BOOL"),
            ("not (n < 4)", "BOOL"),
            ("pl.cast(n, pl.INT32)", "INT32"),
            ("t[1]", "TASK_ID"),
            ("t[1] == t[1]", "BOOL"),
        ],
    )
    def test_dtype(self, text: str, dtype: str) -> None:
        task = TupleType((vec(16, 16), ScalarType("TASK_ID")))
        check(text, ScalarType(dtype), n=INDEX, f=ScalarType("FP16"), t=task)

    def test_loop_indices_and_symbolic_dimensions_count_as_index(self) -> None:
        """``variable_types`` has every variable but these."""
        assert deduce_type(parsed("n // 2 + k", ("n", "k")), {"k": INDEX}) == INDEX
        assert deduce_type(Var("n"), {}) is None

    def test_two_dtypes_without_a_cast_stay_open(self) -> None:
        assert deduced("n + i", n=INDEX, i=ScalarType("INT32")) is None
        assert deduced("n / 2", n=INDEX) is None


SIGNATURES: dict[str, tuple[Type, ...]] = {"void": (), "one": (tensor(8),), "two": (tensor(8), tensor(9))}


class TestCallsOfFunctions:
    @pytest.mark.parametrize(
        ("callee", "expected"),
        [("void", None), ("one", tensor(8)), ("two", TupleType((tensor(8), tensor(9)))), ("unknown", None)],
    )
    def test_call(self, callee: str, expected: Type | None) -> None:
        assert deduce_type(FuncCall(callee, ()), {}, SIGNATURES) == expected

    def test_submit_ends_with_the_task_id(self) -> None:
        task = ScalarType("TASK_ID")
        assert deduce_type(Submit("void", ()), {}, SIGNATURES) == TupleType((task,))
        assert deduce_type(Submit("two", ()), {}, SIGNATURES) == TupleType((tensor(8), tensor(9), task))

    def test_projection_and_tuple(self) -> None:
        types = {"t": TupleType((tensor(8), INDEX))}
        assert deduce_type(TupleGet(Var("t"), 0), types) == tensor(8)
        assert deduce_type(TupleGet(Var("t"), 2), types) is None
        assert deduce_type(ListExpr((TupleGet(Var("t"), 0), Const(1))), types) == TupleType((tensor(8), INDEX))
