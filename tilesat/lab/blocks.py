"""How blocks end: what they computed is stored, and none is empty."""

from __future__ import annotations

from tilesat.lab.builder import Builder
from tilesat.lab.effects import is_storable, store_tile
from tilesat.lab.pool import TileVar
from tilesat.lab.sources import load_statement

_MOST_IN_BODY = 2
_MOST_IN_FUNCTION = 5
_STORED = 4
"""How many times out of one more a tile is stored."""


def finish(b: Builder) -> None:
    """End the current block: some of the tiles that nothing has read yet are stored.

    Without that, most of what a program computes could be wrong and nobody would see it.
    """
    most = _MOST_IN_FUNCTION if b.scope.depth == 0 else _MOST_IN_BODY
    unread = [tile for tile in reversed(b.scope.tiles) if _is_worth_storing(b, tile)][:most]

    def one() -> bool:
        # Decide first, even with nothing left: dropping a store then drops its decisions and no others.
        if b.choices.integer(0, _STORED) == 0 or not unread:
            return False
        store_tile(b, unread.pop(0))
        return True

    while b.choices.span(one):
        pass


def _is_worth_storing(b: Builder, tile: TileVar) -> bool:
    return not tile.is_read and is_storable(b, tile)


def need_statement(b: Builder) -> None:
    """Make sure that the current block has a statement."""
    if not b.scope.stmts:
        load_statement(b)
