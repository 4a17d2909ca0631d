"""Volcano's queues as a tree, and the objects that use them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any

from msgspec import Struct

from policygen.core.amounts import HUGE_PAGES, total
from policygen.core.finding import At, Path
from policygen.core.go_values import integer
from policygen.core.label_grammar import key_fault
from policygen.core.names import POD_GROUP, VOLCANO_JOB_QUEUE, VOLCANO_QUEUE
from policygen.core.quantity import MAX_INT64
from policygen.core.standard_resources import native
from policygen.core.versions import Version
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.pod_terms import PREFERRED
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping, text, texts
from policygen.kubernetes.volcano import Amounts, PodGroupView, QueueView, VolcanoJobView
from policygen.kubernetes.workloads import KINDS, PodTemplate, Workload, is_checked
from policygen.lint.core.scheduling_policies import scheduling_policies

ROOT = "root"
DEFAULT = "default"
MADE = (ROOT, DEFAULT)
"""Queues that the scheduler creates at its start."""

SCHEDULER = "volcano"
MIN_MEMBER = "scheduling.volcano.sh/group-min-member"
TASK_SPEC = "volcano.sh/task-spec"

SENDERS = ("PodGroup", *KINDS)
"""Kinds that can name a queue."""


class QueueTree(Struct, frozen=True, eq=False):
    """The children of each queue."""

    children: Mapping[str, tuple[Entry[QueueView], ...]]
    """By the name of the parent; queues without a parent are below `root`."""
    lost: Mapping[str, str]
    """Queues that are not below `root`, with the ancestor that is missing or repeats."""

    def inner(self, name: str) -> bool:
        """Whether a queue has queues below it."""
        return name == ROOT or bool(self.children.get(name))

    def leaf(self, name: str) -> str:
        """Advice to name a leaf instead of a queue with children. A leaf may be another team's."""
        return f"use a queue below {name}" if self.children.get(name) else "use another queue"


def tree(cluster: Cluster) -> QueueTree:
    """The tree of the input; for `cluster.derive`."""
    lost: dict[str, str] = {}
    good = set(MADE)
    for queue in cluster.queues:
        trail: dict[str, None] = {}
        name = queue.name
        while name not in good and name not in lost and name not in trail:
            trail[name] = None
            found = cluster.queues.get(name)
            if found is None:
                break
            name = found.fields.parent or ROOT
        unread = cluster.queues.get(name) is None and cluster.queues.knows(name)
        if name in good or unread:
            good.update(trail)
        else:
            lost.update(dict.fromkeys(trail, lost.get(name, name)))
    children = {
        # Of two objects with one name, the last one counts, as on a server.
        parent: tuple({it.name: it for it in found}.values())
        for parent, found in cluster.queues.by(parent_of).items()
    }
    return QueueTree(children, lost)


def parent_of(queue: Entry[QueueView]) -> str:
    """The name of the queue above; empty for `root`."""
    return "" if queue.name == ROOT else queue.fields.parent or ROOT


def ancestors(cluster: Cluster, queue: Entry[QueueView]) -> Iterator[Entry[QueueView]]:
    """The known queues above a queue, from its parent up."""
    seen = {queue.name}
    above = cluster.queues.get(queue.fields.parent or ROOT)
    while above is not None and above.name not in seen:
        yield above
        seen.add(above.name)
        above = cluster.queues.get(above.fields.parent or ROOT)


def affinity_owner(
    cluster: Cluster, queue: Entry[QueueView], *, inherits: bool
) -> Entry[QueueView]:
    """The queue whose affinity the plugin nodegroup uses; with enableHierarchy, a queue inherits one.

    Source: pkg/scheduler/plugins/nodegroup/nodegroup.go, updateAffinityFromAncestor.
    """
    above = ancestors(cluster, queue) if inherits else ()
    return next((it for it in (queue, *above) if it.fields.affinity is not None), queue)


def node_groups(affinity: Mapping[str, Any] | None) -> frozenset[str] | None:
    """The groups of nodes that take the jobs of a queue with this affinity; None: it names no group.

    A group that only a required anti-affinity does not name is not taken either.
    Source: pkg/scheduler/plugins/nodegroup/nodegroup.go, predicate.
    """
    named = [
        frozenset(texts(mapping(affinity, part), when))
        for part in ("nodeGroupAffinity", "nodeGroupAntiAffinity")
        for when in (REQUIRED, PREFERRED)
    ]
    if not any(named):
        return None
    required, preferred, refused, avoided = named
    return (required | preferred) - refused | avoided


