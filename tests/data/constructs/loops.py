# pypto.program: LoopKinds
import pypto.language as pl

@pl.program
class LoopKinds:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def plain_loops(x__ssa_v0: pl.Tensor[[256, 64], pl.FP32], n__ssa_v0: pl.Scalar[pl.INDEX], y__ssa_v0: pl.InOut[pl.Tensor[[256, 64], pl.FP32]]):
        for i__idx_v0 in pl.range(4):
            pl.tensor.write(y__ssa_v0, [i__idx_v0, 0], 1.5)
        for i__idx_v0_1 in pl.range(2, n__ssa_v0):
            pl.tensor.write(y__ssa_v0, [i__idx_v0_1, 1], 2.5)
        for i__idx_v0_2 in pl.range(0, n__ssa_v0 * 16, 16):
            pl.tensor.write(y__ssa_v0, [i__idx_v0_2, 2], 3.5)
        for i__idx_v0_3 in pl.range(15, -1, -1):
            pl.tensor.write(y__ssa_v0, [i__idx_v0_3, 3], 4.5)
        for i__idx_v0_4 in pl.parallel(8):
            pl.tensor.write(y__ssa_v0, [i__idx_v0_4, 4], 5.5)
        for i__idx_v0_5 in pl.pipeline(1, 8, stage=2):
            pl.tensor.write(y__ssa_v0, [i__idx_v0_5, 5], 6.5)
        for i__idx_v0_6 in pl.unroll(4):
            pl.tensor.write(y__ssa_v0, [i__idx_v0_6, 6], 7.5)
        for lane__idx_v0 in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            pl.tensor.write(y__ssa_v0, [lane__idx_v0, 7], 8.5)
        for i__idx_v0_7 in pl.range(0):
            pass
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def carried_loops(x__ssa_v0: pl.Tensor[[256, 64], pl.FP32], blocks__ssa_v0: pl.Scalar[pl.INDEX], y__ssa_v0: pl.Out[pl.Tensor[[256, 64], pl.FP32]], z__ssa_v0: pl.Out[pl.Tensor[[256, 1], pl.FP32]]) -> tuple[pl.Tensor[[256, 64], pl.FP32], pl.Tensor[[256, 1], pl.FP32]]:
        sum0__ssa_v0: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.full([16, 64], dtype=pl.FP32, value=0.0)
        for b__idx_v0, (y__iter_v1, z__iter_v1) in pl.parallel(0, blocks__ssa_v0, 2, init_values=(y__ssa_v0, z__ssa_v0)):
            for k__idx_v0, (sum__iter_v1,) in pl.pipeline(4, stage=2, init_values=(sum0__ssa_v0,), attrs={"pipeline_overlap_stores": False}):
                t__tile: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x__ssa_v0, [b__idx_v0 * 64 + k__idx_v0 * 16, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
                sum__tile: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.add(sum__iter_v1, t__tile)
                sum__rv_v2: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(sum__tile)
            tmp__tile: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
            max__tile: pl.Tile[[16, 1], pl.FP32, pl.Mem.Vec] = pl.tile.row_max(sum__rv_v2, tmp__tile)
            y__tile: pl.Tensor[[256, 64], pl.FP32] = pl.tile.store(sum__rv_v2, [b__idx_v0 * 16, 0], y__iter_v1)
            z__tile: pl.Tensor[[256, 1], pl.FP32] = pl.tile.store(max__tile, [b__idx_v0 * 16, 0], z__iter_v1)
            y__rv_v2, z__rv_v2 = pl.yield_(y__tile, z__tile)
        for i__idx_v0, (y__iter_v3,) in pl.range(blocks__ssa_v0, init_values=(y__rv_v2,)):
            for j__idx_v0, (y__iter_v5,) in pl.range(1, 3, init_values=(y__iter_v3,)):
                y__rv_v6: pl.Tensor[[256, 64], pl.FP32] = pl.yield_(y__iter_v5)
            y__rv_v4: pl.Tensor[[256, 64], pl.FP32] = pl.yield_(y__rv_v6)
        return y__rv_v4, z__rv_v2
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def settle(x__ssa_v0: pl.Tensor[[16, 64], pl.FP32], limit__ssa_v0: pl.Scalar[pl.INDEX], y__ssa_v0: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        seed__tile: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x__ssa_v0, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        for (step, wave) in pl.while_(init_values=(0, seed__tile)):
            pl.cond(step < limit__ssa_v0 and step < 32)
            bent__tile: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.muls(wave, 0.5)
            next__ssa_v0: pl.Scalar[pl.INDEX] = step + 1
            step__rv_v1, wave__rv_v1 = pl.yield_(next__ssa_v0, bent__tile)
        for (left,) in pl.while_(init_values=(step__rv_v1,)):
            pl.cond(left > 0)
            left__rv_v1: pl.Scalar[pl.INDEX] = pl.yield_(left // 2)
        y__tile: pl.Tensor[[16, 64], pl.FP32] = pl.tile.store(wave__rv_v1, [left__rv_v1, 0], y__ssa_v0)
        return y__tile
