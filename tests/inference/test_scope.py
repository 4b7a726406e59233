"""What the pass touches, requires and leaves behind (INF-S)."""

from __future__ import annotations

from dataclasses import replace

import pytest

import tilesat
from tests.corpus import kernel as corpus_kernel
from tests.inference.texts import annotations, body_of, function, infer, kernel, program, unchanged
from tilesat.diagnostics import errors
from tilesat.ir.verify import INPUT_PROPERTIES

OPEN = """
at: pl.Tile[[16, 64], pl.BF16] = pl.tile.load(a, [0, 0], [16, 64], [16, 64])
bt: pl.Tile[[64, 32], pl.BF16] = pl.tile.load(b, [0, 0], [64, 32], [64, 32])
m: pl.Tile[[16, 32], pl.FP32] = pl.tile.matmul(at, bt)
r: pl.Tensor[[16, 32], pl.FP32] = pl.tile.store(m, [0, 0], o)
return r
"""
"""A kernel in which nothing has a space yet."""

HOST = """
# The loop stays as it is written.
t: pl.Tensor[[16, 32], pl.FP32] = pl.tensor.create([16, 32], dtype=pl.FP32, layout=pl.TensorLayout.ND)
for i, (c,) in pl.range(0, n, 2, init_values=(t,)):
    d: pl.Tensor[[16, 32], pl.FP32] = self.f(a, b, c)
    e: pl.Tensor[[16, 32], pl.FP32] = pl.yield_(d)
return e
"""


# --------------------------------------------------------------------------------- INF-S-01


def test_orchestration_comes_back_to_the_byte() -> None:
    """INF-S-01: comments, keywords and names included; the kernel that it calls is rewritten."""
    host = function(HOST, kind="Orchestration", name="main", params=f"self, {_params(HOST)}")
    before = tilesat.parse(program(host, function(OPEN)))
    result = tilesat.infer_tile_memory_space(before)
    assert result.program.functions[0] is before.functions[0]
    assert body_of(result.program, "main") == body_of(before, "main")
    assert "# The loop stays as it is written." in body_of(result.program, "main")
    assert "tile.move" in body_of(result.program)
    assert {decision.function for decision in result.decisions} == {"f"}


@pytest.mark.parametrize("kind", ["Opaque", "AIC", "AIV", "Spmd", "Group"])
def test_only_incore_is_rewritten(kind: str) -> None:
    """INF-S-01: not even hand-written core functions, whose tiles are where their author wants them."""
    before = tilesat.parse(program(function(OPEN, kind=kind)))
    result = tilesat.infer_tile_memory_space(before)
    assert result.program == before
    assert str(result.program) == str(before)
    assert result.decisions == ()
    assert "tile.move" in body_of(infer(OPEN))


def test_a_kernel_without_tiles_comes_back_as_it_is() -> None:
    """INF-S-01."""
    before = kernel("pl.tensor.write(o, [0, 0], s)\nreturn o")
    assert tilesat.infer_tile_memory_space(before).program == before


def test_lines_around_the_program_survive() -> None:
    """INF-S-01."""
    head = '# A remark.\nROWS = pl.dynamic("ROWS")\nimport helpers\n'
    before = tilesat.parse(program(function(OPEN), head=head))
    after = tilesat.infer_tile_memory_space(before).program
    assert str(after).split("@pl.program")[0] == str(before).split("@pl.program")[0]


# --------------------------------------------------------------------------------- INF-S-02

WITH_TILE = "t: pl.Tile[[16, 32], pl.FP32], o: pl.Out[pl.Tensor[[16, 32], pl.FP32]]"


def test_a_tile_parameter_is_refused() -> None:
    """INF-S-02: by function and parameter."""
    before = kernel("r = pl.store(t, [0, 0], o)\nreturn r", params=WITH_TILE)
    with pytest.raises(tilesat.VerifyError) as caught:
        tilesat.infer_tile_memory_space(before)
    message = str(caught.value)
    assert "InCore function 'f': parameter 't' has a tile type, but kernels take tensors and scalars" in message


def test_a_tile_parameter_outside_kernels_is_not_our_business() -> None:
    """INF-S-02."""
    before = tilesat.parse(program(function("r = pl.store(t, [0, 0], o)\nreturn r", kind="AIV", params=WITH_TILE)))
    assert tilesat.infer_tile_memory_space(before).program == before


# --------------------------------------------------------------------------------- INF-S-03


def ssa_violated() -> tilesat.Program:
    (f,) = kernel(OPEN).functions
    return replace(kernel(OPEN), functions=(replace(f, body=(f.body[0], *f.body)),))


VIOLATIONS = {
    "SSAForm": (ssa_violated, "'at' is bound more than once"),
    "IncoreTileOps": (
        lambda: kernel("t = pl.tensor.add(x, y)\nreturn t"),
        "computes on tensors with 'tensor.add'; kernels use 'tile.add'",
    ),
    "SplitIncoreOrch": (
        lambda: tilesat.parse(program(function(OPEN, kind="Orchestration"))),
        "Orchestration function 'f' binds the tile 'at'",
    ),
    "NormalizedStmtStructure": (
        lambda: kernel("r = pl.store(pl.exp(pl.load(x, [0, 0], [16, 32])), [0, 0], o)\nreturn r"),
        "stands inside another expression",
    ),
}


