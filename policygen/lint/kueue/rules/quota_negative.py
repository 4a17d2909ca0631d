"""A quota or limit of Kueue is below 0."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.amounts import shown
from policygen.lint.kueue.quotas import Placed, amounts, owners_alike, where
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Source: pkg/webhooks/clusterqueue_webhook.go, validateResourceQuantity."""
    for it in where(facts.cluster.derive(owners_alike), _is_negative):
        for field, amount in amounts(it.quota):
            if amount < 0:
                yield Hit(
                    RULE,
                    f"{it.owner} has {field} {shown(it.resource, amount)} for {it.resource}, which "
                    "is refused; write 0 or more",
                    it.at / field,
                )


def _is_negative(it: Placed) -> bool:
    return any(amount < 0 for _, amount in amounts(it.quota))


RULE = ObjectRule(
    "quota-negative",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
