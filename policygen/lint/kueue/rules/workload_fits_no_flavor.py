"""What a workload says about nodes fits none of its queue's flavors."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.coverage import asked
from policygen.lint.kueue.flavor_fits import refusal
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Kueue skips every flavor (NoMatchingFlavor), for want of a toleration or a label's value.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, checkFlavorForPodSets; issue 3158.
    """
    known = facts.cluster.flavors
    for each in asked(facts):
        for group in each.queue.it.resource_groups:
            wanted = [name for name in group.covered_resources if name in each.counted]
            flavors = [known.get(flavor.name) for flavor in group.flavors]
            if not wanted or not flavors:
                continue
            reasons = [
                refusal(flavor.it, each.template.spec) if flavor else None for flavor in flavors
            ]
            if all(reasons):
                said = "; ".join(
                    f"{flavor.name}: {reason}"
                    for flavor, reason in zip(group.flavors, reasons, strict=True)
                )
                yield Hit(
                    RULE,
                    f"{each.by.workload} fits no flavor of {each.queue} ({said}); change what it "
                    "says about nodes, or the flavor",
                    each.template.at / "spec",
                    related=tuple(flavor.at for flavor in flavors if flavor),
                )
                break


RULE = ObjectRule(
    "workload-fits-no-flavor",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=KINDS,
    check=check,
    reads=("LocalQueue", "ClusterQueue", "ResourceFlavor", "Configuration", "LimitRange"),
)
