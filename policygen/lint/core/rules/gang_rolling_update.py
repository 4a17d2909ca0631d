"""A rolling update waits for a complete gang of new pods, but the old pods still hold the GPUs."""

from policygen.core.quoting import counted
from policygen.lint.core.rollouts import rollout
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.queues import MIN_MEMBER, gang_size


def check(facts: Facts) -> Hits:
    """The gang of a new ReplicaSet starts all at once; a rolling update creates it pod by pod.

    Source: pkg/controllers/podgroup/pg_controller_handler.go; volcano-sh/volcano#4739.
    """
    for workload in facts.cluster.workloads_of("apps"):
        size = gang_size(workload)
        update = rollout(facts.cluster, workload) if size else None
        if update is not None and update.surge + update.unavailable < size:
            yield Hit(
                RULE,
                f"{workload} creates only {counted(update.surge + update.unavailable, 'new pod')} before it "
                f"deletes an old pod. The new pods start only as a gang of {size} pods, so the update never ends;"
                " write strategy.type: Recreate, or maxSurge: 100%",
                workload.at.to("spec", "strategy"),
                (workload.at.to("metadata", "annotations", MIN_MEMBER),),
            )


RULE = ObjectRule(
    "gang-rolling-update",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write strategy.type: Recreate, or maxSurge: 100% if there are GPUs for both versions.",
    judges=("Deployment",),
    check=check,
    reads=("HorizontalPodAutoscaler", "ScaledObject"),
    aliases=("gang-rolls-over",),
)
