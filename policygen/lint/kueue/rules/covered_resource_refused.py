"""A ClusterQueue or Cohort covers a resource whose name is invalid."""

from policygen.core.label_grammar import key_fault
from policygen.core.quoting import quoted
from policygen.lint.kueue.probable_quotas import probable_quotas
from policygen.lint.kueue.quotas import covered_resources, owners
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Source: pkg/webhooks/common.go, validateResourceName."""
    for owner in owners(facts.cluster):
        for at, name in covered_resources(owner):
            if key_fault(name):
                yield Hit(
                    RULE,
                    f"{owner} covers {quoted(name)}, which Kueue refuses as the name of a "
                    "resource; write the name as in status.allocatable of the nodes",
                    at,
                    meant=facts.cluster.derive(probable_quotas).get(owner.at, ()),
                )


RULE = ObjectRule(
    "covered-resource-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the name of the resource as in status.allocatable of the nodes.",
    judges=("ClusterQueue", "Cohort"),
    check=check,
    reads=("ResourceFlavor", "Node"),
)
