# pypto.program: ScalarExpressions
import pypto.language as pl

N = pl.dynamic("N")

@pl.program
class ScalarExpressions:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def operators(a__ssa_v0: pl.Scalar[pl.INDEX], b__ssa_v0: pl.Scalar[pl.INDEX], c__ssa_v0: pl.Scalar[pl.INDEX], p__ssa_v0: pl.Scalar[pl.BOOL], q__ssa_v0: pl.Scalar[pl.BOOL], x__ssa_v0: pl.Scalar[pl.FP32]):
        s__ssa_v0: pl.Scalar[pl.INDEX] = a__ssa_v0 + b__ssa_v0 - c__ssa_v0
        s__ssa_v1: pl.Scalar[pl.INDEX] = a__ssa_v0 - (b__ssa_v0 - c__ssa_v0)
        s__ssa_v2: pl.Scalar[pl.INDEX] = a__ssa_v0 - (b__ssa_v0 + c__ssa_v0) + 1
        s__ssa_v3: pl.Scalar[pl.INDEX] = (a__ssa_v0 + b__ssa_v0) * c__ssa_v0
        s__ssa_v4: pl.Scalar[pl.INDEX] = a__ssa_v0 + b__ssa_v0 * c__ssa_v0
        s__ssa_v5: pl.Scalar[pl.INDEX] = a__ssa_v0 * (b__ssa_v0 * c__ssa_v0)
        s__ssa_v6: pl.Scalar[pl.INDEX] = a__ssa_v0 // b__ssa_v0 % c__ssa_v0
        s__ssa_v7: pl.Scalar[pl.INDEX] = a__ssa_v0 // (b__ssa_v0 % c__ssa_v0)
        s__ssa_v8: pl.Scalar[pl.INDEX] = a__ssa_v0 ** b__ssa_v0 ** c__ssa_v0
        s__ssa_v9: pl.Scalar[pl.INDEX] = (a__ssa_v0 ** b__ssa_v0) ** c__ssa_v0
        s__ssa_v10: pl.Scalar[pl.INDEX] = -a__ssa_v0 ** 2
        s__ssa_v11: pl.Scalar[pl.INDEX] = (-a__ssa_v0) ** 2
        s__ssa_v12: pl.Scalar[pl.INDEX] = 2 ** -a__ssa_v0
        s__ssa_v13: pl.Scalar[pl.INDEX] = -(a__ssa_v0 + b__ssa_v0) * -c__ssa_v0
        s__ssa_v14: pl.Scalar[pl.INDEX] = --a__ssa_v0 - -1
        s__ssa_v15: pl.Scalar[pl.INDEX] = -pl.const(1, pl.INDEX) + a__ssa_v0
        s__ssa_v16: pl.Scalar[pl.INDEX] = a__ssa_v0 & b__ssa_v0 | c__ssa_v0 ^ 7
        s__ssa_v17: pl.Scalar[pl.INDEX] = a__ssa_v0 & (b__ssa_v0 | c__ssa_v0) ^ 7
        s__ssa_v18: pl.Scalar[pl.INDEX] = a__ssa_v0 << 2 >> b__ssa_v0
        s__ssa_v19: pl.Scalar[pl.INDEX] = a__ssa_v0 << (2 >> b__ssa_v0)
        s__ssa_v20: pl.Scalar[pl.INDEX] = a__ssa_v0 + 1 << b__ssa_v0 - 1
        s__ssa_v21: pl.Scalar[pl.INDEX] = a__ssa_v0 + (1 << b__ssa_v0)
        s__ssa_v22: pl.Scalar[pl.INDEX] = ~a__ssa_v0 & ~(b__ssa_v0 + 1)
        s__ssa_v23: pl.Scalar[pl.FP32] = x__ssa_v0 / 3.0 / (x__ssa_v0 / 7.0)
        t__ssa_v0: pl.Scalar[pl.BOOL] = a__ssa_v0 < b__ssa_v0 + 1
        t__ssa_v1: pl.Scalar[pl.BOOL] = a__ssa_v0 <= b__ssa_v0 and b__ssa_v0 >= c__ssa_v0 or a__ssa_v0 != c__ssa_v0
        t__ssa_v2: pl.Scalar[pl.BOOL] = a__ssa_v0 > b__ssa_v0 and (p__ssa_v0 or q__ssa_v0)
        t__ssa_v3: pl.Scalar[pl.BOOL] = p__ssa_v0 and (q__ssa_v0 and p__ssa_v0)
        t__ssa_v4: pl.Scalar[pl.BOOL] = p__ssa_v0 or q__ssa_v0 or a__ssa_v0 == 0
        t__ssa_v5: pl.Scalar[pl.BOOL] = not p__ssa_v0 and not (q__ssa_v0 or p__ssa_v0)
        t__ssa_v6: pl.Scalar[pl.BOOL] = not a__ssa_v0 < b__ssa_v0
        t__ssa_v7: pl.Scalar[pl.BOOL] = (not p__ssa_v0) == q__ssa_v0
        t__ssa_v8: pl.Scalar[pl.BOOL] = (a__ssa_v0 < b__ssa_v0) == (b__ssa_v0 < c__ssa_v0)
        t__ssa_v9: pl.Scalar[pl.BOOL] = a__ssa_v0 & 1 == b__ssa_v0 | 2
        t__ssa_v10: pl.Scalar[pl.BOOL] = not not p__ssa_v0
        t__ssa_v11: pl.Scalar[pl.BOOL] = True
        t__ssa_v12: pl.Scalar[pl.BOOL] = p__ssa_v0 == False
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def constants(a__ssa_v0: pl.Scalar[pl.INDEX], x__ssa_v0: pl.Scalar[pl.FP32]):
        i__ssa_v0: pl.Scalar[pl.INDEX] = 4096
        i__ssa_v1: pl.Scalar[pl.INDEX] = -16
        i__ssa_v2: pl.Scalar[pl.INT32] = pl.const(7, pl.INT32)
        i__ssa_v3: pl.Scalar[pl.INT64] = pl.const(-9223372036854775808, pl.INT64)
        i__ssa_v4: pl.Scalar[pl.UINT64] = pl.const(18446744073709551615, pl.UINT64)
        i__ssa_v5: pl.Scalar[pl.INT8] = pl.const(-1, pl.INT8)
        i__ssa_v6: pl.Scalar[pl.BOOL] = pl.const(1, pl.BOOL)
        f__ssa_v0: pl.Scalar[pl.FP32] = 0.5
        f__ssa_v1: pl.Scalar[pl.FP32] = 1.0000000000000001e-05
        f__ssa_v2: pl.Scalar[pl.FP32] = 1e+20
        f__ssa_v3: pl.Scalar[pl.FP32] = -2.0
        f__ssa_v4: pl.Scalar[pl.FP32] = -0.0
        f__ssa_v5: pl.Scalar[pl.FP32] = 0.10000000000000001
        f__ssa_v6: pl.Scalar[pl.FP32] = float("inf")
        f__ssa_v7: pl.Scalar[pl.FP32] = float("-inf")
        f__ssa_v8: pl.Scalar[pl.FP32] = float("nan")
        f__ssa_v9: pl.Scalar[pl.FP16] = pl.const(0.5, pl.FP16)
        f__ssa_v10: pl.Scalar[pl.BF16] = pl.const(-1.0000000000000001e-30, pl.BF16)
        f__ssa_v11: pl.Scalar[pl.FP16] = pl.const(float("-inf"), pl.FP16)
        f__ssa_v12: pl.Scalar[pl.FP32] = 3.4028234663852886e+38
        f__ssa_v13: pl.Scalar[pl.FP32] = 9.9999999999999998e-46
        k__ssa_v0: pl.Scalar[pl.INDEX] = pl.const(0, pl.INDEX) * pl.const(32, pl.INDEX)
        k__ssa_v1: pl.Scalar[pl.INDEX] = pl.const(0, pl.INDEX) * pl.const(32, pl.INDEX) + a__ssa_v0
        k__ssa_v2: pl.Scalar[pl.FP32] = pl.const(1.0, pl.FP32) - pl.const(-0.5, pl.FP32)
        k__ssa_v3: pl.Scalar[pl.BOOL] = pl.const(3, pl.INT32) < pl.const(4, pl.INT32)
        k__ssa_v4: pl.Scalar[pl.BOOL] = True and False
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def functions(data__ssa_v0: pl.Tensor[[N, 64], pl.INT32], a__ssa_v0: pl.Scalar[pl.INDEX], x__ssa_v0: pl.Scalar[pl.FP32]) -> pl.Scalar[pl.INDEX]:
        m__ssa_v0: pl.Scalar[pl.INDEX] = pl.min(a__ssa_v0, 32)
        m__ssa_v1: pl.Scalar[pl.INDEX] = pl.max(pl.min(a__ssa_v0 - 1, N), 0) + pl.abs(-a__ssa_v0)
        m__ssa_v2: pl.Scalar[pl.INDEX] = pl.min(3, 4)
        c__ssa_v0: pl.Scalar[pl.INT32] = pl.tensor.read(data__ssa_v0, [a__ssa_v0, 0])
        c__ssa_v1: pl.Scalar[pl.INDEX] = pl.cast(c__ssa_v0, pl.INDEX)
        c__ssa_v2: pl.Scalar[pl.FP32] = pl.cast(pl.cast(a__ssa_v0 + 1, pl.INT32), pl.FP32) * x__ssa_v0
        d__ssa_v0: pl.Scalar[pl.INDEX] = pl.tensor.dim(data__ssa_v0, 0)
        e__ssa_v0: pl.Scalar[pl.INDEX] = pl.tile.get_block_idx()
        return m__ssa_v1
