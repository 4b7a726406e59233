"""In-place writes (design, section 7): whoever reads the buffer later, under whatever name, finds what was written.

An op that writes an operand may be given a copy of it only if nobody reads the old buffer afterwards. Where
somebody does, the tile moves for all its readers (re-homed), or what was written goes back into the old buffer (written
back), or a product is added where the accumulator is (split). The texts are checked by the interpreter as well, whose
buffers are shared as the hardware's are.
"""

from __future__ import annotations

import pytest

import tilesat
from tests.inference.texts import annotations, becomes, body_of, infer, kernel

MAT_OPERANDS = """\
at = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
"""
PLAIN = "blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box"


def kinds(result: tilesat.PassResult) -> list[str]:
    """What was decided besides spaces and moves."""
    return sorted(d.kind for d in result.decisions if d.kind not in ("space", "move", "retarget"))


# --------------------------------------------------------------------------------- Mat


def test_a_written_mat_tile_moves_for_all_its_readers() -> None:
    """Case I26: the write lands in the copy, and the product reads the copy."""
    becomes(
        MAT_OPERANDS
        + """
pl.tile.write(at, [0, 0], h)
m = pl.matmul(at, bt)
r = pl.store(m, [0, 0], o)
return r
""",
        MAT_OPERANDS
        + f"""
at_Vec = pl.tile.move(at, target_memory=pl.Mem.Vec, {PLAIN})
pl.tile.write(at_Vec, [0, 0], h)
at_Left = pl.tile.move(at_Vec, target_memory=pl.Mem.Left)
bt_Right = pl.tile.move(bt, target_memory=pl.Mem.Right)
m = pl.matmul(at_Left, bt_Right)
r = pl.store(m, [0, 0], o)
return r
""",
    )


@pytest.mark.parametrize("view", ["at", "pl.tile.slice(at, [16, 32], [0, 0])", "pl.tile.reshape(at, [32, 32])"])
def test_a_view_or_alias_takes_its_source_along(view: str) -> None:
    """What is written through a view is read through its source: both move."""
    shape = "[32, 32]" if "reshape" in view else "[16, 32]" if "slice" in view else "[16, 64]"
    result = infer(
        MAT_OPERANDS
        + f"""
v: pl.Tile[{shape}, pl.BF16] = {view}
pl.tile.write(v, [0, 0], h)
m = pl.matmul(at, bt)
r = pl.store(m, [0, 0], o)
return r
"""
    )
    assert set(kinds(result)) == {"rehome"}
    assert "pl.Mem.Vec" in annotations(result)["v"]
    assert "tile.move(at_Vec, target_memory=pl.Mem.Left)" in body_of(result)


def test_a_write_that_nobody_reads_needs_no_more_than_a_move() -> None:
    """The counterpart: the operand is copied like any other."""
    result = infer(f"{MAT_OPERANDS}pl.tile.write(at, [0, 0], h)\nreturn o")
    assert kinds(result) == []
    assert "pl.tile.write(at_Vec, [0, 0], h)" in body_of(result)


def test_a_reader_in_the_next_trip_counts() -> None:
    """Loop-entry versions: the read stands before the write, and sees it in the next trip."""
    result = infer(
        MAT_OPERANDS
        + """
for i in pl.range(3):
    e = pl.tile.exp(at)
    pl.tile.store(e, [0, 0], wide)
    pl.tile.write(at, [0, i], h)
return o
"""
    )
    assert kinds(result) == ["rehome"]
    body = body_of(result)
    assert body.index("at_Vec: ") < body.index("for i")
    assert body.count("tile.move(") == 1


def test_a_copy_made_before_the_write_is_stale_after_it() -> None:
    """Versions of a buffer have copies of their own: Left is read before and after."""
    body = body_of(
        infer(
            MAT_OPERANDS
            + """
m = pl.matmul(at, bt)
block = pl.tile.load(a, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
put = pl.tile.assemble(at, block, [0, 32])
m2 = pl.matmul(at, bt)
r = pl.store(m, [0, 0], o)
t = pl.store(m2, [0, 0], q)
return r, t
"""
        )
    )
    assert body.count("tile.move(at, target_memory=pl.Mem.Left)") == 2
    assert body.index("at_Left_1: ") > body.index("put: ")
    assert body.count("tile.move(bt, target_memory=pl.Mem.Right)") == 1


