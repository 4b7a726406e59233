"""Reports of the laboratory on the terminal: tables and a progress bar."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from tilesat.lab.checking import CheckReport

if TYPE_CHECKING:
    from tilesat.lab.catalogue import Entry
    from tilesat.lab.comparing import Comparison

ProgressCallback = Callable[[int, int, str], None]
QUIET_SECONDS = 1.0
FILE_WIDTH = 160


@contextmanager
def lab_progress(what: str) -> Iterator[ProgressCallback]:
    """A callback ``(done, total, label)`` that shows a bar on stderr once the run takes over a second."""
    console = Console(stderr=True)
    started = time.monotonic()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=console, transient=True)
    task = bar.add_task(what, total=None)
    shown = False

    def report(done: int, total: int, label: str) -> None:
        nonlocal shown
        if not shown and console.is_terminal and time.monotonic() - started > QUIET_SECONDS:
            bar.start()
            shown = True
        bar.update(task, completed=done, total=total, description=f"{what}: {label}")

    try:
        yield report
    finally:
        if shown:
            bar.stop()


def _console() -> Console:
    """Wide where the output goes to a file: nothing there knows how wide it is."""
    console = Console()
    return console if console.is_terminal else Console(width=FILE_WIDTH)


def print_check(report: CheckReport) -> None:
    """The rules with how often they fired, warnings, and what was found."""
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("rule", "family", "change", "target"):
        table.add_column(column, overflow="fold")
    for column in ("programs", "fired in", "share"):
        table.add_column(column, justify="right")
    for rule in report.rules:
        fired = "-" if rule.change == "removed" else str(rule.fired)
        share = "-" if rule.change == "removed" else f"{rule.share:.0%}"
        table.add_row(rule.name, rule.family, rule.change, rule.target, str(rule.examples), fired, share)
    _console().print(table)
    for warning in report.warnings:
        click.echo(f"warning: {warning}", err=True)
    if report.refused:
        click.echo(f"{report.refused} programs have no right result under the shipped rules either", err=True)
    if report.unjudged:
        click.echo(f"{report.unjudged} programs could not be interpreted", err=True)
    if report.refutation is not None:
        click.echo(f"NOT SOUND: {report.refutation}")
    elif report.counterexample is not None:
        click.echo(f"NOT SOUND: {report.counterexample}")
    else:
        click.echo(f"no counterexample in {report.examples} programs ({report.seconds:.0f} s)")


def print_comparison(result: Comparison) -> None:
    """One table over all programs per rule set and cost model, then what each rule did."""
    console = _console()
    for title, columns, rows in result.tables():
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
        for number, column in enumerate(columns):
            table.add_column(column, justify="left" if number == 0 else "right", no_wrap=True)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    for failure in result.failures:
        click.echo(f"failed: {failure}", err=True)


def print_rules(listed: Sequence[Entry]) -> None:
    """All rules: family, meaning, requirements, where they are on."""
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("rule", "family", "meaning", "requirements", "on in"):
        table.add_column(column, overflow="fold")
    for item in listed:
        table.add_row(
            item.rule.name, item.rule.family, item.rule.meaning, ", ".join(item.rule.requirements), item.where
        )
    _console().print(table)


def print_rule(item: Entry) -> None:
    """One rule in full."""
    console = Console(soft_wrap=True)
    console.print(Text(f"{item.rule.name}: {item.rule.meaning}", style="bold"))
    click.echo(item.text())
