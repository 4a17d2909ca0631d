"""A workload gets GPUs that its queue does not count, since undeclared resources are ignored."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.resource_names import extended
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.coverage import asked, uncovered
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Under IgnoreUndeclared a resource without quota is free, a misspelt one too.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, IgnoreUndeclaredResources.
    """
    if not settings(facts).ignores_undeclared:
        return
    for each in asked(facts):
        for name in filter(extended, uncovered(facts, each)):
            yield Hit(
                RULE,
                f"{each.by.workload} gets {name} outside every quota, since {each.queue} does not "
                "cover it and quotaCheckStrategy is IgnoreUndeclared; cover it",
                each.template.at.to("spec", "containers"),
                related=(each.queue.at.to("spec", "resourceGroups"),),
            )


RULE = ObjectRule(
    "accelerator-escapes-quota",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=KINDS,
    check=check,
    needs=frozenset({Need.KUEUE_CONFIGURATION}),
    reads=("LocalQueue", "ClusterQueue", "Configuration", "LimitRange"),
    since={"kueue": (0, 18)},
)
