"""The kinds of orchestration programs, each with the scenes in which certain rules fire."""

from __future__ import annotations

from tilesat.lab.orch_programs import OrchConfig
from tilesat.lab.target import Target


def _target(name: str, meaning: str, *scenes: str) -> Target:
    return Target(name, meaning, OrchConfig(scenes, most_scenes=1, kernels=1, budget=3, has_parts=False))


ORCH_TARGETS: tuple[Target, ...] = (
    Target("launches", "launches, loops and branches at random", OrchConfig()),
    _target(
        "merges",
        "results that come back as inputs",
        *("carried_result", "old_names", "start_of_branch", "carried_on", "side_by_side", "next_trip"),
        "one_argument_twice",
    ),
    _target(
        "pairs",
        "several results that come back, and inputs that go through a kernel as a whole",
        *("clashing_carries", "whole_carry", "whole_carry", "carried_result"),
    ),
    _target(
        "buffers",
        "kernels whose inputs and outputs cannot be one buffer",
        *("buffer_used_before", "buffer_used_before", "blocks_and_aliases", "blocks_and_aliases"),
        *("partly_filled", "output_read", "fixed_launch"),
    ),
    _target(
        "arguments",
        "inputs that nobody follows, or that belong to others",
        *("tuple_of_a_branch", "tuple_of_a_branch", "window_given", "recast_given", "argument_of_a_tuple"),
        *("written_elsewhere_too", "written_elsewhere_too"),
    ),
    _target(
        "placed",
        "results that are assembled into larger tensors",
        *("placed_blocks", "placed_and_used", "placed_and_plain"),
    ),
    _target(
        "parents",
        "results assembled into tensors of which little is known",
        *("open_parent", "unclear_parent", "unclear_output", "parent_of_lower_rank"),
    ),
    _target(
        "sliced",
        "windows of larger tensors given to kernels",
        *("sliced_inputs", "chosen_inputs", "inputs_of_tuples", "handed_back"),
    ),
    _target(
        "parts",
        "windows of parameters, and of tensors whose extents have names",
        *("part_of_a_window", "local_extent", "known_extent"),
    ),
    _target(
        "gathers",
        "loops that gather blocks in a tile",
        *("gathered_blocks", "gaps_between_blocks", "gaps_between_blocks", "written_meanwhile"),
        *("written_meanwhile", "read_before_the_store"),
    ),
    _target(
        "forms",
        "loops that gather blocks in other forms than the documents know",
        *("nested_blocks", "guarded_blocks", "gathered_tile_read"),
    ),
    _target(
        "windows",
        "kernels that get windows, in loops and in sequence",
        *("windows_in_sequence", "windows_of_trips", "overlapping_trips", "loops_of_trips", "made_in_trips"),
        *("parts_of_loops", "no_windows", "no_windows"),
    ),
    _target(
        "siblings",
        "windows of tensors that others write",
        *("whole_sibling", "two_windows_of_one", "results_of_loops"),
    ),
    _target(
        "folds",
        "windows of what loops give",
        *("results_of_loops", "results_of_loops", "made_in_trips"),
    ),
    _target(
        "submits",
        "windows of submits, and windows of inputs alone",
        *("pieces_depended_on", "input_windows_alone", "input_windows_alone"),
    ),
    _target(
        "edges",
        "windows of windows and of symbolic tensors, and places without any",
        *("symbolic_rows", "symbolic_rows", "symbolic_rows", "windows_of_windows", "windows_of_windows"),
        "no_place_for_windows",
    ),
)
