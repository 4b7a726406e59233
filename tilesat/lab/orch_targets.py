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
        *("carried_result", "old_names", "start_of_branch", "carried_on", "side_by_side", "clashing_carries"),
        *("next_trip", "whole_carry", "one_argument_twice", "blocks_and_aliases"),
    ),
    _target(
        "buffers",
        "inputs and outputs that cannot be one buffer",
        *("buffer_used_before", "blocks_and_aliases", "partly_filled", "output_read", "written_elsewhere_too"),
        *("argument_of_a_tuple", "tuple_of_a_branch", "window_given", "recast_given", "fixed_launch"),
    ),
)
