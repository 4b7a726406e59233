"""What is not modelled is carried as its text: never dropped, never changed, and a barrier."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tests.ir.parsing import expression, kernel, printed, refused_body, statements
from tilesat.ir.memory import is_barrier
from tilesat.ir.nodes import BinOp, OpaqueExpr, OpaqueStmt, OpCall
from tilesat.ir.parser import parse_text
from tilesat.ir.walk import reads

STATEMENTS = {
    "assert": ("assert a > 0, 'positive'", ("a",)),
    "import": ("import os.path as path, sys", ()),
    "delete": ("del a", ("a",)),
    "raise": ("raise ValueError(a) from None", ("a",)),
    "break": ("while p:\n    break", ("p",)),
    "loop with else": ("for v in pl.range(4):\n    pass\nelse:\n    print(a)", ("a",)),
    "attribute": ("x.name = a", ("x", "a")),
    "element": ("x[0, a] = b", ("x", "a", "b")),
    "matrix product": ("v @= a", ("a",)),
    "chain of targets": ("v = w = a", ("a",)),
    "starred target": ("v, *w = given(a)", ("a",)),
    "try": ("try:\n    pl.announce(a)\nexcept OSError as error:\n    # Why.\n    raise\nfinally:\n\n    pass", ("a",)),
    "context": ("with pl.at(level=a) as place:\n    pl.announce(b)", ("a", "b")),
    "two contexts": ("with pl.scope(), given(a):\n    pass", ("a",)),
    "definition": ("def inner(v, w=a):\n    return v + b", ("a", "b")),
    "match": ("match a:\n    case [1, *rest] if rest:\n        pass", ("a",)),
    "suspension": ("v = yield a", ("a",)),
    "binding": ("if (v := a) > 1:\n    pass", ("a",)),
    "generator": ("pl.announce(v for v in given(a))", ("a",)),
    "declaration": ("v: pl.Scalar[pl.INDEX]", ()),
    "unknown loop": ("for v in pl.spiral(a):\n    for w in v:\n        pl.announce(w)", ("a",)),
    "while with limit": (
        "for (v,) in pl.while_(init_values=(a,), limit=8):\n    pl.cond(v > 0)\n    w = pl.yield_(v)",
        ("a",),
    ),
    "strings over lines": ('assert a, """\nas far left\n            as they are\n"""', ("a",)),
    "brackets over lines": ("assert (\n  a\n      or b)", ("a", "b")),
    "trailing comment": ("assert a  # why", ("a",)),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_is_carried(name: str) -> None:
    text, names = STATEMENTS[name]
    (stmt, *after) = statements(f"{text}\npl.announce(c)")
    assert isinstance(stmt, OpaqueStmt)
    assert tuple(reads(stmt)) == names
    assert is_barrier(stmt)
    assert len(after) == 1


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_prints_as_it_was(name: str) -> None:
    text = kernel(STATEMENTS[name][0])
    body = text.partition("):\n")[2]
    assert str(parse_text(text)).endswith(":\n" + body)


def test_lines_inside_strings_keep_their_indentation() -> None:
    head = kernel("pass").removesuffix("pass\n")
    text = head + 'assert a, """\nas far left\n            as they are"""\n'
    program = parse_text(text)
    assert str(program).endswith('        assert a, """\nas far left\n            as they are"""\n')
    assert parse_text(str(program)) == program


def test_statements_that_share_a_line_are_told_apart() -> None:
    assert printed("assert a; assert b; del c").splitlines() == ["assert a", "assert b", "del c"]


@pytest.mark.parametrize(
    "text",
    [
        "lambda v: v + 1",
        "a if p else b",
        "0 < a < 8",
        "a in (1, 2)",
        "a is not None",
        "a @ b",
        "x[0:2, ::3]",
        "x[-1]",
        "x[a]",
        "x.shape",
        "x.shape[1:]",
        "given(a)(b)",
        "x.method(a, key=b)",
        "[v for v in x if v]",
        "{v: a for v in x}",
        "{1, 2}",
        "{**x, 'n': 1}",
        "{a: b}",
        "f'{a:>4} rows'",
        "b'bytes'",
        "1j",
        "...",
        "a == 'text'",
        "None or a",
        "pld.NotifyOp.Set",
        "super().f(a)",
        "self.member",
        "float(a)",
    ],
)
def test_an_expression_is_carried(text: str) -> None:
    expr = expression(text)
    assert isinstance(expr, OpaqueExpr)
    assert expr.text == text
    assert set(expr.names) <= {"a", "b", "c", "p", "x", "out"}
    assert printed(f"r: pl.Scalar[pl.INDEX] = {text}") == f"r: pl.Scalar[pl.INDEX] = {text}"


def test_an_expression_is_carried_inside_modelled_ones() -> None:
    text = "pl.novel(*x, (a if p else b) + 1, [lambda: a, x[1:]], key=a @ b, more={'n': 0 < a < 1})"
    call = expression(text)
    assert isinstance(call, OpCall)
    assert isinstance(call.args[1], BinOp)
    assert printed(f"r: pl.Scalar[pl.INDEX] = {text}".replace("'n'", '"n"')).endswith(text.replace("'n'", '"n"'))


def test_an_expression_over_lines_is_kept_in_brackets() -> None:
    body = "r: pl.Scalar[pl.INDEX] = (a\n            if p else\n    b)\ns: pl.Scalar[pl.INDEX] = given(a,\n  b)"
    text = kernel("pass").replace("pass\n", body.replace("\ns:", "\n        s:") + "\n")
    assert str(parse_text(text)).endswith(body.replace("\ns:", "\n        s:") + "\n")


@pytest.mark.parametrize("text", ["pl.Ptr", "pl.Ptr[pl.FP32]", "pl.MemRefType", "pld.Window[a, 4]", "None", "'Later'"])
def test_a_type_is_carried(text: str) -> None:
    assert printed(f"r: {text} = given()") == f"r: {text} = given()"


def test_what_an_unmodelled_statement_binds_can_be_used() -> None:
    body = dedent(
        """
        import limits
        with given(a) as file:
            r: pl.Scalar[pl.INDEX] = a
        v, *w = file
        s: pl.Scalar[pl.INDEX] = v + r
        t: pl.Scalar[pl.INDEX] = limits.most(*w)
        pl.announce(s, t)
        """
    ).strip()
    assert printed(body) == body


def test_the_type_of_such_a_variable_is_not_guessed() -> None:
    refused_body(
        "v, *w = given(a)\nr = v + 1",
        "2:9",
        "the type of 'r' cannot be deduced",
        "annotate it: r: pl.Tile[...] = ...",
    )


def test_other_module_lines_are_carried() -> None:
    head = dedent(
        '''
        import numpy as np
        from helpers import limit

        # The largest.
        MOST = limit(8)

        def rounded(v):
            """Up.
              to 16"""
            return v


        '''
    ).lstrip("\n")
    text = str(parse_text(head + kernel("r: pl.Scalar[pl.INDEX] = MOST")))
    assert text.startswith("# pypto.program: Snippet\nimport pypto.language as pl\n\n" + head + "@pl.program\n")
    assert text.endswith("r: pl.Scalar[pl.INDEX] = MOST\n")
    assert str(parse_text(text)) == text


def test_a_constant_that_a_carried_text_needs_is_kept() -> None:
    head = "BASE = 4\nUNUSED = 5\nMOST = BASE * 2\nTABLE = given(UNUSED)\n"
    text = str(parse_text(head + kernel("assert a < MOST\nr = MOST")))
    assert "BASE = 4\nUNUSED = 5\nMOST = BASE * 2\nTABLE = given(UNUSED)\n@pl.program" in text
    assert text.endswith("        assert a < MOST\n        r: pl.Scalar[pl.INDEX] = 8\n")
    assert "BASE" not in str(parse_text(head + kernel("r = MOST")))


def test_docstrings_of_the_module_and_the_class_are_kept_as_comments() -> None:
    text = '"""The module.\nTwo lines.\n"""\n' + kernel("pass").replace(
        "class Snippet:", 'class Snippet:\n    """The class."""'
    )
    assert "# The module.\n# Two lines.\n# The class.\n@pl.program\n" in str(parse_text(text))


def test_lines_after_the_class_are_kept_before_it() -> None:
    text = str(parse_text(kernel("pass") + "\n\nENTRY = given(Snippet)\n# The end.\n"))
    assert "\n\nENTRY = given(Snippet)\n# The end.\n@pl.program\n" in text
    assert str(parse_text(text)) == text
