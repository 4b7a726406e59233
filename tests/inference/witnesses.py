"""Small programs, each of which needs certain rules: what a rule is for, by example."""

from __future__ import annotations

OPERANDS = """
at = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
"""
T = "pl.Tile[[16, 32], pl.FP32]"
VEC = "pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec]"
MAT = "pl.Tile[[16, 32], pl.FP32, pl.Mem.Mat]"


def _accumulator(seed: str, *, after: str = "", bounds: str = "2") -> str:
    """A loop that adds products to ``z``, which ``seed`` makes."""
    return f"""{OPERANDS}{seed}
for i, (acc,) in pl.range({bounds}, init_values=(z,)):
    m: {T} = pl.tile.matmul_acc(acc, at, bt)
    last: {T} = pl.yield_(m)
{after}
r = pl.store(last, [0, 0], o)
return r
"""


PROGRAMS: dict[str, str] = {
    "product": f"{OPERANDS}m: {T} = pl.tile.matmul(at, bt)\ne: {T} = pl.tile.exp(m)\nreturn o",
    "alias": f"{OPERANDS}v: pl.Tile[[16, 64], pl.BF16] = at\nm = pl.matmul(v, bt)\nreturn o",
    "view": f"{OPERANDS}v: pl.Tile[[16, 64], pl.BF16] = pl.tile.slice(at, [16, 64], [0, 0])\nreturn o",
    "open": f"t: {T} = pl.tile.load(x, [0, 0], [16, 32], [16, 32])\nreturn o",
    "panel": f"t: {T} = pl.tile.load(x, [0, 0], [16, 32], [16, 32])\nu: {T} = pl.tile.panel(t)\nreturn o",
    "panel of a view": f"""
t: {T} = pl.tile.load(x, [0, 0], [16, 32], [16, 32])
v: {T} = pl.tile.slice(t, [16, 32], [0, 0])
u: {T} = pl.tile.panel(v)
return o
""",
    "vector": f"""
t: {T} = pl.tile.load(x, [0, 0], [16, 32], [16, 32])
e: {T} = pl.tile.exp(t)
return o
""",
    "unknown ops": f"u: {T} = pl.tile.matmul_mx_new(s)\nv: {T} = pl.tile.mystery(s)\nreturn o",
    "pops": f"t: {MAT} = pl.tile.tpop_from_aiv(split=0)\nu: {T} = pl.tile.tpop_from_aiv(split=0)\nreturn o",
    "default": f"t = pl.load(x, [0, 0], [16, 32], target_memory=pl.Mem.Mat)\nv: {T} = pl.tile.move(t)\nreturn o",
    "view of an element": f"pair: pl.Tuple[{T}, {T}] = pl.tile.two(x)\nv: {T} = pl.tile.reshape(pair[0], [16, 32])",
    "vague": f"""
t = pl.load(x, [0, 0], [16, 32], target_memory=pl.Mem.Mat)
u: {T} = pl.tile.vague(t)
v: {T} = pl.tile.vague(s)
""",
    "foreign": f"t: {T} = pld.tile.remote_load(x, 0, [0, 0], [16, 32])",
    "tuple": f"pair: pl.Tuple[{T}, {MAT}] = pl.tile.two(x)\nt: {MAT} = pair[1]\nu: {T} = pair[0]",
    "accumulator": _accumulator(f"z: {T} = pl.tile.create([16, 32], dtype=pl.FP32)"),
    "scratch": """
z = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Mat)
for i, (box,) in pl.range(0, 64, 32, init_values=(z,)):
    v: pl.Tile[[16, 64], pl.FP32] = pl.tile.slice(box, [16, 64], [0, 0])
    last: pl.Tile[[16, 64], pl.FP32] = pl.yield_(box)
""",
    "zeros": _accumulator(f"z: {T} = pl.tile.full([16, 32], dtype=pl.FP32, value=0.0)"),
    "ones": _accumulator(f"z: {T} = pl.tile.full([16, 32], dtype=pl.FP32, value=1.0)"),
    "loaded": _accumulator(f"z: {VEC} = pl.load(x, [0, 0], [16, 32])"),
    "view of loaded": _accumulator(
        f"y1: {VEC} = pl.load(x, [0, 0], [16, 32])\nz = pl.tile.slice(y1, [16, 32], [0, 0])"
    ),
    "view of create": _accumulator(f"c: {T} = pl.tile.create([16, 32], dtype=pl.FP32)\nz: {T} = c"),
    "read besides": _accumulator(
        f"z: {T} = pl.tile.create([16, 32], dtype=pl.FP32)\npl.tile.write(z, [0, 0], s)",
        after="r1 = pl.store(z, [0, 0], q)",
    ),
    "branch as seed": f"""{OPERANDS}
if n > 0:
    z1: {VEC} = pl.load(x, [0, 0], [16, 32])
    z: {VEC} = pl.yield_(z1)
else:
    z2: {VEC} = pl.tile.full([16, 32], dtype=pl.FP32, value=1.0)
    z: {VEC} = pl.yield_(z2)
for i, (acc,) in pl.range(2, init_values=(z,)):
    m: {T} = pl.tile.matmul_acc(acc, at, bt)
    last: {T} = pl.yield_(m)
r = pl.store(last, [0, 0], o)
return r
""",
    "branches that differ": f"""{OPERANDS}
m = pl.matmul(at, bt)
if n > 0:
    z: {T} = pl.yield_(m)
else:
    t = pl.load(x, [0, 0], [16, 32])
    z: {T} = pl.yield_(t)
e: {T} = pl.tile.exp(z)
""",
    "branch that keeps the carry": f"""{OPERANDS}
z: {T} = pl.tile.create([16, 32], dtype=pl.FP32)
for i, (acc,) in pl.range(2, init_values=(z,)):
    if n > 0:
        m: {T} = pl.tile.matmul_acc(acc, at, bt)
        k: {T} = pl.yield_(m)
    else:
        k: {T} = pl.yield_(acc)
    last: {T} = pl.yield_(k)
""",
    "branches that hand on carries": f"""{OPERANDS}
t = pl.load(x, [0, 0], [16, 32])
m: {T} = pl.tile.matmul(at, bt)
for i, (c, d) in pl.range(2, init_values=(t, m)):
    if i == 0:
        g: {T} = pl.yield_(c)
    else:
        g: {T} = pl.yield_(d)
    e: {T} = pl.tile.exp(g)
    c1, d1 = pl.yield_(c, d)
""",
    "exchanged slots": f"""{OPERANDS}
t = pl.load(x, [0, 0], [16, 32])
m: {T} = pl.tile.matmul(at, bt)
for i, (c, d) in pl.range(3, init_values=(t, m)):
    c1, d1 = pl.yield_(d, c)
r = pl.store(c1, [0, 0], o)
return r
""",
    "load for Mat": f"""
z = pl.load(x, [0, 0], [16, 32])
for i, (c,) in pl.range(2, init_values=(z,)):
    g = pl.load(y, [0, 0], [16, 32], target_memory=pl.Mem.Mat)
    last: {T} = pl.yield_(g)
""",
    "init in Mat": f"""
z = pl.load(x, [0, 0], [16, 32], target_memory=pl.Mem.Mat)
for i, (c,) in pl.range(2, init_values=(z,)):
    e: {T} = pl.tile.exp(c)
    last: {T} = pl.yield_(e)
v = pl.tile.transpose_view(z)
""",
    "two slots": f"""{OPERANDS}
z: {T} = pl.tile.create([16, 32], dtype=pl.FP32)
for i, (acc,) in pl.range(2, init_values=(z,)):
    m: {T} = pl.tile.matmul_acc(acc, at, bt)
    last: {T} = pl.yield_(m)
for j, (c,) in pl.range(2, init_values=(z,)):
    e: {T} = pl.tile.full([16, 32], dtype=pl.FP32, value=1.0)
    last2: {T} = pl.yield_(e)
""",
    "written": f"{OPERANDS}pl.tile.write(at, [0, 0], h)\nm = pl.matmul(at, bt)",
    "written view": f"{OPERANDS}v: pl.Tile[[16, 64], pl.BF16] = at\npl.tile.write(v, [0, 0], h)\nm = pl.matmul(at, bt)",
    "written with a transposed view": """
t = pl.load(x, [0, 0], [16, 32], target_memory=pl.Mem.Mat)
tv = pl.tile.transpose_view(t)
f1 = pl.tile.fillpad_inplace(t, pad_value=pl.PadValue.zero)
e = pl.tile.exp(f1)
e2 = pl.tile.exp(tv)
""",
    "written after a view of it": f"""
u = pl.load(x, [0, 0], [16, 32])
t: {T} = pl.tile.exp(u)
v: pl.Tile[[32, 16], pl.FP32] = pl.tile.transpose_view(t)
pl.tile.write(t, [0, 0], s)
e = pl.tile.exp(v)
""",
    "block": f"t = pl.load(x, [0, 0], [16, 32])\nu = pl.load(y, [0, 0], [16, 32], target_memory=pl.Mem.Mat)\n"
    f"v: {T} = pl.tile.assemble(t, u, [0, 0])",
    "bias": f"{OPERANDS}c = pl.load(bias, [0, 0], [1, 32])\nm: {T} = pl.tile.matmul_bias(at, bt, c)",
    "layout": "t = pl.load(x, [0, 0], [16, 32], target_memory=pl.Mem.Mat)\ne = pl.tile.exp(t)",
}
"""Kernel bodies for :func:`tests.inference.texts.kernel`, run with the wishes and, where it matters, a chip."""

