"""Answers of an API server, recorded, and a server on loopback that gives them again.

    python benchmarks/replay.py FILE FACTOR [--pace]

The server gives the list of pods FACTOR times, each time with other names and uids.
With --pace, no answer ends sooner than it did when it was recorded. Prints its URL.
"""

import argparse
import re
import time
import zlib
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec
from msgspec import Struct

PODS = "/api/v1/pods"
GZIP_FROM = 128 << 10
"""Bytes from which API servers compress, at level 1. Source: apiserver, responsewriters."""

_POD = re.compile(rb'"name":"pod-00-(\d+)","namespace":"([^"]*)","uid":"..')
_METADATA = re.compile(rb'"metadata":\{[^{}]*\}')


class Answer(Struct):
    """The recorded response to one GET, in pages if it is a list."""

    path: str
    query: dict[str, str]
    """Without its continue."""
    accept: str
    kind: str
    pages: list[bytes]
    seconds: list[float]
    """The shortest time of each page, of several downloads."""

    @property
    def key(self) -> tuple[str, ...]:
        """What a request for it has, but for its place in the list."""
        return _key(self.path, self.query, self.accept)


def save(answers: Sequence[Answer], path: Path) -> None:
    """Write a file that `load` reads."""
    path.write_bytes(msgspec.msgpack.encode(answers))


def load(path: Path) -> list[Answer]:
    """Read what `save` wrote."""
    return msgspec.msgpack.decode(path.read_bytes(), type=list[Answer])


def page(answer: Answer, index: int, count: int) -> bytes:
    """Page `index` of `count` of a list whose own pages are given in turn."""
    copy, own = divmod(index, len(answer.pages))
    body = answer.pages[own]
    if "limit" not in answer.query:
        return body
    after = f',"continue":"{index + 1}"' if index + 1 < count else ""
    meta = f'"metadata":{{"resourceVersion":"1"{after}}}'.encode()
    body = _METADATA.sub(meta, body, count=1)
    new = rb'"name":"pod-%02d-\1","namespace":"\2","uid":"%02x' % (copy, copy)
    return _POD.sub(new, body) if copy else body


class Replay(ThreadingHTTPServer):
    """Gives recorded answers, as if there were `factor` times the pods."""

    daemon_threads = True

    def __init__(self, answers: Sequence[Answer], factor: int, *, pace: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._answers = {each.key: each for each in answers}
        self._factor = factor
        self._pace = pace
        self._packed: dict[tuple[tuple[str, ...], int], bytes] = {}

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def answer(self, target: str, accept: str, *, gzip: bool) -> tuple[bytes, bool]:
        """The body, and whether it is compressed. Raises KeyError if the request was not recorded."""
        began = time.monotonic()
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query))
        index = int(query.pop("continue", "0"))
        key = _key(parts.path, query, accept)
        found = self._answers[key]
        count = len(found.pages) * (self._factor if found.path == PODS else 1)
        if gzip and (key, index) in self._packed:
            body, packed = self._packed[key, index], True
        else:
            body, packed = page(found, index, count), False
            if gzip and len(body) >= GZIP_FROM:
                squeeze = zlib.compressobj(1, wbits=31)
                body, packed = squeeze.compress(body) + squeeze.flush(), True
                self._packed[key, index] = body
        if self._pace:
            end = began + found.seconds[index % len(found.pages)]
            time.sleep(max(0.0, end - time.monotonic()))
        return body, packed


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Replay

    def do_GET(self) -> None:
        gzip = "gzip" in self.headers.get("accept-encoding", "")
        try:
            body, packed = self.server.answer(self.path, self.headers["accept"], gzip=gzip)
        except KeyError:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("content-type", "application/json")
        if packed:
            self.send_header("content-encoding", "gzip")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def _key(path: str, query: dict[str, str], accept: str) -> tuple[str, ...]:
    return (path, accept, *(f"{name}={query[name]}" for name in sorted(query)))


def main() -> None:
    """Serve until a signal."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("file", type=Path)
    arguments.add_argument("factor", type=int)
    arguments.add_argument("--pace", action="store_true")
    given = arguments.parse_args()
    server = Replay(load(given.file), given.factor, pace=given.pace)
    print(server.url, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
