"""Access to an API server: a kubeconfig or the identity of a pod, read by the `kubernetes` client.

The client handles certificates, tokens, token files, proxies and TLS. Its import takes longer than
most commands run, so it is imported only when a cluster is read.
"""

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock, get_ident
from typing import Any

from policygen.client import exec_plugin, kubeconfig, oidc, proxies, tls
from policygen.client.kubeconfig import Context
from policygen.core.errors import UsageError
from policygen.kubernetes.untyped import mapping

_IN_A_POD = "KUBERNETES_SERVICE_HOST"

IN_CLUSTER = "in-cluster"
"""Used instead of the name of a context for the identity of a pod."""


class Access:
    """An API server and our credentials for it. Thread-safe."""

    def __init__(self, context: str | None, file: Path | None = None) -> None:
        """Use a context of a kubeconfig file (by default the usual file), or None for this pod.

        Raises UsageError if it cannot be used.
        """
        self.name = IN_CLUSTER if context is None else context
        self._context = context
        self._kubeconfig = file
        self._lock = Lock()
        self._renewals = 0
        self._expires: datetime | None = None
        self._is_closed = False
        self._impersonated: Sequence[tuple[str, str]] = ()
        self._load()
        self.credentials({})  # reports now if a credential does not fit into a header

    @property
    def in_cluster(self) -> bool:
        """Whether it is the cluster of this pod."""
        return self._context is None

    @property
    def host(self) -> str:
        """Its URL, without a slash at the end."""
        return str(self._client.configuration.host).rstrip("/")

    @property
    def shown(self) -> str:
        """The URL for messages, without user name and password."""
        scheme, slashes, rest = self.host.partition("://")
        return f"{scheme}{slashes}{rest.rpartition('@')[2]}"

    @property
    def pool(self) -> Any:
        """Its connections, a `urllib3.PoolManager`."""
        return self._client.rest_client.pool_manager

    def credentials(self, own: Mapping[str, str]) -> tuple[Any, int]:
        """The headers of a request with our credentials, and how often these were renewed.

        The headers are a `urllib3.HTTPHeaderDict`, since an impersonated user can have several
        groups. A token with a known expiry is renewed before it expires. Raises UsageError if it
        cannot be renewed.
        """
        import urllib3  # noqa: PLC0415 - see the top

        with self._lock:
            if self._expires is not None and self._expires <= datetime.now(UTC):
                self._reload()
            with self._usable(), kubeconfig.without_files():
                headers = urllib3.HTTPHeaderDict(own)
                for setting in self._client.configuration.auth_settings().values():
                    if setting["in"] == "header" and setting["value"]:
                        headers[setting["key"]] = _clean(str(setting["value"]))
                for name, value in self._impersonated:
                    headers.add(name, _clean(value))
            return headers, self._renewals

    def renew(self, renewals: int) -> None:
        """Read the configuration and run its plugins again, since the server refused our credentials.

        Does nothing if another thread did so after `credentials` returned `renewals`.
        """
        with self._lock:
            if self._renewals == renewals:
                self._reload()

    def close(self) -> None:
        """Stop renewing credentials, and end a running plugin, since its answer is not needed."""
        self._is_closed = True
        exec_plugin.end()

    def _reload(self) -> None:
        if self._is_closed:
            raise UsageError(
                "the time limit was reached before the credentials were renewed; raise --timeout"
            )
        self._load()
        self._renewals += 1

    def _load(self) -> None:
        from kubernetes import client  # noqa: PLC0415 - see the top

        with kubeconfig.without_files():
            self._configure(client.Configuration())

    def _configure(self, configuration: Any) -> None:
        from kubernetes import config as untyped  # noqa: PLC0415 - see the top

        config: Any = untyped
        proxy_url = ""
        with self._usable():
            if self._context is None:
                if not os.environ.get(_IN_A_POD):
                    raise UsageError(
                        f"--in-cluster works only in a pod ({_IN_A_POD} is not set); write --context CONTEXT"
                    )
                config.load_incluster_config(client_configuration=configuration)
            else:
                found = kubeconfig.read(self._context, self._kubeconfig)
                self._impersonated = tuple(kubeconfig.impersonated(found.user))
                proxy_url = str(found.cluster.get("proxy-url") or "")
                self._expires = _log_in(found)
                config.kube_config.KubeConfigLoader(
                    config_dict=found.merged, active_context=self._context, config_base_path=None
                ).load_and_set(configuration)
        with self._usable():
            proxies.choose(configuration, proxy_url)
            self._client: Any = tls.connect(configuration)

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Turn every error of a file or a plugin into a UsageError.

        If a user cannot be used, the client only logs an error and continues without credentials.
        """
        where = f" of {self._kubeconfig}" if self._kubeconfig else ""
        failed = "the identity of this pod cannot be used"
        if self._context:
            failed = f'context "{self._context}"{where} cannot be used'
        errors = _Errors()
        logging.getLogger().addHandler(errors)
        try:
            yield
        except UsageError:
            raise
        except Exception as error:  # noqa: BLE001 - from YAML, from the client, from anywhere
            raise UsageError(f"{failed}: {_line(error)}") from None
        finally:
            logging.getLogger().removeHandler(errors)
        if errors.logged:
            raise UsageError(f"{failed}: {errors.logged[0]}")


def _log_in(found: Context) -> datetime | None:
    """Log in the user of a context, for logins that the client does not support.

    Returns when the login expires, None if unknown. Raises ValueError, or OSError.
    """
    user, folder = mapping(found.user), (found.file.parent if found.file else Path()).absolute()
    if "exec" in user and not (user.get("token") or user.get("tokenFile")):
        given = exec_plugin.credentials(mapping(user, "exec"), found.cluster, folder)
        del user["exec"]
        user |= given.fields
        return given.expires
    if mapping(user, "auth-provider").get("name") != "oidc":
        return None
    token, is_new = oidc.token(mapping(user, "auth-provider", "config"), folder)
    if is_new and found.file:
        oidc.write(found.file, found.files[str(found.file)])
    del user["auth-provider"]
    user["token"] = token
    return None


class _Errors(logging.Handler):
    """Collects the errors that its own thread logs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self._thread = get_ident()
        self.logged: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the message on one line."""
        if record.thread == self._thread:
            self.logged.append(" ".join(record.getMessage().split()))


def _clean(header: str) -> str:
    """A header without the line break of a token file. Raises ValueError for other characters."""
    header = header.strip()
    if not (header.isascii() and header.isprintable()):
        raise ValueError(
            "the token or impersonated user of the context has characters that HTTP headers "
            "cannot contain"
        )
    return header


def _line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__
