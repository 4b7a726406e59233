"""Programs that placement and residency got wrong once, found by reading: before, and what must (not) become of them.

Most concern what the other tests' programs do not have: names outside operand slots, calls inside offsets, declared
allocations, windows that only a guard keeps inside their source.
"""

from __future__ import annotations

import re

import pytest

import tilesat
from tests.inference.texts import body_of, function, program
from tests.optimal.texts import OPERANDS, place
from tilesat.ir.nodes import Program

SQUARE = "x: pl.Tensor[[16, 32], pl.FP32], n: pl.Scalar[pl.INDEX], o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]"


def slotted(body: str, params: str) -> Program:
    """A kernel with one declared allocation, ``slot``."""
    return tilesat.parse(program(function(body, params=params), head="slot = pl.MemRef()"))


def shaped(body: str, params: str, result: str) -> Program:
    """A kernel that returns a tensor of shape ``result``."""
    text = function(body, params=params).replace("-> pl.Tensor[[16, 32]", f"-> pl.Tensor[{result}")
    return tilesat.parse(program(text))


# ----------------------------------------------------------------------- calls inside offsets

READS_OFFSET = """
for i in pl.range(4):
    k = pl.tile.read(idx, [0, 0])
    e = pl.tile.extract(at, 0, pl.tile.read(idx, [0, 0]), [16, 16], target_memory=pl.Mem.Left)
    f = pl.tile.extract(bt, 0, 0, [16, 32], target_memory=pl.Mem.Right)
    m = pl.matmul(e, f)
    pl.store(m, [0, 0], o)
    pl.tile.write(idx, [0, 0], k + 16)
return o
"""
TABLE = "a: pl.Tensor[[16, 64], pl.BF16], b: pl.Tensor[[64, 32], pl.BF16], ix: pl.InOut[pl.Tensor[[1, 16], pl.INT32]]"
TABLE += ", o: pl.Out[pl.Tensor[[16, 32], pl.FP32]]"


def test_a_window_at_an_offset_read_from_memory_stays_where_that_is_read() -> None:
    """The loop writes what its own offset is read from; a window made once showed the first offset in all trips."""
    head = OPERANDS + "idx = pl.tile.full([1, 16], dtype=pl.INT32, value=0)\n"
    given = tilesat.parse(program(function(head + READS_OFFSET, params=TABLE)))
    body = body_of(place(given, hardware="910b"))
    assert body.index("for i") < body.index("tile.extract(at")


def test_loads_at_an_offset_read_from_memory_are_not_equal() -> None:
    """Nor does such a load leave a loop."""
    given = shaped(
        """
t = pl.load(x, [pl.tensor.read(ix, [0, 0]), 0], [4, 32])
pl.tensor.write(ix, [0, 0], 4)
u = pl.load(x, [pl.tensor.read(ix, [0, 0]), 0], [4, 32])
f = pl.add(t, u)
r = pl.store(f, [0, 0], o)
return r
""",
        "x: pl.Tensor[[16, 32], pl.FP32], ix: pl.InOut[pl.Tensor[[1, 16], pl.INT32]], "
        "o: pl.Out[pl.Tensor[[4, 32], pl.FP32]]",
        "[4, 32]",
    )
    result = tilesat.infer_tile_memory_space(given, rules="optimal", hardware="910b", options=["assume_noalias"])
    assert body_of(result).count("tile.load") == 2


@pytest.mark.parametrize("offset", ["0", "pl.tensor.read(ix, [0, 0])"])
def test_a_load_at_an_offset_read_from_memory_stays_in_its_loop(offset: str) -> None:
    """INF-P4-09; at a constant offset it leaves."""
    body = f"""
for i in pl.range(4):
    t = pl.load(x, [{offset}, 0], [4, 32])
    e = pl.exp(t)
    pl.store(e, [0, 0], o)
    pl.tensor.write(ix, [0, 0], i)
return o
"""
    params = "x: pl.Tensor[[16, 32], pl.FP32], ix: pl.InOut[pl.Tensor[[1, 16], pl.INT32]], "
    given = shaped(body, params + "o: pl.Out[pl.Tensor[[4, 32], pl.FP32]]", "[4, 32]")
    options = ["assume_noalias", "hoist_manual_loads"]
    text = body_of(tilesat.infer_tile_memory_space(given, rules="optimal", hardware="910b", options=options))
    assert (text.index("tile.load") < text.index("for i")) == (offset == "0")


# ------------------------------------------------------------------ names outside operand slots