CAPABILITY: Path = ("capability",)
DESERVED: Path = ("deserved",)
GUARANTEE: Path = ("guarantee", "resource")
"""The paths of amounts in `spec` of a Queue."""


def amounts(queue: QueueView) -> dict[Path, Amounts]:
    """All amounts of a queue, by their path in `spec`."""
    return {
        CAPABILITY: queue.capability,
        DESERVED: queue.deserved,
        GUARANTEE: queue.guarantee.resource,
    }


class Webhook(Enum):
    """The two ways in which Volcano's webhook compares amounts of queues.

    Source: pkg/webhooks/admission/queues/validate/validate_queue.go.
    """

    COMPLETE = "1.14.0 and 1.14.1"
    """Compares what the scheduler counts; what an amount does not list is 0. Since 1.13."""
    LISTED = "1.14.2 and later"
    """A capability limits only what it lists."""


_LISTED_SINCE = 2
"""The first patch of 1.14 with `Webhook.LISTED`."""


def webhooks(target: Version) -> frozenset[Webhook]:
    """How the webhook of a target compares; both if the target is every patch of 1.14."""
    if target.release != (1, 14):
        return frozenset({Webhook.COMPLETE if target.release < (1, 14) else Webhook.LISTED})
    if target.patch is None:
        return frozenset(Webhook)
    return frozenset({Webhook.LISTED if target.patch >= _LISTED_SINCE else Webhook.COMPLETE})


def refusing(by: Iterable[Webhook], target: Version) -> str:
    """The end of a fault that only some patches of the target refuse; else an empty text."""
    found = frozenset(by)
    if found == webhooks(target):
        return ""
    return f", which Volcano {' and '.join(sorted(it.value for it in found))} refuse"


def overflows(name: str, amount: Fraction) -> bool:
    """Whether Volcano reads an amount as 0 or less, because its number has more than 64 bits.

    It counts thousandths, except of memory and pods. Source: as `counted`; Quantity of k8s.io/apimachinery.
    """
    return amount * (1 if name in ("memory", "pods") else 1000) > MAX_INT64


def counted(amounts: Amounts) -> Amounts:
    """The amounts that Volcano's scheduler counts.

    Source: pkg/scheduler/api/resource_info.go, NewResource.
    """
    return {name: amount for name, amount in amounts.items() if _is_counted(name)}


def _is_counted(name: str) -> bool:
    if "/" in name:
        extended = not name.startswith("requests.") and not key_fault(f"requests.{name}")
        return not name.startswith("count/") and (native(name) or extended)
    return name in _COUNTED or name.startswith((HUGE_PAGES, "attachable-volumes-"))


def refuses_unlisted(volcano: Version) -> bool:
    """Whether this release refuses a queue with resources that its capability does not list."""
    return volcano.release >= (1, 13) and Webhook.COMPLETE in webhooks(volcano)


def unlisted(queue: QueueView) -> dict[str, Path]:
    """The resources that a queue deserves or is guaranteed but its capability does not list."""
    found: dict[str, Path] = {}
    for path in (DESERVED, GUARANTEE):
        for name in above(counted(amounts(queue)[path]), {}):
            if queue.capability and name not in queue.capability:
                found.setdefault(name, path)
    return found


_COUNTED = ("cpu", "memory", "pods", "ephemeral-storage")
_ZERO = ("cpu", "memory")
"""Resources that every amount has; of others, even 0 is more than nothing."""


def above(amounts: Amounts, limit: Amounts) -> list[str]:
    """The resources of `amounts` that are above a limit, as `Webhook.COMPLETE` compares them.

    Source: pkg/scheduler/api/resource_info.go, LessPartly with the default Zero.
    """
    return [
        name
        for name, amount in sorted(amounts.items())
        if amount > limit.get(name, Fraction(0 if name in _ZERO else -1))
    ]


class QueueUse(Struct, frozen=True, eq=False):
    """An object that names a queue."""

    owner: str
    namespace: str
    queue: str
    at: At
    of_pods: bool = False
    """Whether only its pods name the queue, so that no server refuses the object."""


