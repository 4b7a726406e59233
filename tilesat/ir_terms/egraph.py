"""One egglog e-graph: loading rows, running rules, reading tables, and its failures as our errors."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from sys import intern
from typing import Any

from tilesat.errors import RuleError
from tilesat.ir_terms.bounded import saturate_bounded

# Who wants to see what running rules reports: the laboratory counts which rules fired.
LISTENER: ContextVar[Callable[[list[Any]], None] | None] = ContextVar("egglog-reports", default=None)
_TOKENS = re.compile(r'[()]|"(?:\\.|[^"\\])*"|;[^\n]*')
# What a field may not have as it is, or at its ends: in a text without these none has to be escaped.
_TO_ESCAPE = (
    *("\\", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x1f"),
    *(" \t", "\t ", "\t\t", " \n", "\n ", "\n\n", "\t\n", "\n\t"),
)
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def escape(text: str) -> str:
    """``text`` as one field of a tab-separated row; egglog trims blanks at the ends."""
    for char, code in _ESCAPES.items():
        if char in text:
            text = text.replace(char, code)
    return f"\\s{text}\\s" if text != text.strip() else text


def unescape(text: str) -> str:
    """The inverse of :func:`escape`."""
    if "\\" not in text:
        return text
    if text.startswith("\\s") and text.endswith("\\s") and len(text) >= 4:
        text = text[2:-2]
    out, position = [], 0
    while position < len(text):
        char = text[position]
        if char == "\\":
            position += 1
            char = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}[text[position]]
        out.append(char)
        position += 1
    return "".join(out)


class _Unescaped(dict[str, str]):
    """What texts of the e-graph say, found once for each."""

    def __missing__(self, text: str) -> str:
        plain = self[text] = intern(unescape(text))
        return plain


class Table:
    """One function or relation of a frozen e-graph, columns converted on reading."""

    def __init__(self, graph: EGraph, rows: Sequence[Any]) -> None:
        self._graph = graph
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def read(self, *kinds: str) -> list[tuple[Any, ...]]:
        """Rows as tuples; ``kinds`` names each column, the output last: int, str, class or strings.

        A relation's rows have no output column to name. Strings come back unescaped.
        """
        rows = [row for row in self._rows if not row.subsumed]
        columns = list(zip(*[row.inputs for row in rows], strict=True))
        if len(columns) < len(kinds):
            columns.append(tuple([row.output for row in rows]))
        converted = [self._graph.convert(kind, column) for kind, column in zip(kinds, columns, strict=bool(rows))]
        return list(zip(*converted, strict=True))


class EGraph:
    """A fresh e-graph running ``program``; every failure inside egglog becomes a :class:`RuleError`."""

    def __init__(self, program: str = "", *, what: str = "rules") -> None:
        self._bindings = _egglog()
        self._span = self._bindings.RustSpan("", 0, 0)
        with _guard(what):
            self._graph = self._bindings.EGraph()
        self._sets: dict[Any, tuple[str, ...]] = {}
        self._texts = _Unescaped()
        self._frozen: Mapping[str, Any] | None = None
        self._known: dict[str, list[Any]] = {}
        """Commands that were run, parsed."""
        self.suspects: frozenset[str] = frozenset()
        """Rules that nobody has vouched for; with any, saturation watches whether it ends."""
        # egglog reads rows from files; these are written anew for each function.
        self._folder = tempfile.mkdtemp(prefix="tilesat-", dir=_quick_folder())
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self.declare(program, what=what)

    def declare(self, program: str, *, what: str = "rules") -> None:
        """Add declarations and rules."""
        self._frozen = None
        with _guard(what):
            self._graph.run_program(*self._parsed(program, what))

    def load(self, rows: Mapping[str, Iterable[tuple[Any, ...]]]) -> None:
        """Enter ``rows`` (relation -> tuples of ints and strings), all in one go."""
        self.enter(self.laid_out(rows))

    def laid_out(self, rows: Mapping[str, Iterable[tuple[Any, ...]] | str], part: str = "") -> list[Any]:
        """Commands that enter ``rows``, or what :func:`lines` made of them.

        They hold until others are laid out for the same ``part``.
        """
        commands = []
        for number, (relation, tuples) in enumerate(rows.items()):
            path = os.path.join(self._folder, f"{part}{number}")
            _write(path, (tuples if isinstance(tuples, str) else lines(list(tuples))).encode())
            commands.append(self._bindings.Input(self._span, relation, path))
        return commands

    def enter(self, commands: Iterable[Any]) -> None:
        """Enter what was laid out."""
        self._frozen = None
        with _guard("loading facts"):
            self._graph.run_program(*commands)

    def run(self, text: str, *, what: str = "rules") -> list[Any]:
        """Run egglog commands given as text; returns what they output."""
        self._frozen = None
        with _guard(what):
            commands = self._known.get(text)
            if commands is None:
                commands = self._known[text] = self._parsed(text, what)
            outputs = list(self._graph.run_program(*commands))
        listener = LISTENER.get()
        if listener is not None:
            listener(outputs)
        return outputs

    def _parsed(self, program: str, what: str) -> list[Any]:
        """The commands of ``program``, each parsed by itself: every node of a command keeps all the text it is from."""
        return [command for text in commands_in(program) for command in self._graph.parse_program(text, what)]

    def saturate(self, *rulesets: str, what: str = "rules") -> Any:
        """Run ``rulesets``, one after the other, each until nothing new comes; returns the run report."""
        if self.suspects:
            return saturate_bounded(self, rulesets, self.suspects, what)
        schedule = " ".join(f"(saturate {name})" for name in rulesets)
        return self.run(f"(run-schedule {schedule})", what=what)

    def push(self) -> None:
        self.run("(push)", what="push")

    def pop(self) -> None:
        self.run("(pop)", what="pop")
        self._sets.clear()

    def table(self, name: str) -> Table:
        """The rows of function or relation ``name``, empty when it has none."""
        if self._frozen is None:
            with _guard("reading the e-graph"):
                # One access: each one copies the whole e-graph.
                self._frozen = self._graph.freeze().functions
        function = self._frozen.get(name)
        return Table(self, () if function is None else function.rows)

    def forget(self) -> None:
        """Give up the copy that tables are read from; the next read makes another."""
        self._frozen = None

    def convert(self, kind: str, values: Sequence[Any]) -> Sequence[Any]:
        """egglog values of one ``kind`` as Python ones: int, str, class (as they are) or strings (a sorted tuple)."""
        if kind == "class":
            return values
        if kind == "int":
            return list(map(self._graph.value_to_i64, values))
        if kind == "str":
            return list(map(self._texts.__getitem__, map(self._graph.value_to_string, values)))
        return list(map(self._string_set, values))

    def _string_set(self, value: Any) -> tuple[str, ...]:
        known = self._sets.get(value)
        if known is None:
            items = self.convert("str", list(self._graph.value_to_set(value)))
            known = self._sets[value] = tuple(sorted(items))
        return known


def commands_in(program: str) -> list[str]:
    """The texts of the commands of ``program``."""
    found, depth, start = [], 0, 0
    for token in _TOKENS.finditer(program):
        if token.group() == "(":
            start = token.start() if depth == 0 else start
            depth += 1
        elif token.group() == ")":
            depth -= 1
            if depth == 0:
                found.append(program[start : token.end()])
                start = token.end()
    rest = program[start:] if depth else ""
    # What is not closed is egglog's to complain of.
    return [*found, rest] if rest.strip() else found


@lru_cache(maxsize=1)
def _egglog() -> Any:
    """egglog's bindings, which take a while to import."""
    from egglog import bindings

    return bindings


