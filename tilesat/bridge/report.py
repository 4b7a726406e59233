"""Decisions, diagnostics and ops as readable tables; progress of long runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from tilesat.bridge.decisions import Decision
from tilesat.bridge.infer import PassResult
from tilesat.bridge.waterfall import Step
from tilesat.diagnostics import Diagnostic, Severity
from tilesat.ir.ops import OpInfo

ProgressCallback = Callable[[int, str], None]
QUIET_SECONDS = 1.0
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


@contextmanager
def progress_bar(total: int) -> Iterator[ProgressCallback]:
    """A callback ``(done, function)`` that shows a bar on stderr once the run takes over a second."""
    console = Console(stderr=True)
    started = time.monotonic()
    bar: Progress | None = None
    task = None

    def report(done: int, name: str) -> None:
        nonlocal bar, task
        if bar is None:
            if not console.is_terminal or time.monotonic() - started < QUIET_SECONDS:
                return
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            bar = Progress(*columns, console=console, transient=True)
            bar.start()
            task = bar.add_task("functions", total=total)
        assert task is not None
        bar.update(task, completed=done, description=name)

    try:
        yield report
    finally:
        if bar is not None:
            bar.stop()


def print_decisions(decisions: Sequence[Decision], *, to_stderr: bool = False) -> None:
    """A table of ``decisions`` per function: what, where, by which rules, for how much, and instead of what."""
    console = _wide_console(to_stderr)
    for function in dict.fromkeys(decision.function for decision in decisions):
        rows = [decision for decision in decisions if decision.function == function]
        priced = any(decision.cost is not None for decision in rows)
        compared = any(decision.rejected for decision in rows)
        table = Table(title=f"function {function}", box=box.SIMPLE_HEAD, title_justify="left")
        table.add_column("kind", no_wrap=True)
        for name in ("decision", "at", "rules"):
            table.add_column(name, overflow="fold")
        if priced:
            table.add_column("cost", justify="right", no_wrap=True)
        if compared:
            table.add_column("best rejected", overflow="fold")
            table.add_column("costs more", justify="right", no_wrap=True)
        for decision in rows:
            cells: list[str | Text] = [
                decision.kind,
                Text(decision.text),
                Text(shortened(decision.place)),
                ", ".join(decision.rules),
            ]
            cells += [amount(decision.cost)] if priced else []
            cells += [Text(decision.rejected), amount(decision.rejected_cost)] if compared else []
            table.add_row(*cells)
        console.print(table)


def print_waterfall(steps: Sequence[Step], *, to_stderr: bool = False) -> None:
    """What each family of rules saved, from the reference to the result."""
    if not steps:
        return
    table = Table(title="where the savings come from", box=box.SIMPLE_HEAD, title_justify="left")
    table.add_column("rules", no_wrap=True)
    table.add_column("what they offer", overflow="fold")
    for name in ("saved", "cost", "of reference"):
        table.add_column(name, justify="right", no_wrap=True)
    reference = steps[0].cost
    for step in steps:
        share = f"{step.cost / reference:.1%}" if reference else ""
        table.add_row(step.family, step.meaning, amount(step.saved), amount(step.cost), share)
    _wide_console(to_stderr).print(table)


def print_summary(result: PassResult, model: str) -> None:
    """Cost, reference, lower bound and status on stderr, where a cost model chose."""
    if result.cost is None or result.reference_cost is None:
        return
    saved = f", {1 - result.cost / result.reference_cost:.1%} less" if result.reference_cost else ""
    text = f"cost ({model}): {amount(result.cost)}; reference {amount(result.reference_cost)}{saved}"
    if result.lower_bound is not None:
        text += f"; lower bound {amount(result.lower_bound)}"
    Console(stderr=True, soft_wrap=True, highlight=False).print(f"{text}; {result.status}")


def amount(value: float | None) -> str:
    """A cost as readers want it: whole numbers with separators, small ones with four digits."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.4g}"


def shortened(line: str, width: int = 60) -> str:
    """A statement without the types it states, cut to ``width`` characters."""
    line = line.replace("pl.", "")
    name, has_type, rest = line.partition(": T")
    if has_type and " = " in rest:
        line = f"{name} = {rest.partition(' = ')[2]}"
    return line if len(line) <= width else line[: width - 3] + "..."


NARROWEST = 160


def _wide_console(to_stderr: bool) -> Console:
    """As wide as the terminal; wide enough for a table where there is none."""
    console = Console(stderr=to_stderr)
    return console if console.is_terminal else Console(stderr=to_stderr, width=max(NARROWEST, console.width))


def print_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """Each diagnostic on stderr, severity in colour."""
    console = Console(stderr=True, soft_wrap=True)
    for diagnostic in diagnostics:
        text = Text(str(diagnostic))
        text.stylize(_COLOURS[diagnostic.severity], 0, len(diagnostic.severity.value))
        console.print(text)


def print_ops(table: Mapping[str, OpInfo]) -> None:
    """All ops with their arguments and where their result lives."""
    out = Table(box=box.SIMPLE_HEAD)
    # Names stay whole, for whoever searches the list.
    out.add_column("op", no_wrap=True)
    for column in ("arguments", "slots", "result"):
        out.add_column(column, overflow="fold")
    for info in table.values():
        out.add_row(info.name, ", ".join(info.args), _slots(info), _result(info))
    Console().print(out)


def print_op(info: OpInfo) -> None:
    """Everything known of one op."""
    out = Table(box=box.SIMPLE_HEAD, show_header=False)
    out.add_column(style="bold")
    out.add_column(overflow="fold")
    effects = [f"{info.args[k]}: {effect.name}" for k, effect in sorted(info.effects.items())]
    effects += [f"{info.args[k]}: {'/'.join(e.name for e in es)}" for k, es in sorted(info.kwarg_effects.items())]
    rows = {
        "op": info.name,
        "category": info.category,
        "arguments": ", ".join(info.args),
        "keywords": ", ".join(f"{key}: {kind}" for key, kind in info.kwargs.items()),
        "slots": _slots(info),
        "result": _result(info),
        "effects": ", ".join(effects),
        "result shares": "" if info.reuses_arg is None else info.args[info.reuses_arg],
        "view": "yes" if info.is_view else "",
        "core": info.core or "",
        "wants layout": "" if info.wants_layout is None else ", ".join(info.wants_layout.inputs),
    }
    for name, value in rows.items():
        if value:
            out.add_row(name, value)
    Console().print(out)


def _slots(info: OpInfo) -> str:
    return ", ".join(f"{info.args[k]}: {'/'.join(spaces)}" for k, spaces in enumerate(info.slots) if spaces)


def _result(info: OpInfo) -> str:
    if info.output_kwarg is not None:
        default = f" (default {info.output_space.value})" if info.output_space is not None else ""
        return f"{info.output_kwarg}{default}"
    if info.output_space is not None:
        return info.output_space.value
    return str(info.output_rule.value)
