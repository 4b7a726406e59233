"""Phase 1: in which space each producer leaves its tile, row by row of the documents' table (INF-P1-01 to -09)."""

from __future__ import annotations

import pytest

from tests.inference.texts import annotations, becomes, function, infer, program
from tests.inference.wishes import ASKS_FOR_MAT, NAMES_NO_SPACE, reference_with
from tilesat.ir.ops import OutputRule, op_table
from tilesat.ir.parser import parse_text
from tilesat.ir.types import MemorySpace

TILE = "pl.Tile[[16, 32], pl.FP32]"
VEC = "pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec]"
MAT = "pl.Tile[[16, 32], pl.FP32, pl.Mem.Mat]"
ACC = "pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc]"


def spaces(body: str, **options: str) -> dict[str, str]:
    return annotations(infer(body, **options))


# ------------------------------------------------------------------------------- INF-P1-01


@pytest.mark.parametrize(
    ("op", "space"), [("tile.matmul_mx_sparse", "Acc"), ("tile.blend", "Vec"), ("tile.mat", "Vec")]
)
def test_an_unknown_op(op: str, space: str) -> None:
    """INF-P1-01: scaled matmuls leave an accumulator, all others a vector; what is annotated does not count."""
    body = f"""
        t: {VEC} = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
        u: {MAT} = pl.{op}(t)
        v: {TILE} = pl.{op}(t)
        r = pl.store(v, [0, 0], o)
        return r
        """
    assert spaces(body)["u"] == spaces(body)["v"] == f"pl.Tile[[16, 32], pl.FP32, pl.Mem.{space}]"


def test_a_known_scaled_matmul_has_its_row() -> None:
    """INF-P1-01, peer behaviour 12.3: the table has matmul_mx, with constraints, so it is not unknown."""
    assert op_table()["tile.matmul_mx"].slot(1) == (MemorySpace.LeftScale,)


# ------------------------------------------------------------------------------- INF-P1-02


@pytest.mark.parametrize(("annotated", "space"), [(MAT, "Mat"), (ACC, "Acc"), (VEC, "Vec"), (TILE, "Vec")])
def test_an_op_without_output_rule_leaves_its_tile_where_it_is_annotated(annotated: str, space: str) -> None:
    """INF-P1-02: a popped tile is where its type says; without a space it is in Vec."""
    found = spaces(f"t: {annotated} = pl.tile.tpop_from_aiv(split=0)\nreturn o")
    assert found["t"] == f"pl.Tile[[16, 32], pl.FP32, pl.Mem.{space}]"


def test_global_memory_is_no_place_for_a_tile() -> None:
    """INF-P1-02: an annotation with DDR counts as none."""
    assert spaces("t: pl.Tile[[16, 32], pl.FP32, pl.Mem.DDR] = pl.tile.tpop_from_aiv(split=0)\nreturn o")["t"] == VEC


# ------------------------------------------------------------------------------- INF-P1-03


def test_a_fixed_output_space() -> None:
    """INF-P1-03: a product is in Acc, a fill in Vec; a wrong annotation is put right."""
    becomes(
        """
        at = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        lt = pl.move(at, target_memory=pl.Mem.Left)
        rt = pl.move(bt, target_memory=pl.Mem.Right)
        m: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.matmul(lt, rt)
        z: pl.Tile[[16, 32], pl.FP32] = pl.tile.full([16, 32], dtype=pl.FP32, value=1.0)
        r = pl.store(m, [0, 0], o)
        t = pl.store(z, [0, 0], q)
        return r, t
        """,
        """
        at = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        lt = pl.move(at, target_memory=pl.Mem.Left)
        rt = pl.move(bt, target_memory=pl.Mem.Right)
        m: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.matmul(lt, rt)
        z: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.full([16, 32], dtype=pl.FP32, value=1.0)
        r = pl.store(m, [0, 0], o)
        t = pl.store(z, [0, 0], q)
        return r, t
        """,
    )


def test_fillpad_is_no_view() -> None:
    """INF-P1-03, peer behaviour 12.3: it computes in Vec and leaves its result there, whatever the documents list."""
    assert op_table()["tile.fillpad"].output_rule is OutputRule.FIXED
    found = spaces(
        """
        at = pl.tile.load(a, [0, 0], [16, 64], [12, 64], target_memory=pl.Mem.Mat)
        f1 = pl.tile.fillpad(at, pad_value=pl.PadValue.zero)
        r = pl.tile.store(f1, [0, 0], wide)
        return o
        """
    )
    assert "pl.Mem.Vec" in found["f1"]
    assert "pl.Mem.Vec" in found["at_Vec"]


# ------------------------------------------------------------------------------- INF-P1-04


