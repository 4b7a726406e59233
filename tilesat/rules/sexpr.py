"""S-expressions: just enough of egglog's syntax to expand macros in the text of a rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from tilesat.errors import RuleError

Node: TypeAlias = "str | list[Node]"

_TOKEN = re.compile(r'\s*(?:;[^\n]*\n?\s*)*([()]|"(?:[^"\\]|\\.)*"|[^\s()";]+)')


def read(text: str) -> list[Node]:
    """All expressions in ``text``; atoms and strings stay as written."""
    stack: list[list[Node]] = [[]]
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            break
        token, position = match.group(1), match.end()
        if token == "(":
            stack.append([])
        elif token == ")":
            if len(stack) == 1:
                raise RuleError(f"unmatched ')' at character {match.start(1)}", hint="remove it")
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    if len(stack) != 1:
        raise RuleError(f"{len(stack) - 1} unclosed '('", hint="close every parenthesis")
    return stack[0]


def write(node: Node) -> str:
    """``node`` as text."""
    return node if isinstance(node, str) else f"({' '.join(map(write, node))})"


def head(node: Node) -> str | None:
    """The first atom of a list, ``None`` for atoms and for lists that start otherwise."""
    if isinstance(node, list) and node and isinstance(node[0], str):
        return node[0]
    return None


def lists(node: Node) -> Iterator[list[Node]]:
    """``node`` and all lists inside it."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            yield one
            waiting += one


def heads(node: Node) -> frozenset[str]:
    """Whatever ``node`` applies, itself and inside."""
    return frozenset(first for one in lists(node) if (first := head(one)) is not None)
