"""Programs from files."""

from __future__ import annotations

import os
from pathlib import Path

from tilesat.errors import Location, ParseError
from tilesat.ir.nodes import Program
from tilesat.ir.parser.program import parse_text


def parse(source: str | os.PathLike[str]) -> Program:
    """The program in ``source``: a text, or the path of a file.

    A string without a line break that names an existing file, or ends in ``.py``, is a path, and so is every
    ``PathLike``.
    Raises :class:`tilesat.ParseError` for a text that is no tile program, and for a file that cannot be
    read or is not UTF-8.
    """
    if isinstance(source, str) and not _names_file(source):
        return parse_text(source)
    path = os.fspath(source)
    return parse_text(_read(path), path)


def _names_file(text: str) -> bool:
    if not text or len(text) > _LONGEST_PATH or any(mark in text for mark in "\n\r\0"):
        return False
    if text.endswith(".py"):
        return True  # No program ends like this: to say that the file is missing helps more.
    try:
        return os.path.isfile(text)
    except UnicodeEncodeError:
        return False


_LONGEST_PATH = 4096


def _read(path: str) -> str:
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ParseError(
            f"the file cannot be read: {reason}", location=Location(path), hint="give the path of a readable file"
        ) from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - (data.rfind(b"\n", 0, error.start) + 1) + 1
        raise ParseError(
            f"the file is not UTF-8: {error.reason}",
            location=Location(path, line, column),
            hint="save it as UTF-8",
        ) from None
