"""Servers that tests run on loopback."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

POLL_S = 0.02
"""How long an end may take to be seen."""

Respond = Callable[[BaseHTTPRequestHandler], None]


class Loopback:
    """A server on a port of its own, which answers while it is `running`."""

    def __init__(self, server: socketserver.TCPServer) -> None:
        self._server = server

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    @contextmanager
    def running(self) -> Iterator[Self]:
        thread = threading.Thread(target=self._server.serve_forever, args=(POLL_S,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()


def http(respond: Respond) -> ThreadingHTTPServer:
    """A server of HTTP/1.1 that leaves every request to `respond`, each in a thread of its own."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            respond(self)

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - as the library calls them

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    return server


def send(
    request: BaseHTTPRequestHandler,
    body: bytes,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Answer with JSON, unless the headers have another content type."""
    begin(request, len(body), status, headers)
    request.wfile.write(body)


def begin(
    request: BaseHTTPRequestHandler,
    size: int,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> None:
    """The same without the body."""
    request.send_response(status)
    for name, value in {"content-type": "application/json", **(headers or {})}.items():
        request.send_header(name, value)
    request.send_header("content-length", str(size))
    request.end_headers()
