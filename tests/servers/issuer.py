"""An OpenID Connect issuer on loopback: discovery, keys, and a token endpoint that renews."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import secrets
import ssl
import time
from functools import cache
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from tests import loopback
from tests.loopback import Loopback

CLIENT, SECRET = "policygen-tests", "s:e/c ret"
_SHA256 = bytes.fromhex("3031300d060960864801650304020105000420")
"""The bytes before a SHA-256 in a PKCS #1 v1.5 signature."""
_BITS, _PRIMES = 2048, 8
"""Of the modulus. Eight small primes are found in a twentieth of the time that two large ones take."""
_E = 65537


class Issuer(Loopback):
    """Renews each refresh token once, and gives another in exchange."""

    def __init__(self, keys: Path) -> None:
        """Serves with the `tls.crt` and `tls.key` of a folder."""
        self.asked: list[dict[str, str]] = []
        """What was sent to the token endpoint, with the `authorization` header."""
        self.lifetime_s = 3600.0
        self.groups = ["policygen:observers"]
        self.secret = ""
        """Of the client, which must show it if there is one."""
        self._valid: set[str] = set()
        server = loopback.http(self._respond)
        # A client that does not believe us hangs up: no trace of that on the standard error of a test.
        server.handle_error = lambda *_: None  # type: ignore[method-assign] # for this instance only
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(keys / "tls.crt", keys / "tls.key")
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
        super().__init__(server)

    @property
    def url(self) -> str:
        return f"https://{self.address}"

    def id_token(self, ends_in_s: float = 3600.0) -> str:
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": "somebody",
            "groups": self.groups,
            "exp": int(time.time() + ends_in_s),
        }
        head = {"alg": "RS256", "typ": "JWT", "kid": "1"}
        signed = ".".join(_base64(json.dumps(part).encode()) for part in (head, claims))
        return f"{signed}.{_base64(_signature(signed.encode()))}"

    def refresh_token(self) -> str:
        token = secrets.token_urlsafe(16)
        self._valid.add(token)
        return token

    def _respond(self, request: BaseHTTPRequestHandler) -> None:
        (self._post if request.command == "POST" else self._get)(request)

    def _get(self, request: BaseHTTPRequestHandler) -> None:
        n, _ = _key()
        if request.path == "/.well-known/openid-configuration":
            body: Any = {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/keys",
                "token_endpoint": f"{self.url}/token",
                "response_types_supported": ["id_token"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
            }
            return _answer(request, 200, body)
        key = {
            "kty": "RSA", "kid": "1", "alg": "RS256", "use": "sig",
            "n": _base64(n.to_bytes(_BITS // 8, "big")), "e": _base64(_E.to_bytes(3, "big")),
        }  # fmt: skip
        return _answer(request, 200, {"keys": [key]})

    def _post(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["content-length"])).decode()
        form = {key: values[0] for key, values in parse_qs(body).items()}
        self.asked.append({**form, "authorization": request.headers.get("authorization", "")})
        # RFC 6749, 2.3.1: both are encoded as in a form before they are put together.
        pair = f"{CLIENT}:s%3Ae%2Fc+ret".encode()
        shown = self.asked[-1]["authorization"] == f"Basic {base64.b64encode(pair).decode()}"
        if not (shown if self.secret else form.get("client_id") == CLIENT):
            return _answer(request, 401, {"error": "invalid_client"})
        if form.get("refresh_token") not in self._valid:
            said = {"error": "invalid_grant", "error_description": "the session has ended"}
            return _answer(request, 400, said)
        self._valid.remove(form["refresh_token"])
        fresh = {"id_token": self.id_token(self.lifetime_s), "refresh_token": self.refresh_token()}
        return _answer(request, 200, {**fresh, "access_token": "a", "token_type": "Bearer"})


def _answer(request: BaseHTTPRequestHandler, status: int, body: Any) -> None:
    loopback.send(request, json.dumps(body).encode(), status)


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _signature(message: bytes) -> bytes:
    """RS256: PKCS #1 v1.5 with SHA-256."""
    n, d = _key()
    info = _SHA256 + hashlib.sha256(message).digest()
    size = _BITS // 8
    block = b"\0\1" + b"\xff" * (size - len(info) - 3) + b"\0" + info
    return pow(int.from_bytes(block, "big"), d, n).to_bytes(size, "big")


@cache
def _key() -> tuple[int, int]:
    """An RSA key for this process only: its modulus and its private exponent."""
    primes = [_prime(_BITS // _PRIMES) for _ in range(_PRIMES)]
    return math.prod(primes), pow(_E, -1, math.prod(prime - 1 for prime in primes))


def _prime(bits: int) -> int:
    """A number that is probably prime, which is enough for a test; its two highest bits are set."""
    while True:
        candidate = secrets.randbits(bits) | 3 << (bits - 2) | 1
        if all(pow(base, candidate - 1, candidate) == 1 for base in (2, 3, 5)):
            return candidate
