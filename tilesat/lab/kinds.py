"""The kinds of statements, how often each is picked, and the features each needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from tilesat.errors import TilesatError
from tilesat.lab import branches, effects, loops, matrix, scalars, sources, vector, views
from tilesat.lab.builder import Builder
from tilesat.lab.choices import Weighted, scaled
from tilesat.lab.config import GeneratorConfig
from tilesat.lab.scenes import scene

Emit = Callable[[Builder], None]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of statement. ``needs`` are the features that must be switched on; ``nests`` says that it
    opens a block.
    """

    name: str
    weight: int
    emit: Emit
    needs: tuple[str, ...] = ()
    nests: bool = False


def _kind(name: str, weight: int, emit: Emit, *needs: str, nests: bool = False) -> Kind:
    return Kind(name, weight, emit, needs or (name,), nests)


# Simplest first, in groups and within them: a search for small programs goes towards the front.
GROUPS: tuple[tuple[Kind, ...], ...] = (
    (
        Kind("load", 8, sources.load_statement),
        _kind("reload", 3, sources.reload_statement),
        _kind("full", 2, sources.full_statement),
        _kind("create", 4, sources.create_statement),
    ),
    (
        _kind("unary", 5, vector.unary),
        _kind("binary", 7, vector.binary),
        _kind("scalar_operand", 4, vector.with_scalar),
        _kind("cast", 3, vector.cast),
        _kind("reduce", 4, vector.reduce),
        _kind("expand", 4, vector.expand),
    ),
    (
        Kind("store", 6, effects.store),
        _kind("write", 6, effects.write),
        _kind("assemble", 5, effects.assemble),
        _kind("scatter", 2, effects.scatter),
        _kind("sync", 2, effects.sync),
    ),
    (
        _kind("matmul", 9, matrix.matmul),
        _kind("matmul_acc", 7, matrix.matmul_acc),
        _kind("matmul_bias", 3, matrix.matmul_bias),
    ),
    (
        _kind("alias", 3, views.alias),
        _kind("slice", 4, views.slice_),
        _kind("reshape", 3, views.reshape),
        _kind("transpose_view", 3, views.transpose_view, "transpose_view", "mat_loads"),
        _kind("set_validshape", 3, views.set_validshape),
        _kind("fillpad", 4, views.fillpad),
        _kind("move", 4, views.move),
        _kind("extract_cube", 2, matrix.extract_cube, "extract_cube", "mat_loads"),
        _kind("extract_vec", 2, views.extract_vec),
    ),
    (
        _kind("scalar_arithmetic", 3, scalars.arithmetic),
        _kind("tile_read", 3, scalars.read_tile),
        _kind("tensor_read", 2, scalars.read_tensor),
        _kind("unknown_op", 3, effects.unknown_op),
        _kind("tuple_result", 2, effects.tuple_result),
        _kind("pipes", 2, effects.pipes),
    ),
    (
        _kind("for", 10, loops.for_loop, nests=True),
        _kind("if", 8, branches.branch, nests=True),
        _kind("accumulate", 8, loops.accumulating_loop, "for", "accumulate", "matmul_acc", "tile_carry", nests=True),
        _kind("while", 4, loops.while_loop, nests=True),
    ),
)
KINDS: tuple[Kind, ...] = tuple([kind for group in GROUPS for kind in group])
"""Every kind of statement."""

# Hypothesis takes a decision of at most ten for a choice between alternatives, and looks for simpler ones.
_MOST_SLOTS = 11


@lru_cache(maxsize=64)
def _table(config: GeneratorConfig, *, nests: bool) -> Weighted[Weighted[Kind]]:
    known = {kind.name for kind in KINDS}
    weights = dict(config.weights)
    unknown = sorted(weights.keys() - known)
    if unknown:
        raise TilesatError(f"unknown kind of statement '{unknown[0]}'", hint="one of " + ", ".join(sorted(known)))
    groups = []
    for group in GROUPS:
        allowed = [kind for kind in group if (nests or not kind.nests) and all(map(config.has, kind.needs))]
        weighted = [(kind, weights.get(kind.name, kind.weight)) for kind in allowed]
        total = sum(weight for _, weight in weighted)
        if total:
            groups.append((Weighted(scaled(weighted, _MOST_SLOTS)), total))
    return Weighted(scaled(groups, _MOST_SLOTS))


def emit(b: Builder) -> None:
    """Add one statement, with what it needs, or a scene."""
    if b.config.scenes and b.choices.integer(0, 1):
        scene(b.choices.pick(b.config.scenes), nests=b.can_nest)(b)
        return
    _table(b.config, nests=b.can_nest).pick(b.choices).pick(b.choices).emit(b)
