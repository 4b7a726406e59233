"""The worked cases and kernels in ``tests/data``, as programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from tilesat.ir.nodes import Program
from tilesat.ir.parser import parse

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Case:
    """One worked case: the input, what the peer compiler makes of it, and whether that is right."""

    name: str
    title: str
    hardware: str | None
    peer_is_right: bool

    @property
    def before(self) -> Program:
        return _parse(DATA / "cases" / self.name / "before.py")

    @property
    def peer(self) -> Program:
        return _parse(DATA / "cases" / self.name / "peer_after.py")


@cache
def _parse(path: Path) -> Program:
    return parse(path)


@lru_cache(maxsize=1)
def cases() -> tuple[Case, ...]:
    """All cases, by name."""
    index = json.loads((DATA / "cases" / "index.json").read_text(encoding="utf-8"))
    return tuple(Case(n, row["title"], row["hardware"], row["peer_is_right"]) for n, row in sorted(index.items()))


def cases_of(prefix: str, *, right: bool | None = None) -> list[Case]:
    """Cases whose name starts with ``prefix``; with ``right`` only those where the peer is (or is not)."""
    return [c for c in cases() if c.name.startswith(prefix) and right in (None, c.peer_is_right)]


def case(name: str) -> Case:
    return next(c for c in cases() if c.name == name)


def kernel_names() -> list[str]:
    return sorted(path.name for path in (DATA / "kernels").iterdir())


def kernel(name: str, stage: str) -> Program:
    """Text ``stage`` (``infer_before``, ``infer_peer``, ``orch_before``, ``orch_peer``) of a kernel."""
    return _parse(DATA / "kernels" / name / f"{stage}.py")


def check_golden(name: str, text: str, *, refresh: bool) -> None:
    """Compare ``text`` with the golden file ``name``; with ``refresh`` write it."""
    path = DATA / "golden" / name
    if refresh:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"golden file {name} is missing; run pytest --refresh-golden and read what it wrote"
    assert text == path.read_text(encoding="utf-8")
