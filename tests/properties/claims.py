"""What must hold for every program, as functions that answer with what is wrong, or ``None``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import tilesat
from tilesat.diagnostics import errors
from tilesat.errors import ImpossibleError
from tilesat.ir.hardware import move_path
from tilesat.ir.index import FunctionIndex
from tilesat.ir.nodes import Assign, OpCall, Program, Var
from tilesat.ir.types import TileType
from tilesat.ir.verify import OUTPUT_PROPERTIES, verify
from tilesat.rules.rule import RuleSet


def wrong_text(program: Program) -> str | None:
    """Print, parse, print is the identity."""
    text = str(program)
    parsed = tilesat.parse(text)
    if str(parsed) != text:
        return "prints differently after parsing"
    difference = tilesat.first_difference(parsed, program)
    return None if difference is None else str(difference)


def wrong_result(
    program: Program,
    *,
    rules: str | RuleSet = "reference",
    hardware: str | None = None,
    again: bool = True,
    seeds: Sequence[int] = (0, 1),
) -> str | None:
    """The pass's promises on one program (INF-S-01, -04, -05, -06, INF-P3-05).

    Only kernels are touched; the result parses back, verifies, moves where hardware can, computes the same, is final.

    ``seeds`` are those of the arguments on which it is interpreted; a loop bound is 0 for one in five.
    """
    try:
        result = tilesat.infer_tile_memory_space(program, rules=rules, hardware=hardware, check=False).program
    except ImpossibleError:
        # Refused with the place and the cure: what is written could be put nowhere its readers look.
        return None
    except tilesat.TilesatError as error:
        return f"{type(error).__name__}: {error}"
    if any(not a.is_incore and a is not b for a, b in zip(program.functions, result.functions, strict=True)):
        return "a function that is no kernel was touched"
    text = wrong_text(result)
    if text is not None:
        return text
    found = errors(verify(result, properties=OUTPUT_PROPERTIES, hardware=hardware))
    if found:
        return str(found[0])
    impossible = next(impossible_moves(program, result, hardware), None)
    if impossible is not None:
        return impossible
    validation = tilesat.validate(program, result, seeds=seeds)
    if not validation.ok:
        return str(validation)
    if again and str(tilesat.infer_tile_memory_space(result, rules=rules, hardware=hardware).program) != str(result):
        return "the second run changes something"
    return None


def impossible_moves(before: Program, after: Program, hardware: str | None) -> Iterator[str]:
    """Inserted moves that no chip can do.

    Moves of the user are not ours, and two kinds are made as the documents say and reported: an empty tile is moved
    to an accumulating op outside a loop (case I64; the optimal rules create it where it is wanted), and a block to an
    accumulator that it is assembled into, for which there is no other way.
    """
    for old, new in zip(before.functions, after.functions, strict=True):
        given, index = FunctionIndex(old), FunctionIndex(new)
        blocks = set(_assembled(index))
        for stmt in index.sites:
            if not isinstance(stmt, Assign) or not isinstance(stmt.value, OpCall) or stmt.name in given.definitions:
                continue
            source = stmt.value.args[0] if stmt.value.op == "tile.move" else None
            if not isinstance(source, Var) or stmt.name in blocks or _is_empty(index, source.name):
                continue
            held, wanted = index.types[source.name], stmt.type
            assert isinstance(held, TileType)
            assert isinstance(wanted, TileType)
            if held.space and wanted.space and move_path(hardware, held.space, wanted.space) is None:
                yield f"'{source.name}' is moved from {held.space} to {wanted.space}"


def _assembled(index: FunctionIndex) -> Iterator[str]:
    """Names of the blocks that are written into other tiles."""
    for stmt in index.sites:
        call = stmt.value if isinstance(stmt, Assign) else None
        if isinstance(call, OpCall) and call.op == "tile.assemble" and isinstance(call.args[1], Var):
            yield call.args[1].name


def _is_empty(index: FunctionIndex, name: str) -> bool:
    site = index.definitions[name].site
    stmt = index.sites[site] if site >= 0 else None
    return isinstance(stmt, Assign) and isinstance(stmt.value, OpCall) and stmt.value.op == "tile.create"
