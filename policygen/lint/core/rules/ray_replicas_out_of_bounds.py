"""The replicas of a Ray worker group contradict its minReplicas or maxReplicas."""

from collections.abc import Iterator

from policygen.core.names import LOCAL_QUEUE
from policygen.core.quoting import counted, quoted
from policygen.kubernetes.untyped import mapping, mappings, text
from policygen.kubernetes.workloads import RAY_CLUSTERS, Workload
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_NO_MAX = 2**31 - 1


def check(facts: Facts) -> Hits:
    """KubeRay refuses a minimum above the maximum, and creates as many pods as the bounds allow.

    Source: controllers/ray/utils of KubeRay 1.6.2, ValidateRayClusterSpec and
    GetWorkerGroupDesiredReplicas; pkg/controller/jobs/raycluster/common.go of Kueue 0.19.2, which
    counts only `replicas`.
    """
    for workload in facts.cluster.workloads_of("ray.io"):
        yield from _of(workload)


def _of(workload: Workload) -> Iterator[Hit]:
    way = RAY_CLUSTERS[workload.kind]
    for i, group in enumerate(mappings(mapping(workload.spec, *way).get("workerGroupSpecs"))):
        at = workload.at.to("spec", *way, "workerGroupSpecs", i)
        who = f"worker group {quoted(text(group, 'groupName'))} of {workload}"
        pods = group.get("replicas", 0)
        least, most = group.get("minReplicas", 0), group.get("maxReplicas", _NO_MAX)
        if not type(pods) is type(least) is type(most) is int:
            continue
        if least > most:
            fits_most = "replicas" in group and pods <= most
            advice = f"minReplicas: {pods}" if fits_most else f"maxReplicas: {max(least, pods)}"
            message = (
                f"{who} has minReplicas {least} and maxReplicas {most}, so KubeRay refuses the cluster "
                f"and creates no pods; write {advice}"
            )
            if not fits_most and "replicas" in group and pods < least:
                message += f" and replicas: {least}"
            places = at / "maxReplicas", at / "minReplicas"
            first, other = reversed(places) if fits_most else places
            yield Hit(RULE, message, first, (other,))
        elif pods > most:
            message = (
                f"{who} has replicas {pods}, but KubeRay creates only {counted(most, 'pod')}, as "
                f"maxReplicas allows{_counted(workload, pods)}; write maxReplicas: {pods}, or lower replicas"
            )
            yield Hit(RULE, message, at / "replicas", (at / "maxReplicas",))
        elif pods < least and "replicas" in group:
            message = (
                f"{who} has replicas {pods}, but KubeRay creates {counted(least, 'pod')}, as minReplicas "
                f"requires{_counted(workload, pods)}; write replicas: {least}"
            )
            yield Hit(RULE, message, at / "replicas", (at / "minReplicas",))


def _counted(workload: Workload, pods: int) -> str:
    """What Kueue counts instead; empty for a workload without a queue."""
    return f", and Kueue counts {pods}" if workload.labels.get(LOCAL_QUEUE) else ""


RULE = ObjectRule(
    "ray-replicas-out-of-bounds",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write replicas between minReplicas and maxReplicas.",
    judges=tuple(RAY_CLUSTERS),
    check=check,
)
