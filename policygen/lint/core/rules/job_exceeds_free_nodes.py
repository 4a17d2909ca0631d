"""Workloads whose pods do not end leave too little room on the nodes for the pods of a Job."""

from bisect import bisect_left
from collections.abc import Iterator
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.quoting import some
from policygen.kubernetes.untyped import mapping
from policygen.kubernetes.workloads import replicas_at
from policygen.lint.core.excess_words import used
from policygen.lint.core.limit_range_refusals import refused_by_range
from policygen.lint.core.node_rooms import most_on_nodes
from policygen.lint.core.node_sums import Excess, excess_with
from policygen.lint.core.pod_demands import READS, PodDemand, pod_demands
from policygen.lint.core.queue_rooms import READS as READS_OF_QUEUES
from policygen.lint.core.webhook_objects import webhook_object
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


class _Waiting(Struct, frozen=True, eq=False):
    """A Job of which fewer pods have room than must run at once."""

    it: PodDemand
    room: int
    """How many pods have room beside the others."""
    excess: Excess
    """What one more pod exceeds."""


def check(facts: Facts) -> Hits:
    """Reports a Job if no pod has room, or if all its pods run at once on nodes without other pods, but not beside these.

    Pods of a Job with more completions than parallelism can run one after the other. Pods that the Job may evict do not count.
    Source: pkg/scheduler/framework/plugins/noderesources/fit.go of Kubernetes 1.36.3.
    """
    if facts.cluster.seen is not None:
        return  # whether a job on a cluster has ended is not known
    found: dict[tuple[object, ...], list[_Waiting]] = {}
    for waiting in _waiting(facts):
        key = waiting.excess.resource, waiting.excess.members[:-1], waiting.room, waiting.it.pods
        found.setdefault(key, []).append(waiting)
    for same in found.values():
        first, others = same[0], same[0].excess.members[:-1]
        who = some([str(each.it.workload) for each in same], "other Job")
        yield Hit(
            RULE,
            f"{used(first.excess)}, {_effect(first, who)}",
            replicas_at(first.it.workload, first.it.template),
            tuple(dict.fromkeys(each.workload.at for each in (*others, *(w.it for w in same[1:])))),
        )


def _waiting(facts: Facts) -> Iterator[_Waiting]:
    for it in facts.derive(pod_demands):
        workload, pods = it.workload, it.pods
        if workload.object.group != "batch" or not pods:
            continue
        if id(it.template) in facts.derive(refused_by_range):
            continue
        job = mapping(webhook_object(workload).data, "spec")
        wanted = pods if job.get("completions") == pods else 1
        if wanted > 1 and most_on_nodes(facts, it.template, wanted) < wanted:
            wanted = 1
        if excess_with(facts, it, wanted) is None:
            continue
        numbers = range(1, wanted + 1)
        room = bisect_left(numbers, 1, key=partial(_exceeds, facts, it))
        if excess := excess_with(facts, it, room + 1):
            yield _Waiting(replace(it, pods=wanted), room, excess)


def _exceeds(facts: Facts, it: PodDemand, pods: int) -> bool:
    return excess_with(facts, it, pods) is not None


def _effect(it: _Waiting, who: str) -> str:
    if not it.room:
        return f"which leaves no room for a pod of {who}; run fewer of these pods, request less, or add nodes"
    return (
        f"so at most {it.room} of the {it.it.pods} pods of {who} can run at a time; set parallelism to {it.room} "
        "if its pods can run one after the other, or add nodes"
    )


RULE = ObjectRule(
    "job-exceeds-free-nodes",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Run fewer pods of the other workloads, request less, or add nodes.",
    judges=("Job", "CronJob"),
    check=check,
    needs=frozenset({Need.KNOWN_NODES}),
    reads=tuple(dict.fromkeys((*READS, *READS_OF_QUEUES))),
)
