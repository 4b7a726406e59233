"""Programs in which one condition alone keeps a rewrite of a kernel's buffers from going wrong.

Each names the rule that states the condition. The rules with it keep the meaning of the program; without it
something goes wrong that interpreting, or verifying, the result shows.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.orch.test_reuse import BUMP, PAIR
from tests.orch.texts import function, main, program
from tilesat.ir.nodes import Program


@dataclass(frozen=True)
class Hazard:
    """``rule`` (or several, for one condition) keeps ``program`` right under ``rules``; its note says ``reason``."""

    rule: str
    requirement: str
    program: Program
    reason: str
    rules: str = "reference"


SHIFT = function(
    "shift(x: S, y: S, o: pl.Out[S]) -> S",
    """
    for j, (c,) in pl.range(2, init_values=(o,)):
        a = pl.load(x, [j * 4, 0], [4, 16])
        b = pl.load(y, [4 - j * 4, 0], [4, 16])
        t = pl.add(a, b)
        r = pl.store(t, [j * 4, 0], c)
        f: S = pl.yield_(r)
    return f
    """,
)
"""Block by block, from the same block of ``x`` and the other block of ``y``."""
BACKWARDS = SHIFT.replace("shift(", "back(").replace("load(x, [j * 4", "load(x, [4 - j * 4")
LATE = (
    function(
        "late(x: S, s: pl.InOut[S], o: pl.Out[S], p: pl.Out[S]) -> tuple[S, S]",
        """
    a = pl.load(x, [0, 0], [8, 16])
    r = pl.store(pl.mul(a, 2.0), [0, 0], o)
    b = pl.load(s, [0, 0], [8, 16])
    q = pl.store(b, [0, 0], p)
    return r, q
    """,
    )
    .replace("pl.store(pl.mul(a, 2.0)", "pl.store(m")
    .replace("    r = ", "    m = pl.muls(a, 2.0)\n    r = ")
)
HALF = function(
    "half(x: S, o: pl.Out[S]) -> S",
    "a = pl.load(x, [4, 0], [4, 16])\nr = pl.store(a, [0, 0], o)\nreturn r",
)
PEEK = function(
    "peek(x: S, o: pl.Out[S]) -> S",
    """
    b = pl.load(o, [0, 0], [8, 16])
    a = pl.load(x, [0, 0], [8, 16])
    t = pl.sub(a, b)
    r = pl.store(t, [0, 0], o)
    return r
    """,
)
WIDE = function(
    "wide(x: S, o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]",
    """
    a = pl.load(x, [0, 0], [8, 16])
    for j, (c,) in pl.range(2, init_values=(o,)):
        r = pl.store(a, [j * 8, 0], c)
        f: pl.Tensor[[16, 16], pl.FP32] = pl.yield_(r)
    return f
    """,
)
FILL = function(
    "fill(d: S, o: pl.Out[S]) -> S", "a = pl.load(d, [0, 0], [8, 16])\nr = pl.store(a, [0, 0], o)\nreturn r"
)

CARRIED = """
for i, (c,) in pl.range(3, init_values=(x,)):
    buf = NEW
    n = {call}
    f: S = pl.yield_(n)
return f
"""
RUN = "run(x: S, d: S, e: S, k: N) -> S"
OLD_USED = "the old contents of the input are used after the launch"
"""What the note of a merge says that would be seen later in the same pass."""


def carried(kernel: str, call: str, header: str = RUN) -> Program:
    """``kernel``, called in a loop that feeds its result back through a fresh buffer."""
    return program(kernel, main(header, CARRIED.format(call=call)))


def bumps(body: str, header: str = RUN) -> Program:
    return program(BUMP, main(header, body))


def made(body: str) -> str:
    """``body``, which uses a buffer ``z`` that the function has made and filled."""
    return "zb = NEW\nz = self.bump(d, d, zb)\n" + "\n".join(line.strip("\n") for line in body.splitlines())


KERNEL_HAZARDS = (
    Hazard(
        "bar-read-after-write",
        "ORC-1-03",
        carried(BACKWARDS, "self.back(c, d, buf)"),
        "may overlap",
    ),
    Hazard(
        "bar-shared-input",
        "ORC-1-03",
        carried(SHIFT, "self.shift(c, c, buf)"),
        "may overlap",
    ),
    Hazard(
        "bar-unknown-argument",
        "ORC-1-03",
        program(
            SHIFT,
            main(
                RUN,
                """
                for i, (c,) in pl.range(3, init_values=(x,)):
                    buf = NEW
                    t: pl.Tuple[S, S] = [d, c]
                    n = self.shift(c, t[1], buf)
                    f: S = pl.yield_(n)
                return f
                """,
            ),
        ),
        "an argument of the launch is not followed",
    ),
    Hazard(
        "bar-shared-output",
        "ORC-1-03",
        program(
            LATE,
            main(
                "run(x: S) -> tuple[S, S]",
                """
                zb = NEW
                z = pl.tensor.assemble(zb, x, [0, 0])
                buf = NEW
                puf = NEW
                t: pl.Tuple[S, S] = self.late(z, z, buf, puf)
                n: S = t[0]
                v: S = t[1]
                return n, v
                """,
            ),
        ),
        "",
        "optimal",
    ),
    Hazard("bar-not-filled", "ORC-1-03", carried(HALF, "self.half(c, buf)"), "not known to be the whole tensor"),
    Hazard("bar-output-read", "ORC-1-03", carried(PEEK, "self.peek(c, buf)"), "reads its output"),
    Hazard(
        "bar-unlike bar-unlike-given",
        "ORC-1-02",
        program(
            WIDE,
            main(
                "run(x: S) -> pl.Tensor[[16, 16], pl.FP32]",
                """
                z = NEW
                y = pl.tensor.assemble(z, x, [0, 0])
                buf = pl.tensor.create([16, 16], dtype=pl.FP32, layout=pl.TensorLayout.ND)
                n = self.wide(y, buf)
                return n
                """,
            ),
        ),
        "",
        "optimal",
    ),
    Hazard(
        "bar-fixed-launch",
        "ORC-1-02",
        # Both blocks add to the same input: in place, the second one adds to what the first one stored.
        carried(BUMP, "self.bump(c, d, buf, attrs={'core_num': 2})"),
        "it runs on several blocks",
    ),
)

CALLER_HAZARDS = (
    Hazard(
        "bar-later-use",
        "ORC-1-02",
        bumps(
            """
            for i, (c,) in pl.range(3, init_values=(x,)):
                buf = NEW
                n = self.bump(c, d, buf)
                f: S = pl.yield_(n)
            puf = NEW
            g = self.bump(x, f, puf)
            return g
            """
        ),
        OLD_USED,
    ),
    Hazard(
        "bar-use-in-next-trip",
        "ORC-1-02",
        bumps(
            made(
                """
