"""A workload requests a topology, but no flavor of its queue has topologyName."""

from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.coverage import READS, pod_requests
from policygen.lint.kueue.topologies import requests_topology
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue skips every flavor, because it does not support TopologyAwareScheduling.

    Source: pkg/scheduler/flavorassigner/tas_flavorassigner.go, checkPodSetAndFlavorMatchForTAS.
    """
    known = facts.cluster.flavors
    for request in pod_requests(facts):
        if not requests_topology(request.template):
            continue
        flavors = [known.get(flavor.name) for group in request.groups for flavor in group.flavors]
        if flavors and all(flavor and not flavor.fields.topology_name for flavor in flavors):
            yield Hit(
                RULE,
                f"{request.workload} requests a topology, but no flavor of {request.queue} has "
                "topologyName, so the workload is never admitted; write topologyName in the "
                "flavor, or remove the annotation",
                request.template.at.to("metadata", "annotations"),
                related=tuple(flavor.at for flavor in flavors if flavor),
            )


RULE = ObjectRule(
    "topology-request-without-topology",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Set topologyName in the flavor, or remove the topology annotation from the workload.",
    judges=KINDS,
    check=check,
    reads=(*READS, "ResourceFlavor"),
)
