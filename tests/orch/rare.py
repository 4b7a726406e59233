"""Programs that meet conditions which no other text meets: each names the rule that states the condition.

They are wide enough for the optimal rules to rewrite them, too, once the condition is gone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import tilesat
from tests.orch.test_aggregates import aggregate
from tests.orch.test_gather import NEGATIVE
from tests.orch.test_reuse import BUMP
from tests.orch.test_strides import block, reader
from tests.orch.test_window_sites import NEW_BUFFER, TWIN
from tests.orch.test_windows import strip
from tests.orch.texts import function, main, program
from tilesat.ir.nodes import Program


@dataclass(frozen=True)
class Rare:
    """``rule`` speaks against rewriting a part of ``program``; the note says ``reason``.

    A choice that the optimal rules alone offer has no note. ``damage`` is what happens under the optimal rules without
    the condition: the result means something else (``wrong``), states strides that its tensors do not have
    (``strides``), or is refused (``invalid``). Where it is empty the rule is careful: nothing goes wrong here.
    """

    rule: str
    requirement: str
    program: Program
    reason: str = ""
    damage: str = ""


def wide(before: Program, factor: int = 16) -> Program:
    """``before`` with ``factor`` times as many columns."""
    return tilesat.parse(re.sub(r", (16|32)\]", lambda match: f", {factor * int(match[1])}]", str(before)))


OTHER = "pl.Tensor[[16, 48], pl.FP32]"
HALF = "pl.Tensor[[4, 16], pl.FP32]"
SMALL = "pl.Tensor[[8, 16], pl.FP32]"
DENSE = "pl.Tensor[[8, 16], pl.FP32, pl.TensorView(stride=[16, 1], layout=pl.TensorLayout.ND)]"
TURNED = "pl.Tensor[[16, 8], pl.FP32]"
ROWS = "pl.Tensor[[NR, 32], pl.FP32]"
HEAD = 'NR = pl.dynamic("NR")'

FIRST = main("first(a: S, b: S) -> S", "t: pl.Tuple[S, S] = [a, b]\nreturn t[0]")
"""Hands back ``a``, in a way that is not followed."""
INCREASE = function(
    "inc(x: S, o: pl.Out[S]) -> S",
    """
    a = pl.load(x, [0, 0], [8, 16])
    b = pl.exp(a)
    s = pl.store(b, [0, 0], o)
    return s
    """,
)
MADE = main("made(x: S) -> S", "buf = NEW\nr = self.inc(x, buf)\nreturn r")
"""Hands back a tensor of its own."""

FULL = """
z = pl.tensor.full([8, 16], dtype=pl.FP32, value=1.0)
buf = NEW
n = self.inc(z, buf)
return n
"""

MERGES = (
    Rare(
        "bar-unknown-input",
        "ORC-1-03",
        program(
            INCREASE,
            FIRST,
            main(
                "run(k: N) -> N",
                """
                z = pl.tensor.full([8, 16], dtype=pl.FP32, value=1.0)
                y = pl.tensor.full([8, 16], dtype=pl.FP32, value=2.0)
                v = self.first(z, y)
                buf = NEW
                n = self.inc(v, buf)
                return k
                """,
            ),
        ),
    ),
    Rare(
        "bar-recast-input",
        "ORC-1-03",
        program(
            BUMP,
            main(
                f"run(x: {TURNED}, d: S) -> S",
                f"""
                zb = pl.tensor.create([16, 8], dtype=pl.FP32, layout=pl.TensorLayout.ND)
                z: {TURNED} = pl.tensor.assemble(zb, x, [0, 0])
                v: S = pl.tensor.reshape(z, [8, 16])
                buf = NEW
                n = self.bump(v, d, buf)
                return n
                """,
            ),
        ),
    ),
    Rare(
        "bar-unlike",
        "ORC-1-02",
        program(
            INCREASE.replace(SMALL, DENSE, 1),
            main("run(d: S) -> S", FULL),
        ),
    ),
    Rare(
        "bar-unlike-given",
        "ORC-1-02",
        program(
            INCREASE,
            main("run(d: S) -> S", FULL.replace("z =", f"z: {DENSE} =")),
        ),
    ),
    Rare(
        "stale-next-trip",
        "ORC-1-03",
        program(
            BUMP,
            main(
                "run(d: S, e: S) -> S",
                """
                zb = NEW
                z = self.bump(d, d, zb)
                for i, (c,) in pl.range(3, init_values=(e,)):
                    y: S = z
                    buf = NEW
                    n = self.bump(y, d, buf)
                    puf = NEW
                    v = self.bump(n, c, puf)
                    f: S = pl.yield_(v)
                return f
                """,
            ),
        ),
        "",
        "wrong",
    ),
)
STRIDES = (
    Rare(
        "bar-unclear-input",
        "ORC-4-01",
        program(
            reader(),
            FIRST,
            main(
                f"run(big: L, other: {OTHER}, k: N) -> S",
                """
                if k < 0:
                    w = pl.tensor.slice(big, [8, 16], [8, 16])
                    p: S = pl.yield_(w)
                else:
                    u: S = pl.tensor.slice(other, [8, 16], [8, 16])
                    v = self.first(u, u)
                    p: S = pl.yield_(v)
                b = NEW
                r = self.rd(p, b)
                return r
                """,
            ),
        ),
        "the strides of a tensor given for it are not known",
        "strides",
    ),
    Rare(
        "bar-unclear-parent",
        "ORC-2-01",
        program(
            block(),
            main(
                "run(x: L, k: N, y: pl.Out[L], z: pl.Out[pl.Tensor[[32, 16], pl.FP32]]) -> L",
                """
                if k == 0:
                    p: L = pl.yield_(y)
                else:
                    v: L = pl.tensor.reshape(z, [16, 32])
                    p: L = pl.yield_(v)
                buf = NEW
                c = self.blk(x, 0, buf)
                n = pl.tensor.assemble(p, c, [0, 0])
                return n
                """,
            ),
        ),
        "the strides of the tensor it is assembled into are not known",
    ),
    Rare(
        "bar-unclear-output",
        "ORC-2-01",
        program(
            block(),
            FIRST,
            main(
                f"run(x: L, k: N, y: pl.Out[L], big: pl.InOut[L], other: pl.InOut[{OTHER}]) -> tuple[L, S]",
                """
                buf = NEW
                c = self.blk(x, 0, buf)
                n = pl.tensor.assemble(y, c, [0, 0])
                if k < 0:
                    w = pl.tensor.slice(big, [8, 16], [8, 16])
                    p: S = pl.yield_(w)
                else:
                    u: S = pl.tensor.slice(other, [8, 16], [8, 16])
                    v = self.first(u, u)
                    p: S = pl.yield_(v)
                m = self.blk(x, 8, p)
                return n, m
                """,
            ),
        ),
        "the strides of a buffer given for it are not known",
        "strides",
    ),
    Rare(
        "bar-foreign-strides",
        "ORC-4-01",
        program(
            reader(),
            main(
                "run(x: S, k: N) -> S",
                """
                big: pl.Tensor[[16, k], pl.FP32] = pl.tensor.create([16, k], dtype=pl.FP32, layout=pl.TensorLayout.ND)
                z: pl.Tensor[[16, k], pl.FP32] = pl.tensor.assemble(big, x, [0, 0])
                w: S = pl.tensor.slice(z, [8, 16], [0, 0])
                buf = NEW
                r = self.rd(w, buf)
                return r
                """,
            ),
        ),
        "a stride depends on something that the kernel does not know",
        "invalid",
    ),
    Rare(
        "bar-no-strides",
        "ORC-4-01",
        program(
            INCREASE,
            MADE,
            reader(),
            main(
                "run(big: L, small: S) -> tuple[S, S, S]",
                """
                w = pl.tensor.slice(big, [8, 16], [8, 16])
                b = NEW
                r = self.rd(w, b)
                v = self.made(small)
                b2 = NEW
                r2 = self.rd(v, b2)
                return r, r2, v
                """,
            ),
        ),
        "the strides of a tensor given for it are not known",
        "strides",
    ),
)
GATHERS = tuple(
    Rare(rule, "ORC-3-01", wide(before), reason, "invalid" if rule == "keep-other-use" else "wrong")
    for rule, (before, reason) in NEGATIVE.items()
)
WINDOWS = (
    Rare(
        "same-buffer-wild",
        "ORC-1-03",
        program(
            TWIN,
            FIRST.replace("[8, 16]", "[16, 32]"),
            main(
                "run(x: L, y: pl.Out[L], v: pl.Out[L]) -> tuple[L, L]",
                """
                q = self.first(y, v)
                t: pl.Tuple[L, L] = self.strip(x, 8, y, q)
                z: L = t[0]
                w: L = t[1]
                return z, w
                """,
            ),
        ),
        "two of its outputs may be the same tensor",
    ),
    Rare(
        "whole-pieces-in-deps",
        "ORC-5-07",
        program(
            aggregate("j * 4", 3),
            main(
                "run(x: L, y: pl.Out[L], v: pl.Out[L]) -> tuple[L, L]",
                """
                t: pl.Tuple[L, TASK] = pl.submit(self.agg, x, 0, y)
                z: L = t[0]
                u: pl.Tuple[L, TASK] = pl.submit(self.agg, x, 0, v, deps=[t[1]])
                w: L = u[0]
                return z, w
                """,
            ),
        ),
        "a dependency names a result that falls into pieces",
    ),
    Rare(
        "whole-input-outside-risk",
        "ORC-5-05",
        program(
            strip(signature=f"strip(x: {ROWS}, r: N, o: pl.Out[L]) -> L"),
            main(f"run(x: {ROWS}, y: pl.Out[L]) -> L", "z = self.strip(x, 8, y)\nreturn z"),
            head=HEAD,
        ),
        "may lie outside",
    ),
    Rare(
        "whole-unstated-strides",
        "ORC-5-05",
        program(
            strip(
                "a = pl.load(x, [0, 0], [4, 16])\ns = pl.store(a, [r, 0], o)\nreturn s",
                "strip(x: S, r: N, o: pl.Out[S]) -> S",
            ),
            main(
                "run(x: S, big: pl.InOut[L]) -> S",
                "w = pl.tensor.slice(big, [8, 16], [8, 16])\nz = self.strip(x, 4, w)\nreturn z",
            ),
        ),
        "a tensor that is given is a window, and its parameter states no strides",
        "strides",
    ),
    Rare(
        "whole-unstated-input-strides",
        "ORC-5-04",
        program(
            strip(
                "a = pl.load(x, [r, 0], [4, 16])\ns = pl.store(a, [0, 0], o)\nreturn s",
                f"strip(x: S, r: N, o: pl.Out[{HALF}]) -> {HALF}",
            ),
            main(
                f"run(big: L, small: S, k: N, y: pl.Out[{HALF}]) -> {HALF}",
                """
                if k < 0:
                    p: S = pl.yield_(small)
                else:
                    w = pl.tensor.slice(big, [8, 16], [8, 16])
                    p: S = pl.yield_(w)
                z = self.strip(p, 4, y)
                return z
                """,
            ),
        ),
        "a tensor that is given is a window, and its parameter states no strides",
        "strides",
    ),
    Rare(
        "whole-new-buffer",
        "ORC-5-06",
        NEW_BUFFER,
        "a loop's result that is given is not the tensor the loop started from",
        "wrong",
    ),
    Rare(
        "whole-new-input-buffer",
        "ORC-5-06",
        program(
            strip(),
            main(
                "run(x: L, y: pl.Out[L]) -> L",
                """
                for i, (c,) in pl.range(2, init_values=(x,)):
                    b = NEW_L
                    n = pl.tensor.assemble(b, y, [0, 0])
                    f: L = pl.yield_(n)
                z = self.strip(f, 8, y)
                return z
                """,
            ),
        ),
        "a loop's result that is given is not the tensor the loop started from",
        "wrong",
    ),
)
RARE = (*MERGES, *STRIDES, *GATHERS, *(replace(rare, program=wide(rare.program)) for rare in WINDOWS))
