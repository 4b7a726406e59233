# pypto.program: Comments
import pypto.language as pl

@pl.program
class Comments:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def kernel(x__ssa_v0: pl.Tensor[[64, 64], pl.FP32], k__ssa_v0: pl.Scalar[pl.INDEX], y__ssa_v0: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        pl.func_attr({"windowize": False})
        # What the kernel does,
        #   in two lines.
        #
        #no space, and 'quotes" in it
        t__tile: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x__ssa_v0, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        # Before a loop.
        for i__idx_v0 in pl.range(4):
            # First in a loop.
            pl.tile.write(t__tile, [0, i__idx_v0], 0.0)
            # Last in a loop.
        # Between.
        if k__ssa_v0 > 0:
            # First in a branch.
            pl.tile.write(t__tile, [1, 0], 1.0)
            # Last in a branch, before else.
        else:
            # First in the other branch.
            pl.tile.write(t__tile, [2, 0], 2.0)
            # Last in the other branch.
        # Before a branch with results.
        if k__ssa_v0 > 1:
            a__phi_v0: pl.Scalar[pl.INDEX] = pl.yield_(k__ssa_v0)
            # After a yield.
        else:
            # Before a yield.
            a__phi_v0: pl.Scalar[pl.INDEX] = pl.yield_(0)
        for (n,) in pl.while_(init_values=(a__phi_v0,)):
            pl.cond(n > 0)
            # First after the condition.
            n__rv_v1: pl.Scalar[pl.INDEX] = pl.yield_(n - 1)
            # Last in a while loop.
        for i__idx_v0_1 in pl.range(4):
            for j__idx_v0 in pl.range(4):
                pl.tile.write(t__tile, [i__idx_v0_1, j__idx_v0], 3.0)
                # Inner.
            # Outer.
        for i__idx_v0_2 in pl.range(4):
            # Nothing but a comment.
            pass
        # Before the return.
        y__tile: pl.Tensor[[64, 64], pl.FP32] = pl.tile.store(t__tile, [n__rv_v1, 0], y__ssa_v0)
        return y__tile
        # After the return.
    @pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)
    def main(self, x__ssa_v0: pl.Tensor[[64, 64], pl.FP32], y__ssa_v0: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        # A first comment without attributes before it.
        with pl.scope():
            # First in a scope.
            y__ssa_v1: pl.Tensor[[64, 64], pl.FP32] = self.kernel(x__ssa_v0, 4, y__ssa_v0)
            # Last in a scope.
        return y__ssa_v1
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def empty(x__ssa_v0: pl.Tensor[[64, 64], pl.FP32]):
        # Nothing to do.
        pass
