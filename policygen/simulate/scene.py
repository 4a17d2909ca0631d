"""The state that a simulation starts from: queues, nodes, and jobs that run or wait.

It comes from a spec, manifests or a snapshot. Times are seconds, and 0 is the time of the snapshot.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from random import Random

from msgspec import Struct, field
from msgspec.structs import replace

from policygen.core.names import DEFAULT_SCHEDULER, HOSTNAME, NODE_NAME
from policygen.kubernetes import accelerators
from policygen.kubernetes.accelerators import gpus_of, unit_of
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.flavor_match import with_flavors
from policygen.kubernetes.kueue_settings import Settings
from policygen.kubernetes.listed_nodes import listed_nodes
from policygen.kubernetes.node_filters import Placed, demand
from policygen.kubernetes.node_groups import NATIVE, Node, Stated
from policygen.kubernetes.untyped import keyed_texts, texts
from policygen.kubernetes.workloads import PodSpec
from policygen.plan.implied_nodes import implied_nodes
from policygen.plan.node_instances import node_instances
from policygen.plan.pool import PoolFacts
from policygen.simulate.arrival import Arrival, PodBatch
from policygen.simulate.assumptions import NOTHING_ASSUMED, Assumptions
from policygen.simulate.growing_pools import GrowingPool
from policygen.simulate.kueue.amounts import counted
from policygen.simulate.kueue.build import state_of
from policygen.simulate.kueue.pods_ready import pods_ready_rule
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.kueue.state import FINAL_SHARE, INITIAL_SHARE
from policygen.simulate.kueue.topologies import add_topologies
from policygen.simulate.model_objects import ModelObjects
from policygen.simulate.over_time.job_run import Shapes
from policygen.simulate.over_time.observer import Observer
from policygen.simulate.placement.profile import Profile, profile
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape, default_selector, shape_of
from policygen.simulate.pod_quotas import PodQuotas
from policygen.simulate.result import Unmodelled
from policygen.simulate.scene_pool import ScenePool
from policygen.simulate.spec_quotas import SpecQuotas
from policygen.simulate.timeline import Timeline
from policygen.simulate.volcano.build import scheduler_settings, volcano_state
from policygen.simulate.volcano.choices import Choices
from policygen.simulate.volcano.scheduler import VolcanoScheduler
from policygen.spec.types import Spec

MAX_PODS = Fraction(110)
"""The default of kubelet's maxPods."""
_ENOUGH = Fraction(2**50)
"""Of a resource that every node has, on a node of a spec, which does not say how much."""


class Scene(Struct, frozen=True, eq=False):
    """All that a simulation starts from."""

    cluster: Cluster
    """All objects, also those that a spec renders."""
    settings: Settings
    nodes: tuple[Node, ...] = ()
    """Empty: nodes are not known, and pods start when they are admitted."""
    pools: tuple[ScenePool, ...] = ()
    teams: Mapping[str, str] = field(default_factory=dict)
    """The team of each namespace; other namespaces are teams of their own."""
    unmodelled: tuple[Unmodelled, ...] = ()
    spec: Spec | None = None
    """The spec that renders some of the objects; None: there is none."""
    models: ModelObjects | None = None
    """The models of the spec that are jobs; None: only the jobs of the input count."""
    assumptions: Assumptions = NOTHING_ASSUMED
    quotas: SpecQuotas = field(default_factory=SpecQuotas)
    """Of the spec, for pools without Kueue."""
    growing: tuple[GrowingPool, ...] = ()
    """Those of the pools to which an autoscaler adds nodes. `nodes` are all that can exist."""

    @property
    def missing(self) -> frozenset[str]:
        """The nodes that an autoscaler has not added yet."""
        return frozenset(name for it in self.growing for name in it.missing)

    def team(self, namespace: str) -> str:
        """The team of a namespace."""
        return self.teams.get(namespace, namespace)

    @property
    def knows_topologies(self) -> bool:
        """Whether Kueue places pods in topologies, and the nodes of these are known."""
        return bool(self.nodes) and self.settings.gate("TopologyAwareScheduling")

    @property
    def has_topologies(self) -> bool:
        """Whether a flavor has a topology whose nodes are known."""
        return self.knows_topologies and any(it.fields.topology_name for it in self.cluster.flavors)

    def topology_levels(self) -> Mapping[str, tuple[str, ...]]:
        """The node labels of the levels of each flavor with a topology whose nodes are known."""
        of_name = {
            it.object.name: tuple(level.node_label for level in it.fields.levels)
            for it in self.cluster.topologies
        }
        return {
            it.object.name: of_name[it.fields.topology_name]
            for it in (self.cluster.flavors if self.knows_topologies else ())
            if it.fields.topology_name in of_name
        }

    @property
    def is_implied(self) -> bool:
        """Whether the nodes are those of pools of a spec, which has no nodes without accelerators."""
        return any(it.stated is Stated.PART for it in self.nodes)


