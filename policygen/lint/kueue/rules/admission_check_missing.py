"""A ClusterQueue asks for an AdmissionCheck that is not there."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.lint.kueue.admission_checks import checked, checks
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """One missing check makes the whole queue inactive: AdmissionCheckNotFound.

    Source: pkg/cache/scheduler/clusterqueue.go, updateWithAdmissionChecks.
    """
    known = facts.cluster.admission_checks
    for queue in facts.cluster.derive(checked):
        for at, each in checks(queue):
            if not known.knows(each.name):
                hint = suggest(each.name, known.names())
                yield Hit(
                    RULE,
                    f'{queue} asks for AdmissionCheck "{each.name}", which is not there; {hint}',
                    at / "name",
                )


RULE = ObjectRule(
    "admission-check-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("AdmissionCheck",),
)
