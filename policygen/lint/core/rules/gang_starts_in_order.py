"""A StatefulSet creates the pods of a gang one by one instead of together."""

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.queues import MIN_MEMBER, gang_size


def check(facts: Facts) -> Hits:
    """The first pod waits for a gang whose other pods wait for it.

    Source: pkg/controllers/podgroup/pg_controller_handler.go; kubernetes'
    pkg/controller/statefulset/stateful_set_control.go.
    """
    for workload in facts.cluster.workloads:
        size = gang_size(workload) if workload.kind == "StatefulSet" else 0
        if size <= 1:
            continue
        if workload.spec.get("podManagementPolicy", "OrderedReady") == "OrderedReady":
            yield Hit(
                RULE,
                f"{workload} creates its second pod only when the first is ready, but the first pod "
                f"waits for a gang of {size} pods, so no pod starts; write podManagementPolicy: Parallel",
                workload.at.to("spec", "podManagementPolicy"),
                (workload.at.to("metadata", "annotations", MIN_MEMBER),),
            )


RULE = ObjectRule(
    "gang-starts-in-order",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write podManagementPolicy: Parallel.",
    judges=("StatefulSet",),
    check=check,
)
