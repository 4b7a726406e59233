"""Results do not depend on the seed of Python's hashes, so not on the order of any set."""

from __future__ import annotations

import os
import subprocess
import sys
from textwrap import dedent

import pytest

# The nest has several tiles that move for all their readers, whose order is told.
SCRIPT = dedent(
    """
    import tilesat
    from tilesat.lab.generate import random_program
    from tilesat.lab.scale import loop_nest

    for program in (loop_nest(500), *map(random_program, range(12))):
        result = tilesat.optimize(program, rules=RULES, hardware="910b")
        print(result.program, *result.decisions, *result.diagnostics, sep="\\n")
    """
)


@pytest.mark.parametrize("rules", ["reference", "optimal"])
def test_results_do_not_depend_on_the_hash_seed(rules: str) -> None:
    """Programs, decisions and diagnostics, in order."""
    told = set()
    for seed in ("1", "2", "3"):
        command = [sys.executable, "-c", SCRIPT.replace("RULES", repr(rules))]
        done = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        told.add(done.stdout)
    assert len(told) == 1
    assert len(told.pop().splitlines()) > 500
