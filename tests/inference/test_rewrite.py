"""Phase 3: types, layouts, keywords and attributes after the rewrite (INF-P3-01, -04, -05, -06)."""

from __future__ import annotations

import pytest

import tilesat
from tests.corpus import cases_of, kernel_names
from tests.corpus import kernel as corpus_kernel
from tests.inference.texts import annotations, becomes, body_of, function, infer, kernel, program
from tilesat.ir.nodes import Assign
from tilesat.ir.types import TileType

MAT_OPERANDS = """\
at = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
"""
TILE = "pl.Tile[[16, 32], pl.FP32]"
BOXED = "pl.TileView(blayout=pl.TileLayout.col_major, slayout=pl.TileLayout.row_major)"
PLAIN = "blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box"


# ------------------------------------------------------------------------------- INF-P3-01


def test_a_new_space_brings_its_layout() -> None:
    """INF-P3-01: the product was annotated as if it lay in Vec; in Acc it has boxes of 16 by 16."""
    result = infer(f"{MAT_OPERANDS}m: {TILE} = pl.tile.matmul(at, bt)\nr = pl.store(m, [0, 0], o)\nreturn r")
    (m,) = [s.type for s in result.program.functions[0].body if isinstance(s, Assign) and s.name == "m"]
    assert isinstance(m, TileType)
    assert (m.layout.blayout, m.layout.slayout, m.layout.fractal) == ("col_major", "row_major", 1024)


@pytest.mark.parametrize(
    ("space", "layout"),
    [
        ("Vec", ("row_major", "none_box", 512)),
        ("Mat", ("col_major", "row_major", 512)),
        ("Acc", ("col_major", "row_major", 1024)),
    ],
)
def test_carried_and_yielded_tiles_get_the_layout_of_their_space(space: str, layout: tuple[str, str, int]) -> None:
    """INF-P3-01: iter-args, loop results and if results, as peer behaviour 3.1 lists them."""
    body = {
        "Vec": "g = pl.tile.load(y, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)",
        "Mat": "g = pl.tile.load(y, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)",
        "Acc": "g = pl.tile.matmul(lt, rt)",
    }[space]
    result = infer(
        MAT_OPERANDS
        + f"""
lt = pl.move(at, target_memory=pl.Mem.Left)
rt = pl.move(bt, target_memory=pl.Mem.Right)
z: {TILE} = pl.tile.create([16, 32], dtype=pl.FP32)
for i, (c,) in pl.range(2, init_values=(z,)):
    {body}
    if i > 0:
        k: {TILE} = pl.yield_(g)
    else:
        k: {TILE} = pl.yield_(c)
    last: {TILE} = pl.yield_(k)
return o
"""
    )
    loop = next(s for s in result.program.functions[0].body if hasattr(s, "carries"))
    branch = next(s for s in loop.body if hasattr(s, "orelse"))
    for found in (loop.carries[0].type, loop.results[0].type, branch.results[0].type):
        assert str(found.space) == space
        assert (found.layout.blayout, found.layout.slayout, found.layout.fractal) == layout


def test_valid_extents_survive() -> None:
    """INF-P3-01 (cases I32, I66): through moves, products and carries."""
    becomes(
        """
        at = pl.tile.load(a, [0, 0], [16, 64], [12, 64], target_memory=pl.Mem.Mat)
        bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        m: pl.Tile[[16, 32], pl.FP32, pl.TileView(valid_shape=[12, 32])] = pl.tile.matmul(at, bt)
        e: pl.Tile[[16, 32], pl.FP32, pl.TileView(valid_shape=[12, 32])] = pl.tile.exp(m)
        r = pl.store(e, [0, 0], o)
        return r
        """,
        f"""
        at = pl.tile.load(a, [0, 0], [16, 64], [12, 64], target_memory=pl.Mem.Mat)
        bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
        at_Left: pl.Tile[[16, 64], pl.BF16, pl.Mem.Left, pl.TileView(valid_shape=[12, 64])] = pl.tile.move(
            at, target_memory=pl.Mem.Left)
        bt_Right: pl.Tile[[64, 32], pl.BF16, pl.Mem.Right] = pl.tile.move(bt, target_memory=pl.Mem.Right)
        m: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc, pl.TileView(valid_shape=[12, 32], compact=pl.CompactMode.normal)
            ] = pl.tile.matmul(at_Left, bt_Right)
        m_Vec: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[12, 32])] = pl.tile.move(
            m, target_memory=pl.Mem.Vec, {PLAIN})
        e: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[12, 32])] = pl.tile.exp(m_Vec)
        r = pl.store(e, [0, 0], o)
        return r
        """,
    )


