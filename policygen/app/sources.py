"""The clusters of a command: files of snapshots and live contexts, read as snapshots."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path

from policygen.app import connect
from policygen.app.compile import Compiled
from policygen.app.requests import ClusterRequest
from policygen.client import live, requests
from policygen.client import snapshot_file as snapshots
from policygen.client.live import ClusterListing, ClusterQuery, Progress
from policygen.client.requests import Server
from policygen.core.errors import UsageError
from policygen.core.finding import Finding, Place
from policygen.core.versions import Version
from policygen.documents import files
from policygen.kubernetes.controllers import CONFIG_MAPS
from policygen.kubernetes.snapshot import CONFIG_MAP, NAMESPACE, GroupKind, Snapshot
from policygen.lint import kinds
from policygen.lint.rule import ObjectRule
from policygen.lint.run_rules import CLUSTER_UNREADABLE, SNAPSHOT_UNREADABLE
from policygen.plan.catalog import KINDS
from policygen.spec import derived_names

Finish = Callable[[], Snapshot | Finding]
"""Waits until a cluster is read. Returns its snapshot, or why it could not be read."""
Begin = Callable[[int], AbstractContextManager[Finish]]
"""Starts to read a cluster during a block. The argument is the index of the document for its objects."""


def clusters(
    request: ClusterRequest,
    query: ClusterQuery,
    connection: Future[Server] | None = None,
    progress: Progress = lambda _: None,
) -> Iterator[Begin]:
    """The clusters of a request, snapshots first. `connection` is that to the only one, if it exists."""
    for path in request.snapshots:
        yield partial(_file, path)
    for context in connect.contexts(request):
        yield partial(_live, context, request, query, connection=connection, progress=progress)


@contextmanager
def _file(path: Path, document: int) -> Iterator[Finish]:
    """The cluster in a file."""
    snapshot = opened(path, document)
    yield lambda: snapshot


@contextmanager
def _live(  # noqa: PLR0913 - the request, and what it is answered from
    context: str | None,
    request: ClusterRequest,
    query: ClusterQuery,
    document: int,
    *,
    connection: Future[Server] | None,
    progress: Progress,
) -> Iterator[Finish]:
    """A live cluster; its lists arrive during the block.

    Raises UsageError if it is the only cluster and its context cannot be used.
    """
    try:
        server = connection.result() if connection else connect.server(context, request)
    except (requests.ReadError, UsageError) as error:
        if isinstance(error, UsageError) and request.number == 1:
            raise
        # Findings on the other clusters are worth more than an early end.
        usage = isinstance(error, UsageError)
        message = str(error) if usage else f"the cluster could not be read: {error}"
        failure = Finding(CLUSTER_UNREADABLE, message, cluster=context or "")
        yield lambda: failure
        return
    with ExitStack() as stack:
        stack.callback(progress, "")
        stack.callback(server.close)
        listing = live.begin(
            server,
            query,
            document=document,
            progress=lambda kind: progress(f"{server.access.name}: {kind}"),
        )
        try:
            lists = stack.enter_context(listing)
        except (requests.ReadError, UsageError) as error:
            failure = _unreadable(server, error)
            yield lambda: failure
        else:
            yield partial(_finished, server, lists)


def _finished(server: Server, lists: ClusterListing) -> Snapshot | Finding:
    """The snapshot, or why nothing could be read. A login may expire on the way."""
    try:
        return lists.finish(snapshots.now())
    except (requests.ReadError, UsageError) as error:
        server.stop()
        return _unreadable(server, error)


def _unreadable(server: Server, error: Exception) -> Finding:
    message = f"the cluster at {server.access.shown} could not be read: {error}"
    return Finding(CLUSTER_UNREADABLE, message, cluster=server.access.name)


def opened(path: Path, index: int = 0) -> Snapshot | Finding:
    """The snapshot in a file, or why it could not be read; its objects get the document of that index."""
    try:
        with path.open("rb") as file:
            return snapshots.read(file, document=index)
    except OSError as error:
        reason = files.reason(error, str(path))
    except snapshots.SnapshotError as error:
        reason = str(error)
    return Finding(SNAPSHOT_UNREADABLE, reason, Place(str(path)))


def cluster_query(
    rules: Iterable[ObjectRule],
    compiled: Compiled | None,
    target: Mapping[str, Version],
    namespaces: tuple[str, ...] = (),
) -> ClusterQuery:
    """The kinds to read of a cluster: those that the rules check, and those that the spec renders."""
    names, rendered = set(CONFIG_MAPS), set[GroupKind]()
    if compiled is not None:
        platform = compiled.loaded.spec.platform
        names |= {platform.volcano.config_map, derived_names.second_scheduler(platform)}
        plan = compiled.plan
        names |= {it.item.meta.name for it in plan.files}
        names |= {it.meta.name for it in plan.items if it.kind.name == CONFIG_MAP.kind}
        rendered = {
            _kind(item.release.api_version, item.kind.name) for item in compiled.plan.items
        } | {CONFIG_MAP}
    return ClusterQuery(
        kinds=kinds.to_read(rules) | rendered | ({NAMESPACE} if namespaces else set()),
        versions={
            _kind(release.api_version, kind.name): release.api_version
            for kind in KINDS
            for release in kind.releases
            if release.since <= target[kind.component].release
        },
        plurals={
            _kind(release.api_version, kind.name): kind.plural
            for kind in KINDS
            for release in kind.releases
            if kind.plural
        },
        namespaces=namespaces,
        config_maps=frozenset(names),
    )


def _kind(api_version: str, kind: str) -> GroupKind:
    return GroupKind(api_version.rpartition("/")[0], kind)