def queue_uses(cluster: Cluster) -> tuple[QueueUse, ...]:
    """PodGroups, Volcano Jobs, and pods that name a queue; for `cluster.derive`."""
    return tuple(_queue_uses(cluster))


def users(cluster: Cluster) -> Mapping[str, set[str]]:
    """The namespaces whose objects name each queue; for `cluster.derive`."""
    found: dict[str, set[str]] = {}
    for use in cluster.derive(queue_uses):
        found.setdefault(use.queue, set()).add(use.namespace)
    return found


def accelerators_used(cluster: Cluster) -> Mapping[str, Mapping[str, At]]:
    """The accelerators that pods of each queue request, with the place of one; for `derive`."""
    found: dict[str, dict[str, At]] = {}
    for workload, template, requested in accelerators.users(cluster):
        if queue := queue_of_pods(cluster, workload, template):
            for name in requested:
                found.setdefault(queue, {}).setdefault(name, template.at / "spec")
    return found


def queue_of_pods(cluster: Cluster, workload: Workload, template: PodTemplate) -> str:
    """The queue of the pods of a template; empty if Volcano does not schedule them."""
    if workload.scheduler_name(template) != SCHEDULER:
        return ""
    if workload.object.group == VOLCANO_BATCH:
        return text(workload.spec, "queue") or DEFAULT
    if of_operator := _queue_of_operator(workload):
        return of_operator
    group = cluster.pod_groups.get(template.annotations.get(POD_GROUP, ""), workload.namespace)
    named = group.fields.queue if group else template.annotations.get(VOLCANO_QUEUE)
    return named or DEFAULT


def _queue_of_operator(workload: Workload) -> str:
    """The queue that a workload of KubeRay or Kubeflow names; its operator writes it into the PodGroup."""
    if workload.object.group == "ray.io":
        return workload.labels.get(VOLCANO_JOB_QUEUE, "")
    return text(workload.spec, "runPolicy", "schedulingPolicy", "queue")


def gang_objects(cluster: Cluster) -> Iterator[Entry[PodGroupView] | Entry[VolcanoJobView]]:
    """All PodGroups and Volcano Jobs."""
    yield from cluster.pod_groups
    yield from cluster.volcano_jobs


def queue_of(cluster: Cluster, group: Entry[PodGroupView]) -> Entry[QueueView] | None:
    """The queue of a PodGroup, if it is known."""
    return cluster.queues.get(group.fields.queue or DEFAULT)


def to_volcano(template: PodTemplate) -> bool:
    """Whether Volcano's scheduler schedules the pods."""
    return template.spec.scheduler_name == SCHEDULER


def gang_size(workload: Workload) -> int:
    """The size of a gang from the annotation of its workload; 0 if it is missing or invalid."""
    return max(0, integer(workload.annotations.get(MIN_MEMBER, "")) or 0)


def groups(cluster: Cluster) -> Mapping[tuple[str, str], tuple[tuple[Workload, PodTemplate], ...]]:
    """Pod templates by namespace and name of the PodGroup that they name; for `derive`."""
    found: dict[tuple[str, str], list[tuple[Workload, PodTemplate]]] = {}
    for workload in cluster.workloads:
        for template in workload.templates:
            name = template.annotations.get(POD_GROUP)
            if name:
                key = (workload.namespace, name)
                found.setdefault(key, []).append((workload, template))
    return {key: tuple(members) for key, members in found.items()}


def inventory(cluster: Cluster) -> Mapping[str, Fraction]:
    """What all nodes have together, also those that take no pods; for `cluster.derive`."""
    statuses = (node.fields.status for node in cluster.nodes)
    return total(it.allocatable or it.capacity for it in statuses)


class SharedExcess(Struct, frozen=True, eq=False):
    """A resource whose amounts in several queues add up to more than the nodes have."""

    resource: str
    total: Fraction
    have: Fraction
    """What the nodes have, also those that take no pods."""
    queues: Sequence[Entry[QueueView]]


