"""A ResourceFlavor lists a taint with effect PreferNoSchedule, which Kueue ignores."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Only NoSchedule and NoExecute keep jobs without a toleration away from a flavor.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, FindMatchingUntoleratedTaint.
    """
    for flavor in facts.cluster.flavors:
        for i, taint in enumerate(flavor.fields.node_taints):
            if taint.effect == "PreferNoSchedule":
                yield Hit(
                    RULE,
                    f"{flavor} lists taint {taint.key} with effect PreferNoSchedule, which Kueue "
                    "ignores; write NoSchedule to keep jobs without a toleration away",
                    flavor.at.to("spec", "nodeTaints", i, "effect"),
                )


RULE = ObjectRule(
    "flavor-taint-ignored",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write effect NoSchedule, or remove the taint.",
    judges=("ResourceFlavor",),
    check=check,
    aliases=("flavor-taint-not-heeded",),
)
