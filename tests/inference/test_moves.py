"""Phases 2 and 3: which moves are needed, where they stand, their names and layouts (INF-P2, INF-P3-02, -03)."""

from __future__ import annotations

import pytest

from tests.inference.texts import annotations, becomes, body_of, infer, unchanged

MAT_OPERANDS = """\
at = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
"""
MOVES = """\
at_Left: pl.Tile[[16, 64], pl.BF16, pl.Mem.Left] = pl.tile.move(at, target_memory=pl.Mem.Left)
bt_Right: pl.Tile[[64, 32], pl.BF16, pl.Mem.Right] = pl.tile.move(bt, target_memory=pl.Mem.Right)
"""
VEC = "pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec]"
ACC = "pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc]"
BOXED = "pl.TileView(blayout=pl.TileLayout.col_major, slayout=pl.TileLayout.row_major)"
PLAIN = "blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box"


# ------------------------------------------------------------------------------- INF-P2-01


def test_an_operand_outside_its_allowed_spaces_is_moved_to_the_first() -> None:
    """INF-P2-01: matmul_acc names Acc, Left and Right; each operand goes to its own slot's space."""
    becomes(
        MAT_OPERANDS
        + """
m = pl.tile.matmul(at, bt)
m2 = pl.tile.matmul_acc(m, at, bt)
r = pl.store(m2, [0, 0], o)
return r
""",
        MAT_OPERANDS
        + MOVES
        + f"""
m: {ACC} = pl.tile.matmul(at_Left, bt_Right)
m2: {ACC} = pl.tile.matmul_acc(m, at_Left, bt_Right)
r = pl.store(m2, [0, 0], o)
return r
""",
    )


def test_an_operand_in_any_allowed_space_stays() -> None:
    """INF-P2-01: a store takes Vec and Acc."""
    unchanged(
        MAT_OPERANDS
        + """
lt = pl.move(at, target_memory=pl.Mem.Left)
rt = pl.move(bt, target_memory=pl.Mem.Right)
m = pl.tile.matmul(lt, rt)
v = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
r = pl.store(m, [0, 0], o)
t = pl.store(v, [0, 0], q)
return r, t
"""
    )


def test_a_store_stays_in_acc_even_if_another_consumer_wants_vec() -> None:
    """INF-P2-01, design section 7: each slot is asked for itself (cases I61, I80); the peer moves for the store too."""
    body = body_of(infer(f"{MAT_OPERANDS}m = pl.matmul(at, bt)\ne = pl.exp(m)\nr = pl.store(m, [0, 0], o)\nreturn r"))
    assert "tile.store(m, " in body
    assert "tile.exp(m_Vec)" in body


@pytest.mark.parametrize("space", ["Mat", "Left"])
def test_a_store_of_what_is_in_neither_space_reads_a_vec_copy(space: str) -> None:
    """INF-P2-01: Vec is the first that a store names."""
    source = "at" if space == "Mat" else "lt"
    body = body_of(
        infer(
            f"{MAT_OPERANDS}lt = pl.move(at, target_memory=pl.Mem.Left)\n"
            f"r = pl.tile.store({source}, [0, 0], wide)\nreturn o"
        )
    )
    assert f"pl.tile.store({source}_Vec, " in body


def test_a_bare_effect_is_a_consumer_too() -> None:
    """INF-P2-01: calls that bind nothing (case I79), and ops that give a scalar (case I51)."""
    body = body_of(
        infer(
            f"{MAT_OPERANDS}m = pl.matmul(at, bt)\nk = pl.tile.read(m, [0, 0])\n"
            "pl.tile.store(at, [0, 0], wide)\nr = pl.store(m, [0, 0], o)\nreturn r"
        )
    )
    assert "pl.tile.read(m_Vec, [0, 0])" in body
    assert "\npl.tile.store(at_Vec, [0, 0], wide)" in body


