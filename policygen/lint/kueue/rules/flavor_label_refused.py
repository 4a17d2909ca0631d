"""A flavor has a label, taint or toleration that no node or pod can have."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.core.label_grammar import key_fault, value_fault
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """The value of a toleration is not looked at.

    Source: pkg/webhooks/resourceflavor_webhook.go.
    """
    for flavor in facts.cluster.flavors:
        spec = flavor.at / "spec"
        found = []
        for key, value in flavor.it.node_labels.items():
            at = spec.to("nodeLabels", key)
            found += [(key_fault(key), at.on_key()), (value_fault(value), at)]
        for i, taint in enumerate(flavor.it.node_taints):
            at = spec.to("nodeTaints", i)
            found += [(key_fault(taint.key), at / "key"), (value_fault(taint.value), at / "value")]
        for i, toleration in enumerate(flavor.it.tolerations):
            if toleration.key:
                found.append((key_fault(toleration.key), spec.to("tolerations", i, "key")))
        yield from (Claim(f"{flavor}: {fault}", at) for fault, at in found if fault)


RULE = Rule(
    "flavor-label-refused",
    Severity.ERROR,
    Family.INVALID,
    judges=("ResourceFlavor",),
    check=check,
)
