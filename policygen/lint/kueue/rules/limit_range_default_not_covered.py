"""A LimitRange gives every container a resource that the namespace's queue does not cover."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.core import LimitRangeItem
from policygen.lint.kueue.configuration import Settings, settings
from policygen.lint.kueue.coverage import covered
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Kueue adds the default to what a job asks for, and finds no quota for it.

    Of several queues of a namespace the first is told.
    Source: pkg/workload/resources.go, handlePodLimitRange; issue 4848.
    """
    rules = settings(facts)
    if rules.ignores_undeclared:
        return
    queues = facts.cluster.local_queues.by_namespace
    for entry in facts.cluster.limit_ranges:
        by_queue = {local.it.cluster_queue: local for local in queues.get(entry.namespace, ())}
        told: set[tuple[int, str]] = set()
        for target, local in by_queue.items():
            queue = facts.cluster.cluster_queues.get(target)
            known = covered(queue) if queue else set()
            for i, item in enumerate(entry.it.limits if known else ()):
                for name in sorted(_given(rules, item) - known):
                    if (i, name) in told:
                        continue
                    told.add((i, name))
                    yield Hit(
                        RULE,
                        f"{entry} gives containers {name}, which {queue} behind {local} does "
                        "not cover, so no job is admitted there; cover it, or take it out",
                        entry.at.to("spec", "limits", i, item.fills_by(name), name),
                        related=(queue.at.to("spec", "resourceGroups"),) if queue else (),
                    )


def _given(rules: Settings, item: LimitRangeItem) -> set[str]:
    """What containers get that ask for none of it, as Kueue counts it."""
    if item.type != "Container":
        return set()
    return {name for name, amount in rules.charged(item.filled_requests).items() if amount > 0}


RULE = ObjectRule(
    "limit-range-default-not-covered",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("LimitRange",),
    check=check,
    reads=("LocalQueue", "ClusterQueue", "Configuration", "Deployment"),
)
