"""Reads a context of a kubeconfig, with the checks of kubectl, for the `kubernetes` client.

If a user is missing, the client continues without credentials. Its messages name its own code.
Source: client-go v0.36 tools/clientcmd (validation.go, client_config.go).
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from policygen.core.errors import UsageError
from policygen.core.suggest import suggest
from policygen.kubernetes.untyped import mapping, texts

_FILES = Lock()

REMOVED = frozenset({"azure", "gcp", "openstack"})
"""Auth providers that Kubernetes 1.26 replaced by exec plugins."""


class Context(Struct, frozen=True):
    """A context with its cluster and user, as they are written."""

    name: str
    cluster: Mapping[str, Any]
    user: Mapping[str, Any]
    file: Path | None
    """The file of the user; None without a user."""
    merged: Any
    """All files together, a `ConfigNode` of the client."""
    files: Mapping[str, Any]
    """The content of each file; `user` is part of it."""


def names(file: Path | None) -> list[str]:
    """The contexts of this file, or of the files in KUBECONFIG; empty if they cannot be read."""
    import yaml  # noqa: PLC0415 - likewise

    client = _client()
    try:
        merger = client.KubeConfigMerger(_paths(file))
        return sorted(_by_name(merger.config["contexts"].value))
    except (yaml.YAMLError, OSError, ValueError, LookupError, AttributeError, TypeError):
        return []


def _paths(file: Path | None) -> str:
    """The file, or those of KUBECONFIG. The client does not ignore an empty KUBECONFIG; we do."""
    return str(file or os.environ.get("KUBECONFIG") or "~/.kube/config")


def _client() -> Any:
    from kubernetes.config import kube_config  # noqa: PLC0415 - only where clusters are named

    return kube_config


def read(name: str, kubeconfig: Path | None) -> Context:
    """A context of this file, or of the files in KUBECONFIG.

    Raises UsageError if the context does not exist, and ValueError if it cannot be used.
    """
    client = _client()
    paths = _paths(kubeconfig)
    names = [each for each in paths.split(os.pathsep) if each]
    if not any(Path(each).expanduser().exists() for each in names):
        raise UsageError(f"kubeconfig {' or '.join(names)} does not exist; write --kubeconfig FILE")
    try:
        merger = client.KubeConfigMerger(paths)
        contexts, clusters, users = (
            _by_name(merger.config[key].value) for key in ("contexts", "clusters", "users")
        )
    except UnicodeDecodeError:
        raise UsageError(f"{paths} is not a kubeconfig: it is not UTF-8") from None
    except (AttributeError, KeyError, TypeError):
        raise UsageError(
            f"{paths} is not a kubeconfig: it must be a mapping, and its clusters, contexts and users "
            "must be lists of mappings with a name"
        ) from None
    if name not in contexts:
        raise UsageError(
            f'context "{name}" does not exist in {paths}; {suggest(name, contexts, "context")}'
        )
    context = mapping(contexts[name].value, "context")
    cluster = clusters.get(str(context.get("cluster")))
    if cluster is None:
        raise ValueError(
            f"the context names cluster {_quoted(context.get('cluster'))}, which does not exist in "
            "the kubeconfig"
        )
    user = users.get(str(context.get("user")))
    if user is None and context.get("user"):
        raise ValueError(
            f"the context names user {_quoted(context['user'])}, which does not exist in the "
            "kubeconfig"
        )
    found = Context(
        name,
        mapping(cluster.value, "cluster"),
        mapping(user.value, "user") if user else {},
        Path(user.path) if user else None,
        merger.config,
        merger.config_files,
    )
    _check(found)
    return found


@contextmanager
def without_files() -> Iterator[None]:
    """Remove the files with certificates and keys that the client writes.

    The connections have read them. The client itself removes them when Python ends, but `__main__`
    skips that. The client only knows the files of all clusters together, so only one thread at a
    time may have such files.
    """
    client = _client()
    with _FILES:
        try:
            yield
        finally:
            client._cleanup_temp_files()  # noqa: SLF001 - it also forgets their names


def impersonated(user: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The headers for impersonation, which the client does not send. Raises ValueError.

    Source: client-go v0.36 transport/round_trippers.go.
    """
    name, uid, groups = user.get("as"), user.get("as-uid"), texts(user, "as-groups")
    extra = mapping(user, "as-user-extra")
    if not name:
        if uid or groups or extra:
            raise ValueError(
                "the user of the context has as-uid, as-groups or as-user-extra, but no user to "
                'impersonate; write the field "as"'
            )
        return
    yield "Impersonate-User", str(name)
    if uid:
        yield "Impersonate-Uid", str(uid)
    yield from (("Impersonate-Group", group) for group in groups)
    for key in extra:
        for value in texts(extra, key):
            yield f"Impersonate-Extra-{quote(key, safe='')}", value


def _check(context: Context) -> None:
    """Raise ValueError if kubectl would refuse the context."""
    cluster, user = context.cluster, context.user
    if not cluster.get("server"):
        raise ValueError(
            "the cluster of the context has no URL; write its field server in the kubeconfig"
        )
    authority = {"certificate-authority", "certificate-authority-data"} & _given(cluster)
    if cluster.get("insecure-skip-tls-verify") and authority:
        raise ValueError(
            f"insecure-skip-tls-verify and {min(authority)} cannot be used together; remove one "
            "of them"
        )
    given = _given(user)
    if {"client-certificate", "client-certificate-data"} & given and not (
        {"client-key", "client-key-data"} & given
    ):
        raise ValueError(
            "the user of the context has a client-certificate, but no client-key; write client-key "
            "in the kubeconfig"
        )
    provider = mapping(user, "auth-provider").get("name")
    if provider in REMOVED:
        raise ValueError(
            f"Kubernetes no longer supports the auth-provider {provider}; use an exec plugin"
        )


def _given(data: Mapping[str, Any]) -> set[str]:
    return {key for key, value in data.items() if value}


def _by_name(entries: list[Any]) -> dict[str, Any]:
    return {str(each["name"]): each for each in reversed(entries)}


def _quoted(name: Any) -> str:
    return f'"{name}"' if name else '""'
