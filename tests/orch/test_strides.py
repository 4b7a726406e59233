"""Patterns 2 and 4: a kernel's parameter states the strides of the tensor that it is, or becomes, a window of."""

from __future__ import annotations

import pytest

import tilesat
from tests.orch.texts import becomes, function, main, optimized, program, said, stays
from tilesat.ir.nodes import Program
from tilesat.lab.orch_strides import passed_strides
from tilesat.rules.catalogue import preset


def block(parameter: str = "S", stored: str = "S", name: str = "blk") -> str:
    """A kernel that places a block: its output, and what its store gives."""
    return function(
        f"{name}(x: L, r: N, o: pl.Out[{parameter}]) -> S",
        f"""
        a = pl.load(x, [r, 0], [8, 16])
        s: {stored} = pl.store(a, [0, 0], o)
        return s
        """,
    )


def reader(parameter: str = "S", name: str = "rd") -> str:
    return function(
        f"{name}(x: {parameter}, o: pl.Out[S]) -> S",
        "a = pl.load(x, [0, 0], [8, 16])\ns = pl.store(a, [0, 0], o)\nreturn s",
    )


def changed(kernel_before: str, kernel_after: str, orchestration: str) -> tilesat.PassResult:
    return becomes(program(kernel_before, orchestration), program(kernel_after, orchestration))


PLACED = """
for i, (p,) in pl.range(2, init_values=(y,)):
    buf = NEW
    c = self.blk(x, i * 8, buf)
    n = pl.tensor.assemble(p, c, [i * 8, 0])
    f: L = pl.yield_(n)
return f
"""
PLACES = "run(x: L, y: pl.Out[L]) -> L"

# ------------------------------------------------------------------------------- pattern 2


def test_output_assembled_into_a_parent() -> None:
    """ORC-2-01: row stride of the parent on the parameter and the store; results and caller stay (O20)."""
    changed(block(), block("S32", "S32"), main(PLACES, PLACED))


def test_parent_of_higher_rank() -> None:
    """ORC-2-01: the trailing strides of the parent (O21)."""
    cube = "pl.Tensor[[2, 16, 72], pl.FP32]"
    body = f"buf = NEW\nc = self.blk(x, 0, buf)\nn: {cube} = pl.tensor.assemble(y, c, [0, 8, 8])\nreturn n"
    changed(block(), block("S72", "S72"), main(f"run(x: L, y: pl.Out[{cube}]) -> {cube}", body))


def test_strided_parent() -> None:
    """ORC-2-01: its strides, not those of its shape (O27)."""
    wide = "pl.Tensor[[16, 32], pl.FP32, pl.TensorView(stride=[128, 1], VIEW)]"
    body = PLACED.replace("f: L", f"f: {wide}").replace("n = ", f"n: {wide} = ")
    changed(block(), block("S128", "S128"), main(f"run(x: L, y: pl.Out[{wide}]) -> {wide}", body))


def test_stores_in_loops_follow() -> None:
    """ORC-2-01: carries, stores in the loop and its result state the strides, so that types agree (O26)."""

    def loop(type_: str) -> str:
        return function(
            f"blk(x: L, r: N, o: pl.Out[{type_}]) -> S",
            f"""
            for j, (c,) in pl.range(2, init_values=(o,)):
                a = pl.load(x, [r + j * 4, 0], [4, 16])
                s: {type_} = pl.store(a, [j * 4, 0], c)
                f: {type_} = pl.yield_(s)
            return f
            """,
        )

    changed(loop("S"), loop("S32"), main(PLACES, PLACED))


def test_parents_that_agree() -> None:
    """ORC-2-01: two sites, one row stride."""
    body = """
    b0 = NEW
    c0 = self.blk(x, 0, b0)
    n0 = pl.tensor.assemble(y, c0, [0, 0])
    b1 = NEW
    c1 = self.blk(x, 8, b1)
    n1 = pl.tensor.assemble(n0, c1, [8, 16])
    return n1
    """
    changed(block(), block("S32", "S32"), main(PLACES, body))


