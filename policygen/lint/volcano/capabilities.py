"""How many pods the capability of a queue and of the queues above it allows at once.

Source: pkg/scheduler/plugins/capacity/capacity.go of Volcano 1.14.1, allocatable.
"""

from fractions import Fraction

from msgspec import Struct

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import QueueView
from policygen.kubernetes.workloads import PodTemplate
from policygen.lint.volcano import queues


class PodLimit(Struct, frozen=True, eq=False):
    """How many pods of a template fit a capability."""

    pods: int
    resource: str
    amount: Fraction
    """The request of one pod."""
    limit: Fraction
    queue: Entry[QueueView]


def pod_limit(cluster: Cluster, name: str, template: PodTemplate) -> PodLimit | None:
    """The lowest limit of pods in the queue of this name; None if there is none.

    Of equal limits, that of an extended resource.
    """
    own = cluster.queues.get(name)
    found = [
        PodLimit(int(limit // amount), resource, amount, limit, queue)
        for queue in ((own, *queues.ancestors(cluster, own)) if own else ())
        for resource, amount in template.spec.requests.items()
        if amount > 0 and (limit := queue.fields.capability.get(resource)) is not None
        if limit > 0 or resource not in ("cpu", "memory")  # 0 of these is no limit
    ]
    return min(found, key=lambda it: (it.pods, "/" not in it.resource), default=None)
