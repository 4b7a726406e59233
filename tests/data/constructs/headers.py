# pypto.program: PagedDecoder
import pypto.language as pl
import pypto.language.distributed as pld

ROWS = pl.dynamic("ROWS")
PAGES = pl.dynamic("PAGES")

@pl.program
class PagedDecoder:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def scale_rows(x__ssa_v0: pl.Tensor[[ROWS, 64], pl.FP32], gain__ssa_v0: pl.Scalar[pl.FP32], count__ssa_v0: pl.Scalar[pl.INDEX], y__ssa_v0: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]) -> pl.Tensor[[ROWS, 64], pl.FP32]:
        pl.func_attr({"windowize": True})
        t__tile: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.load(x__ssa_v0, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        t__tile_1: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec] = pl.tile.muls(t__tile, gain__ssa_v0)
        y__tile: pl.Tensor[[ROWS, 64], pl.FP32] = pl.tile.store(t__tile_1, [0, 0], y__ssa_v0)
        return y__tile
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def two_results(a__ssa_v0: pl.Tensor[[32, 32], pl.BF16], sum__ssa_v0: pl.InOut[pl.Tensor[[32, 32], pl.FP32]], max__ssa_v0: pl.Out[pl.Tensor[[32, 1], pl.FP32]]) -> tuple[pl.Tensor[[32, 32], pl.FP32], pl.Tensor[[32, 1], pl.FP32]]:
        return sum__ssa_v0, max__ssa_v0
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def marker(flags__ssa_v0: pl.InOut[pl.Tensor[[8], pl.INT32]]):
        pl.func_attr({"split": pl.SplitMode.UP_DOWN, "slot_num": 4, "split_aiv": True, "dual_aiv_dispatch": True})
        pl.tensor.write(flags__ssa_v0, [0], pl.const(1, pl.INT32))
        return
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def nothing():
        pass
    @pl.function(type=pl.FunctionType.AIC, level=pl.Level.AIC, role=pl.Role.SubWorker, external_source="kernels/cube_part.cpp")
    def cube_part(a__ssa_v0: pl.Tensor[[64, 64], pl.FP16], c__ssa_v0: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        pl.func_attr({"slot_num": 2})
    @pl.function(type=pl.FunctionType.AIV, level=pl.Level.AIV, role=pl.Role.SubWorker)
    def vector_part(c__ssa_v0: pl.InOut[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        return c__ssa_v0
    @pl.function(type=pl.FunctionType.Group, level=pl.Level.CORE_GROUP, role=pl.Role.SubWorker)
    def both_parts(a__ssa_v0: pl.Tensor[[64, 64], pl.FP16], c__ssa_v0: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        pl.func_attr({"spmd_unwrapped": True})
        c__ssa_v1: pl.Tensor[[64, 64], pl.FP32] = self.cube_part(a__ssa_v0, c__ssa_v0)
        c__ssa_v2: pl.Tensor[[64, 64], pl.FP32] = self.vector_part(c__ssa_v1)
        return c__ssa_v2
    @pl.function(type=pl.FunctionType.Spmd)
    def scale_rows_spmd(self, x__ssa_v0: pl.Tensor[[ROWS, 64], pl.FP32], gain__ssa_v0: pl.Scalar[pl.FP32], count__ssa_v0: pl.Scalar[pl.INDEX], y__ssa_v0: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]) -> pl.Tensor[[ROWS, 64], pl.FP32]:
        y__ssa_v1: pl.Tensor[[ROWS, 64], pl.FP32] = self.scale_rows(x__ssa_v0, gain__ssa_v0, count__ssa_v0, y__ssa_v0)
        return y__ssa_v0
    @pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator, auto_scope=False)
    def decode(self, x__ssa_v0: pl.Tensor[[ROWS, 64], pl.FP32], flags__ssa_v0: pl.InOut[pl.Tensor[[8], pl.INT32]], pool__ssa_v0: pl.Tensor[[PAGES * 16, 64], pl.BF16], y__ssa_v0: pl.Out[pl.Tensor[[ROWS, 64], pl.FP32]]) -> pl.Tensor[[ROWS, 64], pl.FP32]:
        rows__ssa_v0: pl.Scalar[pl.INDEX] = pl.tensor.dim(x__ssa_v0, 0)
        y__ssa_v1: pl.Tensor[[ROWS, 64], pl.FP32] = self.scale_rows_spmd(x__ssa_v0, 0.125, rows__ssa_v0, y__ssa_v0, attrs={"core_num": rows__ssa_v0 // 16, "sync_start": True})
        self.marker(flags__ssa_v0)
        self.nothing()
        return y__ssa_v1
    @pl.function(level=pl.Level.HOST, role=pl.Role.SubWorker)
    def host_copy(x__ssa_v0: pl.Tensor[[16, 64], pl.FP32], y__ssa_v0: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        return y__ssa_v0
    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def host_main(self, mine__ssa_v0: pl.InOut[pld.DistributedTensor[[16, 64], pl.FP32]], other__ssa_v0: pld.DistributedTensor[[16, 64], pl.FP32], device__ssa_v0: pl.Scalar[pl.INDEX], y__ssa_v0: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        y__ssa_v1: pl.Tensor[[16, 64], pl.FP32] = self.host_copy(y__ssa_v0, y__ssa_v0, attrs={"core_num": 1}, device=device__ssa_v0)
    @pl.function
    def plain(self, x__ssa_v0: pl.Tensor[[16, 64], pl.FP32]) -> pl.Tensor[[16, 64], pl.FP32]:
        return x__ssa_v0