@pytest.mark.parametrize(
    "before",
    [
        # An alias, a load equal to another, and a view that comes back, each named by an attribute.
        't = pl.load(x, [0, 0], [16, 32])\nu = t\nw = u\ne = pl.exp(t, attrs={"dump_vars": [w]})',
        "t = pl.load(x, [0, 0], [16, 32])\nw = pl.load(x, [0, 0], [16, 32])\nk = pl.add(w, t)\n"
        'e = pl.exp(k, attrs={"dump_vars": [w]})',
        "t = pl.load(x, [0, 0], [16, 32])\nu = pl.tile.reshape(t, [32, 16])\nw = pl.tile.reshape(u, [16, 32])\n"
        'e = pl.add(w, t)\nf = pl.exp(t, attrs={"dump_vars": [w]})\npl.store(f, [0, 0], q)',
        # An alias in a statement that is not modelled.
        "t = pl.load(x, [0, 0], [16, 32])\nw = t\nassert w is not None\ne = pl.exp(t)",
        # A tile that only an attribute of a load names.
        't = pl.load(y, [0, 0], [16, 32])\nw = pl.load(x, [0, 0], [16, 32], attrs={"dump_vars": [t]})\ne = pl.exp(w)',
    ],
)
def test_what_is_named_beside_the_operands_keeps_its_name(before: str) -> None:
    """INF-P3-06. The name was bound by nothing any more, and the pass failed on its own result (SSAForm)."""
    text = body_of(place(before + "\nr = pl.store(e, [0, 0], o)\nreturn r"))
    assert re.search(r"\bw: pl\.Tile", text)


# ------------------------------------------------------------------------ declared allocations

TWO = "x: pl.Tensor[[16, 32], pl.FP32], y: pl.Tensor[[16, 32], pl.FP32], o: pl.Out[pl.Tensor[[16, 32], pl.FP32]]"
IN_SLOT = "pl.Tile[[16, 32], pl.FP32, slot, pl.Mem.Vec]"


def test_what_an_allocation_held_before_it_was_used_again_is_not_read_afterwards() -> None:
    """The last load of ``x`` became ``first``, whose allocation holds ``y`` by then."""
    given = slotted(
        f"""
first: {IN_SLOT} = pl.load(x, [0, 0], [16, 32])
e = pl.exp(first)
other: {IN_SLOT} = pl.load(y, [0, 0], [16, 32])
f = pl.add(e, other)
again = pl.load(x, [0, 0], [16, 32])
g = pl.add(f, again)
r = pl.store(g, [0, 0], o)
return r
""",
        TWO,
    )
    assert body_of(place(given)).count("tile.load") == 3


def test_a_copy_outlives_the_allocation_it_was_made_of() -> None:
    """The copy was left out, and what it was made of read after its allocation had been used again."""
    given = slotted(
        f"""
first: {IN_SLOT} = pl.load(x, [0, 0], [16, 32])
copy = pl.tile.extract(first, 0, 0, [16, 32], target_memory=pl.Mem.Vec)
other: {IN_SLOT} = pl.load(y, [0, 0], [16, 32])
f = pl.add(copy, other)
r = pl.store(f, [0, 0], o)
return r
""",
        TWO,
    )
    body = body_of(place(given))
    assert body.index("tile.extract") < body.index("tile.load(y")


def test_a_copy_stays_in_its_declared_allocation() -> None:
    """Its type was deduced anew, without the allocation."""
    given = slotted(
        OPERANDS
        + """
for i in pl.range(4):
    left: pl.Tile[[16, 64], pl.BF16, slot, pl.Mem.Left] = pl.move(at, target_memory=pl.Mem.Left)
    m = pl.matmul(left, bt)
    pl.store(m, [0, 0], o)
return o
""",
        "a: pl.Tensor[[16, 64], pl.BF16], b: pl.Tensor[[64, 32], pl.BF16], o: pl.Out[pl.Tensor[[16, 32], pl.FP32]]",
    )
    body = body_of(place(given, hardware="910b"))
    assert body.index('left: pl.Tile[[16, 64], pl.BF16, pl.MemRef("slot"), pl.Mem.Left]') < body.index("for i")


# ---------------------------------------------------------------------------- guarded windows


def guarded(loop: str, column: str) -> str:
    """The body of a kernel with a window at ``column`` inside ``loop``, after placement."""
    body = f"""
t = pl.load(x, [0, 0], [16, 32], target_memory=pl.Mem.Mat)
{loop}
    h = pl.tile.extract(t, 0, {column}, [16, 16], target_memory=pl.Mem.Left)
    g = pl.tile.extract(t, 0, {column}, [16, 16], target_memory=pl.Mem.Right)
    w = pl.matmul(h, g)
    pl.store(w, [0, 0], o)
return o
"""
    return body_of(place(shaped(body, SQUARE, "[16, 16]"), hardware="910b"))


