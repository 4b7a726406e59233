# pypto.program: KwargLoses
import pypto.language as pl

@pl.program
class KwargLoses:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def explicit_vec(a__ssa_v0: pl.Tensor[[16, 64], pl.FP16], b__ssa_v0: pl.Tensor[[64, 32], pl.FP16], o__ssa_v0: pl.Out[pl.Tensor[[16, 32], pl.FP32]]) -> pl.Tensor[[16, 32], pl.FP32]:
        z0__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        at__ssa_v0: pl.Tile[[16, 64], pl.FP16, pl.Mem.Mat] = pl.tile.load(a__ssa_v0, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        bt__ssa_v0: pl.Tile[[64, 32], pl.FP16, pl.Mem.Mat] = pl.tile.load(b__ssa_v0, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        for k__idx_v0, (acc,) in pl.range(2, init_values=(z0__ssa_v0,)):
            at__ssa_v0_Left: pl.Tile[[16, 64], pl.FP16, pl.Mem.Left] = pl.tile.move(at__ssa_v0, target_memory=pl.Mem.Left)
            bt__ssa_v0_Right: pl.Tile[[64, 32], pl.FP16, pl.Mem.Right] = pl.tile.move(bt__ssa_v0, target_memory=pl.Mem.Right)
            nxt__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_acc(acc, at__ssa_v0_Left, bt__ssa_v0_Right)
            fin: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.yield_(nxt__ssa_v0)
        r__ssa_v0: pl.Tensor[[16, 32], pl.FP32] = pl.tile.store(fin, [0, 0], o__ssa_v0)
        return r__ssa_v0
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def load_seed(s__ssa_v0: pl.Tensor[[16, 32], pl.FP32], a__ssa_v0: pl.Tensor[[16, 64], pl.FP16], b__ssa_v0: pl.Tensor[[64, 32], pl.FP16], o__ssa_v0: pl.Out[pl.Tensor[[16, 32], pl.FP32]]) -> pl.Tensor[[16, 32], pl.FP32]:
        z0__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.load(s__ssa_v0, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
        at__ssa_v0: pl.Tile[[16, 64], pl.FP16, pl.Mem.Mat] = pl.tile.load(a__ssa_v0, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        bt__ssa_v0: pl.Tile[[64, 32], pl.FP16, pl.Mem.Mat] = pl.tile.load(b__ssa_v0, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        for k__idx_v0, (acc,) in pl.range(2, init_values=(z0__ssa_v0,)):
            at__ssa_v0_Left: pl.Tile[[16, 64], pl.FP16, pl.Mem.Left] = pl.tile.move(at__ssa_v0, target_memory=pl.Mem.Left)
            bt__ssa_v0_Right: pl.Tile[[64, 32], pl.FP16, pl.Mem.Right] = pl.tile.move(bt__ssa_v0, target_memory=pl.Mem.Right)
            nxt__ssa_v0_product: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(at__ssa_v0_Left, bt__ssa_v0_Right)
            nxt__ssa_v0_product_Vec: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.move(nxt__ssa_v0_product, target_memory=pl.Mem.Vec, blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box)
            nxt__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.add(acc, nxt__ssa_v0_product_Vec)
            fin: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.yield_(nxt__ssa_v0)
        r__ssa_v0: pl.Tensor[[16, 32], pl.FP32] = pl.tile.store(fin, [0, 0], o__ssa_v0)
        return r__ssa_v0
