"""Runs a test in a process of its own: pytest's plugins have threads, and a process with threads cannot fork."""

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CAN_FORK = sys.platform == "linux" and len(os.sched_getaffinity(0)) > 1


def in_own_process(test):
    """The test, which has no arguments, in a new process."""

    @pytest.mark.skipif(not CAN_FORK, reason="needs Linux and two processors")
    @functools.wraps(test)
    def run():
        code = f"import {test.__module__} as tests; tests.{test.__name__}.__wrapped__()"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    return run
