"""The command line: ``tilesat opt``, ``verify``, ``diff`` and ``ops``.

Bad input ends with one message on stderr and exit status 2; a check that found something ends with 1.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import click

from tilesat.errors import TilesatError

if TYPE_CHECKING:
    from tilesat.bridge.infer import PassResult
    from tilesat.bridge.validate import Validation
    from tilesat.ir.nodes import Program

_F = TypeVar("_F", bound=Callable[..., Any])
CHIPS = click.Choice(["910b", "950"], case_sensitive=False)
FOUND, BAD_INPUT = 1, 2


def _clean_errors(function: _F) -> _F:
    """Our own errors as one message and exit status 2, never a traceback."""

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TilesatError as error:
            click.echo(f"error: {error}", err=True)
            sys.exit(BAD_INPUT)
        except BrokenPipeError:
            # The reader went away (`| head`): nothing is wrong with the program.
            sys.stderr.close()
            sys.exit(0)

    return wrapper  # type: ignore[return-value]


class _LazyGroup(click.Group):
    """A group some of whose commands are in modules that are imported when they are used."""

    LAZY: ClassVar[dict[str, str]] = {"lab": "lab", "rules": "rules"}
    MODULE = "tilesat.lab.commands"

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *self.LAZY])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.LAZY:
            return super().get_command(ctx, cmd_name)
        command = getattr(importlib.import_module(self.MODULE), self.LAZY[cmd_name])
        assert isinstance(command, click.Command)
        return command


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="tilesat")
def main() -> None:
    """Optimise tile programs with equality saturation."""


@main.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the program here, not to stdout.")
@click.option("--pass", "pass_name", type=click.Choice(["infer", "orch", "all"]), default="infer", show_default=True)
@click.option(
    "--rules",
    multiple=True,
    metavar="SPEC",
    help="A preset (reference, optimal), a Python file with extend(rules), or both; 'optimal,-hoist' leaves some out.",
)
@click.option("--without", multiple=True, metavar="NAME", help="Leave out a rule or a family of rules.")
@click.option("--hardware", type=CHIPS, help="The chip to compile for.")
@click.option("--cost", metavar="traffic|moves|FILE.py", help="A cost model; see examples/cost_model.py.")
@click.option("--exact", is_flag=True, help="Prove the choice with a solver.")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), help="Seconds for the search, 10 without.")
@click.option("--seed", type=int, help="Order in which the local search visits choices, 0 without.")
@click.option(
    "--allow", multiple=True, metavar="OPTION", help="A promise or permission: retarget_loads, assume_noalias, ..."
)
@click.option(
    "--explain", is_flag=True, help="Print each decision, its rules, and what it rejected; and what saved how much."
)
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Processes that solve many functions; without, as many as pay off."
)
@click.option("--check", is_flag=True, help="Interpret before and after on random inputs.")
@click.option("--json", "as_json", is_flag=True, help="Print program, decisions and diagnostics as JSON.")
@_clean_errors
def opt(
    source: Path,
    output: Path | None,
    pass_name: str,
    rules: tuple[str, ...],
    without: tuple[str, ...],
    hardware: str | None,
    cost: str | None,
    exact: bool,
    time_limit: float | None,
    seed: int | None,
    allow: tuple[str, ...],
    explain: bool,
    jobs: int | None,
    check: bool,
    as_json: bool,
) -> None:
    """Run a pass on the program in SOURCE: memory spaces, orchestration, or both in the pipeline's order."""
    from tilesat.bridge.report import print_decisions, print_diagnostics, print_summary, print_waterfall, progress_bar
    from tilesat.bridge.request import Request
    from tilesat.rules.loading import load_rules

    loaded = load_rules(rules or ("reference",), without=without)
    cost = cost or loaded.cost
    request = Request(pass_name, loaded.rules, hardware, cost, exact, time_limit, seed, allow, explain, jobs)
    request.check()
    program = _read(source)
    with progress_bar(request.steps(program)) as progress:
        result = request.run(program, progress)
    if as_json:
        text = json.dumps(result.as_dict(), indent=2) + "\n"
    else:
        text = str(result.program)
    validation = _validated(program, result) if check else None
    if validation is None or validation.ok:
        _write(text, output)
    print_diagnostics(result.diagnostics)
    print_summary(result, request.cost_name)
    if explain and not as_json:
        print_decisions(result.decisions, to_stderr=output is None)
        print_waterfall(result.waterfall, to_stderr=output is None)
    if validation is not None:
        _report_check(validation)


def _validated(program: Program, result: PassResult) -> Validation:
    """Both programs interpreted; a documented merge may overwrite inputs of entry functions, and says so."""
    from tilesat.bridge.orch import OVERWRITTEN_INPUT
    from tilesat.bridge.validate import validate

    overwrites = any(diagnostic.check == OVERWRITTEN_INPUT for diagnostic in result.diagnostics)
    return validate(program, result.program, observe_inputs=not overwrites)


def _report_check(validation: Validation) -> None:
    for name, reason in validation.skipped:
        click.echo(f"check: '{name}' was not evaluated: {reason}", err=True)
    if validation.difference is not None:
        click.echo(f"check: NOT equivalent: {validation.difference}", err=True)
        sys.exit(FOUND)
    if not validation.checked:
        click.echo("check: nothing could be evaluated", err=True)
        sys.exit(FOUND)
    click.echo(f"check: equal on random inputs: {', '.join(validation.checked)}", err=True)


@main.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--hardware", type=CHIPS, help="Check paths and capacities of this chip.")
@click.option("--paths", type=click.Choice(["ignore", "warn", "error"]), default="warn", show_default=True)
@click.option("--input", "as_input", is_flag=True, help="Check only what the inference pass requires of its input.")
@_clean_errors
def verify(source: Path, hardware: str | None, paths: str, as_input: bool) -> None:
    """Check the program in SOURCE; exit status 1 when it has errors."""
    from tilesat.bridge.report import print_diagnostics
    from tilesat.diagnostics import errors
    from tilesat.ir.verify import INPUT_PROPERTIES
    from tilesat.ir.verify import verify as run_verify

    properties = INPUT_PROPERTIES if as_input else None
    found = run_verify(_read(source), properties=properties, hardware=hardware, paths=paths)
    print_diagnostics(found)
    if errors(found):
        sys.exit(FOUND)
    click.echo(f"{source}: {'no findings' if not found else f'{len(found)} warnings, no errors'}", err=True)


@main.command()
@click.argument("left", type=click.Path(path_type=Path))
@click.argument("right", type=click.Path(path_type=Path))
@_clean_errors
def diff(left: Path, right: Path) -> None:
    """Say where two programs differ, up to names; exit status 1 when they do."""
    from tilesat.ir.equal import first_difference

    difference = first_difference(_read(left), _read(right))
    if difference is None:
        click.echo("equal up to names")
        return
    click.echo(str(difference))
    sys.exit(FOUND)


@main.command()
@click.argument("name", required=False)
@_clean_errors
def ops(name: str | None) -> None:
    """List the ops, or say what is known of one."""
    from tilesat.bridge.report import print_op, print_ops
    from tilesat.ir.ops import op_table

    table = op_table()
    if name is None:
        print_ops(table)
        return
    if name not in table:
        near = [op for op in table if name.rpartition(".")[2] in op][:5]
        raise TilesatError(f"unknown op '{name}'", hint=f"did you mean {', '.join(near)}?" if near else None)
    print_op(table[name])


def _read(path: Path) -> Any:
    from tilesat.ir.parser import parse

    return parse(path)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text, nl=not text.endswith("\n"))
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TilesatError(f"cannot write {output}: {error.strerror}") from None
