"""A Deployment fits its quota or queue, but its update needs one more pod than this allows."""

from policygen.core.quoting import counted
from policygen.kubernetes import accelerators
from policygen.lint.core.namespace_quotas import bounds
from policygen.lint.core.queue_rooms import READS, queue_rooms
from policygen.lint.core.rollouts import rollout
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """If no pod may be unavailable, a new one must fit before an old one is deleted.

    Source: pkg/controller/deployment/rolling.go; pkg/quota/v1/evaluator/core/pods.go;
    for queues lint/core/queue_rooms.py.
    """
    by_namespace = facts.cluster.derive(bounds)
    for workload in facts.cluster.workloads:
        update, limits = rollout(workload), by_namespace.get(workload.namespace)
        if update is None or update.unavailable or not update.replicas or not limits:
            continue
        for template in workload.templates:
            for name, amount in accelerators.requested(facts.cluster, template).items():
                bound = limits.get(f"requests.{name}")
                now = amount * update.replicas
                if bound is not None and now <= bound.limit < now + amount:
                    yield Hit(
                        RULE,
                        f"{workload} uses {now} of the {bound.limit} {name} that {bound.quota} allows; an update "
                        "first creates a new pod, which the quota refuses, so the update never ends; "
                        "write maxUnavailable: 1 and maxSurge: 0",
                        workload.at.to("spec", "strategy"),
                        (bound.quota.at.to("spec", "hard", f"requests.{name}"),),
                    )
    for room in facts.derive(queue_rooms):
        update = rollout(room.workload)
        if update is not None and not update.unavailable and update.replicas == room.pods > 0:
            yield Hit(
                RULE,
                f"{room.workload} has {counted(room.pods, 'pod')}, and its queue has no room for one more: "
                f"{room.why}; an update first creates a new pod, which waits, so the update never ends; "
                "write maxUnavailable: 1 and maxSurge: 0",
                room.workload.at.to("spec", "strategy"),
                (room.at,),
            )


RULE = ObjectRule(
    "rollout-exceeds-quota",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write maxUnavailable: 1 and maxSurge: 0.",
    judges=("Deployment",),
    check=check,
    reads=("ResourceQuota", *READS),
)
