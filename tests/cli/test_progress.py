"""The line that says what is being read, on a terminal."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest


@pytest.mark.parametrize(
    "term, columns, shown",
    [
        ("xterm", 20, b"\r\x1b[Kbench: ClusterQueue"[:23]),
        ("xterm", 0, b"\r\x1b[Kbench: ClusterQueue (3 of 20)"),
        ("dumb", 80, b""),
    ],
)
def test_it_fits_into_its_line(term, columns, shown):
    """A line that wraps leaves its first half behind; what is no terminal of letters gets none."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    code = "from policygen.cli.stderr import progress; progress('bench: ClusterQueue (3 of 20)')"
    subprocess.run(
        [sys.executable, "-c", code], stderr=slave, env={"TERM": term}, check=True, timeout=60
    )
    os.write(slave, b"|")
    got = b""
    while not got.endswith(b"|"):
        got += os.read(master, 1000)
    assert got == shown + b"|"
    os.close(slave)
    os.close(master)