TWO = "run(x: L, y: pl.Out[L], z: pl.Out[{}]) -> tuple[L, {}]"
OTHER = "pl.Tensor[[16, 48], pl.FP32]"
NEGATIVE_OUTPUTS = {
    "plain at another site (O23)": (
        main(
            "run(x: L, y: pl.Out[L], z: pl.Out[S]) -> tuple[L, S]",
            "b = NEW\nc = self.blk(x, 0, b)\nn = pl.tensor.assemble(y, c, [0, 0])\nm = self.blk(x, 8, z)\nreturn n, m",
        ),
        "launches give tensors with different strides",
    ),
    "another parent at another site": (
        main(
            TWO.format(OTHER, OTHER),
            f"""
            b0 = NEW
            c0 = self.blk(x, 0, b0)
            n0 = pl.tensor.assemble(y, c0, [0, 0])
            b1 = NEW
            c1 = self.blk(x, 8, b1)
            n1: {OTHER} = pl.tensor.assemble(z, c1, [0, 0])
            return n0, n1
            """,
        ),
        "launches give tensors with different strides",
    ),
    "the result is read as it is, too": (
        main(
            "run(x: L, y: pl.Out[L]) -> tuple[L, S]",
            "b = NEW\nc = self.blk(x, 0, b)\nn = pl.tensor.assemble(y, c, [0, 0])\nreturn n, c",
        ),
        "the buffer has other uses",
    ),
    "a buffer that is not made for it": (
        main(
            "run(x: L, y: pl.Out[L], b: pl.Out[S]) -> L",
            "c = self.blk(x, 0, b)\nn = pl.tensor.assemble(y, c, [0, 0])\nreturn n",
        ),
        "the buffer has other uses",
    ),
}


@pytest.mark.parametrize("name", NEGATIVE_OUTPUTS)
def test_outputs_that_state_no_strides(name: str) -> None:
    """ORC-2-01, negative."""
    orchestration, reason = NEGATIVE_OUTPUTS[name]
    stays(program(block(), orchestration), reason)


def test_parent_of_lower_rank() -> None:
    """ORC-2-01, negative: there are no strides for all dimensions."""
    row = function(
        "blk(x: L, o: pl.Out[S]) -> S", "a = pl.load(x, [0, 0], [8, 16])\ns = pl.store(a, [0, 0], o)\nreturn s"
    )
    stays(program(row, main("run(x: L, y: pl.Out[S]) -> S", "c = self.blk(x, y)\nreturn c")))


def test_dynamic_parent() -> None:
    """ORC-2-01, negative: its strides are not constant (O24)."""
    rows = "pl.Tensor[[NB, 32], pl.FP32]"
    body = f"buf = NEW\nc = self.blk(x, 0, buf)\nn: {rows} = pl.tensor.assemble(y, c, [0, 0])\nreturn n"
    orchestration = main(f"run(x: L, y: pl.Out[{rows}]) -> {rows}", body)
    stays(program(block(), orchestration, head='NB = pl.dynamic("NB")'), "has a dimension that is not constant")


def test_optimal_rules_make_a_copy_for_each_stride() -> None:
    """ORC-2-01: where sites differ, each gets a kernel with its strides."""
    orchestration, _ = NEGATIVE_OUTPUTS["plain at another site (O23)"]
    # Two copies pay off when tensors are large enough; the model of moves counts packed tensors first.
    result = tilesat.optimize_orch_tensors(program(block(), orchestration), rules="optimal", cost="moves")
    assert tilesat.structural_equal(
        result.program, program(block(), block("S32", "S32", "blk__strided"), _called(orchestration))
    )


def _called(orchestration: str) -> str:
    """``orchestration`` with its first launch of ``blk`` calling the copy."""
    return orchestration.replace("self.blk(", "self.blk__strided(", 1)


# ------------------------------------------------------------------------------- pattern 4

READS = "run(big: L) -> S"
READ = "w = pl.tensor.slice(big, [8, 16], [8, 16])\nb = NEW\nr = self.rd(w, b)\nreturn r"


def agrees(before: Program, rules: str = "reference") -> tilesat.PassResult:
    """The result on ``before``, whose kernels' inputs must state the strides that launches give."""
    result = optimized(before, rules)
    assert passed_strides(result.program, "run").wrong() == []
    return result


def test_sliced_input() -> None:
    """ORC-4-01: the row stride of what it is a slice of (O40)."""
    changed(reader(), reader("S32"), main(READS, READ))


@pytest.mark.parametrize(
    "launch", ["r = self.rd(w, b)", "t: pl.Tuple[S, TASK] = pl.submit(self.rd, w, b)\nr: S = t[0]"]
)
def test_launched_by_call_or_submit(launch: str) -> None:
    """ORC-4-01: a kernel cannot tell who launches it (O44)."""
    changed(reader(), reader("S32"), main(READS, READ.replace("r = self.rd(w, b)", launch)))


