"""Selects the proxy for an API server, as kubectl does.

A `proxy-url` is used for every host. HTTPS_PROXY and HTTP_PROXY are not used for hosts in NO_PROXY,
and never for this machine. The `kubernetes` client differs in both, and sends no password.
Source: client-go v0.36 tools/clientcmd, golang.org/x/net/http/httpproxy.
"""

import ipaddress
import os
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

_SCHEMES = ("http", "https", "socks5", "socks5h")


def choose(configuration: Any, proxy_url: str) -> None:
    """Set the proxy of a `kubernetes.client.Configuration`, whose host is known.

    `proxy_url` is that of the kubeconfig, or "". Raises ValueError if it cannot be used.
    """
    configuration.proxy = None
    what = "proxy-url"
    if proxy_url:
        configuration.no_proxy = None
    else:
        what, proxy_url = _of_environment(configuration.host)
        if not proxy_url:
            return
        configuration.no_proxy = _variable("NO_PROXY")
    shown = proxy_url.rpartition("@")[2]  # without the password, also if it is not escaped
    try:
        parts = urlsplit(proxy_url)
        sound = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or "@" in f"{parts.path}{parts.query}{parts.fragment}":
        raise ValueError(f"{what} {shown} is not a valid proxy URL; use http, https or socks5")
    if parts.scheme.startswith("socks"):
        if find_spec("socks") is None:
            raise ValueError(
                f"{what} {shown} needs the package for socks proxies; run pip install "
                "'policygen[socks]'"
            )
        configuration.proxy = urlunsplit(parts._replace(scheme="socks5h"))  # names are the proxy's
        return
    configuration.proxy = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
    if parts.username:
        import urllib3  # noqa: PLC0415 - only where a cluster is reached

        who = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        configuration.proxy_headers = urllib3.make_headers(proxy_basic_auth=who)


def _of_environment(host: str) -> tuple[str, str]:
    """The environment variable for this URL, and its value; the default scheme is http."""
    name = "HTTPS_PROXY" if urlsplit(host).scheme == "https" else "HTTP_PROXY"
    value = _variable(name)
    if not value or _is_here(urlsplit(host).hostname or ""):
        return name, ""
    return name, value if "://" in value else f"http://{value}"


def _variable(name: str) -> str:
    return os.environ.get(name) or os.environ.get(name.lower()) or ""


def _is_here(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
