"""A resource group has flavors with and without a topology, so no job can use all of them."""

from collections.abc import Sequence

from policygen.core.finding import At
from policygen.core.quoting import some
from policygen.kubernetes.kueue import ClusterQueueView, ResourceFlavorView
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.quotas import groups_at
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Severity, Verb

_Flavor = Entry[ResourceFlavorView]
_Queue = Entry[ClusterQueueView]


def check(facts: Facts) -> Hits:
    """Jobs that request a topology skip the plain flavors, and all other jobs skip the rest.

    Queues with the same flavors are reported together. In a queue that has only flavors with a topology, every job can use them.
    Source: pkg/scheduler/flavorassigner/tas_flavorassigner.go, checkPodSetAndFlavorMatchForTAS.
    """
    known = facts.cluster.flavors
    mixed: dict[tuple[At, At], tuple[_Flavor, _Flavor, list[tuple[_Queue, At]]]] = {}
    for queue in facts.cluster.cluster_queues:
        for i, group in enumerate(queue.fields.resource_groups):
            found = [known.get(flavor.name) for flavor in group.flavors]
            aware = [flavor for flavor in found if flavor and flavor.fields.topology_name]
            plain = [flavor for flavor in found if flavor and not flavor.fields.topology_name]
            if aware and plain:
                key = aware[0].at, plain[0].at
                *_, queues = mixed.setdefault(key, (aware[0], plain[0], []))
                queues.append((queue, groups_at(queue, i, "flavors")))
    for with_topology, without, queues in mixed.values():
        yield _hit(with_topology, without, queues)


def _hit(aware: _Flavor, plain: _Flavor, found: Sequence[tuple[_Queue, At]]) -> Hit:
    (_, at), *others = found
    has, queues = ("have", "queues") if others else ("has", "queue")
    name = aware.fields.topology_name
    return Hit(
        RULE,
        f"{some([str(it) for it, _ in found], 'other queue')} {has} flavor {aware.name} with a topology and "
        f"flavor {plain.name} without a topology, so each job can use only one of these flavors; write "
        f"topologyName in both, or split the {queues}",
        at,
        related=(aware.at, plain.at, *(it for _, it in others)),
        meant=(Edit(Verb.ADD, plain.at.to("spec", "topologyName"), name),),
    )


RULE = ObjectRule(
    "topology-and-plain-flavors-mixed",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Set topologyName in all flavors of the queue, or split the queue.",
    judges=("ClusterQueue",),
    check=check,
    reads=("ResourceFlavor",),
)