@pytest.mark.parametrize("space", ["Vec", "Mat"])
def test_a_keyword_counts(space: str) -> None:
    """INF-P1-04: whatever the consumers want, and whatever is annotated."""
    found = spaces(
        f"""
        t: {TILE} = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.{space})
        e: {TILE} = pl.tile.exp(t)
        r = pl.store(e, [0, 0], o)
        return r
        """
    )
    assert found["t"] == f"pl.Tile[[16, 32], pl.FP32, pl.Mem.{space}]"


def test_the_default_of_the_keyword() -> None:
    """INF-P1-04: move, extract and mgather go to Vec when they do not say where."""
    found = spaces(
        f"""
        t: {MAT} = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        e: {TILE} = pl.tile.move(t)
        f1: pl.Tile[[16, 16], pl.FP32] = pl.tile.extract(t, 0, 0, [16, 16])
        r = pl.store(e, [0, 0], o)
        return r
        """
    )
    assert "pl.Mem.Vec" in found["e"]
    assert "pl.Mem.Vec" in found["f1"]


def test_a_default_is_not_asked_elsewhere() -> None:
    """INF-P1-04, INF-P1-06: demand is for loads and creates only."""
    body = f"""
        t: {MAT} = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        e: {TILE} = pl.tile.move(t)
        u: {TILE} = pl.tile.panel(e)
        r = pl.store(u, [0, 0], o)
        return r
        """
    assert "pl.Mem.Vec" in annotations(infer(body, rules=reference_with(ASKS_FOR_MAT)))["e"]


# ------------------------------------------------------------------------------- INF-P1-05


@pytest.mark.parametrize("space", ["Vec", "Mat"])
@pytest.mark.parametrize(
    "view",
    [
        "pl.tile.slice(t, [16, 32], [0, 0])",
        "pl.tile.reshape(t, [16, 32])",
        "pl.tile.set_validshape(t, 16, 32)",
        "pl.tile.reinterpret_view(t, [16, 32], dtype=pl.FP32)",
        "pl.tile.assemble(t, t2, [0, 0])",
    ],
)
def test_a_view_is_where_its_source_is(view: str, space: str) -> None:
    """INF-P1-05."""
    found = spaces(
        f"""
        t2 = pl.tile.load(y, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.{space})
        t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.{space})
        v: {TILE} = {view}
        return o
        """
    )
    assert f"pl.Mem.{space}" in found["v"]


def test_views_of_views_of_products() -> None:
    """INF-P1-05: the move comes after them, once."""
    becomes(
        """
        lt = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        rt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Vec)
        m = pl.matmul(lt, rt)
        v = pl.tile.reshape(m, [32, 16])
        u = pl.tile.reshape(v, [16, 32])
        e = pl.exp(u)
        r = pl.store(e, [0, 0], o)
        return r
        """,
        """
        lt = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        rt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Vec)
        lt_Left = pl.move(lt, target_memory=pl.Mem.Left)
        rt_Right = pl.move(rt, target_memory=pl.Mem.Right)
        m = pl.matmul(lt_Left, rt_Right)
        v: pl.Tile[[32, 16], pl.FP32, pl.Mem.Acc] = pl.tile.reshape(m, [32, 16])
        u: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.reshape(v, [16, 32])
        u_Vec: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.move(
            u, target_memory=pl.Mem.Vec, blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box)
        e: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.exp(u_Vec)
        r = pl.store(e, [0, 0], o)
        return r
        """,
    )


def test_a_view_without_a_tile_operand_is_in_vec() -> None:
    """INF-P1-05: an element of a tuple is no variable whose space could be known."""
    found = spaces(
        f"""
        pair: pl.Tuple[{TILE}, {TILE}] = pl.tile.two(x)
        v: pl.Tile[[32, 16], pl.FP32] = pl.tile.reshape(pair[0], [32, 16])
        return o
        """
    )
    assert found["v"] == "pl.Tile[[32, 16], pl.FP32, pl.Mem.Vec]"


# ------------------------------------------------------------------------------- INF-P1-06


def test_open_loads_and_creates_go_to_vec() -> None:
    """INF-P1-06: global memory reaches Vec and Mat, so Left and Right are asked in vain; the keyword is written."""
    becomes(
        """
        at: pl.Tile[[16, 64], pl.BF16] = pl.tile.load(a, [0, 0], [16, 64], [16, 64])
        bt: pl.Tile[[64, 32], pl.BF16] = pl.tile.load(b, [0, 0], [64, 32], [64, 32])
        z: pl.Tile[[16, 32], pl.FP32] = pl.tile.create([16, 32], dtype=pl.FP32)
        m: pl.Tile[[16, 32], pl.FP32] = pl.tile.matmul(at, bt)
        r = pl.store(m, [0, 0], o)
        t = pl.store(z, [0, 0], q)
        return r, t
        """,
        """
        at = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Vec)
        bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Vec)
        z = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        at_Left = pl.move(at, target_memory=pl.Mem.Left)
        bt_Right = pl.move(bt, target_memory=pl.Mem.Right)
        m = pl.matmul(at_Left, bt_Right)
        r = pl.store(m, [0, 0], o)
        t = pl.store(z, [0, 0], q)
        return r, t
        """,
    )