def test_several_sliced_parameters_and_one_that_is_whole() -> None:
    """ORC-4-01: each sliced parameter has strides, the one that is passed whole stays."""

    def kernel(first: str, second: str) -> str:
        return function(
            f"rd(x: {first}, y: {second}, v: S, o: pl.Out[S]) -> S",
            """
            a = pl.load(x, [0, 0], [8, 16])
            b = pl.load(y, [0, 0], [8, 16])
            c = pl.load(v, [0, 0], [8, 16])
            d = pl.add(pl.add(a, b), c)
            s = pl.store(d, [0, 0], o)
            return s
            """.replace("d = pl.add(pl.add(a, b), c)", "e = pl.add(a, b)\n            d = pl.add(e, c)"),
        )

    body = """
    w = pl.tensor.slice(big, [8, 16], [8, 16])
    u: S = pl.tensor.slice(other, [8, 16], [0, 16])
    b = NEW
    r = self.rd(w, u, small, b)
    return r
    """
    changed(kernel("S", "S"), kernel("S32", "S48"), main(f"run(big: L, other: {OTHER}, small: S) -> S", body))


def test_slice_of_a_slice() -> None:
    """ORC-4-01: the stride of the outermost tensor (O45)."""
    body = f"""
    w: {OTHER} = pl.tensor.slice(huge, [16, 48], [8, 8])
    v = pl.tensor.slice(w, [8, 16], [8, 16])
    b = NEW
    r = self.rd(v, b)
    return r
    """
    changed(reader(), reader("S96"), main("run(huge: pl.Tensor[[64, 96], pl.FP32]) -> S", body))


def test_dropped_dimension() -> None:
    """ORC-4-01: a middle dimension that the slice drops still counts for the stride (O48)."""
    body = "w: S = pl.tensor.slice(cube, [8, 1, 16], [0, 3, 0], [], [1])\nb = NEW\nr = self.rd(w, b)\nreturn r"
    changed(reader(), reader("S192"), main("run(cube: pl.Tensor[[16, 8, 24], pl.FP32]) -> S", body))


def test_dynamic_parent_of_a_slice() -> None:
    """ORC-4-01: a symbolic stride that kernel and caller both know (O46)."""
    strided = "pl.Tensor[[8, 16], pl.FP32, pl.TensorView(stride=[NC, 1], VIEW)]"
    head = 'NC = pl.dynamic("NC")'
    orchestration = main(
        "run(big: pl.Tensor[[16, NC], pl.FP32]) -> S", READ.replace("[8, 16])", "[8, 0])").replace("w =", "w: S =")
    )
    before = program(reader(), orchestration, head=head)
    result = tilesat.optimize_orch_tensors(before)
    assert tilesat.structural_equal(result.program, program(reader(strided), orchestration, head=head))
    assert passed_strides(result.program, "run").wrong() == []


def test_slices_carried_and_chosen() -> None:
    """ORC-4-01: strides go through carries and branches."""
    body = """
    u = pl.tensor.slice(big, [8, 16], [0, 0])
    w = pl.tensor.slice(big, [8, 16], [8, 16])
    if k >= 0:
        p: S = pl.yield_(u)
    else:
        p: S = pl.yield_(w)
    for i, (c,) in pl.range(3, init_values=(p,)):
        b = NEW
        r = self.rd(c, b)
        q: S = pl.yield_(w)
    b2 = NEW
    r2 = self.rd(q, b2)
    return r2
    """
    before = program(reader(), main("run(big: L, k: N) -> S", body))
    assert tilesat.structural_equal(
        agrees(before).program, program(reader("S32"), main("run(big: L, k: N) -> S", body))
    )


def test_results_that_are_slices() -> None:
    """ORC-4-01: what a kernel hands back is what it was given, with its strides."""
    body = """
    w = pl.tensor.slice(big, [8, 16], [8, 16])
    b = NEW
    t = self.rd(w, b)
    v = self.keep(w)
    b2 = NEW
    r = self.rd(v, b2)
    return r
    """
    keep = function(
        "keep(x: pl.InOut[S]) -> S", "a = pl.load(x, [0, 0], [8, 16])\ns = pl.store(a, [0, 0], x)\nreturn s"
    )
    orchestration = main("run(big: pl.InOut[L]) -> S", body)
    result = agrees(program(reader(), keep, orchestration))
    assert tilesat.structural_equal(result.program, program(reader("S32"), keep, orchestration))


