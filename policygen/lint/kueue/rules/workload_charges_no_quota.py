"""A workload asks for nothing that its ClusterQueue counts."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.coverage import asked_together, covered, uncovered
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """It passes every quota, and gets no flavor: no node selector, no toleration.

    Judged where none of its pods is counted. Source: issues 891, 931.
    """
    ignores = settings(facts).ignores_undeclared
    for them in asked_together(facts):
        known = covered(them[0].queue)
        if not known or "pods" in known or any(known & set(each.counted) for each in them):
            continue
        if not ignores and any(uncovered(facts, each) for each in them):
            continue  # it is not admitted at all
        first = them[0]
        yield Hit(
            RULE,
            f"{first.by.workload} asks for nothing that {first.queue} counts, so it passes the "
            "quota and may land on any node; write requests, or give the namespace a LimitRange "
            "with defaultRequest",
            first.template.at.to("spec", "containers"),
        )


RULE = ObjectRule(
    "workload-charges-no-quota",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=KINDS,
    check=check,
    reads=("LocalQueue", "ClusterQueue", "LimitRange", "Configuration"),
)
