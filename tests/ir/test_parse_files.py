"""Programs from texts and from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ir.parsing import kernel
from tilesat.errors import ParseError
from tilesat.ir.parser import parse, parse_text

TEXT = kernel('pl.announce("größe")')


def failure(source: str | Path) -> str:
    with pytest.raises(ParseError) as caught:
        parse(source)
    return str(caught.value)


def test_a_text() -> None:
    assert parse(TEXT) == parse_text(TEXT)


@pytest.mark.parametrize("kind", [str, Path])
def test_a_file(tmp_path: Path, kind: type[str] | type[Path]) -> None:
    file = tmp_path / "program.py"
    file.write_text(TEXT, encoding="utf-8")
    assert parse(kind(file)) == parse_text(TEXT)


def test_a_file_of_another_system(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert str(parse(file)) == str(parse_text(TEXT))


def test_errors_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text(kernel("r = missing"), encoding="utf-8")
    hint = "define it before this use, in this block or one around it"
    assert failure(file) == f"{file}:7:13: undefined variable 'missing' ({hint})"


def test_errors_of_a_text_name_no_file() -> None:
    assert failure(kernel("r = missing")).startswith("<text>:7:13: ")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "missing.py"
    hint = "give the path of a readable file"
    assert failure(str(file)) == failure(file)
    assert failure(file) == f"{file}: the file cannot be read: No such file or directory ({hint})"


def test_a_directory(tmp_path: Path) -> None:
    assert failure(tmp_path).startswith(f"{tmp_path}: the file cannot be read: ")


def test_a_string_that_names_no_file_is_a_text() -> None:
    assert (
        failure("missing") == "<text>:1:1: the text has 0 program classes (write exactly one class under @pl.program)"
    )


def test_a_string_that_ends_as_a_file_does_is_a_path() -> None:
    assert failure("missing.py").startswith("missing.py: the file cannot be read: No such file or directory ")


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    file = tmp_path / "latin.py"
    file.write_bytes(b"import pypto.language as pl\n# gr\xfc\xdfe\n")
    assert failure(file) == f"{file}:2:5: the file is not UTF-8: invalid start byte (save it as UTF-8)"
