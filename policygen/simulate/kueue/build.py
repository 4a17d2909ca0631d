"""The scheduler's state from Kueue's objects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

from msgspec import Struct

from policygen.core.names import NAMESPACE_NAME
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import Requirement, TolerationView
from policygen.kubernetes.flavor_match import required_terms, selects_flavor, untolerated
from policygen.kubernetes.kueue import (
    ClusterQueueView,
    FairSharing,
    Preemption,
    ResourceFlavorView,
    ResourceGroup,
)
from policygen.kubernetes.kueue_requests import adjusted
from policygen.kubernetes.kueue_settings import Settings
from policygen.kubernetes.kueue_workloads import PodSetView, WorkloadView
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.kueue.amounts import UNLIMITED, counted, evaluation_order
from policygen.simulate.kueue.queue import NONE, FlavorChoice, Group, SimulatedQueue
from policygen.simulate.kueue.quota import QuotaNode, settle
from policygen.simulate.kueue.refusals import refusal
from policygen.simulate.kueue.state import FlavorMismatch, QueueState
from policygen.simulate.kueue.topologies import topology_request
from policygen.simulate.kueue.workload import PodSet, QueuedWorkload


class Shape(Struct, frozen=True):
    """What of a pod spec decides whether a flavor's nodes match it."""

    selector: tuple[tuple[str, str], ...]
    terms: tuple[tuple[Requirement, ...], ...]
    tolerations: tuple[TolerationView, ...]


def state_of(cluster: Cluster, strategies: tuple[str, ...] = ()) -> QueueState:
    """The queues and flavors of a cluster. `strategies` are those of fair sharing; empty: it is off."""
    found = _Pairs(cluster)
    nodes = found.cohorts()
    queues = [
        found.queue(entry.object.name, entry.fields, nodes) for entry in cluster.cluster_queues
    ]
    for root in {it.root() for it in (*nodes.values(), *(it.node for it in queues))}:
        settle(root)
    flavors = {entry.object.name: entry.fields for entry in cluster.flavors}
    local_queues = {
        f"{entry.object.namespace}/{entry.object.name}": entry.fields.cluster_queue
        for entry in cluster.local_queues
    }
    state = QueueState(
        found.pairs,
        queues,
        local_queues,
        lambda flavor, shape: _mismatch(flavors, flavor, shape),
        strategies,
    )
    state.stopped |= {
        f"{entry.object.namespace}/{entry.object.name}": entry.fields.stop_policy
        for entry in cluster.local_queues
        if entry.fields.stop_policy != NONE
    }
    return state


def pairs_of(cluster: Cluster) -> Mapping[tuple[str, str], int]:
    """The index of each pair of flavor and resource in the state of a cluster."""
    return {pair: i for i, pair in enumerate(_Pairs(cluster).pairs)}


def workload_of(
    name: str, uid: str, created: float, fields: WorkloadView, settings: Settings
) -> QueuedWorkload:
    """A workload from Kueue's object. `name` is the namespace and name of the object.

    Its requests are those that Kueue counts: with the defaults and overhead in the settings'
    cluster, and converted by the settings.
    """
    namespace = name.partition("/")[0]
    pods = [adjusted(settings.cluster, it.template.spec, namespace) for it in fields.pod_sets]
    return QueuedWorkload(
        name=name,
        uid=uid,
        queue=f"{namespace}/{fields.queue_name}",
        priority=fields.priority,
        created=created,
        pod_sets=tuple(map(_pod_set, fields.pod_sets, pods, repeat(settings))),
        refusal=refusal(settings.cluster, pods, namespace),
        active=fields.active,
        maximum_execution=fields.maximum_execution_time_seconds,
    )


def _pod_set(view: PodSetView, spec: PodSpec, settings: Settings) -> PodSet:
    requests = sorted(
        (
            (name, max(0, counted(name, amount)))
            for name, amount in settings.charged(spec.requests).items()
        ),
        key=lambda it: evaluation_order(it[0]),
    )
    fewest = view.min_count if settings.gate("PartialAdmission") else None
    per_pod = tuple((name, max(0, counted(name, it))) for name, it in spec.requests.items())
    return PodSet(
        view.name,
        view.count,
        tuple(requests),
        shape(spec),
        fewest,
        topology_request(view.topology_request),
        per_pod,
    )


