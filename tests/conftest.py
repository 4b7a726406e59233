"""Profiles of hypothesis: ``ci`` is quick and repeatable, ``nightly`` searches.

Choose with the environment variable ``TILESAT_PROFILE``.
"""

from __future__ import annotations

import os

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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh-golden", action="store_true", help="rewrite golden files with what the code gives now")


@pytest.fixture
def refresh_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are to be rewritten."""
    return bool(request.config.getoption("--refresh-golden"))
