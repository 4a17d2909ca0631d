"""Time limits of tests, adapted to the current speed of this machine."""

from __future__ import annotations

import os


def budget(seconds: float) -> float:
    """Seconds on a machine that has its cores for itself; more where others wait for them."""
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
