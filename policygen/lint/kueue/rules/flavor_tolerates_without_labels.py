"""A flavor tolerates taints and does not say which nodes it means."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Pods may then enter the tainted nodes, and are not sent there.

    Source: pkg/podset/podset.go, FromAssignment.
    """
    for flavor in facts.cluster.flavors:
        if flavor.it.tolerations and not flavor.it.node_labels:
            yield Claim(
                f"{flavor} tolerates taints and has no nodeLabels, so its pods may land on the "
                "tainted nodes and on any other; write the labels of its nodes",
                flavor.at.to("spec", "tolerations"),
            )


RULE = Rule(
    "flavor-tolerates-without-labels",
    Severity.WARNING,
    Family.INERT,
    judges=("ResourceFlavor",),
    check=check,
)