@pytest.mark.parametrize(
    "view",
    [
        "valid_shape=[12, n]",
        "stride=[64, 1]",
        "start_offset=8",
        "pad=pl.PadValue.zero",
        "valid_shape=[12, 32], pad=pl.PadValue.max",
    ],
)
def test_other_fields_of_the_view_survive(view: str) -> None:
    """INF-P3-01: when a popped tile's space becomes known, its layout is replaced and the rest stays."""
    found = annotations(
        infer(f"t: pl.Tile[[16, 32], pl.FP32, pl.TileView({view})] = pl.tile.tpop_from_aiv(split=0)\nreturn o")
    )
    assert found["t"] == f"pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, pl.TileView({view})]"


def test_a_declared_allocation_survives() -> None:
    """INF-P3-01 (case I33)."""
    text = program(
        function(
            f"{MAT_OPERANDS}t: pl.Tile[[16, 32], pl.FP32, slot, pl.Mem.Vec] = pl.tile.load("
            "x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)\ne = pl.exp(t)\nm = pl.matmul(at, bt)"
        ),
        head="slot = pl.MemRef()\n",
    )
    found = annotations(infer(tilesat.parse(text)))
    assert found["t"] == 'pl.Tile[[16, 32], pl.FP32, pl.MemRef("slot"), pl.Mem.Vec]'


def test_a_copy_of_a_declared_allocation_is_in_none() -> None:
    """INF-P3-01, INF-P3-05: the slot starts from the copy, so it is not in the allocation of the original."""
    body = """
    t: pl.Tile[[16, 32], pl.FP32, slot, pl.Mem.Mat] = pl.tile.load(
        x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)
    for i, (c,) in pl.range(2, init_values=(t,)):
        g = pl.tile.load(y, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
        last = pl.yield_(g)
    v = pl.tile.transpose_view(t)
    """
    result = infer(tilesat.parse(program(function(body), head="slot = pl.MemRef()\n")))
    assert "init_values=(t_Vec,)" in body_of(result)
    assert 'pl.MemRef("slot"), pl.Mem.Mat' in annotations(result)["t"]
    assert "MemRef" not in annotations(result)["last"]
    assert tilesat.first_difference(tilesat.parse(str(result.program)), result.program) is None


# ------------------------------------------------------------------------------- INF-P3-04


def test_a_keyword_that_differs_is_rewritten_with_the_type() -> None:
    """INF-P3-04: in place; the create that seeds an accumulator said Vec, with a valid extent, and is made in Acc."""
    result = infer(
        MAT_OPERANDS
        + f"""
z: {TILE} = pl.tile.create([16, 32], target_memory=pl.Mem.Vec, dtype=pl.FP32)
for i, (acc,) in pl.range(4, init_values=(z,)):
    m: {TILE} = pl.tile.matmul_acc(acc, at, bt)
    last: {TILE} = pl.yield_(m)
return o
"""
    )
    line = next(line for line in body_of(result).splitlines() if line.startswith("z: "))
    assert line == (
        "z: pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc] = pl.tile.create([16, 32], target_memory=pl.Mem.Acc, dtype=pl.FP32)"
    )


def test_a_keyword_that_is_missing_comes_last() -> None:
    """INF-P3-04."""
    result = infer(f"z: {TILE} = pl.tile.create([16, 32], dtype=pl.FP32)\ne = pl.exp(z)\nreturn o")
    assert "pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Vec)" in body_of(result)


def test_a_keyword_that_agrees_is_left_alone() -> None:
    """INF-P3-04, INF-P1-04."""
    result = infer("t = pl.load(x, [0, 0], [16, 32], target_memory=pl.Mem.Mat)\nreturn o")
    assert [d.kind for d in result.decisions] == ["space"]


def test_a_retargeted_load_keeps_its_valid_extent() -> None:
    """INF-P3-04, design section 7: the peer's rewrite drops it."""
    found = annotations(
        infer(
            "t: pl.Tile[[16, 32], pl.FP32, pl.TileView(valid_shape=[12, 32])] = "
            "pl.tile.load(x, [0, 0], [16, 32], [12, 32])"
        )
    )
    assert found["t"] == "pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, pl.TileView(valid_shape=[12, 32])]"


# ------------------------------------------------------------------------------- INF-P3-05


def test_types_are_deduced_again_after_an_operand_changed() -> None:
    """INF-P3-05: exp's result was boxed as its operand was; the copy from Acc has no boxes, so nor has the result."""
    found = annotations(
        infer(
            MAT_OPERANDS
            + f"""
m = pl.matmul(at, bt)
e: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, {BOXED}] = pl.tile.exp(m)
e2: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, {BOXED}] = e
v: pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec, {BOXED}] = pl.tile.slice(e2, [16, 32], [0, 0])
return o
"""
        )
    )
    assert found["e"] == found["e2"] == found["v"] == "pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec]"


