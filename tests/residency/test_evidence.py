"""INF-P4-07 and INF-P4-08, the positive side: what callers may do without losing the proof."""

from __future__ import annotations

import pytest

import tilesat
from tests.residency.programs import (
    CALL,
    CREATE,
    STATIONARY,
    STREAMED,
    Edit,
    before,
    depth_of,
    program,
    resident,
    stays,
)
from tests.residency.variants import MAIN, TAKEN, retyped
from tilesat.ir_terms.residency_facts import ResidencyCollector

FILL = """\
        @pl.function(type=pl.FunctionType.InCore)
        def fill(
            x: pl.Tensor[[16, 32], pl.FP32], y: pl.Out[pl.Tensor[[16, 32], pl.FP32]]
        ) -> pl.Tensor[[16, 32], pl.FP32]:
            t = pl.load(x, [0, 0], [16, 32])
            z = pl.store(t, [0, 0], y)
            return z
"""
FILL_TWO = """\
        @pl.function(type=pl.FunctionType.InCore)
        def fill(
            x: pl.Tensor[[16, 32], pl.FP32],
            y: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
            z: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
        ) -> tuple[pl.Tensor[[16, 32], pl.FP32], pl.Tensor[[16, 64], pl.FP32]]:
            t = pl.load(x, [0, 0], [16, 32])
            a = pl.store(t, [0, 0], y)
            b = pl.store(t, [0, 0], z)
            return a, b
"""
GIVEN = retyped(TAKEN, "self, s", "self, x: pl.Tensor[[16, 32], pl.FP32], s")
# What ``main`` does between creating the weights and launching the kernel; the last line binds ``w``.
PROOFS: dict[str, tuple[Edit, ...]] = {
    "a window of what was created": (
        (CREATE, "big = pl.create_tensor([64, 64], dtype=pl.FP32)\n            w = pl.slice(big, [16, 32], [8, 8])"),
    ),
    "a window of a window, under another name": (
        (
            CREATE,
            "\n            ".join(
                (
                    "big = pl.create_tensor([64, 64], dtype=pl.FP32)",
                    "half = pl.slice(big, [32, 64], [8, 8])",
                    "x = half",
                    "w = pl.slice(x, [16, 32], [0, 0])",
                )
            ),
        ),
    ),
    "another view of it": (
        (
            CREATE,
            "flat = pl.create_tensor([32, 16], dtype=pl.FP32)\n"
            "            w: pl.Tensor[[16, 32], pl.FP32] = pl.tensor.view(flat, [16, 32], [0, 0])",
        ),
    ),
    "the weights are assembled in it": (
        GIVEN,
        (CREATE, "t = pl.create_tensor([16, 32], dtype=pl.FP32)\n            w = pl.assemble(t, x, [0, 0])"),
    ),
    "another kernel fills it": (
        GIVEN,
        (MAIN, FILL + MAIN),
        (CREATE, "t = pl.create_tensor([16, 32], dtype=pl.FP32)\n            w = self.fill(x, t)"),
    ),
    "another kernel fills it and what is written": (
        GIVEN,
        (MAIN, FILL_TWO + MAIN),
        (CREATE, "t = pl.create_tensor([16, 32], dtype=pl.FP32)\n            w, v = self.fill(x, t, o)"),
        retyped(CALL, "s, o", "s, v"),
    ),
    "a submit fills it": (
        GIVEN,
        (MAIN, FILL + MAIN),
        (CREATE, "t = pl.create_tensor([16, 32], dtype=pl.FP32)\n            w, task = pl.submit(self.fill, x, t)"),
    ),
    "one of two that were created, by a branch": (
        (
            CREATE,
            "\n            ".join(
                (
                    "a = pl.create_tensor([16, 32], dtype=pl.FP32)",
                    "b = pl.create_tensor([16, 32], dtype=pl.FP32)",
                    "if 1 > 0:",
                    "    w = pl.yield_(a)",
                    "else:",
                    "    w = pl.yield_(b)",
                )
            ),
        ),
    ),
    "it went through a loop": (
        GIVEN,
        (MAIN, FILL + MAIN),
        (
            CREATE,
            "\n            ".join(
                (
                    "t = pl.create_tensor([16, 32], dtype=pl.FP32)",
                    "for k, (c,) in pl.range(2, init_values=(t,)):",
                    "    d = self.fill(x, c)",
                    "    w = pl.yield_(d)",
                )
            ),
        ),
    ),
    "it is passed twice, and written by neither": (
        (STREAMED, f"{STREAMED}\n            x: pl.Tensor[[16, 32], pl.FP32],"),
        retyped(CALL, "s,", "s, w,"),
    ),
    "the kernel writes another one that was created": (
        before(CREATE, "v = pl.create_tensor([16, 64], dtype=pl.FP32)"),
        retyped(CALL, "s, o", "s, v"),
    ),
    "it is launched twice, safely both times": (before(CALL, "first = self.kernel(w, s, o)"),),
    "numbers do not matter": (
        (STREAMED, f"{STREAMED}\n            rows: pl.Scalar[pl.INDEX],"),
        (TAKEN, TAKEN.replace("self, s", "self, rows: pl.Scalar[pl.INDEX], s")),
        retyped(CALL, "s,", "s, rows,"),
    ),
    "it is launched on several blocks": (retyped(CALL, "o)", 'o, attrs={"core_num": 2})'),),
}


