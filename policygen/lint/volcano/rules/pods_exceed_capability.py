"""Pods request more than the capability of their Volcano Queue, so some of them never start."""

from policygen.core.amounts import amount_of, readable
from policygen.core.finding import Exceeded
from policygen.core.names import POD_GROUP
from policygen.core.quoting import counted
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.workloads import KINDS, Workload, replicas_at
from policygen.lint.core.pod_demands import READS as READS_OF_PODS
from policygen.lint.core.queue_rooms import READS, queue_rooms
from policygen.lint.core.queue_sums import READS_OF_JOBS
from policygen.lint.core.refused_pods import request_path
from policygen.lint.core.rules.replicas_exceed_queue import advice_for
from policygen.lint.other_rules import is_inside, places
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.capabilities import pod_limit
from policygen.lint.volcano.rules import workload_in_default_queue

_IN_TURN = ("Job", "CronJob", "JobSet", "Pod")
"""Kinds whose pods end, so that others can start."""


def check(facts: Facts) -> Hits:
    """A capability limits the pods that run at once. gang-exceeds-queue reports gangs.

    workload-in-default-queue reports pods that name no queue and request what default does not allow.
    """
    cluster = facts.cluster
    reported = [*places(facts, (workload_in_default_queue.RULE,))]
    for workload in cluster.workloads:
        if workload.object.group == VOLCANO_BATCH:
            continue
        for template in workload.templates:
            queue = queues.queue_of_pods(cluster, workload, template)
            if not queue or POD_GROUP in template.annotations:
                continue
            if queue == queues.DEFAULT and any(is_inside(it, workload.at) for it in reported):
                continue
            count = 1 if workload.kind in _IN_TURN else template.replicas or 0
            found = pod_limit(cluster, queue, template)
            if found is None or found.pods >= count:
                continue
            name, amount, limit = found.resource, found.amount, found.limit
            has = f"but Queue {found.queue.name} has a capability of"
            if found.pods:
                message = (
                    f"the {count} pods of {workload} request {amount_of(name, amount * count, limit)} together, "
                    f"{has} {readable(name, limit, amount * count)}, so only {counted(found.pods, 'pod')} "
                    f"{'runs' if found.pods == 1 else 'run'}; {_advice(facts, workload)}"
                )
                at = replicas_at(workload, template)
            else:
                message = (
                    f"a pod of {workload} requests {amount_of(name, amount, limit)}, {has} "
                    f"{readable(name, limit, amount)}, so no pod starts; lower the request, or raise the capability"
                )
                at = template.at.to("spec", *request_path(template.spec, name))
            most = f"Queue {found.queue.name} has a capability of {amount_of(name, limit, amount)}"
            of_pod = not found.pods
            yield Hit(
                RULE,
                message,
                at,
                (found.queue.at.to("spec", "capability", name),),
                exceeds=(Exceeded(workload.at, name, limit, most, of_pod=of_pod, pods=count),),
            )


def _advice(facts: Facts, workload: Workload) -> str:
    """What to change, if a queue has room for some of the pods."""
    rooms = (it for it in facts.derive(queue_rooms) if it.workload is workload)
    room = next(rooms, None) if "replicas" in workload.spec else None
    if room is None:
        return "lower the number of pods, or raise the capability"
    return advice_for(facts, room, "replicas")


RULE = ObjectRule(
    "pods-exceed-capability",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Lower the replicas or requests, or raise the capability of the queue.",
    judges=KINDS,
    check=check,
    reads=tuple(dict.fromkeys((*READS, *READS_OF_PODS, *READS_OF_JOBS, "Node"))),
)
