"""A flavor tolerates taints and does not say which nodes it means."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Pods may then enter the tainted nodes, and are not sent there.

    Source: pkg/podset/podset.go, FromAssignment.
    """
    for flavor in facts.cluster.flavors:
        if flavor.it.tolerations and not flavor.it.node_labels:
            yield Hit(
                RULE,
                f"{flavor} tolerates taints and has no nodeLabels, so its pods may land on the "
                "tainted nodes and on any other; write the labels of its nodes",
                flavor.at.to("spec", "tolerations"),
            )


RULE = ObjectRule(
    "flavor-tolerates-without-labels",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ResourceFlavor",),
    check=check,
)
