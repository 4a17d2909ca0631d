"""A workload requests a topology, but no flavor of its queue has topologyName."""

from policygen.core.quoting import some
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.coverage import READS, PodRequest, pod_requests
from policygen.lint.kueue.topologies import requests_topology
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue skips a flavor without topologyName for pods that request a topology.

    Several workloads of a queue with only one flavor are one hit, at the flavor.
    Source: pkg/scheduler/flavorassigner/tas_flavorassigner.go, checkPodSetAndFlavorMatchForTAS.
    """
    known = facts.cluster.flavors
    by_flavors: dict[tuple[str, ...], list[PodRequest]] = {}
    for request in pod_requests(facts):
        if not requests_topology(request.template):
            continue
        names = tuple(
            dict.fromkeys(flavor.name for group in request.groups for flavor in group.flavors)
        )
        flavors = [known.get(name) for name in names]
        if flavors and all(flavor and not flavor.fields.topology_name for flavor in flavors):
            by_flavors.setdefault(names, []).append(request)
    topologies = facts.cluster.topologies.names()
    value = f": {topologies[0]}" if len(topologies) == 1 else ""
    for names, requests in by_flavors.items():
        by_workload: dict[str, PodRequest] = {}
        for request in requests:
            by_workload.setdefault(str(request.workload), request)
        flavors_at = tuple(flavor.at for name in names if (flavor := known.get(name)))
        places = {
            name: it.template.at.to("metadata", "annotations") for name, it in by_workload.items()
        }
        if len(names) == 1 < len(by_workload):
            yield Hit(
                RULE,
                f"ResourceFlavor {names[0]} has no topologyName, but {some([*places], 'other workload')} request a "
                f"topology, so they are never admitted; write topologyName{value} in the flavor, or remove the annotations",
                flavors_at[0] / "spec",
                related=tuple(places.values()),
            )
            continue
        for name, request in by_workload.items():
            yield Hit(
                RULE,
                f"{name} requests a topology, but no flavor of {request.queue} has topologyName, so the workload is never "
                f"admitted; write topologyName{value} in the flavor, or remove the annotation",
                places[name],
                related=flavors_at,
            )


RULE = ObjectRule(
    "topology-request-without-topology",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Set topologyName in the flavor, or remove the topology annotation from the workload.",
    judges=(*KINDS, "ResourceFlavor"),
    check=check,
    reads=(*READS, "ResourceFlavor", "Topology"),
)
