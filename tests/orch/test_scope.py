"""What the pass touches, in which order, and what it refuses (ORC-S-01); the example of the documents."""

from __future__ import annotations

import pytest

import tilesat
from tests.corpus import DATA
from tests.orch.test_gather import GATHERED
from tests.orch.test_reuse import BUMP
from tests.orch.test_strides import block, reader
from tests.orch.test_windows import DIRECT, strip
from tests.orch.texts import becomes, function, main, optimized, program, stays
from tilesat.bridge.orch import PATTERNS
from tilesat.extract.orch_cost import OrchTraffic
from tilesat.rules.catalogue import preset
from tilesat.rules.rule import Rule

CARRIED = """
for i, (c,) in pl.range(3, init_values=(x,)):
    buf = NEW
    n = self.bump(c, d, buf)
    f: S = pl.yield_(n)
return f
""".strip()


def test_the_example_of_the_documents() -> None:
    """ORC-1-01: before and after as the document of the pass prints them."""
    before, after = (tilesat.parse(DATA / "orch_example" / f"{name}.py") for name in ("before", "after"))
    becomes(before, after)


# ------------------------------------------------------------------------------------ order


def test_five_patterns_in_order() -> None:
    """ORC-S-01"""
    names: list[str] = []
    tilesat.optimize_orch_tensors(program(strip(), DIRECT), progress=lambda done, name: names.append(f"{done} {name}"))
    assert names == [
        "0 in-place merges",
        "1 strides of outputs",
        "2 gathering loops",
        "3 strides of inputs",
        "4 windows",
    ]
    assert len(PATTERNS) == 5


def test_a_pattern_sees_what_the_one_before_made() -> None:
    """ORC-S-01: a kernel whose output lives in its input gathers no blocks straight into it any more (O37)."""
    body = CARRIED.replace("self.bump(c, d, buf)", "self.fill(c, buf)")
    result = optimized(program(GATHERED, main("run(x: S) -> S", body)))
    assert "x: pl.InOut[" in str(result.program)
    assert "tile.assemble" in str(result.program)


def test_strides_first_and_windows_after() -> None:
    """ORC-S-01: a window has the strides that pattern 4 stated for its parent."""
    kernel = strip(
        "a = pl.load(x, [r, 0], [4, 16])\ns = pl.store(a, [0, 0], o)\nreturn s",
        "strip(x: S, r: N, o: pl.Out[pl.Tensor[[4, 16], pl.FP32]]) -> pl.Tensor[[4, 16], pl.FP32]",
    )
    body = "w = pl.tensor.slice(big, [8, 16], [8, 16])\nz = self.strip(w, 4, y)\nreturn z"
    result = optimized(
        program(
            kernel, main("run(big: L, y: pl.Out[pl.Tensor[[4, 16], pl.FP32]]) -> pl.Tensor[[4, 16], pl.FP32]", body)
        )
    )
    assert "def strip__windowed(x: pl.Tensor[[4, 16], pl.FP32, pl.TensorView(stride=[32, 1], " in str(result.program)


# ------------------------------------------------------------------------------------ scope


@pytest.mark.parametrize("kind", ["Group", "Spmd"])
def test_wrappers_are_unchanged(kind: str) -> None:
    """ORC-S-01, negative: calls in wrappers stay as they are, so kernels that they call keep their parameters."""
    wrapper = function("wrap(x: S, d: S) -> S", CARRIED, kind)
    before = program(BUMP, wrapper, main("run(x: S, d: S) -> S", "r = self.wrap(x, d)\nreturn r"))
    stays(before, f"'wrap' is a function of type {kind}, whose calls stay as they are")


def test_opaque_callers_are_rewritten() -> None:
    """ORC-S-01"""
    before = program(BUMP, function("host(x: S, d: S) -> S", CARRIED, "Opaque"))
    assert "tensor.create" not in str(optimized(before).program)