@pytest.mark.parametrize(
    ("loop", "column", "leaves"),
    [
        ("for i in pl.range(n):", "(2 - n) * 16", False),  # beyond the tile when the loop never runs
        ("for i in pl.range(n):", "16", True),
        ("for i in pl.range(4):", "(2 - n) * 16", True),  # evaluated in any case
    ],
)
def test_a_window_at_a_computed_offset_leaves_only_what_surely_runs(loop: str, column: str, leaves: bool) -> None:
    """INF-P2-02: nothing is cut outside its source where the program itself would not have cut it."""
    text = guarded(loop, column)
    assert (text.index("tile.extract") < text.index("for i")) == leaves


def test_a_guard_keeps_its_window() -> None:
    """The guard is what keeps the window inside the tile; it stands in a loop that would pay for leaving."""
    body = """
t = pl.load(x, [0, 0], [16, 32], target_memory=pl.Mem.Mat)
for i in pl.range(8):
    if n < 2:
        h = pl.tile.extract(t, 0, n * 16, [16, 16], target_memory=pl.Mem.Left)
        g = pl.tile.extract(t, 0, n * 16, [16, 16], target_memory=pl.Mem.Right)
        w = pl.matmul(h, g)
        pl.store(w, [0, 0], o)
return o
"""
    text = body_of(place(shaped(body, SQUARE, "[16, 16]"), hardware="910b"))
    assert text.index("if n") < text.index("tile.extract")


def test_a_window_that_a_counter_keeps_inside_leaves_a_loop_that_may_not_run() -> None:
    """The counter of the loop around it is below 2."""
    body = """
t = pl.load(x, [0, 0], [16, 32], target_memory=pl.Mem.Mat)
for j in pl.range(2):
    for i in pl.range(n):
        h = pl.tile.extract(t, 0, j * 16, [16, 16], target_memory=pl.Mem.Left)
        g = pl.tile.extract(t, 0, j * 16, [16, 16], target_memory=pl.Mem.Right)
        w = pl.matmul(h, g)
        pl.store(w, [0, 0], o)
return o
"""
    text = body_of(place(shaped(body, SQUARE, "[16, 16]"), hardware="910b"))
    assert text.index("for j") < text.index("tile.extract") < text.index("for i")


# ------------------------------------------------------------------------- views and their types


def test_a_slice_that_states_a_pad_is_no_copy_without_one() -> None:
    """``e`` became the padded slice: another type for its reader."""
    padded = "pl.Tile[[16, 16], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[8, 16], pad=pl.PadValue.zero)]"
    body = f"""
t = pl.load(x, [0, 0], [16, 32], [8, 32])
s1: {padded} = pl.tile.slice(t, [16, 16], [0, 0], pad_value=pl.PadValue.zero)
e = pl.tile.extract(t, 0, 0, [16, 16], target_memory=pl.Mem.Vec)
k1 = pl.tile.fillpad(s1, pad_value=pl.PadValue.zero)
k2 = pl.tile.fillpad(e, pad_value=pl.PadValue.min)
k3 = pl.add(k1, k2)
r = pl.store(k3, [0, 0], o)
return r
"""
    text = body_of(place(shaped(body, SQUARE, "[16, 16]")))
    assert "fillpad(s1, pad_value=pl.PadValue.zero)" in text
    assert "fillpad(s1, pad_value=pl.PadValue.min)" not in text


def test_a_window_of_a_window_of_a_tile_of_computed_extent() -> None:
    """Cut at once its valid extents could not be told: the pass ended in a TypeError."""
    extent = "pl.max(0, pl.min(8, n - 8))"
    inner = "pl.Tile[[8, {}], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[" + extent + ", {}])]"
    text = body_of(
        place(
            f"""
t = pl.load(x, [0, 0], [16, 32], [n, 32])
s1: {inner.format(32, 32)} = pl.tile.slice(t, [8, 32], [8, 0])
s2: {inner.format(16, 16)} = pl.tile.slice(s1, [8, 16], [0, 16])
s3 = pl.tile.fillpad(s2, pad_value=pl.PadValue.zero)
pl.store(s3, [0, 0], o)
return o
"""
        )
    )
    assert text.count("tile.slice") == 2


