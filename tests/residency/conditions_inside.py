"""The conditions on what happens inside the loop: invariance, order, uses, room (INF-P4-09 to INF-P4-13)."""

from __future__ import annotations

from tests.residency.condition import Condition, Harm
from tests.residency.programs import LOAD, LOOP, PRODUCT, STAGE, STORE, after, before
from tests.residency.variants import HELPER, MAIN, ROWS, retyped

INSIDE: tuple[Condition, ...] = (
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
