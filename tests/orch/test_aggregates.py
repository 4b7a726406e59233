"""Pattern 5, loops: an output that a loop writes part by part, an input that a loop reads part by part (ORC-5-03)."""

from __future__ import annotations

from textwrap import dedent

import pytest

import tilesat
from tests.orch.test_windows import OPT_IN, RUN, narrow
from tests.orch.texts import function, main, optimized, program, stays
from tilesat.ir.nodes import Program

LOOP = """
for j, (c,) in pl.range({trips}, init_values=(o,)):
    at = {at}
    a = pl.load(x, [at, 0], [2, 32])
    b = pl.exp(a)
    s = pl.store(b, [at, 0], c)
    f: L = pl.yield_(s)
return f
"""


def aggregate(at: str = "r + j * 2", trips: int | str = 4, body: str = LOOP, direction: str = "Out") -> str:
    text = body.format(at=at, trips=trips)
    return function(f"agg(x: L, r: N, o: pl.{direction}[L]) -> L", OPT_IN + text.strip("\n"))


def launched(kernel: str, row: str = "8") -> Program:
    direction = "InOut" if "pl.InOut" in kernel else "Out"
    return program(kernel, main(RUN.replace("Out", direction), f"z = self.agg(x, {row}, y)\nreturn z"))


def shapes(result: tilesat.PassResult) -> list[str]:
    """The slices that launches make, as written."""
    return [
        line.split("pl.tensor.slice(")[1][:-1]
        for line in str(result.program).splitlines()
        if "pl.tensor.slice(" in line
    ]


def test_dense() -> None:
    """ORC-5-03: adjacent parts fill one window, and so does what the loop reads (O56)."""
    assert shapes(narrow(launched(aggregate()))) == ["x, [8, 32], [8, 0]", "y, [8, 32], [8, 0]"]


def test_dense_backwards() -> None:
    """ORC-5-03: the first trip writes the last part."""
    assert shapes(narrow(launched(aggregate("r + 6 - j * 2")))) == ["x, [8, 32], [8, 0]", "y, [8, 32], [8, 0]"]


def test_dense_in_nested_loops() -> None:
    """ORC-5-03: inner loops of a bounded number of trips are laid out."""
    body = """
    for j, (c,) in pl.range(2, init_values=(o,)):
        for k, (e,) in pl.range(2, init_values=(c,)):
            at = r + j * 4 + k * 2
            a = pl.load(x, [at, 0], [2, 32])
            s = pl.store(a, [at, 0], e)
            g: L = pl.yield_(s)
        f: L = pl.yield_(g)
    return f
    """
    assert shapes(narrow(launched(aggregate(body=dedent(body))))) == ["x, [8, 32], [8, 0]", "y, [8, 32], [8, 0]"]


def test_dense_with_reads_of_the_same_parts() -> None:
    """ORC-5-03: the part that is written may be read before, through the carry."""
    body = LOOP.replace("pl.exp(a)", "pl.add(a, d)").replace(
        "    b = ", "    d = pl.load(c, [at, 0], [2, 32])\n    b = "
    )
    narrow(launched(aggregate(body=body, direction="InOut")))


def test_pieces() -> None:
    """ORC-5-03: parts with gaps become pieces, a parameter and a result each, the loop unrolled (O57)."""
    result = narrow(launched(aggregate("j * 4", 3)))
    assert shapes(result) == [
        "x, [10, 32], [0, 0]",
        "y, [2, 32], [0, 0]",
        "y, [2, 32], [4, 0]",
        "y, [2, 32], [8, 0]",
    ]
    clone = next(f for f in result.program.functions if f.name == "agg__windowed")
    assert [p.name for p in clone.params] == ["x", "r", "o", "o_piece1", "o_piece2"]
    assert len(clone.returns) == 3


def test_pieces_at_a_place_the_caller_gives() -> None:
    """ORC-5-03"""
    assert shapes(narrow(launched(aggregate("r + j * 4", 2)))) == [
        "x, [6, 32], [8, 0]",
        "y, [2, 32], [8, 0]",
        "y, [2, 32], [12, 0]",
    ]


def test_pieces_of_an_offset_that_is_not_affine() -> None:
    """ORC-5-03: rows 0, 2 and 8, found by laying the parts out."""
    assert len(shapes(narrow(launched(aggregate("j * j * 2", 3))))) == 4


def test_pieces_that_carry_scalars_and_tiles_too() -> None:
    """ORC-5-03: what else the loop carries goes from trip to trip."""
    body = """
    t0 = pl.load(x, [0, 0], [2, 32])
    for j, (c, t) in pl.range(3, init_values=(o, t0)):
        at = j * 4
        a = pl.load(x, [at, 0], [2, 32])
        b = pl.add(a, t)
        s = pl.store(b, [at, 0], c)
        f, u = pl.yield_(s, b)
    return f
    """
    narrow(launched(aggregate(body=dedent(body))))


def test_the_whole_tensor_is_no_window() -> None:
    """ORC-5-03, negative: a loop that covers everything."""
    stays(launched(aggregate("j * 2", 8)), "it is the whole tensor")


