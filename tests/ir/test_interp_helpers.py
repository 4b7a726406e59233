"""Small programs for the tests of the interpreter. Holds no tests itself."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import numpy as np

from tilesat.ir.interp import Interpretation, interpret
from tilesat.ir.nodes import Program
from tilesat.ir.parser import parse_text

DATA = Path(__file__).parent.parent / "data"

T = "pl.Tensor[[4, 8], pl.FP32]"
V = "pl.Tile[[4, 8], pl.FP32, pl.Mem.Vec]"
LOAD = "pl.tile.load(x, [0, 0], [4, 8], [4, 8], target_memory=pl.Mem.Vec)"
CREATE = "pl.tile.create([4, 8], dtype=pl.FP32, target_memory=pl.Mem.Vec)"


def function(body: str, params: str = f"x: {T}, o: pl.Out[{T}]", *, name: str = "f", kind: str = "InCore") -> str:
    """Text of one function."""
    return f"@pl.function(type=pl.FunctionType.{kind})\ndef {name}({params}):\n{indent(dedent(body).strip(), '    ')}\n"


def program(*functions: str, head: str = "") -> Program:
    """The program of the functions with these texts; ``head`` are module lines."""
    text = f"import pypto.language as pl\nimport pypto.language.distributed as pld\n{head}\n@pl.program\nclass P:\n"
    return parse_text(text + indent("".join(functions), "    "))


def run(body: str, params: str = f"x: {T}, o: pl.Out[{T}]", **arguments: Any) -> Interpretation:
    """What a function with this body shows. Arguments are arrays or numbers; ``x`` counts from 0 by default."""
    subject = program(function(body, params))
    if "x" not in arguments and f"x: {T}" in params:
        arguments["x"] = X
    return interpret(subject, "f", arguments)


def out(body: str, params: str = f"x: {T}, o: pl.Out[{T}]", **arguments: Any) -> np.ndarray:
    """The final contents of the parameter ``o``."""
    return run(body, params, **arguments).arguments["o"]


X = np.arange(32, dtype=np.float32).reshape(4, 8)
