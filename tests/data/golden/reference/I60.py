# pypto.program: InheritOrder
import pypto.language as pl

@pl.program
class InheritOrder:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def merge(a__ssa_v0: pl.Tensor[[16, 64], pl.FP32], b__ssa_v0: pl.Tensor[[16, 32], pl.FP32], o__ssa_v0: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        at__ssa_v0: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(a__ssa_v0, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        bt__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Mat] = pl.tile.load(b__ssa_v0, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        bt__ssa_v0_Vec: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, pl.TileView(blayout=pl.TileLayout.col_major, slayout=pl.TileLayout.row_major)] = pl.tile.move(bt__ssa_v0, target_memory=pl.Mem.Vec)
        j__ssa_v0: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.assemble(at__ssa_v0, bt__ssa_v0_Vec, [0, 32])
        r__ssa_v0: pl.Tensor[[16, 64], pl.FP32] = pl.tile.store(j__ssa_v0, [0, 0], o__ssa_v0)
        return r__ssa_v0
