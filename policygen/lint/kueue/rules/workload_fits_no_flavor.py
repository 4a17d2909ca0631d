"""A workload's node selector or tolerations fit no flavor of its queue."""

from collections.abc import Mapping, Sequence

from policygen.kubernetes.flavor_match import required_terms
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.coverage import (
    READS,
    PodRequest,
    namespace_refused,
    pod_requests,
    refused,
)
from policygen.lint.kueue.flavor_fits import refusal
from policygen.lint.kueue.flavor_nodes import Flavor, nodes
from policygen.lint.kueue.strict_queues import blocking
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue skips every flavor (NoMatchingFlavor): a toleration is missing or a label differs.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, checkFlavorForPodSets; issue 3158.
    """
    known = facts.cluster.flavors
    not_covered = "request-not-covered" in facts.run
    for request in pod_requests(facts):
        if (not_covered and refused(facts, request)) or namespace_refused(facts, request):
            continue  # its queue is wrong, or its resource
        for group in request.groups:
            flavors = [it for each in group.flavors if (it := known.get(each.name))]
            reasons = [refusal(it.fields, request.template.spec) for it in flavors]
            found = [it for it in reasons if it]
            if not found or len(found) < len(group.flavors):
                continue
            if _flavors_are_wrong(facts, request, flavors):
                continue
            skipped = ", ".join(
                f"{flavor.name}: {it.reason}" for flavor, it in zip(flavors, found, strict=True)
            )
            first, path = f"{found[0].advice}, or change the flavor", found[0].path
            if any(it != found[0] for it in found):
                first, path = "change the node selector, affinity or tolerations", ()
            yield Hit(
                RULE,
                f"{request.workload} fits no flavor of {request.queue} ({skipped}){blocking(request.queue)}; {first}",
                request.template.at.to("spec", *path),
                related=tuple(flavor.at for flavor in flavors),
            )
            break


def _flavors_are_wrong(facts: Facts, request: PodRequest, refusing: Sequence[Flavor]) -> bool:
    """Whether another rule reports the flavors, and the pods select nodes or a flavor of the queue."""
    pod, cluster = request.template.spec, facts.cluster
    if "flavor-matches-no-node" in facts.run and cluster.nodes.any:
        found = cluster.derive(nodes)
        if not any(found[it.name].nodes for it in refusing):
            terms = required_terms(pod)
            return bool(pod.node_selector or terms) and any(
                pod.node_selector.items() <= node.labels.items()
                and (not terms or any(all(it.holds(node.labels) for it in term) for term in terms))
                for node in cluster.nodes
            )
    if "flavor-labels-collide" not in facts.run:
        return False
    every = (cluster.flavors.get(it.name) for group in request.groups for it in group.flavors)
    selected = [it.fields.node_labels for it in every if it and not refusal(it.fields, pod)]
    return all(
        any(_differ(it.fields.node_labels, labels) for labels in selected) for it in refusing
    )


def _differ(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether two flavors set a label to different values."""
    return any(other.get(key, value) != value for key, value in one.items())


RULE = ObjectRule(
    "workload-fits-no-flavor",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Change the node selector, affinity or tolerations of the workload, or change the flavor.",
    judges=KINDS,
    check=check,
    reads=(*READS, "ResourceFlavor", "Namespace", "Node"),
)
