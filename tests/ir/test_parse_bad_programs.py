"""Texts that are no program are refused with one error that says what would be one.

Every case is the text, the place as ``line:column``, the message, and the hint: the error is compared in full.
"""

from __future__ import annotations

import pytest

from tests.ir.parsing import kernel, refused

OPTIONS = "type=pl.FunctionType.InCore"

CASES: dict[str, tuple[str, str, str, str]] = {
    "a bracket in a header": (
        kernel("pass").replace("):", ":"),
        "6:180",
        "syntax error: invalid syntax",
        "a program is written in the syntax of Python",
    ),
    "an indentation that fits nothing": (
        kernel("pass") + "      x = 1\n",
        "8:12",
        "syntax error: unindent does not match any outer indentation level",
        "a program is written in the syntax of Python",
    ),
    "a bracket that is not closed": (
        kernel("r = pl.min(a, b"),
        "7:19",
        "syntax error: '(' was never closed",
        "a program is written in the syntax of Python",
    ),
    "a string that is not closed": (
        kernel("pl.announce('abc)"),
        "7:21",
        "syntax error: unterminated string literal (detected at line 7)",
        "a program is written in the syntax of Python",
    ),
    "nothing at all": (
        "",
        "1:1",
        "the text has 0 program classes",
        "write exactly one class under @pl.program",
    ),
    "no class": (
        "import pypto.language as pl\n",
        "1:1",
        "the text has 0 program classes",
        "write exactly one class under @pl.program",
    ),
    "a class that is not decorated": (
        kernel("pass").replace("@pl.program\n", ""),
        "3:1",
        "the text has 0 program classes",
        "write exactly one class under @pl.program",
    ),
    "two program classes": (
        kernel("pass") + "\n@pl.program\nclass Other:\n    pass\n",
        "10:1",
        "the text has 2 program classes",
        "write exactly one class under @pl.program",
    ),
    "a decorator of the class with arguments": (
        kernel("pass").replace("@pl.program", "@pl.program(strict=True)"),
        "4:1",
        "'Snippet' has more than the plain decorator",
        "write @pl.program only",
    ),
    "a base class": (
        kernel("pass").replace("class Snippet:", "class Snippet(Base):"),
        "4:1",
        "'Snippet' has base classes",
        "write class Snippet:",
    ),
    "a function that is not decorated": (
        kernel("pass").replace("    @pl.function(type=pl.FunctionType.InCore)\n", ""),
        "5:5",
        "'f' is no tile function",
        "decorate it with @pl.function(...)",
    ),
    "a function decorated as something else": (
        kernel("pass").replace("@pl.function(type=pl.FunctionType.InCore)", "@staticmethod"),
        "6:5",
        "'f' is no tile function",
        "decorate it with @pl.function(...)",
    ),
    "two decorators": (
        kernel("pass").replace("    @pl.function(type", "    @cached\n    @pl.function(type"),
        "6:6",
        "'f' has more than one decorator",
        "keep @pl.function only",
    ),
    "a constant inside the class": (
        kernel("pass") + "\n    limit = 4\n",
        "9:5",
        "a program holds only functions",
        "move this out of the class",
    ),
    "an asynchronous function": (
        kernel("pass").replace("def f", "async def f"),
        "6:5",
        "a program holds only functions",
        "move this out of the class",
    ),
    "two functions of one name": (
        kernel("pass") + "    @pl.function\n    def f(self):\n        pass\n",
        "9:5",
        "function 'f' is defined twice",
        "rename one of them",
    ),
    "two parameters of one name": (
        kernel("pass", "a: pl.Scalar[pl.INDEX], a: pl.Scalar[pl.INDEX]"),
        "6:35",
        "parameter 'a' is named twice",
        "rename one of them",
    ),
    "a parameter without type": (
        kernel("pass", "a"),
        "6:11",
        "parameter 'a' has no type",
        "annotate it: a: pl.Tensor[[16, 64], pl.FP32], say",
    ),
    "a parameter of incomplete type": (
        kernel("pass", "a: pl.Tensor"),
        "6:14",
        "the type 'pl.Tensor' is incomplete",
        "write pl.Tensor[...] in full",
    ),
    "a default value": (
        kernel("pass", "a: pl.Scalar[pl.INDEX] = 4"),
        "6:5",
        "'f' has parameters that are not plain",
        "write no defaults, *, **, / or [T]",
    ),
    "a parameter named as the language": (
        kernel("pass", "pl: pl.Scalar[pl.INDEX]"),
        "6:5",
        "'pl' is bound, but stands for the language",
        "give the variable another name",
    ),
    "* parameters": (
        kernel("pass", "*a: pl.Scalar[pl.INDEX]"),
        "6:5",
        "'f' has parameters that are not plain",
        "write no defaults, *, **, / or [T]",
    ),
    "/ in the parameters": (
        kernel("pass", "a: pl.Scalar[pl.INDEX], /"),
        "6:5",
        "'f' has parameters that are not plain",
        "write no defaults, *, **, / or [T]",
    ),
    "** parameters": (
        kernel("pass", "**a: pl.Scalar[pl.INDEX]"),
        "6:5",
        "'f' has parameters that are not plain",
        "write no defaults, *, **, / or [T]",
    ),
    "an undefined extent in a parameter": (
        kernel("pass", "x: pl.Tensor[[n, 64], pl.FP32]"),
        "6:25",
        "undefined variable 'n'",
        "define it before this use, in this block or one around it",
    ),
    "a function type as string": (
        kernel("pass").replace("pl.FunctionType.InCore", '"InCore"'),
        "5:23",
        '"InCore" is no FunctionType',
        "write pl.FunctionType.<member>",
    ),
    "a level as function type": (
        kernel("pass").replace("pl.FunctionType.InCore", "pl.Level.AIC"),
        "5:23",
        "'pl.Level.AIC' is no FunctionType",
        "write pl.FunctionType.<member>",
    ),
    "a function type by position": (
        kernel("pass").replace(OPTIONS, "pl.FunctionType.InCore"),
        "5:18",
        "a decorator has keywords only",
        "write type=pl.FunctionType.InCore",
    ),
    "options by **": (
        kernel("pass").replace(OPTIONS, "**options"),
        "5:18",
        "'**' arguments are not supported",
        "name each keyword",
    ),
    "attributes that are no dict": (
        "options = given()\n" + kernel("pass").replace(OPTIONS, "attrs=options"),
        "6:24",
        "malformed function attributes",
        'write attrs={"name": value}',
    ),
    "a binding in a decorator": (
        kernel("pass").replace(OPTIONS, "kind=(k := 1)"),
        "6:5",
        "'f' has ':=', 'yield', 'await' or a generator where a value is needed",
        "write a value, or a name bound to it",
    ),
    "a return outside the function": (
        kernel("pass") + "return a\n",
        "8:1",
        "a return outside a function",
        "indent it as far as the function's body",
    ),
    "a dimension without name": (
        "N = pl.dynamic(4)\n" + kernel("pass"),
        "1:5",
        "a dynamic dimension has one name and nothing else",
        'write "N"',
    ),
    "an allocation with an address": (
        "slot = pl.MemRef('a', 4)\n" + kernel("pass"),
        "1:8",
        "a MemRef has one name and nothing else",
        'write "slot"',
    ),
    "two types for one parameter": (
        kernel("pass", "y: pl.Out[pl.Ptr, pl.Ptr]"),
        "6:21",
        "a type is expected, not several",
        "write pl.Tuple[...]",
    ),
    "an attribute without name": (
        kernel("pass").replace("        pass", "        pl.func_attr({name: 1})"),
        "7:9",
        "malformed function attributes",
        'write pl.func_attr({"name": value})',
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_program(name: str) -> None:
    refused(*CASES[name])