@pytest.mark.parametrize("name", ["at", "put"])
def test_a_write_under_a_new_name_is_seen_under_both(name: str) -> None:
    """Assemble writes its first operand: the old name shows the new contents."""
    body = body_of(
        infer(
            MAT_OPERANDS
            + f"""
block = pl.tile.load(a, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
put = pl.tile.assemble(at, block, [0, 32])
m = pl.matmul({name}, bt)
r = pl.store(m, [0, 0], o)
return r
"""
        )
    )
    assert "pl.tile.assemble(at, block_Mat, [0, 32])" in body
    assert f"tile.move({name}, target_memory=pl.Mem.Left)" in body


# --------------------------------------------------------------- where a tile cannot move


def test_a_tile_with_a_transposed_view_gets_back_what_was_written() -> None:
    """transpose_view exists in Mat only, so its source cannot leave; the copy goes back through assemble."""
    becomes(
        MAT_OPERANDS
        + """
tv = pl.tile.transpose_view(at)
pl.tile.write(at, [0, 0], h)
k = pl.tile.read(tv, [0, 0])
pl.tile.write(o, [0, 0], k)
""".replace("pl.tile.write(o, [0, 0], k)", "pl.tensor.write(wide, [0, 0], k)"),
        MAT_OPERANDS
        + """
tv = pl.tile.transpose_view(at)
at_Vec = pl.tile.move(at, target_memory=pl.Mem.Vec)
pl.tile.write(at_Vec, [0, 0], h)
at_Vec_Mat = pl.tile.move(at_Vec, target_memory=pl.Mem.Mat)
at_Vec_back = pl.tile.assemble(at, at_Vec_Mat, [0, 0])
tv_Vec = pl.tile.move(tv, target_memory=pl.Mem.Vec)
k = pl.tile.read(tv_Vec, [0, 0])
pl.tensor.write(wide, [0, 0], k)
""",
    )


def test_the_result_of_a_written_back_call_is_the_old_buffer() -> None:
    """It lives in Mat, so a vector op reads a copy of it; the new buffer of the call is no longer looked at."""
    result = infer(
        """
        t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
        tv = pl.tile.transpose_view(t)
        f1 = pl.tile.fillpad_inplace(t, pad_value=pl.PadValue.zero)
        e = pl.tile.exp(f1)
        e2 = pl.tile.exp(tv)
        r = pl.store(e, [0, 0], o)
        return r
        """
    )
    assert kinds(result) == ["write-back"]
    assert annotations(result)["f1"] == "pl.Tile[[16, 32], pl.FP32, pl.Mem.Mat]"
    assert "f1: pl.Tile[[16, 32], pl.FP32, pl.Mem.Mat] = pl.tile.assemble(t, f1_new_Mat, [0, 0])" in body_of(result)
    assert "pl.tile.exp(f1_Vec)" in body_of(result)


def test_a_written_back_result_has_the_extent_that_the_call_gives() -> None:
    """The old buffer shows 12 rows; fillpad_inplace fills the others and shows all 16."""
    result = infer(
        """
        t = pl.tile.load(x, [0, 0], [16, 32], [12, 32], target_memory=pl.Mem.Mat)
        tv = pl.tile.transpose_view(t)
        f1 = pl.tile.fillpad_inplace(t, pad_value=pl.PadValue.zero)
        e = pl.tile.exp(f1)
        e2 = pl.tile.exp(tv)
        r = pl.store(e, [0, 0], o)
        return r
        """
    )
    assert "f1: pl.Tile[[16, 32], pl.FP32, pl.Mem.Mat] = pl.tile.set_validshape(f1_back, 16, 32)" in body_of(result)
    assert "valid_shape" not in annotations(result)["e"]


