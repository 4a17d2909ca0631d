"""The clusters of a command: files of snapshots and live contexts, read as snapshots."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from policygen.app import connect
from policygen.app.compile import Compiled
from policygen.app.connect import Asked
from policygen.app.requests import ClusterRequest
from policygen.client import live, requests
from policygen.client import snapshot_file as snapshots
from policygen.client.live import ClusterQuery, Look, Progress
from policygen.client.requests import Server
from policygen.core.errors import UnreadError, UsageError
from policygen.core.finding import Finding, Place
from policygen.core.versions import Version
from policygen.kubernetes.controllers import CONFIG_MAPS
from policygen.kubernetes.snapshot import CONFIG_MAP, NAMESPACE, GroupKind, Snapshot
from policygen.lint import kinds
from policygen.lint.rule import ObjectRule
from policygen.lint.run_rules import CLUSTER_UNREADABLE, SNAPSHOT_UNREADABLE
from policygen.plan.catalog import KINDS
from policygen.spec import derived_names


class SnapshotFile:
    """A cluster in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def begin(self, document: int) -> Iterator["SnapshotFile"]:
        """Set the index of the document for its objects."""
        self.document = document
        yield self

    def finish(self) -> Snapshot | Finding:
        """The snapshot, or why it could not be read."""
        try:
            return opened(self.path, self.document)
        except UnreadError as error:
            return Finding(SNAPSHOT_UNREADABLE, str(error), Place(str(self.path)))


class LiveCluster:
    """A cluster that is read now."""

    def __init__(
        self,
        context: str | None,
        request: ClusterRequest,
        wanted: ClusterQuery,
        asked: Asked | None,
        progress: Progress,
    ) -> None:
        self.context = context
        self.request = request
        self.wanted = wanted
        self.asked = asked
        self.progress = progress

    @contextmanager
    def begin(self, document: int) -> Iterator["Listing | Unreachable"]:
        """Start to read it; the lists arrive during the block.

        Raises UsageError if it is the only cluster and its context cannot be used.
        """
        try:
            server = (
                connect.reach(self.context, self.request)
                if self.asked is None
                else self.asked.reached()
            )
        except requests.ReadError as error:
            yield Unreachable(self._unreadable(f"nothing could be read: {error}"))
            return
        except UsageError as error:
            if self.request.number == 1:
                raise
            # Findings on the other clusters are worth more than an early end.
            yield Unreachable(self._unreadable(str(error)))
            return
        with ExitStack() as stack:
            stack.callback(self.progress, "")
            stack.callback(server.close)
            begun = live.begin(
                server,
                self.wanted,
                document=document,
                progress=lambda what: self.progress(f"{server.name}: {what}"),
            )
            try:
                listing = Listing(server, stack.enter_context(begun))
            except (requests.ReadError, UsageError) as error:
                listing = Listing(server, problem=error)
            yield listing

    def _unreadable(self, message: str) -> Finding:
        return Finding(CLUSTER_UNREADABLE, message, cluster=self.context or "")


class Listing:
    """Lists of a live cluster that are under way, or the reason why there are none."""

    def __init__(
        self,
        server: Server,
        look: Look | None = None,
        problem: requests.ReadError | UsageError | None = None,
    ) -> None:
        self.server = server
        self.look = look
        self.problem = problem

    def finish(self) -> Snapshot | Finding:
        """The snapshot, or why nothing could be read. A login may expire on the way."""
        if self.look is None:
            return self._unreadable(self.problem)
        try:
            return self.look.finish(snapshots.now())
        except (requests.ReadError, UsageError) as error:
            self.server.stop()
            return self._unreadable(error)

    def _unreadable(self, error: Exception | None) -> Finding:
        message = f"nothing could be read of {self.server.shown}: {error}"
        return Finding(CLUSTER_UNREADABLE, message, cluster=self.server.name)


class Unreachable:
    """A cluster without a connection."""

    def __init__(self, problem: Finding) -> None:
        self.problem = problem

    def finish(self) -> Finding:
        """Why nothing could be read."""
        return self.problem


def clusters(
    request: ClusterRequest,
    wanted: ClusterQuery,
    asked: Asked | None = None,
    progress: Progress = lambda _: None,
) -> Iterator[SnapshotFile | LiveCluster]:
    """The clusters of a request, snapshots first. `asked` is the only one, if it was reached already."""
    for path in request.snapshots:
        yield SnapshotFile(path)
    for context in connect.contexts(request):
        yield LiveCluster(context, request, wanted, asked, progress)


def opened(path: Path, index: int = 0) -> Snapshot:
    """The snapshot in a file; its objects get the document of that index.

    Raises UnreadError if the file cannot be read or is not a complete snapshot.
    """
    try:
        with path.open("rb") as file:
            return snapshots.read(file, document=index)
    except OSError as error:
        raise UnreadError(f"{path} cannot be read: {error.strerror}") from None
    except snapshots.SnapshotError as error:
        raise UnreadError(f"{path} {error}") from None


def wanted(
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
        rendered = {
            _kind(item.release.api_version, item.kind.name) for item in compiled.plan.items
        } | {CONFIG_MAP}
    return ClusterQuery(
        kinds=kinds.wanted(rules) | rendered | ({NAMESPACE} if namespaces else set()),
        versions={
            _kind(release.api_version, kind.name): release.api_version
            for kind in KINDS
            for release in kind.releases
            if release.since <= target[kind.component].release
        },
        namespaces=namespaces,
        config_maps=frozenset(names),
    )


def _kind(api_version: str, kind: str) -> GroupKind:
    return GroupKind(api_version.rpartition("/")[0], kind)
