"""What `policygen simulate` does: reads a state and its jobs, and runs the schedulers."""

import math
import stat
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from policygen.app import (
    cluster_gaps,
    drift,
    inputs,
    manifest_files,
    refused_manifests,
    sources,
    trace,
)
from policygen.app.inputs import RunSpec
from policygen.app.manifest_files import ManifestFiles
from policygen.app.requests import ClusterRequest, LintRequest, RenderRequest, SimulateRequest
from policygen.core import processes, versions
from policygen.core.errors import SpecError, UnreadError, UsageError
from policygen.core.finding import At, Finding
from policygen.core.names import DEFAULT_NAMESPACE, HOSTNAME
from policygen.core.quoting import counted, listed, some
from policygen.core.rule import Severity
from policygen.core.versions import Version
from policygen.documents import files
from policygen.documents.files import Source
from policygen.kubernetes import controllers, kueue_settings, manifests
from policygen.kubernetes.cluster import KUEUE as KUEUE_GROUP
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.manifests import Manifests
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Seen, Snapshot
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import TEMPLATES
from policygen.lint import context, registry
from policygen.plan import kueue_configuration
from policygen.plan.extras import SECOND_SCHEDULER, VOLCANO_CONFIG
from policygen.plan.kueue_configuration import KueueConfiguration
from policygen.plan.rules import INERT_OPTION
from policygen.report.phrases import whereabouts
from policygen.report.simulation import SimulationReport
from policygen.simulate import chance
from policygen.simulate.arrival import Arrival
from policygen.simulate.input_faults import RUNS_FOR
from policygen.simulate.kueue import train_jobs
from policygen.simulate.kueue.jobs import is_foreign
from policygen.simulate.oversized import oversized
from policygen.simulate.recorder import Recorder
from policygen.simulate.result import SimulationResult
from policygen.simulate.scene import Scene, cluster_nodes, flavor_pools, spec_nodes, timeline
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.state_facts import state_facts
from policygen.simulate.timeline import Timeline, TimelineProgress
from policygen.simulate.traces import arrivals as trace_arrivals
from policygen.simulate.traces.arrivals import TraceArrivals
from policygen.simulate.traces.job import TraceJob
from policygen.simulate.unmodelled import unmodelled

KUEUE = (0, 19)
"""The only release whose decisions are simulated."""
_MANY = 1_000
"""From so many jobs and other objects on, a comparison runs in two processes."""
_EVERY_S = 0.2
"""Seconds between two messages about the progress."""
_NAMES = 5
"""The number of names in a note."""
_UNTRIED = (
    "Ctrl-C came before all other random choices were tried; more jobs can depend on chance than the "
    "report marks"
)
_OF_JOBS = frozenset({"Pod", "PodGroup", "ReplicaSet", "Workload"})
"""Kinds that controllers create for jobs."""
_CONFIGURATIONS: Mapping[str, Callable[[Cluster], Sequence[Entry[Any]]]] = {
    "Configuration of Kueue": lambda it: it.kueue_configurations,
    "configuration of Volcano": lambda it: it.volcano_configurations,
    "KubeSchedulerConfiguration": lambda it: it.scheduler_configurations,
}
_NAMESPACED = TEMPLATES.keys() | {
    (KUEUE_GROUP, "LocalQueue"),
    (KUEUE_GROUP, "Workload"),
    (train_jobs.GROUP, train_jobs.KIND),
    ("", "LimitRange"),
    ("", "Service"),
    ("scheduling.volcano.sh", "PodGroup"),
}
"""Kinds with a namespace that a simulation reads."""


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