@pytest.mark.parametrize("text", ["assert at", "given.place = at", "with given(at) as found:\n    pass"])
def test_a_tile_that_an_unmodelled_text_names_stays_under_its_name(text: str) -> None:
    """The text cannot follow a renaming; it finds what was written in the buffer that it names."""
    written = f"{MAT_OPERANDS}pl.tile.write(at, [0, 0], h)\n{text}\n"
    result = infer(f"{written}m = pl.matmul(at, bt)\nr = pl.store(m, [0, 0], o)\nreturn r")
    assert kinds(result) == ["write-back"]
    assert "tile.assemble(at, at_Vec_Mat, [0, 0])" in body_of(result)


OPEN = "pl.Tile[[16, 32], pl.FP32]"
SHOWN = f"""
u = pl.load(x, [0, 0], [16, 32])
t: {OPEN} = pl.tile.exp(u)
v: pl.Tile[[32, 16], pl.FP32] = pl.tile.transpose_view(t)
"""
"""A tile in Vec and a view that only Mat has."""


@pytest.mark.parametrize(("written", "read"), [("t", "v"), ("v", "t"), ("v", "v")])
@pytest.mark.parametrize("rules", ["reference", "optimal"])
def test_a_tile_and_a_view_in_another_space_show_each_others_writes(written: str, read: str, rules: str) -> None:
    """The view of a copy would show nothing of it: the tile moves for all its readers, and writes go back into it."""
    result = infer(
        f"{SHOWN}pl.tile.write({written}, [1, 0], s)\nk = pl.tile.read({read}, [1, 0])\npl.tensor.write(o, [0, 0], k)\n"
        "r = pl.store(t, [0, 0], q)\nreturn r",
        rules=rules,
        hardware="910b",
    )
    if rules == "reference":
        assert kinds(result) == ["rehome", "write-back"]
        assert "tile.transpose_view(t_Mat)" in body_of(result)


def test_what_is_written_before_the_view_is_made_needs_no_care() -> None:
    """The copy for the view is made behind the write."""
    result = infer(
        SHOWN.replace("\nv:", "\npl.tile.write(t, [1, 0], s)\nv:")
        + "e = pl.tile.exp(v)\nr = pl.store(t, [0, 0], o)\nreturn r"
    )
    assert kinds(result) == []


def test_a_view_made_in_a_loop_shows_what_an_earlier_trip_wrote() -> None:
    result = infer(
        f"""
        u = pl.load(x, [0, 0], [16, 32])
        t: {OPEN} = pl.tile.exp(u)
        for i, (k,) in pl.range(3, init_values=(s,)):
            v: pl.Tile[[32, 16], pl.FP32] = pl.tile.transpose_view(t)
            d = pl.tile.read(v, [0, 0])
            pl.tile.write(t, [0, 0], d + k)
            k1 = pl.yield_(d)
        r = pl.store(t, [0, 0], o)
        return r
        """
    )
    assert "rehome" in kinds(result)


def test_a_view_of_a_buffer_with_older_readers_is_refused() -> None:
    """`t` is what `w` was before, and is read behind the write; it cannot move along with `w`."""
    with pytest.raises(tilesat.ImpossibleError, match="looks at 'w', which is elsewhere and written later"):
        infer(
            f"""
            u = pl.load(x, [0, 0], [16, 32])
            t: {OPEN} = pl.tile.exp(u)
            w: {OPEN} = pl.tile.assemble(t, u, [0, 0])
            v: pl.Tile[[32, 16], pl.FP32] = pl.tile.transpose_view(w)
            pl.tile.write(w, [0, 0], s)
            e = pl.tile.exp(v)
            r = pl.store(t, [0, 0], o)
            return r
            """
        )


# --------------------------------------------------------------------------------- Acc


def test_a_written_product_moves_for_all_its_readers() -> None:
    """Also for a store, which would have taken it where it was."""
    result = infer(
        f"{MAT_OPERANDS}m = pl.matmul(at, bt)\npl.tile.write(m, [0, 0], s)\nr = pl.store(m, [0, 0], o)\nreturn r"
    )
    assert kinds(result) == ["rehome"]
    assert "tile.store(m_Vec, " in body_of(result)


