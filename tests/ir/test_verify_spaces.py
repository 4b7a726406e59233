"""TileMemoryInferred, CarrySpaces, ViewSpaces: every tile has a space, and its uses accept it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.ir.verifying import (
    ACC,
    CREATE_ACC,
    CREATE_VEC,
    LOAD_MAT,
    LOAD_VEC,
    MAT,
    NO_SPACE,
    TENSOR,
    VEC,
    kernel,
    messages,
    program,
    rewritten,
)
from tilesat.ir.nodes import For, If, Stmt
from tilesat.ir.types import MemorySpace, TileType

# Accumulates in place: init, iter-arg, product and result in Acc.
LEFT = "pl.Tile[[16, 64], pl.FP16, pl.Mem.Left]"
RIGHT = "pl.Tile[[64, 32], pl.FP16, pl.Mem.Right]"
MATMUL = f"""
    a: {LEFT} = pl.tile.create([16, 64], dtype=pl.FP16, target_memory=pl.Mem.Left)
    b: {RIGHT} = pl.tile.create([64, 32], dtype=pl.FP16, target_memory=pl.Mem.Right)
    z: {ACC} = {CREATE_ACC}
    for k, (acc,) in pl.range(4, init_values=(z,)):
        s: {ACC} = pl.tile.matmul_acc(acc, a, b)
        total: {ACC} = pl.yield_(s)
    r: {TENSOR} = pl.tile.store(total, [0, 0], o)
    return r
"""
ALL = ["TileMemoryInferred", "CarrySpaces", "ViewSpaces"]


@pytest.mark.parametrize("check", ALL)
def test_clean(check: str) -> None:
    assert messages(program(kernel(MATMUL)), check) == []


# --------------------------------------------------------------------------- TileMemoryInferred


def inferred(body: str) -> list[str]:
    return messages(program(kernel(body)), "TileMemoryInferred")


def test_every_tile_variable_has_a_space() -> None:
    """INF-S-04."""
    assert inferred(f"t: {NO_SPACE} = {LOAD_VEC}\nreturn o") == [
        "InCore function 'f': TileType variable 't' has no memory_space set"
    ]


def test_so_have_iter_args_and_results() -> None:
    """INF-S-04: the peer's verifier looks at assigned variables only."""

    def forget(stmt: Stmt) -> Stmt:
        if not isinstance(stmt, For):
            return stmt
        bare = TileType((16, 32), "FP32")
        carries = tuple(replace(carry, type=bare) for carry in stmt.carries)
        return replace(stmt, carries=carries, results=tuple(replace(r, type=bare) for r in stmt.results))

    assert messages(rewritten(program(kernel(MATMUL)), forget), "TileMemoryInferred") == [
        "InCore function 'f': TileType variable 'acc' has no memory_space set",
        "InCore function 'f': TileType variable 'total' has no memory_space set",
    ]


def test_operands_live_where_the_op_accepts_them() -> None:
    """INF-S-05: ``tile.exp`` works in Vec, ``tile.store`` takes Vec or Acc."""
    store = f"r: {TENSOR} = pl.tile.store(t, [0, 0], o)"
    assert inferred(f"t: {MAT} = {LOAD_MAT}\ne: {VEC} = pl.tile.exp(t)\n{store}\nreturn r") == [
        "InCore function 'f': Op 'tile.exp' input 0 ('t') requires Vec but is in Mat",
        "InCore function 'f': Op 'tile.store' input 0 ('t') requires Vec/Acc but is in Mat",
    ]


def test_iter_args_are_operands_too() -> None:
    """INF-S-05: the peer's verifier does not see them."""
    assert inferred(MATMUL.replace(f"z: {ACC} = {CREATE_ACC}", f"z: {VEC} = {CREATE_VEC}")) == [
        "InCore function 'f': Op 'tile.matmul_acc' input 0 ('acc') requires Acc but is in Vec"
    ]


def test_a_bare_call_has_operands_too() -> None:
    assert inferred(f"t: {MAT} = {LOAD_MAT}\npl.tile.write(t, [0, 0], 1.0)\nreturn o") == [
        "InCore function 'f': Op 'tile.write' input 0 ('t') requires Vec but is in Mat"
    ]


def test_so_has_a_scalar_read_inside_an_expression() -> None:
    body = f"t: {MAT} = {LOAD_MAT}\nk: pl.Scalar[pl.FP32] = pl.tile.read(t, [0, 0]) * 2.0\nreturn o"
    assert inferred(body) == ["InCore function 'f': Op 'tile.read' input 0 ('t') requires Vec but is in Mat"]


def test_hand_written_core_functions_are_left_alone() -> None:
    """Inference rewrites InCore functions only (peer behaviour, section 6.1)."""
    text = kernel(f"t: {NO_SPACE} = {LOAD_VEC}\nreturn o").replace("InCore", "AIV")
    assert messages(program(text), "TileMemoryInferred") == []


# --------------------------------------------------------------------------------- CarrySpaces


