"""A Deployment's new version waits for a whole gang while the old one holds its GPUs."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.rollouts import rollout
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.volcano.queues import MIN_MEMBER, gang_size


def check(facts: Facts) -> Iterator[Hit]:
    """The gang of a new ReplicaSet starts whole; a rolling update makes it pod by pod.

    Source: pkg/controllers/podgroup/pg_controller_handler.go; volcano-sh/volcano#4739.
    """
    for workload in facts.cluster.workloads:
        size, update = gang_size(workload), rollout(workload)
        if update is not None and update.surge + update.unavailable < size:
            yield Hit(
                RULE,
                f"an update of {workload} makes {update.surge + update.unavailable} new pods "
                f"before an old one goes, and they wait for a gang of {size}: it never ends; "
                "write strategy.type: Recreate, or maxSurge: 100%",
                workload.at.to("spec", "strategy"),
                (workload.at.to("metadata", "annotations", MIN_MEMBER),),
            )


RULE = ObjectRule(
    "gang-rolls-over",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=("Deployment",),
    check=check,
)
