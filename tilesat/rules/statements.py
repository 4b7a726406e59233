"""Executable statements of why rules are sound, for those whose reason is a fact of arithmetic or of the hardware.

Each takes a seeded generator and says whether the statement holds for what it draws; ``tilesat lab check`` tries them.
Most rules have no such statement: they are sound because of what the facts they read mean, and the check by programs is
what tests that.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tilesat.ir.hardware import CHIPS, move_edges, move_path
from tilesat.ir.types import MemorySpace
from tilesat.rules.rule import RuleSet

Statement = Callable[[random.Random], bool]


def window_of_window(draw: random.Random) -> bool:
    """A window of a window is one window, at the sum of the offsets."""
    tile = np.arange(64 * 64).reshape(64, 64)
    outer, inner = draw.choice((32, 48)), draw.choice((8, 16))
    i, j = (draw.randint(0, 64 - outer) for _ in range(2))
    m, n = (draw.randint(0, outer - inner) for _ in range(2))
    twice = tile[i : i + outer, j : j + outer][m : m + inner, n : n + inner]
    return bool(np.array_equal(twice, tile[i + m : i + m + inner, j + n : j + n + inner]))


def there_and_back(draw: random.Random) -> bool:
    """A tile transposed twice, or reshaped there and back, is the tile."""
    rows, columns = draw.randint(1, 9), draw.randint(1, 9)
    tile = np.arange(rows * columns).reshape(rows, columns)
    return bool(
        np.array_equal(tile.T.T, tile) and np.array_equal(tile.reshape(columns, rows).reshape(rows, columns), tile)
    )


def zeros_add_nothing(draw: random.Random) -> bool:
    """A product added to zeros is the product."""
    left, right = (np.array([[draw.randint(-9, 9) for _ in range(4)] for _ in range(4)]) for _ in range(2))
    return bool(np.array_equal(np.zeros((4, 4)) + left @ right, left @ right))


def stops_are_moves(draw: random.Random) -> bool:
    """Every step of the shortest chain between two memories is a move that the chip makes."""
    chip = draw.choice(list(CHIPS.values()))
    source, target = (draw.choice(list(MemorySpace)) for _ in range(2))
    path = move_path(chip.name, source, target)
    if path is None:
        return True
    edges = move_edges(chip)
    return (path[0], path[-1]) == (source, target) and all(step in edges for step in pairwise(path))


STATEMENTS: dict[str, Statement] = {
    "slice-of-slice": window_of_window,
    "view-back": there_and_back,
    "take-equal": there_and_back,
    "peel-zero-fill": zeros_add_nothing,
    "need-stops": stops_are_moves,
}


def stated(rules: RuleSet) -> RuleSet:
    """``rules`` with the statements there are."""
    return replace(rules, rules=tuple(replace(rule, sound=STATEMENTS.get(rule.name, rule.sound)) for rule in rules))
