"""Ranks of a training job start separately, so some can hold GPUs while others wait."""

from policygen.core.names import LOCAL_QUEUE, POD_GROUP
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.lint.core import accelerators
from policygen.lint.kueue.queue_names import labels
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano.queues import MIN_MEMBER

_SIZES = ("NNODES", "WORLD_SIZE", "NUM_NODES", "PET_NNODES", "MASTER_ADDR", "MASTER_PORT")
"""Environment variables by which launchers find the other ranks."""
_KINDS = ("StatefulSet", "Deployment", "ReplicaSet")


def check(facts: Facts) -> Hits:
    """Checks the environment variables of torchrun and similar launchers; a queue or PodGroup is a gang.

    Source: pkg/controller/statefulset/stateful_set_control.go; kube-scheduler, one pod a cycle.
    """
    for workload in facts.cluster.workloads:
        if workload.kind not in _KINDS or workload.object.group != "apps":
            continue
        for template in workload.templates:
            count = template.replicas or 0
            if (
                count <= 1
                or not accelerators.requested(facts.cluster, template)
                or _ganged(workload, template)
            ):
                continue
            containers = template.spec.containers
            if not any(
                variable.get("name") in _SIZES
                for container in containers
                for variable in container.env
            ):
                continue
            ordered = (
                workload.kind == "StatefulSet"
                and workload.spec.get("podManagementPolicy", "OrderedReady") == "OrderedReady"
            )
            how = "one by one" if ordered else "independently"
            yield Hit(
                RULE,
                f"{workload} starts its {count} ranks {how}, so some can hold GPUs while others wait; "
                "use one pod with all GPUs of a node, or a JobSet or LeaderWorkerSet in a queue",
                workload.at / "spec",
            )


def _ganged(workload: Workload, template: PodTemplate) -> bool:
    return (
        LOCAL_QUEUE in labels(workload)[1]
        or LOCAL_QUEUE in template.labels
        or MIN_MEMBER in workload.annotations
        or POD_GROUP in template.annotations
        or "kueue.x-k8s.io/pod-group-name" in template.labels
        or "scheduling.x-k8s.io/pod-group" in template.labels
        or "kai.scheduler/queue" in {**workload.labels, **template.labels}
    )


RULE = ObjectRule(
    "ranks-not-gang-scheduled",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Use one pod with all GPUs of a node, or a JobSet or LeaderWorkerSet in a queue.",
    judges=_KINDS,
    check=check,
    aliases=("ranks-start-without-gang",),
)
