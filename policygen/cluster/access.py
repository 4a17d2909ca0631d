"""The way to an API server: kubeconfig or in-cluster identity, read by the `kubernetes` client.

It brings certificates, tokens, token files, exec plugins, proxies and TLS. Importing it takes
longer than most commands run, so it is imported only when a cluster is reached.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from policygen.errors import UsageError
from policygen.spec.nearest import suggest

IN_CLUSTER = "in-cluster"
"""What the identity of a pod is called, where a context has a name."""


class Access:
    """An API server and who we are to it. Thread-safe."""

    def __init__(self, context: str | None, kubeconfig: Path | None = None) -> None:
        """A context of a kubeconfig (the usual one by default); None: the pod that this runs in.

        Raises UsageError for what cannot be used.
        """
        self.name = IN_CLUSTER if context is None else context
        self._context = context
        self._kubeconfig = kubeconfig
        self._lock = Lock()
        self._renewals = 0
        self._load()

    @property
    def host(self) -> str:
        """Its URL, without a slash at the end."""
        return str(self._client.configuration.host).rstrip("/")

    @property
    def pool(self) -> Any:
        """Its connections, a `urllib3.PoolManager`."""
        return self._client.rest_client.pool_manager

    def credentials(self) -> tuple[dict[str, str], int]:
        """The headers that say who we are, and how often they were renewed.

        A token whose expiry is known is renewed before that. Raises UsageError if it cannot be.
        """
        with self._lock:
            with self._usable():
                settings = self._client.configuration.auth_settings()
            headers = {
                str(each["key"]): str(each["value"])
                for each in settings.values()
                if each["in"] == "header" and each["value"]
            }
            return headers, self._renewals

    def renew(self, renewals: int) -> None:
        """Read the configuration again, and run its plugins, since the server refused who we are.

        Only if nobody has done so since `credentials` gave `renewals`.
        """
        with self._lock:
            if self._renewals == renewals:
                self._load()
                self._renewals += 1

    def _load(self) -> None:
        from kubernetes import client  # noqa: PLC0415 - see the top
        from kubernetes import config as untyped  # noqa: PLC0415 - likewise

        config: Any = untyped
        configuration = client.Configuration()
        with self._usable():
            if self._context is None:
                config.load_incluster_config(client_configuration=configuration)
            else:
                _check(self._context, self._kubeconfig)
                config.load_kube_config(
                    config_file=str(self._kubeconfig) if self._kubeconfig else None,
                    context=self._context,
                    client_configuration=configuration,
                    persist_config=False,
                )
        configuration.retries = False
        self._client: Any = client.ApiClient(configuration)

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """Whatever a file or a plugin does wrong becomes a UsageError.

        The client only logs that a plugin failed, and would go on as nobody.
        """
        where = f" of {self._kubeconfig}" if self._kubeconfig else ""
        what = f'context "{self._context}"{where}' if self._context else "this pod's identity"
        ears = _Ears()
        logging.getLogger().addHandler(ears)
        try:
            yield
        except UsageError:
            raise
        except Exception as error:  # noqa: BLE001 - from YAML, from the client, from anywhere
            raise UsageError(f"{what} cannot be used: {_line(error)}") from None
        finally:
            logging.getLogger().removeHandler(ears)
        if ears.heard:
            raise UsageError(f"{what} cannot be used: {ears.heard[0]}")


class _Ears(logging.Handler):
    """Hears what is logged as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it, on one line."""
        self.heard.append(" ".join(record.getMessage().split()))


def _check(context: str, kubeconfig: Path | None) -> None:
    """Raise UsageError for what the client tells in words of its own code, or not at all."""
    from kubernetes.config import kube_config as untyped  # noqa: PLC0415 - see the top

    client: Any = untyped
    paths = str(kubeconfig or client.KUBE_CONFIG_DEFAULT_LOCATION)
    files = [each for each in paths.split(os.pathsep) if each]
    if not any(Path(each).expanduser().exists() for each in files):
        raise UsageError(f"there is no kubeconfig {' or '.join(files)}; write --kubeconfig FILE")
    try:
        merged = client.KubeConfigMerger(paths).config
        names = [each["name"] for each in merged["contexts"].value]
    except UnicodeDecodeError:
        raise UsageError(f"{paths} is no kubeconfig: it is not UTF-8") from None
    except (AttributeError, KeyError, TypeError):
        shape = "a mapping whose clusters, contexts and users are lists of mappings with a name"
        raise UsageError(f"{paths} is no kubeconfig: it is not {shape}") from None
    if context not in names:
        advice = suggest(context, map(str, names))
        raise UsageError(f'there is no context "{context}" in {paths}; {advice}')


def _line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__
