"""What the optimal rules win over the documents: a choice for every launch, priced by a cost model."""

from __future__ import annotations

import pytest

import tilesat
from tests.orch.test_reuse import BUMP, BUMPED
from tests.orch.texts import becomes, created_bytes, main, optimized, program, said, stays
from tilesat.bridge.orch import run_patterns
from tilesat.bridge.orch_stage import OrchContext
from tilesat.extract.orch_cost import OrchMoves, OrchTraffic
from tilesat.rules.catalogue import preset

LOOP = """
for i, (c,) in pl.range(10, init_values=({init},)):
    buf{n} = NEW
    n{n} = self.bump(c, d, buf{n})
    {result}: S = pl.yield_(n{n})
"""


def loop(init: str, result: str, n: int) -> str:
    text = LOOP.format(init=init, result=result, n=n).strip("\n")
    return text.replace("for i, (c,)", f"for i{n}, (c{n},)").replace("bump(c,", f"bump(c{n},")


COPY = BUMPED.replace("def bump(", "def bump__inplace(")


def test_a_kernel_called_in_a_carried_loop_and_elsewhere() -> None:
    """ORC-1-02: the loop keeps the merge through a copy of the kernel; the other call keeps its buffer.

    The reference merges nothing, because the call behind the loop cannot follow: its input is used again.
    """
    elsewhere = "puf = NEW\ng = self.bump(d, f, puf)\nh = NEW\nk = self.bump(d, g, h)\nreturn k"
    before = program(BUMP, main("run(x: S, d: S) -> S", f"{loop('x', 'f', 0)}\n{elsewhere}"))
    stays(before, "the old contents of the input are used after the launch")
    found = optimized(before, "optimal")
    assert created_bytes(found.program) == 0
    assert found.cost is not None
    assert found.reference_cost is not None
    assert found.cost < found.reference_cost
    assert "bump__inplace" in str(found.program)


def test_a_launch_that_keeps_its_buffer() -> None:
    """ORC-1-02: only the call that can follow is rewritten."""
    elsewhere = "puf = NEW\ng = self.bump(d, e, puf)\nreturn f, g, d, e"
    header = "run(x: S, d: S, e: S) -> tuple[S, S, S, S]"
    after = (
        loop("x", "f", 0).replace("    buf0 = NEW\n", "").replace("self.bump(c0, d, buf0)", "self.bump__inplace(c0, d)")
    )
    becomes(
        program(BUMP, main(header, f"{loop('x', 'f', 0)}\n{elsewhere}")),
        program(BUMP, COPY, main(header, f"{after}\n{elsewhere}")),
        "optimal",
    )


def test_a_chain_of_carried_kernels_shares_one_buffer() -> None:
    """ORC-1-02: loop after loop works on what the one before left."""
    loops = [loop("x", "f0", 0), loop("f0", "f1", 1), loop("f1", "f2", 2)]
    before = program(BUMP, main("run(x: S, d: S) -> S", "\n".join([*loops, "return f2"])))
    for rules in ("reference", "optimal"):
        result = optimized(before, rules)
        assert created_bytes(result.program) == 0
        assert len(result.program.functions) == 2


def test_a_chain_through_different_kernels() -> None:
    """ORC-1-02: the documents look at one kernel in its loop; here each result is the next one's input."""
    other = BUMP.replace("def bump(", "def other(").replace("pl.add", "pl.mul")
    body = """
    for i, (c,) in pl.range(10, init_values=(x,)):
        b0 = NEW
        n0 = self.bump(c, d, b0)
        b1 = NEW
        n1 = self.other(n0, d, b1)
        f: S = pl.yield_(n1)
    return f
    """
    before = program(BUMP, other, main("run(x: S, d: S) -> S", body))
    stays(before)
    result = optimized(before, "optimal")
    # The first call must not overwrite an input of the entry in a way the documents do not know.
    assert created_bytes(result.program) == 512
    assert str(result.program).count("tensor.create") == 1


