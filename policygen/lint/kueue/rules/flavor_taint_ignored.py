"""A flavor lists a taint of an effect that Kueue does not heed."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Only NoSchedule and NoExecute keep jobs without a toleration off a flavor.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, FindMatchingUntoleratedTaint.
    """
    for flavor in facts.cluster.flavors:
        for i, taint in enumerate(flavor.it.node_taints):
            if taint.effect == "PreferNoSchedule":
                yield Hit(
                    RULE,
                    f"{flavor} lists taint {taint.key} with PreferNoSchedule, which Kueue does not "
                    "heed; write NoSchedule if jobs without a toleration are to stay away",
                    flavor.at.to("spec", "nodeTaints", i, "effect"),
                )


RULE = ObjectRule(
    "flavor-taint-ignored",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ResourceFlavor",),
    check=check,
    aliases=("flavor-taint-not-heeded",),
)
