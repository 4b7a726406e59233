# pypto.program: LoneStmt
import pypto.language as pl

@pl.program
class LoneStmt:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def poke_loop(a__ssa_v0: pl.Tensor[[16, 64], pl.FP16], b__ssa_v0: pl.Tensor[[64, 32], pl.FP16], s__ssa_v0: pl.Scalar[pl.FP16], o__ssa_v0: pl.Out[pl.Tensor[[16, 32], pl.FP32]]) -> pl.Tensor[[16, 32], pl.FP32]:
        at__ssa_v0: pl.Tile[[16, 64], pl.FP16, pl.Mem.Mat] = pl.tile.load(a__ssa_v0, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        bt__ssa_v0: pl.Tile[[64, 32], pl.FP16, pl.Mem.Mat] = pl.tile.load(b__ssa_v0, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        at__ssa_v0_Vec: pl.Tile[[16, 64], pl.FP16, pl.Mem.Vec] = pl.tile.move(at__ssa_v0, target_memory=pl.Mem.Vec, blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box)
        for i__idx_v0 in pl.range(4):
            pl.tile.write(at__ssa_v0_Vec, [i__idx_v0, 0], s__ssa_v0)
        at__ssa_v0_Left: pl.Tile[[16, 64], pl.FP16, pl.Mem.Left] = pl.tile.move(at__ssa_v0_Vec, target_memory=pl.Mem.Left)
        bt__ssa_v0_Right: pl.Tile[[64, 32], pl.FP16, pl.Mem.Right] = pl.tile.move(bt__ssa_v0, target_memory=pl.Mem.Right)
        m__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(at__ssa_v0_Left, bt__ssa_v0_Right)
        r__ssa_v0: pl.Tensor[[16, 32], pl.FP32] = pl.tile.store(m__ssa_v0, [0, 0], o__ssa_v0)
        return r__ssa_v0