def excesses(cluster: Cluster, path: Path) -> list[SharedExcess]:
    """Amounts at a path in `spec` of the queues below `root` that together exceed the nodes, GPUs first."""
    if not cluster.nodes.any:
        return []  # lower amounts would not help
    have = cluster.derive(inventory)
    top = [
        (queue, counted(amounts(queue.fields)[path]))
        for queue in cluster.derive(tree).children.get(ROOT, ())
    ]
    return [
        SharedExcess(name, amount, has, [queue for queue, own in top if name in own])
        for name, amount in sorted(
            total(own for _, own in top).items(),
            key=lambda it: (not accelerators.is_one(it[0]), it[0]),
        )
        if amount > (has := have.get(name, Fraction(0)))
    ]


class ShareRoom(Struct, frozen=True, eq=False):
    """What a queue can have of an amount beside its siblings."""

    of: str
    """Whose amount it is, with its verb: `Queue all has`, `the nodes have`."""
    have: Fraction
    others: Fraction
    """What its siblings have of it."""

    @property
    def free(self) -> Fraction:
        """What they leave."""
        return self.have - self.others


def of_siblings(cluster: Cluster, queue: Entry[QueueView], path: Path, name: str) -> Fraction:
    """The sum of an amount at a path in `spec` of the other queues below the parent of a queue."""
    siblings = cluster.derive(tree).children.get(queue.fields.parent or ROOT, ())
    others = (amounts(it.fields)[path].get(name) for it in siblings if it.at != queue.at)
    return sum((it for it in others if it), Fraction(0))


def room(cluster: Cluster, queue: Entry[QueueView], path: Path, name: str) -> ShareRoom | None:
    """What the parent of a queue, or else the nodes, have of an amount at a path in `spec`; None if it is unknown."""
    above, others = queue.fields.parent or ROOT, of_siblings(cluster, queue, path, name)
    if above == ROOT:
        return (
            ShareRoom("the nodes have", cluster.derive(inventory).get(name, Fraction(0)), others)
            if cluster.nodes.any
            else None
        )
    owner = cluster.queues.get(above)
    have = (amounts(owner.fields)[path] or owner.fields.capability).get(name) if owner else None
    return None if have is None else ShareRoom(f"{owner} has", have, others)


def without_share(cluster: Cluster) -> Iterator[Entry[QueueView]]:
    """Leaf queues with a capability but without deserved, guarantee or weight, if reclaimable."""
    inner = cluster.derive(tree).inner
    for queue in cluster.queues:
        spec = queue.fields
        has_share = spec.deserved or spec.guarantee.resource or spec.weight > 1
        if spec.capability and spec.reclaimable and not has_share and not inner(queue.name):
            yield queue


def _queue_uses(cluster: Cluster) -> Iterator[QueueUse]:
    seen = cluster.seen is not None
    for gang in gang_objects(cluster):
        if seen and not is_checked(gang.object):
            continue  # its owner is reported, or it has finished
        queue = gang.fields.queue or DEFAULT
        yield QueueUse(str(gang), gang.namespace, queue, gang.at.to("spec", "queue"))
    for workload in cluster.workloads:
        if workload.object.group == VOLCANO_BATCH:
            continue
        for template in workload.templates:
            name = template.annotations.get(VOLCANO_QUEUE)
            if name and to_volcano(template):
                at = template.at.to("metadata", "annotations", VOLCANO_QUEUE)
                owner = str(workload) if workload.kind == "Pod" else f"Each pod of {workload}"
                yield QueueUse(owner, workload.namespace, name, at, of_pods=True)
    yield from _uses_of_operators(cluster)


def _uses_of_operators(cluster: Cluster) -> Iterator[QueueUse]:
    """The queues that KubeRay and Kubeflow write into PodGroups."""
    for workload in cluster.workloads_of("ray.io"):
        name = workload.labels.get(VOLCANO_JOB_QUEUE)
        if name and any(map(to_volcano, workload.templates)):
            at = workload.at.to("metadata", "labels", VOLCANO_JOB_QUEUE)
            owner = f"The PodGroup of {workload}"
            yield QueueUse(owner, workload.namespace, name, at, of_pods=True)
    for policy in scheduling_policies(cluster):
        job, name = policy.workload, text(policy.data, "queue")
        if name and (cluster.queues.any or any(map(to_volcano, job.templates))):
            group = f"The PodGroup of {job}"
            yield QueueUse(group, job.namespace, name, policy.at("queue"), of_pods=True)
