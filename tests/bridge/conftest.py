"""What tests of other processes share."""

from __future__ import annotations

import pytest

import tilesat
from tests.bridge.asking import HEAD, SUM
from tilesat.bridge import workers
from tilesat.ir.nodes import Program


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> Program:
    """Four functions and one of them once more, for which other processes are asked all the same."""
    monkeypatch.setattr(workers, "FEWEST_TASKS", 4)
    return tilesat.parse(HEAD + "".join(SUM.format(number=n, rows=16 * (n % 4 + 1)) for n in range(5)))
