"""The schedulers of a scene, and a timeline that runs them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from random import Random

from msgspec.structs import replace

from policygen.core.names import DEFAULT_SCHEDULER
from policygen.kubernetes.accelerators import gpus_of
from policygen.kubernetes.flavor_match import with_flavors
from policygen.kubernetes.kueue_settings import Settings
from policygen.kubernetes.node_groups import Node
from policygen.kubernetes.untyped import keyed_texts, texts
from policygen.simulate.arrival import Arrival, PodBatch
from policygen.simulate.kueue.amounts import counted
from policygen.simulate.kueue.build import state_of
from policygen.simulate.kueue.pods_ready import pods_ready_rule
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.kueue.state import FINAL_SHARE, INITIAL_SHARE
from policygen.simulate.kueue.topologies import add_topologies
from policygen.simulate.over_time.job_run import Shapes
from policygen.simulate.over_time.observer import Observer
from policygen.simulate.placement.profile import Profile, profile
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape, default_selector, shape_of
from policygen.simulate.pod_quotas import PodQuotas
from policygen.simulate.scene import Scene
from policygen.simulate.timeline import Timeline
from policygen.simulate.volcano.build import scheduler_settings, volcano_state
from policygen.simulate.volcano.choices import Choices
from policygen.simulate.volcano.scheduler import VolcanoScheduler


def strategies(settings: Settings) -> tuple[str, ...]:
    """The strategies of fair sharing; empty: it is off."""
    if not settings.fair_sharing or settings.entry is None:
        return ()
    written = texts(settings.entry.fields.fair_sharing or {}, "preemptionStrategies")
    return written or (FINAL_SHARE, INITIAL_SHARE)


def kueue_scheduler(
    scene: Scene, running: Iterable[Arrival] = (), seed: int | None = 1
) -> Scheduler:
    """Kueue with the queues of a scene. Of `running`, the jobs with an admission hold their quota."""
    state = state_of(scene.cluster, strategies(scene.settings))
    state.chance = Random(seed)  # noqa: S311 - a simulation
    state.pods_ready = pods_ready_rule(scene.settings)
    if scene.knows_topologies:
        missing = scene.missing
        add_topologies(
            state, scene.cluster, [it for it in scene.nodes if it.name not in missing], {}
        )
    scheduler = Scheduler(state)
    for it in running:
        if it.workload is not None and it.workload.admission is not None:
            placed = it.is_placed or not scene.nodes
            scheduler.adopt(it.workload, ready=it.workload.ready or placed)
    return scheduler


def topology_nodes(
    scene: Scene, running: Iterable[Arrival]
) -> tuple[tuple[Node, ...] | None, Mapping[str, Mapping[str, int]]]:
    """The nodes for Kueue's topologies, and what pods use there that Kueue did not place.

    None instead of nodes: topologies are not known.
    """
    if not scene.has_topologies:
        return () if scene.knows_topologies else None, {}
    used: dict[str, Counter[str]] = {}
    for it in running:
        if not it.is_outside_topologies:
            continue
        pods = [batch for batch in it.pods for _ in range(batch.count)]
        for batch, node in zip(pods, it.nodes, strict=False):
            of_node = used.setdefault(node, Counter())
            of_node["pods"] += 1
            for name, amount in batch.spec.requests.items():
                of_node[name] += counted(name, amount)
    return scene.nodes, used


def kube_scheduler(scene: Scene, seed: int | None = 1) -> KubeScheduler | None:
    """kube-scheduler with the nodes of a scene that exist; None: nodes are not known.

    It has no pods: a `Timeline` binds those that run from the start.
    """
    if not scene.nodes:
        return None
    found = [
        profile(it)
        for entry in scene.cluster.scheduler_configurations
        for it in entry.fields.profiles
    ]
    by_name = {DEFAULT_SCHEDULER: Profile()} | {it.name: it for it in found}
    made = KubeScheduler(scene.nodes, by_name.values(), seed)
    for name in scene.missing:
        made.lacks(made.nodes.index[name])
    return made


def volcano_scheduler(scene: Scene, seed: int | None = 1) -> VolcanoScheduler | None:
    """Volcano's scheduler with the queues and nodes of a scene; None: nodes are not known."""
    if not scene.nodes:
        return None
    settings = scheduler_settings(scene.cluster)
    return VolcanoScheduler(volcano_state(scene.cluster, scene.nodes), settings, Choices(seed))


