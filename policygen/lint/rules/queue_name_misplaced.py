"""A workload carries the queue's name where Kueue does not look for it."""

from collections.abc import Iterator

from policygen.cluster.workload import Workload
from policygen.finding import At, Severity
from policygen.lint.queued import FRAMEWORKS, KINDS, QUEUE, labels
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """Kueue reads the label of the object that it manages; a CronJob's is that of its jobs.

    Pods with a label of their own are queued one by one, where the pod integration is on.

    Source: pkg/controller/jobframework/utils.go, QueueNameForObject.
    """
    for workload in facts.cluster.workloads:
        if (workload.object.group, workload.kind) not in FRAMEWORKS:
            continue
        at, found = labels(workload)
        if found.get(QUEUE):
            continue
        for wrong, what in _elsewhere(workload):
            right = ".".join(str(step) for step in at.path[len(workload.at.path) :])
            yield Claim(
                f"{workload} names its queue in {what}, where Kueue does not look for it; "
                f"write the label {QUEUE} in {right}",
                wrong,
            )
            break


def _elsewhere(workload: Workload) -> Iterator[tuple[At, str]]:
    root = workload.at / "metadata"
    if QUEUE in workload.annotations:
        yield root.to("annotations", QUEUE), "an annotation"
    if workload.kind == "CronJob" and QUEUE in workload.labels:
        yield root.to("labels", QUEUE), "its own labels"
    if workload.kind in ("Pod", "Deployment"):
        return  # a Deployment's pods are managed one by one, by their own label
    for template in workload.templates:
        if QUEUE in template.labels:
            yield template.at.to("metadata", "labels", QUEUE), "the labels of its pods"
        if QUEUE in template.annotations:
            yield template.at.to("metadata", "annotations", QUEUE), "an annotation of its pods"


RULE = Rule("queue-name-misplaced", Severity.WARNING, Family.INERT, judges=KINDS, check=check)
