"""Programs that differ from STATIONARY in more than a line, and parts of such programs."""

from __future__ import annotations

from tests.residency.programs import (
    CALL,
    CREATE,
    LOOP,
    PRODUCT,
    STAGE,
    STATIONARY,
    STREAMED,
    WEIGHTS,
    Edit,
    after,
    before,
    edited,
)


def retyped(line: str, old: str, new: str) -> Edit:
    """``line`` with ``old`` replaced."""
    return line, line.replace(old, new)


MAIN = "        @pl.function(type=pl.FunctionType.Orchestration)\n"
TAKEN = "            self, s: pl.Tensor[[32, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]\n"
HELPER = """\
        @pl.function(type=pl.FunctionType.InCore)
        def helper():
            pass
"""
WRAPPER = """\
        @pl.function(type=pl.FunctionType.Spmd)
        def wrapper(self, s: pl.Tensor[[32, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
            w = pl.create_tensor([16, 32], dtype=pl.FP32)
            early = self.kernel(w, s, o)
"""
MAKER = """\
        @pl.function(type=pl.FunctionType.Orchestration)
        def make(self) -> pl.Tensor[[16, 32], pl.FP32]:
            t = pl.create_tensor([16, 32], dtype=pl.FP32)
            return t
"""
# Two windows of ``big`` that overlap, taken out of a tuple under its second name: nobody follows what they are.
PAIR = (
    "big = pl.create_tensor([16, 80], dtype=pl.FP32)",
    "x = pl.slice(big, [16, 32], [0, 0])",
    "y = pl.slice(big, [16, 64], [0, 16])",
    "pair: pl.Tuple[pl.Tensor[[16, 32], pl.FP32], pl.Tensor[[16, 64], pl.FP32]] = [x, y]",
    "again: pl.Tuple[pl.Tensor[[16, 32], pl.FP32], pl.Tensor[[16, 64], pl.FP32]] = pair",
)
ROWS = (
    (STREAMED, f"{STREAMED}\n            rows: pl.Scalar[pl.INDEX],"),
    (TAKEN, TAKEN.replace("self, s", "self, rows: pl.Scalar[pl.INDEX], s")),
    retyped(CALL, "s,", "s, rows,"),
)
"""The kernel gets a number from outside the program."""

# A branch has a product of its own, with other rows of the weights.
BRANCH_LOAD = "um = pl.load(w, [16, 0], [16, 32], target_memory=pl.Mem.Mat, MARK)"
BRANCH = edited(
    STATIONARY,
    retyped(WEIGHTS, "16", "32"),
    retyped(CREATE, "16", "32"),
    after(
        PRODUCT,
        "if n > 0:",
        "    ul = pl.move(um, target_memory=pl.Mem.Left)",
        "    d = pl.matmul(ul, sr)",
        "    pl.store(d, [0, 0], acc)",
    ),
    after(STAGE, BRANCH_LOAD),
)
TWO_WINDOWS = edited(
    STATIONARY,
    ("                sr = pl.move(sm, target_memory=pl.Mem.Right)\n", ""),
    (
        f"{STAGE}\n",
        """\
wl = pl.tile.extract(wm, 0, 0, [16, 16], target_memory=pl.Mem.Left)
                wk = pl.tile.extract(wm, 0, 16, [16, 16], target_memory=pl.Mem.Left)
""",
    ),
    (
        f"{PRODUCT}\n",
        """\
sk = pl.tile.extract(sm, 0, 0, [16, 32], target_memory=pl.Mem.Right)
                sl = pl.tile.extract(sm, 16, 0, [16, 32], target_memory=pl.Mem.Right)
                b = pl.matmul(wl, sk)
                c = pl.matmul_acc(b, wk, sl)
""",
    ),
)
IN_TWO_LOOPS = edited(
    STATIONARY,
    (
        f"            {LOOP}\n",
        f"""\
            for m, (outer,) in pl.range(0, 2, 1, init_values=(o,)):
              {LOOP.replace("=(o,)", "=(outer,)")}
""",
    ),
    ("            return result\n", "              total = pl.yield_(result)\n            return total\n"),
)
SLICED = before(LOOP, "x = pl.tensor.slice(w, [16, 32], [0, 0])")
FULL = before(LOOP, "z = pl.full([16, 32], dtype=pl.FP32, value=2.0)")
