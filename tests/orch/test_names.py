"""Chains of names for one buffer, and what a kernel does to its parameters, read off the syntax."""

from __future__ import annotations

import pytest

import tilesat
from tests.orch.test_gather import GATHERED
from tests.orch.test_reuse import BUMP
from tests.orch.test_windows import DIRECT, strip
from tests.orch.texts import function, main, optimized, program, stays
from tilesat.ir.accesses import Accesses
from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import Program
from tilesat.ir_terms.orch_facts_origins import Origins, origins_of

CARRIED = """
for i, (c,) in pl.range(3, init_values=(x,)):
    buf = NEW
    n = self.bump(c, d, buf)
    f: S = pl.yield_(n)
""".lstrip()
PARAMS = "x: S, d: S, big: L, k: N, y: pl.InOut[S]"


def origins(body: str, *others: str) -> Origins:
    before = program(BUMP, *others, main(f"run({PARAMS}) -> S", body))
    functions = {f.name: f for f in before.functions}
    return origins_of(functions, lambda f, callees: Origins(FunctionIndex(f), callees))["run"]


def test_straight_chains() -> None:
    """ORC-5-05: aliases and assembles are followed, slices only where any window of the buffer counts."""
    found = origins(
        """
        a: S = x
        b = pl.tensor.assemble(a, d, [0, 0])
        c: pl.Tensor[[4, 16], pl.FP32] = pl.tensor.slice(b, [4, 16], [0, 0])
        return b
        """
    )
    assert [found.buffers.end(name) for name in "abc"] == ["x", "x", "x"]
    assert [found.wholes.end(name) for name in "abc"] == ["x", "x", "c"]


def test_launches_hand_back_what_they_are_given() -> None:
    """ORC-5-05: also through a function that calls another."""
    wrap = main("wrap(a: S, o: pl.Out[S]) -> S", "r = self.bump(a, a, o)\nreturn r")
    found = origins("n = self.bump(x, d, y)\nm = self.wrap(n, n)\nreturn m", wrap)
    assert found.buffers.end("m") == "y"


def test_functions_that_return_one_or_the_other() -> None:
    """ORC-5-05, negative: the result leads nowhere."""
    choose = main(
        "choose(a: S, b: S, k: N) -> S", "if k == 0:\n    r: S = pl.yield_(a)\nelse:\n    r: S = pl.yield_(b)\nreturn r"
    )
    found = origins("m = self.choose(x, d, k)\nreturn m", choose)
    assert found.buffers.end("m") == "m"


def test_loops_that_hand_the_carry_on() -> None:
    """ORC-5-06: iter-arg and result are the init; a swap or a new buffer is not followed."""
    stays_the_same = origins(
        "for i, (c,) in pl.range(3, init_values=(y,)):\n    n = self.bump(x, d, c)\n    f: S = pl.yield_(n)\nreturn f"
    )
    assert stays_the_same.buffers.end("c") == stays_the_same.buffers.end("f") == "y"
    swapped = origins("for i, (c, e) in pl.range(3, init_values=(x, y)):\n    f, g = pl.yield_(e, c)\nreturn f")
    assert swapped.buffers.end("f") == "f"
    assert swapped.staying == set()


def test_branches_that_agree() -> None:
    """ORC-1-02"""
    body = "a: S = x\nif k == 0:\n    r: S = pl.yield_(a)\nelse:\n    r: S = pl.yield_({other})\nreturn r"
    assert origins(body.format(other="x")).buffers.end("r") == "x"
    assert origins(body.format(other="d")).buffers.end("r") == "r"


def test_cycles_of_calls_lead_nowhere() -> None:
    """ORC-S-01"""
    ping = main("ping(a: S) -> S", "r = self.pong(a)\nreturn r")
    pong = main("pong(a: S) -> S", "r = self.ping(a)\nreturn r")
    assert origins("m = self.ping(x)\nreturn m", pong, ping).buffers.end("m") in ("m", "x")


