"""A flavor preference is written for a release that reads it the other way round."""

from collections.abc import Iterator

from policygen.core.finding import Edit, Hit, Verb
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, Fix, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """The two values did each other's work before 0.17. Source: issue 9464."""
    for queue in facts.cluster.cluster_queues:
        if queue.it.flavor_fungibility.preference:
            yield Hit(
                RULE,
                f"{queue} prefers {queue.it.flavor_fungibility.preference}, whose meaning is "
                "swapped with the other value's before Kueue 0.17; leave preference out until then",
                queue.at.to("spec", "flavorFungibility", "preference"),
                edits=(Edit(Verb.REMOVE, queue.at.to("spec", "flavorFungibility", "preference")),),
            )


RULE = ObjectRule(
    "flavor-preference-swapped",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    fix=Fix.UNSAFE,
    since={"kueue": (0, 15)},
    until={"kueue": (0, 17)},
)
