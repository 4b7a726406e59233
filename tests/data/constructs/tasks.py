# pypto.program: TaskGraph
import pypto.language as pl

@pl.program
class TaskGraph:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def stage(x__ssa_v0: pl.Tensor[[64, 64], pl.FP32], row__ssa_v0: pl.Scalar[pl.INDEX], y__ssa_v0: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        return y__ssa_v0
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def signal(flags__ssa_v0: pl.InOut[pl.Tensor[[8], pl.INT32]]):
        pl.tensor.write(flags__ssa_v0, [0], pl.const(1, pl.INT32))
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def halves(x__ssa_v0: pl.Tensor[[64, 64], pl.FP32], low__ssa_v0: pl.Out[pl.Tensor[[32, 64], pl.FP32]], high__ssa_v0: pl.Out[pl.Tensor[[32, 64], pl.FP32]]) -> tuple[pl.Tensor[[32, 64], pl.FP32], pl.Tensor[[32, 64], pl.FP32]]:
        return low__ssa_v0, high__ssa_v0
    @pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)
    def graph(self, x__ssa_v0: pl.Tensor[[64, 64], pl.FP32], flags__ssa_v0: pl.InOut[pl.Tensor[[8], pl.INT32]], rounds__ssa_v0: pl.Scalar[pl.INDEX], y__ssa_v0: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        buf__ssa_v0: pl.Tensor[[64, 64], pl.FP32] = pl.tensor.create([64, 64], dtype=pl.FP32, layout=pl.TensorLayout.ND)
        _submit_tmp__ssa_v0: pl.Tuple[pl.Tensor[[64, 64], pl.FP32], pl.Scalar[pl.TASK_ID]] = pl.submit(self.stage, x__ssa_v0, 0, buf__ssa_v0)
        a__ssa_v0: pl.Tensor[[64, 64], pl.FP32] = _submit_tmp__ssa_v0[0]
        tid__ssa_v0: pl.Scalar[pl.TASK_ID] = _submit_tmp__ssa_v0[1]
        ids__ssa_v0: pl.Array[4, pl.TASK_ID] = pl.array.create(4, dtype=pl.TASK_ID)
        ids__ssa_v1: pl.Array[4, pl.TASK_ID] = pl.array.update_element(ids__ssa_v0, 0, tid__ssa_v0)
        last__ssa_v0: pl.Scalar[pl.TASK_ID] = pl.array.get_element(ids__ssa_v1, 0)
        none__ssa_v0: pl.Scalar[pl.TASK_ID] = pl.system.task_invalid()
        with pl.scope():
            _submit_tmp__ssa_v1: pl.Tuple[pl.Tensor[[64, 64], pl.FP32], pl.Scalar[pl.TASK_ID]] = pl.submit(self.stage, a__ssa_v0, 16, deps=[tid__ssa_v0], dumps=[a__ssa_v0, buf__ssa_v0], allow_early_resolve=True)
            b__ssa_v0: pl.Tensor[[64, 64], pl.FP32] = _submit_tmp__ssa_v1[0]
            with pl.scope(mode=pl.ScopeMode.MANUAL):
                _submit_tmp__ssa_v2: pl.Tuple[pl.Scalar[pl.TASK_ID]] = pl.submit(self.signal, flags__ssa_v0, deps=[ids__ssa_v1, a__ssa_v0], predicate=(flags__ssa_v0, [0], pl.const(0, pl.INT32)))
                pl.submit(self.signal, flags__ssa_v0, deps=[], predicate=(rounds__ssa_v0 > 0), attrs={"manual_dep_edges": [last__ssa_v0], "note": 'early'}, device=rounds__ssa_v0 % 2)
        for r__idx_v0, (c__iter_v1,) in pl.range(rounds__ssa_v0, init_values=(b__ssa_v0,)):
            with pl.scope():
                _submit_tmp__ssa_v3: pl.Tuple[pl.Tensor[[64, 64], pl.FP32], pl.Scalar[pl.TASK_ID]] = pl.spmd_submit(self.stage, c__iter_v1, r__idx_v0, y__ssa_v0, core_num=rounds__ssa_v0 + 1, sync_start=True, deps=[tid__ssa_v0, last__ssa_v0])
                c__ssa_v0: pl.Tensor[[64, 64], pl.FP32] = _submit_tmp__ssa_v3[0]
            c__rv_v2: pl.Tensor[[64, 64], pl.FP32] = pl.yield_(c__ssa_v0)
        _tuple_tmp__ssa_v0: pl.Tuple[pl.Tensor[[32, 64], pl.FP32], pl.Tensor[[32, 64], pl.FP32]] = self.halves(c__rv_v2, pl.tensor.slice(buf__ssa_v0, [32, 64], [0, 0]), pl.tensor.slice(buf__ssa_v0, [32, 64], [32, 0]))
        low__ssa_v0: pl.Tensor[[32, 64], pl.FP32] = _tuple_tmp__ssa_v0[0]
        pair__ssa_v0: pl.Tuple[pl.Tensor[[32, 64], pl.FP32], pl.Scalar[pl.TASK_ID]] = [low__ssa_v0, tid__ssa_v0]
        nested__ssa_v0: pl.Tuple[pl.Tuple[pl.Tensor[[32, 64], pl.FP32], pl.Scalar[pl.TASK_ID]], pl.Scalar[pl.INDEX]] = [pair__ssa_v0, rounds__ssa_v0]
        again__ssa_v0: pl.Tensor[[32, 64], pl.FP32] = nested__ssa_v0[0][0]
        alias__ssa_v0: pl.Tensor[[32, 64], pl.FP32] = again__ssa_v0
        y__ssa_v1: pl.Tensor[[64, 64], pl.FP32] = pl.tensor.assemble(y__ssa_v0, alias__ssa_v0, [rounds__ssa_v0 * 32, 0])
        return y__ssa_v1
