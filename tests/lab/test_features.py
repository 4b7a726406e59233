"""How often each feature occurs, and that switching one off keeps it out."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import pytest

from tilesat.errors import TilesatError
from tilesat.lab.census import DETECTORS, features_of
from tilesat.lab.generate import ALL_FEATURES, FEATURES, GeneratorConfig, random_program

PROGRAMS = 300

# The least share of programs, in percent, that shows a feature. Seeds are fixed, so this never flickers.
LEAST = {
    **dict.fromkeys(FEATURES, 10),
    **dict.fromkeys(("accumulate", "if", "transpose_view", "write"), 25),
    **dict.fromkeys(("for", "matmul", "matmul_acc", "old_names", "tile_carry"), 40),
    **dict.fromkeys(("if_space", "mat_create", "swapped_carry", "tuple_result", "scalar_carry"), 7),
    **dict.fromkeys(("converting_store", "overlapping_arguments", "transposed_write", "write_acc"), 4),
}


@lru_cache(maxsize=1)
def shares() -> Counter[str]:
    """How many of :data:`PROGRAMS` random programs show each feature."""
    return Counter(name for seed in range(PROGRAMS) for name in features_of(random_program(seed)))


def test_there_is_a_detector_for_every_feature() -> None:
    assert set(DETECTORS) == ALL_FEATURES


@pytest.mark.parametrize("feature", sorted(FEATURES))
def test_a_feature_occurs_often_enough(feature: str) -> None:
    assert 100 * shares()[feature] / PROGRAMS >= LEAST[feature]


# Two loads may read one window by chance, and an accumulator may be a carried tile by chance.
BY_CHANCE = frozenset({"reload", "accumulate"})


@pytest.mark.parametrize("feature", sorted(ALL_FEATURES - BY_CHANCE))
def test_a_feature_that_is_off_does_not_occur(feature: str) -> None:
    config = GeneratorConfig().without(feature)
    assert not any(feature in features_of(random_program(seed, config)) for seed in range(40))


def test_without_any_feature_there_are_only_loads_and_stores() -> None:
    config = GeneratorConfig().only()
    found = {name for seed in range(50) for name in features_of(random_program(seed, config))}
    assert found <= BY_CHANCE


def test_an_unknown_feature_is_refused() -> None:
    with pytest.raises(TilesatError, match="unknown feature 'loops'") as caught:
        GeneratorConfig(features=frozenset({"loops"}))
    assert "one of" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_statements": 0}, "max_statements is 0"),
        ({"extents": (16, 20)}, r"extents are \[16, 20\]"),
        ({"tensor_extent": 32}, "tensor_extent is 32"),
        ({"max_depth": -1}, "cannot be negative"),
    ],
)
def test_sizes_that_make_no_program_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(TilesatError, match=message):
        GeneratorConfig(**change)  # type: ignore[arg-type]


def test_an_unknown_kind_in_the_weights_is_refused() -> None:
    with pytest.raises(TilesatError, match="unknown kind of statement 'loop'"):
        random_program(0, GeneratorConfig(weights=(("loop", 3),)))
