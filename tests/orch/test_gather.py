"""Pattern 3: a loop that gathers blocks in a tile stores each block instead (ORC-3-01)."""

from __future__ import annotations

import pytest

import tilesat
from tests.orch.texts import becomes, function, main, optimized, program, said, stays
from tilesat.bridge.orch import run_patterns
from tilesat.bridge.orch_stage import OrchContext
from tilesat.ir.nodes import Program
from tilesat.rules.catalogue import preset
from tilesat.rules.orch_gather import DOCUMENTED_FORMS
from tilesat.rules.rule import RuleSet

FILL = "fill(x: S, o: pl.Out[S]) -> S"
RUN = main("run(x: S, y: pl.Out[S]) -> S", "r = self.fill(x, y)\nreturn r")
GATHER = """
z: T = pl.tile.create([8, 16], dtype=pl.FP32, target_memory=pl.Mem.Vec)
for j, (acc,) in pl.range(2, init_values=(z,)):
    r = j * 4
    b = pl.load(x, [r, 0], [4, 16])
    n = pl.tile.assemble(acc, b, [r, 0])
    f: T = pl.yield_(n)
s = pl.store(f, [0, 0], o)
return s
"""
STREAM = """
for j, (acc,) in pl.range(2, init_values=(o,)):
    r = j * 4
    b = pl.load(x, [r, 0], [4, 16])
    n = pl.store(b, [r, 0], acc)
    f: S = pl.yield_(n)
return f
"""
GATHERED = function(FILL, GATHER)
FORMS = preset("reference").without(*DOCUMENTED_FORMS).renamed("all forms")
"""The reference rules with the forms that the documents do not know."""


def fills(body: str, header: str = FILL, run: str = RUN) -> Program:
    return program(function(header, body), run)


def replaced(*pairs: tuple[str, str]) -> Program:
    """The gathering kernel with parts of its text replaced."""
    text = GATHER
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return fills(text)


# ------------------------------------------------------------------------------- positive


def test_a_gathering_loop_stores_its_blocks() -> None:
    """ORC-3-01: the carry starts from the Out parameter, the tile and the store of the whole are gone."""
    becomes(fills(GATHER), fills(STREAM))


@pytest.mark.parametrize("kind", ["parallel", "pipeline"])
def test_every_kind_of_for(kind: str) -> None:
    """ORC-3-01"""
    options = ", stage=2" if kind == "pipeline" else ""
    loop = f"pl.{kind}(2{options}, init"
    becomes(fills(GATHER.replace("pl.range(2, init", loop)), fills(STREAM.replace("pl.range(2, init", loop)))


def test_the_place_of_the_whole_is_added_to_every_block() -> None:
    """ORC-3-01: the tile is stored two blocks below (O32)."""
    header, run = (
        FILL.replace("Out[S]) -> S", "Out[L]) -> L"),
        main("run(x: S, y: pl.Out[L]) -> L", "r = self.fill(x, y)\nreturn r"),
    )
    becomes(
        fills(GATHER.replace("[0, 0], o", "[8, 16], o"), header, run),
        fills(STREAM.replace("b, [r, 0]", "b, [r + 8, 16]").replace("f: S", "f: L"), header, run),
    )


def test_a_filled_start_that_the_blocks_cover() -> None:
    """ORC-3-01: nobody sees the zeros, so they may go."""
    full = "pl.tile.full([8, 16], dtype=pl.FP32, value=0.0)"
    becomes(replaced(("pl.tile.create([8, 16], dtype=pl.FP32, target_memory=pl.Mem.Vec)", full)), fills(STREAM))


def test_an_init_with_other_uses_stays() -> None:
    """ORC-3-01: the tile that the loop starts from is stored elsewhere, too; it is kept for that."""
    header, run = (
        FILL.replace(") -> S", ", p: pl.Out[S]) -> tuple[S, S]"),
        main(
            "run(x: S, y: pl.Out[S], v: pl.Out[S]) -> tuple[S, S]",
            "t: pl.Tuple[S, S] = self.fill(x, y, v)\nr: S = t[0]\nq: S = t[1]\nreturn r, q",
        ),
    )
    start = ("z: T = pl.tile.full([8, 16], dtype=pl.FP32, value=0.0)\nw = pl.store(z, [0, 0], p)\n",)
    create = "z: T = pl.tile.create([8, 16], dtype=pl.FP32, target_memory=pl.Mem.Vec)\n"
    before = GATHER.replace(create, start[0]).replace("return s", "return s, w")
    becomes(
        fills(before, header, run), fills(start[0] + STREAM.strip("\n").replace("return f", "return f, w"), header, run)
    )


