"""Conditions that few programs meet: what they hold back, under the reference rules and under the optimal ones."""

from __future__ import annotations

import pytest

import tilesat
from tests.orch.rare import RARE, Rare
from tests.orch.test_strides import block
from tests.orch.texts import main, optimized, program, said, stays
from tilesat.ir.nodes import Program
from tilesat.ir.types import Direction, TensorType
from tilesat.ir_terms.orch_facts_strides import row_major
from tilesat.lab.orch_strides import passed_strides
from tilesat.rules.catalogue import preset
from tilesat.rules.rule import RuleSet


def misled(result: Program) -> list[str]:
    """Parameters that state strides which tensors given for them do not have.

    An output that is assembled into a parent is still given a dense buffer (ORC-2-01).
    """
    passed = passed_strides(result, "run", directions=(Direction.In, Direction.Out, Direction.InOut))
    found = []
    for (name, param), stated in passed.stated.items():
        type_, direction = next((p.type, p.direction) for p in result.function(name).params if p.name == param)
        assert isinstance(type_, TensorType)
        known = {stated, row_major(type_.shape)} if direction is Direction.Out else {stated}
        if passed.given[name, param] - known:
            found.append(f"{name}: {param}")
    return found


def damage_of(rare: Rare, rules: RuleSet) -> str:
    """What goes wrong under ``rules``, empty when nothing does."""
    try:
        result = tilesat.optimize_orch_tensors(rare.program, rules=rules).program
    except tilesat.VerifyError:
        return "invalid"
    if not tilesat.validate(rare.program, result).ok:
        return "wrong"
    return "strides" if rare.damage == "strides" and misled(result) else ""


@pytest.mark.parametrize("rules", ["reference", "optimal"])
@pytest.mark.parametrize("rare", RARE, ids=lambda rare: rare.rule)
def test_the_condition_holds_the_rewrite_back(rare: Rare, rules: str) -> None:
    """ORC-1-03, ORC-2-01, ORC-3-01, ORC-4-01, ORC-5-05 to ORC-5-07, negative: meaning kept, the reason told.

    A copy of the kernel states the strides of one launch; then nothing is told of the others.
    """
    result = optimized(rare.program, rules)
    assert damage_of(rare, preset(rules)) == ""
    if not (rules == "optimal" and "strided" in str(result.program)):
        said(result, *([rare.reason] if rare.reason else []))


@pytest.mark.parametrize("rare", RARE, ids=lambda rare: rare.rule)
def test_without_the_condition_the_result_is_another(rare: Rare) -> None:
    """ORC-1-03, ORC-2-01, ORC-3-01, ORC-4-01, ORC-5-05 to ORC-5-07: optimal rules without it are caught."""
    rules = preset("optimal").without(rare.rule)
    assert damage_of(rare, rules) == rare.damage
    if not rare.damage:
        with_it = tilesat.optimize_orch_tensors(rare.program, rules="optimal").program
        assert str(tilesat.optimize_orch_tensors(rare.program, rules=rules).program) != str(with_it)


def test_a_parent_of_fewer_dimensions() -> None:
    """ORC-2-01, negative: it has no strides for all dimensions of the output."""
    line = "pl.Tensor[[512], pl.FP32]"
    body = f"buf = NEW\nc = self.blk(x, 0, buf)\nn: {line} = pl.tensor.assemble(y, c, [0])\nreturn n"
    stays(program(block(), main(f"run(x: L, y: pl.Out[{line}]) -> {line}", body)), "the rank of a tensor given for it")
