# pypto.program: NestedCarry
import pypto.language as pl

@pl.program
class NestedCarry:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def nest(a__ssa_v0: pl.Tensor[[16, 64], pl.FP16], b__ssa_v0: pl.Tensor[[64, 32], pl.FP16], o__ssa_v0: pl.Out[pl.Tensor[[16, 32], pl.FP32]]) -> pl.Tensor[[16, 32], pl.FP32]:
        at__ssa_v0: pl.Tile[[16, 64], pl.FP16, pl.Mem.Mat] = pl.tile.load(a__ssa_v0, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        bt__ssa_v0: pl.Tile[[64, 32], pl.FP16, pl.Mem.Mat] = pl.tile.load(b__ssa_v0, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        z0__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        for i__idx_v0, (oa,) in pl.range(2, init_values=(z0__ssa_v0,)):
            for j__idx_v0, (ia,) in pl.range(3, init_values=(oa,)):
                at__ssa_v0_Left: pl.Tile[[16, 64], pl.FP16, pl.Mem.Left] = pl.tile.move(at__ssa_v0, target_memory=pl.Mem.Left)
                bt__ssa_v0_Right: pl.Tile[[64, 32], pl.FP16, pl.Mem.Right] = pl.tile.move(bt__ssa_v0, target_memory=pl.Mem.Right)
                nxt__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_acc(ia, at__ssa_v0_Left, bt__ssa_v0_Right)
                ir: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.yield_(nxt__ssa_v0)
            orr: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.yield_(ir)
        r__ssa_v0: pl.Tensor[[16, 32], pl.FP32] = pl.tile.store(orr, [0, 0], o__ssa_v0)
        return r__ssa_v0
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def nest_mid(a__ssa_v0: pl.Tensor[[16, 64], pl.FP16], b__ssa_v0: pl.Tensor[[64, 32], pl.FP16], o__ssa_v0: pl.Out[pl.Tensor[[16, 32], pl.FP32]]) -> pl.Tensor[[16, 32], pl.FP32]:
        at__ssa_v0: pl.Tile[[16, 64], pl.FP16, pl.Mem.Mat] = pl.tile.load(a__ssa_v0, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        bt__ssa_v0: pl.Tile[[64, 32], pl.FP16, pl.Mem.Mat] = pl.tile.load(b__ssa_v0, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        z0__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        for i__idx_v0, (oa,) in pl.range(2, init_values=(z0__ssa_v0,)):
            mid__ssa_v0: pl.Tile[[32, 16], pl.FP32, pl.Mem.Acc] = pl.tile.reshape(oa, [32, 16])
            back__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.reshape(mid__ssa_v0, [16, 32])
            for j__idx_v0, (ia,) in pl.range(3, init_values=(back__ssa_v0,)):
                at__ssa_v0_Left: pl.Tile[[16, 64], pl.FP16, pl.Mem.Left] = pl.tile.move(at__ssa_v0, target_memory=pl.Mem.Left)
                bt__ssa_v0_Right: pl.Tile[[64, 32], pl.FP16, pl.Mem.Right] = pl.tile.move(bt__ssa_v0, target_memory=pl.Mem.Right)
                nxt__ssa_v0: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.matmul_acc(ia, at__ssa_v0_Left, bt__ssa_v0_Right)
                ir: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.yield_(nxt__ssa_v0)
            orr: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.yield_(ir)
        r__ssa_v0: pl.Tensor[[16, 32], pl.FP32] = pl.tile.store(orr, [0, 0], o__ssa_v0)
        return r__ssa_v0