def test_an_accumulator_read_under_its_old_name() -> None:
    """matmul_acc writes its first operand in Acc, where it is: nothing to do, but copies made before are stale."""
    body = body_of(
        infer(
            MAT_OPERANDS
            + """
m = pl.matmul(at, bt)
e = pl.exp(m)
m2 = pl.tile.matmul_acc(m, at, bt)
e2 = pl.exp(m)
r = pl.store(e, [0, 0], o)
t = pl.store(e2, [0, 0], q)
return r, t
"""
        )
    )
    assert "pl.tile.matmul_acc(m, at_Left, bt_Right)" in body
    assert body.count("tile.move(m, target_memory=pl.Mem.Vec") == 2


CONVERTING = (
    "a: pl.Tensor[[16, 64], pl.BF16], b: pl.Tensor[[64, 32], pl.BF16], x: pl.Tensor[[16, 32], pl.FP32], "
    "n: pl.Scalar[pl.INDEX], s: pl.Scalar[pl.FP32], o: pl.Out[pl.Tensor[[16, 32], pl.BF16]]"
)


@pytest.mark.parametrize(
    "between",
    [
        "pl.tile.write(m, [0, 0], s)\nz = m",
        "if n > 2:\n    z = pl.yield_(m)\nelse:\n    t = pl.load(x, [0, 0], [16, 32])\n    z = pl.yield_(t)",
    ],
    ids=["written", "joined with a vector tile"],
)
def test_a_store_that_converts_casts_what_is_no_longer_in_acc(between: str) -> None:
    """Only the way out of Acc converts: FP32 in Vec is cast before it goes into a BF16 tensor."""
    between = between.replace("t = pl.load", "t: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.load")
    body = f"{MAT_OPERANDS}m = pl.matmul(at, bt)\n{between}\npl.tile.store(z, [0, 0], o)"
    text = body_of(infer(body, params=CONVERTING))
    assert "pl.tile.cast(z, target_type=pl.BF16, mode='rint')" in text
    assert "pl.tile.store(z_BF16, [0, 0], o)" in text


def test_a_store_out_of_acc_converts_by_itself() -> None:
    """The counterpart."""
    text = body_of(infer(f"{MAT_OPERANDS}m = pl.matmul(at, bt)\npl.tile.store(m, [0, 0], o)", params=CONVERTING))
    assert "tile.cast" not in text
    assert "pl.tile.store(m, [0, 0], o)" in text


# --------------------------------------------------------------------------------- Vec


def test_an_accumulator_in_vec_is_split() -> None:
    """No move leads from Vec to Acc: product in Acc, sum in Vec."""
    becomes(
        MAT_OPERANDS
        + """
z = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
m: pl.Tile[[16, 32], pl.FP32] = pl.tile.matmul_acc(z, at, bt)
r = pl.store(m, [0, 0], o)
return r
""",
        MAT_OPERANDS
        + f"""
z = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
at_Left = pl.tile.move(at, target_memory=pl.Mem.Left)
bt_Right = pl.tile.move(bt, target_memory=pl.Mem.Right)
m_product = pl.tile.matmul(at_Left, bt_Right)
m_product_Vec = pl.tile.move(m_product, target_memory=pl.Mem.Vec, {PLAIN})
m: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.add(z, m_product_Vec)
r = pl.store(m, [0, 0], o)
return r
""",
    )


def test_a_split_sum_that_is_read_under_the_old_name_goes_into_the_old_buffer() -> None:
    """Split and written back."""
    result = infer(
        MAT_OPERANDS
        + """
z = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
m: pl.Tile[[16, 32], pl.FP32] = pl.tile.matmul_acc(z, at, bt)
r = pl.store(z, [0, 0], o)
return r
"""
    )
    assert kinds(result) == ["split", "write-back"]
    assert "pl.tile.assemble(z, m_new, [0, 0])" in body_of(result)