NEGATIVE_INPUTS = {
    "bar-conflicting-strides, parents (O42)": (
        f"run(big: L, other: {OTHER}) -> tuple[S, S]",
        """
        w = pl.tensor.slice(big, [8, 16], [8, 16])
        b = NEW
        r = self.rd(w, b)
        u: S = pl.tensor.slice(other, [8, 16], [0, 16])
        b2 = NEW
        r2 = self.rd(u, b2)
        return r, r2
        """,
        "launches give tensors with different strides",
    ),
    "bar-conflicting-strides, a whole tensor": (
        "run(big: L, small: S) -> tuple[S, S]",
        """
        w = pl.tensor.slice(big, [8, 16], [8, 16])
        b = NEW
        r = self.rd(w, b)
        b2 = NEW
        r2 = self.rd(small, b2)
        return r, r2
        """,
        "launches give tensors with different strides",
    ),
    "bar-unclear-input bar-conflicting-strides, one of two": (
        "run(big: L, small: S, k: N) -> tuple[S, S]",
        """
        w = pl.tensor.slice(big, [8, 16], [8, 16])
        b2 = NEW
        r2 = self.rd(w, b2)
        if k >= 0:
            p: S = pl.yield_(small)
        else:
            p: S = pl.yield_(w)
        b = NEW
        r = self.rd(p, b)
        return r, r2
        """,
        "the strides of a tensor given for it are not known",
    ),
    "bar-unnamed-input bar-no-strides": (
        "run(big: L, small: S) -> tuple[S, S]",
        """
        w = pl.tensor.slice(big, [8, 16], [8, 16])
        b = NEW
        r = self.rd(w, b)
        t: pl.Tuple[S, S] = [small, w]
        b2 = NEW
        r2 = self.rd(t[0], b2)
        return r, r2
        """,
        "a tensor given for it is not followed",
    ),
}


@pytest.mark.parametrize("name", NEGATIVE_INPUTS)
def test_inputs_that_state_no_strides(name: str) -> None:
    """ORC-4-01, negative: not every launch gives a tensor with those strides."""
    header, body, reason = NEGATIVE_INPUTS[name]
    stays(program(reader(), main(header, body)), reason)


@pytest.mark.parametrize("name", NEGATIVE_INPUTS)
def test_without_the_condition_strides_are_wrong(name: str) -> None:
    """ORC-4-01: each condition is needed: the strides stated are not those of the tensors given."""
    header, body, _ = NEGATIVE_INPUTS[name]
    rules = preset("reference").without(*name.partition(",")[0].split())
    result = tilesat.optimize_orch_tensors(program(reader(), main(header, body)), rules=rules)
    assert passed_strides(result.program, "run").wrong()


def test_a_parameter_of_a_called_function() -> None:
    """ORC-4-01, negative: its type says dense, but it is given a slice; strides of slices of it are not known."""
    inner = main(
        f"inner(part: {OTHER}) -> S", "w = pl.tensor.slice(part, [8, 16], [0, 0])\nb = NEW\nr = self.rd(w, b)\nreturn r"
    )
    body = f"p: {OTHER} = pl.tensor.slice(huge, [16, 48], [8, 8])\nr = self.inner(p)\nreturn r"
    outer = main("run(huge: pl.Tensor[[64, 96], pl.FP32]) -> S", body)
    before = program(reader(), inner, outer)
    stays(before, "the strides of a tensor given for it are not known")
    mutant = preset("reference").without("strides-of-parameters")
    assert passed_strides(tilesat.optimize_orch_tensors(before, rules=mutant).program, "run").wrong()


def test_strides_that_are_stated_stay() -> None:
    """ORC-4-01, negative: who states strides knows better."""
    stays(program(reader("S32"), main(READS, READ)))


def test_unsliced_inputs_stay() -> None:
    """ORC-4-01, negative."""
    stays(program(reader(), main("run(small: S) -> S", "b = NEW\nr = self.rd(small, b)\nreturn r")))


def test_optimal_rules_make_a_copy_for_each_parent() -> None:
    """ORC-4-01: one kernel per stride, each right for its launches (O42)."""
    header, body, _ = NEGATIVE_INPUTS["bar-conflicting-strides, parents (O42)"]
    before = program(reader(), main(header, body))
    result = agrees(before, "optimal")
    assert "rd__strided" in str(result.program)
    said(result, "states not everywhere the same strides")
