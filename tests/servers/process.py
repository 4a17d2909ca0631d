"""One server process: started, checked for its health, and ended by its own process id."""

from __future__ import annotations

import http.client
import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

LAUNCH = Path(__file__).with_name("launch.py")
POLL_S = 0.05
STOP_GRACE_S = 10.0
LOG_TAIL = 15
LINE_LENGTH = 400


class ServerError(Exception):
    """A server died or did not come up in time; the message holds the end of its log."""


@dataclass
class Process:
    """A program with its log. Start it from the main thread: it dies with the starting thread."""

    name: str
    command: Sequence[str]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    binds: Sequence[tuple[Path, Path]] = ()
    _running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        if not Path(self.command[0]).is_file():
            raise ServerError(
                f"{self.name}: {self.command[0]} is missing; run `python -m tests.servers build`"
            )
        options = [part for source, to in self.binds for part in ("--bind", f"{source}:{to}")]
        launch = [sys.executable, "-I", "-S", str(LAUNCH), str(os.getpid())]
        with self.log.open("ab") as log:
            self._running = subprocess.Popen(
                [*launch, *options, "--", *self.command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={"PATH": "/usr/bin:/bin", "NO_PROXY": "127.0.0.1", **self.environment},
                cwd=self.log.parent,
                start_new_session=True,  # a Ctrl-C reaches us, not the servers
            )

    @property
    def pid(self) -> int:
        return self._running.pid if self._running else 0

    @property
    def exit_code(self) -> int | None:
        """None while it runs (or was never started)."""
        return self._running.poll() if self._running else None

    def tail(self, lines: int = LOG_TAIL) -> str:
        try:
            text = self.log.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return ""
        return "\n".join(line[:LINE_LENGTH] for line in text.splitlines()[-lines:])

    def wait_until(self, healthy: Callable[[], bool], deadline_s: float) -> None:
        """Return once healthy; raise ServerError when it dies or the deadline passes."""
        end = time.monotonic() + deadline_s
        while not healthy():
            if (code := self.exit_code) is not None:
                raise ServerError(f"{self.name} ended with {code}; {self.log}:\n{self.tail()}")
            if time.monotonic() > end:
                raise ServerError(
                    f"{self.name} not healthy after {deadline_s:.0f} s; {self.log}:\n{self.tail()}"
                )
            time.sleep(POLL_S)

    def ask_to_stop(self) -> None:
        if self._running and self._running.poll() is None:
            self._running.send_signal(signal.SIGTERM)

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """End it: politely, after the grace by force. Returns when it is gone."""
        if self._running is None:
            return
        self.ask_to_stop()
        try:
            self._running.wait(grace_s)
        except subprocess.TimeoutExpired:
            self._running.kill()
            self._running.wait()


def answers(url: str, ca: Path | None = None, *, any_status: bool = False) -> bool:
    """Whether a GET of this loopback URL gets a 200 (or any answer at all)."""
    parts = urlsplit(url)
    assert parts.hostname
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        context = ssl.create_default_context(cafile=str(ca))
        connection = http.client.HTTPSConnection(
            parts.hostname, parts.port, timeout=2, context=context
        )
    else:
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=2)
    try:
        connection.request("GET", parts.path)
        return connection.getresponse().status == http.client.OK or any_status
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