def test_a_copy_is_transposed() -> None:
    """``tile.transpose`` leaves its result beside its source; of a copy that was nowhere (SolveError)."""
    body = """
t = pl.load(x, [0, 0], [16, 32])
v = pl.tile.extract(t, 0, 0, [16, 32], target_memory=pl.Mem.Vec)
u: pl.Tile[[32, 16], pl.FP32, pl.Mem.Vec] = pl.tile.transpose(v, 0, 1)
r = pl.store(u, [0, 0], o)
return r
"""
    params = "x: pl.Tensor[[16, 32], pl.FP32], o: pl.Out[pl.Tensor[[32, 16], pl.FP32]]"
    assert "tile.transpose" in body_of(place(shaped(body, params, "[32, 16]")))


# ------------------------------------------------------------------------ tensors that calls return


def test_a_tensor_that_a_call_returns_may_be_what_it_was_given() -> None:
    """Even with ``assume_noalias``, which speaks of parameters: the second load of ``w`` sees the store to ``z``."""
    tensor = "pl.Tensor[[16, 32], pl.FP32]"
    callee = "t = pl.load(x, [0, 0], [16, 32])\nr = pl.store(t, [0, 0], o)\nreturn r"
    caller = """
z = self.g(x, w)
t = pl.load(w, [0, 0], [16, 32])
e = pl.exp(t)
pl.store(e, [0, 0], z)
u = pl.load(w, [0, 0], [16, 32])
f = pl.add(e, u)
r = pl.store(f, [0, 0], o)
return r
"""
    given = tilesat.parse(
        program(
            function(callee, name="g", params=f"x: {tensor}, o: pl.InOut[{tensor}]"),
            function(caller, params=f"x: {tensor}, w: pl.InOut[{tensor}], o: pl.Out[{tensor}]"),
        )
    )
    place(given, hardware="910b", options=["assume_noalias"])


def test_a_store_through_what_a_text_binds_is_a_write() -> None:
    """Nobody knows what ``z`` is; the second load became the first, as though nothing was written."""
    body = """
with pl.thing(w) as z:
    pass
t = pl.load(w, [0, 0], [16, 32])
e = pl.exp(t)
pl.store(e, [0, 0], z)
u = pl.load(w, [0, 0], [16, 32])
f = pl.add(e, u)
r = pl.store(f, [0, 0], o)
return r
"""
    params = "w: pl.InOut[pl.Tensor[[16, 32], pl.FP32]], o: pl.Out[pl.Tensor[[16, 32], pl.FP32]]"
    given = tilesat.parse(program(function(body, params=params)))
    for options in ((), ("assume_noalias",)):
        result = tilesat.infer_tile_memory_space(given, rules="optimal", hardware="910b", options=options)
        assert body_of(result).count("tile.load") == 2


# ---------------------------------------------------------------------------- slots and lanes

SLOT_FROM_COPY = """
t = pl.load(x, [0, 0], [16, 32])
c = pl.tile.extract(t, 0, 0, [16, 32], target_memory=pl.Mem.Vec)
for i, (w,) in pl.range(3, init_values=(c,)):
    {write}
    e = pl.add(w, t)
    r = pl.yield_(e)
q = pl.store(r, [0, 0], o)
return q
"""


@pytest.mark.parametrize(("write", "stays"), [("pl.tile.write(t, [0, 0], 7.0)", True), ("u = pl.exp(t)", False)])
def test_a_slot_keeps_its_own_buffer_beside_a_source_that_is_written(write: str, stays: bool) -> None:
    """The slot may live in the buffer of what seeds it; as a view of ``t`` it would change with ``t``."""
    params = "x: pl.Tensor[[16, 32], pl.FP32], o: pl.Out[pl.Tensor[[16, 32], pl.FP32]]"
    given = tilesat.parse(program(function(SLOT_FROM_COPY.format(write=write), params=params)))
    assert ("tile.extract" in body_of(place(given, hardware="910b"))) is stays


@pytest.mark.parametrize(
    ("loop", "leaves"), [("pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN)", False), ("pl.range(2)", True)]
)
def test_copies_stay_in_the_lane_that_makes_them(loop: str, leaves: bool) -> None:
    """A loop over vector lanes is no repetition: each lane has its own Vec memory."""
    body = f"""
t = pl.load(x, [0, 0], [16, 32], target_memory=pl.Mem.Mat)
for lane in {loop}:
    e = pl.add(t, t)
    pl.store(e, [0, 0], o)
"""
    params = "x: pl.Tensor[[16, 32], pl.FP32], o: pl.Out[pl.Tensor[[16, 32], pl.FP32]]"
    lines = body_of(place(tilesat.parse(program(function(body, params=params))), hardware="950")).splitlines()
    moves = [line for line in lines if "tile.move(t" in line]
    assert [not line.startswith(" ") for line in moves] == [leaves]
