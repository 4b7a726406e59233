"""The op table: what every op accepts, where its result lives, what it reads and writes.

Loaded from ``data/ops.json`` on first use. Facts of peer behaviour, section 5.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from tilesat.ir.nodes import Const, EnumConst, OpCall
from tilesat.ir.types import MemorySpace


class OutputRule(StrEnum):
    """How an op decides the space of its result."""

    FIXED = "fixed"
    KWARG = "kwarg"
    INHERIT = "inherit"
    NONE = "none"


class Effect(StrEnum):
    """What an op does to one argument."""

    READ = "r"
    WRITE = "w"
    READ_WRITE = "rw"


@dataclass(frozen=True, slots=True)
class LayoutWish:
    """Block layouts the backends would like: per leading input, and whether the result has it too."""

    inputs: tuple[str, ...]
    output: str | None


@dataclass(frozen=True, slots=True)
class OpInfo:
    """One op. ``slots[i]`` lists the spaces argument ``i`` may live in; empty means any."""

    name: str
    category: str
    args: tuple[str, ...]
    kwargs: Mapping[str, str]
    slots: tuple[tuple[MemorySpace, ...], ...]
    output_rule: OutputRule
    output_space: MemorySpace | None
    output_kwarg: str | None
    retargetable: bool
    reuses_arg: int | None
    inplace_safe: bool
    no_alias: tuple[int, ...]
    effects: Mapping[int, Effect]
    kwarg_effects: Mapping[int, tuple[Effect, ...]]
    write_channel: str | None
    access: str
    core: str | None
    cross_core: str | None
    no_duplicate: bool
    internal: bool
    writes_nothing: bool
    wants_layout: LayoutWish | None
    is_view: bool = field(init=False)
    is_pure: bool = field(init=False)

    def __post_init__(self) -> None:
        inherits = self.output_rule is OutputRule.INHERIT
        # A view shares its input's buffer: inherit and in-place safe (section 5); assemble writes.
        view = inherits and self.inplace_safe and not self.effects
        object.__setattr__(self, "is_view", view)
        object.__setattr__(self, "is_pure", self._decide_pure())

    def _decide_pure(self) -> bool:
        if self.effects or self.kwarg_effects or self.cross_core or self.no_duplicate:
            return False
        if self.name in _IMPURE:
            return False
        return self.category in ("TileOp", "TensorOp", "ArrayOp")

    def slot(self, position: int) -> tuple[MemorySpace, ...]:
        """The spaces argument ``position`` may live in; empty means any."""
        return self.slots[position] if position < len(self.slots) else ()

    def effect(self, position: int, call: OpCall) -> Effect:
        """What ``call`` does to its argument ``position``."""
        effect = self.effects.get(position)
        if effect is not None:
            return effect
        choices = self.kwarg_effects.get(position)
        if choices is None:
            return Effect.READ
        if Effect.READ_WRITE in choices and (Effect.READ in choices or _is_atomic(call)):
            return Effect.READ_WRITE
        return Effect.WRITE

    def written_args(self, call: OpCall) -> tuple[int, ...]:
        """Positions of the arguments ``call`` writes."""
        if not self.effects and not self.kwarg_effects:
            return ()
        positions = sorted({*self.effects, *self.kwarg_effects})
        return tuple(p for p in positions if p < len(call.args) and self.effect(p, call) is not Effect.READ)


# Ops without declared argument effects whose evaluation is visible or ordered all the same: random
# numbers differ per call; transfers to other cores, allocations and pipes are resources.
_IMPURE = frozenset(
    {"tile.random", "tensor.random", "tile.alloc", "tensor.alloc", "tensor.create_l1", "tile.store"}
    | {"pld.tile.remote_load", "pld.tile.remote_store"}
)
DEFAULT_MOVE_SPACE = MemorySpace.Vec


def _is_atomic(call: OpCall) -> bool:
    value = call.kwarg("atomic")
    if isinstance(value, EnumConst):
        return value.path.endswith(".Add")
    return isinstance(value, Const) and value.value == 1


@lru_cache(maxsize=1)
def op_table() -> Mapping[str, OpInfo]:
    """All ops by name."""
    text = resources.files("tilesat.ir").joinpath("data/ops.json").read_text(encoding="utf-8")
    return MappingProxyType({name: _op_info(name, row) for name, row in json.loads(text).items()})


@lru_cache(maxsize=4096)
def op_info(name: str) -> OpInfo | None:
    """The op called ``name``, or ``None`` when the table lacks it."""
    return op_table().get(name)


def _op_info(name: str, row: dict[str, Any]) -> OpInfo:
    output = row.get("output", {})
    rule, space, kwarg = OutputRule.NONE, None, None
    if "fixed" in output:
        rule, space = OutputRule.FIXED, MemorySpace(output["fixed"])
    elif "kwarg" in output:
        rule, kwarg = OutputRule.KWARG, output["kwarg"]
        space = MemorySpace(output["default"]) if output["default"] else None
    elif output.get("inherit"):
        rule = OutputRule.INHERIT
    wish = row.get("wants_layout")
    return OpInfo(
        name=name,
        category=row["category"],
        args=tuple(row["args"]),
        kwargs=MappingProxyType(row.get("kwargs", {})),
        slots=tuple(tuple(MemorySpace(s) for s in slot) for slot in row.get("slots", ())),
        output_rule=rule,
        output_space=space,
        output_kwarg=kwarg,
        retargetable=row.get("retargetable", False),
        reuses_arg=row.get("reuses_arg"),
        inplace_safe=row.get("inplace_safe", True),
        no_alias=tuple(row.get("no_alias", ())),
        effects=MappingProxyType({int(k): Effect(v) for k, v in row.get("effects", {}).items()}),
        kwarg_effects=MappingProxyType(
            {int(k): tuple(map(Effect, v)) for k, v in row.get("kwarg_effects", {}).items()}
        ),
        write_channel=row.get("write_channel"),
        access=row["access"],
        core=row.get("core"),
        cross_core=row.get("cross_core"),
        no_duplicate=row.get("no_duplicate", False),
        internal=row.get("internal", False),
        writes_nothing=row.get("writes_nothing", False),
        wants_layout=None if wish is None else LayoutWish(tuple(wish["inputs"]), wish["output"]),
    )
