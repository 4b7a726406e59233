"""Pattern 5: launches of kernels that ask for it slice their tensors to the windows that the kernel accesses."""

from __future__ import annotations

from textwrap import dedent

import pytest

import tilesat
from tests.orch.texts import becomes, function, main, optimized, program, said, stays
from tilesat.ir.nodes import Program
from tilesat.ir.types import Direction
from tilesat.lab.orch_strides import passed_strides
from tilesat.rules.catalogue import preset

WINDOWED = "pl.Tensor[[8, 32], pl.FP32, pl.TensorView(stride=[32, 1], VIEW)]"
WINDOW = "pl.Tensor[[8, 32], pl.FP32]"
OPT_IN = 'pl.func_attr({"windowize": True})\n'
SIGNATURE = "strip(x: L, r: N, o: pl.Out[L]) -> L"
BODY = """
a = pl.load(x, [r, 0], [8, 32])
b = pl.exp(a)
s = pl.store(b, [r, 0], o)
return s
"""
RUN = "run(x: L, y: pl.Out[L]) -> L"


def strip(body: str = BODY, signature: str = SIGNATURE, kind: str = "InCore", *, opts_in: bool = True) -> str:
    return function(signature, (OPT_IN if opts_in else "") + dedent(body).strip("\n"), kind)


NARROWED = strip(
    BODY.replace("[r, 0]", "[0, 0]").replace("s = ", f"s: {WINDOWED} = "),
    f"strip__windowed(x: {WINDOWED}, r: N, o: pl.Out[{WINDOWED}]) -> {WINDOWED}",
)


def windowed(*launches: str, header: str = RUN) -> str:
    return main(header, "\n".join(launches))


def launch(name: str, parent: str, row: str, source: str = "x") -> str:
    """What a launch of ``strip`` into ``parent`` becomes."""
    return f"""
in_{name} = pl.tensor.slice({source}, [8, 32], [{row}, 0])
out_{name} = pl.tensor.slice({parent}, [8, 32], [{row}, 0])
win_{name} = self.strip__windowed(in_{name}, {row}, out_{name})
{name} = pl.tensor.assemble({parent}, win_{name}, [{row}, 0])""".strip("\n")


def narrow(before: Program, *, count: int = 1, rules: str = "reference") -> tilesat.PassResult:
    """The result on ``before``, in which ``count`` launches get windows with the strides that they state."""
    result = optimized(before, rules)
    assert sum(d.kind == "window" for d in result.decisions) == count, [d.text for d in result.decisions]
    every = (Direction.In, Direction.Out, Direction.InOut)
    entry = next(f.name for f in reversed(before.functions) if f.kind == "Orchestration")
    assert passed_strides(result.program, entry, directions=every).wrong() == []
    again = tilesat.optimize_orch_tensors(result.program, rules=rules)
    assert tilesat.structural_equal(again.program, result.program)
    return result


# ----------------------------------------------------------------------- ORC-5-01 opt-in

DIRECT = main(RUN, "z = self.strip(x, 8, y)\nreturn z")


def test_one_window() -> None:
    """ORC-5-02: clone, parameter narrowed, offsets local; at the call slice, call, assemble (O50)."""
    before = program(strip(), DIRECT)
    after = program(strip(), NARROWED, windowed(launch("z", "y", "8"), "return z"))
    narrow(before)
    becomes(before, after)


@pytest.mark.parametrize("kind", ["InCore", "AIC", "AIV"])
def test_kinds_that_may_ask(kind: str) -> None:
    """ORC-5-01"""
    narrow(program(strip(kind=kind), DIRECT))


@pytest.mark.parametrize("kind", ["Spmd", "Group", "Opaque"])
def test_kinds_that_may_not(kind: str) -> None:
    """ORC-5-01, ORC-5-08, negative: no per-block windows of an Spmd launch."""
    stays(program(strip(kind=kind), DIRECT))


def test_no_opt_in() -> None:
    """ORC-5-01, negative: the attribute is missing, or false (O51)."""
    stays(program(strip(opts_in=False), DIRECT))
    stays(program(strip().replace("True", "False"), DIRECT))


def test_only_orchestration_launches_with_windows() -> None:
    """ORC-S-01, negative: a wrapper is no orchestration function."""
    wrapper = function("wrap(x: L, y: pl.Out[L]) -> L", "z = self.strip(x, 8, y)\nreturn z", "Group")
    stays(program(strip(), wrapper, main(RUN, "z = self.wrap(x, y)\nreturn z")), "'wrap' is no orchestration function")


