"""What goes to another process and comes back, as bytes; what cannot be sent is told as an error of ours."""

from __future__ import annotations

import copyreg
import io
import pickle
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any

from tilesat.bridge.decisions import Decision
from tilesat.errors import TilesatError
from tilesat.ir import nodes, types

ALONE = "jobs=1"
"""What needs no other process."""

_Reducer = Callable[[Any], tuple[Any, ...]]


def packed(value: object, what: str) -> bytes:
    """``value`` pickled.

    Raises :class:`TilesatError` that calls it ``what`` when it cannot be.
    """
    target = io.BytesIO()
    pickler = pickle.Pickler(target, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _reducers()
    try:
        pickler.dump(value)
    except RecursionError:
        text = f"{what} cannot be sent to another process: it is nested too deeply"
        raise TilesatError(text, hint=f"{ALONE}, or make functions of the inner blocks") from None
    except Exception as error:  # pickle raises what it likes, and so does a user's class
        raise unsendable(what, error) from None
    return target.getvalue()


def unsendable(what: str, error: Exception) -> TilesatError:
    """The error for what cannot be pickled, or not be unpickled elsewhere."""
    text = f"{what} cannot be sent to another process: {type(error).__name__}: {error}"
    return TilesatError(text, hint=f"{ALONE}, or a cost model in a file of its own")


@lru_cache(maxsize=1)
def _reducers() -> dict[type[Any], Any]:
    """How the parts of programs are pickled: by their constructors, a third of the time that dataclasses take."""
    parts = [part for module in (nodes, types) for part in vars(module).values() if isinstance(part, type)]
    return copyreg.dispatch_table | {part: _by_constructor(part) for part in (*parts, Decision) if is_dataclass(part)}


def _by_constructor(part: type[Any]) -> _Reducer:
    names = [field.name for field in fields(part)]
    if len(names) < 2:
        return lambda value: (part, tuple([getattr(value, name) for name in names]))
    values = attrgetter(*names)
    return lambda value: (part, values(value))
