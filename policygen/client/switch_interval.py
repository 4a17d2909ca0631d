"""Sets Python's thread switch interval while a cluster is read."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TURN_S = 0.0005


@contextmanager
def in_short_turns() -> Iterator[None]:
    """Shorten the GIL switch interval, so that I/O threads do not wait for threads that decode."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
