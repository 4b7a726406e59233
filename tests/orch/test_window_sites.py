"""Pattern 5 at launches: loops around them, siblings that write the same tensor, parents that are loop results."""

from __future__ import annotations

import pytest

import tilesat
from tests.orch.test_windows import BODY, DIRECT, NARROWED, OPT_IN, RUN, launch, narrow, strip, windowed
from tests.orch.texts import becomes, function, main, optimized, program, said, stays
from tilesat.bridge.orch import run_patterns
from tilesat.bridge.orch_stage import OrchContext
from tilesat.extract.orch_cost import OrchMoves
from tilesat.lab.orch_strides import passed_strides
from tilesat.rules.catalogue import preset

OVERLAP = "windows of different trips of a loop around it may overlap"
SIBLING = "another launch writes the same tensor, and not as a window"
COPY = function(
    "copy(x: L, o: pl.Out[L]) -> L", "a = pl.load(x, [0, 0], [16, 32])\ns = pl.store(a, [0, 0], o)\nreturn s"
)


def looped(row: str, loop: str = "pl.range(2", result: str = "f") -> str:
    return main(
        RUN,
        f"""
        for i, (c,) in {loop}, init_values=(y,)):
            z = self.strip(x, {row}, c)
            f: L = pl.yield_(z)
        return {result}
        """,
    )


# ------------------------------------------------------------------------- loops, ORC-5-05


@pytest.mark.parametrize("row", ["i * 8", "8 - i * 8"], ids=["upwards", "downwards"])
def test_trips_that_partition_the_tensor(row: str) -> None:
    """ORC-5-05: the offset moves by at least a window with every trip."""
    narrow(program(strip(), looped(row)))


def test_the_same_window_in_every_trip() -> None:
    """ORC-5-05: a reduction (O74)."""
    narrow(program(strip(), looped("8")))


@pytest.mark.parametrize(
    ("row", "loop"),
    [("i * 4", "pl.range(2"), ("i % 2 * 8", "pl.range(2"), ("i * i", "pl.range(2"), ("pl.min(i, 1) * 8", "pl.range(2")],
)
def test_trips_that_may_overlap(row: str, loop: str) -> None:
    """ORC-5-05, negative: not affine in the loop's index, or moving by less than a window (O53)."""
    stays(program(strip(), looped(row, loop)), OVERLAP)


def test_a_single_trip_overlaps_nothing() -> None:
    """ORC-5-05"""
    narrow(program(strip(), looped("i * 4", "pl.range(1")))


def test_parallel_trips_have_no_order_to_keep() -> None:
    """ORC-5-05: in a parallel loop windows may overlap (O54)."""
    narrow(program(strip(), looped("i * 4", "pl.parallel(2")))


NESTED = """
for i, (c,) in pl.range(2, init_values=(y,)):
    for j, (e,) in pl.range(2, init_values=(c,)):
        z = self.strip(x, {row}, e)
        g: L = pl.yield_(z)
    f: L = pl.yield_(g)
return f
"""


@pytest.mark.parametrize(
    ("row", "is_apart"),
    [("i * 8", True), ("j * 8", True), ("i * 8 + j * 0", True), ("i * 8 - j * 8 + 8", False), ("i * 4 + j * 4", False)],
)
def test_loops_in_loops(row: str, is_apart: bool) -> None:
    """ORC-5-05: every sequential loop around the launch partitions a dimension of its own, or repeats (O73)."""
    before = program(
        strip().replace("[16, 32]", "[24, 32]"), main(RUN, NESTED.format(row=row)).replace("[16, 32]", "[24, 32]")
    )
    if is_apart:
        narrow(before)
    else:
        stays(before, OVERLAP)


def test_a_tensor_made_in_every_trip() -> None:
    """ORC-5-05: what the trips write are different tensors."""
    body = """
    for i, (c,) in pl.range(2, init_values=(y,)):
        b = NEW_L
        z = self.strip(x, i * 4, b)
        n = self.copy(z, c)
        f: L = pl.yield_(n)
    return f
    """
    narrow(program(strip(), COPY, main(RUN, body)))


