"""Which programs make a rule fire: kinds of programs, and the best kind for each rule.

A target is a configuration of the generator. Shipped rules have one by table; for a rule of the user a few programs
of each target are tried, and the one in which the rule fires most often is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from tilesat.bridge.infer import infer_tile_memory_space
from tilesat.bridge.orch import optimize_orch_tensors
from tilesat.errors import TilesatError
from tilesat.lab.config import GeneratorConfig
from tilesat.lab.firing import firings
from tilesat.lab.orch_targets import ORCH_TARGETS
from tilesat.lab.target import KERNELS, Target, kind_of
from tilesat.lab.target_table import TARGET_OF
from tilesat.rules.rule import Rule, RuleSet

_SMALL = GeneratorConfig(max_statements=6, length=5, body_length=2, extents=(16, 32), max_trips=3)


def _target(
    name: str,
    meaning: str,
    *scenes: str,
    config: GeneratorConfig = _SMALL,
    hardware: str | None = "910b",
    **overrides: Any,
) -> Target:
    return Target(name, meaning, replace(config, scenes=scenes, **overrides), hardware)


_PANEL_SCENES = ("panel", "panel_in_branch", "panel_after_effect", "panel_of_other_source", "written_panel")

TARGETS: Mapping[str, Target] = MappingProxyType(
    {
        target.name: target
        for target in (
            _target("any", "a little of everything", config=replace(_SMALL, max_statements=10, length=9)),
            _target("ops", "ops of which the table says little", *("strange_op",) * 6, "open_operand", "alias_read",
                    max_statements=8, length=8),
            _target("calls", "ops that the table lacks or that give several tiles", "unknown_op", "tuple_result",
                    max_statements=8, length=8),
            _target("seeds", "what accumulating loops start from", "zero_seed", "created_seed", "viewed_seed",
                    "chosen_seed", "shared_seed"),
            _target("zeros", "accumulators that begin as zeros or as what a branch gives", "zero_seed", "zero_seed",
                    "chosen_seed"),
            _target("slots", "tiles carried and chosen across memories", "loaded_seed", "kept_or_new",
                    "mixed_carries", "operand_carry", "exchanged"),
            _target("writes", "in-place writes in the wrong memory", "scattered", "scattered", "seed_in_place",
                    "written_elsewhere", "anchored_write", "shown_write", "block_from_elsewhere"),
            _target("copies", "copies, and what they may be shared by", "copy_of_copy", "own_move", "own_move",
                    "two_arms", "views_around"),
            _target("around", "tiles from outside a loop, whose views and windows are read inside", "views_around",
                    max_statements=6, length=6),
            _target("views", "views of views, windows of windows", "window_of_window", "view_back", "view_back",
                    "cut_windows", "whole_slice"),
            _target("loads", "windows loaded again, tiles filled alike", "equal_loads", "loads_apart",
                    "equal_fills", weights=(("reload", 12),)),
            _target("panels", "loads in loops, launched from where their tensors are made", "panel", "panel",
                    "sliced_panel", "same_panel", "same_panel", *_PANEL_SCENES, callers="root"),
            _target("written", "loads in loops of tensors that are written, and of which parts are cut",
                    "written_panel", "written_panel", *("sliced_panel",) * 3, "same_panel", callers="root"),
            _target("holds", "loads in loops, with what holds them there", "ordered_panel", "rewritten_load",
                    "odd_reader", callers="root"),
            _target("everywhere", "loads in loops, compiled for no chip in particular", "panel", "sliced_panel",
                    callers="root", hardware=None),
            _target("shared", "blocks that loops load twice, and of which they cut parts", "same_panel", "sliced_panel",
                    callers="root"),
            _target("turned", "tiles read the other way round, in and out of loops", "view_back", "open_operand"),
            _target("orders", "loads in loops with barriers, in pipelines and dynamic loops", "ordered_panel",
                    "ordered_panel", "panel", "pipelined_panel", callers="root"),
            _target("callers", "loads in loops, launched in strange ways", "panel", callers="strange", functions=2,
                    max_statements=3, length=3),
            _target("rooms", "loads in loops that hardly fit", "panel", "panel", "reserved_buffer", callers="root",
                    extents=(256, 16), tensor_extent=256, max_statements=4, length=3),
            _target("unsized", "loads in loops, next to tiles whose size is not known", "unsized_panel",
                    "unsized_panel", "panel", callers="root", max_statements=4, length=3),
            *ORCH_TARGETS,
        )
    }
)  # fmt: skip
"""All targets by name."""

PILOT = 24
"""Programs of each target tried for a rule that has none by table."""


def is_targeted(rule: Rule) -> bool:
    """Whether programs can be made to order for ``rule``."""
    return kind_of(rule) is not None


def runs_on_kernels(rule: Rule) -> bool:
    """Whether ``rule`` belongs to the passes over kernels; those of orchestration run on whole programs."""
    return kind_of(rule) == KERNELS


def choose_targets(rules: RuleSet, wanted: Sequence[Rule], seed: int, examples: int) -> dict[str, str]:
    """The target of each rule by name: that of the table, else the one in which the rule fires most often.

    A few programs of each target of its kind are tried for a rule that the table lacks, fewer when ``examples`` are
    few.
    """
    chosen = {rule.name: TARGET_OF[rule.name] for rule in wanted if rule.name in TARGET_OF}
    unknown = [rule for rule in wanted if rule.name not in chosen]
    tries = max(4, min(PILOT, examples // 20))
    best = {rule.name: (-1, "") for rule in unknown}
    for target in TARGETS.values():
        names = [rule.name for rule in unknown if kind_of(rule) == target.kind]
        fired = _pilot(target, rules, names, range(seed, seed + tries)) if names else Counter()
        for name in names:
            best[name] = max(best[name], (fired[name], target.name), key=lambda item: item[0])
    return {**chosen, **{name: target for name, (_, target) in best.items()}}


def _pilot(target: Target, rules: RuleSet, names: Sequence[str], seeds: Iterable[int]) -> Counter[str]:
    """In how many of the programs of ``seeds`` each rule fired."""
    fired: Counter[str] = Counter()
    run = infer_tile_memory_space if target.kind == KERNELS else optimize_orch_tensors
    for seed in seeds:
        with firings() as found:
            try:
                run(target.program(seed), rules=rules, hardware=target.hardware, check=False)
            except (TilesatError, AssertionError):
                # What goes wrong here the check itself will find and tell.
                continue
            finally:
                fired.update(name for name in names if found.fired(name))
    return fired
