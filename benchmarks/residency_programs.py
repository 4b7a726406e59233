"""GEMM-like, attention-like and multi-consumer kernels as lowering makes them: every load is in the innermost loop.

Sizes, loop orders, and where operands come from (created by the caller, or from outside the program) follow a seed.
"""

from __future__ import annotations

import random
from textwrap import dedent, indent

MARK = 'attrs={"__compiler_tensor_to_tile_mat_bridge": True}'
MAT, LEFT, RIGHT = (f"target_memory=pl.Mem.{space}" for space in ("Mat", "Left", "Right"))


def _load(name: str, tensor: str, offsets: str, shape: str) -> str:
    return f"{name} = pl.load({tensor}, {offsets}, {shape}, {MAT}, {MARK})"


def _program(name: str, params: dict[str, str], out: str, body: list[str], created: set[str]) -> str:
    """A kernel with ``params``, and a caller that creates some of them and passes the rest on."""
    kernel_params = ", ".join([*(f"{p}: pl.Tensor[{shape}, pl.FP32]" for p, shape in params.items()), out])
    given = [f"{p}: pl.Tensor[{shape}, pl.FP32]" for p, shape in params.items() if p not in created]
    creates = [f"{p} = pl.create_tensor({shape}, dtype=pl.FP32)" for p, shape in params.items() if p in created]
    text = f"""\
    import pypto.language as pl

    @pl.program
    class {name}:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel({kernel_params}):
    BODY
        @pl.function(type=pl.FunctionType.Orchestration)
        def main({", ".join(["self", *given, out])}):
    CALLS
    """
    text = dedent(text).replace("BODY\n", indent("\n".join(body), " " * 8) + "\n")
    calls = "\n".join([*creates, f"self.kernel({', '.join([*params, 'o'])})"])
    return text.replace("CALLS\n", indent(calls, " " * 8) + "\n")


def gemm(seed: int) -> str:
    """``o = a @ b`` in blocks; the depth is split in some, and the loops are in either order."""
    rng = random.Random(seed)
    m, n, k = rng.choice((64, 128)), rng.choice((128, 256)), rng.choice((64, 128, 256))
    tm, tn = rng.choice((16, 32)), rng.choice((32, 64))
    outer, inner = (f"for i in pl.range(0, {m}, {tm}):", f"for j in pl.range(0, {n}, {tn}):")[:: rng.choice((1, -1))]
    loads = [_load("am", "a", "[i, 0]", f"[{tm}, {k}]"), _load("bm", "b", "[0, j]", f"[{k}, {tn}]")]
    if rng.random() < 0.5:
        product = [
            f"al = pl.move(am, {LEFT})",
            f"br = pl.move(bm, {RIGHT})",
            "c = pl.matmul(al, br)",
        ]
    else:
        half = k // 2
        product = [
            f"al = pl.tile.extract(am, 0, 0, [{tm}, {half}], {LEFT})",
            f"br = pl.tile.extract(bm, 0, 0, [{half}, {tn}], {RIGHT})",
            "d = pl.matmul(al, br)",
            f"ah = pl.tile.extract(am, 0, {half}, [{tm}, {half}], {LEFT})",
            f"bs = pl.tile.extract(bm, {half}, 0, [{half}, {tn}], {RIGHT})",
            "c = pl.matmul_acc(d, ah, bs)",
        ]
    body = [outer, f"    {inner}", *(f"        {line}" for line in (*loads, *product, "pl.store(c, [i, j], o)"))]
    created = {name for name in ("a", "b") if rng.random() < 0.6}
    out = f"o: pl.Out[pl.Tensor[[{m}, {n}], pl.FP32]]"
    return _program(f"Gemm{seed}", {"a": f"[{m}, {k}]", "b": f"[{k}, {n}]"}, out, body, created)


def attention(seed: int) -> str:
    """Scores of stationary queries against streamed keys, weighted and multiplied with values."""
    rng = random.Random(seed)
    heads, rows, length, width = rng.choice((2, 4)), 32, rng.choice((128, 256)), rng.choice((32, 64))
    tq, tk = 16, rng.choice((32, 64))
    body = [
        f"for h in pl.range({heads}):",
        f"    for q in pl.range(0, {rows}, {tq}):",
        f"        for t in pl.range(0, {length}, {tk}):",
        *(
            f"            {line}"
            for line in (
                _load("qm", "qs", f"[h * {rows} + q, 0]", f"[{tq}, {width}]"),
                f"ql = pl.move(qm, {LEFT})",
                _load("km", "ks", f"[h * {length} + t, 0]", f"[{tk}, {width}]"),
                "kt = pl.tile.transpose_view(km)",
                f"kr = pl.move(kt, {RIGHT})",
                "s = pl.matmul(ql, kr)",
                "sv = pl.move(s, target_memory=pl.Mem.Vec)",
                "e = pl.exp(sv)",
                f"el = pl.move(e, {LEFT})",
                _load("vm", "vs", f"[h * {length} + t, 0]", f"[{tk}, {width}]"),
                f"vr = pl.move(vm, {RIGHT})",
                "p = pl.matmul(el, vr)",
                f"pl.store(p, [h * {rows} + q, t // {tk} * {width}], o)",
            )
        ),
    ]
    shapes = {
        "qs": f"[{heads * rows}, {width}]",
        "ks": f"[{heads * length}, {width}]",
        "vs": f"[{heads * length}, {width}]",
    }
    created = {name for name in shapes if rng.random() < 0.6}
    out = f"o: pl.Out[pl.Tensor[[{heads * rows}, {length // tk * width}], pl.FP32]]"
    return _program(f"Attention{seed}", shapes, out, body, created)


def multi_consumer(seed: int) -> str:
    """One activation and several weights: each product loads both, in one loop or in a loop each."""
    rng = random.Random(seed)
    rows, depth, width, count = rng.choice((16, 32)), rng.choice((64, 128)), rng.choice((128, 256)), rng.choice((2, 3))
    tn, trips = 64, rng.choice((2, 4))
    parts = [
        [
            _load(f"xm{k}", "x", f"[r * {rows}, 0]", f"[{rows}, {depth}]"),
            f"xl{k} = pl.move(xm{k}, {LEFT})",
            _load(f"wm{k}", f"w{k}", "[0, j]", f"[{depth}, {tn}]"),
            f"wr{k} = pl.move(wm{k}, {RIGHT})",
            f"c{k} = pl.matmul(xl{k}, wr{k})",
            f"pl.store(c{k}, [r * {rows}, {k * width} + j], o)",
        ]
        for k in range(count)
    ]
    body = [f"for r in pl.range({trips}):"]
    loop = f"    for j in pl.range(0, {width}, {tn}):"
    if rng.random() < 0.5:
        body += [loop, *(f"        {line}" for part in parts for line in part)]
    else:
        for part in parts:
            body += [loop, *(f"        {line}" for line in part)]
    shapes = {"x": f"[{rows * trips}, {depth}]", **{f"w{k}": f"[{depth}, {width}]" for k in range(count)}}
    created = {name for name in shapes if rng.random() < 0.6}
    out = f"o: pl.Out[pl.Tensor[[{rows * trips}, {count * width}], pl.FP32]]"
    return _program(f"MultiConsumer{seed}", shapes, out, body, created)


FAMILIES = {"gemm": gemm, "attention": attention, "multi-consumer": multi_consumer}
