"""A resource group has flavors with a topology beside flavors without."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.kueue.quotas import queues_alike
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Jobs that ask for a topology skip the plain flavors, all others skip the rest.

    In a queue of topology-aware flavors only, every job is placed by them.
    Source: pkg/scheduler/flavorassigner/tas_flavorassigner.go, checkPodSetAndFlavorMatchForTAS.
    """
    known = facts.cluster.flavors
    for alike in facts.cluster.derive(queues_alike):
        for i, group in enumerate(alike.groups):
            found = [known.get(flavor.name) for flavor in group.flavors]
            aware = [flavor for flavor in found if flavor and flavor.it.topology_name]
            plain = [flavor for flavor in found if flavor and not flavor.it.topology_name]
            for queue, at in alike.at(i, "flavors") if aware and plain else ():
                yield Hit(
                    RULE,
                    f"{queue} has flavor {aware[0].name} with a topology beside {plain[0].name} "
                    "without one, so every job can use only one of them; give both a topologyName, "
                    "or split the queue",
                    at,
                    related=(aware[0].at, plain[0].at),
                )


RULE = ObjectRule(
    "topology-and-plain-flavors-mixed",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    reads=("ResourceFlavor",),
)
