"""A quota or limit of Kueue is below 0."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.core.amounts import shown
from policygen.lint.kueue.quotas import Placed, amounts, owners_alike, where
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Source: pkg/webhooks/clusterqueue_webhook.go, validateResourceQuantity."""
    for it in where(facts.cluster.derive(owners_alike), _is_negative):
        for field, amount in amounts(it.quota):
            if amount < 0:
                yield Claim(
                    f"{it.owner} has {field} {shown(it.resource, amount)} for {it.resource}, which "
                    "is refused; write 0 or more",
                    it.at / field,
                )


def _is_negative(it: Placed) -> bool:
    return any(amount < 0 for _, amount in amounts(it.quota))


RULE = Rule(
    "quota-negative",
    Severity.ERROR,
    Family.INVALID,
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
