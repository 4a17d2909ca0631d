"""A proxy on loopback before an API server: records requests, and breaks those of a test."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import parse_qs, urlsplit

from tests import kubeconfigs, loopback
from tests.loopback import Loopback

from .client import Client

_HOP = {"connection", "transfer-encoding", "content-length", "keep-alive"}


class Asked(NamedTuple):
    """A request that reached the proxy."""

    method: str
    path: str
    query: dict[str, str]
    number: int
    """How many of the same path came before."""


@dataclass(frozen=True)
class Fault:
    """What happens to an answer instead of arriving."""

    status: int = 0
    """Answered by the proxy itself, if not 0."""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b"{}"
    cut_at: int = -1
    """Bytes of the body after which the connection is reset."""
    drip_s: float = 0.0
    """Between one byte and the next."""
    content_type: str = ""


Breaks = Callable[[Asked], Fault | None]


class Proxy(Loopback):
    """Plain HTTP in, TLS to the server; the client's own credentials go through."""

    def __init__(self, server: str, ca: Path) -> None:
        super().__init__(loopback.http(self.handle))
        self._client = Client(server, "", ca.read_text(encoding="ascii"))
        self.asked: list[Asked] = []
        self.breaks: Breaks = lambda _: None
        self._lock = threading.Lock()

    @contextmanager
    def running(self) -> Iterator[Self]:
        try:
            with super().running():
                yield self
        finally:
            self._client.close()

    def kubeconfig(self, path: Path, user: dict[str, Any], context: str = "bench") -> Path:
        """A file with one context, which leads through the proxy."""
        return kubeconfigs.write(path, self.url, user, context)

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(request.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        with self._lock:
            number = sum(each.path == parts.path for each in self.asked)
            asked = Asked(request.command, parts.path, query, number)
            self.asked.append(asked)
        body = request.rfile.read(int(request.headers.get("content-length") or 0))
        fault = self.breaks(asked) or Fault()
        if fault.status:
            status, headers, data = fault.status, {}, fault.body
        else:
            status, headers, data = self._forward(request, body)
        headers |= fault.headers
        if fault.content_type:
            headers["content-type"] = fault.content_type
        loopback.begin(request, len(data), status, headers)
        try:
            if fault.cut_at >= 0:
                request.wfile.write(data[: fault.cut_at])
                request.wfile.flush()
                request.close_connection = True
            elif fault.drip_s:
                for number in range(len(data)):
                    request.wfile.write(data[number : number + 1])
                    request.wfile.flush()
                    time.sleep(fault.drip_s)
            else:
                request.wfile.write(data)
        except OSError:
            request.close_connection = True  # the client would not wait

    def _forward(
        self, request: BaseHTTPRequestHandler, body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        headers = {k: v for k, v in request.headers.items() if k.lower() not in {"host", *_HOP}}
        answer, data = self._client.send(request.command, request.path, body or None, headers)
        kept = {k.lower(): v for k, v in answer.getheaders() if k.lower() not in _HOP}
        return answer.status, kept, data
