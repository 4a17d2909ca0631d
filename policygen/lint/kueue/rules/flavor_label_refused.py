"""A ResourceFlavor has a label, taint or toleration that no node or pod can have."""

from policygen.core.label_grammar import key_fault, value_fault
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue does not check the value of a toleration. missing-field reports a taint without a key.

    Source: pkg/webhooks/resourceflavor_webhook.go.
    """
    reported = "missing-field" in facts.run
    for flavor in facts.cluster.flavors:
        spec = flavor.at / "spec"
        found = []
        for key, value in flavor.fields.node_labels.items():
            at = spec.to("nodeLabels", key)
            found += [(key_fault(key), at.on_key()), (value_fault(value), at)]
        for i, taint in enumerate(flavor.fields.node_taints):
            at = spec.to("nodeTaints", i)
            found.append((value_fault(taint.value), at / "value"))
            if taint.key or not reported:
                found.append((key_fault(taint.key), at / "key"))
        for i, toleration in enumerate(flavor.fields.tolerations):
            if toleration.key:
                found.append((key_fault(toleration.key), spec.to("tolerations", i, "key")))
        yield from (Hit(RULE, f"{flavor}: {fault}", at) for fault, at in found if fault)


RULE = ObjectRule(
    "flavor-label-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write label, taint and toleration keys and values that are valid in Kubernetes.",
    judges=("ResourceFlavor",),
    check=check,
)
