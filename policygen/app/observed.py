"""Reads the objects of manifests or of one cluster, for `adopt` and `diff`."""

from collections.abc import Iterable
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from policygen.adopt import infer
from policygen.app import inputs, lint, refused_manifests, sources
from policygen.app.inputs import Run
from policygen.app.requests import LintRequest
from policygen.client import unread
from policygen.client.live import Progress
from policygen.core.errors import SpecError, UnreadError, UsageError
from policygen.core.finding import Finding
from policygen.core.names import SCHEDULER_CONTAINER
from policygen.documents.document import Document
from policygen.documents.locate import ordered
from policygen.drift.drift import GROUP_KINDS
from policygen.kubernetes import manifests
from policygen.kubernetes.cluster import KUEUE, Cluster
from policygen.kubernetes.kueue import POLICY_KINDS
from policygen.kubernetes.snapshot import CONFIG_MAP, NODE, GroupKind, Snapshot
from policygen.kubernetes.workloads import TEMPLATES
from policygen.report.phrases import whereabouts

_READ = frozenset(
    {
        *GROUP_KINDS,
        *(GroupKind(KUEUE, kind) for kind in POLICY_KINDS),
        *(GroupKind(*kind) for kind in TEMPLATES),
        NODE,
    }
)
"""Kinds of policy, and those from which a spec is inferred."""


class Observed(Struct, frozen=True):
    """The objects that were read."""

    cluster: Cluster
    unread: tuple[str, ...]
    """What could not be read, as messages."""
    documents: tuple[Document, ...] = ()
    """The documents of the manifests."""
    refused: tuple[Finding, ...] = ()
    """What a server refuses of the manifests."""


def observed(
    request: LintRequest,
    *,
    stdin: BinaryIO | None = None,
    progress: Progress = lambda _: None,
    config_maps: Iterable[str] = (),
) -> Observed:
    """The objects of the manifests of a request, or of its only cluster.

    `config_maps` are names of ConfigMaps to read of a live cluster. Raises SpecError for manifests
    that are invalid, UsageError for those without an object, and UnreadError for a cluster.
    """
    run = inputs.prepare(request, stdin)
    found = run.manifests.found
    faults = [*run.manifests.unreadable, *found.findings]
    if faults:
        raise SpecError(ordered(faults))
    if not request.clusters.named:
        if not found.objects:
            raise UsageError("the manifests contain no object; name other files or a cluster")
        read = [it for it in found.objects if (it.group, it.kind) in _READ]
        refused = refused_manifests.findings(read, found.documents, run.target)
        return Observed(Cluster(found.objects), (), tuple(found.documents), tuple(refused))
    names = frozenset(config_maps)
    snapshot = _snapshot(run, names, progress)
    files = {f"{it}-{SCHEDULER_CONTAINER}" for it in infer.sets(Cluster(snapshot.objects))}
    if request.clusters.is_live and files - snapshot.seen.config_maps:
        # The file with the profiles has the name of the set, which is known only now.
        snapshot = _snapshot(run, names | files, progress)
    # A set without objects has no file, so its file is not reported as missing.
    others = tuple(f"{it}: " for it in names - files)
    gaps = [
        it
        for it in snapshot.seen.gaps
        if GroupKind(it.group, it.kind) in _READ
        and not (GroupKind(it.group, it.kind) == CONFIG_MAP and it.reason.startswith(others))
    ]
    messages = (*map(str, gaps), *unread.namespaces(snapshot))
    inside = manifests.inside(snapshot.objects, first_index=run.first_index + 1)
    objects = (*snapshot.objects, *inside.objects)
    return Observed(Cluster(objects, snapshot.seen, snapshot.pods), messages)


def _snapshot(run: Run, config_maps: frozenset[str], progress: Progress) -> Snapshot:
    query = lint.cluster_query(run)
    query = replace(query, config_maps=query.config_maps | config_maps)
    clusters = sources.clusters(run.request.clusters, query, progress=progress)
    with next(clusters)(run.first_index) as finish:
        snapshot = finish()
    if isinstance(snapshot, Finding):
        raise UnreadError(f"{whereabouts(snapshot)}: {snapshot.message}")
    return snapshot
