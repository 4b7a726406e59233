"""Kernels before and after placement, written as the text of their bodies (see :mod:`tests.inference.texts`)."""

from __future__ import annotations

from typing import Any

import tilesat
from tests.inference.texts import assert_equal, kernel
from tilesat.ir.nodes import Program

OPERANDS = """\
at = pl.load(a, [0, 0], [16, 64], target_memory=pl.Mem.Mat)
bt = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
"""
"""Operands of the product ``a @ b`` in Mat."""

STAGED = """\
at_Left = pl.move(at, target_memory=pl.Mem.Left)
bt_Right = pl.move(bt, target_memory=pl.Mem.Right)
"""
"""One copy of each where products read it."""

PLAIN = "blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box"


def place(before: str | Program, **options: Any) -> tilesat.PassResult:
    """The cheapest placement for a kernel of body ``before``: no dearer than the reference, of equal meaning."""
    given = before if isinstance(before, Program) else kernel(before)
    result = tilesat.infer_tile_memory_space(given, **{"rules": "optimal", **options})
    assert result.cost is not None
    assert result.reference_cost is not None
    assert result.lower_bound is not None
    assert result.lower_bound <= result.cost <= result.reference_cost
    validation = tilesat.validate(given, result.program)
    assert validation.ok, f"{validation}\n{result.program}"
    return result


def becomes(before: str, after: str, **options: Any) -> tilesat.PassResult:
    """Assert that the kernel of body ``before`` becomes that of body ``after``; the result."""
    result = place(before, **options)
    assert_equal(result.program, kernel(after, like=before))
    return result


def stays(body: str, **options: Any) -> tilesat.PassResult:
    """Assert that nothing better is found than what ``body`` does."""
    return becomes(body, body, **options)
