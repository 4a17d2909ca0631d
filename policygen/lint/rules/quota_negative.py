"""A quota or limit of Kueue is below 0."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.amounts import shown
from policygen.lint.quotas import amounts, owners, quotas
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Source: pkg/webhooks/clusterqueue_webhook.go, validateResourceQuantity."""
    for owner in owners(facts.cluster):
        for it in quotas(owner):
            for field, amount in amounts(it.quota):
                if amount < 0:
                    yield Claim(
                        f"{owner} has {field} {shown(it.resource, amount)} for {it.resource}, which "
                        "is refused; write 0 or more",
                        it.at / field,
                    )


RULE = Rule(
    "quota-negative",
    Severity.ERROR,
    Family.INVALID,
    judges=("ClusterQueue", "Cohort"),
    check=check,
)
