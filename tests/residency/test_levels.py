"""INF-P4-14: the optimal rules choose how far out a load stands, and what of it fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from types import MappingProxyType

import pytest

import tilesat
from benchmarks.residency import SETTINGS
from benchmarks.residency_programs import FAMILIES
from tests.corpus import kernel, kernel_names
from tests.residency import capacity
from tests.residency.judging import overfull
from tests.residency.programs import loads, program, resident, stays
from tests.residency.variants import IN_TWO_LOOPS
from tilesat.extract.count import count_function, count_program
from tilesat.ir.hardware import ASCEND_910B, Buffer
from tilesat.ir.nodes import Assign, Block, For, OpCall, Program, Var
from tilesat.ir.types import MemorySpace
from tilesat.ir.walk import blocks

NEST = """
    @pl.program
    class Nest:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(
            w: pl.Tensor[[64, 32], pl.FP32], s: pl.Tensor[[32, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]
        ) -> pl.Tensor[[64, 64], pl.FP32]:
            for i, (a,) in pl.range(0, 64, 16, init_values=(o,)):
                for j, (b,) in pl.range(0, 64, 32, init_values=(a,)):
                    for k, (c,) in pl.range(0, 32, 16, init_values=(b,)):
                        wm = pl.load(w, [ROW, 0], [16, 32], target_memory=pl.Mem.Mat, MARK)
                        wl = pl.move(wm, target_memory=pl.Mem.Left)
                        sm = pl.load(s, [0, j + k], [32, 16], target_memory=pl.Mem.Mat, MARK)
                        sr = pl.move(sm, target_memory=pl.Mem.Right)
                        p = pl.matmul(wl, sr)
                        stored = pl.store(p, [i, j + k], c)
                        d = pl.yield_(stored)
                    e = pl.yield_(d)
                f = pl.yield_(e)
            return f
        @pl.function(type=pl.FunctionType.Orchestration)
        def main(self, s: pl.Tensor[[32, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
            w = pl.create_tensor([64, 32], dtype=pl.FP32)
            r = self.kernel(w, s, o)
"""


def executions(program: Program, tensor: str, function: str = "kernel") -> int:
    """How often ``tensor`` is loaded from, by the loops around its loads."""
    return sum(_executions(program.function(function).body, tensor, 1))


def _executions(block: Block, tensor: str, runs: int) -> Iterator[int]:
    for stmt in block:
        if isinstance(stmt, Assign) and isinstance(stmt.value, OpCall) and stmt.value.op == "tile.load":
            yield runs if stmt.value.args[0] == Var(tensor) else 0
        trips = 1
        if isinstance(stmt, For):
            start, stop, step = (getattr(bound, "value", None) for bound in (stmt.start, stmt.stop, stmt.step))
            trips = len(range(start, stop, step))
        for inner in blocks(stmt):
            yield from _executions(inner, tensor, runs * trips)


@pytest.mark.parametrize("cost", ["traffic", "moves"])
@pytest.mark.parametrize(("row", "expected"), [("0", 1), ("i", 4)])
def test_a_load_leaves_all_loops_it_does_not_depend_on(row: str, expected: int, cost: str) -> None:
    """Invariant in three loops it runs once, invariant in the inner two once per row; the reference stops earlier."""
    text = NEST.replace("ROW", row)
    assert executions(program(text), "w") == 16
    assert executions(resident(text).program, "w") == 8
    result = resident(text, rules="optimal", cost=cost, exact=True)
    assert executions(result.program, "w") == expected
    assert executions(result.program, "s") == 16
    assert result.status == "optimal"
    assert tilesat.validate(program(text), result.program).ok
    assert capacity.overfull(result.program.function("kernel")) == {}


def test_promises_let_loads_from_outside_leave() -> None:
    """``assume_noalias`` for tensors from outside, ``hoist_manual_loads`` for loads without the mark."""
    text = (
        NEST.replace("ROW", "0")
        .replace(", MARK", "")
        .replace("w = pl.create_tensor([64, 32], dtype=pl.FP32)", "w = s2")
    )
    text = text.replace("def main(self, s:", "def main(self, s2: pl.Tensor[[64, 32], pl.FP32], s:")
    counts = {
        options: executions(resident(text, rules="optimal", options=options).program, "w")
        for options in ((), ("assume_noalias",), ("hoist_manual_loads",), ("assume_noalias", "hoist_manual_loads"))
    }
    assert list(counts.values()) == [16, 16, 16, 1]


def test_a_load_leaves_the_loops_up_to_one_that_holds_it() -> None:
    """The outer loop is parallel: the load leaves the inner one, and the explanation names the other."""
    text = IN_TWO_LOOPS.replace("for m, (outer,) in pl.range(0, 2, 1", "for m, (outer,) in pl.parallel(0, 2, 1")
    result = resident(text, rules="optimal")
    assert loads(result.program) == [1]
    assert [d.text for d in stays(result)] == [
        "wm cannot leave the loop `for m, (outer,) in pl.parallel(2, init_values=(o,)):`: "
        "the loop is not sequential but parallel"
    ]


GUARDED = """
    @pl.program
    class Guarded:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(
            w: pl.Tensor[[16, 32], pl.FP32], s: pl.Tensor[[32, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]
        ) -> pl.Tensor[[16, 64], pl.FP32]:
            for m, (outer,) in pl.range(0, 8, init_values=(o,)):
                if m > 0:
                    for n, (acc,) in pl.range(0, 64, 32, init_values=(outer,)):
                        wm = pl.load(w, [0, 0], [16, 32], target_memory=pl.Mem.Mat, MARK)
                        wl = pl.move(wm, target_memory=pl.Mem.Left)
                        sm = pl.load(s, [0, n], [32, 32], target_memory=pl.Mem.Mat, MARK)
                        sr = pl.move(sm, target_memory=pl.Mem.Right)
                        c = pl.matmul(wl, sr)
                        stored = pl.store(c, [0, n], acc)
                        result = pl.yield_(stored)
                    kept = pl.yield_(result)
                else:
                    kept = pl.yield_(outer)
                total = pl.yield_(kept)
            return total
        @pl.function(type=pl.FunctionType.Orchestration)
        def main(self, s: pl.Tensor[[32, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
            w = pl.create_tensor([16, 32], dtype=pl.FP32)
            r = self.kernel(w, s, o)
    """


def test_a_load_in_a_loop_in_a_branch_leaves_the_loop_only() -> None:
    """INF-P4-05: it may stand in the branch, not in front of it."""
    result = resident(GUARDED, rules="optimal")
    assert loads(result.program) == [1]
    assert any("the load is conditional" in decision.text for decision in stays(result))


# ------------------------------------------------------------------------------- capacity

# Two stationary panels and a streamed one, each staged in windows that depend on the loop, one after the other. Mat
# has 512 KiB: the largest panel fits next to either other one, all three do not.
PANELS = """
    @pl.program
    class Panels:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(
            a: pl.Tensor[[256, A_COLUMNS], pl.FP32],
            b: pl.Tensor[[256, B_COLUMNS], pl.FP32],
            c: pl.Tensor[[256, 1024], pl.FP32],
            x: pl.Tensor[[16, 16], pl.FP32],
            o: pl.Out[pl.Tensor[[48, 64], pl.FP32]],
        ) -> pl.Tensor[[48, 64], pl.FP32]:
            xm = pl.load(x, [0, 0], [16, 16], target_memory=pl.Mem.Mat)
            xr = pl.move(xm, target_memory=pl.Mem.Right)
            for n, (u,) in pl.range(0, 64, 16, init_values=(o,)):
                am = pl.load(a, [0, 0], [256, A_COLUMNS], target_memory=pl.Mem.Mat, MARK)
                al = pl.tile.extract(am, n, 0, [16, 16], target_memory=pl.Mem.Left)
                p = pl.matmul(al, xr)
                v = pl.store(p, [0, n], u)
                bm = pl.load(b, [0, 0], [256, B_COLUMNS], target_memory=pl.Mem.Mat, MARK)
                bl = pl.tile.extract(bm, n, 0, [16, 16], target_memory=pl.Mem.Left)
                q = pl.matmul(bl, xr)
                w = pl.store(q, [16, n], v)
                cm = pl.load(c, [0, n * 4], [256, C_COLUMNS], target_memory=pl.Mem.Mat, MARK)
                cl = pl.tile.extract(cm, 0, 0, [16, 16], target_memory=pl.Mem.Left)
                r = pl.matmul(cl, xr)
                y = pl.store(r, [32, n], w)
                z = pl.yield_(y)
            return z
        @pl.function(type=pl.FunctionType.Orchestration)
        def main(
            self,
            c: pl.Tensor[[256, 1024], pl.FP32],
            x: pl.Tensor[[16, 16], pl.FP32],
            o: pl.Out[pl.Tensor[[48, 64], pl.FP32]],
        ):
            a = pl.create_tensor([256, A_COLUMNS], dtype=pl.FP32)
            b = pl.create_tensor([256, B_COLUMNS], dtype=pl.FP32)
            r = self.kernel(a, b, c, x, o)
"""


def panels(a: int, b: int, c: int) -> str:
    """PANELS with so many columns, a KiB each."""
    return PANELS.replace("A_COLUMNS", str(a)).replace("B_COLUMNS", str(b)).replace("C_COLUMNS", str(c))


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    ("columns", "executed"),
    [
        ((256, 192, 128), (1, 4)),  # a + max(b, c) fits, a + b + c does not: the dearer one stays resident
        ((192, 256, 128), (4, 1)),
        ((192, 128, 128), (1, 1)),  # all fit
        ((256, 240, 272), (4, 1)),  # a does not fit next to c, b does
        ((320, 320, 320), (4, 4)),  # no two fit
    ],
)
def test_of_the_panels_that_do_not_all_fit_the_dearest_stay(
    columns: tuple[int, int, int], executed: tuple[int, int], exact: bool
) -> None:
    text = panels(*columns)
    result = resident(text, rules="optimal", exact=exact)
    assert (executions(result.program, "a"), executions(result.program, "b")) == executed
    assert executions(result.program, "c") == 4
    assert capacity.overfull(result.program.function("kernel")) == {}
    if exact:
        assert result.status == "optimal"


def many_panels(sizes: tuple[int, ...], streamed: int) -> str:
    """Like PANELS, with a stationary panel of each of ``sizes`` KiB."""
    names = [f"p{k}" for k in range(len(sizes))]
    result = f"pl.Out[pl.Tensor[[{16 * len(sizes) + 16}, 64], pl.FP32]]"
    streams = f"c: pl.Tensor[[256, 1024], pl.FP32], x: pl.Tensor[[16, 16], pl.FP32], o: {result}"
    body = []
    for k, (name, size) in enumerate([*zip(names, sizes, strict=True), ("c", streamed)]):
        offset = "[0, n * 4]" if name == "c" else "[0, 0]"
        body += [
            f"                {name}m = pl.load({name}, {offset}, [256, {size}], target_memory=pl.Mem.Mat, MARK)",
            f"                {name}l = pl.tile.extract({name}m, n, 0, [16, 16], target_memory=pl.Mem.Left)",
            f"                {name}q = pl.matmul({name}l, xr)",
            f"                pl.store({name}q, [{16 * k}, n], o)",
        ]
    params = [f"{name}: pl.Tensor[[256, {size}], pl.FP32]" for name, size in zip(names, sizes, strict=True)]
    lines = [
        "    @pl.program",
        "    class Panels:",
        "        @pl.function(type=pl.FunctionType.InCore)",
        f"        def kernel({', '.join(params)}, {streams}):",
        "            xm = pl.load(x, [0, 0], [16, 16], target_memory=pl.Mem.Mat)",
        "            xr = pl.move(xm, target_memory=pl.Mem.Right)",
        "            for n in pl.range(0, 64, 16):",
        *body,
        "        @pl.function(type=pl.FunctionType.Orchestration)",
        f"        def main(self, {streams}):",
        *(
            f"            {name} = pl.create_tensor([256, {size}], dtype=pl.FP32)"
            for name, size in zip(names, sizes, strict=True)
        ),
        f"            self.kernel({', '.join(names)}, c, x, o)",
    ]
    return "\n".join(lines) + "\n"


def most_kept(sizes: tuple[int, ...], streamed: int) -> int:
    """KiB of the dearest panels that can stay in 512 KiB, by enumeration: what stays, and the largest of the rest."""
    best = 0
    for kept in product((False, True), repeat=len(sizes)):
        stays_in = sum(size for size, keep in zip(sizes, kept, strict=True) if keep)
        passes = max([streamed, *(size for size, keep in zip(sizes, kept, strict=True) if not keep)])
        if stays_in + passes <= 512:
            best = max(best, stays_in)
    return best


@pytest.mark.parametrize(
    ("sizes", "streamed"),
    [
        ((290, 150, 150), 50),  # keeping the two smaller ones would leave no room for the first
        ((212, 230, 36, 148), 64),
        ((132, 204, 208), 16),
        ((180, 92, 218, 348), 64),
        ((308, 56, 264, 148), 128),
        ((246, 302, 254), 64),  # none can stay
    ],
)
def test_the_exact_search_finds_what_enumeration_finds(sizes: tuple[int, ...], streamed: int) -> None:
    """On a chip without room in Vec, through which panels could be kept as well."""
    chip = replace(
        ASCEND_910B, buffers=MappingProxyType({**ASCEND_910B.buffers, MemorySpace.Vec: Buffer(4 * 1024, 128)})
    )
    result = resident(many_panels(sizes, streamed), rules="optimal", exact=True, hardware=chip)
    kept = sum(size for k, size in enumerate(sizes) if executions(result.program, f"p{k}") == 1)
    assert kept == most_kept(sizes, streamed)
    assert result.status == "optimal"
    assert capacity.overfull(result.program.function("kernel")) == {}


def test_what_fits_nowhere_is_kept_in_vec() -> None:
    """Where Vec has room it takes a panel over the cores, which is cheaper than loading it again and again."""
    result = resident(many_panels((132, 204, 208), 16), rules="optimal", exact=True)
    assert [executions(result.program, f"p{k}") for k in range(3)] == [1, 1, 1]
    assert capacity.overfull(result.program.function("kernel")) == {}


def test_the_reference_adds_everything_up() -> None:
    """INF-P4-13: 576 KiB in all, so nothing moves, although half of it would fit."""
    result = resident(panels(256, 192, 128))
    assert (executions(result.program, "a"), executions(result.program, "b")) == (4, 4)


def test_lifetimes_are_seen_by_the_check() -> None:
    """The independent count of what is alive: one panel at a time as written, and more when kept by hand."""
    text = panels(256, 192, 128)
    kib = 1024
    assert capacity.peaks(program(text).function("kernel"))[MemorySpace.Mat] == 256 * kib
    load = "am = pl.load(a, [0, 0], [256, 256], target_memory=pl.Mem.Mat, MARK)\n"
    kept = text.replace(" " * 16 + load, "").replace("            for n", f"            {load}            for n")
    # The 1 KiB of xm ends where it is moved, before the loop; next to it stands am only.
    assert capacity.peaks(program(kept).function("kernel"))[MemorySpace.Mat] == (256 + 192) * kib
    more = (
        panels(256, 320, 128)
        .replace(" " * 16 + load, "")
        .replace("            for n", f"            {load}            for n")
    )
    assert capacity.overfull(program(more).function("kernel")) == {MemorySpace.Mat: 576 * kib}


def test_a_chain_needs_no_room_in_mat() -> None:
    """When the staged operand is invariant too it is kept in Left, and both panels leave the loop."""
    text = panels(256, 192, 128).replace("extract(am, n,", "extract(am, 0,").replace("extract(bm, n,", "extract(bm, 0,")
    result = resident(text, rules="optimal", exact=True)
    assert (executions(result.program, "a"), executions(result.program, "b")) == (1, 1)
    assert capacity.overfull(result.program.function("kernel")) == {}
    assert result.status == "optimal"


def test_a_resident_load_is_explained() -> None:
    """The decision says that the load was placed, by the rule that lets it stand outside."""
    result = resident(NEST.replace("ROW", "0"), rules="optimal")
    placed = [d for d in result.decisions if d.kind == "load" and d.subject == "wm"]
    assert len(placed) == 1
    assert "load-anywhere" in placed[0].rules


# -------------------------------------------------------------------------------- kernels

PROMISES = ("assume_noalias", "hoist_manual_loads")
# Bytes loaded per call: the peer, and the optimal rules with both promises. All other kernels are equal.
FEWER_BYTES = {
    "chain_three": (408576, 390144),
    "expert_gate": (602624, 594432),
    "stage_graph": (205120, 203200),
    "tile_board": (125632, 91328),
    "tiny_layer": (552192, 539904),
}


@pytest.mark.parametrize("name", kernel_names())
def test_kernels_with_promises_load_no_more_than_the_peer(name: str) -> None:
    before = kernel(name, "infer_before")
    result = tilesat.infer_tile_memory_space(before, rules="optimal", hardware="910b", options=PROMISES)
    ours, peer = count_program(result.program), count_program(kernel(name, "infer_peer"))
    assert (peer.loaded_bytes, ours.loaded_bytes) == FEWER_BYTES.get(name, (peer.loaded_bytes, peer.loaded_bytes))
    assert tilesat.validate(before, result.program).ok
    assert overfull(kernel(name, "infer_peer"), result.program, ASCEND_910B) == {}


def test_what_stays_with_promises_depends_on_its_loop() -> None:
    """No load of the kernels is left in a loop for want of a better rule."""
    for name in kernel_names():
        before = kernel(name, "infer_before")
        options = [*PROMISES, "assume_nonzero_trips"]
        result = tilesat.infer_tile_memory_space(before, rules="optimal", hardware="910b", options=options)
        reasons: dict[tuple[str, str, str], list[str]] = {}
        for d in result.decisions:
            if d.kind == "stays":
                where, _, why = d.text.partition("`: ")
                reasons.setdefault((d.function, d.subject, where), []).append(why)
        held = [key for key, whys in reasons.items() if not any("bound in the loop" in why for why in whys)]
        # The one exception has a barrier in its loop.
        assert len(held) == (1 if name == "hand_scan" else 0), (name, held)


def test_counting_agrees_with_the_loops() -> None:
    """The measure of these tests and the library's own count give the same."""
    function = resident(NEST.replace("ROW", "i"), rules="optimal").program.function("kernel")
    found = executions(Program("p", (function,)), "w") + executions(Program("p", (function,)), "s")
    assert count_function(function).loads == found


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("family", FAMILIES)
def test_benchmark_kernels_load_less_with_every_step(family: str, seed: int) -> None:
    """As written, reference, optimal, with the promise: executed bytes never rise, and fall in the end."""
    before = tilesat.parse(FAMILIES[family](seed))
    counts = [count_program(before)]
    for setting in SETTINGS:
        after = setting.run(before)
        counts.append(count_program(after))
        assert capacity.overfull(after.function("kernel")) == {}
    loaded = [count.loaded_bytes for count in counts]
    assert loaded == sorted(loaded, reverse=True)
    assert loaded[-1] < loaded[0]