def test_inputs_of_entries_are_overwritten_only_as_documented() -> None:
    """ORC-1-02, negative: nothing says that a plain call may take its caller's input."""
    stays(program(BUMP, main("run(x: S, d: S) -> S", "buf = NEW\nn = self.bump(x, d, buf)\nreturn n")), rules="optimal")


@pytest.mark.parametrize("rules", ["reference", "optimal"])
def test_callers_who_want_their_inputs_back(rules: str) -> None:
    """ORC-1-03: with option ``keep_inputs`` no input of an entry is overwritten."""
    before = program(BUMP, main("run(x: S, d: S) -> S", f"{loop('x', 'f', 0)}\nreturn f"))
    said(optimized(before, rules), "(In) is overwritten")
    kept = optimized(before, rules, options=["keep_inputs"])
    said(kept, "it would overwrite an input")
    assert tilesat.validate(before, kept.program).ok


def test_a_copy_must_be_worth_it() -> None:
    """ORC-1-02: with a high price on kernels the loop keeps its buffers, too."""

    class Dear(OrchTraffic):
        def kernel(self) -> float:
            return 1e9

    elsewhere = "puf = NEW\ng = self.bump(d, e, puf)\nreturn f, g, d, e"
    header = "run(x: S, d: S, e: S) -> tuple[S, S, S, S]"
    before = program(BUMP, main(header, f"{loop('x', 'f', 0)}\n{elsewhere}"))
    result = optimized(before, "optimal", cost=Dear())
    assert tilesat.structural_equal(result.program, before)


@pytest.mark.parametrize("model", [OrchTraffic(), OrchMoves(), "traffic", "moves"])
def test_never_dearer_than_the_documents(model: object) -> None:
    before = program(
        BUMP, main("run(x: S, d: S) -> S", f"{loop('x', 'f', 0)}\nputs = NEW\ng = self.bump(f, d, puts)\nreturn g")
    )
    result = optimized(before, "optimal", cost=model)  # type: ignore[arg-type]
    assert result.cost is not None
    assert result.reference_cost is not None
    assert result.cost <= result.reference_cost


def test_submits_without_an_output_argument() -> None:
    """ORC-1-02: what the runtime would allocate may live in the input as well."""
    body = """
    zb = NEW
    z = self.bump(d, d, zb)
    t: pl.Tuple[S, TASK] = pl.submit(self.bump, z, d)
    n: S = t[0]
    return n
    """
    result = optimized(program(BUMP, main("run(d: S) -> S", body)), "optimal", cost="moves")
    assert "def bump__inplace(x: pl.InOut[" in str(result.program)
    assert "pl.submit(self.bump__inplace, z, d)" in str(result.program)


def test_each_decision_says_what_it_costs() -> None:
    before = program(BUMP, main("run(x: S, d: S) -> S", f"{loop('x', 'f', 0)}\nreturn f"))
    found = next(d for d in optimized(before, "optimal").decisions if d.kind == "merge")
    assert found.stage == "orchestration"
    assert found.cost is not None
    assert found.rejected == "left as it is"
    assert found.rejected_cost is not None
    assert found.rejected_cost > 0
    plain = next(d for d in optimized(before).decisions if d.kind == "merge")
    assert (plain.cost, plain.rejected) == (None, "")


def test_a_stage_without_rules_is_left_out() -> None:
    """Families combine like any other rules: without one, its pattern does nothing."""
    before = program(BUMP, main("run(x: S, d: S) -> S", f"{loop('x', 'f', 0)}\nreturn f"))
    without = preset("reference").without("reuse")
    assert run_patterns(before, OrchContext(without), None) is before


def test_exact_choice() -> None:
    """ORC-1-02: the solver proves what the search finds."""
    elsewhere = "puf = NEW\ng = self.bump(d, e, puf)\nreturn f, g, d, e"
    header = "run(x: S, d: S, e: S) -> tuple[S, S, S, S]"
    before = program(BUMP, main(header, f"{loop('x', 'f', 0)}\n{elsewhere}"))
    exact = tilesat.optimize_orch_tensors(before, rules="optimal", exact=True)
    assert exact.cost == optimized(before, "optimal").cost
    # The patterns are chosen one after the other, so together they are not proved to be the best.
    assert exact.status == "heuristic"
