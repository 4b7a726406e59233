"""Rows of a comparison as tables: totals, times, what each rule did, what is lost without it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from tilesat.lab.jobs import Row

Table = tuple[str, tuple[str, ...], Sequence[tuple[str, ...]]]
_MOST_PROGRAMS = 20
_MOST_RULES = 25
Group = tuple[str, str]


def summarise(rows: Sequence[Row], ablations: Sequence[Row]) -> list[Table]:
    """The tables of a comparison."""
    groups = _grouped(rows)
    comparable = {cost: _everywhere(rows, cost) for cost in dict.fromkeys(row.cost_model for row in rows)}
    tables = _totals(groups, comparable)
    programs = list(dict.fromkeys(row.program for row in rows))
    if len(programs) <= _MOST_PROGRAMS:
        tables.append(_each(rows))
    tables.append(_stages(groups))
    tables += [_rules(group, found) for group, found in groups.items()]
    if ablations:
        tables += _ablated(groups, _grouped(ablations))
    return tables


def _grouped(rows: Iterable[Row]) -> dict[Group, list[Row]]:
    groups: dict[Group, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.rules, row.cost_model].append(row)
    return groups


def _everywhere(rows: Sequence[Row], cost: str) -> set[str]:
    """Programs for which every rule set gave something: sums are over the same programs."""
    mine = [row for row in rows if row.cost_model == cost]
    return {row.program for row in mine} - {row.program for row in mine if row.error}


def _totals(groups: dict[Group, list[Row]], comparable: dict[str, set[str]]) -> list[Table]:
    """What the rule sets reach, and what their programs do; both over the programs that all of them manage."""
    reached, programs = [], []
    first: dict[str, dict[str, float]] = {}
    for (rules, cost), rows in groups.items():
        kept = [row for row in rows if row.program in comparable[cost]]
        costs = {row.program: row.cost for row in kept}
        base = first.setdefault(cost, costs)
        total, base_total = sum(costs.values()), sum(base.values())
        gaps = [row.gap for row in kept if row.gap is not None]
        random = [row.stochastic for row in kept if row.stochastic is not None]
        reached.append(
            (
                rules,
                cost,
                _number(total),
                f"{total / base_total:.3f}" if base_total else "-",
                str(sum(costs[name] < base[name] for name in costs)),
                str(sum(costs[name] > base[name] for name in costs)),
                f"{sum(gaps) / len(gaps):.2%}" if gaps else "-",
                f"{max(gaps):.2%}" if gaps else "-",
                _number(sum(random)) if random else "-",
            )
        )
        programs.append(
            (
                rules,
                cost,
                str(len(kept)),
                str(sum(bool(row.error) for row in rows)),
                _number(sum(row.moves for row in kept)),
                _number(sum(row.global_bytes for row in kept)),
                str(sum(row.statements for row in kept)),
                str(sum(row.e_nodes for row in kept)),
                f"{sum(row.total_seconds for row in rows):.2f}",
            )
        )
    one = ("rules", "model", "cost", "ratio", "better", "worse", "gap", "largest", "random search")
    other = ("rules", "model", "programs", "failed", "moves", "global bytes", "statements", "e-nodes", "seconds")
    return [
        ("cost, against the first rule set", one, reached),
        ("what is executed, and how long it took", other, programs),
    ]


def _each(rows: Sequence[Row]) -> Table:
    columns = ("program", "rules", "cost model", "cost", "moves", "global bytes", "statements", "gap", "seconds")
    names = _short([row.program for row in rows])
    lines = [
        (
            names[row.program],
            row.rules,
            row.cost_model,
            row.error.split("\n", 1)[0] if row.error else _number(row.cost),
            _number(row.moves),
            _number(row.global_bytes),
            str(row.statements),
            "-" if row.gap is None else f"{row.gap:.2%}",
            f"{row.total_seconds:.3f}",
        )
        for row in rows
    ]
    return "each program", columns, lines


def _short(paths: Sequence[str]) -> dict[str, str]:
    """Paths without the folders that all of them are in."""
    parts = {path: PurePath(path).parts for path in paths}
    common = 0
    shortest = min(len(p) for p in parts.values()) - 1
    while common < shortest and len({p[common] for p in parts.values()}) == 1:
        common += 1
    return {path: "/".join(p[common:]) for path, p in parts.items()}


def _stages(groups: dict[Group, list[Row]]) -> Table:
    stages = list(dict.fromkeys(stage for rows in groups.values() for row in rows for stage in row.seconds))
    lines = []
    for stage in stages:
        spent = [sum(row.seconds.get(stage, 0.0) for row in rows) for rows in groups.values()]
        lines.append((stage, *(f"{seconds:.3f}" for seconds in spent)))
    return "seconds per stage", ("stage", *(f"{rules}, {cost}" for rules, cost in groups)), lines


def _rules(group: Group, rows: Sequence[Row]) -> Table:
    matches: dict[str, int] = defaultdict(int)
    programs: dict[str, int] = defaultdict(int)
    seconds: dict[str, float] = defaultdict(float)
    for row in rows:
        for rule, count in row.matches.items():
            matches[rule] += count
            programs[rule] += 1
        for rule, spent in row.rule_seconds.items():
            seconds[rule] += spent
    total = sum(seconds.values()) or 1.0
    ranked = sorted(matches, key=lambda rule: (-seconds[rule], rule))
    lines = [(rule, str(programs[rule]), str(matches[rule]), f"{seconds[rule] / total:.1%}") for rule in ranked]
    left = len(lines) - _MOST_RULES
    title = f"rules of {group[0]}, {group[1]}" + (f" (and {left} more in the JSON)" if left > 0 else "")
    return title, ("rule", "programs", "matches", "share of time"), lines[:_MOST_RULES]


def _ablated(groups: dict[Group, list[Row]], ablated: dict[Group, list[Row]]) -> list[Table]:
    tables: list[Table] = []
    for group, rows in ablated.items():
        whole = {row.program: row for row in groups[group] if not row.error}
        effects: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0, 0.0])
        for row in rows:
            base = whole.get(row.program)
            if base is None:
                continue
            effect = effects[row.without]
            if row.error:
                effect[3] += 1
                continue
            effect[0] += row.cost - base.cost
            effect[1] += row.cost > base.cost
            effect[2] += row.cost < base.cost
            effect[4] += row.stays > 0
        total = sum(row.cost for row in whole.values()) or 1.0
        ranked = sorted(effects.items(), key=lambda item: (-item[1][3], -item[1][0], item[0]))
        lines = [
            (rule, _number(more), f"{more / total:+.2%}", *(str(int(n)) for n in (worse, better, stays, failed)))
            for rule, (more, worse, better, failed, stays) in ranked
        ]
        columns = ("without", "cost more", "share", "dearer in", "cheaper in", "stays as it is in", "no result in")
        tables.append((f"without each rule: {group[0]}, {group[1]}", columns, lines))
    return tables


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"
