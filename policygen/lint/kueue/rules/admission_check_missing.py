"""A ClusterQueue names an AdmissionCheck that does not exist."""

from policygen.core.suggest import suggest
from policygen.lint.kueue.admission_checks import checked, checks
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """One missing check makes the queue inactive: AdmissionCheckNotFound.

    Source: pkg/cache/scheduler/clusterqueue.go, updateWithAdmissionChecks.
    """
    known = facts.cluster.admission_checks
    for queue in facts.cluster.derive(checked):
        for at, used in checks(queue):
            if not known.knows(used.name):
                yield Hit(
                    RULE,
                    f'{queue} names AdmissionCheck "{used.name}", which does not exist; '
                    f"{suggest(used.name, known.names(), 'AdmissionCheck')}",
                    at / "name",
                )


RULE = ObjectRule(
    "admission-check-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Name an existing AdmissionCheck, or create the missing one before the ClusterQueue.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("AdmissionCheck",),
)