def test_a_loop_carries_in_one_space() -> None:
    """INF-P1-10: the iter-arg has its init's space; product and result are in another."""
    vec_seed = MATMUL.replace(f"z: {ACC} = {CREATE_ACC}", f"z: {VEC} = {CREATE_VEC}")
    assert messages(program(kernel(vec_seed)), "CarrySpaces") == [
        "iter-arg 'acc' is in Vec, but the yielded 's' is in Acc",
        "iter-arg 'acc' is in Vec, but the result 'total' is in Acc",
    ]


def test_an_init_is_where_its_iter_arg_is() -> None:
    def promote(stmt: Stmt) -> Stmt:
        if not isinstance(stmt, For):
            return stmt
        acc = TileType((16, 32), "FP32", MemorySpace.Acc)
        return replace(stmt, carries=tuple(replace(carry, type=acc) for carry in stmt.carries))

    vec_seed = MATMUL.replace(f"z: {ACC} = {CREATE_ACC}", f"z: {VEC} = {CREATE_VEC}")
    assert messages(rewritten(program(kernel(vec_seed)), promote), "CarrySpaces") == [
        "iter-arg 'acc' is in Acc, but its init 'z' is in Vec"
    ]


BRANCH = f"""
    if n < 4:
        a: {VEC} = {LOAD_VEC}
        y: {VEC} = pl.yield_(a)
    else:
        b: {VEC} = {CREATE_VEC}
        y: {VEC} = pl.yield_(b)
    r: {TENSOR} = pl.tile.store(y, [0, 0], o)
    return r
"""


def test_both_branches_give_one_space() -> None:
    """INF-P1-12."""
    assert messages(program(kernel(BRANCH)), "CarrySpaces") == []
    split = BRANCH.replace(f"b: {VEC} = {CREATE_VEC}", f"b: {ACC} = {CREATE_ACC}")
    assert messages(program(kernel(split)), "CarrySpaces") == [
        "result 'y' is in Vec, but the else branch's 'b' is in Acc"
    ]


def test_a_promoted_result_does_not_move_what_the_branches_give() -> None:
    def promote(stmt: Stmt) -> Stmt:
        if not isinstance(stmt, If):
            return stmt
        acc = TileType((16, 32), "FP32", MemorySpace.Acc)
        return replace(stmt, results=tuple(replace(result, type=acc) for result in stmt.results))

    assert messages(rewritten(program(kernel(BRANCH)), promote), "CarrySpaces") == [
        "result 'y' is in Acc, but the then branch's 'a' is in Vec",
        "result 'y' is in Acc, but the else branch's 'b' is in Vec",
    ]


# ---------------------------------------------------------------------------------- ViewSpaces


def views(body: str, **options: str) -> list[str]:
    return messages(program(kernel(body)), "ViewSpaces", **options)


@pytest.mark.parametrize(
    "view",
    [
        "pl.tile.reshape(t, [32, 16])",
        "pl.tile.slice(t, [32, 16], [0, 0])",
        "pl.tile.reinterpret_view(t, [32, 16])",
    ],
)
def test_a_view_is_where_its_source_is(view: str) -> None:
    body = f"t: {ACC} = {CREATE_ACC}\nv: pl.Tile[[32, 16], pl.FP32, pl.Mem.{{space}}] = {view}\nreturn o"
    assert views(body.format(space="Acc")) == []
    assert views(body.format(space="Vec")) == ["'v' is in Vec, but shares the buffer of 't', which is in Acc"]


def test_an_in_place_update_stays_where_it_is() -> None:
    vec_seed = MATMUL.replace(f"z: {ACC} = {CREATE_ACC}", f"z: {VEC} = {CREATE_VEC}")
    assert views(vec_seed) == ["'s' is in Acc, but shares the buffer of 'acc', which is in Vec"]


SOURCE = "pl.Tile[[16, 32], pl.FP32, pl.Mem.{source}]"
WIDE = "pl.Tile[[16, 64], pl.FP32, pl.Mem.{target}]"
ASSEMBLE = f"""
    t: {WIDE} = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.{{target}})
    s: {SOURCE} = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.{{source}})
    j: {WIDE} = pl.tile.assemble(t, s, [0, 32])
    return o
"""


@pytest.mark.parametrize(("source", "target"), [("Vec", "Vec"), ("Mat", "Mat"), ("Acc", "Mat")])
def test_an_assemble_writes_into_its_own_memory_or_over_a_direct_copy(source: str, target: str) -> None:
    assert views(ASSEMBLE.format(source=source, target=target)) == []


@pytest.mark.parametrize(("source", "target"), [("Mat", "Vec"), ("Vec", "Mat"), ("Acc", "Vec"), ("Vec", "Acc")])
def test_an_assemble_makes_no_other_transfer(source: str, target: str) -> None:
    """Only ``tile.move`` becomes a cross-core push (peer behaviour, section 6.5)."""
    assert views(ASSEMBLE.format(source=source, target=target)) == [
        f"'tile.assemble' cannot copy 's' from {source} into 't' in {target}"
    ]


def test_which_copies_are_direct_depends_on_the_chip() -> None:
    body = ASSEMBLE.format(source="Vec", target="Mat")
    assert len(views(body, hardware="910b")) == 1
    assert views(body, hardware="950") == []
