"""A proxy on loopback, CONNECT and SOCKS 5, that records requested hosts and resolves names itself."""

from __future__ import annotations

import base64
import socket
import socketserver
import threading
from contextlib import suppress

from tests.loopback import Loopback

HEAD_BYTES = 1 << 16


class Tunnel(Loopback):
    """Connects every requested host to loopback, at the requested port."""

    def __init__(self, user: str = "") -> None:
        """`user` is `name:password`, which every request must then have."""
        self.asked: list[str] = []
        self._user = base64.b64encode(user.encode()).decode() if user else ""
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                outer.handle(self)

        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        super().__init__(server)

    def handle(self, request: socketserver.StreamRequestHandler) -> None:
        if request.rfile.peek(1)[:1] == b"\5":
            self._socks(request)
            return
        verb, target, _ = request.rfile.readline(HEAD_BYTES).decode("ascii").split()
        headers = {}
        while line := request.rfile.readline(HEAD_BYTES).decode("ascii").strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        self.asked.append(target)
        if self._user and headers.get("proxy-authorization") != f"Basic {self._user}":
            request.wfile.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            return
        if verb != "CONNECT":
            request.wfile.write(b"HTTP/1.1 405 Method Not Allowed\r\n\r\n")
            return
        port = int(target.rpartition(":")[2])
        self._lead(request, port, b"HTTP/1.1 200 Connection established\r\n\r\n")

    def _socks(self, request: socketserver.StreamRequestHandler) -> None:
        """RFC 1928: no password, a CONNECT to a name."""
        _, methods = request.rfile.read(2)
        request.rfile.read(methods)
        request.wfile.write(b"\5\0")
        kind, size = request.rfile.read(5)[3:]
        assert kind == 3, "an address and no name"
        name = request.rfile.read(size).decode("ascii")
        port = int.from_bytes(request.rfile.read(2), "big")
        self.asked.append(f"{name}:{port}")
        self._lead(request, port, b"\5\0\0\1" + bytes(6))

    def _lead(self, request: socketserver.StreamRequestHandler, port: int, welcome: bytes) -> None:
        with socket.create_connection(("127.0.0.1", port)) as far:
            request.wfile.write(welcome)
            back = threading.Thread(target=_pump, args=(far, request.connection), daemon=True)
            back.start()
            _pump(request.connection, far)
            back.join()


def _pump(source: socket.socket, to: socket.socket) -> None:
    """Until one side has ended."""
    with suppress(OSError):
        while part := source.recv(1 << 16):
            to.sendall(part)
    with suppress(OSError):
        to.shutdown(socket.SHUT_WR)
