"""How long one thread keeps the others waiting."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TURN_S = 0.0005


@contextmanager
def in_short_turns() -> Iterator[None]:
    """Threads that only pass on what has come do not wait long for those that work with it."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
