"""The verifier as a library call: which properties there are, what `verify` and `require` answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.effort import effort
from tests.ir.verifying import LOAD_MAT, LOAD_VEC, MAT, TENSOR, VEC, kernel, program
from tilesat.diagnostics import Severity
from tilesat.errors import TilesatError, VerifyError
from tilesat.ir.nodes import Const, EvalStmt, For, Function, OpCall, Program, Stmt
from tilesat.ir.verify import (
    DEFAULT_PROPERTIES,
    INPUT_PROPERTIES,
    OUTPUT_PROPERTIES,
    PROPERTIES,
    require,
    verify,
)

CLEAN = kernel(f"""
    t: {VEC} = {LOAD_VEC}
    e: {VEC} = pl.tile.exp(t)
    r: {TENSOR} = pl.tile.store(e, [0, 0], o)
    return r
""")
# exp of a tile in Mat: inference has not run.
UNPLACED = kernel(f"""
    t: {MAT} = {LOAD_MAT}
    e: {VEC} = pl.tile.exp(t)
    r: {TENSOR} = pl.tile.store(e, [0, 0], o)
    return r
""")


def test_a_finished_kernel_has_every_property() -> None:
    assert verify(program(CLEAN), properties=PROPERTIES, hardware="910b", paths="error") == ()


def test_a_finding_names_property_function_and_place() -> None:
    (finding,) = verify(program(UNPLACED), properties=["TileMemoryInferred"])
    assert finding.severity is Severity.ERROR
    assert finding.check == "TileMemoryInferred"
    assert finding.function == "f"
    assert finding.message == "InCore function 'f': Op 'tile.exp' input 0 ('t') requires Vec but is in Mat"
    assert finding.place == f"e: {VEC} = pl.tile.exp(t)"


def test_the_default_set_leaves_out_style_and_hazard_checks() -> None:
    assert set(PROPERTIES) - set(DEFAULT_PROPERTIES) == {"InOutUseValid", "AssignTypeSymmetry"}
    assert set(INPUT_PROPERTIES) < set(PROPERTIES)
    assert set(OUTPUT_PROPERTIES) < set(DEFAULT_PROPERTIES)


def test_require_is_silent_about_a_program_that_has_the_properties() -> None:
    require(program(UNPLACED), INPUT_PROPERTIES)
    require(program(CLEAN), OUTPUT_PROPERTIES)


def test_require_names_the_first_violation() -> None:
    """INF-S-03: the property's name and the place."""
    with pytest.raises(VerifyError) as caught:
        require(program(UNPLACED), OUTPUT_PROPERTIES)
    assert str(caught.value) == (
        "in function 'f': the program violates TileMemoryInferred\n"
        "  TileMemoryInferred: function 'f': InCore function 'f': "
        "Op 'tile.exp' input 0 ('t') requires Vec but is in Mat\n"
        f"      e: {VEC} = pl.tile.exp(t)"
    )


def test_require_shows_at_most_ten_violations() -> None:
    """INF-S-03."""
    exps = "\n".join(f"e{i}: {VEC} = pl.tile.exp(t)" for i in range(13))
    subject = program(kernel(f"t: {MAT} = {LOAD_MAT}\n{exps}\nreturn o"))
    with pytest.raises(VerifyError) as caught:
        require(subject, ["TileMemoryInferred"])
    text = str(caught.value)
    assert text.count("requires Vec") == 10
    assert text.endswith("and 3 more")


def test_warnings_do_not_stop_require() -> None:
    moved = kernel(f"""
        t: {VEC} = {LOAD_VEC}
        r: {TENSOR} = pl.tile.store(t, [0, 0], o)
        again: {VEC} = pl.tile.load(o, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
        return r
    """)
    assert verify(program(moved), properties=["InOutUseValid"])
    require(program(moved), ["InOutUseValid"])


def test_what_is_not_known_is_refused_with_the_choices() -> None:
    subject = program(CLEAN)
    with pytest.raises(TilesatError, match=r"unknown property 'SSA' \(one of SSAForm, "):
        verify(subject, properties=["SSA"])
    with pytest.raises(TilesatError, match=r"unknown hardware 'ascend9' \(one of 910b, 950\)"):
        verify(subject, hardware="ascend9")
    with pytest.raises(TilesatError, match=r"unknown way to report paths 'loud' \(one of 'ignore', "):
        verify(subject, paths="loud")


def test_findings_come_property_by_property_and_function_by_function() -> None:
    subject = program(UNPLACED, UNPLACED.replace("def f(", "def g("))
    found = verify(subject, properties=["TileMemoryInferred", "AssignTypeSymmetry", "SSAForm"])
    assert [(finding.check, finding.function) for finding in found] == [
        ("TileMemoryInferred", "f"),
        ("TileMemoryInferred", "g"),
        ("AssignTypeSymmetry", "f"),
        ("AssignTypeSymmetry", "g"),
    ]


def test_depth_is_no_limit() -> None:
    """Loops nested 1,500 deep: no recursion."""
    body: tuple[Stmt, ...] = (EvalStmt(OpCall("system.bar_all", ())),)
    for depth in range(1500):
        body = (For("range", f"i{depth}", Const(0), Const(2), Const(1), (), body, ()),)
    assert verify(Program("Deep", (Function("f", (), (), body),)), properties=PROPERTIES) == ()


def test_time_grows_with_the_program_only() -> None:
    """Four times the statements, in one function or several, are four times the work."""

    def chain(length: int) -> Program:
        calls = "\n".join(f"e{i + 1}: {VEC} = pl.tile.exp(e{i})" for i in range(length))
        return program(kernel(f"e0: {VEC} = {LOAD_VEC}\n{calls}\nreturn o"))

    small, long = chain(500), chain(2000)
    several = Program("Several", tuple(replace(small.functions[0], name=f"f{i}") for i in range(4)))
    once = effort(lambda: verify(small))
    assert verify(small) == verify(long) == verify(several) == ()
    assert effort(lambda: verify(long)) < 4.2 * once
    assert effort(lambda: verify(several)) < 4.2 * once
