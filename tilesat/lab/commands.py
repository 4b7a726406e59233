"""``tilesat lab check``, ``tilesat lab compare`` and ``tilesat rules``: registered by :mod:`tilesat.cli` when used."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from tilesat.cli import CHIPS, FOUND, _clean_errors


@click.group()
def lab() -> None:
    """Try rules: are they sound, and are they worth it?"""


@lab.command()
@click.argument("rules", nargs=-1, required=True, metavar="RULES...")
@click.option("--without", multiple=True, metavar="NAME", help="Leave out a rule or a family of rules.")
@click.option("--examples", type=click.IntRange(min=1), default=2000, show_default=True, help="Programs per target.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--only", multiple=True, metavar="NAME", help="Check only this rule or family.")
@click.option("--target", "targets", multiple=True, metavar="NAME", help="Programs of this kind; see --targets.")
@click.option("--targets", "list_targets", is_flag=True, help="List the kinds of programs and end.")
@click.option("--samples", type=click.IntRange(min=0), default=2, show_default=True, help="Random results per program.")
@click.option("--seconds", type=click.FloatRange(min=0, min_open=True), help="End after this time.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@_clean_errors
def check(
    rules: tuple[str, ...],
    without: tuple[str, ...],
    examples: int,
    seed: int,
    only: tuple[str, ...],
    targets: tuple[str, ...],
    list_targets: bool,
    samples: int,
    seconds: float | None,
    as_json: bool,
) -> None:
    """Look for a program whose meaning RULES change: a Python file with extend(rules), or any other rule set.

    Exit status 1 when one is found.
    """
    from tilesat.lab.checking import check as run
    from tilesat.lab.report import lab_progress, print_check
    from tilesat.lab.targets import TARGETS
    from tilesat.rules.loading import load_rules

    if list_targets:
        for target in TARGETS.values():
            click.echo(f"{target.name:12} {target.meaning}")
        return
    loaded = load_rules(rules, without=without)
    with lab_progress("programs") as progress:
        report = run(
            loaded.rules,
            examples=examples,
            seed=seed,
            only=only,
            targets=targets,
            samples=samples,
            seconds=seconds,
            progress=progress,
        )
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=2))
    else:
        print_check(report)
    sys.exit(0 if report.ok else FOUND)


@lab.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--rules", multiple=True, metavar="SPEC", help="A rule set to compare; may be given several times.")
@click.option("--cost", "costs", default="traffic", show_default=True, metavar="NAME,...", help="Cost models, commas.")
@click.option("--hardware", type=CHIPS, default="910b", show_default=True)
@click.option("--exact", is_flag=True, help="Prove each choice with a solver: the gap then is a real one.")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), default=10.0, show_default=True)
@click.option("--ablate", is_flag=True, help="Also run each rule set without each rule that fired.")
@click.option("--stochastic", is_flag=True, help="Also search at random for as long as the search took.")
@click.option("--generate", type=click.IntRange(min=0), default=0, help="Compare on this many random programs too.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of random programs and searches.")
@click.option("--jobs", type=click.IntRange(min=1), help="Local processes; as many as there are cores without.")
@click.option("--scheduler", metavar="ADDRESS", help="Run on a dask.distributed cluster, e.g. tcp://host:8786.")
@click.option("--csv", "csv_path", type=click.Path(path_type=Path), help="Write one line per run here.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write all results here.")
@click.option("--state", type=click.Path(path_type=Path), help="Keep what is done here; a stopped run continues.")
@_clean_errors
def compare(
    files: tuple[Path, ...],
    rules: tuple[str, ...],
    costs: str,
    hardware: str,
    exact: bool,
    time_limit: float,
    ablate: bool,
    stochastic: bool,
    generate: int,
    seed: int,
    jobs: int | None,
    scheduler: str | None,
    csv_path: Path | None,
    json_path: Path | None,
    state: Path | None,
) -> None:
    """Compare rule sets on programs: what they cost, what they transfer, how long they take, what each rule did."""
    from tilesat.lab.comparing import compare as run
    from tilesat.lab.report import lab_progress, print_comparison

    with lab_progress("runs") as progress:
        result = run(
            files,
            rules=rules or ("reference", "optimal"),
            costs=[cost for cost in costs.split(",") if cost],
            hardware=hardware,
            exact=exact,
            time_limit=time_limit,
            ablate=ablate,
            stochastic=stochastic,
            generate=generate,
            seed=seed,
            jobs=jobs,
            scheduler=scheduler,
            state=state,
            progress=progress,
        )
    if csv_path is not None:
        result.write_csv(csv_path)
    if json_path is not None:
        result.write_json(json_path)
    print_comparison(result)
    sys.exit(0 if not result.failures else FOUND)


@click.command()
@click.argument("name", required=False)
@click.option("--family", help="List only this family.")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@_clean_errors
def rules(name: str | None, family: str | None, as_json: bool) -> None:
    """List the rules, or show one: as egglog, and as a program before and after."""
    from tilesat.lab.catalogue import entries, entry
    from tilesat.lab.report import print_rule, print_rules

    if name is not None:
        print_rule(entry(name))
        return
    listed: Any = entries(family)
    if as_json:
        click.echo(json.dumps([item.as_dict() for item in listed], indent=2))
    else:
        print_rules(listed)
