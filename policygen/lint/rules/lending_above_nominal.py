"""A ClusterQueue may lend more than it has."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.amounts import shown
from policygen.lint.quotas import quotas
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Of a Cohort it is right: there the limit bounds all that is below it.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateLendingLimit.
    """
    for queue in facts.cluster.cluster_queues:
        for it in quotas(queue):
            lent, own = it.quota.lending_limit, it.quota.nominal_quota
            if lent is not None and lent > own >= 0:
                yield Claim(
                    f"{queue} lends up to {shown(it.resource, lent)} {it.resource} and has "
                    f"{shown(it.resource, own)}, which is refused; write at most that",
                    it.at / "lendingLimit",
                    (it.at / "nominalQuota",),
                )


RULE = Rule(
    "lending-above-nominal",
    Severity.ERROR,
    Family.INVALID,
    judges=("ClusterQueue",),
    check=check,
)
