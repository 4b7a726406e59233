# pypto.program: Unmodelled
import pypto.language as pl

NB = pl.dynamic("NB")

import numpy as np
from helpers import widths as _widths, limit

# The largest page that one core can hold.
PAGE = limit(512)

def rounded(value, to=16):
    """A doc string
    of two lines.
    """
    return -(-value // to) * to


@pl.program
class Unmodelled:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker, schedule=lambda n: n * 2)
    def carried(x__ssa_v0: pl.Tensor[[NB, 64], pl.FP32], n__ssa_v0: pl.Scalar[pl.INDEX], h__ssa_v0: pl.Handle[pl.FP32, 3], y__ssa_v0: pl.Out[pl.Tensor[[NB, 64], pl.FP32]]) -> pl.Tensor[[NB, 64], pl.FP32]:
        assert n__ssa_v0 > 0, "no rows"
        a__ssa_v0: pl.Scalar[pl.INDEX] = rounded(n__ssa_v0)
        b__ssa_v0: pl.Scalar[pl.INDEX] = (lambda v: v + 1)(n__ssa_v0) * 2
        c__ssa_v0: pl.Scalar[pl.INDEX] = n__ssa_v0 if n__ssa_v0 < PAGE else PAGE
        d__ssa_v0: pl.Scalar[pl.INDEX] = (1 if n__ssa_v0 else 2) + n__ssa_v0
        e__ssa_v0: pl.Scalar[pl.BOOL] = 0 < n__ssa_v0 < 8 and (n__ssa_v0 in (1, 2)) == (n__ssa_v0 is None)
        f__ssa_v0: pl.View[[2, 64], pl.FP32] = x__ssa_v0[0:2, :]
        g__ssa_v0: pl.Scalar[pl.INDEX] = n__ssa_v0 @ 3 * 2 + n__ssa_v0 @ (3 @ 4)
        i__ssa_v0: list[int] = [v for v in _widths if v > n__ssa_v0]
        j__ssa_v0: "pl.Later" = f"{n__ssa_v0:>4} rows" + 'x'
        k__ssa_v0: pl.Scalar[pl.INDEX] = x__ssa_v0.shape[0] - f__ssa_v0.shape[-1]
        l__ssa_v0: dict = {**j__ssa_v0, "n": 1, n__ssa_v0: 2}
        m__ssa_v0: pl.Scalar[pl.INDEX] = sum(v for v in i__ssa_v0)
        n__ssa_v1: pl.Scalar[pl.INDEX] = pl.min(*i__ssa_v0, (o__ssa_v0 := 3)) + await_all(self.carried)
        print(n__ssa_v1, o__ssa_v0, sep=", ")
        ...
        b"bytes"
        p__ssa_v0, *q__ssa_v0 = i__ssa_v0
        r__ssa_v0 = s__ssa_v0 = np.float32(0.5)
        i__ssa_v0[0] = n__ssa_v0
        x__ssa_v0.name: str = "x"
        del l__ssa_v0
        for v__ssa_v0 in _widths:
            if v__ssa_v0 > 2:
                break

            # Nothing of this is read.
            continue
        else:
            raise ValueError("""
  text that keeps
its own indentation
            """)
        while n__ssa_v0 < PAGE:
            t__ssa_v0 = [
                1,
              2,
            ]
        try:
            import os.path
        except (OSError, ValueError) as problem:
            raise problem from None
        finally:
            pass
        with open("f") as file__ssa_v0, pl.scope():
            u__ssa_v0: pl.Tensor[[NB, 64], pl.FP32] = file__ssa_v0.read(x__ssa_v0)
        with pl.at(level=pl.Level.CORE_GROUP):
            pl.tile.store(u__ssa_v0, [0, 0], y__ssa_v0)
        @inner
        def helper(v, w=n__ssa_v0):
            # Its own comment.
            return v + w
        class Local:
            field = 1
        match n__ssa_v0:
            case 1 | 2:
                w__ssa_v0 = 1
            case [first, *others]:
                w__ssa_v0 = 2
        for z__ssa_v0 in pl.range(helper(n__ssa_v0, w=2), stop=others):
            pl.tensor.write(y__ssa_v0, [first, z__ssa_v0], w__ssa_v0)
        if helper(1):
            global w__ssa_v1
        for (aa__ssa_v0,) in pl.while_(init_values=(n__ssa_v0,), limit=8):
            pl.cond(aa__ssa_v0 > 0)
            ab__ssa_v0: pl.Scalar[pl.INDEX] = pl.yield_(aa__ssa_v0 - 1)
        if (ac__ssa_v0 := helper(2)) > 0:
            pl.tensor.write(y__ssa_v0, [0, 0], 0.0)
        return y__ssa_v0
