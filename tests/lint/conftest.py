"""Fixtures of the tests of commands."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def policygen(tmp_path):
    """`policygen ARGUMENTS` in a process and a folder of its own, without the colours of a user."""

    def run(*arguments, given=None):
        environ = {k: v for k, v in os.environ.items() if k not in {"NO_COLOR", "FORCE_COLOR"}}
        return subprocess.run(
            [sys.executable, "-m", "policygen", *arguments],
            input=given,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=environ,
            timeout=120,
            check=False,
        )

    return run
