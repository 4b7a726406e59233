# pypto.program: PhiSplit
import pypto.language as pl

@pl.program
class PhiSplit:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def cube_or_vec(a__ssa_v0: pl.Tensor[[16, 64], pl.BF16], b__ssa_v0: pl.Tensor[[64, 32], pl.BF16], d__ssa_v0: pl.Tensor[[16, 32], pl.FP32], sel__ssa_v0: pl.Scalar[pl.INDEX], o__ssa_v0: pl.Out[pl.Tensor[[16, 32], pl.FP32]]) -> pl.Tensor[[16, 32], pl.FP32]:
        at__ssa_v0: pl.Tile[[16, 64], pl.BF16, pl.Mem.Mat] = pl.tile.load(a__ssa_v0, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        bt__ssa_v0: pl.Tile[[64, 32], pl.BF16, pl.Mem.Mat] = pl.tile.load(b__ssa_v0, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        dt__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.load(d__ssa_v0, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
        if sel__ssa_v0 < 2:
            at__ssa_v0_Left: pl.Tile[[16, 64], pl.BF16, pl.Mem.Left] = pl.tile.move(at__ssa_v0, target_memory=pl.Mem.Left)
            bt__ssa_v0_Right: pl.Tile[[64, 32], pl.BF16, pl.Mem.Right] = pl.tile.move(bt__ssa_v0, target_memory=pl.Mem.Right)
            m0__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(at__ssa_v0_Left, bt__ssa_v0_Right)
            m0__ssa_v0_Vec: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.move(m0__ssa_v0, target_memory=pl.Mem.Vec, blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box)
            z__rv_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.yield_(m0__ssa_v0_Vec)
        else:
            v0__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.exp(dt__ssa_v0)
            z__rv_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.yield_(v0__ssa_v0)
        w__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.add(z__rv_v0, dt__ssa_v0)
        r__ssa_v0: pl.Tensor[[16, 32], pl.FP32] = pl.tile.store(w__ssa_v0, [0, 0], o__ssa_v0)
        return r__ssa_v0
