"""A ClusterQueue lists a flavor, or GPUs of a flavor, of which it has no quota and cannot borrow any."""

from policygen.core.amounts import amount_of
from policygen.core.quoting import listed
from policygen.lint.kueue.quotas import groups_at, nominal_quotas
from policygen.lint.kueue.unused_flavors import UnusedFlavor, gpus_of, unused_flavors
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Reports a flavor without usable quota beside others of its group that have some.

    Also GPUs that the nodes of a flavor have, if their nominalQuota and borrowingLimit are 0, and other resources of
    the flavor have quota. It is a warning if GPUs of the nodes are in no quota. no-quota-anywhere reports groups
    in which all flavors are so, and borrowing-limit-unused limits above 0.
    Source: pkg/scheduler/flavorassigner/flavorassigner.go of Kueue 0.19.2, fitsResourceQuota.
    """
    for it in facts.derive(unused_flavors):
        if it.gpu:
            offered = amount_of(it.gpu, gpus_of(facts, it.flavor)[it.gpu])
            message = (
                f"can use {listed([*it.usable], 'and')} of flavor {it.flavor}, but not the {offered} of its nodes, because "
                "nominalQuota and borrowingLimit are 0; raise one of the two, or remove the flavor"
            )
        else:
            message = (
                f"can never use flavor {it.flavor}, because each nominalQuota of it is 0 and the queue cannot borrow any; "
                "raise nominalQuota, or remove the flavor"
            )
        yield Hit(
            RULE,
            f"{it.queue} {message}",
            groups_at(it.queue, *it.path),
            severity=Severity.WARNING if _leaves_gpus(facts, it) else None,
        )


def _leaves_gpus(facts: Facts, it: UnusedFlavor) -> bool:
    """Whether the nodes of the flavor have GPUs that are in no quota."""
    quotas = facts.cluster.derive(nominal_quotas)
    return any(
        sum(placed.quota.nominal_quota for placed in quotas.get((it.flavor, name), ())) < have
        for name, have in gpus_of(facts, it.flavor).items()
        if it.gpu in ("", name)
    )


RULE = ObjectRule(
    "flavor-never-used",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Raise nominalQuota, or remove the flavor from the ClusterQueue.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("Cohort", "LocalQueue", "MultiKueueConfig", "Node", "ResourceFlavor"),
)
