"""Gangs that never start, because the amounts that they need are guaranteed to other queues.

Source: pkg/scheduler/plugins/capacity/capacity.go of Volcano 1.14.1, realCapability.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import QueueView
from policygen.lint.volcano import queues
from policygen.lint.volcano.gangs import GangNeeds, gangs

Queue = Entry[QueueView]


class ReservedAmount(Struct, frozen=True, eq=False):
    """An amount that a gang needs, but that is guaranteed to other queues."""

    gang: GangNeeds
    resource: str
    queue: Queue
    """The queue of the gang, or one above it."""
    most: Fraction
    """What the guarantees of its siblings leave to the queue."""
    siblings: Sequence[Queue]
    """Those with a guarantee."""


def reserved(cluster: Cluster) -> tuple[ReservedAmount, ...]:
    """At most one for each gang; use it with `cluster.derive`.

    Without gangs that exceed a capability or the nodes, and without queues whose guarantees do.
    """
    found = (_of_gang(cluster, gang) for gang in cluster.derive(gangs))
    return tuple(it for it in found if it is not None)


def _of_gang(cluster: Cluster, gang: GangNeeds) -> ReservedAmount | None:
    inventory = cluster.derive(queues.inventory)
    own = cluster.queues.get(gang.queue)
    path = [own, *queues.ancestors(cluster, own)] if own else []
    for name, amount in sorted(gang.amounts.items()):
        limits = [it.fields.capability[name] for it in path if name in it.fields.capability]
        limits += [inventory[name]] if name in inventory else []
        if not limits or amount > min(limits):
            continue
        for queue, most in _rooms(cluster, path, name, inventory.get(name)):
            if most < amount:
                if most < 0:
                    break  # guarantees-exceed-cluster reports it
                siblings = [it for it in _siblings(cluster, queue) if _guarantee(it, name)]
                return ReservedAmount(gang, name, queue, most, siblings)
    return None


def _rooms(
    cluster: Cluster, path: Sequence[Queue], resource: str, have: Fraction | None
) -> Iterator[tuple[Queue, Fraction]]:
    """What the guarantees of siblings leave to each queue of a path, from the top, where it is known."""
    sums = cluster.derive(_guarantees)
    for queue in reversed(path):
        if have is not None and queue.name != queues.ROOT:
            together = sums.get((queues.parent_of(queue), resource), Fraction(0))
            have -= together - _guarantee(queue, resource)
            yield queue, have
        limit = queue.fields.capability.get(resource)
        have = limit if have is None or (limit is not None and limit < have) else have


def _guarantees(cluster: Cluster) -> Mapping[tuple[str, str], Fraction]:
    """What the children of each queue are guaranteed together, by queue and resource."""
    sums: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for parent, children in cluster.derive(queues.tree).children.items():
        for child in children:
            for name in child.fields.guarantee.resource:
                sums[parent, name] += _guarantee(child, name)
    return sums


def _guarantee(queue: Queue, resource: str) -> Fraction:
    return max(queue.fields.guarantee.resource.get(resource, Fraction(0)), Fraction(0))


def _siblings(cluster: Cluster, queue: Queue) -> list[Queue]:
    children = cluster.derive(queues.tree).children.get(queues.parent_of(queue), ())
    return [it for it in children if it.name != queue.name]