for i, (c,) in pl.range(3, init_values=(e,)):
    buf = NEW
    n = self.bump(z, d, buf)
    puf = NEW
    v = self.bump(n, c, puf)
    f: S = pl.yield_(v)
return f
"""
            )
        ),
        "",
        "optimal",
    ),
    Hazard(
        "bar-passed-on",
        "ORC-1-02",
        bumps(
            """
            for i, (c, p) in pl.range(3, init_values=(x, e)):
                buf = NEW
                n = self.bump(c, p, buf)
                f, g = pl.yield_(n, c)
            puf = NEW
            h = self.bump(f, g, puf)
            return h
            """
        ),
        "are carried on and used later",
    ),
    Hazard(
        "bar-seen-by-callers",
        "ORC-1-03",
        bumps(CARRIED.format(call="self.bump(c, d, buf)"), "run(x: pl.InOut[S], d: S) -> S"),
        "whose contents somebody sees",
    ),
    Hazard(
        "bar-buffer-in-use",
        "ORC-1-02",
        program(
            BUMP,
            FILL,
            main(
                RUN,
                """
                for i, (c,) in pl.range(3, init_values=(x,)):
                    buf = NEW
                    m = self.fill(d, buf)
                    n = self.bump(c, d, buf)
                    f: S = pl.yield_(n)
                return f
                """,
            ),
        ),
        "the buffer 'buf' has other uses",
    ),
    Hazard(
        "clashing-merges",
        "ORC-1-03",
        program(
            PAIR,
            main(
                "run(x: S) -> tuple[S, S]",
                """
                for i, (c, e) in pl.range(3, init_values=(x, x)):
                    buf = NEW
                    puf = NEW
                    t: pl.Tuple[S, S] = self.pair(c, e, buf, puf)
                    n: S = t[0]
                    v: S = t[1]
                    f, g = pl.yield_(n, v)
                return f, g
                """,
            ),
        ),
        "another input that is overwritten too may be the same buffer",
    ),
)

PATH_HAZARDS = (
    Hazard(
        "stale-names",
        "ORC-1-03",
        bumps(
            """
            y: S = x
            for i, (c,) in pl.range(3, init_values=(x,)):
                buf = NEW
                n = self.bump(c, d, buf)
                f: S = pl.yield_(n)
            puf = NEW
            g = self.bump(y, f, puf)
            return g
            """
        ),
        OLD_USED,
    ),
    Hazard(
        "stale-passed-on",
        "ORC-1-03",
        bumps(
            """
            for i, (c,) in pl.range(3, init_values=(x,)):
                buf = NEW
                n = self.bump(c, d, buf)
                f: S = pl.yield_(n)
            y: S = x
            puf = NEW
            g = self.bump(y, f, puf)
            return g
            """
        ),
        OLD_USED,
    ),
    Hazard(
        "buffer-of-branch",
        "ORC-1-03",
        bumps(
            """
            if k >= 0:
                y: S = pl.yield_(x)
            else:
                y: S = pl.yield_(e)
            for i, (c,) in pl.range(3, init_values=(y,)):
                buf = NEW
                n = self.bump(c, d, buf)
                f: S = pl.yield_(n)
            puf = NEW
            g = self.bump(x, f, puf)
            return g
            """
        ),
        OLD_USED,
    ),
    Hazard(
        "same-buffer-carried",
        "ORC-1-03",
        bumps(
            """
            for i, (c,) in pl.range(3, init_values=(x,)):
                buf = NEW
                n = self.bump(c, d, buf)
                f: S = pl.yield_(n)
            puf = NEW
            g = self.bump(x, f, puf)
            return g
            """
        ),
        OLD_USED,
    ),
    Hazard(
        "same-buffer-side-by-side",
        "ORC-1-03",
        bumps(
            """
            for i, (c, p) in pl.range(3, init_values=(x, x)):
                buf = NEW
                n = self.bump(c, d, buf)
                puf = NEW
                m = self.bump(p, n, puf)
                f, g = pl.yield_(n, m)
            quf = NEW
            h = self.bump(f, g, quf)
            return h
            """
        ),
        OLD_USED,
    ),
)

HAZARDS = (*KERNEL_HAZARDS, *CALLER_HAZARDS, *PATH_HAZARDS)
