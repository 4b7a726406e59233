"""Python's cycle collector at rest while a pass works."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_passes = 0
_was_enabled = False


@contextmanager
def collector_paused() -> Iterator[None]:
    """No search for garbage in cycles inside the block: a pass makes many objects and no cycles.

    Passes may be nested and run in several threads; the last one to end leaves the collector as the first found it.
    """
    global _passes, _was_enabled
    with _lock:
        if _passes == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _passes += 1
    try:
        yield
    finally:
        with _lock:
            _passes -= 1
            if _passes == 0 and _was_enabled:
                gc.enable()