@pytest.mark.parametrize("case", cases_of("I"), ids=lambda c: c.name)
def test_what_comes_out_parses_back_with_types_that_agree(case: object) -> None:
    """INF-P3-05: print, parse, print is the identity; every annotation is what deduction gives."""
    result = tilesat.infer_tile_memory_space(case.before, hardware=case.hardware).program  # type: ignore[attr-defined]
    again = tilesat.parse(str(result))
    assert str(again) == str(result)
    assert tilesat.verify(again, properties=("TypesConsistent",)) == ()


@pytest.mark.parametrize("name", kernel_names())
def test_kernels_parse_back(name: str) -> None:
    """INF-P3-05."""
    result = tilesat.infer_tile_memory_space(corpus_kernel(name, "infer_before"), hardware="910b").program
    assert str(tilesat.parse(str(result))) == str(result)


# ------------------------------------------------------------------------------- INF-P3-06


def test_unrelated_keywords_and_attributes_survive() -> None:
    """INF-P3-06: on calls that are rebuilt and on calls that are not."""
    body = body_of(
        infer(
            """
            t = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat, attrs={"origin": "panel"})
            c = pl.tile.cast(t, target_type=pl.FP32, mode='rint', attrs={"note": 3})
            r = pl.tile.store(c, [0, 0], o, atomic=pl.AtomicType.Add)
            return r
            """
        )
    )
    assert 'target_memory=pl.Mem.Mat, attrs={"origin": "panel"})' in body
    assert """pl.tile.cast(t_Vec, target_type=pl.FP32, mode='rint', attrs={"note": 3})""" in body
    assert "pl.tile.store(c, [0, 0], o, atomic=pl.AtomicType.Add)" in body


def test_variables_in_attributes_follow_the_operands() -> None:
    """INF-P3-06: one replacement each for dependencies; what the call does not read keeps its name."""
    body = body_of(
        infer(
            MAT_OPERANDS
            + """
v = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
m = pl.tile.matmul(at, bt, attrs={"manual_dep_edges": [at, v], "arg_direction_overrides_vars": [bt]})
return o
"""
        )
    )
    wanted = 'attrs={"manual_dep_edges": [at_Left, v], "arg_direction_overrides_vars": [bt_Right]}'
    assert f"pl.tile.matmul(at_Left, bt_Right, {wanted})" in body


def test_a_dump_list_names_every_replacement() -> None:
    """INF-P3-06, peer behaviour 6.4: one tile in two slots is two tiles now."""
    body = body_of(
        infer(
            """
            pt = pl.tile.load(p, [0, 0], [16, 16], [16, 16], target_memory=pl.Mem.Mat)
            v = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)
            m = pl.tile.matmul(pt, pt, attrs={"dump_vars": [pt, v], "manual_dep_edges": [pt]})
            return o
            """
        )
    )
    assert 'attrs={"dump_vars": [pt_Left, pt_Right, v], "manual_dep_edges": [pt_Left]}' in body


def test_names_in_attributes_of_untouched_calls_stay() -> None:
    """INF-P3-06: the original is still there."""
    body = body_of(
        infer(
            MAT_OPERANDS
            + """
m = pl.matmul(at, bt)
v = pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec, attrs={"manual_dep_edges": [at]})
return o
"""
        )
    )
    assert 'attrs={"manual_dep_edges": [at]}' in body


def test_function_attributes_and_comments_survive() -> None:
    """INF-P3-06."""
    before = kernel(
        f'pl.func_attr({{"windowize": True, "slot_num": 4}})\n# Both operands.\n{MAT_OPERANDS}# The product.\n'
        "m = pl.matmul(at, bt)\n# Done."
    )
    lines = body_of(infer(before)).splitlines()
    assert lines[0] == 'pl.func_attr({"windowize": True, "slot_num": 4})'
    assert lines[1] == "# Both operands."
    assert lines[-1] == "# Done."
    assert lines.index("# The product.") < [line[:8] for line in lines].index("at_Left:")


def test_a_call_of_another_kernel_is_left_as_it_is() -> None:
    """INF-P3-06 (case I35)."""
    callee = function("t = pl.load(x, [0, 0], [16, 32])\nr = pl.store(t, [0, 0], o)\nreturn r", name="g")
    caller = function(f"{MAT_OPERANDS}m = pl.matmul(at, bt)\nr = self.g(x, o)\nreturn r")
    result = infer(tilesat.parse(program(callee, caller)))
    assert "r: pl.Tensor[[16, 32], pl.FP32] = self.g(x, o)" in body_of(result)
