"""Running checks by the name of the property they check."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import TypeAlias

from tilesat.diagnostics import Diagnostic, errors
from tilesat.errors import Location, TilesatError, VerifyError
from tilesat.ir.hardware import Hardware
from tilesat.ir.hardware import hardware as find_hardware
from tilesat.ir.nodes import Program
from tilesat.ir.verify.agreement import check_assign_symmetry, check_types
from tilesat.ir.verify.facts import Facts, gather
from tilesat.ir.verify.inout import check_inout
from tilesat.ir.verify.paths import check_paths
from tilesat.ir.verify.report import Options, PathPolicy, Report
from tilesat.ir.verify.spaces import check_carries, check_inferred, check_views
from tilesat.ir.verify.ssa import check_ssa
from tilesat.ir.verify.structure import check_incore_tile_ops, check_normalized, check_split

Check: TypeAlias = Callable[[Facts, Report], None]

_CHECKS: Mapping[str, tuple[Check, str]] = MappingProxyType(
    {
        "SSAForm": (check_ssa, "names are bound once and visible where used; yields and returns fit"),
        "NormalizedStmtStructure": (check_normalized, "a call is the whole value of a statement"),
        "SplitIncoreOrch": (check_split, "kernels launch nothing, orchestration holds no tiles"),
        "IncoreTileOps": (check_incore_tile_ops, "kernels take tensors and compute on tiles"),
        "TypesConsistent": (check_types, "kind, dtype, shape and valid shape of a value agree everywhere"),
        "TileMemoryInferred": (check_inferred, "tiles of kernels have a space that their uses accept"),
        "CarrySpaces": (check_carries, "what a loop carries or an if gives stays in one space"),
        "ViewSpaces": (check_views, "what shares a buffer shares its space; assembles reach their target"),
        "HardwarePaths": (check_paths, "transfers exist on the hardware, tiles fit its memories"),
        "InOutUseValid": (check_inout, "a written buffer is read under its new name"),
        "AssignTypeSymmetry": (
            check_assign_symmetry,
            "an annotation is the type of its value, layout included",
        ),
    }
)
PROPERTIES: Mapping[str, str] = MappingProxyType({name: meaning for name, (_, meaning) in _CHECKS.items()})
"""What each property says, by name."""

INPUT_PROPERTIES = ("SSAForm", "IncoreTileOps", "SplitIncoreOrch", "NormalizedStmtStructure")
"""What memory-space inference requires (INF-S-03)."""

OUTPUT_PROPERTIES = (
    "SSAForm",
    "NormalizedStmtStructure",
    "TypesConsistent",
    "TileMemoryInferred",
    "CarrySpaces",
    "ViewSpaces",
)
"""What memory-space inference promises (INF-S-04, INF-S-05)."""

DEFAULT_PROPERTIES = tuple(name for name in PROPERTIES if name not in ("InOutUseValid", "AssignTypeSymmetry"))
"""What :func:`verify` looks at when it is not told."""

_MOST_SHOWN = 10


def verify(
    program: Program,
    *,
    properties: Collection[str] | None = None,
    hardware: str | Hardware | None = None,
    paths: str = "warn",
) -> tuple[Diagnostic, ...]:
    """All findings about ``program``, property by property, function by function.

    ``properties`` are names of :data:`PROPERTIES`, by default :data:`DEFAULT_PROPERTIES`. ``hardware`` is the
    chip whose transfers and memories count. ``paths`` says how a transfer that does not exist is
    reported: ``"ignore"``, ``"warn"`` or ``"error"``.

    Raises :class:`tilesat.TilesatError` for an unknown property, chip or ``paths``.
    """
    names = _select(properties)
    options = Options(find_hardware(hardware), _policy(paths))
    gathered = gather(program)
    found: list[Diagnostic] = []
    for name in names:
        check, _ = _CHECKS[name]
        for facts in gathered:
            report = Report(name, facts.function.name, options)
            check(facts, report)
            found += report.found
    return tuple(found)


def require(
    program: Program,
    properties: Collection[str] | None = None,
    *,
    hardware: str | Hardware | None = None,
    paths: str = "error",
) -> None:
    """Nothing when ``program`` has all ``properties``; the arguments are those of :func:`verify`.

    Raises :class:`tilesat.VerifyError` that names the first violated property, its function and the
    place, and shows up to ten violations. Warnings do not count.
    """
    refuse(verify(program, properties=properties, hardware=hardware, paths=paths))


def refuse(findings: tuple[Diagnostic, ...]) -> None:
    """Nothing when there is no error among ``findings``.

    Raises :class:`tilesat.VerifyError` as :func:`require` does.
    """
    found = errors(findings)
    if not found:
        return
    first = found[0]
    lines = [f"the program violates {first.check}"]
    for finding in found[:_MOST_SHOWN]:
        place = f"\n      {finding.place}" if finding.place else ""
        lines.append(f"  {finding.check}: function '{finding.function}': {finding.message}{place}")
    if len(found) > _MOST_SHOWN:
        lines.append(f"  and {len(found) - _MOST_SHOWN} more")
    raise VerifyError("\n".join(lines), location=Location(function=first.function))


def _select(properties: Collection[str] | None) -> tuple[str, ...]:
    """``properties`` in the order of :data:`PROPERTIES`."""
    if properties is None:
        return DEFAULT_PROPERTIES
    wanted = {properties} if isinstance(properties, str) else set(properties)
    unknown = sorted(wanted - PROPERTIES.keys())
    if unknown:
        raise TilesatError(f"unknown property '{unknown[0]}'", hint="one of " + ", ".join(PROPERTIES))
    return tuple(name for name in PROPERTIES if name in wanted)


def _policy(paths: str) -> PathPolicy:
    try:
        return PathPolicy(paths)
    except ValueError:
        choices = ", ".join(f"'{policy}'" for policy in PathPolicy)
        raise TilesatError(f"unknown way to report paths '{paths}'", hint=f"one of {choices}") from None
