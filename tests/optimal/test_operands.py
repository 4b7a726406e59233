"""Rules that say what an operand may read: each consumer its own space, moves along what the hardware has.

Families ``operands`` and ``placing``. Every text is interpreted before and after.
"""

from __future__ import annotations

import pytest

from tests.inference.texts import body_of
from tests.optimal.test_properties import observed
from tests.optimal.texts import OPERANDS, PLAIN, STAGED, becomes, place, stays
from tilesat.extract.cost import is_cross_core
from tilesat.extract.transfer import Transfer, TransferKind
from tilesat.ir.types import MemorySpace
from tilesat.ir_terms.relations import SPACES

BOTH = ("traffic", "moves")


@pytest.mark.parametrize("cost", BOTH)
def test_a_store_reads_the_accumulator_although_another_consumer_needs_a_copy(cost: str) -> None:
    """Case I43: the copy for ``exp`` is no reason to store from it. INF-P2-01."""
    becomes(
        OPERANDS
        + """
m = pl.matmul(at, bt)
e = pl.exp(m)
r = pl.store(m, [0, 0], o)
z = pl.store(e, [0, 0], q)
return r, z
""",
        OPERANDS
        + STAGED
        + f"""
m = pl.matmul(at_Left, bt_Right)
m_Vec = pl.move(m, target_memory=pl.Mem.Vec, {PLAIN})
e = pl.exp(m_Vec)
r = pl.store(m, [0, 0], o)
z = pl.store(e, [0, 0], q)
return r, z
""",
        cost=cost,
    )


def test_a_store_reads_vec_where_the_tile_is_there() -> None:
    """The other space that a store accepts."""
    stays(
        """
xt = pl.load(x, [0, 0], [16, 32], target_memory=pl.Mem.Vec)
e = pl.exp(xt)
r = pl.store(e, [0, 0], o)
return r
"""
    )


def test_a_copy_that_only_a_store_reads_is_not_made() -> None:
    """The user moved a product to Vec to store it; the store takes it from Acc."""
    becomes(
        OPERANDS
        + f"""
m = pl.matmul(at, bt)
v = pl.move(m, target_memory=pl.Mem.Vec, {PLAIN})
r = pl.store(v, [0, 0], o)
return r
""",
        OPERANDS
        + STAGED
        + """
m = pl.matmul(at_Left, bt_Right)
r = pl.store(m, [0, 0], o)
return r
""",
    )


@pytest.mark.parametrize("cost", BOTH)
def test_two_moves_where_no_single_one_exists(cost: str) -> None:
    """Case I28: a product as operand of a product goes over Mat; Acc has no edge to Left. INF-P2-01."""
    becomes(
        OPERANDS
        + """
m = pl.matmul(at, bt)
ct = pl.load(b, [0, 0], [32, 32], target_memory=pl.Mem.Mat)
w = pl.matmul(m, ct)
r = pl.store(w, [0, 0], o)
return r
""",
        OPERANDS
        + STAGED
        + """
m = pl.matmul(at_Left, bt_Right)
ct = pl.load(b, [0, 0], [32, 32], target_memory=pl.Mem.Mat)
m_Mat = pl.move(m, target_memory=pl.Mem.Mat)
m_Left = pl.move(m_Mat, target_memory=pl.Mem.Left)
ct_Right = pl.move(ct, target_memory=pl.Mem.Right)
w = pl.matmul(m_Left, ct_Right)
r = pl.store(w, [0, 0], o)
return r
""",
        cost=cost,
    )


def test_a_tile_is_pushed_to_the_other_core_once() -> None:
    """Two products read what the vector core computed; one push serves both, and it is dear."""
    body = """
at = pl.load(a, [0, 0], [16, 64])
bt = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
e = pl.exp(at)
{staged}
m = pl.matmul({left}, {right})
k = pl.matmul({left}, {right})
r = pl.store(m, [0, 0], o)
z = pl.store(k, [0, 0], q)
return r, z
"""
    staged = "e_Left = pl.move(e, target_memory=pl.Mem.Left)\nbt_Right = pl.move(bt, target_memory=pl.Mem.Right)"
    result = becomes(
        body.format(staged="", left="e", right="bt"),
        body.format(staged=staged, left="e_Left", right="bt_Right"),
    )
    push, move = (next(d.cost for d in result.decisions if d.subject == name) for name in ("e_Left", "bt_Right"))
    assert push is not None
    assert move is not None
    assert push > 3 * move, "half the bytes, but a push goes through global memory"


