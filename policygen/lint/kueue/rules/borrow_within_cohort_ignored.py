"""A ClusterQueue has borrowWithinCohort, which Kueue ignores while fair sharing is on."""

from policygen.lint.kueue.configuration import settings
from policygen.lint.rule import (
    Edit,
    Facts,
    Family,
    Fix,
    Hit,
    Hits,
    Need,
    ObjectRule,
    Severity,
    Verb,
)


def check(facts: Facts) -> Hits:
    """The field configures classical preemption; fair sharing has its own strategies.

    Source: concepts/preemption.md; pkg/scheduler/preemption/preemption.go.
    """
    running = settings(facts)
    if not running.fair_sharing:
        return
    for queue in facts.cluster.cluster_queues:
        borrow = queue.fields.preemption.borrow_within_cohort if queue.fields.preemption else None
        if borrow is not None and borrow.policy != "Never":
            at = queue.at.to("spec", "preemption", "borrowWithinCohort")
            yield Hit(
                RULE,
                f"{queue} has borrowWithinCohort, which Kueue ignores while its Configuration has "
                "fairSharing; remove borrowWithinCohort",
                at,
                related=(running.entry.at / "fairSharing",) if running.entry else (),
                edits=(Edit(Verb.REMOVE, at),),
            )


RULE = ObjectRule(
    "borrow-within-cohort-ignored",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Remove borrowWithinCohort.",
    judges=("ClusterQueue",),
    check=check,
    fix=Fix.SAFE,
    needs=frozenset({Need.KUEUE_CONFIGURATION}),
    aliases=("borrow-within-cohort-not-heeded",),
)
