"""Whole programs before and after the orchestration pass, written as texts of their functions.

Bodies are in the hand-written spelling: types that they do not annotate are deduced. ``S`` in a text stands for a
small tensor of 8 by 16, ``L`` for a large one of 16 by 32, ``T``, ``H`` and ``Q`` for tiles of 8, 4 and 2 rows of 16,
``N`` for an index. What comes out is compared structurally with the text expected: names of variables do not matter.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import dedent, indent

import tilesat
from tilesat.bridge.orch import OVERWRITTEN_INPUT
from tilesat.extract.orch_cost import OrchCostModel
from tilesat.ir.nodes import Program
from tilesat.rules.rule import RuleSet

WORDS = {
    "S": "pl.Tensor[[8, 16], pl.FP32]",
    "L": "pl.Tensor[[16, 32], pl.FP32]",
    "T": "pl.Tile[[8, 16], pl.FP32, pl.Mem.Vec]",
    "H": "pl.Tile[[4, 16], pl.FP32, pl.Mem.Vec]",
    "Q": "pl.Tile[[2, 16], pl.FP32, pl.Mem.Vec]",
    "N": "pl.Scalar[pl.INDEX]",
    "TASK": "pl.Scalar[pl.TASK_ID]",
    "NEW": "pl.tensor.create([8, 16], dtype=pl.FP32, layout=pl.TensorLayout.ND)",
    "NEW_L": "pl.tensor.create([16, 32], dtype=pl.FP32, layout=pl.TensorLayout.ND)",
    "VIEW": "layout=pl.TensorLayout.ND",
}
_CORES = {"InCore": "level=pl.Level.CHIP_DIE, role=pl.Role.SubWorker"}
_CORES |= {"AIC": "level=pl.Level.AIC, role=pl.Role.SubWorker", "AIV": "level=pl.Level.AIV, role=pl.Role.SubWorker"}
_CORES |= {"Orchestration": "level=pl.Level.CHIP, role=pl.Role.Orchestrator"}


def spelled(text: str) -> str:
    """``text`` with the short names of types spelled out; ``S96`` is a small tensor with rows 96 elements apart."""
    strided = r"pl.Tensor[[8, 16], pl.FP32, pl.TensorView(stride=[\1, 1], layout=pl.TensorLayout.ND)]"
    text = re.sub(r"\bS(\d+)\b", strided, text)
    return re.sub(r"\b(" + "|".join(WORDS) + r")\b", lambda match: WORDS[match.group()], text)


def function(header: str, body: str, kind: str = "InCore", options: str = "") -> str:
    """A function of ``kind``; ``header`` is its name, parameters and result."""
    details = "".join(f", {part}" for part in (_CORES.get(kind, ""), options) if part)
    decorated = f"@pl.function(type=pl.FunctionType.{kind}{details})"
    return f"{decorated}\ndef {spelled(header)}:\n{indent(spelled(dedent(body).strip(chr(10))), '    ')}\n"


def main(header: str, body: str) -> str:
    return function(header.replace("(", "(self, ", 1), body, "Orchestration")


def program(*functions: str, head: str = "") -> Program:
    body = indent("\n".join(functions), "    ")
    return tilesat.parse(f"import pypto.language as pl\n{head}\n\n@pl.program\nclass Snippet:\n{body}")


def optimized(
    before: Program,
    rules: str | RuleSet = "reference",
    *,
    cost: str | OrchCostModel = "traffic",
    options: Sequence[str] = (),
) -> tilesat.PassResult:
    """The result of the pass on ``before``, which must mean what it meant."""
    result = tilesat.optimize_orch_tensors(before, rules=rules, cost=cost, options=options)
    gives_up = any(d.check == OVERWRITTEN_INPUT for d in result.diagnostics)
    validation = tilesat.validate(before, result.program, observe_inputs=not gives_up)
    assert validation.ok, f"{validation}\n{result.program}"
    return result


def becomes(before: Program, after: Program, rules: str | RuleSet = "reference") -> tilesat.PassResult:
    """Assert that ``before`` becomes ``after``."""
    result = optimized(before, rules)
    difference = tilesat.first_difference(result.program, after)
    assert difference is None, f"{difference}\n{result.program}"
    return result


def stays(before: Program, *reasons: str, rules: str | RuleSet = "reference") -> tilesat.PassResult:
    """Assert that the pass leaves ``before`` alone, and says each of ``reasons``."""
    result = optimized(before, rules)
    difference = tilesat.first_difference(result.program, before)
    assert difference is None, f"{difference}\n{result.program}"
    said(result, *reasons)
    return result


def said(result: tilesat.PassResult, *reasons: str) -> None:
    """Assert that the notes of ``result`` contain each of ``reasons``."""
    messages = [diagnostic.message for diagnostic in result.diagnostics]
    for reason in reasons:
        assert any(reason in message for message in messages), messages


def created_bytes(program: Program) -> int:
    """Bytes of the buffers that ``program`` creates, each create counted once."""
    from tilesat.extract.orch_cost import byte_count
    from tilesat.ir.nodes import Assign, OpCall
    from tilesat.ir.walk import walk

    creates = [
        stmt
        for function in program.functions
        for stmt in walk(function.body)
        if isinstance(stmt, Assign) and isinstance(stmt.value, OpCall) and stmt.value.op == "tensor.create"
    ]
    return sum(byte_count(stmt.type) or 0 for stmt in creates)
