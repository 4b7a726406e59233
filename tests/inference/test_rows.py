"""Every requirement row of phases 0 to 3 is named by a test (`grep -r INF-P1-03 tests`)."""

from __future__ import annotations

from pathlib import Path

import pytest

GROUPS = {"INF-S": 6, "INF-P0": 3, "INF-P1": 12, "INF-P2": 2, "INF-P3": 6}
ROWS = [f"{group}-{number:02}" for group, count in GROUPS.items() for number in range(1, count + 1)]
TEXTS = [path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_*.py")]


@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_named(row: str) -> None:
    """By at least two tests: what must happen, and what must not."""
    assert sum(text.count(row) for text in TEXTS) >= 2


def test_rows_select_tests(request: pytest.FixtureRequest) -> None:
    """INF-P1-03: `pytest -k INF_P1_03` finds this one, and so does the id as it is written."""
    assert {"INF_P1_03", "INF-P1-03"} <= request.node.extra_keyword_matches
