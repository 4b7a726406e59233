"""Programs with stationary operands, written by hand, and what to look for in a result."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from textwrap import dedent

import tilesat
from tilesat.bridge.decisions import Decision
from tilesat.bridge.residency import strip_marks
from tilesat.ir.hardware import Hardware
from tilesat.ir.nodes import Assign, Block, For, OpCall, Program, Var, While
from tilesat.ir.walk import blocks

# ``MARK`` in a text is the compiler's bridge mark: the load may become resident (INF-P4-03).
MARK = 'attrs={"__compiler_tensor_to_tile_mat_bridge": True}'
# The kernel multiplies one stationary operand by all columns of a streamed one, 32 at a time.
STATIONARY = """
    @pl.program
    class Stationary:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(
            w: pl.Tensor[[16, 32], pl.FP32],
            s: pl.Tensor[[32, 64], pl.FP32],
            o: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
        ) -> pl.Tensor[[16, 64], pl.FP32]:
            for n, (acc,) in pl.range(0, 64, 32, init_values=(o,)):
                wm = pl.load(w, [0, 0], [16, 32], target_memory=pl.Mem.Mat, MARK)
                wl = pl.move(wm, target_memory=pl.Mem.Left)
                sm = pl.load(s, [0, n], [32, 32], target_memory=pl.Mem.Mat, MARK)
                sr = pl.move(sm, target_memory=pl.Mem.Right)
                c = pl.matmul(wl, sr)
                stored = pl.store(c, [0, n], acc)
                result = pl.yield_(stored)
            return result
        @pl.function(type=pl.FunctionType.Orchestration)
        def main(
            self, s: pl.Tensor[[32, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]
        ) -> pl.Tensor[[16, 64], pl.FP32]:
            w = pl.create_tensor([16, 32], dtype=pl.FP32)
            r = self.kernel(w, s, o)
            return r
"""
# The kernel's result and its stationary operand overlap: columns 16 to 31 of ``big`` are in both.
OVERLAPPING = (
    "            w = pl.create_tensor([16, 32], dtype=pl.FP32)\n            r = self.kernel(w, s, o)",
    """\
            big = pl.create_tensor([16, 80], dtype=pl.FP32)
            w = pl.slice(big, [16, 32], [0, 0])
            v = pl.slice(big, [16, 64], [0, 16])
            r = self.kernel(w, s, v)""",
)

Edit = tuple[str, str]


def edited(text: str, *edits: Edit) -> str:
    """``text`` with every edit made; what an edit replaces stands there exactly once."""
    for old, new in edits:
        assert text.count(old) == 1, f"{text.count(old)} times in the text: {old}"
        text = text.replace(old, new)
    return text


def program(text: str, *edits: Edit) -> Program:
    """The program of ``text`` after ``edits``."""
    return tilesat.parse("import pypto.language as pl\n" + dedent(edited(text, *edits)).replace("MARK", MARK))


def resident(text: str, *edits: Edit, **options: object) -> tilesat.PassResult:
    """What inference makes of it, with the reference rules on the 910B if nothing else is said."""
    given = {"hardware": "910b", **options}
    if isinstance(given["hardware"], Hardware):
        # A chip made up for a test is no key.
        return tilesat.infer_tile_memory_space(program(text, *edits), **given)  # type: ignore[arg-type]
    hashable = tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in given.items())
    return _resident(text, edits, hashable)


@cache
def _resident(text: str, edits: tuple[Edit, ...], options: tuple[tuple[str, object], ...]) -> tilesat.PassResult:
    return tilesat.infer_tile_memory_space(program(text, *edits), **dict(options))  # type: ignore[arg-type]


def loads(program: Program, tensor: str = "w", function: str = "kernel") -> list[int]:
    """For each load of parameter ``tensor``, the number of loops around it."""
    return [depth for depth, stmt in _statements(program.function(function).body, 0) if _loads(stmt, tensor)]


def _statements(block: Block, depth: int) -> Iterator[tuple[int, object]]:
    for stmt in block:
        yield depth, stmt
        for inner in blocks(stmt):
            yield from _statements(inner, depth + isinstance(stmt, (For, While)))


def _loads(stmt: object, tensor: str) -> bool:
    call = stmt.value if isinstance(stmt, Assign) else None
    return isinstance(call, OpCall) and call.op == "tile.load" and call.args[0] == Var(tensor)


def depth_of(program: Program, name: str, function: str = "kernel") -> int:
    """The number of loops around the statement that binds ``name``."""
    found = [d for d, stmt in _statements(program.function(function).body, 0) if getattr(stmt, "name", "") == name]
    assert len(found) == 1, f"{name} is bound {len(found)} times"
    return found[0]


def unmarked(program: Program) -> str:
    """The text of ``program`` without the compiler's mark."""
    return str(strip_marks(program))


def stays(result: tilesat.PassResult, subject: str = "wm") -> list[Decision]:
    """The decisions that say why ``subject`` stays."""
    return [d for d in result.decisions if d.kind == "stays" and d.subject == subject]


def body(program: Program, function: str = "kernel") -> list[str]:
    """The statements of a function without types, one line each, indented as they are."""
    lines = str(program).splitlines()
    start = next(k for k, line in enumerate(lines) if line.lstrip().startswith(f"def {function}("))
    end = next((k for k in range(start + 1, len(lines)) if "@pl.function" in lines[k]), len(lines))
    return [_untyped(line[8:]) for line in lines[start + 1 : end]]


def _untyped(line: str) -> str:
    name, colon, rest = line.partition(": pl.")
    if not colon or "(" in name:
        return line
    return f"{name} = {rest.partition(' = ')[2]}"


# Lines of STATIONARY, for edits.
LOOP = "for n, (acc,) in pl.range(0, 64, 32, init_values=(o,)):"
LOAD = "wm = pl.load(w, [0, 0], [16, 32], target_memory=pl.Mem.Mat, MARK)"
STAGE = "wl = pl.move(wm, target_memory=pl.Mem.Left)"
PRODUCT = "c = pl.matmul(wl, sr)"
STORE = "stored = pl.store(c, [0, n], acc)"
CREATE = "w = pl.create_tensor([16, 32], dtype=pl.FP32)"
CALL = "r = self.kernel(w, s, o)"
WEIGHTS = "w: pl.Tensor[[16, 32], pl.FP32],"
STREAMED = "            s: pl.Tensor[[32, 64], pl.FP32],"


def _indent(line: str, text: str) -> str:
    start = text.index(line)
    return "\n" + " " * (start - text.rindex("\n", 0, start) - 1)


def after(line: str, *new: str, text: str = STATIONARY) -> Edit:
    """Lines ``new`` behind ``line``."""
    return line, _indent(line, text).join((line, *new))


def before(line: str, *new: str, text: str = STATIONARY) -> Edit:
    """Lines ``new`` in front of ``line``."""
    return line, _indent(line, text).join((*new, line))
