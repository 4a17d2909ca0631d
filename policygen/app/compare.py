"""What `policygen simulate --against` does: runs the same jobs with two states."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from msgspec.structs import replace

from policygen.app import (
    cluster_gaps,
    manifest_files,
    simulate,
    simulation_input,
    simulation_scene,
)
from policygen.app.inputs import RunSpec
from policygen.app.requests import ClusterRequest, SimulateRequest
from policygen.app.simulation_input import ObjectIdentity, SimulationInput
from policygen.core import processes
from policygen.core.quoting import listed
from policygen.kubernetes import kueue_settings
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Snapshot
from policygen.kubernetes.table import Entry
from policygen.report.simulation import SimulationReport
from policygen.simulate.scene import Scene
from policygen.simulate.spec_quotas import SpecQuotas
from policygen.simulate.state_facts import state_facts

_MANY = 1_000
"""From so many jobs and other objects on, a comparison runs in two processes."""
_CONFIGURATIONS: Mapping[str, Callable[[Cluster], Sequence[Entry[Any]]]] = {
    "Configuration of Kueue": lambda it: it.kueue_configurations,
    "configuration of Volcano": lambda it: it.volcano_configurations,
    "KubeSchedulerConfiguration": lambda it: it.scheduler_configurations,
}


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
    request = simulation_input.by_content(request)
    spec, given = simulation_input.read(request, stdin, progress)
    other, second, changed = _changed(request, against, given)
    other = other._replace(models=request.models and spec.compiled is not None)
    scene = simulation_scene.scene_of(request, spec, given)
    of_manifests = request.state and spec.compiled is None and not request.clusters.named
    lender = simulation_scene.scene_of(other, second, changed) if of_manifests else None
    scene, lent = _completed(scene, lender, name, against)
    # Volcano's queues do not have the guarantees of a spec, so both show what the objects have.
    of_objects = (spec.compiled is None) is not (second.compiled is None)
    scene = replace(scene, quotas=SpecQuotas() if of_objects else scene.quotas)

    def play_second(show: Callable[[str], None]) -> SimulationReport:
        made = lender or simulation_scene.scene_of(other, second, changed, scene.models)
        first = None if second.compiled or changed.snapshot is not None else scene
        made, lacks = _completed(made, first, against, name)
        made = replace(made, quotas=SpecQuotas() if of_objects else made.quotas)
        report = simulate.played(other, made, second, changed, show)
        return replace(report, facts=state_facts(made), lent=lacks)

    with _begun(play_second, given, progress) as second_report:
        before = simulate.played(request, scene, spec, given, progress)
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

    These are the nodes, the teams, the configurations of Kueue and of the schedulers, and the schedulers of pods.
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
    # The jobs of a trace need the same teams and fields in both simulations.
    teams, schedulers = scene.teams or other.teams, scene.schedulers or other.schedulers
    scene = replace(scene, teams=teams, schedulers=schedulers)
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
            found: SimulationReport = next(results())
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
    other = simulation_input.by_content(
        request._replace(specs=(against,), state=(), clusters=ClusterRequest())
    )
    spec = simulation_input.spec_of(other, given.sources, None)
    index = given.index + 1 + len(spec.documents)
    with manifest_files.opened(other.state) as opened:
        found = simulation_input.manifests_of(opened, index, spec.target(other.target))
    jobs = _only(given.state, simulation_input.identities_of_jobs(given.state))
    others = simulation_input.identities_of_jobs(found.objects)
    # A PodGroup without pods is no job: those of models are rendered with the queues.
    others -= {it.identity for it in found.objects if it.kind == "PodGroup"}
    others |= {it.identity for it in jobs}
    state = [*_without(found.objects, others), *jobs]
    snapshot = given.snapshot
    if other.clusters.named:
        named = simulation_input.cluster_of(
            other, spec, index + len(found.documents), lambda _: None
        )
        snapshot = None if named is None else _with_jobs_of(named, given.snapshot)
    files = (*given.files[:1], found)
    return other, spec, replace(given, state=state, snapshot=snapshot, files=files)


def _with_jobs_of(state: Snapshot, other: Snapshot | None) -> Snapshot:
    """A snapshot with the jobs of another one; without one, it has no jobs."""
    kept = _without(state.objects, simulation_input.identities_of_jobs(state.objects, state.seen))
    if other is None:
        return replace(state, objects=tuple(kept), pods=())
    jobs = _only(other.objects, simulation_input.identities_of_jobs(other.objects, other.seen))
    unread = cluster_gaps.JOBS - other.seen.read - other.seen.unserved
    seen = replace(
        state.seen,
        taken=other.seen.taken,  # the times of the jobs count from there
        read=state.seen.read - unread,
        unserved=state.seen.unserved - unread,
        gaps=(*state.seen.gaps, *(it for it in other.seen.gaps if it not in state.seen.gaps)),
    )
    return replace(state, seen=seen, objects=(*kept, *jobs), pods=other.pods)


def _only(objects: Iterable[Object], identities: Collection[ObjectIdentity]) -> list[Object]:
    return [it for it in objects if it.identity in identities]


def _without(objects: Iterable[Object], identities: Collection[ObjectIdentity]) -> list[Object]:
    return [it for it in objects if it.identity not in identities]
