"""Logins with OpenID Connect in kubeconfigs (`auth-provider: {name: oidc}`), renewed as in kubectl.

We do not use the `kubernetes` client here. It does not verify the certificate of the issuer, and it
needs a client secret. A refresh token that was used but not written back logs its user out.
Source: client-go v0.36 plugin/pkg/client/auth/oidc; RFC 6749, section 6.
"""

import base64
import os
import time
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote_plus, urlencode

import yaml
from msgspec import Struct

from policygen.client import proxies, tls
from policygen.core import atomic
from policygen.core.decoding import decode

SKEW_S = 10.0
"""A token that expires within this time counts as expired."""
TIMEOUT_S = 20.0
DISCOVERY = "/.well-known/openid-configuration"
_LOG_IN = "log in again"


class _Claims(Struct):
    exp: float = 0.0


class _Discovered(Struct):
    token_endpoint: str
    token_endpoint_auth_methods_supported: tuple[str, ...] = ()


class _Answer(Struct):
    id_token: str = ""
    refresh_token: str = ""
    error: str = ""
    error_description: str = ""


def token(config: MutableMapping[str, Any], folder: Path) -> tuple[str, bool]:
    """The id-token of a provider, and whether it is new. New tokens are written to `config`.

    Relative paths in `config` start at `folder`. Raises ValueError if no token is available.
    """
    current = str(config.get("id-token") or "")
    expiry_s = _expiry_s(current)
    if current and expiry_s > time.time() + SKEW_S:
        return current, False
    when = datetime.fromtimestamp(expiry_s, UTC)
    ended = (
        f"the id-token of the user expired at {when:%Y-%m-%dT%H:%M:%SZ}"
        if current
        else "the user has no id-token"
    )
    if not config.get("refresh-token"):
        raise ValueError(f"{ended}, and the user has no refresh-token; {_LOG_IN}")
    try:
        answer = _refreshed(config, folder)
    except (OSError, ValueError) as error:
        raise ValueError(f"{ended}, and the request for a new id-token failed: {error}") from None
    config["id-token"] = answer.id_token
    if answer.refresh_token:
        config["refresh-token"] = answer.refresh_token
    return answer.id_token, True


def write(path: Path, content: Any) -> None:
    """Write a kubeconfig with renewed tokens, with the lock of kubectl. Raises ValueError."""
    lock = path.with_name(f"{path.name}.lock")
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL, 0))
        try:
            atomic.write(path, yaml.safe_dump(content, sort_keys=False).encode())
        finally:
            lock.unlink(missing_ok=True)
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}"
        raise ValueError(
            f"the id-token was renewed, but cannot be written to the kubeconfig ({reason}); "
            f"{_LOG_IN}"
        ) from None


def _expiry_s(current: str) -> float:
    """When a token expires, in seconds since 1970; 0 for a missing or invalid token."""
    parts = current.split(".")
    if len(parts) != 3:
        return 0.0
    try:
        claims = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        return decode(claims, _Claims).exp
    except ValueError:  # of both
        return 0.0


def _refreshed(config: Mapping[str, Any], folder: Path) -> _Answer:
    """New tokens from the issuer. Raises ValueError, and OSError for the file of the authority."""
    issuer = str(config.get("idp-issuer-url") or "").rstrip("/")
    with _pool(config, folder, issuer) as pool:
        found = decode(_body(pool, "GET", issuer + DISCOVERY), _Discovered)
        body = _body(pool, "POST", found.token_endpoint, *_request(config, found))
    answer = decode(body, _Answer)
    if not answer.id_token:
        raise ValueError(
            f"{found.token_endpoint} did not return an id_token; check that the login requests "
            "the scope openid"
        )
    return answer


def _request(config: Mapping[str, Any], found: _Discovered) -> tuple[str, dict[str, str]]:
    """The body and the headers of the request for new tokens."""
    client, secret = (str(config.get(key) or "") for key in ("client-id", "client-secret"))
    fields = {"grant_type": "refresh_token", "refresh_token": str(config["refresh-token"])}
    headers = {"content-type": "application/x-www-form-urlencoded"}
    methods = found.token_endpoint_auth_methods_supported
    if secret and ("client_secret_basic" in methods or "client_secret_post" not in methods):
        pair = f"{quote_plus(client)}:{quote_plus(secret)}"
        headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        fields |= {"client_id": client} | ({"client_secret": secret} if secret else {})
    return urlencode(fields), headers


@contextmanager
def _pool(config: Mapping[str, Any], folder: Path, issuer: str) -> Iterator[Any]:
    from kubernetes import client  # noqa: PLC0415 - only where a cluster is reached

    configuration: Any = client.Configuration()
    configuration.host = issuer
    proxies.choose(configuration, "")
    with TemporaryDirectory() as files:
        if data := config.get("idp-certificate-authority-data"):
            path = Path(files) / "ca.crt"
            path.write_bytes(base64.b64decode(data))
            configuration.ssl_ca_cert = str(path)
        elif name := config.get("idp-certificate-authority"):
            configuration.ssl_ca_cert = str(folder / str(name))
        yield tls.connect(configuration).rest_client.pool_manager


def _body(
    pool: Any,
    method: str,
    url: str,
    body: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> bytes:
    import urllib3  # noqa: PLC0415 - only where a cluster is reached

    if not url.startswith("https://"):
        raise ValueError(f"the URL of the issuer, {url!r}, does not begin with https://")
    try:
        answer = pool.request(
            method, url, body=body, headers=headers, redirect=False, timeout=TIMEOUT_S
        )
    except urllib3.exceptions.HTTPError as error:
        raise ValueError(f"no answer from {url}: {' '.join(str(error).split())}") from None
    if answer.status != 200:
        raise ValueError(f"{url} answered {answer.status}{_refusal(answer.data)}")
    return bytes(answer.data)


def _refusal(body: bytes) -> str:
    """The reason for a refusal, in the answer of an issuer."""
    try:
        answer = decode(body, _Answer)
    except ValueError:
        return ""
    words = " ".join(f"{answer.error} {answer.error_description}".split())
    return f": {words}; {_LOG_IN}" if words else ""
