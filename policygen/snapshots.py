"""What `policygen snapshot` and `policygen rbac` do."""

from collections.abc import Sequence
from pathlib import Path
from secrets import token_bytes

from policygen import linting, looking
from policygen.cluster import preflight
from policygen.cluster import snapshot as files
from policygen.cluster.access import Access
from policygen.cluster.live import Progress
from policygen.cluster.permissions import permissions
from policygen.cluster.redaction import redacted
from policygen.cluster.requests import ReadError
from policygen.errors import UsageError
from policygen.finding import Finding
from policygen.render.role import roles
from policygen.settings import LintSettings as Settings


def take(settings: Settings, output: Path, *, redact: bool, progress: Progress) -> Sequence[str]:
    """Write a snapshot of one live cluster, and say what is not in it.

    Raises UsageError for a context or a file that cannot be used.
    """
    (look,) = looking.looks(settings.clusters, linting.reading(settings), progress)
    snapshot = look(0)
    if isinstance(snapshot, Finding):
        return [f"{snapshot.cluster}: {snapshot.message}"]
    gaps = [f"{snapshot.seen.context}: {gap}" for gap in snapshot.seen.gaps]
    if redact:
        snapshot = redacted(snapshot, token_bytes())
    try:
        files.write(snapshot, output)
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}") from None
    return gaps


def role(settings: Settings, name: str) -> str:
    """The ClusterRole and the Roles, as manifests."""
    return roles(name, permissions(linting.reading(settings)))


def lacking(settings: Settings) -> Sequence[str]:
    """The permissions that the identity has not. Raises UsageError where the server cannot be asked."""
    context = settings.clusters.contexts[0] if settings.clusters.contexts else None
    access = Access(context, settings.clusters.kubeconfig)
    try:
        missing = preflight.refused(access, permissions(linting.reading(settings)))
        return [f"{access.name}: may not {each}" for each in missing]
    except ReadError as error:
        raise UsageError(f"{access.name} cannot be asked: {error}") from None
