"""The command line run in this process, its two streams apart."""

from __future__ import annotations

import inspect
from pathlib import Path
from textwrap import dedent

from click.testing import CliRunner, Result

from tilesat.cli import main

PROGRAM = dedent(
    """
    import pypto.language as pl

    @pl.program
    class Product:
        @pl.function(type=pl.FunctionType.InCore)
        def f(
            a: pl.Tensor[[16, 64], pl.BF16],
            b: pl.Tensor[[64, 32], pl.BF16],
            o: pl.Out[pl.Tensor[[16, 32], pl.FP32]],
        ) -> pl.Tensor[[16, 32], pl.FP32]:
            at = pl.load(a, [0, 0], [16, 64], target_memory=pl.Mem.Mat)
            bt = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
            m = pl.matmul(at, bt)
            r = pl.store(m, [0, 0], o)
            return r
    """
).lstrip()
"""A kernel that takes two moves."""


def run(*arguments: str | Path) -> Result:
    """The result of ``tilesat`` with these arguments: ``exit_code``, ``stdout``, ``stderr``."""
    # Newer releases of click keep the streams apart always and have no such option.
    options = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}
    return CliRunner(**options).invoke(main, [str(argument) for argument in arguments])


def refused(*arguments: str | Path) -> str:
    """The one message of a run that bad input ends: exit status 2, nothing on stdout, no traceback."""
    result = run(*arguments)
    assert result.exit_code == 2, (result.exit_code, result.stdout, result.stderr)
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr


def written(path: Path, text: str = PROGRAM) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
