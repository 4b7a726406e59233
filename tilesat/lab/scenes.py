"""Situations in which rules fire that random statements seldom lead to.

Each scene adds a few statements around what the program has already, with as much left to chance as the situation
allows. A search for small programs simplifies scenes like everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tilesat.errors import TilesatError
from tilesat.lab import effects, scenes_loops, scenes_panels, scenes_tiles
from tilesat.lab.builder import Builder
from tilesat.lab.sources import load_statement

Scene = Callable[[Builder], None]

_FLAT: Mapping[str, Scene] = {
    "strange_op": scenes_tiles.strange_op,
    "unknown_op": effects.unknown_op,
    "tuple_result": effects.tuple_result,
    "open_operand": scenes_tiles.open_operand,
    "window_of_window": scenes_tiles.window_of_window,
    "whole_slice": scenes_tiles.whole_slice,
    "view_back": scenes_tiles.view_back,
    "own_move": scenes_tiles.own_move,
    "cut_windows": scenes_tiles.cut_windows,
    "equal_loads": scenes_tiles.equal_loads,
    "equal_fills": scenes_tiles.equal_fills,
    "seed_in_place": scenes_tiles.seed_in_place,
    "written_elsewhere": scenes_tiles.written_elsewhere,
    "scattered": scenes_tiles.scattered,
    "anchored_write": scenes_tiles.anchored_write,
    "shown_write": scenes_tiles.shown_write,
    "block_from_elsewhere": scenes_tiles.block_from_elsewhere,
    "alias_read": scenes_tiles.alias_read,
    "copy_of_copy": scenes_tiles.copy_of_copy,
}
_NESTED: Mapping[str, Scene] = {
    "zero_seed": scenes_loops.zero_seed,
    "created_seed": scenes_loops.created_seed,
    "viewed_seed": scenes_loops.viewed_seed,
    "chosen_seed": scenes_loops.chosen_seed,
    "shared_seed": scenes_loops.shared_seed,
    "loaded_seed": scenes_loops.loaded_seed,
    "kept_or_new": scenes_loops.kept_or_new,
    "mixed_carries": scenes_loops.mixed_carries,
    "exchanged": scenes_loops.exchanged,
    "operand_carry": scenes_loops.operand_carry,
    "views_around": scenes_loops.views_around,
    "two_arms": scenes_loops.two_arms,
    "loads_apart": scenes_loops.loads_apart,
    "panel": scenes_panels.panel,
    "panel_in_branch": scenes_panels.panel_in_branch,
    "panel_after_effect": scenes_panels.panel_after_effect,
    "panel_of_other_source": scenes_panels.panel_of_other_source,
    "written_panel": scenes_panels.written_panel,
    "sliced_panel": scenes_panels.sliced_panel,
    "same_panel": scenes_panels.same_panel,
    "pipelined_panel": scenes_panels.pipelined_panel,
    "odd_reader": scenes_panels.odd_reader,
    "reserved_buffer": scenes_panels.reserved_buffer,
    "unsized_panel": scenes_panels.unsized_panel,
    "ordered_panel": scenes_panels.ordered_panel,
    "rewritten_load": scenes_panels.rewritten_load,
}
SCENES: Mapping[str, str] = MappingProxyType(
    {name: (scene.__doc__ or "").strip().splitlines()[0] for name, scene in (*_FLAT.items(), *_NESTED.items())}
)
"""Every scene and what it is."""


def scene(name: str, *, nests: bool) -> Scene:
    """The scene called ``name``; a load where it would have to open a block and may not.

    Raises :class:`tilesat.TilesatError` for an unknown name.
    """
    if name not in SCENES:
        raise TilesatError(f"unknown scene '{name}'", hint="one of " + ", ".join(SCENES))
    if name in _FLAT:
        return _FLAT[name]
    return _NESTED[name] if nests else load_statement