def test_a_tensor_that_may_be_made_in_every_trip() -> None:
    """ORC-5-05, negative: on one path it is the one from outside."""
    body = """
    for i, (c,) in pl.range(2, init_values=(y,)):
        b = NEW_L
        if i == 0:
            p: L = pl.yield_(b)
        else:
            p: L = pl.yield_(c)
        z = self.strip(x, i * 4, p)
        f: L = pl.yield_(c)
    return f
    """
    stays(program(strip(), main(RUN, body)), OVERLAP)


def test_while_loops() -> None:
    """ORC-5-05, negative."""
    body = """
    for (i, c) in pl.while_(init_values=(0, y)):
        pl.cond(i < 2)
        z = self.strip(x, i * 8, c)
        k, f = pl.yield_(i + 1, z)
    return f
    """
    stays(program(strip(), main(RUN, body)), "it stands in a while loop")


def test_offsets_read_from_memory() -> None:
    """ORC-5-05: outside loops any value will do; a call inside an offset gets a variable of its own."""
    header = "run(x: L, t: pl.Tensor[[4], pl.INDEX], y: pl.Out[L]) -> L"
    before = program(strip(), main(header, "k: N = pl.tensor.read(t, [0])\nz = self.strip(x, k % 8, y)\nreturn z"))
    narrow(before)
    looped_read = main(
        header,
        """
        for i, (c,) in pl.range(2, init_values=(y,)):
            k: N = pl.tensor.read(t, [i])
            z = self.strip(x, k % 8, c)
            f: L = pl.yield_(z)
        return f
        """,
    )
    stays(program(strip(), looped_read), OVERLAP)


# --------------------------------------------------------------------- siblings, ORC-5-05


def test_siblings_that_are_windows() -> None:
    """ORC-5-05: overlapping siblings are ordered by the runtime, on the windows it sees."""
    narrow(program(strip(), main(RUN, "z = self.strip(x, 0, y)\nw = self.strip(x, 4, z)\nreturn w")), count=2)


@pytest.mark.parametrize(
    "writer",
    [
        "v = self.copy(x, y)",
        "q: L = y\nv = self.copy(x, q)",
        "if k == 0:\n    v0 = self.copy(x, y)\n    v: L = pl.yield_(v0)\nelse:\n    v: L = pl.yield_(y)",
    ],
    ids=["direct", "alias", "in a branch"],
)
def test_a_full_writer_keeps_its_siblings_whole(writer: str) -> None:
    """ORC-5-05, negative: aliases and nested statement lists included (O60)."""
    header = "run(x: L, k: N, y: pl.Out[L]) -> L"
    stays(program(strip(), COPY, main(header, f"{writer}\nz = self.strip(x, 8, v)\nreturn z")), SIBLING)


def test_a_full_writer_in_a_loop() -> None:
    """ORC-5-05, negative: the loop's result is the parent."""
    body = """
    for i, (c,) in pl.range(2, init_values=(y,)):
        n = self.copy(x, c)
        f: L = pl.yield_(n)
    z = self.strip(x, 8, f)
    return z
    """
    stays(program(strip(), COPY, main(RUN, body)), SIBLING)


def test_a_full_writer_of_another_tensor() -> None:
    """ORC-5-05: it does not matter."""
    header = "run(x: L, v: pl.Out[L], y: pl.Out[L]) -> tuple[L, L]"
    narrow(program(strip(), COPY, main(header, "n = self.copy(x, v)\nz = self.strip(x, 8, y)\nreturn z, n")))


TWIN = strip(
    BODY.replace("return s", "t = pl.store(a, [8 - r, 0], p)\nreturn s, t"),
    "strip(x: L, r: N, o: pl.Out[L], p: pl.Out[L]) -> tuple[L, L]",
)


def twins(second: str) -> str:
    call = f"t: pl.Tuple[L, L] = self.strip(x, 8, y, {second})\nz: L = t[0]\nw: L = t[1]\nreturn z, w"
    return main("run(x: L, y: pl.Out[L], v: pl.Out[L]) -> tuple[L, L]", call)


