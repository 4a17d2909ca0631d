"""A quota is for a resource whose name looks misspelled."""

from policygen.lint.core.resource_names import meant, provided
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.quotas import covered_resources, owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue accepts any label key. The quota is never used, and what jobs request is not covered.

    Names that nodes have, or that the Configuration creates, are accepted.
    Source: pkg/webhooks/clusterqueue_webhook.go (only the syntax is checked).
    """
    rules = settings(facts)
    there = facts.cluster.derive(provided)
    for owner in owners(facts.cluster):
        for at, name in covered_resources(owner):
            right = None if rules.makes(name) else meant(name, there)
            if right is not None:
                yield Hit(
                    RULE,
                    f'{owner} has quota for "{name}", which is not a known resource of nodes; '
                    f'did you mean "{right}"?',
                    at,
                )


RULE = ObjectRule(
    "resource-name-misspelt",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the name that nodes have in status.allocatable.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
    reads=("Node", "Configuration"),
)