def test_an_accumulator_in_mat_is_split_and_keeps_its_buffer() -> None:
    """Mat reaches Acc neither; the sum is made in Vec and goes back when the buffer is read again."""
    result = infer(
        MAT_OPERANDS
        + """
z = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
m: pl.Tile[[16, 32], pl.FP32] = pl.tile.matmul_acc(z, at, bt)
e = pl.tile.exp(z)
r = pl.store(e, [0, 0], o)
return r
"""
    )
    assert "split" in kinds(result)
    assert "tile.matmul_acc" not in body_of(result)
    assert "target_memory=pl.Mem.Acc" not in body_of(result), "nothing is moved where no chip can"


def test_a_created_accumulator_that_was_written_is_split_like_any_other() -> None:
    """It is no empty tile any more, and the write took it to Vec."""
    result = infer(
        MAT_OPERANDS
        + """
z = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
pl.tile.write(z, [0, 0], s)
m: pl.Tile[[16, 32], pl.FP32] = pl.tile.matmul_acc(z, at, bt)
r = pl.store(m, [0, 0], o)
return r
"""
    )
    assert "split" in kinds(result)
    assert [d for d in result.diagnostics if d.check == "impossible-move"] == []


# ---------------------------------------------------------------------- zero accumulators

ZERO_SEED = """
z: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] = pl.tile.full([16, 32], dtype=pl.FP32, value=0.0)
for i, (acc,) in pl.range({bounds}, init_values=(z,)):
    m: pl.Tile[[16, 32], pl.FP32] = pl.tile.matmul_acc(acc, at, bt)
    last: pl.Tile[[16, 32], pl.FP32] = pl.yield_(m)
r = pl.store(last, [0, 0], o)
return r
"""


def test_zeros_are_peeled_into_the_first_product() -> None:
    """Case I11: nothing but an empty tile in Acc can be created; the first trip computes the plain product."""
    becomes(
        MAT_OPERANDS + ZERO_SEED.format(bounds="2, 8, 2"),
        MAT_OPERANDS
        + """
z = pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)
for i, (acc,) in pl.range(2, 8, 2, init_values=(z,)):
    at_Left = pl.tile.move(at, target_memory=pl.Mem.Left)
    bt_Right = pl.tile.move(bt, target_memory=pl.Mem.Right)
    if i == 2:
        m1 = pl.tile.matmul(at_Left, bt_Right)
        m = pl.yield_(m1)
    else:
        m2 = pl.tile.matmul_acc(acc, at_Left, bt_Right)
        m = pl.yield_(m2)
    last = pl.yield_(m)
r = pl.store(last, [0, 0], o)
return r
""",
    )


@pytest.mark.parametrize("bounds", ["n", "0", "4, 4"])
def test_a_loop_that_may_not_run_is_not_peeled(bounds: str) -> None:
    """Its result would be an empty tile instead of zeros; the sum is made in Vec."""
    result = infer(MAT_OPERANDS + ZERO_SEED.format(bounds=bounds))
    assert kinds(result) == ["split"]
    assert annotations(result)["last"] == "pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec]"


@pytest.mark.parametrize("value", ["1.0", "-0.5"])
def test_other_numbers_are_not_peeled(value: str) -> None:
    """The first product is not the sum of the product and ones."""
    result = infer(MAT_OPERANDS + ZERO_SEED.format(bounds="4").replace("value=0.0", f"value={value}"))
    assert kinds(result) == ["split"]


def test_a_carry_that_is_read_besides_is_not_peeled() -> None:
    """The reader would see an empty tile in the first trip."""
    result = infer(
        MAT_OPERANDS + ZERO_SEED.format(bounds="4").replace("    last:", "    r0 = pl.store(acc, [0, 0], q)\n    last:")
    )
    assert "peel" not in kinds(result)


def test_the_pass_never_changes_what_a_write_does() -> None:
    """The interpreter is the judge of all of the above: it does see a lost write."""
    product = "m = pl.matmul(at, bt)\nr = pl.store(m, [0, 0], o)\nreturn r"
    before = kernel(f"{MAT_OPERANDS}pl.tile.write(at, [0, 0], h)\n{product}")
    lost = tilesat.parse(str(before).replace("        pl.tile.write(at, [0, 0], h)\n", ""))
    assert not tilesat.validate(before, lost).ok
