"""A LimitRange gives every container a resource that the namespace's queue does not cover."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.coverage import covered
from policygen.lint.kueue_settings import settings
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Kueue adds the default to what a job asks for, and finds no quota for it.

    Source: pkg/workload/resources.go, handlePodLimitRange; issue 4848.
    """
    rules = settings(facts)
    if rules.ignores_undeclared:
        return
    queues = facts.cluster.local_queues.by_namespace
    for entry in facts.cluster.limit_ranges:
        for local in queues.get(entry.namespace, ()):
            queue = facts.cluster.cluster_queues.get(local.it.cluster_queue)
            if queue is None:
                continue
            known = covered(queue)
            for i, item in enumerate(entry.it.limits if known else ()):
                if item.type != "Container":
                    continue
                for name, amount in sorted(rules.charged(item.filled_requests).items()):
                    if amount > 0 and name not in known:
                        yield Claim(
                            f"{entry} gives containers {name}, which {queue} behind {local} does "
                            "not cover, so no job is admitted there; cover it, or take it out",
                            entry.at.to("spec", "limits", i, item.fills_by(name), name),
                            related=(queue.at.to("spec", "resourceGroups"),),
                        )


RULE = Rule(
    "limit-range-default-not-covered",
    Severity.ERROR,
    Family.INERT,
    judges=("LimitRange",),
    check=check,
    reads=("LocalQueue", "ClusterQueue", "Configuration", "Deployment"),
)