def test_two_outputs() -> None:
    """ORC-5-05: each on a parent of its own; on one parent the launch stays whole."""
    narrow(program(TWIN, twins("v")))
    stays(program(TWIN, twins("y")), "two of its outputs may be the same tensor")


def test_one_site_qualifies_and_one_does_not() -> None:
    """ORC-5-05: launch by launch (O68)."""
    body = """
    for i, (c,) in pl.range(2, init_values=(y,)):
        z = self.strip(x, i * 8, c)
        f: L = pl.yield_(z)
    for j, (e,) in pl.range(2, init_values=(v,)):
        w = self.strip(x, j * 4, e)
        g: L = pl.yield_(w)
    return f, g
    """
    result = narrow(program(strip(), main("run(x: L, y: pl.Out[L], v: pl.Out[L]) -> tuple[L, L]", body)))
    said(result, OVERLAP)


# ----------------------------------------------------------------- loop results, ORC-5-06


@pytest.mark.parametrize("loop", ["for", "while"])
def test_a_loop_result_is_sliced_from_its_init(loop: str) -> None:
    """ORC-5-06: the init is what code generation sees; iter-args inside the body are not folded."""
    head = {
        "for": "for i, (c,) in pl.range(2, init_values=(y,)):\n",
        "while": "for (i, c) in pl.while_(init_values=(0, y)):\n    pl.cond(i < 2)\n",
    }[loop]
    end = {"for": "f: L = pl.yield_(c)", "while": "k, f = pl.yield_(i + 1, c)"}[loop]
    before = program(strip(), main(RUN, f"{head}    {end}\nz = self.strip(x, 8, f)\nreturn z"))
    after = f"{head}    {end}\n" + launch("z", "y", "8") + "\nreturn z"
    narrow(before)
    becomes(before, program(strip(), NARROWED, windowed(after)))


def test_inside_the_body_the_iter_arg_is_sliced() -> None:
    """ORC-5-06"""
    result = narrow(program(strip(), looped("i * 8")))
    assert "pl.tensor.slice(c, [8, 32], [i * 8, 0])" in str(result.program)


NEW_BUFFER = program(
    strip(),
    main(
        RUN,
        """
        for i, (c,) in pl.range(2, init_values=(y,)):
            b = NEW_L
            n = pl.tensor.assemble(b, c, [0, 0])
            f: L = pl.yield_(n)
        z = self.strip(x, 8, f)
        return z
        """,
    ),
)


def test_a_loop_result_that_is_another_buffer() -> None:
    """ORC-5-06, negative: the init is not what the loop gives, so a slice of it would be of the wrong tensor."""
    reason = "a loop's result that is given is not the tensor the loop started from"
    stays(NEW_BUFFER, reason)
    mutant = preset("reference").without("whole-new-buffer", "whole-new-input-buffer")
    after = run_patterns(NEW_BUFFER, OrchContext(mutant), None)
    assert not tilesat.validate(NEW_BUFFER, after).ok


# --------------------------------------------------------------------- symbolic dimensions

ROWS = "pl.Tensor[[NR, 32], pl.FP32]"


@pytest.mark.parametrize(("row", "is_known"), [("8", True), ("k", False)])
def test_symbolic_parents(row: str, is_known: bool) -> None:
    """ORC-5-05, negative: at a place known in advance a constant window may lie outside (O65)."""
    kernel = strip(BODY.replace("s = ", f"s: {ROWS} = "), f"strip(x: L, r: N, o: pl.Out[{ROWS}]) -> {ROWS}")
    body = main(f"run(x: L, k: N, y: pl.Out[{ROWS}]) -> {ROWS}", f"z = self.strip(x, {row}, y)\nreturn z")
    before = program(kernel, body, head='NR = pl.dynamic("NR")')
    result = tilesat.optimize_orch_tensors(before)
    assert ("__windowed" in str(result.program)) == (not is_known)
    if is_known:
        said(result, "may lie outside")


# -------------------------------------------------------------------------- launches as such


def test_results_that_are_not_named() -> None:
    """ORC-5-05, negative."""
    stays(
        program(strip(), main("run(x: L, y: pl.Out[L]) -> L", "self.strip(x, 8, y)\nreturn y")),
        "its results are not named",
    )


