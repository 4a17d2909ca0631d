"""The nodes to which a change may move the pods of a workload: those of pools in which its quota counts.

A job that runs on nodes of another pool uses them beside all quotas, although nothing refuses it.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from policygen.kubernetes.schedulers import VOLCANO
from policygen.plan import pool, tree
from policygen.plan.tree import Tree
from policygen.simulate.arrival import Arrival
from policygen.simulate.kueue.workload import Admission
from policygen.simulate.scene import Scene
from policygen.simulate.why.changes import Change, FieldChange, QueueChange, in_objects
from policygen.spec.types import Spec

_KUEUE, _KUBE_SCHEDULER = "kueue", "kube-scheduler"


class PoolBounds(Struct, frozen=True):
    """What a user named, so that changes must keep it."""

    pool: str = ""
    """The pool or flavor; empty: the job may use others."""
    resource: str = ""
    """The resource whose flavor is meant."""
    queue: bool = False
    """Whether the job stays in its queue."""

    def allow(self, changes: Iterable[Change], admission: Admission | None = None) -> bool:
        """Whether a job keeps to them after changes, with the quota that Kueue gives it then."""
        for it in in_objects(changes) if self.queue else ():
            if isinstance(it, QueueChange) or (
                isinstance(it, FieldChange) and it.path == ("spec", "queue")
            ):
                return False
        flavors = {
            it.flavors.get(self.resource, self.pool)
            for it in (admission.pod_sets if admission is not None else ())
        }
        return not self.pool or flavors <= {self.pool}


class _PoolNodes(Struct, frozen=True):
    """The nodes of a pool, and whose quota counts there."""

    name: str
    nodes: frozenset[str]
    scheduler: str
    queues: Mapping[str, str]
    """With a spec: the queue of each team, which has a name with Kueue and Volcano."""


class PoolAccess:
    """Finds the nodes that jobs of a scene may use."""

    def __init__(self, scene: Scene, bounds: PoolBounds | None = None) -> None:
        self._scene = scene
        self.bounds = bounds or PoolBounds()
        self._pools: tuple[_PoolNodes, ...] | None = None
        self._found: dict[tuple[str, ...], frozenset[str]] = {}

    def nodes(self, arrival: Arrival) -> frozenset[str]:
        """The nodes in no pool, and those of the pools in which its queue has a quota.

        If no queue takes it, its team must have the quota, and kube-scheduler must serve the pool.
        """
        if self._pools is None:
            self._pools = tuple(_pools(self._scene))
        pools = self._pools
        if any(it.name == self.bounds.pool for it in pools):
            return frozenset[str]().union(
                *(it.nodes for it in pools if it.name == self.bounds.pool)
            )
        gang, workload = arrival.gang, arrival.workload
        key = (
            _scheduler(arrival),
            self._scene.team(arrival.namespace),
            gang.queue if gang is not None else "",
            workload.queue if workload is not None else "",
        )
        if key not in self._found:
            every = frozenset(it.name for it in self._scene.nodes)
            in_pools = frozenset[str]().union(*(it.nodes for it in pools))
            own = (it.nodes for it in pools if self._has_quota(it, arrival))
            self._found[key] = (every - in_pools).union(*own)
        return self._found[key]

    def _has_quota(self, it: _PoolNodes, arrival: Arrival) -> bool:
        if it.scheduler != _scheduler(arrival):
            return False
        if self._scene.spec is None:
            return it.name in self._flavors(arrival)
        queue = it.queues.get(self._scene.team(arrival.namespace))
        return queue is not None and (arrival.gang is None or arrival.gang.queue == queue)

    def _flavors(self, arrival: Arrival) -> set[str]:
        """The flavors of the queue of a job of Kueue."""
        cluster = self._scene.cluster
        namespace, _, name = (arrival.workload.queue if arrival.workload else "").partition("/")
        local = cluster.local_queues.get(name, namespace)
        entry = cluster.cluster_queues.get(local.fields.cluster_queue) if local else None
        groups = entry.fields.resource_groups if entry is not None else ()
        return {it.name for group in groups for it in group.flavors}


def spec_trees(spec: Spec) -> list[Tree]:
    """The trees of teams of all pools."""
    facts, _ = pool.resolve(spec)
    return tree.build(spec, facts)[0]


def _scheduler(arrival: Arrival) -> str:
    if arrival.gang is not None:
        return VOLCANO
    return _KUBE_SCHEDULER if arrival.workload is None else _KUEUE


def _pools(scene: Scene) -> Iterator[_PoolNodes]:
    """The pools whose nodes differ from others by labels, or by their names in a simulation of a spec."""
    named = {it.name: it.nodes for it in scene.pools}
    if scene.spec is None:
        labels = {it.name: it.fields.node_labels for it in scene.cluster.flavors}
        for name, nodes in named.items():
            if labels.get(name):
                yield _PoolNodes(name, nodes, _KUEUE, {})
        return
    for found in spec_trees(scene.spec):
        queues = {it.team.name: found.name_of(it) for it in found.leaves}
        for facts in found.pools:
            selector = dict(facts.pool.node_selector)
            nodes = named.get(facts.name, frozenset()) if scene.is_implied else frozenset()
            if not scene.is_implied and selector:
                nodes = frozenset(
                    it.name for it in scene.nodes if selector.items() <= it.labels.items()
                )
            yield _PoolNodes(facts.name, nodes, found.scheduler, queues)
