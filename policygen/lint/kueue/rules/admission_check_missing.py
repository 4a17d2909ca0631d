"""A ClusterQueue asks for an AdmissionCheck that is not there."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.core.suggest import suggest
from policygen.lint.kueue.admission_checks import checked, checks
from policygen.lint.rule import Claim, Facts, Family, Need, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """One missing check makes the whole queue inactive: AdmissionCheckNotFound.

    Source: pkg/cache/scheduler/clusterqueue.go, updateWithAdmissionChecks.
    """
    known = facts.cluster.admission_checks
    for queue in facts.cluster.derive(checked):
        for at, each in checks(queue):
            if not known.knows(each.name):
                hint = suggest(each.name, known.names())
                yield Claim(
                    f'{queue} asks for AdmissionCheck "{each.name}", which is not there; {hint}',
                    at / "name",
                )


RULE = Rule(
    "admission-check-missing",
    Severity.ERROR,
    Family.INERT,
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("AdmissionCheck",),
)
