"""What a generated program may contain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from tilesat.errors import TilesatError

FEATURES: Mapping[str, str] = MappingProxyType(
    {
        # Statements that make a tile.
        "mat_loads": "loads into Mat",
        "unset_space": "loads and creates without target_memory",
        "bridge_marker": "loads into Mat with the marker that residency looks for",
        "reload": "the window of an earlier load loaded again",
        "create": "tiles created without contents, in Vec",
        "acc_create": "tiles created in Acc",
        "mat_create": "tiles created in Mat",
        "full": "tiles filled with a number",
        "memrefs": "loads and creates with a declared allocation",
        "unary": "vector ops of one tile",
        "binary": "vector ops of two tiles",
        "scalar_operand": "vector ops of a tile and a scalar",
        "reduce": "reductions of rows (with working space) and columns",
        "expand": "a row or column vector combined with a tile",
        "cast": "conversions of dtype",
        "matmul": "matrix products",
        "matmul_acc": "products added to an accumulator in place",
        "matmul_bias": "products with a bias",
        "vec_accumulator": "products added to a tile in Vec, outside of a loop that carries it",
        "mat_accumulator": "products added to a tile in Mat",
        "vec_operands": "operands of products and biases loaded into Vec",
        "product_operand": "a product as operand of a further product",
        "same_operand": "one tile in both slots of a product",
        "transpose_view": "Mat tiles read the other way round",
        "slice": "windows of tiles",
        "reshape": "tiles seen in another shape",
        "extract_cube": "windows of Mat tiles cut out into Left and Right",
        "extract_vec": "windows of Vec tiles cut out into Vec",
        "set_validshape": "valid extents changed",
        "fillpad": "the invalid part of a tile filled",
        "narrowed": "loads whose tile is valid only in part",
        "dynamic_valid": "valid extents that depend on a scalar",
        "alias": "a second name for a tile",
        "move": "moves written by the user, those that change nothing included",
        "unknown_op": "ops that the op table lacks",
        "tuple_result": "ops that return several tiles",
        "pipes": "tiles popped from and pushed to the other core",
        # Statements with effects.
        "write": "one element of a tile overwritten",
        "write_acc": "one element of a product overwritten",
        "assemble": "a part of a tile overwritten",
        "scatter": "a tile overwritten at listed positions",
        "transposed_write": "in-place writes to a tile that is also read the other way round",
        "old_names": "a buffer read under the name it had before a write made a new one",
        "bare_store": "stores that bind no name",
        "acc_store": "stores of products",
        "mat_store": "stores of Mat tiles",
        "converting_store": "stores of products that convert",
        "load_after_store": "loads from tensors that the function has stored into",
        "sync": "barriers and pipe synchronisation",
        # Scalars.
        "scalar_arithmetic": "arithmetic on indices",
        "tile_read": "an element of a tile as a scalar",
        "tensor_read": "an element of an index tensor as a scalar",
        # Control flow.
        "for": "counted loops",
        "pipeline": "loops of kind pipeline",
        "parallel": "loops of kind parallel",
        "dynamic_bounds": "loops that run as often as a scalar says",
        "tile_carry": "loops that carry tiles",
        "tensor_carry": "loops that carry tensors",
        "scalar_carry": "loops that carry scalars",
        "accumulate": "loops around a product that is accumulated",
        "peeled": "accumulating loops whose first trip computes the plain product",
        "swapped_carry": "loops that exchange two carried tiles",
        "while": "loops with a condition",
        "if": "branches",
        "if_result": "branches that give a tile",
        "if_space": "branches that give a tile in different memories",
        "if_tensor": "branches that give the new name of a tensor",
        # Functions and programs.
        "dynamic_dims": "tensors with a symbolic extent",
        "inout": "tensors that are read and written",
        "void": "functions that return nothing",
        "orchestration": "an orchestration function that launches the others",
        "orchestration_loop": "launches in a loop",
        "overlapping_arguments": "launches that pass one tensor twice",
    }
)
"""Every feature and its meaning."""

CALLERS: Mapping[str, str] = MappingProxyType(
    {
        "any": "an orchestration function or none, mostly with tensors from outside",
        "root": "always one; it creates most of the tensors that kernels read",
        "strange": "always one; besides, submits, wrappers, and arguments whose storage nobody follows",
    }
)
"""Kinds of orchestration."""

ALL_FEATURES: frozenset[str] = frozenset(FEATURES)


@dataclass(frozen=True)
class GeneratorConfig:
    """How large a program gets and what is in it.

    ``max_statements`` is per kernel and counts what the generator sets out to do; operands that have to be
    made first and the final stores come on top. ``functions`` is the number of kernels. ``length`` and
    ``body_length`` are the expected numbers of statements of a function and of a nested block.
    ``max_trips`` bounds constant loops; loops with dynamic bounds run ``least_trips`` times and as often again as a
    scalar of 0 to 4 says.
    ``extents`` are those of tiles, multiples of 16; tensors are square with ``tensor_extent``. ``weights``
    overrides how often the kinds of statements in :data:`tilesat.lab.kinds.KINDS` are picked. ``scenes`` are
    situations of :data:`tilesat.lab.scenes.SCENES` in which certain rules fire; they take the place of about
    half the statements. ``callers`` says which orchestration there is, see :data:`CALLERS`.

    Raises :class:`tilesat.TilesatError` for an unknown feature and for sizes that make no program.
    """

    max_statements: int = 24
    max_depth: int = 3
    functions: int = 1
    features: frozenset[str] = ALL_FEATURES
    length: int = 14
    body_length: int = 3
    max_trips: int = 3
    max_carries: int = 2
    extents: tuple[int, ...] = (16, 32, 48)
    tensor_extent: int = 64
    max_tensors: int = 4
    weights: tuple[tuple[str, int], ...] = ()
    scenes: tuple[str, ...] = ()
    callers: str = "any"
    least_trips: int = 0

    def __post_init__(self) -> None:
        check_features(self.features)
        sizes = {
            "max_statements": self.max_statements,
            "functions": self.functions,
            "length": self.length,
            "body_length": self.body_length,
            "max_trips": self.max_trips,
            "max_tensors": self.max_tensors,
        }
        for name, size in sizes.items():
            if size < 1:
                raise TilesatError(f"{name} is {size}", hint="at least 1 is needed")
        if self.max_depth < 0 or self.max_carries < 0 or self.least_trips < 0:
            raise TilesatError(
                "max_depth, max_carries and least_trips cannot be negative", hint="0 turns nesting or carries off"
            )
        if not self.extents or any(extent < 16 or extent % 16 for extent in self.extents):
            raise TilesatError(f"extents are {list(self.extents)}", hint="give multiples of 16")
        if self.callers not in CALLERS:
            raise TilesatError(f"unknown kind of callers '{self.callers}'", hint="one of " + ", ".join(CALLERS))
        if self.tensor_extent < max(self.extents):
            raise TilesatError(
                f"tensor_extent is {self.tensor_extent}", hint=f"tiles of {max(self.extents)} have to fit"
            )

    def has(self, feature: str) -> bool:
        return feature in self.features

    def without(self, *features: str) -> GeneratorConfig:
        """The same with ``features`` switched off."""
        return replace(self, features=self.features - check_features(features))

    def only(self, *features: str) -> GeneratorConfig:
        """The same with nothing but ``features`` switched on."""
        return replace(self, features=check_features(features))


def check_features(names: Iterable[str]) -> frozenset[str]:
    """``names`` as a set; raises :class:`tilesat.TilesatError` for one that is no feature."""
    wanted = frozenset(names)
    unknown = sorted(wanted - ALL_FEATURES)
    if unknown:
        raise TilesatError(f"unknown feature '{unknown[0]}'", hint="one of " + ", ".join(FEATURES))
    return wanted
