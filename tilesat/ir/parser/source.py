"""The text being parsed: source segments, comment lines, and errors that point into it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from tilesat.errors import Location, ParseError

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class CommentLine:
    """A line that holds only a comment; ``line`` starts at 1, ``text`` is without the ``#``."""

    line: int
    indent: int
    text: str


class Source:
    """A program text with the lookups the parser needs."""

    def __init__(self, text: str, file: str | None) -> None:
        self.text = text
        self.file = file
        self.lines = text.splitlines()
        self._is_ascii = text.isascii()
        self.comments = self._comment_lines()
        self._next_comment = 0

    def _comment_lines(self) -> list[CommentLine]:
        found = []
        for number, line in enumerate(self.lines, 1):
            stripped = line.lstrip()
            if stripped.startswith("#"):
                found.append(CommentLine(number, len(line) - len(stripped), stripped[1:]))
        return found

    def skip_comments(self, line: int) -> None:
        """Forget comments before ``line``."""
        while self._next_comment < len(self.comments) and self.comments[self._next_comment].line < line:
            self._next_comment += 1

    def take_comments(self, before: int, indent: int = 0) -> list[CommentLine]:
        """The comments not yet taken that stand before line ``before``, down to ``indent``."""
        taken = []
        while self._next_comment < len(self.comments):
            comment = self.comments[self._next_comment]
            if comment.line >= before or comment.indent < indent:
                break
            taken.append(comment)
            self._next_comment += 1
        return taken

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The text of ``node``."""
        if node.lineno == node.end_lineno and self._is_ascii:
            return self.lines[node.lineno - 1][node.col_offset : node.end_col_offset]
        return ast.get_source_segment(self.text, node) or ""

    def statement_lines(self, node: ast.stmt) -> tuple[str, ...]:
        """The lines of ``node``, relative to its own indentation."""
        indent = node.col_offset
        lines = self.lines[node.lineno - 1 : node.end_lineno]
        return tuple(line[indent:] if not line[:indent].strip() else line.lstrip() for line in lines)

    def location(self, node: ast.AST, function: str | None = None) -> Location:
        column = getattr(node, "col_offset", None)
        return Location(self.file, getattr(node, "lineno", None), None if column is None else column + 1, function)

    def error(self, node: ast.AST, message: str, hint: str | None = None) -> ParseError:
        """A :class:`ParseError` at ``node``."""
        return ParseError(message, location=self.location(node), hint=hint)


def identifiers(text: str) -> tuple[str, ...]:
    """The distinct identifiers in ``text``, in order."""
    return tuple(dict.fromkeys(_IDENTIFIER.findall(text)))
