"""InOutUseValid: a buffer is read under the newest name it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from tilesat.ir.nodes import (
    Assign,
    EvalStmt,
    Expr,
    For,
    FuncCall,
    If,
    OpCall,
    Return,
    Stmt,
    Submit,
    Var,
    While,
)
from tilesat.ir.ops import Effect, op_info
from tilesat.ir.types import Direction, TensorType
from tilesat.ir.verify.facts import Facts, Loop
from tilesat.ir.verify.report import Report
from tilesat.ir.walk import blocks, reads


def check_inout(facts: Facts, report: Report) -> None:
    """InOutUseValid (peer behaviour, section 11): reads of an old name after its buffer was written.

    A call that writes an ``Out`` or ``InOut`` argument, and a store, give the buffer a new name: the
    variable they bind. So does a loop that carries the buffer and writes it. Reading an old name gives
    the new contents, hence the warning. Writing again under the old name and returning it are fine, and
    so is a write that binds no new name.
    """
    _InOutWalk(facts, report).run()


@dataclass(slots=True)
class _Split:
    """The writes of an if's branches: undone at the end of each, in force together after the if."""

    mark: int
    writes: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _EndBranch:
    split: _Split


@dataclass(frozen=True, slots=True)
class _Join:
    split: _Split


@dataclass(frozen=True, slots=True)
class _EndLoop:
    loop: Loop


_Work: TypeAlias = "Stmt | _EndBranch | _Join | _EndLoop"


class _InOutWalk:
    """Walks in program order; ``renamed`` maps an old name to the variable that replaced it."""

    def __init__(self, facts: Facts, report: Report) -> None:
        self.facts = facts
        self.report = report
        self.renamed: dict[str, str] = {}
        self.log: list[tuple[str, str | None]] = []

    def run(self) -> None:
        work: list[_Work] = list(reversed(self.facts.function.body))
        while work:
            item = work.pop()
            if isinstance(item, _EndBranch):
                self._end_branch(item.split)
            elif isinstance(item, _Join):
                for name, writer in item.split.writes:
                    self._rename(name, writer)
            elif isinstance(item, _EndLoop):
                self._end_loop(item.loop)
            else:
                self._statement(item, work)

    def _statement(self, stmt: Stmt, work: list[_Work]) -> None:
        self._check_reads(stmt)
        if isinstance(stmt, Assign):
            for name, _ in self._written(stmt.value):
                self._rename(name, stmt.name)
            return
        if isinstance(stmt, (For, While)):
            work.append(_EndLoop(stmt))
        if not isinstance(stmt, If):
            for body in blocks(stmt):
                work.extend(reversed(body))
            return
        split = _Split(len(self.log))
        work.append(_Join(split))
        for branch in reversed(blocks(stmt)):
            work.append(_EndBranch(split))
            work.extend(reversed(branch))

    def _rename(self, name: str, writer: str) -> None:
        self.log.append((name, self.renamed.get(name)))
        self.renamed[name] = writer

    def _end_loop(self, loop: Loop) -> None:
        """A carried buffer that the body writes is the init's buffer; the loop's result is its new name."""
        for carry, result in zip(loop.carries, loop.results, strict=False):
            if carry.name in self.renamed and isinstance(carry.init, Var):
                self._rename(carry.init.name, result.name)

    def _end_branch(self, split: _Split) -> None:
        split.writes += [(name, self.renamed[name]) for name, _ in self.log[split.mark :]]
        while len(self.log) > split.mark:
            name, previous = self.log.pop()
            if previous is None:
                del self.renamed[name]
            else:
                self.renamed[name] = previous

    def _check_reads(self, stmt: Stmt) -> None:
        if not self.renamed or isinstance(stmt, Return):
            return
        uses = Counter(name for name in reads(stmt) if name in self.renamed)
        if not uses:
            return
        if isinstance(stmt, (Assign, EvalStmt)):
            uses.subtract(name for name, is_read in self._written(stmt.value) if not is_read)
        for name, count in uses.items():
            if count > 0:
                self.report.warning(
                    f"'{name}' is read after its buffer was written; '{self.renamed[name]}' is its new name",
                    stmt,
                )

    def _written(self, value: Expr) -> Iterator[tuple[str, bool]]:
        """Tensor variables that ``value`` writes, and whether it reads them first."""
        if isinstance(value, OpCall):
            info = op_info(value.op)
            for position in () if info is None else info.written_args(value):
                if info is not None:
                    yield from self._tensor(value.args[position], info.effect(position, value) is not Effect.WRITE)
        elif isinstance(value, (FuncCall, Submit)) and value.callee in self.facts.functions:
            for param, arg in zip(self.facts.functions[value.callee].params, value.args, strict=False):
                if param.direction is not Direction.In:
                    yield from self._tensor(arg, param.direction is Direction.InOut)

    def _tensor(self, arg: Expr, is_read: bool) -> Iterator[tuple[str, bool]]:
        if isinstance(arg, Var) and isinstance(self.facts.types.get(arg.name), TensorType):
            yield arg.name, is_read