NEEDS: dict[str, str] = {
    "read-regions": "product",
    "read-slots": "product",
    "demand-first-allowed": "panel",
    "demand-vec-last": "vector",
    "demand-through-view": "panel of a view",
    "unknown-cube-op": "unknown ops",
    "unknown-op": "unknown ops",
    "annotated-op": "pops",
    "unannotated-op": "pops",
    "fixed-output": "product",
    "target-keyword": "product",
    "target-default": "default",
    "inherit-input": "view",
    "read-inherits": "view",
    "inherit-nothing": "view of an element",
    "retargetable-demand": "panel",
    "retargetable-default": "open",
    "unresolved-inherits": "vague",
    "unresolved-vec": "vague",
    "foreign-call": "foreign",
    "alias": "alias",
    "projection": "tuple",
    "seen-where-it-is": "product",
    "seen-where-it-went": "written",
    "iter-arg-from-init": "scratch",
    "slot-from-yield": "accumulator",
    "result-from-iter-arg": "scratch",
    "grounded-slot": "loaded",
    "if-branches-agree": "branch as seed",
    "if-surer-branch": "branch that keeps the carry",
    "if-reconcile": "branches that differ",
    "if-reconcile-guesses": "branches that hand on carries",
    "exchanged-slots": "exchanged slots",
    "want-init-in-slot": "accumulator",
    "want-through-view": "view of create",
    "want-through-if": "branch as seed",
    "retarget-create": "accumulator",
    "retarget-load": "load for Mat",
    "retarget-untargeted": "open",
    "clone-create": "two slots",
    "stuck-producer": "ones",
    "stuck-load": "loaded",
    "stuck-create": "read besides",
    "stuck-view": "view of loaded",
    "stuck-if": "branch as seed",
    "keep-init-space": "loaded",
    "peel-zero-fill": "zeros",
    "peeled-seed": "zeros",
    "split-accumulate": "loaded",
    "split-sum-in-vec": "loaded",
    "rehome-written": "written",
    "rehome-source": "written view",
    "write-back": "written with a transposed view",
    "rehome-viewed": "written after a view of it",
    "wrote-back": "written with a transposed view",
    "have-where-seen": "two slots",
    "have-clone": "two slots",
    "need-operand": "product",
    "need-init": "init in Mat",
    "need-yield": "branches that differ",
    "need-assemble-source": "block",
    "need-stops": "bias",
    "first-consumer": "product",
    "serve-from-scope": "product",
    "layout-of-accumulator-copy": "branches that differ",
    "layout-wish": "layout",
}
"""For every rule of the inference a program whose result changes without it."""