@pytest.mark.parametrize("edits", PROOFS.values(), ids=PROOFS)
def test_the_callers_prove_the_source_safe(edits: tuple[Edit, ...]) -> None:
    result = resident(STATIONARY, *edits)
    assert depth_of(result.program, "wm") == 0
    assert tilesat.validate(program(STATIONARY, *edits), result.program).ok


UNSAFE: dict[str, tuple[tuple[Edit, ...], str]] = {
    "the other branch is what the kernel writes": (
        (
            (
                CREATE,
                "\n            ".join(
                    (
                        "big = pl.create_tensor([16, 80], dtype=pl.FP32)",
                        "a = pl.create_tensor([16, 32], dtype=pl.FP32)",
                        "b = pl.slice(big, [16, 32], [0, 0])",
                        "v = pl.slice(big, [16, 64], [0, 16])",
                        "if 0 > 1:",
                        "    w = pl.yield_(a)",
                        "else:",
                        "    w = pl.yield_(b)",
                    )
                ),
            ),
            retyped(CALL, "s, o", "s, v"),
        ),
        "main may let the kernel write the same storage",
    ),
    "one launch of two is not safe": (
        (
            before(
                CALL,
                "big = pl.create_tensor([16, 80], dtype=pl.FP32)",
                "x = pl.slice(big, [16, 32], [0, 0])",
                "y = pl.slice(big, [16, 64], [0, 16])",
                "first = self.kernel(x, s, y)",
            ),
            ("            return r\n", "            return first\n"),
        ),
        "main may let the kernel write the same storage",
    ),
    "a function returns what it was given": (
        (
            (
                MAIN,
                """\
        @pl.function(type=pl.FunctionType.Orchestration)
        def same(self, x: pl.Tensor[[16, 80], pl.FP32]) -> pl.Tensor[[16, 80], pl.FP32]:
            return x
"""
                + MAIN,
            ),
            (
                CREATE,
                "\n            ".join(
                    (
                        "big = pl.create_tensor([16, 80], dtype=pl.FP32)",
                        "also = self.same(big)",
                        "w = pl.slice(big, [16, 32], [0, 0])",
                        "v = pl.slice(also, [16, 64], [0, 16])",
                    )
                ),
            ),
            retyped(CALL, "s, o", "s, v"),
        ),
        "main may let the kernel write the same storage",
    ),
    "a function returns twice what it created": (
        (
            (
                MAIN,
                """\
        @pl.function(type=pl.FunctionType.Orchestration)
        def make(self) -> tuple[pl.Tensor[[16, 32], pl.FP32], pl.Tensor[[16, 64], pl.FP32]]:
            big = pl.create_tensor([16, 80], dtype=pl.FP32)
            x = pl.slice(big, [16, 32], [0, 0])
            y = pl.slice(big, [16, 64], [0, 16])
            return x, y
"""
                + MAIN,
            ),
            (CREATE, "w, v = self.make()"),
            retyped(CALL, "s, o", "s, v"),
        ),
        "main may let the kernel write the same storage",
    ),
    "a function returns its own result": (
        (
            (
                MAIN,
                """\
        @pl.function(type=pl.FunctionType.Orchestration)
        def again(self, x: pl.Tensor[[16, 32], pl.FP32]) -> pl.Tensor[[16, 32], pl.FP32]:
            y = self.again(x)
            return y
"""
                + MAIN,
            ),
            (CREATE, "t = pl.create_tensor([16, 32], dtype=pl.FP32)\n            w = self.again(t)"),
        ),
        "main passes it storage that is not known",
    ),
}


