"""Exec plugins for credentials that tests write."""

import subprocess
import time

PLUGIN = {"apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never"}

HANGS = """#!/bin/sh
sleep 300 &
echo $! > {pid}
wait
"""


def program(path, text):
    path.write_text(text, "utf-8")
    path.chmod(0o700)
    return str(path)


def ends(pid):
    """True if a process ends within 20 seconds; a zombie counts as ended."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        done = subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True, check=False)
        if done.stdout.strip()[:1] in (b"", b"Z"):
            return True
        time.sleep(0.05)
    return False