@pytest.mark.parametrize(
    ("operands", "moves"),
    [
        ("at, bt, cv", ["cv_Mat = cv to Mat", "cv_Bias = cv_Mat to Bias"]),
        ("at, bt, cm", ["cm_Bias = cm to Bias"]),
    ],
    ids=["from Vec", "from Mat"],
)
def test_where_no_direct_move_exists_there_are_stops(operands: str, moves: list[str]) -> None:
    """INF-P2-01, design section 7: Vec reaches Bias over Mat only (case I29)."""
    result = infer(
        f"""
        at = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        cv = pl.tile.load(bias, [0, 0], [1, 32], [1, 32], target_memory=pl.Mem.Vec)
        cm = pl.tile.load(bias, [0, 0], [1, 32], [1, 32], target_memory=pl.Mem.Mat)
        m = pl.tile.matmul_bias({operands})
        r = pl.store(m, [0, 0], o)
        return r
        """
    )
    made = [d.text.replace("move of ", "") for d in result.decisions if d.kind == "move" and d.subject.startswith("c")]
    assert made == moves


def test_a_product_reaches_the_cube_again_over_mat() -> None:
    """INF-P2-01, design section 7: Acc to Left and Right share the stop (case I28)."""
    result = infer(
        """
        pt = pl.tile.load(p, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Mat)
        m = pl.tile.matmul(pt, pt)
        m2 = pl.tile.matmul(m, m)
        r = pl.store(m2, [0, 0], o)
        return o
        """
    )
    made = [d.text for d in result.decisions if d.kind == "move" and "of m" in d.text]
    assert made == ["m_Mat = move of m to Mat", "m_Left = move of m_Mat to Left", "m_Right = move of m_Mat to Right"]


def test_a_block_is_brought_to_the_tile_it_is_written_into() -> None:
    """INF-P2-01: assemble names no spaces, but a Mat block cannot be written into a Vec tile (case I60)."""
    becomes(
        f"""
        box = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
        block = pl.tile.load(y, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Mat)
        put: {VEC} = pl.tile.assemble(box, block, [0, 16])
        r = pl.store(put, [0, 0], o)
        return r
        """,
        f"""
        box = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
        block = pl.tile.load(y, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Mat)
        block_Vec = pl.tile.move(block, target_memory=pl.Mem.Vec)
        put: {VEC} = pl.tile.assemble(box, block_Vec, [0, 16])
        r = pl.store(put, [0, 0], o)
        return r
        """,
    )


def test_a_product_is_written_into_mat_directly() -> None:
    """INF-P2-01: Acc to Mat is a way of the hardware."""
    unchanged(
        """
        at = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
        bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        box = pl.tile.create([16, 64], dtype=pl.FP32, target_memory=pl.Mem.Mat)
        lt = pl.move(at, target_memory=pl.Mem.Left)
        rt = pl.move(bt, target_memory=pl.Mem.Right)
        m = pl.tile.matmul(lt, rt)
        put = pl.tile.assemble(box, m, [0, 0])
        return o
        """
    )


# ------------------------------------------------------------------- INF-P2-02, INF-P3-02


def test_a_move_stands_directly_before_its_first_consumer() -> None:
    """INF-P3-02: not at the definition, and each for itself (case I04)."""
    body = body_of(
        infer(
            MAT_OPERANDS
            + """
v = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
e = pl.exp(v)
m = pl.matmul(at, bt)
t = pl.exp(e)
m2 = pl.tile.matmul_acc(m, at, bt)
r = pl.store(m2, [0, 0], o)
return r
"""
        )
    )
    lines = [line.split(":")[0] for line in body.splitlines()]
    assert lines == ["at", "bt", "v", "e", "at_Left", "bt_Right", "m", "t", "m2", "r", "return r"]


def test_moves_of_one_call_stand_in_the_order_of_its_operands() -> None:
    """INF-P3-02."""
    body = body_of(infer(f"{MAT_OPERANDS}m = pl.matmul(at, bt)\nreturn o"))
    assert body.index("at_Left") < body.index("bt_Right") < body.index("m: ")


