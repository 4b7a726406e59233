"""Short spellings for the tests of type deduction: expressions as text, types as calls."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tilesat.ir.deduce import deduce_type
from tilesat.ir.nodes import Assign, Expr, Var
from tilesat.ir.parser import parse_text
from tilesat.ir.printer import print_type
from tilesat.ir.types import (
    Dim,
    ScalarType,
    Shape,
    TensorType,
    TensorView,
    TileType,
    TileView,
    Type,
    tile_type,
)
from tilesat.ir.types import MemorySpace as Mem

TEXT = """# pypto.program: Snippet
import pypto.language as pl

@pl.program
class Snippet:
    @pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)
    def f({params}):
        r: pl.Scalar[pl.INDEX] = {value}
"""
INDEX = ScalarType("INDEX")


@lru_cache(maxsize=512)
def parsed(value: str, names: tuple[str, ...]) -> Expr:
    """The expression spelled ``value`` over variables ``names``."""
    params = ", ".join(f"{name}: pl.Scalar[pl.INDEX]" for name in names)
    (function,) = parse_text(TEXT.format(params=params, value=value), "snippet").functions
    (stmt,) = function.body
    assert isinstance(stmt, Assign)
    return stmt.value


def deduced(value: str, **types: Type) -> Type | None:
    """The type of the expression spelled ``value`` for variables of these types."""
    return deduce_type(parsed(value, tuple(types)), types)


def check(value: str, expected: Type, **types: Type) -> None:
    found = deduced(value, **types)
    assert found is not None, f"{value} is not deduced"
    assert found == expected, f"{print_type(found)} instead of {print_type(expected)}"


def tile(space: Mem | None, *shape: Dim, dtype: str = "FP32", valid: Shape | None = None, **view: Any) -> TileType:
    """``tile(Mem.Vec, 16, 64, valid=(12, 64), pad="min")``: a tile type; further keywords are view fields."""
    return tile_type(shape, dtype, space, TileView(valid_shape=valid, **view))


def vec(*shape: Dim, **rest: Any) -> TileType:
    return tile(Mem.Vec, *shape, **rest)


def mat(*shape: Dim, **rest: Any) -> TileType:
    return tile(Mem.Mat, *shape, **rest)


def acc(*shape: Dim, **rest: Any) -> TileType:
    return tile(Mem.Acc, *shape, **rest)


def tensor(*shape: Dim, dtype: str = "FP32", **view: Any) -> TensorType:
    return TensorType(shape, dtype, TensorView(**view) if view else None)


BOXED = {"blayout": "col_major", "slayout": "row_major"}
BOXED_OTHER_WAY = {"blayout": "row_major", "slayout": "col_major"}
BY_ROWS = {"blayout": "row_major", "slayout": "none_box"}
N = Var("n")