def test_functions_that_nothing_is_found_in_stay_the_same_object() -> None:
    """ORC-S-01: and the program, too."""
    before = program(BUMP, main("run(x: S, d: S, o: pl.Out[S]) -> S", "n = self.bump(x, d, o)\nreturn n"))
    assert tilesat.optimize_orch_tensors(before).program is before
    both = program(
        BUMP,
        GATHERED,
        main(
            "run(x: S, d: S, o: pl.Out[S], p: pl.Out[S]) -> S", "n = self.bump(x, d, o)\nm = self.fill(n, p)\nreturn m"
        ),
    )
    after = tilesat.optimize_orch_tensors(both).program
    assert after.function("bump") is both.function("bump")
    assert after.function("run") is both.function("run")
    assert after.function("fill") is not both.function("fill")


def test_empty_and_lonely_programs() -> None:
    """ORC-S-01, negative: nothing to do is no error."""
    stays(program(BUMP))
    stays(program(main("run(x: S) -> S", "return x")))


def test_recursive_functions() -> None:
    """ORC-S-01: calls in a cycle lead nowhere, and are no error."""
    before = program(
        BUMP, main("run(x: S, d: S, k: N) -> S", f"{CARRIED.replace('return f', 'g = self.run(f, d, k)')}\nreturn g")
    )
    result = tilesat.optimize_orch_tensors(before)
    assert tilesat.verify(result.program) == ()


# ---------------------------------------------------------------------------------- refusals


def test_input_that_is_not_valid() -> None:
    before = program(BUMP, main("run(x: S) -> S", "r: S = missing__FREE_VAR\nreturn r"))
    with pytest.raises(tilesat.VerifyError, match="missing"):
        tilesat.optimize_orch_tensors(before)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"rules": "best"}, tilesat.RuleError, "unknown rule set 'best'"),
        ({"rules": "optimal", "cost": "latency"}, tilesat.CostModelError, "unknown cost model 'latency'"),
        ({"rules": "optimal", "cost": object()}, tilesat.CostModelError, "has no 'allocation'"),
        ({"hardware": "z80"}, tilesat.TilesatError, "z80"),
    ],
)
def test_arguments_that_make_no_sense(arguments: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tilesat.optimize_orch_tensors(program(strip(), DIRECT), **arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (-1.0, "returned -1.0"),
        (float("nan"), "returned nan"),
        (float("inf"), "returned inf"),
        ("cheap", "returned 'cheap'"),
        (None, "returned None"),
        (True, "returned True"),
    ],
)
def test_cost_models_that_give_no_price(answer: object, message: str) -> None:
    class Odd(OrchTraffic):
        def dependency(self, size: int) -> float:
            return answer  # type: ignore[return-value]

    with pytest.raises(tilesat.CostModelError, match=message):
        tilesat.optimize_orch_tensors(program(strip(), DIRECT), rules="optimal", cost=Odd())


def test_a_cost_model_that_raises() -> None:
    class Broken(OrchTraffic):
        def allocation(self, size: int) -> float:
            raise ZeroDivisionError("no price")

    with pytest.raises(tilesat.CostModelError, match="ZeroDivisionError: no price"):
        tilesat.optimize_orch_tensors(
            program(BUMP, main("run(x: S, d: S) -> S", CARRIED)), rules="optimal", cost=Broken()
        )


def test_rules_that_contradict_the_facts() -> None:
    """A rule that states strides nobody gives is named instead of crashing."""
    bad = Rule(
        "bad",
        "strides",
        "views",
        "",
        "(rule ((launch s k c) (tensor-param k 0 p)) ((decide (view k 0)) (decide (view-wanted k 0))))",
    )
    body = "w = pl.tensor.slice(big, [8, 16], [8, 16])\nb = NEW\nr = self.rd(w, b)\nq = self.blk(big, 0, r)\nreturn q"
    before = program(reader(), block(), main("run(big: L) -> S", body))
    with pytest.raises(tilesat.RuleError, match="state strides"):
        tilesat.optimize_orch_tensors(before, rules=preset("reference").without("strides-given") + bad)
