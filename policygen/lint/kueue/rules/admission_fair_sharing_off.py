"""A ClusterQueue shares by what LocalQueues used, and Kueue's Configuration does not."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.kueue.configuration import USAGE_BASED, all_settings
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Usage is only recorded with admissionFairSharing; before 0.15 also with its gate.

    Source: tasks/manage/admission_fair_sharing.md; pkg/util/admissionfairsharing.
    """
    asking = [
        queue
        for queue in facts.cluster.cluster_queues
        if queue.it.admission_scope and queue.it.admission_scope.admission_mode == USAGE_BASED
    ]
    for entry, rules in all_settings(facts):
        if asking and not rules.admission_fair_sharing:
            on = entry.it.admission_fair_sharing is not None
            what = "featureGates.AdmissionFairSharing: true" if on else "admissionFairSharing"
            yield Hit(
                RULE,
                f"admission fair sharing is off, so admissionScope of {asking[0]} is not heeded; "
                f"write {what}",
                entry.at / ("featureGates" if on else "admissionFairSharing"),
                related=tuple(queue.at.to("spec", "admissionScope") for queue in asking[:10]),
            )


RULE = ObjectRule(
    "admission-fair-sharing-off",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("Configuration",),
    check=check,
    reads=("ClusterQueue", "Deployment"),
)
