"""Ops on the launch, on tasks and on scalar arrays.

A program is evaluated as rank 0 of :data:`RANKS` ranks.
"""

from __future__ import annotations

import numpy as np

from tilesat.errors import InterpretError
from tilesat.ir.interp.call import Call, Handler
from tilesat.ir.interp.junk import junk
from tilesat.ir.interp.scalars import coerce
from tilesat.ir.interp.values import ScalarArray, Value

RANKS = 2
_INVALID_TASK = -1


def _block_idx(call: Call) -> Value:
    return call.frame.launch.block


def _block_num(call: Call) -> Value:
    return call.frame.launch.blocks


def _subblock_idx(call: Call) -> Value:
    return call.frame.launch.subblock


def _task_dummy(call: Call) -> Value:
    return call.run.next_task()


def _task_invalid(_call: Call) -> Value:
    return _INVALID_TASK


def _task_is_valid(call: Call) -> Value:
    return call.index(0) != _INVALID_TASK


def _rank(_call: Call) -> Value:
    return 0


def _ranks(_call: Call) -> Value:
    return RANKS


def _array_create(call: Call) -> Value:
    dtype = call.member("dtype")
    if dtype is None:
        raise InterpretError("array.create names no dtype")
    return ScalarArray(dtype, junk(dtype, (call.index(0),)).copy())


def _element(call: Call) -> tuple[ScalarArray, int]:
    array, index = call.array(0), call.index(1)
    if not 0 <= index < len(array.array):
        raise InterpretError(f"{call.node.op} at {index} of an array of {len(array.array)}")
    return array, index


def _get_element(call: Call) -> Value:
    array, index = _element(call)
    return coerce(array.array[index], array.dtype)


def _update_element(call: Call) -> Value:
    """In place, as the op table says: the result is the same array."""
    array, index = _element(call)
    array.array[index] = np.asarray(coerce(call.scalar(2), array.dtype), array.array.dtype)
    return array


def handlers() -> dict[str, Handler]:
    """Handlers by full op name."""
    table: dict[str, Handler] = {
        "system.task_dummy": _task_dummy,
        "system.task_invalid": _task_invalid,
        "system.task_is_valid": _task_is_valid,
        "pld.system.rank": _rank,
        "pld.system.nranks": _ranks,
        "pld.system.world_size": _ranks,
        "array.create": _array_create,
        "array.get_element": _get_element,
        "array.update_element": _update_element,
    }
    for kind in ("tile", "tensor"):
        table |= {
            f"{kind}.get_block_idx": _block_idx,
            f"{kind}.get_block_num": _block_num,
            f"{kind}.get_subblock_idx": _subblock_idx,
        }
    return table