def implied_names(scene: Scene) -> frozenset[str]:
    """The names that a scene made up for its nodes; empty: they have their own names."""
    return frozenset(it.name for it in scene.nodes) if scene.is_implied else frozenset()


def names_other_nodes(known: frozenset[str], spec: PodSpec) -> bool:
    """Whether pods must run on nodes of given names, and these are not the `implied_names`."""
    if not known or not gpus_of(spec.requests):
        return False
    wanted = demand(spec, {})

    def names_others(placed: Iterable[Placed]) -> bool:
        return any(
            it.requirement.key in (HOSTNAME, NODE_NAME)
            and it.requirement.operator == "In"
            and known.isdisjoint(it.requirement.values)
            for it in placed
        )

    either = wanted.terms or ()
    return (
        (bool(wanted.node_name) and wanted.node_name not in known)
        or names_others(wanted.selector)
        or (bool(either) and all(names_others(it.requirements) for it in either))
    )


def spec_nodes(pools: Iterable[PoolFacts]) -> tuple[tuple[Node, ...], tuple[ScenePool, ...]]:
    """The nodes of a spec's pools, one by one, and the pools.

    A resource that no pool lists, but that all nodes have, is not scarce. Where pools share labels, only
    the name of a pool distinguishes their nodes.
    """
    pools = tuple(pools)
    nodes: list[Node] = []
    found = []
    for pool, node in zip(pools, implied_nodes(pools), strict=True):
        names = [f"{pool.name}-{i}" for i in range(node.count)]
        native = dict.fromkeys(NATIVE, _ENOUGH) | {"pods": MAX_PODS}
        cut = node_instances(pool, node.count) if node.together else [{}] * node.count
        gpus = 0
        # A spec does not say which nodes share a rack, so all of a pool do.
        levels = dict.fromkeys(pool.pool.topology_levels, pool.name)
        for name, instances in zip(names, cut, strict=True):
            own = {it: Fraction(amount) for it, amount in instances.items()}
            allocatable = {**native, **node.allocatable, **own}
            gpus += sum(int(allocatable[it]) for it in pool.resources)
            nodes.append(
                replace(
                    node,
                    name=name,
                    count=1,
                    labels={**levels, **node.labels, HOSTNAME: name},
                    allocatable=allocatable,
                    together={},
                )
            )
        available = sum(pool.available[it] for it in pool.resources)
        found.append(
            ScenePool(
                pool.name,
                frozenset({pool.name}),
                frozenset(names),
                min(gpus, available) or gpus,
                unit_of(pool.resources),
            )
        )
    return tuple(nodes), tuple(found)


def cluster_nodes(cluster: Cluster) -> tuple[Node, ...]:
    """The listed nodes. Manifests may omit what every kubelet lists."""
    found = []
    for node in listed_nodes(cluster):
        amounts = dict.fromkeys(NATIVE, _ENOUGH) | {"pods": MAX_PODS} | dict(node.allocatable)
        labels = {HOSTNAME: node.name, **node.labels}
        found.append(replace(node, allocatable=amounts, labels=labels))
    return tuple(found)


def flavor_pools(cluster: Cluster, nodes: Iterable[Node]) -> tuple[ScenePool, ...]:
    """A pool for each ResourceFlavor that has a quota of accelerators; without flavors, one of all nodes.

    Nodes count for the first flavor whose labels they have. Without nodes, the quotas are what a pool
    has.
    """
    nodes = tuple(nodes)
    quotas: dict[str, int] = {}
    counted_in: dict[str, set[str]] = {}
    for table in (cluster.cohorts, cluster.cluster_queues):
        for entry in table:
            for group in entry.fields.resource_groups:
                for flavor in group.flavors:
                    for quota in flavor.resources:
                        if accelerators.is_one(quota.name):
                            amount = int(quota.nominal_quota)
                            quotas[flavor.name] = quotas.get(flavor.name, 0) + amount
                            counted_in.setdefault(flavor.name, set()).add(quota.name)
    left = {it.name: it for it in nodes if gpus_of(it.allocatable)}
    found = []
    for name in sorted(quotas):
        fields = cluster.flavors.get(name)
        wanted = fields.fields.node_labels if fields is not None else {}
        own = [
            it
            for it in left.values()
            if all(it.labels.get(key) == value for key, value in wanted.items())
        ]
        for it in own:
            del left[it.name]
        gpus = sum(gpus_of(it.allocatable) for it in own) if nodes else quotas[name]
        unit = unit_of(counted_in[name])
        names = frozenset(it.name for it in own)
        found.append(ScenePool(name, frozenset({name}), names, gpus, unit))
    if left:
        gpus = sum(gpus_of(it.allocatable) for it in left.values())
        unit = unit_of(key for it in left.values() for key, one in it.allocatable.items() if one)
        found.append(
            ScenePool("other nodes" if found else "nodes", frozenset(), frozenset(left), gpus, unit)
        )
    return tuple(found)


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
