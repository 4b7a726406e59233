"""Types after operands changed: what a call yields now, and what carries and results become."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tilesat.ir.deduce import deduce_call
from tilesat.ir.nodes import Expr, OpCall, Var
from tilesat.ir.types import MemorySpace, TileType, Type, in_space


def same_but_memref(a: Type | None, b: Type | None) -> bool:
    """Whether two types agree apart from the allocation they name."""
    if isinstance(a, TileType) and isinstance(b, TileType):
        return replace(a, memref=None) == replace(b, memref=None)
    return a == b


def retyped_call(call: OpCall, old: Type, space: MemorySpace | None, types: Mapping[str, Type]) -> Type:
    """The type of ``call`` after its operands changed (peer behaviour, section 6.4).

    Shape, dtype and view are deduced again; a tile keeps ``space`` and the allocation it names. Where the
    op has no deduction rule, the old type stays and only the space changes.
    """
    deduced = deduce_call(call, [operand_type(arg, types) for arg in call.args])
    if not isinstance(old, TileType):
        return old if deduced is None else deduced
    if not isinstance(deduced, TileType):
        return old if space is None else in_space(old, space)
    placed = deduced if space is None or deduced.space is space else in_space(deduced, space)
    return replace(placed, memref=old.memref)


def operand_type(arg: Expr, types: Mapping[str, Type]) -> Type | None:
    """The type of an operand that is a variable, else ``None``."""
    return types.get(arg.name) if isinstance(arg, Var) else None


def follow(old: Type, old_source: Type | None, new_source: Type | None, space: MemorySpace | None) -> Type:
    """The type of a variable that had its source's type, or a relabelled one, after the source changed."""
    if not isinstance(old, TileType) or space is None:
        return old
    if isinstance(new_source, TileType) and new_source.space is space and same_but_memref(old, old_source):
        # In its source's allocation it stays with its source; a copy of that is in none.
        shares = isinstance(old_source, TileType) and old.memref == old_source.memref
        return new_source if shares else replace(new_source, memref=old.memref)
    return in_space(old, space)
