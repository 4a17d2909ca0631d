"""What `policygen snapshot` and `policygen rbac` do."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from policygen.app import connect, inputs, lint, sources, stdout
from policygen.app.delivery import writing
from policygen.app.requests import LintRequest
from policygen.client import preflight, unread
from policygen.client import snapshot_file as files
from policygen.client.access import IN_CLUSTER
from policygen.client.live import ClusterQuery, Progress
from policygen.client.permissions import Permission, permissions
from policygen.client.redaction import Key, redacted
from policygen.client.requests import Deadline, ReadError
from policygen.core import atomic
from policygen.core.decoding import decode
from policygen.core.errors import UnreadError, UsageError
from policygen.core.finding import Finding
from policygen.kubernetes.snapshot import Snapshot
from policygen.render.role import roles

_KEY_DIGITS = 64
"""The length of a random hash key: 32 bytes in hexadecimal."""


def take(
    request: LintRequest,
    output: Path | None,
    *,
    progress: Progress,
    redact: bool = False,
    key_file: Path | None = None,
) -> Sequence[str]:
    """Write a snapshot of one live cluster to a file or standard output (None).

    Returns messages about data that it does not contain. The key for redaction comes from
    `key_file`, which is created if it does not exist. The replaced names are added to it. Raises
    UsageError for a context or a file that cannot be used.
    """
    key = _key(key_file) if redact else None
    snapshot = read(request, lint.cluster_query(inputs.prepare(request)), progress)
    if isinstance(snapshot, Finding):
        return [f"{snapshot.cluster}: {snapshot.message}"]
    missed = (*snapshot.seen.gaps, *unread.messages(snapshot))
    gaps = [f"{snapshot.seen.context}: {each}" for each in missed]
    if key is not None:
        snapshot = redacted(snapshot, key)
    if key is not None and key_file is not None:
        with writing(key_file):
            text = msgspec.json.format(msgspec.json.encode(key))
            atomic.write(key_file, text + b"\n", private=True)
    if output is None:
        stdout.out(files.packed(snapshot))
        return gaps
    with writing(output):
        files.write(snapshot, output)
    return gaps


def read(
    request: LintRequest, query: ClusterQuery, progress: Progress, document: int = 0
) -> Snapshot | Finding:
    """The snapshot of the only live cluster of a request, or why it could not be read."""
    (begin,) = sources.clusters(request.clusters, query, progress=progress)
    with begin(document) as finish:
        return finish()


def _key(path: Path | None) -> Key:
    if path is None or not path.exists():
        return Key.new()
    try:
        key = decode(path.read_bytes(), Key)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        key = Key("")
    if len(key.key) < _KEY_DIGITS:
        raise UsageError(f"{path} was not written by `snapshot --key-file`; name a new file")
    return key


def role(request: LintRequest, name: str) -> str:
    """The ClusterRole and the Roles, as manifests."""
    return roles(name, _permissions(request))


def _permissions(request: LintRequest) -> tuple[Permission, ...]:
    return permissions(lint.cluster_query(inputs.prepare(request)))


def lacking(request: LintRequest) -> Sequence[str]:
    """The permissions that the identity does not have. Raises UnreadError if the server does not answer."""
    clusters = request.clusters
    context = clusters.contexts[0] if clusters.contexts else None
    try:
        access = connect.access(context, clusters)
    except ReadError as error:
        raise UnreadError(f"{context or IN_CLUSTER} cannot be read: {error}") from None
    deadline = Deadline.after(clusters.timeout_s)
    try:
        missing = preflight.refused(access, _permissions(request), deadline)
        return [f"{access.name}: the permission to {each} is missing" for each in missing]
    except ReadError as error:
        raise UnreadError(f"{access.name} cannot be read: {error}") from None
    finally:
        access.close()