# ---------------------------------------------------------------- ORC-5-02 final stores


def test_the_parameter_itself_is_returned() -> None:
    """ORC-5-02: a store whose result is unused is a final store, too."""
    narrow(program(strip(BODY.replace("s = pl.store", "pl.store").replace("return s", "return o")), DIRECT))


def test_two_launches_in_sequence() -> None:
    """ORC-5-05: the second one sees what the first one assembled (O70)."""
    before = program(strip(), main(RUN, "z = self.strip(x, 0, y)\nw = self.strip(x, 8, z)\nreturn w"))
    narrow(before, count=2)
    body = windowed(launch("z", "y", "0"), launch("w", "z", "8"), "return w")
    becomes(before, program(strip(), NARROWED, body))


def test_later_uses_of_the_parent_see_the_window() -> None:
    """ORC-5-02, ORC-5-08: a later whole read closes no window; it reads the assembled tensor (O61)."""
    copy = function(
        "copy(x: L, o: pl.Out[L]) -> L", "a = pl.load(x, [0, 0], [16, 32])\ns = pl.store(a, [0, 0], o)\nreturn s"
    )
    body = "z = self.strip(x, 0, y)\nc = self.copy({parent}, v)\nreturn c"
    header = "run(x: L, y: pl.Out[L], v: pl.Out[L]) -> L"
    before = program(strip(), copy, main(header, body.format(parent="y")))
    after = windowed(launch("z", "y", "0"), "c = self.copy(z, v)\nreturn c", header=header)
    narrow(before)
    becomes(before, program(strip(), NARROWED, copy, after))


def test_column_window() -> None:
    """ORC-5-02: a window that is narrower than the rows has the parent's row stride (O66)."""
    body = BODY.replace("[r, 0], [8, 32]", "[r, 16], [8, 16]").replace("[r, 0], o", "[r, 16], o")
    result = narrow(program(strip(body), DIRECT))
    assert "pl.tensor.slice(y, [8, 16], [8, 16])" in str(result.program)


def test_in_out_window() -> None:
    """ORC-5-02: reads and writes of one window."""
    body = "c = pl.load(o, [r, 0], [8, 32])\n" + BODY.strip("\n").replace("pl.exp(a)", "pl.add(a, c)")
    signature = SIGNATURE.replace("pl.Out", "pl.InOut")
    narrow(
        program(strip(body, signature), main(RUN.replace("pl.Out", "pl.InOut"), "z = self.strip(x, 8, y)\nreturn z"))
    )


OTHER_ACCESS = {
    "a read at another place (O62b)": (
        "c = pl.load(o, [0, 0], [8, 32])\n" + BODY.strip("\n").replace("pl.exp(a)", "pl.add(a, c)"),
        "other parts of it are read or written",
    ),
    "a masked read (O63)": (
        "c = pl.load(o, [r, 0], [8, 32], [8, 16])\n" + BODY.strip("\n"),
        "only a part of what is loaded is valid",
    ),
    "a second store elsewhere": (
        BODY.replace("s = ", "t = pl.store(a, [8 - r, 0], o)\ns = "),
        "other parts of it are read or written",
    ),
    "an offset that is read from memory": (
        BODY.replace("a = ", "k: N = pl.tensor.read(m, [0])\na = ").replace("[r, 0], o", "[k, 0], o"),
        "its place depends on more than the parameters",
    ),
    "the stored tensor is read again": (
        BODY.replace("return s", "c = pl.load(s, [0, 0], [8, 32])\npl.store(c, [0, 0], v)\nreturn s"),
        "it is accessed under another name",
    ),
}


@pytest.mark.parametrize("name", OTHER_ACCESS)
def test_outputs_that_are_no_window(name: str) -> None:
    """ORC-5-05, negative: the store's window must be all that is accessed, at a place the caller knows."""
    body, reason = OTHER_ACCESS[name]
    signature = "strip(x: L, m: pl.Tensor[[4], pl.INDEX], r: N, o: pl.InOut[L], v: pl.Out[L]) -> L"
    header = "run(x: L, m: pl.Tensor[[4], pl.INDEX], y: pl.InOut[L], v: pl.Out[L]) -> L"
    result = stays(program(strip(body, signature), main(header, "z = self.strip(x, m, 0, y, v)\nreturn z")))
    assert any(reason in d.text for d in result.decisions), [d.text for d in result.decisions]


