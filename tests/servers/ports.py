"""Free loopback ports, taken from below the range that outgoing connections use."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack

FIRST, LAST = 20000, 32000
TRIES = 500


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 on which nothing listens; all are held until all are found."""
    chosen: list[int] = []
    with ExitStack() as held:
        for _ in range(TRIES):
            if len(chosen) == count:
                return chosen
            probe = held.enter_context(socket.socket())
            port = random.randrange(FIRST, LAST)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            chosen.append(port)
    raise OSError(f"no {count} free ports between {FIRST} and {LAST} on 127.0.0.1")