def test_outputs_that_the_runtime_allocates() -> None:
    """ORC-5-07, negative: there is no parent to slice."""
    body = "t: pl.Tuple[L, TASK] = pl.submit(self.strip, x, 8)\nz: L = t[0]\nreturn z"
    stays(program(strip(), main("run(x: L) -> L", body)), "the runtime allocates some of its outputs")


def test_too_many_arguments() -> None:
    """ORC-5-05, negative: at most 32 tensors and 16 scalars."""
    names = [f"k{n}" for n in range(17)]
    kernel = strip(signature="strip(x: L, r: N, o: pl.Out[L], " + ", ".join(f"{n}: N" for n in names) + ") -> L")
    before = program(kernel, main(RUN, f"z = self.strip(x, 8, y, {', '.join('0' for _ in names)})\nreturn z"))
    stays(before, "2 tensors and 18 scalars, 32 and 16 are allowed")


def test_names_that_are_taken() -> None:
    """ORC-5-02: inserted functions and variables get names of their own."""
    taken = function(
        "strip__windowed(x: L, o: pl.Out[L]) -> L",
        "a = pl.load(x, [0, 0], [16, 32])\ns = pl.store(a, [0, 0], o)\nreturn s",
    )
    body = "y__window: L = y\nz = self.strip(x, 8, y__window)\nw = self.strip__windowed(z, v)\nreturn w"
    result = narrow(program(strip(), taken, main("run(x: L, y: pl.Out[L], v: pl.Out[L]) -> L", body)))
    assert "def strip__windowed_1(" in str(result.program)
    assert tilesat.verify(result.program) == ()


def test_several_kernels_and_callers() -> None:
    """ORC-5-02: one clone for all launches, each right behind its original."""
    other = function("crop(x: L, r: N, o: pl.Out[L]) -> L", OPT_IN + BODY.strip("\n"))
    second = main("again(x: L, y: pl.Out[L]) -> L", "z = self.crop(x, 8, y)\nw = self.strip(x, 0, z)\nreturn w")
    result = optimized(program(strip(), other, DIRECT, second))
    names = [f.name for f in result.program.functions]
    assert names == ["strip", "strip__windowed", "crop", "crop__windowed", "run", "again"]


class Flat(OrchMoves):
    """Every tensor of a launch costs the same, however wide it is."""

    def dependency(self, size: int) -> float:
        return 1.0


def test_the_optimal_rules_leave_windows_that_show_nothing_narrower() -> None:
    """ORC-5-02: a price on dependencies that does not depend on their width makes slices not worth it."""

    before = program(strip(), DIRECT)
    result = tilesat.optimize_orch_tensors(before, rules="optimal", cost=Flat())
    assert tilesat.structural_equal(result.program, before)
    assert "__windowed" in str(tilesat.optimize_orch_tensors(before, rules="optimal", cost="moves").program)


def test_windows_of_windows() -> None:
    """ORC-5-04, ORC-5-05: where the kernel states the strides of what it is given, its windows have them, too.

    Negative: where launches differ, nothing is stated, and a window would claim strides that its tensor does not have.
    """
    half = "pl.Tensor[[4, 16], pl.FP32]"
    body = "a = pl.load(x, [r, 0], [4, 16])\ns = pl.store(a, [0, 0], o)\nreturn s"
    kernel = strip(body, f"strip(x: S, r: N, o: pl.Out[{half}]) -> {half}")
    header = f"run(big: L, small: S, y: pl.Out[{half}], v: pl.Out[{half}]) -> tuple[{half}, {half}]"
    one = "w = pl.tensor.slice(big, [8, 16], [8, 16])\nz = self.strip(w, 4, y)\n"
    narrow(program(kernel, main(header, one + "return z, v")))
    other = "u = self.strip(small, 4, v)\nreturn z, u"
    result = optimized(program(kernel, main(header, one + other)))
    said(result, "a tensor that is given is a window, and its parameter states no strides")
    assert [d.place for d in result.decisions if d.kind == "window"] == [f"u: {half} = self.strip(small, 4, v)"]
    assert passed_strides(result.program, "run").wrong() == []