def shapes(scene: Scene, kube: KubeScheduler | None) -> Shapes:
    """Makes the shape of pods, for a `Timeline`.

    A spec describes no nodes for pods without accelerators: these need no node that is known.
    """
    made: dict[object, tuple[PodShape | None, PodBatch]] = {}
    flavors = {it.name: it.fields for it in scene.cluster.flavors}
    labels = {it.name: it.object.labels for it in scene.cluster.namespaces}
    services = [
        (it.namespace, keyed_texts(it.data, "spec", "selector"))
        for it in scene.cluster.of("", "Service")
    ]
    implied = scene.is_implied
    offered = frozenset(name for it in scene.nodes for name in it.allocatable)

    def shape(
        arrival: Arrival, batch: PodBatch, chosen: Mapping[str, str], domain: Mapping[str, str]
    ) -> PodShape | None:
        namespace, names = arrival.name.partition("/")[0], frozenset(chosen.values())
        key = id(batch.spec), id(batch.labels), namespace, names, frozenset(domain.items())
        if key not in made:
            # The batch is kept, so that no other one gets its id.
            made[key] = make(batch, namespace, names, domain), batch
        return made[key][0]

    def make(
        batch: PodBatch, namespace: str, chosen: Iterable[str], domain: Mapping[str, str]
    ) -> PodShape | None:
        if implied and not gpus_of(batch.spec.requests):
            return None
        spec = with_flavors(batch.spec, [flavors[it] for it in sorted(chosen) if it in flavors])
        if domain:
            spec = replace(spec, node_selector={**spec.node_selector, **domain})
        if kube is not None and (spec.scheduler_name or DEFAULT_SCHEDULER) not in kube.profiles:
            spec = replace(spec, scheduler_name="")
        found = shape_of(
            spec,
            batch.labels,
            namespace,
            labels.get(namespace, {}),
            default_selector(
                (it for of, it in services if of == namespace and it), batch.labels, batch.selector
            ),
        )
        if not implied:
            return found
        known = offered | {"pods"}  # a spec does not say how much its nodes have of other resources
        return replace(found, requests=tuple(it for it in found.requests if it[0] in known))

    return shape


def timeline(  # noqa: PLR0913 - what arrives, how it ends, and who looks on
    scene: Scene,
    arrivals: Iterable[Arrival],
    *,
    seed: int | None = 1,
    until: float | None = None,
    still: bool = False,
    observer: Observer | None = None,
    shared: Shapes | None = None,
) -> Timeline:
    """The schedulers of a scene with these jobs, from 0 on. `arrivals` include the running jobs.

    `shared` makes the shapes of the pods for several timelines.

    With `still`, no job ends and no node comes (see `Timeline`). It changes the workloads of the arrivals, so make
    new ones for another run.
    """
    found = tuple(arrivals)
    growing = scene.growing
    scene = replace(scene, growing=())  # the timeline knows which nodes exist
    kube = kube_scheduler(scene, seed)
    return Timeline(
        found,
        kueue_scheduler(scene, found, seed),
        kube,
        volcano=volcano_scheduler(scene, seed) if any(it.gang for it in found) else None,
        shapes=shared or shapes(scene, kube),
        assumptions=scene.assumptions,
        growing=growing,
        quotas=PodQuotas(scene.cluster, found) if scene.cluster.resource_quotas.any else None,
        until=until,
        still=still,
        observer=observer,
    )