def test_a_whole_store_is_no_window() -> None:
    """ORC-5-05, negative."""
    stays(
        program(strip(BODY.replace("[r, 0]", "[0, 0]").replace("[8, 32]", "[16, 32]")), DIRECT),
        "it is the whole tensor",
    )


def test_a_store_in_a_branch_is_no_final_store() -> None:
    """ORC-5-02, negative: what may not be written is no window."""
    body = """
    a = pl.load(x, [r, 0], [8, 32])
    if r == 0:
        s0 = pl.store(a, [r, 0], o)
        s: L = pl.yield_(s0)
    else:
        s: L = pl.yield_(o)
    return s
    """
    stays(program(strip(body), DIRECT))


# --------------------------------------------------------------------------- ORC-5-07


def test_submit_with_output_window() -> None:
    """ORC-5-07: as for calls, the task id is passed on (O72)."""
    body = "t: pl.Tuple[L, TASK] = pl.submit(self.strip, x, 8, y)\nz: L = t[0]\nreturn z"
    result = narrow(program(strip(), main(RUN, body)))
    assert "pl.submit(self.strip__windowed, " in str(result.program)
    assert "__pass_1: pl.Scalar[pl.TASK_ID]" in str(result.program)


READER = strip(
    "a = pl.load(x, [r, 0], [8, 32])\ns = pl.store(a, [0, 0], o)\nreturn s",
    f"strip(x: L, r: N, o: pl.Out[{WINDOW}]) -> {WINDOW}",
)
READS = f"run(x: L, y: pl.Out[{WINDOW}]) -> {WINDOW}"


def test_submit_with_input_windows_alone() -> None:
    """ORC-5-07, negative: the whole input may order more than it reads (O59)."""
    body = f"t: pl.Tuple[{WINDOW}, TASK] = pl.submit(self.strip, x, 8, y)\nz: {WINDOW} = t[0]\nreturn z"
    stays(program(READER, main(READS, body)), "a submit without output windows")


# ---------------------------------------------------------------- ORC-5-04 pure inputs


def test_pure_input() -> None:
    """ORC-5-04: the input alone is sliced; nothing is assembled."""
    narrowed = READER.replace(
        "strip(x: pl.Tensor[[16, 32], pl.FP32]",
        "strip__windowed(x: " + WINDOWED.replace("VIEW", "layout=pl.TensorLayout.ND"),
    )
    narrowed = narrowed.replace("load(x, [r, 0]", "load(x, [0, 0]")
    body = main(READS, "w = pl.tensor.slice(x, [8, 32], [8, 0])\nz = self.strip__windowed(w, 8, y)\nreturn z")
    before = program(READER, main(READS, "z = self.strip(x, 8, y)\nreturn z"))
    narrow(before)
    becomes(before, program(READER, narrowed, body))


def test_pure_input_by_slice() -> None:
    """ORC-5-04: a tensor.slice of the input is a reference like a load."""
    sliced = READER.replace(
        "a = pl.load(x, [r, 0], [8, 32])",
        "w = pl.tensor.slice(x, [8, 32], [r, 0])\n    a = pl.load(w, [0, 0], [8, 32])",
    )
    narrow(program(sliced, main(READS, "z = self.strip(x, 8, y)\nreturn z")))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (
            "a = pl.load(x, [r, 0], [8, 32])",
            "c = pl.load(x, [8 - r, 0], [8, 32])\n    a = pl.load(x, [r, 0], [8, 32])",
            "common frame",
        ),
        ("[r, 0], [8, 32])", "[r, 0], [8, 32], [8, 16])", "only a part of what is loaded is valid"),
        (
            "a = pl.load(x, [r, 0], [8, 32])",
            "pl.tensor.dim(x, 0)\n    a = pl.load(x, [r, 0], [8, 32])",
            "its extents are asked for",
        ),
        (
            "a = pl.load(x, [r, 0], [8, 32])",
            "v: pl.Scalar[pl.FP32] = pl.tensor.read(x, [0, 0])\n    a = pl.load(x, [r, 0], [8, 32])",
            "used other than by loads and slices",
        ),
    ],
    ids=["two windows", "masked", "extents", "scalar read"],
)
def test_inputs_that_are_no_window(old: str, new: str, reason: str) -> None:
    """ORC-5-04, negative: every reference must be the same load or slice."""
    assert old in READER
    kernel = READER.replace(old, new)
    result = stays(program(kernel, main(READS, "z = self.strip(x, 8, y)\nreturn z")))
    assert any(reason in d.text for d in result.decisions), [d.text for d in result.decisions]