# ------------------------------------------------------------------------------- accesses


def touched(
    body: str, header: str = "f(x: S, o: pl.Out[S], p: pl.Out[S], k: N) -> S", *others: str
) -> dict[str, list[str]]:
    """Parameter -> "r" and "w" for each access, with "?" where the window is not known."""
    before = program(*others, function(header, body))
    accesses = Accesses(FunctionIndex(before.function("f")))
    return {
        param.name: [
            ("r" if t.reads else "") + ("w" if t.writes else "") + ("?" if t.access.window is None else "")
            for t in accesses.of(param.name)
        ]
        for param in before.function("f").params
    }


INNER = function(
    "inner(a: S, o: pl.Out[S], p: pl.Out[S]) -> tuple[S, S]",
    "t = pl.load(a, [0, 0], [8, 16])\nr = pl.store(t, [0, 0], o)\nq = pl.store(t, [0, 0], p)\nreturn r, q",
)


def test_loads_and_stores() -> None:
    """ORC-1-03"""
    assert touched("t = pl.load(x, [0, 0], [8, 16])\nr = pl.store(t, [0, 0], o)\nreturn r")["o"] == ["w"]


def test_through_a_call_of_another_kernel() -> None:
    """ORC-1-03: what is handed to another kernel is accessed anyhow, and so are the elements of what it returns."""
    body = """
    t: pl.Tuple[S, S] = self.inner(x, o, p)
    r: S = t[0]
    a = pl.load(r, [0, 0], [8, 16])
    s = pl.store(a, [0, 0], r)
    return s
    """
    found = touched(body, "f(x: S, o: pl.Out[S], p: pl.Out[S], k: N) -> S", INNER)
    assert found["o"] == ["rw?", "r?", "w?"]


def test_through_slices_and_branches() -> None:
    """ORC-1-03: a slice is at its offset; what is one or the other is accessed in both."""
    body = """
    w: pl.Tensor[[4, 16], pl.FP32] = pl.tensor.slice(x, [4, 16], [4, 0])
    a = pl.load(w, [0, 0], [4, 16])
    if k == 0:
        t: S = pl.yield_(o)
    else:
        t: S = pl.yield_(p)
    s = pl.store(a, [0, 0], t)
    return s
    """
    found = touched(body)
    assert (found["x"], found["o"], found["p"]) == (["r"], ["w"], ["w"])


# ---------------------------------------------------------------- what is not followed

LEAKS: dict[str, Program] = {
    "a pointer": program(
        BUMP,
        main(
            "run(x: S, d: S, k: N) -> S",
            "peek: pl.Ptr = pl.mystery.open(x)\n" + CARRIED + "pl.mystery.read(peek)\nreturn f",
        ),
    ),
}


@pytest.mark.parametrize("name", LEAKS)
def test_tensors_that_go_into_something_unknown(name: str) -> None:
    """ORC-1-03, negative: whoever holds it may show the old contents later."""
    stays(LEAKS[name], "not followed")


@pytest.mark.parametrize("kernel", ["merge", "gather", "window"])
def test_external_kernels(kernel: str) -> None:
    """ORC-1-03, ORC-3-01, ORC-5-01, negative: the body is not the one that runs."""
    text, caller = {
        "merge": (BUMP, main("run(x: S, d: S) -> S", CARRIED + "return f")),
        "gather": (GATHERED, main("run(x: S, y: pl.Out[S]) -> S", "r = self.fill(x, y)\nreturn r")),
        "window": (strip(), DIRECT),
    }[kernel]
    external = text.replace("role=pl.Role.SubWorker)", 'role=pl.Role.SubWorker, external_source="kernel.cpp")')
    before = program(external, caller)
    assert not tilesat.structural_equal(optimized(program(text, caller)).program, program(text, caller))
    assert tilesat.structural_equal(tilesat.optimize_orch_tensors(before).program, before)
