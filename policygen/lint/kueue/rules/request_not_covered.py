"""A workload asks for a resource that its ClusterQueue has no quota for."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.coverage import asked, covered, uncovered
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """The whole workload is inadmissible, whatever else it asks for.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, findFlavorForPodSets; issue 4848.
    """
    if settings(facts).ignores_undeclared:
        return
    for each in asked(facts):
        for name in uncovered(facts, each):
            yield Hit(
                RULE,
                f"{each.by.workload} asks for {name}, which {each.queue} does not cover; "
                f"{suggest(name, covered(each.queue))}",
                each.template.at.to("spec", "containers"),
                related=(each.queue.at.to("spec", "resourceGroups"),),
            )


RULE = ObjectRule(
    "request-not-covered",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=KINDS,
    check=check,
    reads=("LocalQueue", "ClusterQueue", "Configuration", "LimitRange"),
)
