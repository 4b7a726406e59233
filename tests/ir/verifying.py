"""Small programs for the tests of the verifier, and ways to damage them.

The parser refuses much of what the verifier looks for, so a test parses a good program and breaks it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from textwrap import dedent, indent

from tilesat.ir.nodes import Assign, Block, For, Function, If, Program, Stmt, Var, While
from tilesat.ir.parser import parse_text
from tilesat.ir.verify import verify
from tilesat.ir.walk import blocks, map_own_exprs, rename_expr, with_blocks

DATA = Path(__file__).parent.parent / "data"

TENSOR = "pl.Tensor[[16, 32], pl.FP32]"
NO_SPACE = "pl.Tile[[16, 32], pl.FP32]"
VEC = "pl.Tile[[16, 32], pl.FP32, pl.Mem.Vec]"
MAT = "pl.Tile[[16, 32], pl.FP32, pl.Mem.Mat]"
ACC = "pl.Tile[[16, 32], pl.FP32, pl.Mem.Acc]"
LOAD_VEC = "pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Vec)"
LOAD_MAT = "pl.tile.load(x, [0, 0], [16, 32], [16, 32], target_memory=pl.Mem.Mat)"
CREATE_VEC = "pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Vec)"
CREATE_ACC = "pl.tile.create([16, 32], dtype=pl.FP32, target_memory=pl.Mem.Acc)"
_PARAMS = f"x: {TENSOR}, n: pl.Scalar[pl.INDEX], o: pl.Out[{TENSOR}]"

_KERNEL = "@pl.function(type=pl.FunctionType.InCore, level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker)"
_ORCHESTRATION = "@pl.function(type=pl.FunctionType.Orchestration, level=pl.Level.CHIP, role=pl.Role.Orchestrator)"


def kernel(body: str, *, name: str = "f", params: str = _PARAMS, returns: str = TENSOR) -> str:
    """Text of an InCore function; by default it takes ``x``, ``n`` and the output ``o``."""
    return _function(_KERNEL, name, params, returns, body)


def orchestration(body: str, *, name: str = "main", params: str = _PARAMS, returns: str = TENSOR) -> str:
    """Text of an Orchestration function."""
    return _function(_ORCHESTRATION, name, f"self, {params}", returns, body)


def _function(decorator: str, name: str, params: str, returns: str, body: str) -> str:
    arrow = f" -> {returns}" if returns else ""
    return f"{decorator}\ndef {name}({params}){arrow}:\n{indent(dedent(body).strip(), '    ')}\n"


def program(*functions: str) -> Program:
    """The program of the functions with these texts."""
    body = indent("".join(functions), "    ")
    return parse_text(f"import pypto.language as pl\n\n@pl.program\nclass P:\n{body}")


def messages(subject: Program, check: str, **options: str) -> list[str]:
    """What the property ``check`` says about ``subject``."""
    return [finding.message for finding in verify(subject, properties=[check], **options)]


def rewritten(subject: Program, change: Callable[[Stmt], Stmt | None]) -> Program:
    """``subject`` with ``change`` applied to every statement, inner ones first; ``None`` deletes."""

    def block(stmts: Block) -> Block:
        new = []
        for stmt in stmts:
            changed = change(with_blocks(stmt, tuple(map(block, blocks(stmt)))))
            if changed is not None:
                new.append(changed)
        return tuple(new)

    def function(old: Function) -> Function:
        return replace(old, body=block(old.body))

    return replace(subject, functions=tuple(map(function, subject.functions)))


def with_names(subject: Program, names: Mapping[str, str]) -> Program:
    """``subject`` with variables called otherwise, bindings and uses alike, clashes or not."""
    uses = {old: Var(new) for old, new in names.items()}

    def called(name: str) -> str:
        return names.get(name, name)

    def change(stmt: Stmt) -> Stmt:
        stmt = map_own_exprs(stmt, lambda expr: rename_expr(expr, uses))
        if isinstance(stmt, Assign):
            return replace(stmt, name=called(stmt.name))
        if isinstance(stmt, For):
            stmt = replace(stmt, index=called(stmt.index))
        if isinstance(stmt, (For, While)):
            stmt = replace(stmt, carries=tuple(replace(c, name=called(c.name)) for c in stmt.carries))
        if isinstance(stmt, (For, While, If)):
            stmt = replace(stmt, results=tuple(replace(r, name=called(r.name)) for r in stmt.results))
        return stmt

    return rewritten(subject, change)