def simulate(
    request: SimulateRequest,
    *,
    stdin: BinaryIO | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> SimulationReport:
    """Simulate the jobs of a state. Ctrl-C ends it early; the report is then partial.

    Raises UsageError, SpecError, and UnreadError.
    """
    request = by_content(request)
    spec, given = read(request, stdin, progress)
    scene = scene_of(request, spec, given)
    return _played(request, scene, spec, given, progress)


def compare(
    request: SimulateRequest,
    against: str,
    *,
    stdin: BinaryIO | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[SimulationReport, ...]:
    """Simulate the same jobs with a second state, too: a spec, manifests or a snapshot.

    After Ctrl-C only the first report: part of a simulation says nothing about the effect of a change.
    Raises what `simulate` raises.
    """
    name = listed([*request.specs], "and") if request.specs else "the first state"
    request = by_content(request)
    spec, given = read(request, stdin, progress)
    other, second, changed = _changed(request, against, given)
    scene = scene_of(request, spec, given)
    of_manifests = request.state and spec.compiled is None and not request.clusters.named
    lender = scene_of(other, second, changed) if of_manifests else None
    scene, lent = _completed(scene, lender, name, against)

    def play_second(show: Callable[[str], None]) -> SimulationReport:
        made = lender or scene_of(other, second, changed)
        first = None if second.compiled or changed.snapshot is not None else scene
        made, lacks = _completed(made, first, against, name)
        report = _played(other, made, second, changed, show)
        return replace(report, facts=state_facts(made), lent=lacks)

    with _begun(play_second, given, progress) as second_report:
        before = _played(request, scene, spec, given, progress)
        before = replace(before, facts=state_facts(scene), lent=lent)
        if before.interrupted or before.result.partial:
            lost = f"Ctrl-C ended the first simulation, and {against} was not simulated; nothing is compared"
            return (replace(before, interrupted=lost),)
        after = second_report()
    if after is None or after.result.partial:
        lost = (
            f"Ctrl-C ended the simulation of {against}; this is the report of the first state alone"
        )
        return (replace(before, interrupted=lost),)
    return before, after


def _completed(scene: Scene, other: Scene | None, name: str, lender: str) -> tuple[Scene, str]:
    """A scene of manifests with what another one has and it lacks, since both are of one cluster; and a note.

    These are the nodes, the teams, and the configurations of Kueue and of the schedulers.
    """
    if other is None:
        return scene, ""
    lacks, more = [], list[Object]()
    if other.nodes and not scene.nodes:
        lacks.append("nodes")
        scene = replace(scene, nodes=other.nodes, pools=other.pools)
    for words, table in _CONFIGURATIONS.items():
        own, others = table(scene.cluster), table(other.cluster)
        if others and not own:
            lacks.append(words)
            more += [it.object for it in others]
    if more:
        cluster = Cluster((*scene.cluster.objects, *more), scene.cluster.seen, scene.cluster.pods)
        settings = kueue_settings.first(cluster, scene.settings.target)
        scene = replace(scene, cluster=cluster, settings=settings)
    scene = replace(scene, teams=scene.teams or other.teams)  # both have the same names of teams
    if not lacks:
        return scene, ""
    return scene, f"{name} has no {listed(lacks)}; both simulations use those of {lender}"


@contextmanager
def _begun(
    play: Callable[[Callable[[str], None]], SimulationReport],
    given: SimulationInput,
    progress: Callable[[str], None],
) -> Iterator[Callable[[], SimulationReport | None]]:
    """Yields a function that returns the report of `play`, or None after Ctrl-C.

    With many jobs, a second process begins at once. It shows its progress when this one waits for it.
    """
    of_snapshot = given.snapshot.objects if given.snapshot is not None else ()
    if len(given.trace) + len(given.objects) + len(of_snapshot) < _MANY or not processes.usable():
        yield lambda: play(progress)
        return
    import mmap
    import pickle

    shown = mmap.mmap(-1, 1)  # both processes share it

    def show(words: str) -> None:
        if shown[0]:
            progress(words)

    def report() -> SimulationReport | None:
        shown[0] = 1
        try:
            found: SimulationReport = results()[0]
        except KeyboardInterrupt:
            return None
        finally:
            progress("")
        return found

    with processes.begun(play, (show,), pickle.dumps, pickle.loads) as results:
        yield report


def _changed(
    request: SimulateRequest, against: str, given: SimulationInput
) -> tuple[SimulateRequest, RunSpec, SimulationInput]:
    """The request, the spec and the input with another state and the same jobs."""
    other = by_content(request._replace(specs=(against,), state=(), clusters=ClusterRequest()))
    spec = _spec(other, given.sources, None)
    if other.specs and spec.compiled is None:
        raise SpecError(spec.findings)
    index = given.index + 1 + len(spec.documents)
    with manifest_files.opened(other.state) as opened:
        found = _manifests(opened, index, spec.target(other.target))
    jobs = _jobs(given.state)
    state = [*_without(found.objects, _jobs(found.objects)), *_only(given.state, jobs)]
    snapshot = given.snapshot
    if other.clusters.named:
        named = _snapshot(other, spec, index + len(found.documents), lambda _: None)
        snapshot = None if named is None else _with_jobs_of(named, given.snapshot)
    files = (*given.files[:1], found)
    return other, spec, replace(given, state=state, snapshot=snapshot, files=files)


def _with_jobs_of(state: Snapshot, other: Snapshot | None) -> Snapshot:
    """A snapshot with the jobs of another one; without one, it has no jobs."""
    kept = _without(state.objects, _jobs(state.objects, state.seen))
    if other is None:
        return replace(state, objects=tuple(kept), pods=())
    jobs = _only(other.objects, _jobs(other.objects, other.seen))
    unread = cluster_gaps.JOBS - other.seen.read - other.seen.unserved
    seen = replace(
        state.seen,
        taken=other.seen.taken,  # the times of the jobs count from there
        read=state.seen.read - unread,
        unserved=state.seen.unserved - unread,
        gaps=(*state.seen.gaps, *(it for it in other.seen.gaps if it not in state.seen.gaps)),
    )
    return replace(state, seen=seen, objects=(*kept, *jobs), pods=other.pods)


_Identity = tuple[str, str, str, str]


def _jobs(objects: Iterable[Object], seen: Seen | None = None) -> set[_Identity]:
    """The objects that are jobs, or that controllers created for jobs."""
    objects = tuple(objects)
    found = {it.identity for it in objects if it.kind in _OF_JOBS}
    return found | {it.object.identity for it in Cluster(objects, seen).workloads}


def _only(objects: Iterable[Object], identities: Collection[_Identity]) -> list[Object]:
    return [it for it in objects if it.identity in identities]


def _without(objects: Iterable[Object], identities: Collection[_Identity]) -> list[Object]:
    return [it for it in objects if it.identity not in identities]


def by_content(request: SimulateRequest) -> SimulateRequest:
    """The request with manifests and snapshots among its specs as such, by what the files contain.

    A path that cannot be read stays a spec, and so does a pipe, since it can be read only once.
    """
    specs, state = [], []
    snapshots = list(request.clusters.snapshots)
    for path in request.specs:
        if path == "-" or _is_pipe(path):
            specs.append(path)
        elif _is_snapshot(path):
            snapshots.append(Path(path))
        elif _is_of_manifests(files.read((path,))[0]):
            state.append(path)
        else:
            specs.append(path)
    clusters = request.clusters._replace(snapshots=tuple(snapshots))
    if clusters.number > 1:
        raise UsageError("simulate reads only one cluster; name one snapshot or context")
    return request._replace(specs=tuple(specs), state=tuple(state), clusters=clusters)


def _is_of_manifests(sources: Sequence[Source]) -> bool:
    return (
        bool(sources)
        and not manifests.spec_sources(sources)
        and any(manifests.read((it,)).objects for it in sources)
    )


def _is_pipe(path: str) -> bool:
    """Whether a path exists, but is no file or folder."""
    try:
        mode = Path(path).stat().st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _is_snapshot(path: str) -> bool:
    """Whether a file is compressed, as snapshots are."""
    try:
        with Path(path).open("rb") as file:
            return file.read(len(trace.GZIP)) == trace.GZIP
    except (OSError, ValueError):
        return False


def _manifests(opened: ManifestFiles, index: int, target: Mapping[str, Version]) -> Manifests:
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
        spec = _spec(request, opened.sources, stdin)
        if request.specs and spec.compiled is None:
            raise SpecError(spec.findings)
        target = spec.target(request.target)
        found = _manifests(opened, len(spec.documents), target)
        index = len(spec.documents) + len(found.documents)
        other = _manifests(state, index, target)
    index += len(other.documents)
    snapshot = _snapshot(request, spec, index, progress)
    jobs = trace.read(request.trace, request.trace_format, progress) if request.trace else ()
    if request.trace and not jobs:
        raise UsageError(
            f"the trace {request.trace} has no job; write one in each row below the header"
        )
    return spec, SimulationInput(
        opened.sources, found.objects, snapshot, index, jobs, other.objects, (found, other)
    )


def _skipped(*files: Manifests) -> Iterator[str]:
    """What a simulation does not use of manifests."""
    for found in files:
        yield from (it.message for it in manifests.notes(found, ()))
    foreign = (it for found in files for it in found.objects if is_foreign(it))
    kinds = Counter(f"{it.kind} of {it.api_version}" for it in foreign)
    if kinds:
        names = [counted(count, kind, kind) for kind, count in sorted(kinds.items())]
        yield f"these objects have no effect on the simulation: {some(names, 'other kind')}"


def _in_namespace(object_: Object) -> Object:
    """The object with the namespace that kubectl gives it, if it names none."""
    if object_.namespace or (object_.group, object_.kind) not in _NAMESPACED:
        return object_
    return replace(object_, namespace=DEFAULT_NAMESPACE)


def scene_of(request: SimulateRequest, spec: RunSpec, given: SimulationInput) -> Scene:
    """The scene of a state. What the user names replaces what a spec renders, and that what a cluster has.

    Raises UsageError for a release of Kueue that is not simulated.
    """
    rendered = _rendered(request, spec)
    user = [*context.beside(given.state, given.objects), *given.objects]
    own = [*context.beside(rendered, user), *user]
    snapshot = given.snapshot
    seen = [] if snapshot is None else context.beside(snapshot.objects, own)
    if snapshot is not None:
        inside = manifests.inside(snapshot.objects, first_index=given.index + 1)
        seen += context.beside(inside.objects, own)
    cluster = Cluster(
        (*own, *seen, *_namespaces((*own, *seen))) if snapshot is None else (*own, *seen),
        seen=snapshot.seen if snapshot is not None else None,
        pods=snapshot.pods if snapshot is not None else (),
    )
    target = _target(request, spec, snapshot)
    if cluster.cluster_queues.any and target.release != KUEUE:
        raise UsageError(
            f"simulate knows only the decisions of Kueue {versions.written(KUEUE)}, not of {target}; "
            f"to simulate with them nevertheless, add --target kueue={versions.written(KUEUE)}"
        )
    settings = kueue_settings.first(cluster, target)
    nodes = cluster_nodes(cluster)
    pools = flavor_pools(cluster, nodes)
    plan = spec.compiled.plan if spec.compiled else None
    if plan is not None and plan.pools and not nodes:
        nodes, pools = spec_nodes(plan.pools)
    known = spec.compiled.loaded.spec if spec.compiled else None
    return Scene(cluster, settings, nodes, pools, _teams(spec), spec=known)


def _spec(request: SimulateRequest, opened: Sequence[Source], stdin: BinaryIO | None) -> RunSpec:
    """The spec with all configurations that it can render. No user asked for them by an option."""
    as_lint = LintRequest(
        request.specs,
        request.workloads,
        target=request.target,
        extras=frozenset({VOLCANO_CONFIG, SECOND_SCHEDULER}),
        templates=request.templates,
    )
    try:
        return inputs.compiled_spec(as_lint, manifests.spec_sources(opened), stdin)
    except SpecError as error:
        kept = [it for it in error.findings if it.rule is not INERT_OPTION]
        raise SpecError(kept, unplanned=error.unplanned) from None


def _extras(spec: RunSpec) -> frozenset[str]:
    """The controllers' configurations that a spec renders. A second scheduler needs an image."""
    platform = spec.compiled.loaded.spec.platform if spec.compiled else None
    has_image = platform is not None and platform.kube_scheduler.image is not None
    return frozenset({VOLCANO_CONFIG, SECOND_SCHEDULER} if has_image else {VOLCANO_CONFIG})


def _rendered(request: SimulateRequest, spec: RunSpec) -> list[Object]:
    """The objects that the spec renders, with the controllers' configuration."""
    if spec.compiled is None:
        return []
    platform, plan = spec.compiled.loaded.spec.platform, spec.compiled.plan
    rendering = RenderRequest(
        request.specs, request.target, extras=_extras(spec), templates=request.templates
    )
    expected = (it.object for it in drift.rendered(spec.compiled, rendering).expected)
    found = [it for it in expected if it.kind != "Deployment"]  # the second scheduler is no job
    found += manifests.inside(found, first_index=1 + len(spec.documents)).objects
    # The Configuration that the spec needs, with the other settings of Kueue's chart.
    item = kueue_configuration.decide(
        platform, plan.pools, plan.trees, plan.workloads.assignments, None
    )
    if item is not None and isinstance(item.fields, KueueConfiguration):
        place = At(drift.DOCUMENT, ("kueue",))
        made = Object.read(item.fields.fields, place)
        found += [made] if made is not None else []
    return found


def _namespaces(objects: Iterable[Object]) -> Iterator[Object]:
    """The namespaces of objects without a Namespace among them; their other labels are not known."""
    objects = tuple(objects)
    known = {it.name for it in objects if it.kind == "Namespace"}
    for name in dict.fromkeys(it.namespace for it in objects if it.namespace):
        if name not in known:
            data = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            yield Object(
                At(drift.DOCUMENT, ("namespaces", name)), "v1", "Namespace", name, "", data
            )


def _snapshot(
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


def _target(request: SimulateRequest, spec: RunSpec, snapshot: Snapshot | None) -> Version:
    """The release of Kueue: the given one, that of the cluster, or that of the spec."""
    if "kueue" in request.target:
        return request.target["kueue"]
    if snapshot is not None:
        found = controllers.detected(snapshot.seen.server, snapshot.objects)
        if "kueue" in found:
            return found["kueue"]
    if spec.compiled is not None:
        return spec.compiled.loaded.spec.platform.target.kueue
    return versions.DEFAULT["kueue"]


def _teams(spec: RunSpec) -> Mapping[str, str]:
    if spec.compiled is None:
        return {}
    teams = spec.compiled.loaded.spec.teams
    return {namespace.name: team.name for team in teams for namespace in team.namespaces}


def _played(
    request: SimulateRequest,
    scene: Scene,
    spec: RunSpec,
    given: SimulationInput,
    progress: Callable[[str], None],
) -> SimulationReport:
    """Run the schedulers until all jobs have ended, or until Ctrl-C."""
    traced, found = jobs(request, scene, given, request.duration)
    gaps = cluster_gaps.gaps(given.snapshot)
    gaps.check(found)
    check_trace(given, traced)
    if not found:
        gaps.require_jobs()
        raise UsageError(
            "the input has no job to simulate; name manifests of jobs with --workloads PATH, a trace with "
            "--trace FILE, or a snapshot with jobs"
        )
    others: list[SimulationResult] = []
    made, recorder = _recorded(request, scene, found, request.seed)
    partial, interrupted = False, ""
    try:
        try:
            _watch(made.run(), progress)
            if len(found) <= chance.MOST_JOBS:
                others += _others(request, scene, given)
        except KeyboardInterrupt:
            partial = not made.finished
            interrupted = "" if partial else _UNTRIED
        progress(f"the simulation ended; adding up {counted(len(found), 'job')}")
        result = chance.marked(recorder.result(partial=partial), others)
    finally:
        progress("")
    result = replace(result, unmodelled=unmodelled(scene, found))
    notes = (*_skipped(*given.files), *traced.notes, *_notes(scene, found, result, spec))
    at = f"--at {math.ceil(result.until)}s" if given.trace else ""
    return SimulationReport(
        result, notes, request.seed, at=at, interrupted=interrupted, unread=gaps.messages()
    )


def _others(
    request: SimulateRequest, scene: Scene, given: SimulationInput
) -> Iterator[SimulationResult]:
    """The results of other random choices."""
    for seed in range(request.seed + 1, request.seed + 1 + chance.OTHERS):
        _, found = jobs(request, scene, given, request.duration)
        chance.draw_uids(found, seed)
        made, recorder = _recorded(request, scene, found, seed)
        for _ in made.run():
            pass
        yield recorder.result()


def jobs(
    request: SimulateRequest, scene: Scene, given: SimulationInput, duration: float | None
) -> tuple[TraceArrivals, list[Arrival]]:
    """The jobs of the trace, and all jobs. A simulation changes them, so each makes its own."""
    traced = trace_arrivals.arrivals(scene, given.trace, request.trace_teams)
    return traced, [*arrivals(scene, duration), *traced.arrivals]


def check_trace(given: SimulationInput, traced: TraceArrivals) -> None:
    """Raises UsageError if no job of a trace has a team of the scene."""
    if given.trace and not traced.arrivals:
        cluster_gaps.gaps(given.snapshot).require(kueue=True)
        raise UsageError(f"no job of the trace can be simulated: {'; '.join(traced.notes)}")


def _recorded(
    request: SimulateRequest, scene: Scene, found: Sequence[Arrival], seed: int
) -> tuple[Timeline, Recorder]:
    """A simulation that has not begun, and what it will write down."""
    recorder = Recorder(scene)
    made = timeline(scene, found, seed=seed, until=request.until, observer=recorder)
    recorder.follow(made)
    return made, recorder


def _watch(steps: Iterable[TimelineProgress], progress: Callable[[str], None]) -> None:
    """Run all steps, and show progress a few times each second."""
    shown = time.monotonic()
    for it in steps:
        now = time.monotonic()
        if now - shown > _EVERY_S:
            shown = now
            progress(f"simulating: {it.ended} of {it.jobs} jobs ended, {it.arrived} arrived")


def _notes(
    scene: Scene,
    found: Sequence[Arrival],
    result: SimulationResult,
    spec: RunSpec,
) -> Iterator[str]:
    """Assumptions, and inputs that are missing."""
    queued = sum(it.workload is not None for it in found)
    if queued and not scene.cluster.cluster_queues.any:
        yield (
            f"the input has no ClusterQueue, so {counted(queued, 'job')} with the name of a queue "
            f"never {'starts' if queued == 1 else 'start'}; also pass the SPEC or the manifests of the queues"
        )
    if not scene.nodes:
        yield (
            "nodes are not known, so pods start as soon as their job is admitted; to simulate their "
            "placement, pass a SPEC, a snapshot or manifests of nodes"
        )
    if spec.compiled is not None:
        unknown = Counter(it.team for it in found if it.name.partition("/")[0] not in scene.teams)
        if unknown:
            names = [f"{name} ({counted(n, 'job')})" for name, n in sorted(unknown.items())]
            yield (
                f"no team of the spec has namespace {some(names, 'other', _NAMES)}; each is counted as a "
                "team of its own"
            )
        for pool in spec.compiled.plan.pools if scene.is_implied else ():
            levels = [it for it in pool.pool.topology_levels if it != HOSTNAME]
            if levels and pool.policy.topology_aware:
                yield (
                    f"label {listed(levels)} of the nodes of pool {pool.name} is not in the spec, so all of them have "
                    "the same; to simulate their topology, pass a snapshot or "
                    "manifests of nodes"
                )
    assumed = sum(it.assumed for it in found)
    if assumed:
        yield (
            f"{counted(assumed, 'job')} {'runs' if assumed == 1 else 'run'} for --duration; the "
            f"annotation {RUNS_FOR} of a job sets another duration"
        )
    yield from oversized(scene, found)
    if len(found) > chance.MOST_JOBS:
        yield (
            f"with more than {chance.MOST_JOBS} jobs, policygen does not try other seeds; use --seed"
        )
    ties = sum(it.either for it in result.jobs)
    if ties:
        yield (
            f"the schedulers decide about {counted(ties, 'job')} at random among equal choices; "
            "--seed makes other choices"
        )
