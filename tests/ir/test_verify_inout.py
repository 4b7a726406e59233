"""InOutUseValid: a written buffer is read under its new name. Only ever a warning."""

from __future__ import annotations

from tests.ir.verifying import DATA, LOAD_VEC, TENSOR, VEC, kernel, messages, orchestration, program
from tilesat.ir.parser import parse_text

STEP = kernel(
    f"""
    t: {VEC} = pl.tile.load(st, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
    r: {TENSOR} = pl.tile.store(t, [0, 0], st)
    return r
    """,
    name="step",
    params=f"st: pl.InOut[{TENSOR}]",
)
READ_O = LOAD_VEC.replace("(x,", "(o,")


def inout(*functions: str) -> list[str]:
    return messages(program(*functions), "InOutUseValid")


def test_reading_the_new_name_is_fine() -> None:
    assert inout(STEP, orchestration(f"y: {TENSOR} = self.step(x)\nz: {TENSOR} = self.step(y)\nreturn z")) == []


def test_reading_the_old_name_after_a_call_wrote_it() -> None:
    again = orchestration(f"y: {TENSOR} = self.step(x)\nz: {TENSOR} = self.step(x)\nreturn z")
    assert inout(STEP, again) == ["'x' is read after its buffer was written; 'y' is its new name"]


def test_reading_the_old_name_after_a_store() -> None:
    body = f"t: {VEC} = {LOAD_VEC}\nr: {TENSOR} = pl.tile.store(t, [0, 0], o)\nu: {VEC} = {READ_O}\nreturn r"
    assert inout(kernel(body)) == ["'o' is read after its buffer was written; 'r' is its new name"]


def test_writing_and_returning_the_old_name_are_no_reads() -> None:
    store = f"{TENSOR} = pl.tile.store(t, [0, 0], o)"
    assert inout(kernel(f"t: {VEC} = {LOAD_VEC}\nr: {store}\ns: {store}\nreturn o")) == []


def test_a_bare_store_leaves_no_other_name_to_read() -> None:
    body = f"t: {VEC} = {LOAD_VEC}\npl.tile.store(t, [0, 0], o)\nu: {VEC} = {READ_O}\nreturn o"
    assert inout(kernel(body)) == []


BRANCH = f"""
    t: {VEC} = {LOAD_VEC}
    if n < 4:
        r: {TENSOR} = pl.tile.store(t, [0, 0], o)
        y: {TENSOR} = pl.yield_(r)
    else:
        u: {VEC} = {READ_O}
        s: {TENSOR} = pl.tile.store(u, [0, 0], o)
        y: {TENSOR} = pl.yield_(s)
    return y
"""


def test_a_write_in_one_branch_does_not_reach_the_other() -> None:
    assert inout(kernel(BRANCH)) == []


def test_but_it_reaches_what_follows() -> None:
    late = BRANCH.replace("return y", f"v: {VEC} = {READ_O}\n    return y")
    assert inout(kernel(late)) == ["'o' is read after its buffer was written; 's' is its new name"]


def test_a_loop_that_writes_what_it_carries_wrote_the_init() -> None:
    """Case O07: merging the kernel's buffers overwrites ``init``, which a second loop starts from."""
    before, after = ((DATA / "cases" / "O07" / f"{name}.py").read_text() for name in ("before", "peer_after"))
    assert messages(parse_text(before), "InOutUseValid") == []
    assert messages(parse_text(after), "InOutUseValid") == [
        "'init__ssa_v0' is read after its buffer was written; 'fin' is its new name"
    ]