def shape(spec: PodSpec) -> Shape:
    """What of a pod spec decides about flavors."""
    selector = tuple(sorted(spec.node_selector.items()))
    return Shape(selector, required_terms(spec), spec.tolerations)


def _mismatch(
    flavors: Mapping[str, ResourceFlavorView], flavor: str, pods: Any
) -> FlavorMismatch | None:
    """Why a flavor does not match the pods; None: it does."""
    fields = flavors.get(flavor)
    if fields is None:
        return FlavorMismatch(f"flavor {flavor} not found", missing=True)
    if pods is None:  # a Workload of a snapshot whose owner was not read
        return None
    taint = untolerated(fields, pods.tolerations)
    if taint is not None:
        written = f"{{{taint.key} {taint.value} {taint.effect} <nil>}}"
        return FlavorMismatch(f"untolerated taint {written} in flavor {flavor}", taint)
    if not selects_flavor(dict(pods.selector), pods.terms, fields.node_labels):
        return FlavorMismatch(f"flavor {flavor} doesn't match node affinity")
    return None


class _Pairs:
    """The nodes of the quota tree, with indexes of the pairs of flavor and resource."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        groups = (
            group
            for table in (cluster.cohorts, cluster.cluster_queues)
            for entry in table
            for group in entry.fields.resource_groups
        )
        found = {
            (flavor.name, quota.name): None
            for group in groups
            for flavor in group.flavors
            for quota in flavor.resources
        }
        self.pairs: Sequence[tuple[str, str]] = tuple(found)
        self._labels = {
            it.object.name: {**it.object.labels, NAMESPACE_NAME: it.object.name}
            for it in cluster.namespaces
        }
        """Of namespaces."""
        self._index = {pair: i for i, pair in enumerate(found)}

    def cohorts(self) -> dict[str, QuotaNode]:
        """All cohorts by name; one without an object has no quota of its own."""
        nodes: dict[str, QuotaNode] = {}
        parents: dict[str, str] = {}
        for entry in self._cluster.cohorts:
            nodes[entry.object.name] = self._node(
                entry.object.name, entry.fields.resource_groups, entry.fields.fair_sharing
            )
            parents[entry.object.name] = entry.fields.parent_name
        named = [*parents.values(), *(it.fields.cohort_name for it in self._cluster.cluster_queues)]
        for name in sorted({it for it in named if it} - set(nodes)):
            nodes[name] = self._node(name, (), None)
        for name in sorted(parents):
            if parents[name] and not _is_own_ancestor(name, parents):
                _attach(nodes[name], nodes[parents[name]])
        return nodes

    def queue(
        self, name: str, fields: ClusterQueueView, cohorts: Mapping[str, QuotaNode]
    ) -> SimulatedQueue:
        """One ClusterQueue, attached to its cohort."""
        node = self._node(name, fields.resource_groups, fields.fair_sharing, is_queue=True)
        if fields.cohort_name:
            _attach(node, cohorts[fields.cohort_name])
        preemption = fields.preemption or Preemption()
        borrow = preemption.borrow_within_cohort
        fungibility = fields.flavor_fungibility
        return SimulatedQueue(
            name=name,
            node=node,
            groups=tuple(self._group(it) for it in fields.resource_groups),
            strategy=fields.queueing_strategy,
            within_cluster_queue=preemption.within_cluster_queue,
            reclaim_within_cohort=preemption.reclaim_within_cohort,
            borrow_within_cohort=borrow.policy if borrow else "Never",
            priority_threshold=borrow.max_priority_threshold if borrow else None,
            try_next_after_borrow=fungibility.when_can_borrow == "TryNextFlavor",
            try_next_after_preempt=fungibility.when_can_preempt == "TryNextFlavor",
            preemption_over_borrowing=fungibility.preference == "PreemptionOverBorrowing",
            namespaces=self._namespaces(fields),
            stop_policy=fields.stop_policy,
            missing=", ".join(filter(None, (self._missing(fields), self._cycle(fields)))),
            checks=_checks(fields),
        )

    def _node(
        self,
        name: str,
        groups: Iterable[ResourceGroup],
        fair: FairSharing | None,
        *,
        is_queue: bool = False,
    ) -> QuotaNode:
        weight = float(fair.weight) if fair else 1.0
        node = QuotaNode(name, len(self.pairs), is_queue=is_queue, weight=weight)
        pairs = set()
        for group in groups:
            for flavor in group.flavors:
                for quota in flavor.resources:
                    pair = self._index[flavor.name, quota.name]
                    pairs.add(pair)
                    node.nominal[pair] = counted(quota.name, quota.nominal_quota)
                    node.borrowing_limit[pair] = _limit(quota.name, quota.borrowing_limit)
                    node.lending_limit[pair] = _limit(quota.name, quota.lending_limit)
        node.pairs = frozenset(pairs)
        return node

    def _group(self, group: ResourceGroup) -> Group:
        covered = frozenset(group.covered_resources)
        return Group(
            covered,
            tuple(
                FlavorChoice(it.name, {name: self._index[it.name, name] for name in covered})
                for it in group.flavors
            ),
        )

    def _namespaces(self, fields: ClusterQueueView) -> frozenset[str]:
        selector = fields.namespace_selector
        if selector is None:
            return frozenset()
        if selector.empty:
            return frozenset(self._labels)
        named = selector.match_labels.get(NAMESPACE_NAME)
        names = self._labels if named is None else self._labels.keys() & {named}
        return frozenset(it for it in names if selector.selects(self._labels[it]))

    def _cycle(self, fields: ClusterQueueView) -> str:
        """Why Kueue skips a queue whose cohorts end in a cycle; empty: they do not.

        Source: pkg/cache/scheduler/snapshot.go, Snapshot, and pkg/cache/hierarchy/cycle.go.
        """
        return "is in a cycle of cohorts" if cohort_cycle(self._cluster, fields.cohort_name) else ""

    def _missing(self, fields: ClusterQueueView) -> str:
        named = {it.name for group in fields.resource_groups for it in group.flavors}
        missing = sorted(it for it in named if self._cluster.flavors.get(it) is None)
        checks = sorted(
            it for it in _checks(fields) if self._cluster.admission_checks.get(it) is None
        )
        found = (
            f"references missing {kind}(s): {','.join(names)}"
            for kind, names in (("ResourceFlavor", missing), ("AdmissionCheck", checks))
            if names
        )
        topologies = (
            f'there is no Topology "{topology}" for TAS flavor "{flavor}"'
            for flavor, topology in missing_topologies(self._cluster, fields)
        )
        return ", ".join((*found, *topologies))


def cohort_cycle(cluster: Cluster, name: str) -> tuple[str, ...]:
    """The cohorts that are their own ancestors, from this one on; empty: there are none.

    Source: pkg/cache/hierarchy/cycle.go of Kueue 0.19.2.
    """
    path: list[str] = []
    while name and name not in path:
        path.append(name)
        entry = cluster.cohorts.get(name)
        name = entry.fields.parent_name if entry else ""
    return tuple(path[path.index(name) :]) if name else ()


def missing_topologies(cluster: Cluster, queue: ClusterQueueView) -> Iterator[tuple[str, str]]:
    """The flavors of a ClusterQueue whose Topology does not exist or has no levels, each with its Topology."""
    for name in dict.fromkeys(it.name for group in queue.resource_groups for it in group.flavors):
        flavor = cluster.flavors.get(name)
        topology = flavor.fields.topology_name if flavor is not None else ""
        entry = cluster.topologies.get(topology)
        exists = cluster.topologies.knows(topology)
        if topology and (not exists or (entry is not None and not entry.fields.levels)):
            yield name, topology


def _checks(fields: ClusterQueueView) -> dict[str, frozenset[str]]:
    strategy = fields.admission_checks_strategy
    return (
        {it.name: frozenset(it.on_flavors) for it in strategy.admission_checks} if strategy else {}
    )


def _limit(resource: str, amount: Any) -> int | None:
    return None if amount is None else min(counted(resource, amount), UNLIMITED)


def _is_own_ancestor(name: str, parents: Mapping[str, str]) -> bool:
    """Whether a cohort is its own ancestor. Kueue makes the ClusterQueues of such cohorts inactive."""
    seen: set[str] = set()
    above = parents[name]
    while above and above not in seen and above != name:
        seen.add(above)
        above = parents.get(above, "")
    return above == name


def _attach(node: QuotaNode, parent: QuotaNode) -> None:
    node.parent = parent
    parent.children.append(node)
