"""A workload's node selector or tolerations fit no flavor of its queue."""

from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.coverage import pod_requests
from policygen.lint.kueue.flavor_fits import refusal
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue skips every flavor (NoMatchingFlavor): a toleration is missing or a label differs.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, checkFlavorForPodSets; issue 3158.
    """
    known = facts.cluster.flavors
    for request in pod_requests(facts):
        for group in request.groups:
            flavors = [known.get(flavor.name) for flavor in group.flavors]
            reasons = [
                refusal(flavor.fields, request.template.spec) if flavor else None
                for flavor in flavors
            ]
            if reasons and all(reasons):
                skipped = ", ".join(
                    f"{flavor.name}: {reason}"
                    for flavor, reason in zip(group.flavors, reasons, strict=True)
                )
                yield Hit(
                    RULE,
                    f"{request.workload} fits no flavor of {request.queue} ({skipped}); change "
                    "the node selector or tolerations of the workload, or change the flavor",
                    request.template.at / "spec",
                    related=tuple(flavor.at for flavor in flavors if flavor),
                )
                break


RULE = ObjectRule(
    "workload-fits-no-flavor",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Change the node selector or tolerations of the workload, or change the flavor.",
    judges=KINDS,
    check=check,
    reads=("LocalQueue", "ClusterQueue", "ResourceFlavor", "Configuration", "LimitRange"),
)
