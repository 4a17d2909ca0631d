"""Volcano's queues as a tree, and what is sent to them."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from msgspec import Struct

from policygen.core.finding import At, Path
from policygen.core.names import POD_GROUP, VOLCANO_QUEUE
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import Amounts, PodGroup, Queue
from policygen.kubernetes.workloads import KINDS, Template, Workload, stands_alone

ROOT = "root"
DEFAULT = "default"
MADE = (ROOT, DEFAULT)
"""Queues that the scheduler makes at its start."""

SCHEDULER = "volcano"
MIN_MEMBER = "scheduling.volcano.sh/group-min-member"
TASK_SPEC = "volcano.sh/task-spec"

SENDERS = ("PodGroup", *KINDS)
"""Kinds that can name a queue."""


class Tree(Struct, frozen=True, eq=False):
    """Who is below whom."""

    children: Mapping[str, tuple[Entry[Queue], ...]]
    """By the name of the parent; those without one are below `root`."""
    lost: Mapping[str, str]
    """Queues from which no way leads to `root`, and why: the parent that is missing or repeats."""

    def inner(self, name: str) -> bool:
        """Whether a queue has queues below it."""
        return name == ROOT or bool(self.children.get(name))

    def leaf(self, name: str) -> tuple[str, tuple[At, ...]]:
        """What to name in the place of an inner queue, and where that stands."""
        for queue in self.children.get(name, ()):
            return f"name a queue below it, such as {queue.name}", (queue.at,)
        return "name another queue", ()


def tree(cluster: Cluster) -> Tree:
    """The tree of the input; use it with `cluster.derive`."""
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
            name = found.it.parent or ROOT
        if name in good or (name not in trail and cluster.queues.knows(name)):
            good.update(trail)
        else:
            lost.update(dict.fromkeys(trail, name))
    return Tree(cluster.queues.by(_parent), lost)


def ancestors(cluster: Cluster, queue: Entry[Queue]) -> Iterator[Entry[Queue]]:
    """The queues above one, from its parent on, as far as they are known."""
    seen = {queue.name}
    above = cluster.queues.get(queue.it.parent or ROOT)
    while above is not None and above.name not in seen:
        yield above
        seen.add(above.name)
        above = cluster.queues.get(above.it.parent or ROOT)


CAPABILITY: Path = ("capability",)
DESERVED: Path = ("deserved",)
GUARANTEE: Path = ("guarantee", "resource")
"""Where in `spec` of a Queue amounts stand."""


def amounts(queue: Queue) -> dict[Path, Amounts]:
    """All amounts of a queue, by their place in `spec`."""
    return {
        CAPABILITY: queue.capability,
        DESERVED: queue.deserved,
        GUARANTEE: queue.guarantee.resource,
    }


class Sent(Struct, frozen=True, eq=False):
    """Something that names a queue."""

    what: str
    queue: str
    at: At


def sent(cluster: Cluster) -> tuple[Sent, ...]:
    """Pod groups, Volcano's jobs, and pods that name a queue; use it with `cluster.derive`."""
    return tuple(_sent(cluster))


def queue_of(cluster: Cluster, group: Entry[PodGroup]) -> Entry[Queue] | None:
    """The queue that a pod group is sent to."""
    return cluster.queues.get(group.it.queue or DEFAULT)


def to_volcano(template: Template) -> bool:
    """Whether Volcano's scheduler places the pods."""
    return template.spec.scheduler_name == SCHEDULER


def gang_size(workload: Workload) -> int:
    """The size that a workload's own annotation gives its gang; 0 without one."""
    text = workload.annotations.get(MIN_MEMBER, "")
    return int(text) if text.isascii() and text.isdecimal() else 0


def groups(cluster: Cluster) -> Mapping[tuple[str, str], tuple[tuple[Workload, Template], ...]]:
    """Pod templates by namespace and name of the pod group that they name; for `derive`."""
    found: dict[tuple[str, str], list[tuple[Workload, Template]]] = {}
    for workload in cluster.workloads:
        for template in workload.templates:
            name = template.annotations.get(POD_GROUP)
            if name:
                key = (workload.namespace, name)
                found.setdefault(key, []).append((workload, template))
    return {key: tuple(each) for key, each in found.items()}


def inventory(cluster: Cluster) -> Mapping[str, Fraction]:
    """What the nodes have together, those that take no pods included; for `derive`."""
    total: dict[str, Fraction] = {}
    for node in cluster.nodes:
        for name, amount in (node.it.status.allocatable or node.it.status.capacity).items():
            total[name] = total.get(name, Fraction(0)) + amount
    return total


def _sent(cluster: Cluster) -> Iterator[Sent]:
    seen = cluster.seen is not None
    for group in cluster.pod_groups:
        if seen and not stands_alone(group.object):
            continue  # what made it tells, or it has ended
        yield Sent(str(group), group.it.queue or DEFAULT, group.at.to("spec", "queue"))
    for job in cluster.volcano_jobs:
        if seen and not stands_alone(job.object):
            continue
        yield Sent(str(job), job.it.queue or DEFAULT, job.at.to("spec", "queue"))
    for workload in cluster.workloads:
        if workload.object.group == VOLCANO_BATCH:
            continue
        for template in workload.templates:
            name = template.annotations.get(VOLCANO_QUEUE)
            if name and to_volcano(template):
                at = template.at.to("metadata", "annotations", VOLCANO_QUEUE)
                who = str(workload) if workload.kind == "Pod" else f"Each pod of {workload}"
                yield Sent(who, name, at)


def _parent(queue: Entry[Queue]) -> str:
    return "" if queue.name == ROOT else queue.it.parent or ROOT
