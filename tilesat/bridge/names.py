"""Fresh names for what a pass adds to a function."""

from __future__ import annotations

from collections.abc import Iterable


class Names:
    """Hands out names that nothing in the function uses: ``hint``, ``hint_1``, ``hint_2``, ..."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def fresh(self, hint: str) -> str:
        name = hint
        while name in self._taken:
            self._next[hint] = self._next.get(hint, 0) + 1
            name = f"{hint}_{self._next[hint]}"
        self._taken.add(name)
        return name
