# pypto.program: SpillOver
import pypto.language as pl

@pl.program
class SpillOver:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def fork(a__ssa_v0: pl.Tensor[[16, 64], pl.FP16], b__ssa_v0: pl.Tensor[[64, 32], pl.FP16], sel__ssa_v0: pl.Scalar[pl.INDEX], o__ssa_v0: pl.Out[pl.Tensor[[16, 32], pl.FP32]]) -> pl.Tensor[[16, 32], pl.FP32]:
        at__ssa_v0: pl.Tile[[16, 64], pl.FP16, pl.Mem.Mat] = pl.tile.load(a__ssa_v0, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        bt__ssa_v0: pl.Tile[[64, 32], pl.FP16, pl.Mem.Mat] = pl.tile.load(b__ssa_v0, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        at__ssa_v0_Left: pl.Tile[[16, 64], pl.FP16, pl.Mem.Left] = pl.tile.move(at__ssa_v0, target_memory=pl.Mem.Left)
        bt__ssa_v0_Right: pl.Tile[[64, 32], pl.FP16, pl.Mem.Right] = pl.tile.move(bt__ssa_v0, target_memory=pl.Mem.Right)
        m__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(at__ssa_v0_Left, bt__ssa_v0_Right)
        if sel__ssa_v0 == 0:
            r0__ssa_v0: pl.Tensor[[16, 32], pl.FP32] = pl.tile.store(m__ssa_v0, [0, 0], o__ssa_v0)
            z__rv_v0: pl.Tensor[[16, 32], pl.FP32] = pl.yield_(r0__ssa_v0)
        else:
            m__ssa_v0_Vec: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.move(m__ssa_v0, target_memory=pl.Mem.Vec, blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box)
            e__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.exp(m__ssa_v0_Vec)
            r1__ssa_v0: pl.Tensor[[16, 32], pl.FP32] = pl.tile.store(e__ssa_v0, [0, 0], o__ssa_v0)
            z__rv_v0: pl.Tensor[[16, 32], pl.FP32] = pl.yield_(r1__ssa_v0)
        return z__rv_v0
