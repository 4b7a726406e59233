"""Situations of whole programs in which rules of orchestration fire that random statements seldom lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from tilesat.errors import TilesatError
from tilesat.lab import orch_scenes_gathers, orch_scenes_merges, orch_scenes_strides, orch_scenes_windows
from tilesat.lab.orch_callers import Caller

OrchScene = Callable[[Caller], None]

_MODULES = (orch_scenes_merges, orch_scenes_strides, orch_scenes_gathers, orch_scenes_windows)
_SCENES: Mapping[str, OrchScene] = {scene.__name__: scene for module in _MODULES for scene in module.SCENES}
ORCH_SCENES: Mapping[str, str] = MappingProxyType(
    {name: (scene.__doc__ or "").strip().splitlines()[0] for name, scene in _SCENES.items()}
)
"""Every scene and what it is."""


def check_scenes(names: Iterable[str]) -> None:
    """Raise :class:`tilesat.TilesatError` for a name that is no scene."""
    for name in names:
        orchestration_scene(name)


def orchestration_scene(name: str) -> OrchScene:
    """The scene called ``name``; raises :class:`tilesat.TilesatError` for an unknown name."""
    if name not in _SCENES:
        raise TilesatError(f"unknown scene '{name}'", hint="one of " + ", ".join(_SCENES))
    return _SCENES[name]
