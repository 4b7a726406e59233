"""Rule sets as users name them: presets, files with a rule set of one's own, and what to leave out.

A file of rules is Python with a function ``extend(rules)`` that gives the rule set it makes of the one it is given. It
may also define ``cost_model``, as a cost model's own file does (:mod:`tilesat.extract.user_cost`).
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from tilesat.errors import Location, RuleError, TilesatError
from tilesat.rules import catalogue
from tilesat.rules.mistakes import Source, check_rules, location_of
from tilesat.rules.rule import RuleSet

ENTRY, COST_ENTRY = "extend", "cost_model"
DEFAULT_BASE = "optimal"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A rule set, the cost model that its files bring (``None`` without one), and those files."""

    rules: RuleSet
    cost: Any = None
    files: tuple[Path, ...] = field(default=())


def is_spec(text: str) -> bool:
    """Whether ``text`` says more than the name of a preset."""
    return "," in text or text.endswith(".py") or text.startswith("-")


def load_rules(specs: Sequence[str], *, without: Sequence[str] = ()) -> Loaded:
    """The rule set that ``specs`` describe together, from left to right.

    Each is a list with commas of: a preset's name, with which the list of rules starts; the path of a Python file,
    whose ``extend`` is applied; ``-NAME``, which leaves out a rule or family; ``+NAME``, which adds an option (see
    :func:`tilesat.rules.catalogue.options`). Without a preset the rules start as ``optimal``. ``without`` are names of
    further rules or families to leave out.

    Raises :class:`tilesat.RuleError` that names the file, the line and the rule for whatever is wrong.
    """
    parts = [part.strip() for spec in specs for part in spec.split(",") if part.strip()]
    parts += [f"-{name}" for name in without]
    if not parts:
        raise RuleError("no rule set is named", hint="one of " + ", ".join(catalogue.PRESETS))
    presets = [part for part in parts if not part.endswith(".py") and part[0] not in "+-"]
    if len(presets) > 1:
        raise RuleError(f"two presets: '{presets[0]}' and '{presets[1]}'", hint="start from one of them")
    loaded = Loaded(catalogue.preset(presets[0] if presets else DEFAULT_BASE))
    for part in parts:
        loaded = _applied(loaded, part)
    return replace(loaded, rules=loaded.rules.renamed(",".join(_label(part) for part in parts)))


def _label(part: str) -> str:
    return Path(part).name if part.endswith(".py") else part


def _applied(loaded: Loaded, part: str) -> Loaded:
    if part.endswith(".py"):
        return _extended(loaded, Path(part))
    if part[0] == "-":
        return replace(loaded, rules=loaded.rules.without(part[1:]))
    if part[0] == "+":
        return replace(loaded, rules=catalogue.allow(loaded.rules, (part[1:],)))
    return loaded


def _extended(loaded: Loaded, path: Path) -> Loaded:
    source = _read(path)
    names = _run_file(source)
    extend, cost = names.get(ENTRY), names.get(COST_ENTRY)
    if extend is None and cost is None:
        raise RuleError(
            f"the file defines no '{ENTRY}'", location=Location(file=str(path)), hint=f"def {ENTRY}(rules): return ..."
        )
    before = loaded.rules
    rules = before if extend is None else _call(extend, before, source)
    fresh = changed_names(rules, before)
    check_rules(rules, fresh, source)
    for name in fresh:
        rules = rules.replace(replace(rules[name], origin=location_of(rules[name], source)))
    if cost is not None:
        from tilesat.extract.user_cost import as_model

        cost = as_model(cost, what=path.name)
    return Loaded(rules, cost if cost is not None else loaded.cost, (*loaded.files, path))


def changed_names(rules: RuleSet, before: RuleSet) -> list[str]:
    """Rules that are new in ``rules``, or another rule than before."""
    known = {rule.name: rule for rule in before}
    return [rule.name for rule in rules if known.get(rule.name) != rule]


@lru_cache(maxsize=1)
def _shipped() -> frozenset[tuple[str, str, str, str]]:
    """Every rule that comes with the library, by what it does."""
    sets = (*(make() for make in catalogue.PRESETS.values()), catalogue.options())
    return frozenset((rule.name, rule.phase, rule.text, rule.declares) for rules in sets for rule in rules)


def unvouched(rules: RuleSet) -> frozenset[str]:
    """Rules of ``rules`` that do not come with the library."""
    known = _shipped()
    return frozenset(r.name for r in rules if (r.name, r.phase, r.text, r.declares) not in known)


@contextmanager
def located(rules: RuleSet) -> Iterator[None]:
    """Errors of the block that name one of ``rules`` also say where that rule stands."""
    try:
        yield
    except RuleError as error:
        named = next((r for r in rules if r.origin is not None and f"'{r.name}'" in error.message), None)
        if named is None or error.location is not None:
            raise
        raise RuleError(error.message, location=named.origin, hint=error.hint) from error


# ------------------------------------------------------------------------------------- files


def _read(path: Path) -> Source:
    try:
        return Source(str(path), path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise RuleError(f"cannot read the rules: {why}", location=Location(file=str(path))) from None


def _run_file(source: Source) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": f"tilesat_rules_{Path(source.path).stem}", "__file__": source.path}
    try:
        exec(compile(source.text, source.path, "exec"), names)
    except SyntaxError as error:
        location = Location(file=source.path, line=error.lineno)
        raise RuleError(f"the file is no Python: {error.msg}", location=location) from None
    except Exception as error:
        raise _failed(error, source, "running the file") from error
    return names


def _call(extend: Any, before: RuleSet, source: Source) -> RuleSet:
    if not callable(extend):
        raise RuleError(
            f"'{ENTRY}' is no function", location=Location(file=source.path), hint=f"def {ENTRY}(rules): return ..."
        )
    try:
        rules = extend(before)
    except Exception as error:
        raise _failed(error, source, f"{ENTRY}(rules)") from error
    if not isinstance(rules, RuleSet):
        raise RuleError(
            f"{ENTRY}(rules) returned {type(rules).__name__}",
            location=Location(file=source.path, line=extend.__code__.co_firstlineno),
            hint="return a RuleSet: rules + Rule(...), rules.replace(...), rules.without(...)",
        )
    return rules


def _failed(error: Exception, source: Source, what: str) -> RuleError:
    """``error`` with the line of the user's file in which it came up."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == source.path]
    location = Location(file=source.path, line=frames[-1].lineno if frames else None)
    if isinstance(error, TilesatError):
        return RuleError(error.message, location=location, hint=error.hint)
    return RuleError(f"{what} raised {type(error).__name__}: {error}", location=location)