@pytest.mark.parametrize(("edits", "reason"), UNSAFE.values(), ids=UNSAFE)
def test_the_callers_do_not_prove_it(edits: tuple[Edit, ...], reason: str) -> None:
    result = resident(STATIONARY, *edits)
    assert depth_of(result.program, "wm") == 1
    assert any(reason in decision.text for decision in stays(result))


@pytest.mark.parametrize(
    "name",
    [
        "the other branch is what the kernel writes",
        "one launch of two is not safe",
        "a function returns what it was given",
        "a function returns twice what it created",
    ],
)
def test_it_would_do_harm(name: str) -> None:
    """These programs compute something else when nobody looks for overlapping storage."""
    edits, _ = UNSAFE[name]
    rules = tilesat.preset("reference").without("evidence-overlap", "evidence-source-elsewhere")
    result = resident(STATIONARY, *edits, rules=rules)
    assert tilesat.validate(program(STATIONARY, *edits), result.program).difference is not None


def test_functions_that_differ_in_name_only_are_told_apart_by_their_callers() -> None:
    """One of two equal kernels is launched safely; the other is launched with a tensor from outside."""
    start, end = STATIONARY.index("        @pl.function(type=pl.FunctionType.InCore)"), STATIONARY.index(MAIN)
    other = STATIONARY[start:end].replace("def kernel(", "def other(")
    edits = (
        (MAIN, other + MAIN),
        retyped(TAKEN, "self, s", "self, x: pl.Tensor[[16, 32], pl.FP32], s"),
        before(CALL, "early = self.other(x, s, o)"),
    )
    result = resident(STATIONARY, *edits)
    assert depth_of(result.program, "wm", "kernel") == 0
    assert depth_of(result.program, "wm", "other") == 1
    assert {d.function for d in result.decisions if d.kind == "stays" and d.subject == "wm"} == {"other"}


def test_functions_that_differ_in_name_only_are_decided_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten copies of the kernel, launched alike: one is looked at."""
    start, end = STATIONARY.index("        @pl.function(type=pl.FunctionType.InCore)"), STATIONARY.index(MAIN)
    copies = [STATIONARY[start:end].replace("def kernel(", f"def copy{k}(") for k in range(9)]
    launches = before(CALL, *(f"r{k} = self.copy{k}(w, s, o)" for k in range(9)))
    looked_at: list[ResidencyCollector] = []

    def collect(*arguments: object) -> ResidencyCollector:
        looked_at.append(ResidencyCollector(*arguments))  # type: ignore[arg-type]
        return looked_at[-1]

    monkeypatch.setattr("tilesat.bridge.residency.ResidencyCollector", collect)
    result = resident(STATIONARY, (MAIN, "".join(copies) + MAIN), launches)
    assert len(looked_at) == 1
    names = ["kernel", *(f"copy{k}" for k in range(9))]
    assert [depth_of(result.program, "wm", name) for name in names] == [0] * 10
    assert {d.function for d in result.decisions if d.kind == "resident"} == set(names)
