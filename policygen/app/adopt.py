"""What `policygen adopt` does: infers a spec from objects, renders it, and compares both."""

from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from policygen.adopt import infer
from policygen.adopt.compare import spec_differences
from policygen.adopt.infer import Inferred
from policygen.adopt.spec_data import SpecDocument, documents
from policygen.adopt.trees import Scope
from policygen.adopt.write import Comments, write
from policygen.app import compile as compiling
from policygen.app import drift, inputs, lint, sources
from policygen.app.delivery import writing
from policygen.app.inputs import Run
from policygen.app.requests import LintRequest, RenderRequest
from policygen.client import unread
from policygen.client.live import Progress
from policygen.core import atomic
from policygen.core.errors import SpecError, UnreadError, UsageError
from policygen.core.finding import Finding
from policygen.core.names import SCHEDULER_CONTAINER
from policygen.core.quoting import listed, quoted
from policygen.documents.locate import ordered
from policygen.documents.parse import mapping
from policygen.drift.drift import GROUP_KINDS
from policygen.kubernetes import manifests
from policygen.kubernetes.cluster import KUEUE, Cluster
from policygen.kubernetes.kueue import POLICY_KINDS
from policygen.kubernetes.snapshot import NODE, GroupKind, Snapshot
from policygen.kubernetes.workloads import TEMPLATES
from policygen.report.adoption import Adoption
from policygen.report.phrases import whereabouts
from policygen.spec.types import Platform

FILES = {
    "Platform": "platform.yaml",
    "ResourcePool": "pools.yaml",
    "Team": "teams.yaml",
    "Model": "models.yaml",
}
"""The file of each kind in a folder."""

_SHOWN = 3
_READ = frozenset(
    {
        *GROUP_KINDS,
        *(GroupKind(KUEUE, kind) for kind in POLICY_KINDS),
        *(GroupKind(*kind) for kind in TEMPLATES),
        NODE,
    }
)
"""Kinds from which the spec is inferred."""


class AdoptRequest(Struct, frozen=True):
    """What to adopt: manifests or one cluster, and the set of policygen, if there are several."""

    inputs: LintRequest
    set_name: str | None = None


class _Read(Struct, frozen=True):
    cluster: Cluster
    unread: tuple[str, ...]


def adopt(
    request: AdoptRequest, *, stdin: BinaryIO | None = None, progress: Progress = lambda _: None
) -> Adoption:
    """The spec of the objects in manifests or on a cluster, and the differences.

    Raises UsageError if there is nothing to adopt, UnreadError if the input could not be read, and
    SpecError if the objects contradict each other so that no valid spec can render them.
    """
    read = _read(request.inputs, stdin, progress)
    scope = _scope(read.cluster, request.set_name)
    inferred = infer.infer(read.cluster, scope)
    if not inferred.spec.pools and not inferred.spec.platform.priorities:
        if read.unread:
            raise UnreadError("; ".join(read.unread[:_SHOWN]))
        raise UsageError(
            "the input has no queue, quota or priority of GPUs that a spec can contain; if you have "
            "no policy yet, write a spec as in README"
        )
    made = list(documents(inferred.spec))
    comments = _comments(inferred)
    files: dict[str, list[SpecDocument]] = {}
    for document in made:
        files.setdefault(FILES[document.form.kind], []).append(document)
    texts = tuple((name, write(several, comments)) for name, several in files.items())
    compiled = compiling.compiled_text("".join(text for _, text in texts), "adopted.yaml")
    rendered = drift.rendered(compiled, RenderRequest((), {}))
    return Adoption(
        files=texts,
        guesses=inferred.guesses,
        differences=tuple(spec_differences(read.cluster, inferred, rendered.expected, mapping)),
        unread=read.unread,
    )


def save(adoption: Adoption, folder: Path) -> str:
    """Write the files of the spec to a new or empty folder. Returns a message. Raises UsageError."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"-o {folder} already exists; name a new folder")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in adoption.files:
            atomic.write(folder / name, text.encode())
    return f"{folder}: {listed([name for name, _ in adoption.files], 'and')}"


def _comments(inferred: Inferred) -> Mapping[tuple[str, str], Comments]:
    found: dict[tuple[str, str], dict[tuple[str | int, ...], list[str]]] = {}
    for guess in inferred.guesses:
        found.setdefault((guess.kind, guess.name), {}).setdefault(guess.path, []).append(guess.text)
    return found


def _scope(cluster: Cluster, set_name: str | None) -> Scope:
    """The set to adopt. Raises UsageError if it does not exist, or if several sets do."""
    sets = infer.sets(cluster)
    if set_name is not None and set_name not in sets:
        known = f"; the input has {listed([quoted(it) for it in sets], 'and')}" if sets else ""
        raise UsageError(f"--set: the input has no objects of set {quoted(set_name)}{known}")
    if set_name is None and len(sets) > 1:
        raise UsageError(
            f"the input has objects of the sets {listed([quoted(it) for it in sets], 'and')}; "
            "choose one with --set"
        )
    if sets:
        return Scope(set_name or sets[0], rendered=True)
    return Scope(Platform().name, rendered=False)


def _read(request: LintRequest, stdin: BinaryIO | None, progress: Progress) -> _Read:
    run = inputs.prepare(request, stdin)
    found = run.manifests.found
    faults = [*run.manifests.unreadable, *found.findings]
    if faults:
        raise SpecError(ordered(faults))
    if not request.clusters.named:
        if not found.objects:
            raise UsageError("the manifests contain no object; name other files or a cluster")
        return _Read(Cluster(found.objects), ())
    snapshot = _snapshot(run, frozenset(), progress)
    files = {f"{it}-{SCHEDULER_CONTAINER}" for it in infer.sets(Cluster(snapshot.objects))}
    if request.clusters.is_live and files - snapshot.seen.config_maps:
        # The file with the profiles has the name of the set, which is known only now.
        snapshot = _snapshot(run, frozenset(files), progress)
    gaps = [it for it in snapshot.seen.gaps if GroupKind(it.group, it.kind) in _READ]
    messages = (*map(str, gaps), *unread.namespaces(snapshot))
    inside = manifests.inside(snapshot.objects, first_index=run.first_index + 1)
    objects = (*snapshot.objects, *inside.objects)
    return _Read(Cluster(objects, snapshot.seen, snapshot.pods), messages)


def _snapshot(run: Run, config_maps: frozenset[str], progress: Progress) -> Snapshot:
    query = lint.cluster_query(run)
    query = replace(query, config_maps=query.config_maps | config_maps)
    clusters = sources.clusters(run.request.clusters, query, progress=progress)
    with next(clusters)(run.first_index) as finish:
        snapshot = finish()
    if isinstance(snapshot, Finding):
        raise UnreadError(f"{whereabouts(snapshot)}: {snapshot.message}")
    return snapshot
