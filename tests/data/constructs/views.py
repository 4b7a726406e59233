# pypto.program: TypesAndViews
import pypto.language as pl
import pypto.language.distributed as pld

NB = pl.dynamic("NB")

@pl.program
class TypesAndViews:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def tiles(x__ssa_v0: pl.Tensor[[NB, 64], pl.BF16], valid__ssa_v0: pl.Scalar[pl.INDEX]):
        a__ssa_v0: pl.Tile[[16, 64], pl.BF16] = pl.tile.load(x__ssa_v0, [0, 0], [16, 64], [16, 64])
        b__ssa_v0: pl.Tile[[16, 64], pl.BF16, pl.Mem.Vec, pl.TileView(valid_shape=[valid__ssa_v0, 64])] = pl.tile.load(x__ssa_v0, [0, 0], [16, 64], [valid__ssa_v0, 64], target_memory=pl.Mem.Vec)
        c__ssa_v0: pl.Tile[[16, 64], pl.BF16, pl.Mem.Mat] = pl.tile.load(x__ssa_v0, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        d__ssa_v0: pl.Tile[[64, 16], pl.BF16, pl.Mem.Mat, pl.TileView(blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.col_major)] = pl.tile.transpose_view(c__ssa_v0)
        e__ssa_v0: pl.Tile[[16, 64], pl.BF16, pl.Mem.Left] = pl.tile.move(c__ssa_v0, target_memory=pl.Mem.Left)
        e__ssa_v1: pl.Tile[[16, 64], pl.BF16, pl.Mem.Left, pl.TileView(valid_shape=[pl.min(valid__ssa_v0, 16), 64])] = pl.tile.set_validshape(e__ssa_v0, pl.min(valid__ssa_v0, 16), 64)
        f__ssa_v0: pl.Tile[[64, 16], pl.BF16, pl.Mem.Right] = pl.tile.move(d__ssa_v0, target_memory=pl.Mem.Right)
        g__ssa_v0: pl.Tile[[16, 16], pl.FP32, pl.Mem.Acc, pl.TileView(valid_shape=[pl.min(valid__ssa_v0, 16), 16], compact=pl.CompactMode.normal)] = pl.tile.matmul(e__ssa_v1, f__ssa_v0)
        h__ssa_v0: pl.Tile[[1, 16], pl.FP32, pl.Mem.Bias] = pl.tile.create([1, 16], dtype=pl.FP32, target_memory=pl.Mem.Bias)
        i__ssa_v0: pl.Tile[[16, 2], pl.FP8E8M0, pl.Mem.LeftScale] = pl.tile.create([16, 2], dtype=pl.FP8E8M0, target_memory=pl.Mem.LeftScale)
        j__ssa_v0: pl.Tile[[2, 16], pl.FP8E8M0, pl.Mem.RightScale] = pl.tile.create([2, 16], dtype=pl.FP8E8M0, target_memory=pl.Mem.RightScale)
        k__ssa_v0: pl.Tile[[16, 1], pl.FP32, pl.Mem.Vec] = pl.tile.create([16, 1], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        l__ssa_v0: pl.Tile[[16, 1], pl.FP32, pl.Mem.Vec, pl.TileView(blayout=pl.TileLayout.row_major)] = pl.tile.full([16, 1], dtype=pl.FP32, value=0.0)
        m__ssa_v0: pl.Tile[[16, 64], pl.BF16, pl.MemRef("ring"), pl.Mem.Vec, pl.TileView(pad=pl.PadValue.min)] = pl.tile.fillpad(b__ssa_v0, pad_value=pl.PadValue.min)
        n__ssa_v0: pl.Tile[[16, 64], pl.BF16, pl.MemRef("ring"), pl.Mem.Vec] = pl.tile.create([16, 64], dtype=pl.BF16, target_memory=pl.Mem.Vec)
        o__ssa_v0: pl.Tile[[16, 64], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[12, valid__ssa_v0 * 4], stride=[128, 1], start_offset=valid__ssa_v0 + 64, blayout=pl.TileLayout.col_major, slayout=pl.TileLayout.row_major, fractal=1024, pad=pl.PadValue.zero, compact=pl.CompactMode.normal)] = pl.tile.swirl(a__ssa_v0)
        p__ssa_v0: pl.Tile[[16, 64], pl.FP32, pl.Mem.Acc, pl.TileView(fractal=512)] = pl.tile.swirl(a__ssa_v0)
        q__ssa_v0: pl.Tile[[2, 4, 16, 64], pl.INT8, pl.Mem.Vec, pl.TileView(pad=pl.PadValue.max)] = pl.tile.swirl(a__ssa_v0)
        r__ssa_v0: pl.Tile[[32], pl.UINT8, pl.Mem.DDR] = pl.tile.create([32], dtype=pl.UINT8, target_memory=pl.Mem.DDR)
        s__ssa_v0: pl.Tile[[1, 8], pl.INT64, pl.Mem.ScalarLocal] = pl.tile.create([1, 8], dtype=pl.INT64, target_memory=pl.Mem.ScalarLocal)
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def tensors(a__ssa_v0: pl.Tensor[[NB, 64, 2], pl.FP32, pl.TensorView(stride=[128, 2, 1], layout=pl.TensorLayout.ND)], b__ssa_v0: pl.Tensor[[64, NB], pl.FP16, pl.TensorView(stride=[], layout=pl.TensorLayout.DN)], c__ssa_v0: pl.Tensor[[64, 64], pl.INT8, pl.TensorView(stride=[], layout=pl.TensorLayout.NZ)], d__ssa_v0: pl.Tensor[[64, 4], pl.FP8E8M0, pl.TensorView(stride=[], layout=pl.TensorLayout.MX_A_ZZ)], e__ssa_v0: pl.Tensor[[4, 64], pl.FP8E8M0, pl.TensorView(stride=[], layout=pl.TensorLayout.MX_B_NN)], f__ssa_v0: pl.Tensor[[16, NB * 8 + 1], pl.FP8E4M3FN, pl.TensorView(valid_shape=[8, NB], stride=[NB * 8 + 1, 1], pad=pl.PadValue.zero)], g__ssa_v0: pl.Tensor[[16], pl.UINT32, pl.MemRef("table")], h__ssa_v0: pl.Tensor[[], pl.BOOL], i__ssa_v0: pl.Tensor[[8, 8], pl.INT16, pl.TensorView(stride=[16, 1]), pl.MemRef("wide")]):
        v__ssa_v0: pl.Tensor[[8, 64], pl.FP32] = pl.tensor.slice(a__ssa_v0, [8, 64, 1], [0, 0, 0], [], [2])
        w__ssa_v0: pl.Tensor[[NB, 64, 2], pl.FP32, pl.TensorView(stride=[128, 2, 1], layout=pl.TensorLayout.ND)] = a__ssa_v0
    @pl.function(level=pl.Level.HOST, role=pl.Role.Orchestrator)
    def others(self, d__ssa_v0: pld.DistributedTensor[[NB, 64], pl.FP32, pl.TensorView(stride=[128, 1], layout=pl.TensorLayout.ND)], flags__ssa_v0: pl.Array[8, pl.INT32], wide__ssa_v0: pl.Array[NB, pl.TASK_ID], p__ssa_v0: pl.Ptr, m__ssa_v0: pl.MemRefType, q__ssa_v0: pl.Ptr[pl.FP32], ctx__ssa_v0: pld.CommContext) -> tuple[pl.Ptr, pl.Array[8, pl.INT32]]:
        buf__ssa_v0: pl.MemRefType = pl.tile.alloc(pl.Mem.Vec, 1024)
        win__ssa_v0: pld.WindowBuffer = pld.tensor.alloc_window_buffer(4096, name='window')
        pair__ssa_v0: pl.Tuple[pl.Ptr, pl.Scalar[pl.INDEX]] = [p__ssa_v0, 0]
        only__ssa_v0: pl.Tuple[pl.Scalar[pl.TASK_ID]] = [pl.system.task_invalid()]
        return p__ssa_v0, flags__ssa_v0