def test_one_tile_in_two_slots_needs_two_moves() -> None:
    """INF-P2-02 (case I05): the target belongs to the key."""
    body = body_of(infer("pt = pl.load(p, [0, 0], [16, 16])\nm = pl.matmul(pt, pt)\nreturn o"))
    assert "pl.tile.matmul(pt_Left, pt_Right)" in body
    assert body.count("tile.move(pt, ") == 2


def test_one_tile_twice_in_one_space_needs_one_move() -> None:
    """INF-P2-02."""
    body = body_of(infer(f"{MAT_OPERANDS}e = pl.tile.add(at, at)\nreturn o"))
    assert body.count("tile.move(") == 1
    assert "pl.tile.add(at_Vec, at_Vec)" in body


def test_a_move_serves_its_list_and_the_lists_inside() -> None:
    """INF-P2-02 (case I07): one before the loop serves the loop and what follows."""
    body = body_of(
        infer(
            MAT_OPERANDS
            + """
m = pl.matmul(at, bt)
for i in pl.range(2):
    m1 = pl.matmul(at, bt)
    if n > 0:
        m2 = pl.matmul(at, bt)
m3 = pl.matmul(at, bt)
return o
"""
        )
    )
    assert body.count("tile.move(") == 2
    assert body.count("tile.matmul(at_Left, bt_Right)") == 4


def test_a_move_in_a_loop_does_not_serve_what_follows() -> None:
    """INF-P2-02: a list forgets its moves when it ends."""
    body = body_of(
        infer(
            MAT_OPERANDS
            + """
for i in pl.range(2):
    m1 = pl.matmul(at, bt)
m3 = pl.matmul(at, bt)
return o
"""
        )
    )
    assert body.count("tile.move(") == 4
    assert "m3: " in body.split("at_Left_1: ")[1]


def test_sibling_branches_never_share_a_move() -> None:
    """INF-P2-02 (case I08): the else branch would read what only the then branch made."""
    result = infer(
        MAT_OPERANDS
        + """
if n > 0:
    m1 = pl.matmul(at, bt)
    r1 = pl.store(m1, [0, 0], o)
    r2 = pl.yield_(r1)
else:
    m2 = pl.matmul(at, bt)
    r3 = pl.store(m2, [0, 0], o)
    r2 = pl.yield_(r3)
return r2
"""
    )
    then, orelse = body_of(result).split("else:")
    assert then.count("tile.move(") == orelse.count("tile.move(") == 2
    assert "at_Left_1" in orelse
    assert "at_Left," not in orelse, "that one is of the other branch"


def test_a_move_before_the_branch_serves_both() -> None:
    """INF-P2-02 (case I59 has it the other way round)."""
    body = body_of(
        infer(
            MAT_OPERANDS
            + """
m0 = pl.matmul(at, bt)
if n > 0:
    m1 = pl.matmul(at, bt)
else:
    m2 = pl.matmul(at, bt)
return o
"""
        )
    )
    assert body.count("tile.move(") == 2


def test_a_body_of_one_statement_gets_its_move() -> None:
    """INF-P2-01, INF-P2-02, design section 7 (case I63): the body becomes move and consumer."""
    becomes(
        MAT_OPERANDS
        + """
for i in pl.range(4):
    pl.tile.store(at, [0, 0], wide)
return o
""",
        MAT_OPERANDS
        + """
for i in pl.range(4):
    at_Vec = pl.tile.move(at, target_memory=pl.Mem.Vec)
    pl.tile.store(at_Vec, [0, 0], wide)
return o
""",
    )


def test_a_scope_is_no_list_of_its_own() -> None:
    """INF-P2-02: runtime scopes are refused in kernels, so a move cannot be lost in one (INF-S-03)."""
    body = body_of(infer(f"{MAT_OPERANDS}m = pl.matmul(at, bt)\nm2 = pl.matmul(at, bt)\nreturn o"))
    assert body.count("tile.move(") == 2


def test_the_name_of_a_move() -> None:
    """INF-P3-02, peer behaviour 10: the variable and the space, made unique."""
    body = body_of(
        infer(
            MAT_OPERANDS
            + """
at_Left = pl.tile.load(y, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
m = pl.matmul(at, bt)
for i in pl.range(2):
    at_Left_2 = pl.exp(at_Left)
return o
"""
        )
    )
    assert "at_Left_1: pl.Tile[[16, 64], pl.BF16, pl.Mem.Left] = pl.tile.move(at, target_memory=pl.Mem.Left)" in body
    assert "pl.tile.matmul(at_Left_1, bt_Right)" in body


