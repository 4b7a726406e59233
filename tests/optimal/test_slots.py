"""Carried slots and if results live where that is cheapest, among the spaces that their inputs reach.

Family ``slots``. Every text is interpreted before and after.
"""

from __future__ import annotations

from tests.optimal.texts import OPERANDS, PLAIN, STAGED, becomes


def test_a_slot_may_live_where_none_of_its_inputs_is_made() -> None:
    """The init is in Vec, the product in Acc; in Mat the product stays on the cube's side in every trip. INF-P1-12."""
    loads = (
        OPERANDS
        + """
xt = pl.load(x, [0, 0], [16, 32], target_memory=pl.Mem.Vec)
ct = pl.load(b, [0, 0], [32, 32], target_memory=pl.Mem.Mat)
"""
    )
    result = becomes(
        loads
        + """
for i, (c,) in pl.range(4, init_values=(xt,)):
    m = pl.matmul(at, bt)
    kept = pl.yield_(m)
w = pl.matmul(kept, ct)
r = pl.store(w, [0, 0], o)
return r
""",
        loads
        + "xt_Mat = pl.move(xt, target_memory=pl.Mem.Mat)\n"
        + STAGED
        + """
for i, (c,) in pl.range(4, init_values=(xt_Mat,)):
    m = pl.matmul(at_Left, bt_Right)
    m_Mat = pl.move(m, target_memory=pl.Mem.Mat)
    kept = pl.yield_(m_Mat)
kept_Left = pl.move(kept, target_memory=pl.Mem.Left)
ct_Right = pl.move(ct, target_memory=pl.Mem.Right)
w = pl.matmul(kept_Left, ct_Right)
r = pl.store(w, [0, 0], o)
return r
""",
    )
    assert ("kept lives in Mat", ("slot-elsewhere",)) in [
        (decision.text, decision.rules) for decision in result.decisions
    ]


def test_a_slot_that_hands_its_value_on_lives_where_the_init_can_be_had() -> None:
    """The user moved the product to Vec; it may stay in Acc, as what is handed on is there too. INF-P1-10."""
    loads = OPERANDS + "xt = pl.load(x, [0, 0], [16, 32], target_memory=pl.Mem.Vec)\n"
    loop = """
for i, (c,) in pl.range(4, init_values=(INIT,)):
    r = pl.store(xt, [0, 0], q)
    kept = pl.yield_(c)
z = pl.store(kept, [0, 0], o)
return z
"""
    moved = f"v = pl.move(m, target_memory=pl.Mem.Vec, {PLAIN})"
    becomes(
        loads + "m = pl.matmul(at, bt)\n" + moved + loop.replace("INIT", "v"),
        loads + STAGED + "m = pl.matmul(at_Left, bt_Right)" + loop.replace("INIT", "m"),
    )
