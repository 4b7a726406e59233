"""Every condition of an in-place merge is needed: with it the program stays right, without it something breaks."""

from __future__ import annotations

import pytest

import tilesat
from tests.orch.hazards import HAZARDS, Hazard
from tests.orch.texts import optimized, said
from tilesat.rules.catalogue import preset


def breaks(hazard: Hazard) -> str:
    """How the program goes wrong without the rule, empty when it does not."""
    rules = preset(hazard.rules).without(*hazard.rule.split())
    try:
        result = tilesat.optimize_orch_tensors(hazard.program, rules=rules)
    except tilesat.VerifyError as error:
        return str(error)
    gives_up = any(d.check == "overwritten-input" for d in result.diagnostics)
    return str(tilesat.validate(hazard.program, result.program, observe_inputs=not gives_up).difference or "")


@pytest.mark.parametrize("hazard", HAZARDS, ids=lambda h: f"{h.requirement}-{h.rule}".replace(" ", "-"))
def test_the_condition_holds_the_merge_back(hazard: Hazard) -> None:
    """ORC-1-02, ORC-1-03, negative: the pass leaves the meaning alone, and says why it merges nothing there."""
    result = optimized(hazard.program, hazard.rules)
    if hazard.reason:
        said(result, hazard.reason)


@pytest.mark.parametrize("hazard", HAZARDS, ids=lambda h: h.rule)
def test_without_the_condition_the_program_breaks(hazard: Hazard) -> None:
    """ORC-1-03: a rule set without the condition is caught."""
    assert breaks(hazard)
