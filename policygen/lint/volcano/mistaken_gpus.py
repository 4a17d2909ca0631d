"""Queues that name a GPU resource where they probably mean another one, such as a MIG resource."""

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from msgspec import Struct

from policygen.core.finding import At
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import Amounts, QueueView
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.resource_names import provided
from policygen.lint.rule import Edit, Verb
from policygen.lint.volcano import queues
from policygen.lint.volcano.misnamed_resources import misnamed_resources

READS = ("PodGroup", "Node", *KINDS)
"""The kinds that `mistaken_gpus` reads, besides Queue."""


class MistakenGpu(Struct, frozen=True, eq=False):
    """A GPU resource that a queue names, and the one that it probably means."""

    name: str
    meant: str
    places: tuple[At, ...]

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits that write the resource that is meant."""
        return tuple(Edit(Verb.RENAME, at, self.meant) for at in self.places)


def mistaken_gpus(cluster: Cluster) -> Mapping[str, MistakenGpu]:
    """By the name of the queue; use it with `cluster.derive`.

    Without queues whose resource queue-resource-not-counted reports.
    """
    skipped = {id(it.owner) for it in cluster.derive(misnamed_resources)}
    used, there = cluster.derive(queues.accelerators_used), cluster.derive(provided)
    found = {}
    for queue in cluster.queues:
        if queue.fields.capability and id(queue) not in skipped:
            pair = _pair(queue.fields, used.get(queue.name, {}).keys(), there)
            if pair:
                found[queue.name] = MistakenGpu(*pair, tuple(_places(queue, *pair)))
    return found


def _pair(
    queue: QueueView, used: AbstractSet[str], there: AbstractSet[str]
) -> tuple[str, str] | None:
    """The wrong name and the right one, if the jobs of the queue or the nodes decide.

    Either the capability names one resource and `deserved` another one, or both name one that no node has.
    """
    limits, shares = _gpus(queue.capability), _gpus(queue.deserved | queue.guarantee.resource)
    other, lacking = limits - shares, shares - queue.capability.keys()
    if len(other) == len(lacking) == 1:
        (one,), (another,) = other, lacking
        for known in (used, there):
            if (one in known) != (another in known):
                return (another, one) if one in known else (one, another)
    named = limits | shares
    match [*named], [*(used & there)]:
        case [name], [right] if name not in there:
            return name, right
    return None


def _gpus(amounts: Amounts) -> set[str]:
    """The accelerators with an amount above 0; an amount of 0 forbids an accelerator."""
    return {name for name, amount in amounts.items() if amount > 0 and accelerators.is_one(name)}


def _places(queue: Entry[QueueView], name: str, meant: str) -> Iterator[At]:
    """Where a queue names a resource instead of another one."""
    for path, amounts in queues.amounts(queue.fields).items():
        if name in amounts and meant not in amounts:
            yield queue.at.to("spec", *path, name).on_key()
