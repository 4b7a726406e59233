"""Profiles of hypothesis: ``ci`` is quick and repeatable, ``nightly`` searches.

Choose with the environment variable ``TILESAT_PROFILE``.
"""

from __future__ import annotations

import os
import re

import pytest
from hypothesis import HealthCheck, settings

# Building a program takes many decisions; hypothesis takes that for a slow or too large strategy.
_UNCHECKED = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

settings.register_profile(
    "ci", max_examples=200, deadline=None, derandomize=True, database=None, suppress_health_check=_UNCHECKED
)
settings.register_profile(
    "nightly", max_examples=5000, deadline=None, print_blob=True, suppress_health_check=_UNCHECKED
)
settings.load_profile(os.environ.get("TILESAT_PROFILE", "ci"))


_ROW = re.compile(r"\b(?:INF|ORC|MIS)-(?:\w+-)?\d\d\b")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Requirement rows that a docstring names select the test: ``pytest -k INF_P1_03``."""
    for item in items:
        text = getattr(getattr(item, "function", None), "__doc__", None) or ""
        for row in _ROW.findall(text):
            item.extra_keyword_matches.update((row, row.replace("-", "_")))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh-golden", action="store_true", help="rewrite golden files with what the code gives now")


@pytest.fixture
def refresh_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten."""
    return bool(request.config.getoption("--refresh-golden"))
