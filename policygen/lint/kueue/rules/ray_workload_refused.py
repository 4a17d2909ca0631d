"""A RayJob, RayCluster or RayService in a queue has a field that Kueue refuses."""

from collections.abc import Iterator

from policygen.core.finding import Path
from policygen.core.names import LOCAL_QUEUE
from policygen.kubernetes.kueue_jobs import ELASTIC
from policygen.kubernetes.untyped import mapping, mappings, text
from policygen.kubernetes.workloads import RAY_CLUSTERS, Workload
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.job_metadata import refusing
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_HEAD = "head"


def check(facts: Facts) -> Hits:
    """Source: pkg/controller/jobs/{rayjob,raycluster,rayservice} of Kueue 0.19.2, validateCreate."""
    rules = settings(facts)
    for workload in facts.cluster.workloads:
        if workload.kind not in RAY_CLUSTERS or not refusing(workload, rules):
            continue
        for path, message in _faults(workload) if workload.labels.get(LOCAL_QUEUE) else ():
            yield Hit(RULE, f"{workload} {message}", workload.at.to("spec", *path))


def _faults(workload: Workload) -> Iterator[tuple[Path, str]]:
    spec, way = workload.spec, RAY_CLUSTERS[workload.kind]
    if workload.kind == "RayJob":
        if spec.get("clusterSelector") and spec.get("rayClusterSpec"):
            message = (
                "has clusterSelector and rayClusterSpec, which Kueue refuses; remove one of them"
            )
            yield ("clusterSelector",), message
            return
        if not spec.get("rayClusterSpec"):
            return  # Kueue does not manage a RayJob on an existing cluster
        if spec.get("shutdownAfterJobFinishes") is not True:
            message = (
                "keeps its cluster and its quota after it ends, which Kueue refuses; write "
                "shutdownAfterJobFinishes: true"
            )
            yield ("shutdownAfterJobFinishes",), message
    cluster = mapping(spec, *way)
    if cluster.get("enableInTreeAutoscaling") is True and ELASTIC not in workload.annotations:
        message = (
            "has enableInTreeAutoscaling, which Kueue refuses, because the admitted quota is fixed; write "
            f'enableInTreeAutoscaling: false, or set annotation {ELASTIC}: "true"'
        )
        yield (*way, "enableInTreeAutoscaling"), message
    for i, group in enumerate(mappings(cluster.get("workerGroupSpecs"))):
        if text(group, "groupName") == _HEAD:
            message = (
                f'has a worker group named "{_HEAD}", which Kueue refuses, because this is the name of '
                "the head group; write another groupName"
            )
            yield (*way, "workerGroupSpecs", i, "groupName"), message


RULE = ObjectRule(
    "ray-workload-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the field as the message recommends, or remove the queue-name label.",
    judges=tuple(RAY_CLUSTERS),
    check=check,
    reads=("Configuration",),
)
