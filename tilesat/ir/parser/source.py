"""The text being parsed: source segments, comment lines, and errors that point into it."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass

from tilesat.errors import Location, ParseError

_LINE_END = re.compile(r"\r\n|\r|\n")
_LAYOUT = frozenset(
    {tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE, tokenize.ENDMARKER}
)
Renames = dict[str, str]


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
        self.lines = split_lines(text)
        self.comments = self._comment_lines()
        self._next_comment = 0

    # ------------------------------------------------------------------------- comments

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

    def drop_comments(self, node: ast.expr) -> None:
        """Forget what looks like comments inside ``node``: they are part of its text."""
        first, last = node.lineno, node.end_lineno or node.lineno
        self.comments = [comment for comment in self.comments if not first < comment.line <= last]

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

    # ------------------------------------------------------------------------- segments

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The text of ``node``, verbatim; lines are joined by ``\\n``."""
        if node.lineno == node.end_lineno:
            line = self.lines[node.lineno - 1]
            if line.isascii():
                return line[node.col_offset : node.end_col_offset]
        return "\n".join(self.region(node, {}))

    def quoted(self, node: ast.expr | ast.stmt) -> str:
        """``node`` in quotes, on one line and shortened, for messages."""
        text = " ".join(self.segment(node).split())
        if len(text) > _LONGEST_QUOTE:
            text = text[: _LONGEST_QUOTE - 3] + "..."
        return text if text.startswith(("'", '"')) else f"'{text}'"

    def region(self, node: ast.expr | ast.stmt, renames: Renames) -> list[str]:
        """The lines of ``node``, cut where it begins and ends, with its variables renamed."""
        first, last = first_line(node), node.end_lineno or node.lineno
        lines = self.lines[first - 1 : last]
        end = self._offset(last, node.end_col_offset or 0)
        for name in _last_first(node, renames):
            row, new = name.lineno - first, renames[name.id]
            line = lines[row] if 0 <= row < len(lines) else ""
            start = self._offset(name.lineno, name.col_offset) if line else 0
            if not line.startswith(name.id, start):
                # Older Pythons place the names inside of some strings wrongly.
                raise self.error(
                    node, f"'{name.id}' is bound more than once and used in a text that is not modelled", RENAME
                )
            lines[row] = line[:start] + new + line[start + len(name.id) :]
            end += len(new) - len(name.id) if name.lineno == last else 0
        lines[-1] = lines[-1][:end]
        lines[0] = lines[0][self._offset(first, node.col_offset) :]
        return lines

    def statement_lines(self, node: ast.stmt, renames: Renames) -> tuple[str, ...]:
        """The logical lines of ``node``, relative to its own indentation.

        A logical line that is continued holds its further lines verbatim: they may be the inside of a string.
        """
        lines = self.region(node, renames)
        tail = self.lines[(node.end_lineno or node.lineno) - 1][self._offset(node.end_lineno, node.end_col_offset) :]
        if tail.lstrip().startswith("#"):
            lines[-1] += tail
        if len(lines) == 1:
            return (lines[0],)
        indent = self.lines[first_line(node) - 1][: self._offset(node.lineno, node.col_offset)]
        indent = indent if indent.isspace() else " " * len(indent)
        continued = _continued_rows([indent + lines[0], *lines[1:]])
        logical = [lines[0]]
        for row, line in enumerate(lines[1:], 1):
            if row in continued or (line and not line.startswith(indent)):
                logical[-1] += "\n" + line
            else:
                logical.append(line[len(indent) :])
        return tuple(logical)

    # --------------------------------------------------------------------------- places

    def _offset(self, line: int | None, offset: int | None) -> int:
        """The characters before byte ``offset`` of a line; the syntax tree counts bytes."""
        if line is None or offset is None:
            return 0
        text = self.lines[line - 1]
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))

    def location(self, node: ast.AST) -> Location:
        line, offset = getattr(node, "lineno", None), getattr(node, "col_offset", None)
        return Location(self.file, line, None if offset is None else self._offset(line, offset) + 1)

    def error(self, node: ast.AST, message: str, hint: str | None = None) -> ParseError:
        """A :class:`ParseError` at ``node``."""
        return ParseError(message, location=self.location(node), hint=hint)


_LONGEST_QUOTE = 60
RENAME = "give the rebound variable a name of its own"


def split_lines(text: str) -> list[str]:
    """The lines of ``text`` as Python counts them: other separators of Unicode do not end a line."""
    lines = _LINE_END.split(text) if "\r" in text else text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def counted(number: int, noun: str) -> str:
    """``1 value``, ``2 values``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def first_line(node: ast.expr | ast.stmt) -> int:
    """The line where ``node`` begins, decorators included."""
    if not isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)) or not node.decorator_list:
        return node.lineno
    return min(node.lineno, node.decorator_list[0].lineno)


def _last_first(node: ast.AST, renames: Renames) -> Iterable[ast.Name]:
    if not renames:
        return ()
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name) and part.id in renames]
    return sorted(names, key=lambda name: (name.lineno, name.col_offset), reverse=True)


def _continued_rows(lines: list[str]) -> set[int]:
    """Rows, counted from 0, that continue the logical line of the row before."""
    continued: set[int] = set()
    start = 0
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
        if token.type == tokenize.NEWLINE:
            continued.update(range(start, token.start[0]))
            start = 0
        elif token.type not in _LAYOUT and not start:
            start = token.start[0]
    return continued
