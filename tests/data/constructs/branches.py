# pypto.program: Branches
import pypto.language as pl

@pl.program
class Branches:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def choose(x__ssa_v0: pl.Tensor[[64, 64], pl.FP32], k__ssa_v0: pl.Scalar[pl.INDEX], first__ssa_v0: pl.Scalar[pl.BOOL], y__ssa_v0: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        t__tile: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x__ssa_v0, [k__ssa_v0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        if first__ssa_v0:
            pl.tile.write(t__tile, [0, 0], 0.0)
        if k__ssa_v0 > 0 and not first__ssa_v0:
            pl.tile.write(t__tile, [0, 1], 1.0)
        else:
            pl.tile.write(t__tile, [0, 2], 2.0)
        if k__ssa_v0 == 0:
            a__tile: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.exp(t__tile)
            r__phi_v0: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(a__tile)
        else:
            r__phi_v0: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(t__tile)
        if k__ssa_v0 % 2 == 0:
            b__tile: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.neg(r__phi_v0)
            p__phi_v0, q__phi_v0 = pl.yield_(b__tile, k__ssa_v0 + 1)
        else:
            if k__ssa_v0 < 8:
                c__tile: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.abs(r__phi_v0)
                c__phi_v0: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(c__tile)
            else:
                c__phi_v0: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.yield_(r__phi_v0)
            p__phi_v0, q__phi_v0 = pl.yield_(c__phi_v0, k__ssa_v0)
        if first__ssa_v0:
            pass
        else:
            pl.tile.write(t__tile, [0, 3], 3.0)
        y__tile: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(p__phi_v0, [q__phi_v0, 0], y__ssa_v0)
        return y__tile