@pytest.mark.parametrize(
    "producer",
    ["pl.tile.load(x, [0, 0], [16, 32], [16, 32])", "pl.tile.create([16, 32], dtype=pl.FP32)"],
    ids=["load", "create"],
)
def test_open_producers_go_to_mat_when_that_is_asked(producer: str) -> None:
    """INF-P1-06."""
    body = f"""
        t: {TILE} = {producer}
        u: {TILE} = pl.tile.panel(t)
        r = pl.store(u, [0, 0], o)
        return r
        """
    result = infer(body, rules=reference_with(ASKS_FOR_MAT))
    assert annotations(result)["t"] == MAT
    assert "target_memory=pl.Mem.Mat" in str(result.program)
    assert annotations(infer(body))["t"] == VEC, "without the wish"


# ------------------------------------------------------------------------------- INF-P1-07


def test_an_output_rule_that_names_no_space() -> None:
    """INF-P1-07: where the first tile operand is, else Vec."""
    found = infer(
        f"""
        t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        u: {TILE} = pl.tile.vague(s, t)
        v: {TILE} = pl.tile.vague(s)
        return o
        """,
        rules=reference_with(NAMES_NO_SPACE),
    )
    assert annotations(found)["u"] == MAT
    assert annotations(found)["v"] == VEC


# ------------------------------------------------------------------------------- INF-P1-08


def test_a_tile_from_outside_the_tile_ops_is_in_vec() -> None:
    """INF-P1-08: a distributed op that yields a tile, whatever its annotation says."""
    found = spaces(
        f"""
        t: {MAT} = pld.tile.remote_load(x, 0, [0, 0], [16, 32])
        u: {TILE} = pl.custom.tile_source(x)
        r = pl.store(t, [0, 0], o)
        return r
        """
    )
    assert found["t"] == found["u"] == VEC


def test_a_tile_from_a_function_call_is_in_vec() -> None:
    """INF-P1-08."""
    helper = function(f"t: {ACC} = pl.tile.tpop_from_aiv(split=0)\nreturn t", kind="AIC", name="g").replace(
        "-> pl.Tensor[[16, 32], pl.FP32]", f"-> {ACC}"
    )
    caller = function(f"t: {ACC} = self.g(x)\nr = pl.store(t, [0, 0], o)\nreturn r")
    before = parse_text(program(helper.replace("def g()", "def g(x: pl.Tensor[[16, 32], pl.FP32])"), caller))
    result = infer(before)
    assert "t: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = self.g(x)" in str(result.program)


# ------------------------------------------------------------------------------- INF-P1-09


def test_an_alias_lives_where_its_source_does() -> None:
    """INF-P1-09: chains too; a copy of the alias serves the alias only (case I20)."""
    becomes(
        """
        at = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        a1: pl.Tile[[16, 64], pl.BF16] = at
        a2: pl.Tile[[16, 64], pl.BF16] = a1
        m = pl.matmul(a2, bt)
        m1: pl.Tile[[16, 32], pl.FP32] = m
        r = pl.store(m1, [0, 0], o)
        return r
        """,
        """
        at = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        a1: pl.Tile[[16, 64], pl.BF16, pl.Mem.Mat] = at
        a2: pl.Tile[[16, 64], pl.BF16, pl.Mem.Mat] = a1
        a2_Left = pl.move(a2, target_memory=pl.Mem.Left)
        bt_Right = pl.move(bt, target_memory=pl.Mem.Right)
        m = pl.matmul(a2_Left, bt_Right)
        m1: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = m
        r = pl.store(m1, [0, 0], o)
        return r
        """,
    )


@pytest.mark.parametrize(("annotated", "space"), [(ACC, "Acc"), (MAT, "Mat"), (TILE, "Vec")])
def test_a_tile_out_of_a_tuple_keeps_its_annotation(annotated: str, space: str) -> None:
    """INF-S-04, case I73: nothing else is known of it; without one it is in Vec."""
    found = spaces(f"pair: pl.Tuple[{TILE}, {annotated}] = pl.tile.two(x)\nt: {annotated} = pair[1]\nreturn o")
    assert found["t"] == f"pl.Tile[[16, 32], pl.FP32, pl.Mem.{space}]"
