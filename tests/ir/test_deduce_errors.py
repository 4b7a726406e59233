"""Type deduction of operands that do not fit: proper errors, and nothing worse whatever comes in."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ir.deducing import INDEX, N, acc, check, deduced, mat, tensor, vec
from tilesat.errors import TypeDeductionError
from tilesat.ir.deduce import deduce_call
from tilesat.ir.deduce.registry import RULES
from tilesat.ir.nodes import Const, EnumConst, Expr, ListExpr, NoneConst, OpCall, Var
from tilesat.ir.ops import op_table
from tilesat.ir.types import (
    ArrayType,
    Dim,
    OpaqueType,
    Shape,
    TensorType,
    TensorView,
    TileType,
    TileView,
    TupleType,
    Type,
    tile_type,
)
from tilesat.ir.types import MemorySpace as Mem


class TestErrors:
    """Operands that can never fit are reported with op, argument and what would be right."""

    @pytest.mark.parametrize(
        ("call", "types", "message"),
        [
            (
                "pl.tile.exp(x)",
                {"x": tensor(16, 32)},
                "tile.exp: argument 'tile' is 'x' of type pl.Tensor[[16, 32], pl.FP32] (a tile is needed)",
            ),
            (
                "pl.tile.load(x, [0, 0], [8, 8], [8, 8], target_memory=pl.Mem.Vec)",
                {"x": vec(16, 32)},
                "'tensor' is 'x' of type pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec] (a tensor is needed)",
            ),
            ("pl.tile.exp([16, 32])", {}, "argument 'tile' is the list [16, 32] (a tile is needed)"),
            ("pl.tile.adds(x, y)", {"x": vec(8, 8), "y": vec(8, 8)}, "(a scalar is needed)"),
            ("pl.tile.add(x)", {"x": vec(8, 8)}, "tile.add takes 2 arguments, not 1 (give lhs, rhs)"),
            ("pl.tile.exp(x, x)", {"x": vec(8, 8)}, "tile.exp takes 1 arguments, not 2 (give tile)"),
            (
                "pl.tile.add(x, y)",
                {"x": vec(16, 32), "y": vec(16, 48)},
                "tile.add: argument 'rhs' has shape [16, 48] (shape [16, 32] is needed)",
            ),
            (
                "pl.tile.matmul(x, y)",
                {"x": mat(16, 64), "y": mat(32, 48)},
                "tile.matmul: argument 'rhs' has 32 rows (64 are needed)",
            ),
            (
                "pl.tile.matmul_acc(c, x, y)",
                {"c": acc(16, 32), "x": mat(16, 64), "y": mat(64, 48)},
                "tile.matmul_acc: argument 'acc' has 32 columns (48 are needed)",
            ),
            (
                "pl.tile.row_expand_mul(x, y)",
                {"x": vec(16, 32), "y": vec(8, 1)},
                "argument 'row_vec' has 8 rows (16 are needed)",
            ),
            (
                "pl.tile.reshape(x, [16, 16])",
                {"x": vec(16, 32)},
                "[16, 16] has 256 elements (the input [16, 32] has 512)",
            ),
            (
                "pl.tile.store(x, [0, 0, 0], t)",
                {"x": vec(16, 32), "t": tensor(16, 32)},
                "argument 'offsets' has 3 offsets (the tensor has rank 2, one each is needed)",
            ),
            (
                "pl.tile.move(x, target_memory=pl.Mem.LeftScale)",
                {"x": vec(16, 2, dtype="UINT8")},
                "(a tile of rank 2 in Mat with blayout=row_major, slayout=row_major is needed)",
            ),
            ("pl.tile.transpose_view(x)", {"x": vec(16, 32)}, "(a tile of rank 2 in Mat is needed)"),
            (
                "pl.tile.set_validshape(x, 32, 8)",
                {"x": vec(16, 32)},
                "'valid_rows' is 32 (the tile has only 16)",
            ),
            ("pl.tile.cast(x)", {"x": vec(16, 32)}, "tile.cast lacks keyword 'target_type'"),
            (
                "pl.tile.move(x, target_memory=pl.Mem.L2)",
                {"x": vec(16, 32)},
                "tile.move: 'L2' is no memory space",
            ),
        ],
    )
    def test_message(self, call: str, types: dict[str, Type], message: str) -> None:
        with pytest.raises(TypeDeductionError) as caught:
            deduced(call, **types)
        assert message in str(caught.value)

    def test_one_type_per_argument(self) -> None:
        with pytest.raises(TypeDeductionError, match="2 argument types for 1 arguments"):
            deduce_call(OpCall("tile.exp", (Var("x"),)), [vec(8, 8), vec(8, 8)])

    def test_dynamic_extents_are_given_the_benefit_of_the_doubt(self) -> None:
        check("pl.tile.matmul(x, y)", acc(16, 48), x=mat(16, N), y=mat(32, 48))


# ---------------------------------------------------------------------------- whatever is thrown at it

DIMS: st.SearchStrategy[Dim] = st.sampled_from([0, 1, 2, 16, 32, N])
SHAPES: st.SearchStrategy[Shape] = st.lists(DIMS, max_size=3).map(tuple)


@st.composite
def tile_types(draw: st.DrawFn) -> TileType:
    shape: Shape = draw(SHAPES)
    ones: Shape = (1,) * len(shape)
    view = TileView(
        valid_shape=draw(st.sampled_from([None, ones])),
        blayout=draw(st.sampled_from([None, "row_major", "col_major"])),
        slayout=draw(st.sampled_from([None, "none_box", "row_major", "col_major"])),
        pad=draw(st.sampled_from([None, "min"])),
        compact=draw(st.sampled_from([None, "normal"])),
    )
    space = draw(st.sampled_from([None, *Mem]))
    return tile_type(shape, draw(st.sampled_from(["FP32", "INT8"])), space, view, draw(st.sampled_from([None, "m"])))


TYPES = st.one_of(
    tile_types(),
    tile_types(),
    st.builds(TensorType, SHAPES, st.just("FP32"), st.sampled_from([None, TensorView(stride=(N,), layout="DN")])),
    st.sampled_from([None, INDEX, TupleType(()), ArrayType(3, "INT32"), OpaqueType("pl.Ptr")]),
)
LISTS = st.lists(st.sampled_from([Const(0), Const(1), Const(16), N]), max_size=3).map(lambda i: ListExpr(tuple(i)))
ARGUMENTS: st.SearchStrategy[tuple[Expr, Type | None]] = st.one_of(
    TYPES.map(lambda type_: (Var("x"), type_)),
    LISTS.map(lambda items: (items, None)),
    st.sampled_from([(Const(1), INDEX), (NoneConst(), None)]),
)
VALUES = st.sampled_from(
    [EnumConst(p) for p in ("Mem.Left", "Mem.Vec", "FP16", "PadValue.min", "TileLayout.row_major")]
    + [Const(1), Const(True, "BOOL"), NoneConst()]
)


@st.composite
def any_call(draw: st.DrawFn) -> tuple[OpCall, list[Type | None]]:
    """A call of some op that has a rule, with arguments and keywords of any kind."""
    info = op_table()[draw(st.sampled_from(sorted(RULES)))]
    given = [draw(ARGUMENTS) for _ in range(draw(st.integers(0, len(info.args))))]
    keywords = tuple((key, draw(VALUES)) for key in info.kwargs if draw(st.booleans()))
    return OpCall(info.name, tuple(arg for arg, _ in given), keywords), [type_ for _, type_ in given]


@settings(max_examples=400, deadline=None)
@given(any_call())
def test_any_call_has_a_canonical_type_or_none_or_a_proper_error(
    given_call: tuple[OpCall, list[Type | None]],
) -> None:
    found = outcome(*given_call)
    if isinstance(found, TypeDeductionError):
        assert given_call[0].op in str(found)
        assert found.hint
    elif isinstance(found, TileType):
        assert found == tile_type(found.shape, found.dtype, found.space, found.view)


def outcome(call: OpCall, types: list[Type | None]) -> Type | TypeDeductionError | None:
    try:
        return deduce_call(call, types)
    except TypeDeductionError as error:
        return error