def test_an_open_load_lands_where_its_reader_is() -> None:
    """Nothing says where; the product wants Mat, and Vec would cost a push. INF-P1-06."""
    result = place(
        """
at = pl.tile.load(a, [0, 0], [16, 64], [16, 64])
bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32])
m = pl.matmul(at, bt)
r = pl.store(m, [0, 0], o)
return r
"""
    )
    body = body_of(result)
    assert body.count("tile.load") == body.count("target_memory=pl.Mem.Mat)") == 2


def test_an_open_load_is_executed_twice_where_that_is_cheaper_than_a_push() -> None:
    """Case I23: both cores read it. Whether a second load or a push is cheaper is up to the model."""
    body = """
at = pl.tile.load(a, [0, 0], [16, 64], [16, 64])
bt = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
e = pl.exp(at)
m = pl.matmul(at, bt)
pl.store(e, [0, 0], wide)
r = pl.store(m, [0, 0], o)
return r
"""
    assert body_of(place(body)).count("tile.load(a") == 1

    def dear_pushes(transfer: Transfer) -> float:
        return 100.0 if is_cross_core(transfer.source, transfer.target) else 1.0

    assert body_of(place(body, cost=dear_pushes)).count("tile.load(a") == 2


def test_what_asks_for_a_layout_gets_it() -> None:
    """Case I46: the store came first and asks for none; ``exp`` asks for row-major. One copy in that layout does.

    The reference, as the documents have it, gives both what the first consumer wants. INF-P3-03.
    """
    becomes(
        """
at = pl.load(a, [0, 0], [16, 64], target_memory=pl.Mem.Mat)
pl.store(at, [0, 0], wide)
e = pl.exp(at)
pl.store(e, [0, 0], wide)
return o
""",
        f"""
at = pl.load(a, [0, 0], [16, 64], target_memory=pl.Mem.Mat)
at_Vec = pl.move(at, target_memory=pl.Mem.Vec, {PLAIN})
pl.store(at_Vec, [0, 0], wide)
e = pl.exp(at_Vec)
pl.store(e, [0, 0], wide)
return o
""",
        hardware="910b",
    )


def test_copies_in_two_layouts_stay_two() -> None:
    """The user's boxed copy is written and stays what it is; ``exp`` has one of its own in the layout it asks for.

    Design, section 7: layout belongs to the identity of a copy.
    """
    result = place(
        """
at = pl.load(a, [0, 0], [16, 64], target_memory=pl.Mem.Mat)
boxed = pl.move(at, target_memory=pl.Mem.Vec)
e = pl.exp(at)
pl.store(e, [0, 0], wide)
pl.tile.write(boxed, [0, 0], h)
pl.store(boxed, [0, 0], wide)
return o
""",
        hardware="910b",
    )
    body = body_of(result)
    assert body.count("tile.move(at") == 2
    assert body.count(PLAIN) == 1


def test_a_store_reads_vec_although_the_tile_is_in_acc_where_a_model_wants_that() -> None:
    """Which of the spaces that a slot accepts is cheaper is up to the model; under the presets it is where it is."""
    body = OPERANDS + "m = pl.matmul(at, bt)\nr = pl.store(m, [0, 0], o)\nreturn r\n"
    assert "Mem.Vec" not in body_of(place(body))

    def slow_way_out(transfer: Transfer) -> float:
        return 10.0 if transfer.kind is TransferKind.STORE and transfer.source is MemorySpace.Acc else 1.0

    becomes(
        body,
        OPERANDS
        + STAGED
        + f"""
m = pl.matmul(at_Left, bt_Right)
v = pl.move(m, target_memory=pl.Mem.Vec, {PLAIN})
r = pl.store(v, [0, 0], o)
return r
""",
        cost=slow_way_out,
    )


def test_a_move_that_stays_starts_where_tiles_are_kept() -> None:
    """Found by random plans: a move takes its source from anywhere, but no detour over an operand buffer is offered."""
    with observed() as seen:
        place(
            """
at = pl.load(a, [0, 0], [16, 64], target_memory=pl.Mem.Mat)
written = pl.move(at, target_memory=pl.Mem.Vec)
pl.tile.write(written, [0, 0], h)
pl.store(written, [0, 0], wide)
return o
""",
            hardware="950",
        )
    ((_, places),) = seen
    targets = {SPACES[node.data[1]] for node in places.choices.nodes if node.kind == "Move"}
    assert targets <= {MemorySpace.Vec, MemorySpace.Mat}
