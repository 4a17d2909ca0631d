"""A workload selects nodes by a label that only some flavors of its queue have."""

from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.coverage import READS, pod_requests
from policygen.lint.kueue.flavor_fits import keys, refusal
from policygen.lint.kueue.job_quotas import has_enough
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """A flavor without the label accepts the workload, whose pods then need labels of two pools.

    Flavors that can never have enough quota, such as one without GPUs, do not count. Another rule
    reports flavors without any label. Source: flavorassigner.go, flavorSelector; issue 12446 (before
    it, Kueue skipped such a flavor).
    """
    known = facts.cluster.flavors
    for request in pod_requests(facts):
        chosen = keys(request.template.spec)
        for group in request.groups if chosen else ():
            labelled = [
                flavor
                for quotas in group.flavors
                if (flavor := known.get(quotas.name)) is not None and flavor.fields.node_labels
            ]
            common = {key for flavor in labelled for key in flavor.fields.node_labels} & chosen
            for flavor in labelled:
                ignored = sorted(common - flavor.fields.node_labels.keys())
                if not ignored or refusal(flavor.fields, request.template.spec) is not None:
                    continue
                if has_enough(facts, request, group, flavor.name):
                    yield Hit(
                        RULE,
                        f"{request.workload} selects nodes by label {ignored[0]}, but flavor "
                        f"{flavor.name} of {request.queue} does not have this label, so Kueue may "
                        "admit the workload in this flavor although its pods fit no node; write "
                        "the same keys in nodeLabels of all flavors of the group",
                        request.template.at / "spec",
                        related=(flavor.at.to("spec", "nodeLabels"),),
                    )
                    break


RULE = ObjectRule(
    "selector-ignored-by-flavor",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the same keys in nodeLabels of all flavors, or select by keys that all have.",
    judges=KINDS,
    check=check,
    reads=(*READS, "Cohort", "ResourceFlavor"),
    since={"kueue": (0, 18)},
)
