"""The clusters that a command is given: files of snapshots and contexts, as snapshots."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from policygen.app import connect
from policygen.app.connect import Reach
from policygen.app.requests import ClusterSettings
from policygen.client import live, requests
from policygen.client import snapshot_file as snapshots
from policygen.client.live import Progress, Wanted
from policygen.core.errors import UnreadError, UsageError
from policygen.core.finding import Finding, Place
from policygen.core.versions import Version
from policygen.kubernetes.controllers import CONFIG_MAPS
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import NAMESPACE, GroupKind, Snapshot
from policygen.lint import kinds
from policygen.lint.rule import ObjectRule
from policygen.lint.run_rules import CLUSTER_UNREADABLE, SNAPSHOT_UNREADABLE
from policygen.plan.catalog import KINDS
from policygen.spec import derived_names
from policygen.spec.types import Spec

Look = Callable[[int], Snapshot | Finding]
"""Looks at a cluster, whose objects then stand in the document of that index; a Finding says why
there is nothing to be seen."""

Looks = Callable[[ClusterSettings, Wanted], Iterable[Look]]


def looks(
    settings: ClusterSettings,
    wanted: Wanted,
    progress: Progress = lambda _: None,
    reach: Reach = connect.reach,
) -> Iterator[Look]:
    """A look at each cluster. Raises UsageError where it is the only one and cannot be used."""
    for path in settings.snapshots:
        yield _file(path)
    for context in connect.contexts(settings):
        yield _live(context, settings, wanted, progress, reach)


def opened(path: Path, index: int = 0) -> Snapshot:
    """The snapshot in a file; its objects stand in the document of that index.

    Raises UnreadError for a file that cannot be read, or is no whole snapshot.
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
    rendered: Iterable[Object],
    spec: Spec | None,
    target: Mapping[str, Version],
    namespaces: tuple[str, ...] = (),
) -> Wanted:
    """What to read of a cluster for these rules and what a spec renders."""
    objects = tuple(rendered)
    names = {*CONFIG_MAPS, *(it.name for it in objects if it.kind == "ConfigMap")}
    if spec is not None:
        names |= {spec.platform.volcano.config_map, derived_names.second_scheduler(spec.platform)}
    return Wanted(
        kinds=kinds.wanted(rules)
        | {GroupKind(it.group, it.kind) for it in objects}
        | ({NAMESPACE} if namespaces else set()),
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


def _file(path: Path) -> Look:
    def look(index: int) -> Snapshot | Finding:
        try:
            return opened(path, index)
        except UnreadError as error:
            return Finding(SNAPSHOT_UNREADABLE, str(error), Place(str(path)))

    return look


def _live(
    context: str | None,
    settings: ClusterSettings,
    wanted: Wanted,
    progress: Progress,
    reach: Reach,
) -> Look:
    def look(index: int) -> Snapshot | Finding:
        try:
            server = reach(context, settings)
        except requests.ReadError as error:
            message = f"nothing could be read: {error}"
            return Finding(CLUSTER_UNREADABLE, message, cluster=context or "")
        except UsageError as error:
            if settings.number == 1:
                raise
            # What is said of the others is worth more than to be told sooner.
            return Finding(CLUSTER_UNREADABLE, str(error), cluster=context or "")
        try:
            return live.look(
                server,
                wanted,
                taken=snapshots.now(),
                document=index,
                progress=lambda what: progress(f"{server.name}: {what}"),
            )
        except (requests.ReadError, UsageError) as error:  # a login may end on the way
            message = f"nothing could be read of {server.shown}: {error}"
            return Finding(CLUSTER_UNREADABLE, message, cluster=server.name)
        finally:
            server.close()
            progress("")

    return look
