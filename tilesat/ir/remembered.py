"""What is found of a statement once and for all: it is immutable, and asked the same by every stage."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from operator import attrgetter
from typing import TypeVar

from tilesat.ir.nodes import Stmt

T = TypeVar("T")


def remembered(slot: str) -> Callable[[Callable[[Stmt], T]], Callable[[Stmt], T]]:
    """Decorator: the statement itself keeps the answer, in its attribute ``slot``."""
    read = attrgetter(slot)

    def decorate(find: Callable[[Stmt], T]) -> Callable[[Stmt], T]:
        @wraps(find)
        def known(stmt: Stmt) -> T:
            try:
                found: T = read(stmt)
            except AttributeError:
                found = find(stmt)
                object.__setattr__(stmt, slot, found)
            return found

        return known

    return decorate
