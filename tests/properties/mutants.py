"""Guards of the inference, one at a time switched off: each makes some program wrong, and the properties see it.

A mutant is a rule taken out of the reference, or a fact about the program that is no longer told. None is a change to
files: a mutant holds inside a ``with`` block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from unittest import mock

from tilesat.ir.memory import MemorySSA
from tilesat.ir.stale import StaleReaders
from tilesat.ir_terms.facts import FactCollector
from tilesat.lab.config import GeneratorConfig
from tilesat.rules.catalogue import preset
from tilesat.rules.rule import RuleSet

Patch = Callable[[], "mock._patch[object]"]


@dataclass(frozen=True)
class Mutant:
    """Rules to leave out, or methods that answer something else; and the programs in which it matters."""

    name: str
    trap: str
    without: tuple[str, ...] = ()
    patches: tuple[Patch, ...] = ()
    config: GeneratorConfig | None = None

    @property
    def rules(self) -> RuleSet:
        return preset("reference").without(*self.without) if self.without else preset("reference")

    @contextmanager
    def applied(self) -> Iterator[RuleSet]:
        """The mutant's rules, while its facts are told."""
        started = [patch() for patch in self.patches]
        for each in started:
            each.start()
        try:
            yield self.rules
        finally:
            for each in started:
                each.stop()


def answering(owner: type, method: str, answer: object) -> Patch:
    """``owner.method`` always answers ``answer``."""
    return lambda: mock.patch.object(owner, method, return_value=answer)


numbered = MemorySSA.__dict__["_versions"].func


def _unwritten(self: MemorySSA) -> object:
    """The versions of buffers as if nothing were ever written."""
    uses, entries = numbered(self)
    return dict.fromkeys(uses, (0, 0)), entries


_one_version = cached_property(_unwritten)
_one_version.__set_name__(MemorySSA, "_versions")


IN_PLACE = GeneratorConfig(
    max_statements=10,
    weights=(("write", 20), ("assemble", 12), ("matmul_acc", 12), ("sync", 0), ("cast", 0), ("reduce", 0)),
    scenes=("written_elsewhere", "scattered", "anchored_write", "alias_read", "views_around"),
)
"""Programs full of in-place writes."""
WRITES = GeneratorConfig(
    max_statements=12,
    weights=(
        *(("write", 20), ("assemble", 12), ("scatter", 8), ("matmul_acc", 20), ("transpose_view", 6), ("alias", 6)),
        *(("slice", 6), ("binary", 2), ("cast", 0), ("reduce", 0), ("expand", 0), ("sync", 0)),
        *(("tensor_read", 0), ("scalar_arithmetic", 0)),
    ),
)
"""The same without scenes: writes anywhere, in loops as well."""
SEEDED = GeneratorConfig(
    max_statements=6,
    weights=(("sync", 0), ("cast", 0), ("reduce", 0), ("expand", 0)),
    scenes=("zero_seed", "created_seed", "viewed_seed", "shared_seed", "loaded_seed"),
)
"""Programs full of accumulating loops."""
FILLED = GeneratorConfig(
    max_statements=4,
    features=frozenset({"full", "matmul_acc", "for", "accumulate", "tile_carry", "dynamic_bounds", "mat_loads"}),
    weights=(("full", 40), ("accumulate", 60), ("for", 0), ("matmul_acc", 0), ("load", 0), ("store", 0)),
)
"""Loops that accumulate from filled tiles, and may not run."""

MUTANTS: tuple[Mutant, ...] = (
    Mutant("no-rehome", "a write lands on a private copy", ("rehome-written",), config=IN_PLACE),
    Mutant("no-write-back", "a write lands on a copy of a tile that cannot move", ("write-back",), config=IN_PLACE),
    Mutant("no-rehome-source", "a view moves and its source does not", ("rehome-source",), config=IN_PLACE),
    Mutant("no-split", "an accumulator is moved where no move leads", ("split-accumulate",), config=SEEDED),
    Mutant("no-stuck-init", "a fill or load is told to write Acc", ("keep-init-space",), config=SEEDED),
    Mutant(
        "no-lingering",
        "nobody knows of reads under older names",
        patches=(answering(StaleReaders, "lingering", []),),
        config=IN_PLACE,
    ),
    Mutant(
        "no-next-trip",
        "a read that stands before the write in a loop sees it in the next trip",
        patches=(answering(StaleReaders, "_is_read_next_trip", False),),
        config=WRITES,
    ),
    Mutant(
        "one-version",
        "a copy made before an in-place write is taken for one made after it",
        patches=(lambda: mock.patch.object(MemorySSA, "_versions", _one_version),),
        config=IN_PLACE,
    ),
    Mutant(
        "views-move-anywhere",
        "transpose_view exists in Mat only",
        patches=(answering(FactCollector, "_is_bound_view", False),),
        config=IN_PLACE,
    ),
    Mutant(
        "every-fill-is-zero",
        "the first product is not the sum of a product and ones",
        patches=(lambda: mock.patch("tilesat.ir_terms.facts._is_zero", return_value=True),),
        config=FILLED,
    ),
    Mutant(
        "every-create-is-pristine",
        "an empty tile that is written or viewed under its own name cannot be had twice",
        patches=(answering(FactCollector, "_is_pristine", True),),
        config=SEEDED,
    ),
)
