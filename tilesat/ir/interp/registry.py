"""Which function evaluates which op."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from tilesat.errors import InterpretError
from tilesat.ir.interp import (
    ops_elementwise,
    ops_matmul,
    ops_memory,
    ops_reduce,
    ops_system,
    ops_views,
    uninterpreted,
)
from tilesat.ir.interp.call import Call, Handler, Unmodelled
from tilesat.ir.interp.values import Value
from tilesat.ir.ops import op_table


@lru_cache(maxsize=1)
def handlers() -> Mapping[str, Handler]:
    """All ops with a model, by full name."""
    table: dict[str, Handler] = {}
    for module in (ops_matmul, ops_memory, ops_system, ops_views):
        table |= module.handlers()
    for name, handler in (ops_elementwise.handlers() | ops_reduce.handlers()).items():
        table[f"tile.{name}"] = table[f"tensor.{name}"] = handler
    known = op_table()
    return MappingProxyType({name: handler for name, handler in table.items() if name in known})


def is_modelled(op: str) -> bool:
    """Whether ``op`` is evaluated with its real meaning."""
    return op in handlers()


def evaluate_op(call: Call) -> Value:
    """The value of ``call``; operands are mutated as the op says."""
    handler = handlers().get(call.node.op)
    if handler is None:
        return uninterpreted.evaluate(call)
    value = handler(call)
    if isinstance(value, Unmodelled):
        return uninterpreted.evaluate(call)
    leftover = call.leftover()
    if leftover:
        raise InterpretError(f"keyword {leftover[0]} of {call.node.op} is not modelled")
    return value
