"""Limits how often the progress of a long run is shown."""

import time

_EVERY_S = 0.2


class Throttle:
    """Allows a message a few times each second, the first one after that time."""

    def __init__(self) -> None:
        self._allowed = time.monotonic()

    def allows(self) -> bool:
        """Whether it is time for the next message, which is then expected."""
        now = time.monotonic()
        if now - self._allowed <= _EVERY_S:
            return False
        self._allowed = now
        return True