def test_a_yield_and_an_init_are_consumers() -> None:
    """INF-P2-01, INF-P3-02: the move of a carried operand stands before the loop, that of a yield before the yield."""
    body = body_of(
        infer(
            f"""
            z = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
            for i, (c,) in pl.range(2, init_values=(z,)):
                e: {VEC} = pl.tile.exp(c)
                last: {VEC} = pl.yield_(e)
            v = pl.tile.transpose_view(z)
            return o
            """
        )
    )
    assert body.index("z_Vec: ") < body.index("for i")
    assert "init_values=(z_Vec,)" in body


# ------------------------------------------------------------------------------- INF-P3-03


def test_without_a_chip_a_move_says_where_only() -> None:
    """INF-P3-03 (case I45): the copy keeps the boxes of Mat."""
    becomes(
        """
        t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        e = pl.tile.exp(t)
        return o
        """,
        f"""
        t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        t_Vec: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, {BOXED}] = pl.tile.move(t, target_memory=pl.Mem.Vec)
        e: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, {BOXED}] = pl.tile.exp(t_Vec)
        return o
        """,
    )


@pytest.mark.parametrize("hardware", ["910b", "950"])
def test_with_a_chip_a_move_lies_as_its_consumer_asks(hardware: str) -> None:
    """INF-P3-03 (case I45_910B): row-major and without boxes, in the keyword order of the peer."""
    result = becomes(
        """
        t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        e = pl.tile.exp(t)
        return o
        """,
        f"""
        t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        t_Vec: {VEC} = pl.tile.move(t, target_memory=pl.Mem.Vec, {PLAIN})
        e: {VEC} = pl.tile.exp(t_Vec)
        return o
        """,
        hardware=hardware,
    )
    assert f"target_memory=pl.Mem.Vec, {PLAIN})" in str(result.program)


def test_a_consumer_without_a_wish_gets_none() -> None:
    """INF-P3-03: neg is not among the ops with one."""
    found = annotations(
        infer(
            "t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)\ne = pl.tile.neg(t)\nreturn o",
            hardware="910b",
        )
    )
    assert found["t_Vec"] == f"pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, {BOXED}]"


def test_a_move_into_the_cube_lies_as_the_space_does() -> None:
    """INF-P3-03: Left and Right have boxes of their own, whatever the source looks like."""
    result = infer(
        "lt = pl.load(a, [0, 0], [16, 64])\nrt = pl.load(b, [0, 0], [64, 32])\nm = pl.matmul(lt, rt)", hardware="910b"
    )
    assert annotations(result)["lt_Left"] == "pl.Tile[[16, 64], pl.BF16, pl.Mem.Left]"
    assert "tile.move(lt, target_memory=pl.Mem.Left)" in str(result.program)


@pytest.mark.parametrize("hardware", [None, "910b", "950"])
def test_an_accumulator_lands_row_major_without_boxes(hardware: str | None) -> None:
    """INF-P3-03: always, for a consumer with or without a wish."""
    for op in ("exp", "neg"):
        result = infer(f"{MAT_OPERANDS}m = pl.matmul(at, bt)\ne = pl.tile.{op}(m)\nreturn o", hardware=hardware)
        assert annotations(result)["m_Vec"] == annotations(result)["e"] == VEC
        assert f"pl.tile.move(m, target_memory=pl.Mem.Vec, {PLAIN})" in str(result.program)


def test_a_users_own_move_is_left_alone() -> None:
    """INF-P3-03 (case I74): whatever its layout."""
    unchanged(
        f"""
        t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        v: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, {BOXED}] = pl.tile.move(t, target_memory=pl.Mem.Vec)
        e: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, {BOXED}] = pl.tile.exp(v)
        return o
        """,
        hardware="910b",
    )