PARTS = {
    "overlapping parts": ("j", 4, LOOP, "overlap or leave gaps"),
    "trips that are not counted": ("r + j * 2", "r", LOOP, "the trips of the loop are not counted"),
    "more than 32 pieces": ("j * 4", 33, LOOP, "more than 32 pieces"),
    "a read of another part": (
        "j * 4",
        3,
        LOOP.replace("    b = ", "    d = pl.load(c, [0, 0], [2, 32])\n    b = "),
        "not passed on through stores alone",
    ),
    "a use outside the loop": (
        "j * 4",
        3,
        "w = pl.load(o, [0, 0], [2, 32])\n" + LOOP.strip("\n"),
        "outside the loop, too",
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_loops_that_write_no_window(name: str) -> None:
    """ORC-5-03, ORC-5-05, negative."""
    at, trips, body, reason = PARTS[name]
    kernel = aggregate(at, trips, body).replace("[16, 32]", "[160, 32]")
    before = program(kernel, main(RUN, "z = self.agg(x, 2, y)\nreturn z").replace("[16, 32]", "[160, 32]"))
    result = tilesat.optimize_orch_tensors(before)
    assert tilesat.structural_equal(result.program, before)
    assert any(reason in d.text for d in result.decisions), [d.text for d in result.decisions]


# ------------------------------------------------------------------------ aggregate inputs

SUMS = """
z = pl.tile.full([2, 32], dtype=pl.FP32, value=0.0)
for j, (t,) in pl.range({trips}, init_values=(z,)):
    a = pl.load(x, [{at}, 0], [2, 32])
    b = pl.add(a, t)
    f = pl.yield_(b)
s = pl.store(f, [{to}, 0], o)
return s
"""


def sums(at: str, trips: int, to: str = "r") -> str:
    text = SUMS.format(at=at, trips=trips, to=to).replace("f = pl", "f: pl.Tile[[2, 32], pl.FP32, pl.Mem.Vec] = pl")
    return function("agg(x: L, r: N, o: pl.Out[L]) -> L", OPT_IN + text.strip("\n"))


def test_an_input_read_in_a_loop() -> None:
    """ORC-5-03: the box around all reads."""
    assert shapes(narrow(launched(sums("4 + j * 2", 3)))) == ["x, [6, 32], [4, 0]", "y, [2, 32], [8, 0]"]


def test_an_input_read_as_a_whole_by_a_loop() -> None:
    """ORC-5-03, negative for the input: the union is the tensor, so a slice shows nothing narrower."""
    assert shapes(narrow(launched(sums("j * 2", 8)))) == ["y, [2, 32], [8, 0]"]


def tall(before: Program) -> Program:
    """``before`` with tensors of 600 rows."""
    return tilesat.parse(str(before).replace("[16, 32]", "[600, 32]"))


@pytest.mark.parametrize(("trips", "slices"), [(256, 2), (257, 1)])
def test_reads_in_many_trips(trips: int, slices: int) -> None:
    """ORC-5-03: at most 256 trips of one loop are laid out; where the bound is hit the note says so."""
    result = tilesat.optimize_orch_tensors(tall(launched(sums("j", trips))))
    assert len(shapes(result)) == slices
    assert (slices == 1) == any("in a loop of more than 256 trips" in d.text for d in result.decisions)


def test_more_than_512_reads() -> None:
    """ORC-5-03: the bound on all reads of an input."""
    body = SUMS.format(at="j", trips=200, to="r").replace(
        "    b = pl.add(a, t)",
        "    a2 = pl.load(x, [j + 1, 0], [2, 32])\n    a3 = pl.load(x, [j + 2, 0], [2, 32])\n    b = pl.add(a, t)",
    )
    text = body.replace("f = pl", "f: pl.Tile[[2, 32], pl.FP32, pl.Mem.Vec] = pl")
    kernel = function("agg(x: L, r: N, o: pl.Out[L]) -> L", OPT_IN + text.strip("\n"))
    result = tilesat.optimize_orch_tensors(tall(launched(kernel)))
    assert any("it is read in more than 512 windows" in d.text for d in result.decisions)


def test_offsets_beyond_64_bits() -> None:
    """ORC-5-05: exact integers; windows far apart stay apart, and nothing wraps around."""
    kernel = aggregate("r + j * 9223372036854775808 * 4", 2)
    result = tilesat.optimize_orch_tensors(launched(kernel))
    assert "y, [2, 32], [36893488147419103240, 0]" in shapes(result)


def test_a_loop_that_writes_one_output_and_a_final_store_that_writes_another() -> None:
    """ORC-5-03: where any output has a final store, loops are not looked at."""
    body = LOOP.format(at="r + j * 2", trips=4).replace(
        "return f", "w = pl.load(x, [0, 0], [2, 32])\nv = pl.store(w, [r, 0], p)\nreturn f, v"
    )
    kernel = function("agg(x: L, r: N, o: pl.Out[L], p: pl.Out[L]) -> tuple[L, L]", OPT_IN + body.strip("\n"))
    call = "t: pl.Tuple[L, L] = self.agg(x, 8, y, v)\nz: L = t[0]\nw: L = t[1]\nreturn z, w"
    result = optimized(program(kernel, main("run(x: L, y: pl.Out[L], v: pl.Out[L]) -> tuple[L, L]", call)))
    assert [d.text for d in result.decisions if d.kind == "window"] == ["'agg' gets windows for p"]