@pytest.mark.parametrize("name", VIOLATIONS)
def test_input_that_violates_a_property_is_refused(name: str) -> None:
    """INF-S-03: the property, the function, and the statement are named."""
    make, reason = VIOLATIONS[name]
    with pytest.raises(tilesat.VerifyError) as caught:
        tilesat.infer_tile_memory_space(make())
    message = str(caught.value)
    assert f"the program violates {name}" in message
    assert f"{name}: function 'f': " in message
    assert reason in message
    assert " = pl." in message, "the statement is shown"


def test_all_required_properties_have_a_violation() -> None:
    """INF-S-03."""
    assert set(VIOLATIONS) == set(INPUT_PROPERTIES)


def test_nothing_is_half_rewritten() -> None:
    """INF-S-03: a bad function keeps the pass from starting on the good one before it."""
    bad = replace(ssa_violated().functions[0], name="g")
    both = replace(kernel(OPEN), functions=(*kernel(OPEN).functions, bad))
    started: list[str] = []
    with pytest.raises(tilesat.VerifyError, match="function 'g'"):
        tilesat.infer_tile_memory_space(both, progress=lambda done, name: started.append(name))
    assert started == []


# ----------------------------------------------------------------------- INF-S-04, INF-S-05

EVERY_BINDING = """
at: pl.Tile[[16, 64], pl.BF16] = pl.tile.load(a, [0, 0], [16, 64], [16, 64])
bt: pl.Tile[[64, 32], pl.BF16] = pl.tile.load(b, [0, 0], [64, 32], [64, 32])
z: pl.Tile[[16, 32], pl.FP32] = pl.tile.create([16, 32], dtype=pl.FP32)
for i, (acc,) in pl.range(2, init_values=(z,)):
    m: pl.Tile[[16, 32], pl.FP32] = pl.tile.matmul_acc(acc, at, bt)
    last: pl.Tile[[16, 32], pl.FP32] = pl.yield_(m)
if n > 0:
    e: pl.Tile[[16, 32], pl.FP32] = pl.tile.exp(last)
    u: pl.Tile[[16, 32], pl.FP32] = pl.yield_(e)
else:
    u: pl.Tile[[16, 32], pl.FP32] = pl.yield_(last)
v: pl.Tile[[16, 32], pl.FP32] = u
r: pl.Tensor[[16, 32], pl.FP32] = pl.tile.store(v, [0, 0], o)
return r
"""


def test_every_tile_has_a_space() -> None:
    """INF-S-04: assigned, carried, yielded and aliased ones."""
    result = infer(EVERY_BINDING)
    typed = {name: type_ for name, type_ in annotations(result).items() if type_.startswith("pl.Tile")}
    assert typed.keys() >= {"at", "bt", "z", "m", "last", "e", "u"}
    assert [name for name, type_ in typed.items() if "pl.Mem." not in type_] == []
    assert errors(tilesat.verify(result.program, properties=("TileMemoryInferred", "CarrySpaces"))) == ()


def test_a_tile_without_a_space_is_found_without_running_the_pass() -> None:
    """INF-S-04: the first invariant, usable alone."""
    found = [d.message for d in errors(tilesat.verify(kernel(OPEN), properties=("TileMemoryInferred",)))]
    assert found[:1] == ["InCore function 'f': TileType variable 'at' has no memory_space set"]


def test_an_operand_in_the_wrong_space_is_found_without_running_the_pass() -> None:
    """INF-S-05: the second invariant, usable alone; a program that keeps it passes."""
    body = """
    at = pl.load(a, [0, 0], [16, 64], target_memory=pl.Mem.Mat)
    bt = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
    m = pl.matmul(at, bt)
    r = pl.store(m, [0, 0], o)
    return r
    """
    found = [d.message for d in errors(tilesat.verify(kernel(body), properties=("TileMemoryInferred",)))]
    assert found == [
        "InCore function 'f': Op 'tile.matmul' input 0 ('at') requires Left but is in Mat",
        "InCore function 'f': Op 'tile.matmul' input 1 ('bt') requires Right but is in Mat",
    ]
    assert errors(tilesat.verify(infer(body).program, properties=("TileMemoryInferred",))) == ()


# --------------------------------------------------------------------------------- INF-S-06


@pytest.mark.parametrize("body", [OPEN, EVERY_BINDING], ids=["open", "every binding"])
def test_what_is_done_stays_done(body: str) -> None:
    """INF-S-06: the second run decides spaces only, those that are there, and writes the same bytes."""
    once = infer(body).program
    twice = tilesat.infer_tile_memory_space(once)
    assert str(twice.program) == str(once)
    assert {decision.kind for decision in twice.decisions} == {"space"}
    assert [decision.text for decision in twice.decisions if "(was" in decision.text] == []


def test_a_finished_vector_kernel_is_left_alone() -> None:
    """INF-S-06."""
    unchanged(
        """
        xt = pl.load(x, [0, 0], [16, 32], target_memory=pl.Mem.Vec)
        e = pl.exp(xt)
        r = pl.store(e, [0, 0], o)
        return r
        """
    )


def test_a_whole_kernel_stays_done() -> None:
    """INF-S-06 with a chip; all kernels and cases: tests/bridge/test_reference_corpus.py."""
    once = tilesat.infer_tile_memory_space(corpus_kernel("seeded_mix", "infer_before"), hardware="910b").program
    assert str(tilesat.infer_tile_memory_space(once, hardware="910b").program) == str(once)


def test_the_same_input_gives_the_same_bytes() -> None:
    """Design, section 3."""
    first, second = infer(EVERY_BINDING), infer(EVERY_BINDING)
    assert str(first.program) == str(second.program)
    assert first.decisions == second.decisions


def _params(body: str) -> str:
    return function(body).split("f(", 1)[1].split(") ->")[0]
