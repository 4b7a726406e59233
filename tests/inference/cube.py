"""A product and its types, for the texts about carries and branches."""

from __future__ import annotations

OPERANDS = """
at = pl.tile.load(a, [0, 0], [16, 64], [16, 64], target_memory=pl.Mem.Mat)
bt = pl.tile.load(b, [0, 0], [64, 32], [64, 32], target_memory=pl.Mem.Mat)
lt = pl.move(at, target_memory=pl.Mem.Left)
rt = pl.move(bt, target_memory=pl.Mem.Right)
"""
"""Operands where the cube wants them, so that the tests show nothing but carries."""
TILE = "pl.Tile[[16, 32], pl.FP32]"
ACC = "pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc]"
VEC = "pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec]"
BACK = "blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box"


def cube(body: str) -> str:
    """``body``, which stands in a kernel by itself, after :data:`OPERANDS`."""
    lines = body.strip("\n").splitlines()
    margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return OPERANDS + "\n".join(line[margin:] for line in lines)
