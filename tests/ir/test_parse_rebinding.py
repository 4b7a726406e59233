"""Names bound again mean what they mean in Python: texts run the same before and after, or are refused.

A random text is run as the Python function that it is. What the parser makes of it is printed, and run the same
way: every variable then has a name of its own, and yet both announce the same values in the same order.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from tests.ir.parsing import kernel
from tilesat.errors import ParseError
from tilesat.ir.parser import parse_text

NAMES = ["a", "b", "t", "u", "v"]
SCALARS = "a: pl.Scalar[pl.INDEX], b: pl.Scalar[pl.INDEX]"


class Language:
    """The little of the language that the texts use, as Python."""

    def __init__(self) -> None:
        self.announced: list[object] = []

    def announce(self, value: object) -> None:
        self.announced.append(value)

    def range(self, *bounds: int) -> range:
        return range(*bounds)

    def const(self, value: int, dtype: object) -> int:
        return value

    INDEX = None


def run(text: str) -> list[object] | None:
    """What ``f`` in ``text`` announces for a=3, b=2; ``None`` when it reads a variable without value."""
    body = text.partition(":\n        ")[2]
    language, names = Language(), dict[str, Callable[..., Any]]()
    exec(f"def f(pl, a, b):\n        {body}", names)
    try:
        names["f"](language, 3, 2)
    except NameError:
        return None
    return language.announced


class Writer:
    """Writes random bodies of assignments, branches and loops."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def expr(self) -> str:
        name, other = self.random.choices(NAMES, k=2)
        return self.random.choice([str(self.random.randrange(9)), name, name, f"{name} + {other}", f"{name} * 2"])

    def simple(self) -> str:
        name, other = self.random.sample(NAMES, 2)
        return self.random.choice(
            [
                f"{name} = {self.expr()}",
                f"{name} += {self.expr()}",
                f"{name}, {other} = {self.expr()}, {self.expr()}",
                f"pl.announce({self.expr()})",
                f"assert pl.announce([{name}][0]) is None",
            ]
        )

    def block(self, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.random.randrange(1, 5)):
            kind = self.random.random()
            if depth == 3 or kind < 0.7:
                lines.append(self.simple())
                continue
            inner = ["    " + line for line in self.block(depth + 1)]
            if kind < 0.85:
                lines += [
                    f"for {self.random.choice(['i', 'j', 't'])} in pl.range({self.random.randrange(1, 4)}):",
                    *inner,
                ]
                continue
            lines += [f"if {self.random.choice(NAMES)} > {self.expr()}:", *inner]
            if self.random.random() < 0.5:
                lines += ["else:", *("    " + line for line in self.block(depth + 1))]
        return lines

    def text(self) -> str:
        start = [f"{name} = {self.random.randrange(9)}" for name in NAMES if self.random.random() < 0.8]
        end = [f"pl.announce({name})" for name in NAMES if self.random.random() < 0.2]
        return kernel("\n".join([*start, *self.block(0), *end]), SCALARS)


@pytest.mark.parametrize("seed", range(10))
def test_texts_run_the_same_before_and_after(seed: int) -> None:
    writer, accepted = Writer(seed), 0
    for _ in range(150):
        text = writer.text()
        try:
            program = parse_text(text)
        except ParseError:
            continue
        accepted += 1
        assert run(str(program)) == run(text), text
    assert accepted > 15
