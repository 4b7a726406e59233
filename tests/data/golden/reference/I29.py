# pypto.program: Biased
import pypto.language as pl

@pl.program
class Biased:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def affine(a__ssa_v0: pl.Tensor[[16, 32], pl.FP16], b__ssa_v0: pl.Tensor[[32, 64], pl.FP16], g__ssa_v0: pl.Tensor[[1, 64], pl.FP32], o__ssa_v0: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        at__ssa_v0: pl.Tile[[16, 32], pl.FP16, pl.Mem.Mat] = pl.tile.load(a__ssa_v0, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        bt__ssa_v0: pl.Tile[[32, 64], pl.FP16, pl.Mem.Mat] = pl.tile.load(b__ssa_v0, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Mat)
        gm__ssa_v0: pl.Tile[[1, 64], pl.FP32, pl.Mem.Mat, pl.TileView(blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box)] = pl.tile.load(g__ssa_v0, [0, 0], [1, 64], [1, 64], target_memory=pl.Mem.Mat)
        at__ssa_v0_Left: pl.Tile[[16, 32], pl.FP16, pl.Mem.Left] = pl.tile.move(at__ssa_v0, target_memory=pl.Mem.Left)
        bt__ssa_v0_Right: pl.Tile[[32, 64], pl.FP16, pl.Mem.Right] = pl.tile.move(bt__ssa_v0, target_memory=pl.Mem.Right)
        gm__ssa_v0_Bias: pl.Tile[[1, 64], pl.FP32, pl.Mem.Bias] = pl.tile.move(gm__ssa_v0, target_memory=pl.Mem.Bias)
        m__ssa_v0: pl.Tile[[16, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_bias(at__ssa_v0_Left, bt__ssa_v0_Right, gm__ssa_v0_Bias)
        r__ssa_v0: pl.Tensor[[16, 64], pl.FP32] = pl.tile.store(m__ssa_v0, [0, 0], o__ssa_v0)
        return r__ssa_v0
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def affine_vec(a__ssa_v0: pl.Tensor[[16, 32], pl.FP16], b__ssa_v0: pl.Tensor[[32, 64], pl.FP16], g__ssa_v0: pl.Tensor[[1, 64], pl.FP32], o__ssa_v0: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        at__ssa_v0: pl.Tile[[16, 32], pl.FP16, pl.Mem.Mat] = pl.tile.load(a__ssa_v0, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        bt__ssa_v0: pl.Tile[[32, 64], pl.FP16, pl.Mem.Mat] = pl.tile.load(b__ssa_v0, [0, 0], [32, 64], [32, 64], target_memory=pl.Mem.Mat)
        gv__ssa_v0: pl.Tile[[1, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(g__ssa_v0, [0, 0], [1, 64], [1, 64], target_memory=pl.Mem.Vec)
        at__ssa_v0_Left: pl.Tile[[16, 32], pl.FP16, pl.Mem.Left] = pl.tile.move(at__ssa_v0, target_memory=pl.Mem.Left)
        bt__ssa_v0_Right: pl.Tile[[32, 64], pl.FP16, pl.Mem.Right] = pl.tile.move(bt__ssa_v0, target_memory=pl.Mem.Right)
        gv__ssa_v0_Mat: pl.Tile[[1, 64], pl.FP32, pl.Mem.Mat] = pl.tile.move(gv__ssa_v0, target_memory=pl.Mem.Mat)
        gv__ssa_v0_Bias: pl.Tile[[1, 64], pl.FP32, pl.Mem.Bias] = pl.tile.move(gv__ssa_v0_Mat, target_memory=pl.Mem.Bias, blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box)
        m__ssa_v0: pl.Tile[[16, 64], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_bias(at__ssa_v0_Left, bt__ssa_v0_Right, gv__ssa_v0_Bias)
        r__ssa_v0: pl.Tensor[[16, 64], pl.FP32] = pl.tile.store(m__ssa_v0, [0, 0], o__ssa_v0)
        return r__ssa_v0
