"""The tutorial runs from top to bottom: files are written, commands end as it says, Python does not fail."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from tilesat.cli import main

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str, int]]:
    """Language, text and line of each block."""
    text = TUTORIAL.read_text(encoding="utf-8")
    return [(m[1], m[2], text.count("\n", 0, m.start()) + 1) for m in BLOCK.finditer(text)]


def run_commands(text: str, line: int) -> None:
    """Run each ``$`` line; a following ``exit N`` says with what status it ends."""
    lines = text.splitlines()
    for number, command in enumerate(lines):
        if not command.startswith("$ tilesat "):
            continue
        following = lines[number + 1] if number + 1 < len(lines) else ""
        wanted = int(following.removeprefix("exit ")) if following.startswith("exit ") else 0
        result = CliRunner().invoke(main, command.removeprefix("$ tilesat ").split())
        assert result.exit_code == wanted, f"line {line + number + 1}: {command}\n{result.output}\n{result.exception!r}"


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "tutorial"}
    found = blocks()
    assert {language for language, _, _ in found} == {"python", "console"}
    for language, text, line in found:
        if language == "console":
            run_commands(text, line)
        elif text.startswith("# file: "):
            name, _, rest = text.removeprefix("# file: ").partition("\n")
            Path(name.strip()).write_text(rest, encoding="utf-8")
        else:
            exec(compile("\n" * line + text, str(TUTORIAL), "exec"), names)
