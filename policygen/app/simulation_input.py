"""What `policygen simulate`, `why` and `fit` read: a state and its jobs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from policygen.app import (
    cluster_gaps,
    inputs,
    manifest_files,
    refused_manifests,
    sources,
    trace,
)
from policygen.app.content import CONTEXT, Content, content
from policygen.app.inputs import RunSpec
from policygen.app.manifest_files import ManifestFiles
from policygen.app.requests import LintRequest, SimulateRequest
from policygen.core import versions
from policygen.core.errors import SpecError, UnreadError, UsageError
from policygen.core.finding import Finding
from policygen.core.names import DEFAULT_NAMESPACE
from policygen.core.rule import Severity
from policygen.core.versions import Version
from policygen.documents.files import Source
from policygen.kubernetes import manifests
from policygen.kubernetes.cluster import KUEUE as KUEUE_GROUP
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.manifests import Manifests
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Seen, Snapshot
from policygen.kubernetes.workloads import TEMPLATES, TRAIN_JOB
from policygen.lint import registry
from policygen.plan.extras import SECOND_SCHEDULER, VOLCANO_CONFIG
from policygen.report.phrases import whereabouts
from policygen.simulate import chance
from policygen.simulate.arrival import Arrival
from policygen.simulate.scene import Scene
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.traces import arrivals as trace_arrivals
from policygen.simulate.traces.arrivals import TraceArrivals
from policygen.simulate.traces.job import TraceJob

_NAMESPACED = TEMPLATES.keys() | {
    (KUEUE_GROUP, "LocalQueue"),
    (KUEUE_GROUP, "Workload"),
    TRAIN_JOB,
    ("", "LimitRange"),
    ("", "Service"),
    ("scheduling.volcano.sh", "PodGroup"),
}
"""Kinds with a namespace that a simulation reads."""
_OF_JOBS = frozenset({"Pod", "PodGroup", "ReplicaSet", "Workload"})
"""Kinds that controllers create for jobs."""
ObjectIdentity = tuple[str, str, str, str]
"""API group, kind, namespace and name."""


class SimulationInput(Struct, frozen=True):
    """What was read: the objects of the user, and at most one cluster."""

    sources: Sequence[Source]
    objects: Sequence[Object]
    snapshot: Snapshot | None
    index: int
    """Of the document of the snapshot."""
    trace: Sequence[TraceJob] = ()
    state: Sequence[Object] = ()
    """The objects of manifests that are named in place of a spec."""
    files: tuple[Manifests, ...] = ()
    """Of the jobs, and of the state."""


def identities_of_jobs(objects: Iterable[Object], seen: Seen | None = None) -> set[ObjectIdentity]:
    """The objects that are jobs, or that controllers created for jobs."""
    objects = tuple(objects)
    found = {it.identity for it in objects if it.kind in _OF_JOBS}
    return found | {it.object.identity for it in Cluster(objects, seen).workloads}


def adds_jobs(given: SimulationInput) -> bool:
    """Whether some jobs are not those of a cluster, so that no scheduler has decided about them yet."""
    if given.snapshot is None or given.trace:
        return True
    return bool(identities_of_jobs((*given.objects, *given.state)))


def by_content(request: SimulateRequest) -> SimulateRequest:
    """The request with manifests and snapshots among its specs as such, by what the files contain.

    It also knows whether the models of the spec are jobs. A path that cannot be read stays a spec. Raises
    UsageError for more than one cluster.
    """
    specs, state = [], []
    snapshots = list(request.clusters.snapshots)
    contexts = list(request.clusters.contexts)
    for path in request.specs:
        match content(path):
            case Content.SPEC:
                specs.append(path)
            case Content.MANIFESTS:
                state.append(path)
            case Content.SNAPSHOT:
                snapshots.append(Path(path))
            case Content.CLUSTER:
                contexts.append(path.removeprefix(CONTEXT))
    clusters = request.clusters._replace(snapshots=tuple(snapshots), contexts=tuple(contexts))
    if clusters.number > 1:
        raise UsageError("only one cluster can be read; name one snapshot or context")
    models = not clusters.named if request.models is None else request.models
    return request._replace(
        specs=tuple(specs), state=tuple(state), clusters=clusters, models=models
    )


def read(
    request: SimulateRequest, stdin: BinaryIO | None, progress: Callable[[str], None]
) -> tuple[RunSpec, SimulationInput]:
    """Read the spec, the manifests and the cluster of a request `by_content`. Raises what `simulate` raises."""
    with (
        manifest_files.opened(request.workloads, stdin) as opened,
        manifest_files.opened(request.state) as state,
    ):
        if opened.unreadable:
            raise SpecError(opened.unreadable)
        spec = spec_of(request, opened.sources, stdin)
        target = spec.target(request.target)
        found = manifests_of(opened, len(spec.documents), target)
        index = len(spec.documents) + len(found.documents)
        other = manifests_of(state, index, target)
    index += len(other.documents)
    snapshot = cluster_of(request, spec, index, progress)
    jobs = trace.read(request.trace, request.trace_format, progress) if request.trace else ()
    if request.trace and not jobs:
        raise UsageError(
            f"the trace {request.trace} has no job; write one in each row below the header"
        )
    return spec, SimulationInput(
        opened.sources, found.objects, snapshot, index, jobs, other.objects, (found, other)
    )


def spec_of(request: SimulateRequest, opened: Sequence[Source], stdin: BinaryIO | None) -> RunSpec:
    """The spec with all configurations that it can render. No user asked for them by an option.

    Raises SpecError if the request names a spec, and the files have none.
    """
    as_lint = LintRequest(
        request.specs,
        request.workloads,
        target=request.target,
        extras=frozenset({VOLCANO_CONFIG, SECOND_SCHEDULER}),
        templates=request.templates,
        cluster=request.cluster,
    )
    spec = inputs.compiled_spec(as_lint, manifests.spec_sources(opened), stdin)
    if request.specs and spec.compiled is None:
        raise SpecError(spec.findings)
    return spec


def manifests_of(opened: ManifestFiles, index: int, target: Mapping[str, Version]) -> Manifests:
    """The manifests of files, with documents from this index on.

    Raises SpecError, and InvalidInputError for faults of objects.
    """
    if opened.unreadable:
        raise SpecError(opened.unreadable)
    found = manifests.read(opened.sources, first_index=index, read_ahead=opened.documents)
    errors = [it for it in found.findings if it.severity is Severity.ERROR]
    if errors:
        raise SpecError(errors)
    found.objects = [*map(_in_namespace, found.objects)]
    refused_manifests.check(found, target)
    return found


def cluster_of(
    request: SimulateRequest, spec: RunSpec, index: int, progress: Callable[[str], None]
) -> Snapshot | None:
    """The only cluster of a request. `index` is that of its document. Raises UnreadError."""
    if not request.clusters.named:
        return None
    target = {**versions.DEFAULT, **request.target}
    query = sources.cluster_query(
        registry.RULES, spec.compiled, target, request.clusters.namespaces
    )
    (begin,) = sources.clusters(request.clusters, query, progress=progress)
    with begin(index) as finish:
        found = finish()
    if isinstance(found, Finding):
        raise UnreadError(f"{whereabouts(found)}: {found.message}")
    return found


def jobs(
    request: SimulateRequest, scene: Scene, given: SimulationInput, duration: float | None
) -> tuple[TraceArrivals, list[Arrival]]:
    """The jobs of the trace, and all jobs. A simulation changes them, so each makes its own."""
    traced = trace_arrivals.arrivals(scene, given.trace, request.trace_teams)
    return traced, [*arrivals(scene, duration), *traced.arrivals]


def with_other_choices(
    request: SimulateRequest,
    scene: Scene,
    given: SimulationInput,
    duration: float | None,
    count: int,
) -> Iterator[tuple[int, list[Arrival]]]:
    """The seeds of other random choices, and the `count` jobs for each of them."""
    for seed in chance.seeds(request.seed, count):
        _, found = jobs(request, scene, given, duration)
        yield seed, [*chance.with_uids(found, seed)]


def check_trace(given: SimulationInput, traced: TraceArrivals) -> None:
    """Raises UsageError if no job of a trace has a team of the scene."""
    if given.trace and not traced.arrivals:
        cluster_gaps.gaps(given.snapshot).require(kueue=True)
        raise UsageError(f"no job of the trace can be simulated: {'; '.join(traced.notes)}")


def _in_namespace(object_: Object) -> Object:
    """The object with the namespace that kubectl gives it, if it names none."""
    if object_.namespace or (object_.group, object_.kind) not in _NAMESPACED:
        return object_
    return replace(object_, namespace=DEFAULT_NAMESPACE)
