"""Kernels before and after inference, written as the text of their bodies.

A body is in the hand-written spelling: types that it does not annotate are deduced. Its parameters are those of
:data:`PARAMETERS` that it uses. What comes out is compared structurally, layouts included, as the text of a program
would be: names of bound variables do not matter.
"""

from __future__ import annotations

import re
from textwrap import dedent, indent

import tilesat
from tilesat.ir.nodes import Program
from tilesat.rules.rule import RuleSet

PARAMETERS = {
    # Operands of the cube: a @ b is [16, 32], p @ a is [16, 64].
    "a": "pl.Tensor[[16, 64], pl.BF16]",
    "b": "pl.Tensor[[64, 32], pl.BF16]",
    "p": "pl.Tensor[[16, 16], pl.BF16]",
    "bias": "pl.Tensor[[1, 32], pl.FP32]",
    # What has the shape of the product, and a column of it.
    "x": "pl.Tensor[[16, 32], pl.FP32]",
    "y": "pl.Tensor[[16, 32], pl.FP32]",
    "col": "pl.Tensor[[16, 1], pl.FP32]",
    "n": "pl.Scalar[pl.INDEX]",
    "s": "pl.Scalar[pl.FP32]",
    "h": "pl.Scalar[pl.BF16]",
    "o": "pl.Out[pl.Tensor[[16, 32], pl.FP32]]",
    "q": "pl.Out[pl.Tensor[[16, 32], pl.FP32]]",
    "wide": "pl.Out[pl.Tensor[[16, 64], pl.BF16]]",
}
RETURNED = "pl.Tensor[[16, 32], pl.FP32]"


def program(*functions: str, head: str = "") -> str:
    """The text of a program of these functions, ``head`` before the class."""
    body = indent("\n".join(functions), "    ")
    return f"import pypto.language as pl\n{head}\n\n@pl.program\nclass Snippet:\n{body}"


def function(body: str, *, kind: str = "InCore", name: str = "f", params: str | None = None, like: str = "") -> str:
    """The text of a function; ``params`` spells its parameters, by default those that ``body`` or ``like`` uses."""
    body = dedent(body).strip("\n")
    if params is None:
        words = set(re.findall(r"\w+", f"{body}\n{like}"))
        params = ", ".join(f"{key}: {type_}" for key, type_ in PARAMETERS.items() if key in words)
    count = max((line.count(",") + 1 for line in body.splitlines() if line.startswith("return ")), default=0)
    returned = RETURNED if count == 1 else f"tuple[{', '.join([RETURNED] * count)}]"
    arrow = f" -> {returned}" if count else ""
    return f"@pl.function(type=pl.FunctionType.{kind})\ndef {name}({params}){arrow}:\n{indent(body, '    ')}\n"


def kernel(body: str, *, like: str = "", params: str | None = None) -> Program:
    """A program with one InCore function of this body."""
    return tilesat.parse(program(function(body, params=params, like=like)))


def infer(
    before: str | Program, *, hardware: str | None = None, rules: str | RuleSet = "reference", params: str | None = None
) -> tilesat.PassResult:
    """The result for a kernel of body ``before``, which must mean what it meant."""
    given = before if isinstance(before, Program) else kernel(before, params=params)
    result = tilesat.infer_tile_memory_space(given, hardware=hardware, rules=rules)
    validation = tilesat.validate(given, result.program)
    assert validation.ok, f"{validation}\n{result.program}"
    return result


def becomes(
    before: str,
    after: str,
    *,
    hardware: str | None = None,
    rules: str | RuleSet = "reference",
    params: str | None = None,
) -> tilesat.PassResult:
    """Assert that the kernel of body ``before`` becomes that of body ``after``; the result."""
    result = infer(before, hardware=hardware, rules=rules, params=params)
    assert_equal(result.program, kernel(after, like=before, params=params))
    return result


def assert_equal(found: Program, wanted: Program) -> None:
    """Both programs are the same up to names of bound variables, compared as their texts say them."""
    difference = tilesat.first_difference(tilesat.parse(str(found)), tilesat.parse(str(wanted)))
    assert difference is None, f"{difference}\n{found}"


def unchanged(body: str, *, hardware: str | None = None, params: str | None = None) -> tilesat.PassResult:
    """Assert that inference finds nothing to do."""
    return becomes(body, body, hardware=hardware, params=params)


def body_of(found: Program | tilesat.PassResult, name: str = "f") -> str:
    """The printed body of function ``name``."""
    text = str(found if isinstance(found, Program) else found.program)
    after = text.split(f"def {name}(", 1)[1].split("\n", 1)[1]
    return dedent(re.split(r"\n    @|\n\S", after, maxsplit=1)[0]).strip("\n")


def annotations(found: Program | tilesat.PassResult) -> dict[str, str]:
    """The printed type of every annotated variable."""
    text = str(found if isinstance(found, Program) else found.program)
    return dict(re.findall(r"^ +(\w+): (.+?) = ", text, flags=re.MULTILINE))
