"""Variables that a loop reads before it binds them again: they are carried, which must be said."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from tilesat.ir.parser.yields import yield_call


@dataclass(frozen=True, slots=True)
class _Scan:
    """What a statement list does to a variable: the first read of its old value, whether it is bound then."""

    read: ast.Name | None = None
    is_bound: bool = False


def read_before_bound(body: list[ast.stmt], name: str) -> ast.Name | None:
    """The first use of ``name`` in ``body`` that can see the value of the iteration before."""
    return _block(body, name).read


def _block(body: list[ast.stmt], name: str) -> _Scan:
    for stmt in body:
        scan = _stmt(stmt, name)
        if scan.read is not None or scan.is_bound:
            return scan
    return _Scan()


def _stmt(stmt: ast.stmt, name: str) -> _Scan:
    blocks = [block for field in ("body", "orelse") if (block := getattr(stmt, field, None))]
    if not isinstance(stmt, (ast.For, ast.If, ast.With)) or not blocks:
        return _Scan(_load(stmt, name), _stores(stmt, name))
    header = stmt.iter if isinstance(stmt, ast.For) else stmt.test if isinstance(stmt, ast.If) else None
    read = _load(header, name) if header is not None else None
    # The target of a loop hides the variable inside it.
    if read is not None or (isinstance(stmt, ast.For) and _stores(stmt.target, name)):
        return _Scan(read, _is_result(blocks, name))
    scans = [_block(block, name) for block in blocks]
    read = next((scan.read for scan in scans if scan.read is not None), None)
    return _Scan(read, _is_result(blocks, name) or (isinstance(stmt, ast.With) and scans[0].is_bound))


def _is_result(blocks: list[list[ast.stmt]], name: str) -> bool:
    """Whether the yield that ends the blocks binds ``name`` after them."""
    return any(yield_call(block[-1]) is not None and _stores(block[-1], name) for block in blocks)


def _load(node: ast.AST, name: str) -> ast.Name | None:
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id == name]
    # What ``x += 1`` stores, it also reads.
    reads = [part for part in names if isinstance(part.ctx, ast.Load)] or (names if _augments(node) else [])
    return min(reads, key=lambda part: (part.lineno, part.col_offset), default=None)


def _augments(node: ast.AST) -> bool:
    return isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)


def _stores(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store) for part in ast.walk(node)
    )
