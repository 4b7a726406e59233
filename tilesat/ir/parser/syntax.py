"""Python's syntax tree of a text, with every way to fail turned into one error."""

from __future__ import annotations

import ast

from tilesat.errors import Location, ParseError
from tilesat.ir.parser.source import split_lines


def syntax_tree(text: str, file: str | None) -> ast.Module:
    """The module ``text``; raises :class:`tilesat.ParseError` with line and column."""
    if "\0" in text:
        raise _unreadable(text, file, text.index("\0"), "a null character")
    try:
        return ast.parse(text)
    except SyntaxError as error:
        location = Location(file, error.lineno or 1, max(error.offset or 1, 1))
        message = f"syntax error: {error.msg or 'invalid syntax'}"
        raise ParseError(message, location=location, hint="a program is written in the syntax of Python") from None
    except UnicodeEncodeError as error:
        raise _unreadable(text, file, error.start, "half of a surrogate pair") from None
    except (RecursionError, MemoryError):
        raise too_deep(text, file) from None


def _unreadable(text: str, file: str | None, position: int, what: str) -> ParseError:
    line = text.count("\n", 0, position) + 1
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    return ParseError(
        f"the text contains {what}", location=Location(file, line, column), hint="write Unicode text without it"
    )


def too_deep(text: str, file: str | None) -> ParseError:
    """The error for a text that is nested deeper than Python can follow; it points to the longest statement."""
    return ParseError(
        "the text is nested too deeply",
        location=Location(file, _longest_statement(text), 1),
        hint="bind parts of the expression to names",
    )


def _longest_statement(text: str) -> int:
    """The line where the longest statement begins, judged by brackets alone: good enough to point at."""
    longest, line = 0, 1
    start, size, depth = 1, 0, 0
    for number, content in enumerate(split_lines(text), 1):
        if depth <= 0:
            start, size, depth = number, 0, 0
        size += len(content)
        depth += sum(map(content.count, "([{")) - sum(map(content.count, ")]}"))
        if size > longest:
            longest, line = size, start
    return line
