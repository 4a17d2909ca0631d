"""A workload chooses nodes by a label that only some of its queue's flavors have."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.coverage import asked
from policygen.lint.kueue.flavor_fits import keys, refusal
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """A flavor without the label accepts the workload, whose pods then want two pools at once.

    Flavors without any label are another rule's. Source: flavorassigner.go, flavorSelector;
    issue 12446 (before, such a flavor was skipped).
    """
    known = facts.cluster.flavors
    for each in asked(facts):
        chosen = keys(each.template.spec)
        for group in each.queue.it.resource_groups if chosen else ():
            if not set(group.covered_resources) & each.counted.keys():
                continue
            labelled = [
                flavor
                for quotas in group.flavors
                if (flavor := known.get(quotas.name)) is not None and flavor.it.node_labels
            ]
            common = {key for flavor in labelled for key in flavor.it.node_labels} & chosen
            for flavor in labelled:
                ignored = sorted(common - flavor.it.node_labels.keys())
                if ignored and refusal(flavor.it, each.template.spec) is None:
                    yield Hit(
                        RULE,
                        f"{each.by.workload} chooses nodes by {ignored[0]}, which flavor "
                        f"{flavor.name} of {each.queue} does not have, so it may be charged there "
                        "and fit no node; give every flavor of the group the same labels",
                        each.template.at / "spec",
                        related=(flavor.at.to("spec", "nodeLabels"),),
                    )
                    break


RULE = ObjectRule(
    "selector-ignored-by-flavor",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=KINDS,
    check=check,
    reads=("LocalQueue", "ClusterQueue", "ResourceFlavor", "Configuration", "LimitRange"),
    since={"kueue": (0, 18)},
)
