"""Runs one server: dies with its parent, and sees private folders where it insists on fixed paths.

Run as `python launch.py PARENT_PID [--bind SOURCE:TARGET]... -- COMMAND...`. It replaces itself
with COMMAND, so the process id stays. `--bind` puts SOURCE over TARGET in a mount namespace of
its own; the machine's folder is not touched. Standard library only: it runs with `-I -S`.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from pathlib import Path

PR_SET_PDEATHSIG = 1
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000

_libc = ctypes.CDLL(None, use_errno=True)


def main(arguments: list[str]) -> None:
    split = arguments.index("--")
    parent, options, command = int(arguments[0]), arguments[1:split], arguments[split + 1 :]
    binds = [pair.split(":", 1) for pair in options if pair != "--bind"]
    if binds:
        _own_mounts()
        for source, target in binds:
            _check(
                _libc.mount(source.encode(), target.encode(), None, MS_BIND, None),
                f"mount {source} over {target}",
            )
    _check(_libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL), "prctl")
    if os.getppid() != parent:  # the parent ended before prctl took effect
        sys.exit("launch: the parent is gone")
    os.execv(command[0], command)


def _own_mounts() -> None:
    user, group = os.getuid(), os.getgid()
    flags = CLONE_NEWNS if user == 0 else CLONE_NEWNS | CLONE_NEWUSER
    _check(_libc.unshare(flags), "unshare")
    if user != 0:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"0 {user} 1"),
            ("gid_map", f"0 {group} 1"),
        ):
            with Path(f"/proc/self/{name}").open("w", encoding="ascii") as handle:
                handle.write(text)
    _check(_libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "mount --make-rprivate /")


def _check(result: int, what: str) -> None:
    if result != 0:
        sys.exit(f"launch: {what}: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    main(sys.argv[1:])