def test_two_gathering_loops() -> None:
    """ORC-3-01: each on its own."""
    header, run = (
        FILL.replace(") -> S", ", p: pl.Out[S]) -> tuple[S, S]"),
        main(
            "run(x: S, y: pl.Out[S], v: pl.Out[S]) -> tuple[S, S]",
            "t: pl.Tuple[S, S] = self.fill(x, y, v)\nr: S = t[0]\nq: S = t[1]\nreturn r, q",
        ),
    )
    second = GATHER
    for name in ("z", "acc", "n", "f", "s", "b", "r", "j"):
        second = second.replace(f"{name}:", f"{name}2:").replace(f"{name} =", f"{name}2 =")
    second = (
        second.replace("for j, (acc,)", "for j2, (acc2,)")
        .replace("(z,)", "(z2,)")
        .replace("= j * 4", "= j2 * 4")
        .replace("(acc, b, [r, 0])", "(acc2, b2, [r2, 0])")
        .replace("yield_(n)", "yield_(n2)")
        .replace("[r, 0], [4", "[r2, 0], [4")
        .replace("store(f, [0, 0], o)", "store(f2, [0, 0], p)")
        .replace("return s", "return s, s2")
    )
    result = optimized(fills(GATHER.replace("return s\n", "") + second.strip("\n"), header, run))
    assert [d.subject for d in result.decisions if d.kind == "stream"] == ["o", "p"]
    assert "tile.assemble" not in str(result.program)


def test_nested_and_guarded_loops() -> None:
    """ORC-3-01: the documents know neither (O38); rewriting them is sound, so the optimal rules may."""
    nested = """
    z: T = pl.tile.create([8, 16], dtype=pl.FP32, target_memory=pl.Mem.Vec)
    for j, (acc,) in pl.range(2, init_values=(z,)):
        for i, (bcc,) in pl.range(2, init_values=(acc,)):
            r = j * 4 + i * 2
            b = pl.load(x, [r, 0], [2, 16])
            n = pl.tile.assemble(bcc, b, [r, 0])
            g: T = pl.yield_(n)
        f: T = pl.yield_(g)
    s = pl.store(f, [0, 0], o)
    return s
    """
    stored = """
    for j, (acc,) in pl.range(2, init_values=(o,)):
        for i, (bcc,) in pl.range(2, init_values=(acc,)):
            r = j * 4 + i * 2
            b = pl.load(x, [r, 0], [2, 16])
            n = pl.store(b, [r, 0], bcc)
            g: S = pl.yield_(n)
        f: S = pl.yield_(g)
    return f
    """
    stays(fills(nested), "the blocks are gathered in nested loops")
    becomes(fills(nested), fills(stored), FORMS)


# ------------------------------------------------------------------------------- negative


def test_while_stays() -> None:
    """ORC-3-01, negative: ``for`` only."""
    stays(
        fills(
            """
            z: T = pl.tile.create([8, 16], dtype=pl.FP32, target_memory=pl.Mem.Vec)
            for (j, acc) in pl.while_(init_values=(0, z)):
                pl.cond(j < 2)
                b = pl.load(x, [j * 4, 0], [4, 16])
                n = pl.tile.assemble(acc, b, [j * 4, 0])
                k, f = pl.yield_(j + 1, n)
            s = pl.store(f, [0, 0], o)
            return s
            """
        )
    )


GUARDED = """
z: T = {init}
for j, (acc,) in pl.range(2, init_values=(z,)):
    b = pl.load(x, [j * 4, 0], [4, 16])
    if j == 0:
        n0: T = pl.tile.assemble(acc, b, [0, 0])
        n: T = pl.yield_(n0)
    else:
        n: T = pl.yield_(acc)
    f: T = pl.yield_(n)
s = pl.store(f, [0, 0], o)
return s
"""
FULL = "pl.tile.full([8, 16], dtype=pl.FP32, value=0.0)"
CREATE = "pl.tile.create([8, 16], dtype=pl.FP32, target_memory=pl.Mem.Vec)"
IO = main("run(x: pl.InOut[S]) -> S", "r = self.fill(x, x)\nreturn r")
EXP = "    e = pl.exp(acc)\n    q = pl.store(e, [0, 0], p)\n    f: T"

