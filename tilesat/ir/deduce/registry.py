"""Which rule deduces the result of which op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from tilesat.ir.deduce import (
    creation,
    data_movement,
    elementwise,
    indexing,
    matmul,
    reductions,
    tensors,
    views,
)
from tilesat.ir.deduce.operands import Operands, Rule, Undeducible
from tilesat.ir.nodes import OpCall
from tilesat.ir.types import Type

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **creation.RULES,
        **data_movement.RULES,
        **elementwise.RULES,
        **indexing.RULES,
        **matmul.RULES,
        **reductions.RULES,
        **tensors.RULES,
        **views.RULES,
    }
)


def deduce_call(call: OpCall, arg_types: Sequence[Type | None]) -> Type | None:
    """The result type of ``call``; ``arg_types[i]`` is the type of ``call.args[i]``, ``None`` for lists.

    ``None`` for an op without result or without rule, and where the operands leave the result open. The type
    of a tile includes its space, which is ``None`` for a load or create without ``target_memory``.

    Raises :class:`tilesat.errors.TypeDeductionError` for operands that can never fit: a tensor for a tile, a
    wrong number of arguments, static extents that contradict each other.
    """
    rule = RULES.get(call.op)
    if rule is None:
        return None
    operands = Operands(call, arg_types)
    operands.check_count(rule.least)
    try:
        return rule.deduce(operands)
    except Undeducible:
        return None
