"""A LimitRange sets a default for a resource that the namespace's ClusterQueue does not cover."""

from policygen.kubernetes.core import LimitRangeItem
from policygen.kubernetes.kueue_settings import Settings
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.coverage import READS, covered, pod_requests, refused
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue adds the default to the requests of a job, and has no quota for it.

    If a namespace has several queues, only the first is reported.
    Source: pkg/workload/resources.go, handlePodLimitRange; issue 4848.
    """
    rules = settings(facts)
    if rules.ignores_undeclared:
        return
    queues = facts.cluster.local_queues.by_namespace
    for entry in facts.cluster.limit_ranges:
        by_queue = {local.fields.cluster_queue: local for local in queues.get(entry.namespace, ())}
        reported: set[tuple[int, str]] = set()
        for target, local in by_queue.items():
            queue = facts.cluster.cluster_queues.get(target)
            known = covered(queue) if queue else set()
            for i, item in enumerate(entry.fields.limits if known else ()):
                for name in sorted(_defaults(rules, item) - known):
                    if (i, name) in reported:
                        continue
                    if (target, entry.namespace, name) in facts.derive(_reported_at_jobs):
                        continue
                    reported.add((i, name))
                    yield Hit(
                        RULE,
                        f"{entry} sets a default for {name}, which {queue} of {local} does not "
                        "cover, so Kueue admits no job of this namespace; cover the resource in "
                        "the ClusterQueue, or remove the default",
                        entry.at.to("spec", "limits", i, item.fills_by(name), name),
                        related=(queue.at.to("spec", "resourceGroups"),) if queue else (),
                    )


def _reported_at_jobs(facts: Facts) -> frozenset[tuple[str, str, str]]:
    """Queue, namespace and resource of which request-not-covered reports jobs; use it with `facts.derive`."""
    return frozenset(
        (it.queue.name, it.workload.namespace, name)
        for it in (pod_requests(facts) if "request-not-covered" in facts.run else ())
        for name in refused(facts, it)
    )


def _defaults(rules: Settings, item: LimitRangeItem) -> set[str]:
    """The resources that Kueue counts for containers that do not request them."""
    if item.type != "Container":
        return set()
    return {name for name, amount in rules.charged(item.filled_requests).items() if amount > 0}


RULE = ObjectRule(
    "limit-range-default-not-covered",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Cover the resource in the ClusterQueue, or remove the default.",
    judges=("LimitRange",),
    check=check,
    reads=tuple(dict.fromkeys((*READS, *KINDS))),
)
