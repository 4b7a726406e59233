# pypto.program: Slices
import pypto.language as pl

@pl.program
class Slices:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def kernel(x: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        a: pl.Tile[[16, 16], pl.FP16, pl.Mem.Vec] = pl.tile.load(x, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Vec)
        s: pl.Tile[[16, 16], pl.FP16, pl.Mem.Vec] = pl.tile.slice(a, [16, 16], [0, 0])
        b: pl.Tile[[16, 16], pl.FP16, pl.Mem.Mat] = pl.tile.load(x, [16, 0], [16, 16], [16, 16], target_memory=pl.Mem.Mat)
        c: pl.Tile[[16, 16], pl.FP16, pl.Mem.Mat] = pl.tile.load(x, [32, 0], [16, 16], [16, 16], target_memory=pl.Mem.Mat)
        p: pl.Tile[[16, 16], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(a, b)
        q: pl.Tile[[16, 16], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(s, c)
        y1: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(p, [0, 0], y)
        y2: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(q, [16, 0], y1)
        return y2
