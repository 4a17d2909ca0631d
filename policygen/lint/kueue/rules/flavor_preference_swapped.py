"""Before Kueue 0.17, the two values of flavorFungibility.preference have swapped effects."""

from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """Before 0.17, each of the two values has the effect of the other. Source: issue 9464."""
    for queue in facts.cluster.cluster_queues:
        if queue.fields.flavor_fungibility.preference:
            at = queue.at.to("spec", "flavorFungibility", "preference")
            yield Hit(
                RULE,
                f"{queue} sets preference {queue.fields.flavor_fungibility.preference}, but before "
                "Kueue 0.17 the two values have swapped effects; remove the field until you run 0.17",
                at,
                edits=(Edit(Verb.REMOVE, at),),
            )


RULE = ObjectRule(
    "flavor-preference-swapped",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Remove flavorFungibility.preference until you run Kueue 0.17.",
    judges=("ClusterQueue",),
    check=check,
    fix=Fix.UNSAFE,
    since={"kueue": (0, 15)},
    until={"kueue": (0, 17)},
)