def test_transposed_load() -> None:
    """ORC-5-04, negative: the document rejects transposed loads (the peer takes them when 2-D)."""
    kernel = strip(
        """
        a: pl.Tile[[8, 8], pl.FP32, pl.Mem.Mat] = pl.load(x, [r, 0], [8, 8], transpose=True, target_memory=pl.Mem.Mat)
        s = pl.store(a, [0, 0], o)
        return s
        """,
        "strip(x: L, r: N, o: pl.Out[pl.Tensor[[8, 8], pl.FP32]]) -> pl.Tensor[[8, 8], pl.FP32]",
    )
    header = READS.replace("[8, 32]", "[8, 8]")
    before = program(kernel, main(header, "z = self.strip(x, 8, y)\nreturn z"))
    result = tilesat.optimize_orch_tensors(before)
    assert tilesat.structural_equal(result.program, before)
    assert any("loaded transposed" in d.text for d in result.decisions)


def test_a_consumer_without_results_stays() -> None:
    """ORC-5-04, negative: it may be there for its effect on the order of tasks."""
    kernel = strip("a = pl.load(x, [r, 0], [8, 32])\npl.store(a, [0, 0], o)", f"strip(x: L, r: N, o: pl.Out[{WINDOW}])")
    stays(program(kernel, main(f"run(x: L, y: pl.Out[{WINDOW}])", "self.strip(x, 8, y)")))


def test_whole_input_stays() -> None:
    """ORC-5-04, negative: a slice of everything shows nothing narrower."""
    kernel = READER.replace("[r, 0], [8, 32]", "[0, 0], [16, 32]").replace("[8, 32]", "[16, 32]")
    stays(
        program(kernel, main("run(x: L, y: pl.Out[L]) -> L", "z = self.strip(x, 8, y)\nreturn z")),
        "it is the whole tensor",
    )


def test_result_assembled_later() -> None:
    """ORC-5-04, negative: an input window alone is not worth it where the result is assembled anyway."""
    body = """
    b: WIN = pl.tensor.create([8, 32], dtype=pl.FP32, layout=pl.TensorLayout.ND)
    z = self.strip(x, 8, b)
    n = pl.tensor.assemble(y, z, [8, 0])
    return n
    """
    result = optimized(program(READER, main(RUN, body.replace("WIN", WINDOW))))
    said(result, "its result is assembled into another tensor")
    assert "__windowed" not in str(result.program)


def test_a_kernel_with_an_output_that_is_no_window_keeps_its_inputs() -> None:
    """ORC-5-04, negative: without windows or whole outputs, inputs stay whole, too."""
    body = BODY.replace("s = ", "t = pl.store(a, [8 - r, 0], o)\ns = ")
    stays(program(strip(body), DIRECT))


def test_one_output_a_window_one_whole() -> None:
    """ORC-5-05: outputs are decided one by one."""
    body = BODY.replace("return s", "t = pl.store(a, [0, 0], p)\nreturn s, t")
    signature = f"strip(x: L, r: N, o: pl.Out[L], p: pl.Out[{WINDOW}]) -> tuple[L, {WINDOW}]"
    header = f"run(x: L, y: pl.Out[L], v: pl.Out[{WINDOW}]) -> tuple[L, {WINDOW}]"
    call = f"t: pl.Tuple[L, {WINDOW}] = self.strip(x, 8, y, v)\nz: L = t[0]\nw: {WINDOW} = t[1]\nreturn z, w"
    result = narrow(program(strip(body, signature), main(header, call)))
    assert [d.text for d in result.decisions if d.kind == "window"] == ["'strip' gets windows for x, o"]


def test_a_missing_condition_is_named() -> None:
    """Without what keeps inputs that are read in two ways whole, a window is decided on that no kernel can have."""
    kernel = READER.replace("[r, 0], [8, 32])", "[r, 0], [8, 32], [8, 16])")
    before = program(kernel, main(READS, "z = self.strip(x, 8, y)\nreturn z"))
    with pytest.raises(tilesat.RuleError, match="cannot be carried out: without 'no-window-other-access'"):
        tilesat.optimize_orch_tensors(before, rules=preset("optimal").without("no-window-other-access"))
