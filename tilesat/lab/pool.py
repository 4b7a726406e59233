"""What a program under construction can use: tiles, scalars, tensors, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from tilesat.ir.nodes import Block, Expr, Stmt, Var
from tilesat.ir.types import Direction, MemorySpace, Shape, TensorType, TileType

T = TypeVar("T")

# Memories whose tiles only one slot of a product can read: no transfer leads out of them.
CUBE_ONLY = frozenset({MemorySpace.Left, MemorySpace.Right, MemorySpace.Bias})
WINDOW = 24
"""How many of the latest tiles are considered as operands: what keeps large programs linear."""


@dataclass(slots=True, eq=False)
class TileVar:
    """A tile variable. Variables with the same ``buffer`` share one."""

    name: str
    type: TileType
    buffer: int
    is_read: bool = False
    is_carried: bool = False
    """Whether the tile is an iter-arg."""
    is_retired: bool = False
    """Whether a write has made a new name for the buffer and old names shall not be read."""

    @property
    def rows(self) -> int:
        return _static(self.type.shape[0])

    @property
    def columns(self) -> int:
        return _static(self.type.shape[1])

    @property
    def space(self) -> MemorySpace | None:
        return self.type.space

    @property
    def is_free(self) -> bool:
        """Whether the tile can be moved to wherever it is needed."""
        return self.type.space not in CUBE_ONLY

    @property
    def is_whole(self) -> bool:
        """Whether all of the tile is valid."""
        return self.type.view is None or self.type.view.valid_shape is None

    @property
    def is_static(self) -> bool:
        """Whether the valid extents are known numbers."""
        return all(isinstance(extent, int) for extent in self.type.valid_shape)

    def has_values_like(self, type_: TileType) -> bool:
        """Whether dtype, shape and valid extents are those of ``type_``: what a loop can carry on."""
        mine = self.type
        return mine.dtype == type_.dtype and mine.shape == type_.shape and mine.valid_shape == type_.valid_shape


def _static(dim: int | Expr) -> int:
    assert isinstance(dim, int), "generated tiles have static shapes"
    return dim


@dataclass(frozen=True, slots=True)
class ScalarVar:
    """A scalar variable. An index lies in 0 to ``high``; of other dtypes nothing is known."""

    name: str
    dtype: str
    high: int = 0

    @property
    def expr(self) -> Var:
        return Var(self.name)


@dataclass(slots=True, eq=False)
class TensorVar:
    """A tensor parameter; ``number`` identifies its storage, ``is_index`` says that it holds positions."""

    number: int
    name: str
    type: TensorType
    direction: Direction
    is_index: bool = False
    is_stored: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """What a load has read, so that it can be read again."""

    tensor: TensorVar
    offsets: tuple[Expr, ...]
    shape: Shape
    valid: Shape


@dataclass(slots=True)
class Scope:
    """One block under construction. ``names`` maps the number of a tensor to the names bound here."""

    parent: Scope | None = None
    depth: int = 0
    loop: int = 0
    """Number of the innermost loop, 0 outside of all."""
    stmts: list[Stmt] = field(default_factory=list)
    tiles: list[TileVar] = field(default_factory=list)
    scalars: list[ScalarVar] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    names: dict[int, list[str]] = field(default_factory=dict)
    keeps_names: bool = False
    """Whether the names that tensors get here live on after the block."""
    defined: set[str] = field(default_factory=set)

    @property
    def block(self) -> Block:
        return tuple(self.stmts)

    def chain(self) -> Iterator[Scope]:
        """This scope and those around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def keeps_name(self, tensor: TensorVar) -> bool:
        """Whether a new name for ``tensor`` lives on to the end of the function."""
        if self.parent is None:
            return True
        is_kept = self.keeps_names or tensor.number in self.names
        return is_kept and self.parent.keeps_name(tensor)

    def sees(self, name: str) -> bool:
        return any(name in scope.defined for scope in self.chain())

    def visible_tiles(self, want: Callable[[TileVar], bool]) -> list[TileVar]:
        """The wanted ones among the latest tiles: latest, earliest, second latest, second earliest, ...

        So the simplest operand is the latest, and a reference to an early tile stays low however many tiles
        come in between: what stands between can be dropped without changing it.
        """
        found: list[TileVar] = []
        left = WINDOW
        for scope in self.chain():
            tiles = scope.tiles
            found += [tile for tile in reversed(tiles[-left:]) if want(tile)]
            left -= len(tiles)
            if left <= 0:
                break
        return from_both_ends(found)

    def visible_scalars(self, dtype: str, limit: int) -> list[ScalarVar]:
        """The latest scalars of ``dtype``, latest first."""
        found: list[ScalarVar] = []
        for scope in self.chain():
            for scalar in reversed(scope.scalars[-WINDOW:]):
                if scalar.dtype == dtype:
                    found.append(scalar)
                    if len(found) == limit:
                        return found
        return found

    def visible_windows(self, limit: int) -> list[Window]:
        found: list[Window] = []
        for scope in self.chain():
            found += reversed(scope.windows[-(limit - len(found)) :])
            if len(found) >= limit:
                break
        return found

    def tensor_names(self, tensor: TensorVar) -> list[str]:
        """Names of ``tensor`` that are visible here, the newest first."""
        found: list[str] = []
        for scope in self.chain():
            found += reversed(scope.names.get(tensor.number, ()))
        return found

    def touch(self, buffer: int) -> None:
        """Make the tiles that share ``buffer`` the latest ones: what changed is worth reading."""
        for scope in self.chain():
            recent = scope.tiles[-WINDOW:]
            touched = [tile for tile in recent if tile.buffer == buffer]
            if touched:
                scope.tiles[-WINDOW:] = [tile for tile in recent if tile.buffer != buffer] + touched

    def retire(self, buffer: int) -> None:
        """Forget the tiles that share ``buffer``."""
        for scope in self.chain():
            recent = scope.tiles[-WINDOW:]
            for tile in recent:
                tile.is_retired |= tile.buffer == buffer
            scope.tiles[-WINDOW:] = [tile for tile in recent if not tile.is_retired]


def from_both_ends(items: list[T]) -> list[T]:
    """First, last, second, second to last, and so on."""
    middle = (len(items) + 1) // 2
    mixed = items[:]
    mixed[::2], mixed[1::2] = items[:middle], items[: middle - 1 : -1]
    return mixed