NEGATIVE = {
    "keep-filled-start": (replaced((CREATE, FULL), ("pl.range(2", "pl.range(1")), "starts with data"),
    "keep-uncovered-start": (replaced(("pl.range(2", "pl.range(1")), "the blocks may not cover the tile"),
    "keep-other-use": (
        replaced(("s = pl.store(f", "t = pl.exp(f)\nu = pl.store(t, [0, 0], o)\ns = pl.store(f")),
        "the gathered tile has another reader",
    ),
    "keep-read-between": (
        # x and o are one buffer: the other half of x is read after a block of o would have been stored.
        program(function(FILL, GATHER.replace("load(x, [r, 0]", "load(x, [4 - r, 0]")), IO),
        "an input that may be the same buffer is read after a block",
    ),
    "keep-written-between": (
        program(
            function(
                FILL.replace(") -> S", ", p: pl.InOut[S]) -> tuple[S, S]"),
                GATHER.replace("s = pl.store", "w = pl.store(b0, [0, 0], p)\ns = pl.store")
                .replace("z: T", "a0 = pl.load(x, [0, 0], [8, 16])\nb0 = pl.exp(a0)\nz: T", 1)
                .replace("return s", "return s, w"),
            ),
            main(
                "run(x: S, y: pl.InOut[S]) -> tuple[S, S]",
                "t: pl.Tuple[S, S] = self.fill(x, y, y)\nr: S = t[0]\nq: S = t[1]\nreturn r, q",
            ),
        ),
        "is written before the tile is stored",
    ),
    "same-buffer-arguments": (
        program(function(FILL, GATHER.replace("load(x, [r, 0]", "load(x, [4 - r, 0]")), IO),
        "an input that may be the same buffer is read after a block",
    ),
}


@pytest.mark.parametrize("rule", NEGATIVE)
def test_conditions(rule: str) -> None:
    """ORC-3-01, negative: the tile stays, with the reason (O31, O36)."""
    before, reason = NEGATIVE[rule]
    stays(before, reason)


def rewritten(before: Program, rules: RuleSet) -> Program:
    return run_patterns(before, OrchContext(rules), None)


@pytest.mark.parametrize("rule", NEGATIVE)
def test_without_the_condition_the_program_breaks(rule: str) -> None:
    """ORC-3-01: each condition is needed, whatever the form of the loop."""
    before, _ = NEGATIVE[rule]
    after = rewritten(before, FORMS.without(rule))
    assert not tilesat.structural_equal(before, after)
    assert not tilesat.validate(before, after).ok


@pytest.mark.parametrize(("init", "reason"), [(FULL, "starts with data"), (CREATE, "may not cover")])
def test_guarded_blocks(init: str, reason: str) -> None:
    """ORC-3-01, negative: what the guard leaves out would be lost, or undefined."""
    stays(fills(GUARDED.format(init=init)), "a block is assembled under a condition", reason)
    stays(fills(GUARDED.format(init=init)), reason, rules=FORMS)


def test_guarded_blocks_that_all_come() -> None:
    """ORC-3-01: both branches assemble, and together the blocks cover the tile; sound, but no documented form."""
    text = GUARDED.format(init=CREATE).replace(
        "n: T = pl.yield_(acc)", "m: T = pl.tile.assemble(acc, b, [4, 0])\n        n: T = pl.yield_(m)"
    )
    result = optimized(fills(text), FORMS)
    # Which block a trip writes is not known, so nothing is sure to be covered.
    said(result, "the blocks may not cover the tile")


def test_the_tile_read_in_the_loop() -> None:
    """ORC-3-01, negative: the blocks so far are needed on the chip."""
    stays(
        replaced(
            (
                "    n = pl",
                "    e = pl.exp(acc)\n    v = pl.slice(e, [4, 16], [0, 0])\n    w = pl.add(b, v)\n    n = pl",
            )
        )
    )
