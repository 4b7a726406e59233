# pypto.program: ChainedCube
import pypto.language as pl

@pl.program
class ChainedCube:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def abc(a__ssa_v0: pl.Tensor[[16, 32], pl.FP32], b__ssa_v0: pl.Tensor[[32, 48], pl.FP32], c__ssa_v0: pl.Tensor[[48, 16], pl.FP32], o__ssa_v0: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        at__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Mat] = pl.tile.load(a__ssa_v0, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        bt__ssa_v0: pl.Tile[[32, 48], pl.FP32, pl.Mem.Mat] = pl.tile.load(b__ssa_v0, [0, 0], [32, 48], [32, 48], target_memory=pl.Mem.Mat)
        ct__ssa_v0: pl.Tile[[48, 16], pl.FP32, pl.Mem.Mat] = pl.tile.load(c__ssa_v0, [0, 0], [48, 16], [48, 16], target_memory=pl.Mem.Mat)
        at__ssa_v0_Left: pl.Tile[[16, 32], pl.FP32, pl.Mem.Left] = pl.tile.move(at__ssa_v0, target_memory=pl.Mem.Left)
        bt__ssa_v0_Right: pl.Tile[[32, 48], pl.FP32, pl.Mem.Right] = pl.tile.move(bt__ssa_v0, target_memory=pl.Mem.Right)
        ab__ssa_v0: pl.Tile[[16, 48], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(at__ssa_v0_Left, bt__ssa_v0_Right)
        ab__ssa_v0_Mat: pl.Tile[[16, 48], pl.FP32, pl.Mem.Mat] = pl.tile.move(ab__ssa_v0, target_memory=pl.Mem.Mat)
        ab__ssa_v0_Left: pl.Tile[[16, 48], pl.FP32, pl.Mem.Left] = pl.tile.move(ab__ssa_v0_Mat, target_memory=pl.Mem.Left)
        ct__ssa_v0_Right: pl.Tile[[48, 16], pl.FP32, pl.Mem.Right] = pl.tile.move(ct__ssa_v0, target_memory=pl.Mem.Right)
        m__ssa_v0: pl.Tile[[16, 16], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(ab__ssa_v0_Left, ct__ssa_v0_Right)
        r__ssa_v0: pl.Tensor[[16, 16], pl.FP32] = pl.tile.store(m__ssa_v0, [0, 0], o__ssa_v0)
        return r__ssa_v0
