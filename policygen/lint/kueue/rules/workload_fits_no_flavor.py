"""A workload's node selector or tolerations fit no flavor of its queue."""

from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.coverage import pod_requests, refused
from policygen.lint.kueue.flavor_fits import refusal
from policygen.lint.kueue.strict_queues import blocking
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue skips every flavor (NoMatchingFlavor): a toleration is missing or a label differs.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, checkFlavorForPodSets; issue 3158.
    """
    known = facts.cluster.flavors
    not_covered = "request-not-covered" in facts.run
    for request in pod_requests(facts):
        if not_covered and refused(facts, request):
            continue  # its queue is wrong, or its resource
        for group in request.groups:
            flavors = [it for each in group.flavors if (it := known.get(each.name))]
            reasons = [refusal(it.fields, request.template.spec) for it in flavors]
            found = [it for it in reasons if it]
            if not found or len(found) < len(group.flavors):
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


RULE = ObjectRule(
    "workload-fits-no-flavor",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Change the node selector, affinity or tolerations of the workload, or change the flavor.",
    judges=KINDS,
    check=check,
    reads=(
        "LocalQueue",
        "ClusterQueue",
        "ResourceFlavor",
        "Configuration",
        "LimitRange",
        "RuntimeClass",
    ),
)
