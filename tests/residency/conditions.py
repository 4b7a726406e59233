"""Every condition of residency as a pair of programs that differ in it, INF-P4-01 to INF-P4-14."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tests.residency.programs import (
    CALL,
    CREATE,
    LOAD,
    LOOP,
    OVERLAPPING,
    PRODUCT,
    STAGE,
    STATIONARY,
    STORE,
    STREAMED,
    WEIGHTS,
    Edit,
    after,
    before,
    edited,
)


class Harm(Enum):
    """What goes wrong when the condition is not looked at."""

    VALUES = "main computes something else"
    ARGUMENTS = "main computes something else when its arguments overlap"
    ENTRY = "the kernel computes something else when its arguments overlap"
    INVALID = "the program is not valid any more"
    NONE = "nothing: the condition asks for more than the meaning needs"


@dataclass(frozen=True)
class Condition:
    """``text`` after ``edits`` keeps ``subject`` in its loop, without them it leaves.

    ``reason`` is part of what the explanation says, ``rules`` are the rules of the reference that look at the
    condition, ``hold`` the one of the optimal rules that does (none where those do without it).
    """

    name: str
    requirement: str
    edits: tuple[Edit, ...]
    reason: str
    rules: tuple[str, ...]
    hold: str | None = None
    harm: Harm = Harm.NONE
    subject: str = "wm"
    text: str = STATIONARY
    masked: str = ""
    """Why the optimal rules leave the load where it is, even without ``hold``."""


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

CONDITIONS: tuple[Condition, ...] = (
    # ------------------------------------------------------------------ what a chain is
    Condition(
        "the staged operand feeds two products",
        "INF-P4-01",
        (after(PRODUCT, "d = pl.matmul(wl, sr)"),),
        "wl has several uses",
        ("chain-exact", "chain-ends"),
        subject="wl",
    ),
    Condition(
        "the panel is staged twice",
        "INF-P4-01",
        (after(STAGE, "wk = pl.move(wm, target_memory=pl.Mem.Left)"), after(PRODUCT, "d = pl.matmul(wk, sr)")),
        "wm has several uses",
        ("chain-link", "chain-ends"),
        subject="wl",
    ),
    Condition(
        "a window of the panel feeds nothing",
        "INF-P4-02",
        (
            after(
                "wl = pl.tile.extract(wm, 0, 0, [16, 16], target_memory=pl.Mem.Left)",
                "dead = pl.move(wm, target_memory=pl.Mem.Left)",
                text=TWO_WINDOWS,
            ),
        ),
        "nothing reads dead",
        ("panel-used",),
        text=TWO_WINDOWS,
    ),
    Condition(
        "nothing is made of the panel",
        "INF-P4-02",
        (
            (f"                {STAGE}\n", ""),
            retyped(PRODUCT, "wl, sr", "zl, sr"),
            before(
                LOOP,
                "zm = pl.load(s, [0, 0], [16, 32], target_memory=pl.Mem.Mat)",
                "zl = pl.move(zm, target_memory=pl.Mem.Left)",
            ),
        ),
        "nothing reads wm",
        ("panel-used",),
    ),
    # ---------------------------------------------------------------------- the mark
    Condition(
        "the load is written by hand",
        "INF-P4-03",
        (retyped(LOAD, ", MARK", ""),),
        "the load does not carry the compiler's mark",
        ("stay-without-mark",),
        hold="hold-without-mark",
    ),
    # ---------------------------------------------------------------------- the loop
    Condition(
        "the loop is parallel",
        "INF-P4-04",
        (retyped(LOOP, "pl.range", "pl.parallel"),),
        "the loop is not sequential but parallel",
        ("stay-unfit-loop",),
        hold="hold-unfit-loop",
    ),
    Condition(
        "the step is negative",
        "INF-P4-04",
        (retyped(LOOP, "0, 64, 32", "32, -32, -32"),),
        "the loop's step is not positive",
        ("stay-unfit-loop",),
        hold="hold-unfit-loop",
    ),
    Condition(
        "the loop never runs, and the load is outside of the tensor",
        "INF-P4-04",
        (retyped(LOOP, "0, 64, 32", "64, 64, 32"), retyped(LOAD, "[0, 0]", "[16, 0]")),
        "the loop never runs",
        ("stay-unfit-loop",),
        hold="hold-unfit-loop",
        harm=Harm.VALUES,
        masked="what never runs costs nothing",
    ),
    Condition(
        "the loop may never run",
        "INF-P4-04",
        (*ROWS, retyped(LOOP, "0, 64, 32", "0, rows, 32")),
        "the loop's bounds are not constant",
        ("stay-uncertain-trips",),
        hold="hold-uncertain-trips",
    ),
    Condition(
        "the loop is a while loop",
        "INF-P4-04",
        (
            (LOOP, "for acc, n in pl.while_(init_values=(o, 0)):\n                pl.cond(n < 64)"),
            before("result = pl.yield_(stored)", "more = n + 32"),
            ("result = pl.yield_(stored)", "result, last = pl.yield_(stored, more)"),
        ),
        "the loop is a while loop",
        ("stay-uncertain-trips",),
        hold="hold-uncertain-trips",
    ),
    Condition(
        "the step is not constant",
        "INF-P4-04",
        (*ROWS, retyped(LOOP, "0, 64, 32", "0, 64, rows + 32")),
        "the loop's step is not constant",
        ("stay-unfit-loop",),
        hold="hold-unfit-loop",
    ),
    # ---------------------------------------------------------------------- the place
    Condition(
        "a store comes before the load",
        "INF-P4-05",
        (FULL, before(LOAD, "first = pl.store(z, [0, n], acc)")),
        "an effect or control statement precedes the load",
        ("stay-after-effect",),
    ),
    Condition(
        "a loop comes before the load",
        "INF-P4-05",
        (FULL, before(LOAD, "for k in pl.range(2):", "    zz = pl.add(z, z)")),
        "an effect or control statement precedes the load",
        ("stay-after-effect",),
    ),
    Condition(
        "an element is written before the load",
        "INF-P4-05",
        (FULL, before(LOAD, "pl.tile.write(z, [0, 0], 1.0)")),
        "an effect or control statement precedes the load",
        ("stay-after-effect",),
    ),
    Condition(
        "the load is in a branch",
        "INF-P4-05",
        (
            (f"                {BRANCH_LOAD}\n", ""),
            before("ul = pl.move(um, target_memory=pl.Mem.Left)", BRANCH_LOAD, text=BRANCH),
        ),
        "the load is conditional",
        ("residency-candidate", "stay-conditional"),
        hold="hold-conditional",
        masked="the branch runs in half of two trips, and so do its loads",
        subject="um",
        text=BRANCH,
    ),
    # --------------------------------------------------------------------- the source
    Condition(
        "the source is written as InOut",
        "INF-P4-06",
        (
            FULL,
            retyped(WEIGHTS, "pl.Tensor[[16, 32], pl.FP32]", "pl.InOut[pl.Tensor[[16, 32], pl.FP32]]"),
            after(STORE, "back = pl.store(z, [0, 0], w)"),
        ),
        "the source is an InOut parameter",
        ("stay-other-source",),
        hold="hold-other-source",
        harm=Harm.VALUES,
    ),
    Condition(
        "the source is a slice of the parameter",
        "INF-P4-06",
        (SLICED, retyped(LOAD, "load(w", "load(x")),
        "the source is no tensor parameter used directly",
        ("stay-other-source",),
        hold="hold-other-source",
    ),
    Condition(
        "the source is an alias of the parameter",
        "INF-P4-06",
        (before(LOOP, "x = w"), retyped(LOAD, "load(w", "load(x")),
        "the source is no tensor parameter used directly",
        ("stay-other-source",),
        hold="hold-other-source",
    ),
    # -------------------------------------------------------------------- the callers
    Condition(
        "nobody calls the kernel",
        "INF-P4-07",
        (retyped(CALL, "self.kernel(w, s, o)", "o"),),
        "no root orchestration function calls the kernel directly",
        ("evidence-no-direct-call",),
        hold="hold-unsafe-source",
        harm=Harm.ENTRY,
    ),
    Condition(
        "another call site is a submit",
        "INF-P4-07",
        (
            retyped(TAKEN, "self, s", "self, big: pl.InOut[pl.Tensor[[16, 80], pl.FP32]], s"),
            before(
                CREATE,
                "x = pl.slice(big, [16, 32], [0, 0])",
                "y = pl.slice(big, [16, 64], [0, 16])",
                "early, task = pl.submit(self.kernel, x, s, y)",
            ),
        ),
        "main submits the kernel asynchronously",
        ("evidence-submit",),
        hold="hold-unsafe-source",
        harm=Harm.VALUES,
    ),
    Condition(
        "another call site is in a wrapper",
        "INF-P4-07",
        ((MAIN, WRAPPER + MAIN),),
        "wrapper calls the kernel and is no root orchestration function",
        ("evidence-indirect-call",),
        hold="hold-unsafe-source",
    ),
    Condition(
        "another call site is in a helper that main calls",
        "INF-P4-07",
        ((MAIN, WRAPPER.replace("Spmd", "Orchestration") + MAIN), before(CALL, "self.wrapper(s, o)")),
        "wrapper calls the kernel and is no root orchestration function",
        ("evidence-indirect-call",),
        hold="hold-unsafe-source",
    ),
    # -------------------------------------------------------------------- the storage
    Condition(
        "the kernel writes a window that overlaps the source",
        "INF-P4-08",
        (OVERLAPPING,),
        "main may let the kernel write the same storage",
        ("evidence-overlap",),
        hold="hold-unsafe-source",
        harm=Harm.VALUES,
    ),
    Condition(
        "the source comes from outside the program",
        "INF-P4-08",
        (
            retyped(TAKEN, "self, s", "self, w: pl.Tensor[[16, 32], pl.FP32], s"),
            (f"            {CREATE}\n", ""),
        ),
        "main passes it storage from outside the program",
        ("evidence-source-external",),
        hold="hold-unsafe-source",
        harm=Harm.ARGUMENTS,
    ),
    Condition(
        "nobody knows what the source is",
        "INF-P4-08",
        ((CREATE, "\n            ".join((*PAIR, "w = again[0]"))), retyped(CALL, "s, o", "s, y")),
        "main passes it storage that is not known",
        ("evidence-source-unknown",),
        hold="hold-unsafe-source",
        harm=Harm.VALUES,
    ),
    Condition(
        "another function created the source",
        "INF-P4-08",
        ((MAIN, MAKER + MAIN), (CREATE, "w = self.make()")),
        "main passes it storage that make created",
        ("evidence-source-elsewhere",),
        hold="hold-unsafe-source",
    ),
    Condition(
        "nobody knows what the kernel writes",
        "INF-P4-08",
        ((CREATE, "\n            ".join((*PAIR, "v = again[1]"))), retyped(CALL, "w, s, o", "x, s, v")),
        "main lets the kernel write storage that is not known",
        ("evidence-writable-unknown",),
        hold="hold-unsafe-source",
        harm=Harm.VALUES,
    ),
    Condition(
        "the kernel is given a pointer",
        "INF-P4-08",
        (
            (STREAMED, f"{STREAMED}\n            p: pl.Ptr,"),
            retyped(TAKEN, "self, s", "self, p: pl.Ptr, s"),
            retyped(CALL, "s,", "s, p,"),
        ),
        "main lets the kernel write storage that is not known",
        ("evidence-writable-unknown",),
        hold="hold-unsafe-source",
    ),
    Condition(
        "the kernel writes the source, whatever its direction says",
        "INF-P4-08",
        (FULL, after(STORE, "back = pl.store(z, [0, 0], w)")),
        "the kernel writes the tensor itself",
        ("stay-written-source",),
        hold="hold-written-source",
        harm=Harm.VALUES,
    ),
    Condition(
        "the kernel writes another In parameter that overlaps the source",
        "INF-P4-08",
        (
            FULL,
            (STREAMED, f"{STREAMED}\n            x: pl.Tensor[[16, 32], pl.FP32],"),
            after(STORE, "back = pl.store(z, [0, 0], x)"),
            retyped(CALL, "s,", "s, w,"),
        ),
        "main may let the kernel write the same storage",
        ("evidence-overlap",),
        hold="hold-unsafe-source",
        harm=Harm.VALUES,
    ),
    # ------------------------------------------------------------------ what is invariant
    Condition(
        "the offset is the loop's index",
        "INF-P4-09",
        (retyped(LOAD, "[0, 0]", "[0, n - n]"),),
        "it reads n, which is bound in the loop",
        ("stay-variant",),
        hold="hold-variant",
        harm=Harm.INVALID,
    ),
    Condition(
        "the offset is computed in the loop",
        "INF-P4-09",
        (*ROWS, before(LOAD, "k = rows - rows"), retyped(LOAD, "[0, 0]", "[k, 0]")),
        "it reads k, which is bound in the loop",
        ("stay-variant",),
        hold="hold-variant",
        harm=Harm.INVALID,
    ),
    Condition(
        "the window that is staged depends on the index",
        "INF-P4-09",
        (
            retyped(STAGE, "pl.move(wm,", "pl.tile.extract(wm, 0, n // 2, [16, 16],"),
            before(PRODUCT, "sk = pl.tile.extract(sm, 0, 0, [16, 32], target_memory=pl.Mem.Right)"),
            retyped(PRODUCT, "sr)", "sk)"),
            ("                sr = pl.move(sm, target_memory=pl.Mem.Right)\n", ""),
        ),
        "it reads n, which is bound in the loop",
        ("chain-obstacles",),
        harm=Harm.INVALID,
        subject="wl",
    ),
    # -------------------------------------------------------------------------- order
    Condition(
        "the loop has a barrier behind everything",
        "INF-P4-10",
        (after(STORE, "pl.system.bar_all()"),),
        "the loop has a call, synchronisation or unknown effect",
        ("stay-ordered",),
        hold="hold-ordered",
    ),
    Condition(
        "a nested loop has a barrier",
        "INF-P4-10",
        (after(STORE, "for k in pl.range(2):", "    pl.system.bar_all()"),),
        "the loop has a call, synchronisation or unknown effect",
        ("stay-ordered",),
        hold="hold-ordered",
    ),
    Condition(
        "the loop calls a function",
        "INF-P4-10",
        ((MAIN, HELPER + MAIN), after(STORE, "self.helper()")),
        "the loop has a call, synchronisation or unknown effect",
        ("stay-ordered",),
        hold="hold-ordered",
    ),
    Condition(
        "the loop has an op that nobody knows",
        "INF-P4-10",
        (after(STORE, "pl.system.unheard_of()"),),
        "the loop has a call, synchronisation or unknown effect",
        ("stay-ordered",),
        hold="hold-ordered",
    ),
    # --------------------------------------------------------------------------- uses
    Condition(
        "the panel has an alias",
        "INF-P4-11",
        (before(STAGE, "x = wm"), retyped(STAGE, "move(wm", "move(x")),
        "wm has an alias",
        ("panel-escapes",),
    ),
    Condition(
        "the staged operand has an alias",
        "INF-P4-11",
        (after(STAGE, "x = wl"), retyped(PRODUCT, "wl", "x")),
        "wl has an alias",
        ("panel-escapes",),
    ),
    Condition(
        "the panel is read by something that stages no operand",
        "INF-P4-11",
        (after(STAGE, "v = pl.move(wm, target_memory=pl.Mem.Vec)", "vv = pl.add(v, v)"),),
        "tile.move reads wm and does not stage it",
        ("panel-staged",),
    ),
    Condition(
        "a part of the panel is overwritten",
        "INF-P4-11",
        (
            before(LOOP, "xm = pl.load(s, [0, 0], [16, 16], target_memory=pl.Mem.Mat)"),
            after(STAGE, "ym = pl.tile.assemble(wm, xm, [0, 0])"),
        ),
        "tile.assemble reads wm and does not stage it",
        ("panel-staged",),
        hold="hold-written-tile",
        harm=Harm.VALUES,
        masked="placement makes no copies of a tile that is written",
    ),
    Condition(
        "the staged operand is read by something else than a product",
        "INF-P4-11",
        (after(STAGE, "x = pl.tile.slice(wl, [16, 16], [0, 0])"),),
        "tile.slice reads wl at another place than a product's operand",
        ("panel-fed",),
    ),
    Condition(
        "the panel is yielded",
        "INF-P4-12",
        (
            before(LOOP, "xm = pl.load(s, [0, 0], [16, 32], target_memory=pl.Mem.Mat)"),
            (LOOP, "for n, (acc, last) in pl.range(0, 64, 32, init_values=(o, xm)):"),
            ("result = pl.yield_(stored)", "result, kept = pl.yield_(stored, wm)"),
        ),
        "wm is yielded",
        ("panel-escapes",),
    ),
    Condition(
        "the panel starts a carried value",
        "INF-P4-12",
        (after(STAGE, "for k, (x,) in pl.range(2, init_values=(wm,)):", "    y = pl.yield_(x)"),),
        "wm starts a carried value",
        ("panel-escapes",),
    ),
    # ----------------------------------------------------------------------- capacity
    Condition(
        "another 512 KiB are allocated in Mat",
        "INF-P4-13",
        (before(LOOP, "large = pl.tile.create([512, 256], dtype=pl.FP32, target_memory=pl.Mem.Mat)"),),
        "the allocations of its memory together exceed it",
        ("capacity-sum",),
    ),
    Condition(
        "another 64 KiB are allocated in Left",
        "INF-P4-13",
        (before(LOOP, "large = pl.tile.create([128, 128], dtype=pl.FP32, target_memory=pl.Mem.Left)"),),
        "the allocations of its memory together exceed it",
        ("capacity-sum",),
        subject="wl",
    ),
    Condition(
        "an allocation has no static size",
        "INF-P4-13",
        (*ROWS, before(LOOP, "large = pl.tile.create([rows, 16], dtype=pl.FP32, target_memory=pl.Mem.Mat)")),
        "an allocation in its memory has no static size",
        ("capacity-unknown",),
        hold="hold-unknown-size",
    ),
    Condition(
        "a buffer is reserved",
        "INF-P4-13",
        (before(LOOP, 'pl.system.reserve_buffer(name="slots", size=4096)'),),
        "a buffer is reserved outside the tiles",
        ("capacity-unknown",),
        hold="hold-reserved",
    ),
    Condition(
        "a pipeline loop allocates in Mat",
        "INF-P4-13",
        (
            before(
                LOOP,
                "for k in pl.pipeline(2, stage=2):",
                "    xm = pl.load(s, [0, 0], [16, 32], target_memory=pl.Mem.Mat)",
            ),
        ),
        "a pipeline loop may replicate allocations in its memory",
        ("capacity-replicated",),
    ),
)
