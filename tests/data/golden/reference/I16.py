# pypto.program: HeldCarry
import pypto.language as pl

@pl.program
class HeldCarry:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def hold(a__ssa_v0: pl.Tensor[[16, 64], pl.FP16], b__ssa_v0: pl.Tensor[[64, 32], pl.FP16], o__ssa_v0: pl.Out[pl.Tensor[[16, 32], pl.FP32]]) -> pl.Tensor[[16, 32], pl.FP32]:
        at__ssa_v0: pl.Tile[[16, 64], pl.FP16, pl.Mem.Mat] = pl.tile.load(a__ssa_v0, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        bt__ssa_v0: pl.Tile[[64, 32], pl.FP16, pl.Mem.Mat] = pl.tile.load(b__ssa_v0, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        at__ssa_v0_Left: pl.Tile[[16, 64], pl.FP16, pl.Mem.Left] = pl.tile.move(at__ssa_v0, target_memory=pl.Mem.Left)
        bt__ssa_v0_Right: pl.Tile[[64, 32], pl.FP16, pl.Mem.Right] = pl.tile.move(bt__ssa_v0, target_memory=pl.Mem.Right)
        keep0__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(at__ssa_v0_Left, bt__ssa_v0_Right)
        run0__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        for k__idx_v0, (keep, run) in pl.range(3, init_values=(keep0__ssa_v0, run0__ssa_v0)):
            nxt__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_acc(run, at__ssa_v0_Left, bt__ssa_v0_Right)
            keep1, run1 = pl.yield_(keep, nxt__ssa_v0)
        v__ssa_v0: pl.Tile[[32, 16], pl.FP32, pl.Mem.Acc] = pl.tile.reshape(keep1, [32, 16])
        v__ssa_v0_Vec: pl.Tile[[32, 16], pl.FP32, pl.Mem.Vec] = pl.tile.move(v__ssa_v0, target_memory=pl.Mem.Vec, blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box)
        w__ssa_v0: pl.Tile[[32, 16], pl.FP32, pl.Mem.Vec] = pl.tile.exp(v__ssa_v0_Vec)
        z__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.reshape(w__ssa_v0, [16, 32])
        r__ssa_v0: pl.Tensor[[16, 32], pl.FP32] = pl.tile.store(z__ssa_v0, [0, 0], o__ssa_v0)
        return r__ssa_v0
