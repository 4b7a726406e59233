"""Phase 0: what the consumers of a tile would like (INF-P0).

In the op table no slot asks for Mat first, so for the table's own ops demand never changes a space; the tests use an op
that asks for Mat (:data:`tests.inference.wishes.ASKS_FOR_MAT`) to show what it does, and the cube's ops for what it
must not do.
"""

from __future__ import annotations

import pytest

from tests.inference.texts import annotations, becomes, infer
from tests.inference.wishes import ASKS_FOR_MAT, reference_with

RULES = reference_with(ASKS_FOR_MAT)


def test_the_first_allowed_space_is_the_demand() -> None:
    """INF-P0-01: an open load that is read in Mat is loaded into Mat, and needs no move."""
    becomes(
        """
        t: pl.Tile[[16, 32], pl.FP32] = pl.tile.load(x, [0, 0], [16, 32], [16, 32])
        u: pl.Tile[[16, 32], pl.FP32] = pl.tile.panel(t)
        r = pl.store(u, [0, 0], o)
        return r
        """,
        """
        t: pl.Tile[[16, 32], pl.FP32, pl.Mem.Mat] = pl.tile.load(
            x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        u: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.panel(t)
        r = pl.store(u, [0, 0], o)
        return r
        """,
        rules=RULES,
    )


def test_of_two_allowed_spaces_the_first_counts() -> None:
    """INF-P0-01: a store takes Vec and Acc; Vec comes first."""
    result = infer(
        """
        t: pl.Tile[[16, 32], pl.FP32] = pl.tile.load(x, [0, 0], [16, 32], [16, 32])
        r = pl.store(t, [0, 0], o)
        return r
        """
    )
    assert annotations(result)["t"] == "pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec]"
    (decision,) = [d for d in result.decisions if d.kind == "space"]
    assert "retargetable-demand" in decision.rules


def test_an_operand_without_constraint_demands_nothing() -> None:
    """INF-P0-01: assemble takes its operands where they are."""
    result = infer(
        """
        t: pl.Tile[[16, 32], pl.FP32] = pl.tile.load(x, [0, 0], [16, 32], [16, 32])
        u: pl.Tile[[16, 32], pl.FP32] = pl.tile.load(y, [0, 0], [16, 32], [16, 32])
        v = pl.tile.assemble(t, u, [0, 0])
        return o
        """
    )
    spaces = {d.subject: d.rules for d in result.decisions if d.kind == "space"}
    assert spaces["t"] == spaces["u"] == ("retargetable-default",)


VIEWS = {
    "slice": "pl.tile.slice(t, [16, 32], [0, 0])",
    "reshape": "pl.tile.reshape(t, [32, 16])",
    "set_validshape": "pl.tile.set_validshape(t, 8, 32)",
    "transpose": "pl.tile.transpose(t, 0, 1)",
    "assemble": "pl.tile.assemble(t, src, [0, 0])",
}


@pytest.mark.parametrize("view", VIEWS)
def test_demand_flows_back_through_a_view(view: str) -> None:
    """INF-P0-02: from the result to the first tile operand, and to no other."""
    shape = "[32, 16]" if view in ("reshape", "transpose") else "[16, 32]"
    result = infer(
        f"""
        src: pl.Tile[[16, 32], pl.FP32] = pl.tile.load(y, [0, 0], [16, 32], [16, 32])
        t: pl.Tile[[16, 32], pl.FP32] = pl.tile.load(x, [0, 0], [16, 32], [16, 32])
        v: pl.Tile[{shape}, pl.FP32] = {VIEWS[view]}
        u: pl.Tile[[16, 32], pl.FP32] = pl.tile.panel(v)
        r = pl.store(u, [0, 0], o)
        return r
        """,
        rules=RULES,
    )
    types = annotations(result)
    assert "pl.Mem.Mat" in types["t"]
    assert "pl.Mem.Mat" in types["v"]
    assert "pl.Mem.Vec" in types["src"]


def test_demand_flows_back_through_a_chain() -> None:
    """INF-P0-02: to the fixed point."""
    chain = "\n".join(f"v{i + 1} = pl.tile.slice(v{i}, [16, 32], [0, 0])" for i in range(40))
    result = infer(
        f"v0: pl.Tile[[16, 32], pl.FP32] = pl.tile.load(x, [0, 0], [16, 32], [16, 32])\n{chain}\n"
        "u: pl.Tile[[16, 32], pl.FP32] = pl.tile.panel(v40)\nr = pl.store(u, [0, 0], o)\nreturn r",
        rules=RULES,
    )
    assert {type_ for name, type_ in annotations(result).items() if name.startswith("v")} == {
        "pl.Tile[[16, 32], pl.FP32, pl.Mem.Mat]"
    }


def test_demand_stops_at_an_op_that_makes_a_new_value() -> None:
    """INF-P0-02: what exp reads is not what is asked of exp's result."""
    result = infer(
        """
        t: pl.Tile[[16, 32], pl.FP32] = pl.tile.load(x, [0, 0], [16, 32], [16, 32])
        e: pl.Tile[[16, 32], pl.FP32] = pl.tile.exp(t)
        u: pl.Tile[[16, 32], pl.FP32] = pl.tile.panel(e)
        r = pl.store(u, [0, 0], o)
        return r
        """,
        rules=RULES,
    )
    assert "pl.Mem.Vec" in annotations(result)["t"]


@pytest.mark.parametrize("first", ["vector", "panel"])
def test_of_two_demands_the_one_that_is_not_vec_wins(first: str) -> None:
    """INF-P0-03: whichever comes first."""
    uses = ["u: pl.Tile[[16, 32], pl.FP32] = pl.tile.panel(t)", "e: pl.Tile[[16, 32], pl.FP32] = pl.tile.exp(t)"]
    if first == "vector":
        uses.reverse()
    result = infer(
        "t: pl.Tile[[16, 32], pl.FP32] = pl.tile.load(x, [0, 0], [16, 32], [16, 32])\n"
        + "\n".join(uses)
        + "\nr = pl.store(e, [0, 0], o)\nreturn r",
        rules=RULES,
    )
    types = annotations(result)
    assert "pl.Mem.Mat" in types["t"]
    assert "pl.Mem.Vec" in types["t_Vec"], "the vector op reads a copy"
    assert "t_Mat" not in types


def test_of_two_demands_that_are_not_vec_the_first_consumer_wins() -> None:
    """INF-P0-03, peer behaviour 6.2: Left is asked first and clamps the load to Vec; Mat comes too late."""
    result = infer(
        """
        t: pl.Tile[[16, 64], pl.BF16] = pl.tile.load(a, [0, 0], [16, 64], [16, 64])
        bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        m = pl.matmul(t, bt)
        u: pl.Tile[[16, 64], pl.BF16] = pl.tile.panel(t)
        r = pl.store(m, [0, 0], o)
        return r
        """,
        rules=RULES,
    )
    assert "pl.Mem.Vec" in annotations(result)["t"]


def test_demand_never_overrides_a_keyword() -> None:
    """INF-P0-01, INF-P1-04."""
    result = infer(
        """
        t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
        u: pl.Tile[[16, 32], pl.FP32] = pl.tile.panel(t)
        r = pl.store(u, [0, 0], o)
        return r
        """,
        rules=RULES,
    )
    assert "pl.Mem.Vec" in annotations(result)["t"]
    assert "pl.Mem.Mat" in annotations(result)["t_Mat"]