@lru_cache(maxsize=1)
def _quick_folder() -> str | None:
    """Where files that live for an instant are cheapest: in memory where the system offers that."""
    memory = Path("/dev/shm")
    return str(memory) if memory.is_dir() and os.access(memory, os.W_OK | os.X_OK) else None


_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0)


def _write(path: str, content: bytes) -> None:
    """Write a small file; there are so many of them that a file object would take longer than the rest."""
    descriptor = os.open(path, _FLAGS, 0o600)
    try:
        while content:
            content = content[os.write(descriptor, content) :]
    finally:
        os.close(descriptor)


def lines(rows: Sequence[tuple[Any, ...]], patterns: Sequence[str] = ()) -> str:
    """Rows of one relation as egglog reads them; ``patterns`` say how each column is written, by default as it is."""
    if not rows:
        return ""
    patterns = patterns or ["%s"] * len(rows[0])
    pattern = "\t".join(patterns) + "\n"
    text = "".join([pattern % row for row in rows])
    is_plain = text.isascii() and not text[0].isspace() and text.count("\n") == len(rows)
    if is_plain and text.count("\t") == len(rows) * (len(rows[0]) - 1):
        for part in _TO_ESCAPE:
            if part in text:
                break
        else:
            return text
    return "".join([_line([pattern % x for pattern, x in zip(patterns, row, strict=True)]) for row in rows])


def _line(row: Sequence[str]) -> str:
    return "\t".join(map(escape, row)) + "\n"


@contextmanager
def _guard(what: str) -> Iterator[None]:
    """Turn egglog errors, and its panics, which are no ``Exception``, into :class:`RuleError`."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit, RuleError):
        raise
    except BaseException as error:
        kind = type(error).__name__
        if not isinstance(error, Exception) and kind != "PanicException":
            raise
        raise RuleError(f"egglog failed while running {what}: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    text = getattr(error, "context", None) or str(error)
    return str(text).strip()
