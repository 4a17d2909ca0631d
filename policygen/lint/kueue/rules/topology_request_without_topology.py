"""A workload asks for a topology, and its queue has no topology-aware flavor for it."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.coverage import asked
from policygen.lint.kueue.topologies import asks
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Every flavor is skipped: it does not support TopologyAwareScheduling.

    Source: pkg/scheduler/flavorassigner/tas_flavorassigner.go, checkPodSetAndFlavorMatchForTAS.
    """
    known = facts.cluster.flavors
    for each in asked(facts):
        if not asks(each.template):
            continue
        flavors = [
            known.get(flavor.name)
            for group in each.queue.it.resource_groups
            if set(group.covered_resources) & each.counted.keys()
            for flavor in group.flavors
        ]
        if flavors and all(flavor and not flavor.it.topology_name for flavor in flavors):
            yield Hit(
                RULE,
                f"{each.by.workload} asks for a topology, and no flavor of {each.queue} has "
                "topologyName; write it in the flavor, or take the annotation out",
                each.template.at.to("metadata", "annotations"),
                related=tuple(flavor.at for flavor in flavors if flavor),
            )


RULE = ObjectRule(
    "topology-request-without-topology",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=KINDS,
    check=check,
    reads=("LocalQueue", "ClusterQueue", "ResourceFlavor", "Configuration", "LimitRange"),
)
