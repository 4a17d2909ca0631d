"""How many pods of a workload its queue can run at once, if it counts them one by one.

Source: pkg/controller/jobs/{deployment,leaderworkerset} and pkg/cache/scheduler/resource_node.go of
Kueue 0.19.2; for Volcano lint/volcano/capabilities.py.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.amounts import amount_of, readable, total
from policygen.core.finding import At
from policygen.core.names import LEADER_WORKER_SET
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.kueue import ResourceGroup
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.lint.kueue.cohorts import CohortNode, forest
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.coverage import PodRequest, requests_by_workload
from policygen.lint.kueue.flavor_fits import refusal
from policygen.lint.rule import Facts
from policygen.lint.volcano import queues
from policygen.lint.volcano.capabilities import pod_limit

_GROUPS = "LeaderWorkerSet"
"""A kind with a Workload for each group of pods."""
_BY_KUEUE = {"Deployment": "deployment", _GROUPS: LEADER_WORKER_SET}
"""The integrations of kinds that Kueue counts one by one, by kind."""
RESTARTED = (
    "Deployment",
    "ReplicaSet",
    "ReplicationController",
    "Rollout",
    "StatefulSet",
    _GROUPS,
)
"""Kinds whose pods do not end, so all of them must run at once."""
READS = (
    "LocalQueue",
    "ClusterQueue",
    "Cohort",
    "ResourceFlavor",
    "Configuration",
    "LimitRange",
    "RuntimeClass",
    "Queue",
    "PodGroup",
)
"""The kinds that `queue_rooms` reads, besides workloads."""


class QueueRoom(Struct, frozen=True, eq=False):
    """The room in the queue of a workload."""

    workload: Workload
    template: PodTemplate
    pods: int
    """The number of pods, or of groups of a LeaderWorkerSet."""
    resource: str
    """The resource that runs out first."""
    each: Fraction
    """The amount of it that one pod or group requests."""
    most: Fraction
    """The largest amount of it that the queue can have."""
    queue: str
    """The queue, as in messages."""
    at: At
    """The place of the limit."""
    limit: str
    """The fields that limit the queue."""

    @property
    def unit(self) -> str:
        """What the queue counts one by one."""
        return "group" if self.workload.kind == _GROUPS else "pod"

    @property
    def why(self) -> str:
        """The reason, for messages."""
        most = amount_of(self.resource, self.most, self.each)
        each = readable(self.resource, self.each, self.most)
        return f"{self.queue} can have at most {most}, and each {self.unit} requests {each}"


def queue_rooms(facts: Facts) -> tuple[QueueRoom, ...]:
    """The room for each workload that a known queue counts one by one; use it with `facts.derive`."""
    return (*_of_kueue(facts), *_of_volcano(facts))


def rooms_in_queues(facts: Facts, rule: str) -> Mapping[int, int]:
    """The number of pods by identity of the template; empty if a rule that reports it does not run."""
    if rule not in facts.run:
        return {}
    return {
        id(it): room.pods * _of_each(room.workload, it)
        for room in facts.derive(queue_rooms)
        for it in room.workload.templates
    }


def _of_each(workload: Workload, template: PodTemplate) -> int:
    """The number of pods of a template that the queue counts as one; 0 if it is unknown."""
    groups = workload.spec.get("replicas", 1)
    if workload.kind != _GROUPS:
        return 1
    return (template.replicas or 0) // groups if isinstance(groups, int) and groups > 0 else 0


def _of_kueue(facts: Facts) -> Iterator[QueueRoom]:
    trees, rules = facts.cluster.derive(forest), settings(facts)
    for requests in requests_by_workload(facts):
        first = requests[0]
        node = trees.queues[first.queue.name]
        if node.cyclic or first.workload.kind not in _BY_KUEUE:
            continue
        if rules.entry is not None and _BY_KUEUE[first.workload.kind] not in rules.frameworks:
            continue  # framework-not-enabled reports it
        amounts = _of_one(requests)
        found = [
            _in_group(facts, node, group, requests, amounts)
            for group in first.queue.fields.resource_groups
            if not amounts.keys().isdisjoint(group.covered_resources)
        ]
        if found:
            pods, name, most = min(found, key=lambda it: it[0])
            at = first.queue.at.to("spec", "resourceGroups")
            queue, fields = str(first.queue), "the quota or borrowingLimit"
            workload, template = first.workload, first.template
            yield QueueRoom(workload, template, pods, name, amounts[name], most, queue, at, fields)


def _of_one(requests: Sequence[PodRequest]) -> Mapping[str, Fraction]:
    """The requests of one pod, or of one group of a LeaderWorkerSet; empty if unknown."""
    workload = requests[0].workload
    if workload.kind != _GROUPS:
        return requests[0].counted
    return total(
        {name: amount * pods for name, amount in it.counted.items()}
        for it in requests
        if (pods := _of_each(workload, it.template)) > 0
    )


def _in_group(
    facts: Facts,
    node: CohortNode,
    group: ResourceGroup,
    requests: Sequence[PodRequest],
    amounts: Mapping[str, Fraction],
) -> tuple[int, str, Fraction]:
    """How many pods get quota of a resource group, the resource that runs out, and its amount."""
    names = [name for name in group.covered_resources if amounts.get(name)]
    usable = []
    for quotas in group.flavors:
        flavor = facts.cluster.flavors.get(quotas.name)
        if flavor is None or any(not refusal(flavor.fields, it.template.spec) for it in requests):
            usable.append({name: node.ceiling((quotas.name, name)) for name in names})
    most = {name: sum((it[name] for it in usable), Fraction(0)) for name in names}
    short = min(names, key=lambda name: (most[name] / amounts[name], "/" not in name))
    # Templates of one group may use different flavors, so only the sum of the flavors is certain.
    parts = usable if len(requests) == 1 else [most]
    pods = sum(min(int(it[name] // amounts[name]) for name in names) for it in parts)
    return pods, short, most[short]


def _of_volcano(facts: Facts) -> Iterator[QueueRoom]:
    cluster = facts.cluster
    for workload in cluster.workloads:
        if workload.kind not in RESTARTED or workload.object.group == VOLCANO_BATCH:
            continue
        if len(workload.templates) != 1:
            continue
        [template] = workload.templates
        it = pod_limit(cluster, queues.queue_of_pods(cluster, workload, template), template)
        if it is not None:
            at, queue, field = (
                it.queue.at.to("spec", "capability", it.resource),
                str(it.queue),
                "the capability",
            )
            yield QueueRoom(
                workload, template, it.pods, it.resource, it.amount, it.limit, queue, at, field
            )
